/* lapis_tools.h - what programs made with LAPIS use beside the mathematics.
 *
 * The command, the pipelines and their tests are written with it, and others
 * may be; but it promises nothing: names and meanings here may change with any
 * version, without a word in the changelog. */
#ifndef LAPIS_TOOLS_H
#define LAPIS_TOOLS_H
#include "lapis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- numbers as text, in the C locale whatever the program has set -------*/
/* As strtod reads.  *end is what stands behind the number; end NULL: nothing
 * may.  false: there is no number. */
LAPIS_API bool lapis_number_read(const char *text, const char **end,
                                 double *value);
/* The shortest of 15, 16 and 17 digits that reads back to the same double; 32
 * bytes hold any. */
LAPIS_API void lapis_number_text(double value, char *text, size_t size);
/* snprintf, with a point in every number. */
LAPIS_API int lapis_number_print(char *text, size_t size, const char *format,
                                 ...) LAPIS_PRINTF(3, 4);

/* ---- text from files, where it could do harm ------------------------------*/
/* What a terminal would obey (control characters, overriding directions) and
 * what is no UTF-8 as \xNN; cut where size ends.  Returns to. */
LAPIS_API char *lapis_text_shown(const char *text, char *to, size_t size);
/* A spreadsheet would run it as a formula: it begins with = + - @ and is no
 * number. */
LAPIS_API bool lapis_text_runs(const char *text);

/* ---- settings -----------------------------------------------------------*/
/* Copies what lapis_settings_check accepts; from NULL: the defaults. */
LAPIS_API lapis_status lapis_settings_copy(lapis_ctx *ctx,
                                           const lapis_method *m,
                                           const void *from, void *to);

#ifdef __cplusplus
}
#endif
#endif
