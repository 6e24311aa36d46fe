/* race.h - settings that nobody gave: the race on the command line. */
#ifndef LAPIS_CLI_RACE_H
#define LAPIS_CLI_RACE_H
#include "cli.h"
#include "lapis/lapis_race.h"

/* Puts into settings what mc's best candidate ran with, where mu was left to
 * LAPIS (or --threshold auto asks for thresholds alone), says it on stderr, and
 * keeps the race, whose memory the settings borrow: *out, NULL where there was
 * none.  *by: the place of who answers as --by asks, where it is not mc alone;
 * else -1.  *map: the one that the race chose and the user did not, or NULL.
 * data: before any map. */
int race_settings(cli *c, const lapis_data *data, lapis_mc_settings *settings,
                  lapis_race **out, int *by, const char **map);
lapis_json *race_json(const lapis_race *race);

#endif
