/* map_spec.c - reading what a map is: "blocks:400+1000,l1-sqrt,standard". */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lapis/tools.h"
#include "op/map/map_stages.h"

static lapis_status add_stage(lapis_ctx *ctx, lapis_map *m, stage_kind kind,
                              double number)
{
  if (m->n_stages == MAX_STAGES)
    return lapis_fail(ctx, LAPIS_EINVAL, "map '%s' has more than %d stages",
                      m->spec, MAX_STAGES);
  if (m->kernel.count > 0)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "map '%s': nystrom comes last; put the other stages "
                      "before it",
                      m->spec);
  m->stage[m->n_stages].kind = kind;
  m->stage[m->n_stages++].number = number;
  return LAPIS_OK;
}

/* "400+1000": rows of the kinds of features that stand below each other. */
static lapis_status parse_blocks(lapis_ctx *ctx, lapis_map *m, const char *at)
{
  bool fine = m->n_stages == 0 && m->n_blocks == 0;
  for (const char *end = at; fine; at = end + 1) {
    double rows;
    fine = m->n_blocks < MAX_BLOCKS && lapis_number_read(at, &end, &rows) &&
           rows >= 1 && rows <= INT32_MAX && floor(rows) == rows;
    if (fine) m->block[m->n_blocks++] = (int64_t)rows;
    if (fine && *end == '\0') return LAPIS_OK;
    fine = fine && *end == '+';
  }
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "map '%s': blocks:N+N+... comes first and once, with the "
                    "numbers of features of at most %d kinds",
                    m->spec, MAX_BLOCKS);
}

static lapis_status parse_stage(lapis_ctx *ctx, lapis_map *m, const char *word)
{
  static const struct {
    const char *name;
    stage_kind kind;
  } known[] = {{"l1", STAGE_L1},           {"l2", STAGE_L2},
               {"sqrt", STAGE_SQRT},       {"standard", STAGE_STANDARD},
               {"balance", STAGE_BALANCE}, {"chi2", STAGE_CHI2},
               {"impute", STAGE_IMPUTE},   {"trim", STAGE_TRIM}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(word, known[i].name) == 0)
      return add_stage(ctx, m, known[i].kind, 0);
  if (strcmp(word, "none") == 0) return LAPIS_OK;
  if (strcmp(word, "l1-sqrt") == 0) {
    TRY(add_stage(ctx, m, STAGE_L1, 0));
    return add_stage(ctx, m, STAGE_SQRT, 0);
  }
  if (strncmp(word, "blocks:", 7) == 0) return parse_blocks(ctx, m, word + 7);
  kernel_map kernel;
  bool named;
  TRY(kernel_map_read(ctx, word, &kernel, &named));
  if (named && m->kernel.count == 0) {
    m->kernel = kernel;
    return LAPIS_OK;
  }
  if (named)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "map '%s' has nystrom twice; once is enough", m->spec);
  if (strcmp(word, "scale:auto") == 0)
    return add_stage(ctx, m, STAGE_AUTO_SCALE, 0);
  double number;
  if (strncmp(word, "scale:", 6) == 0 &&
      lapis_number_read(word + 6, NULL, &number) && isfinite(number) &&
      number != 0)
    return add_stage(ctx, m, STAGE_SCALE, number);
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "map '%s' is unknown; none, l1, l2, sqrt, l1-sqrt, "
                    "standard, scale:NUMBER, scale:auto, chi2, impute, trim, "
                    "blocks:N+N, balance and nystrom:WIDTH:COUNT are, joined "
                    "by commas",
                    word);
}

lapis_status map_read_spec(lapis_ctx *ctx, lapis_map *m)
{
  const char *at = m->spec;
  for (;;) {
    char word[256];
    size_t n = strcspn(at, ",");
    snprintf(word, sizeof word, "%.*s", n < 255 ? (int)n : 255, at);
    TRY(parse_stage(ctx, m, word));
    if (at[n] == '\0') return LAPIS_OK;
    at += n + 1;
  }
}
