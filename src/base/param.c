/* param.c - the parameter tables at work: defaults, parsing, bounds, text. */
#include "base/param.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "lapis/tools.h"

/* mu-rel, or mu_rel as the field is called. */
static bool names(const lapis_param *p, const char *text)
{
  const char *name = p->name;
  for (; *name != '\0'; name++, text++)
    if (*name != *text && !(*name == '-' && *text == '_')) return false;
  return *text == '\0';
}

const lapis_param *lapis_param_find(const lapis_method *m, const char *name)
{
  for (int i = 0; m != NULL && name != NULL && i < m->n_params; i++)
    if (names(&m->params[i], name)) return &m->params[i];
  return NULL;
}

static lapis_status unknown(lapis_ctx *ctx, const lapis_method *m,
                            const char *name)
{
  char hint[96];
  lapis_nearest near = {.word = name, .size = strlen(name)};
  for (int i = 0; i < m->n_params; i++)
    lapis_nearest_try(&near, m->params[i].name);
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "%s: there is no --%s%s; 'lapis help %s' lists what there "
                    "is",
                    m->name, name,
                    lapis_nearest_hint(&near, "--", hint, sizeof hint),
                    m->name);
}

static void *field(void *settings, const lapis_param *p)
{
  return (char *)settings + p->offset;
}

/* Writes a number into the field a row describes. */
static void store(const lapis_param *p, void *to, double value)
{
  switch (p->type) {
  case LAPIS_PARAM_REAL:
    *(double *)to = value;
    break;
  case LAPIS_PARAM_INT:
    *(int64_t *)to = (int64_t)value;
    break;
  case LAPIS_PARAM_BOOL:
    *(bool *)to = value != 0;
    break;
  case LAPIS_PARAM_ENUM:
    *(int *)to = (int)value;
    break;
  case LAPIS_PARAM_TEXT:
    *(const char **)to = NULL;
    break;
  }
}

static double load(const lapis_param *p, const void *from)
{
  switch (p->type) {
  case LAPIS_PARAM_REAL:
    return *(const double *)from;
  case LAPIS_PARAM_INT:
    return (double)*(const int64_t *)from;
  case LAPIS_PARAM_BOOL:
    return *(const bool *)from;
  case LAPIS_PARAM_ENUM:
    return *(const int *)from;
  case LAPIS_PARAM_TEXT:
    break;
  }
  return 0;
}

static size_t room_of(lapis_param_type type)
{
  static const size_t room[] = {[LAPIS_PARAM_REAL] = sizeof(double),
                                [LAPIS_PARAM_INT] = sizeof(int64_t),
                                [LAPIS_PARAM_BOOL] = sizeof(bool),
                                [LAPIS_PARAM_ENUM] = sizeof(int),
                                [LAPIS_PARAM_TEXT] = sizeof(char *)};
  return room[type];
}

static size_t size_of(const void *given)
{
  size_t size;
  memcpy(&size, given, sizeof size);
  return size;
}

/* Whether a struct of a program has the field of a row. */
static bool reaches(const void *settings, const lapis_param *p)
{
  return p->offset + room_of(p->type) <= size_of(settings);
}

void lapis_settings_fill(const lapis_method *m, void *settings, size_t size)
{
  if (m == NULL || settings == NULL || size < sizeof size) return;
  memset(settings, 0, size);
  memcpy(settings, &size, sizeof size);
  for (int i = 0; i < m->n_params; i++)
    if (reaches(settings, &m->params[i]))
      store(&m->params[i], field(settings, &m->params[i]), m->params[i].value);
}

const lapis_param *lapis_method_param(const lapis_method *m, int i)
{
  return m != NULL && i >= 0 && i < m->n_params ? &m->params[i] : NULL;
}

const lapis_matrix_setting *lapis_method_matrix(const lapis_method *m, int i)
{
  return m != NULL && i >= 0 && i < m->n_matrices ? &m->matrices[i] : NULL;
}

const lapis_result_row *lapis_method_result(const lapis_method *m, int i)
{
  return m != NULL && i >= 0 && i < m->n_results ? &m->results[i] : NULL;
}

/* ---- choices: "a|b|c" ---------------------------------------------------*/
static int choice_index(const char *choices, const char *value)
{
  size_t length = strlen(value);
  const char *at = choices;
  for (int i = 0;; i++) {
    size_t n = strcspn(at, "|");
    if (n == length && strncmp(at, value, n) == 0) return i;
    if (at[n] == '\0') return -1;
    at += n + 1;
  }
}

static int choice_count(const char *choices)
{
  int n = 1;
  for (; *choices != '\0'; choices++) n += *choices == '|';
  return n;
}

static void choice_text(const char *choices, int index, char *text, size_t size)
{
  for (; index > 0; index--) choices += strcspn(choices, "|") + 1;
  snprintf(text, size, "%.*s", (int)strcspn(choices, "|"), choices);
}

/* ---- bounds -------------------------------------------------------------*/
/* What stands for auto: the default, if it is no number that a user may give;
 * or -1 in a row of integers that has another default and offers the word. */
static bool offers_auto(const lapis_param *p)
{
  return p->type == LAPIS_PARAM_INT && p->choices != NULL;
}

static double auto_value(const lapis_param *p)
{
  return offers_auto(p) ? -1 : p->value;
}

static bool automatic(const lapis_param *p, double v)
{
  if (p->type == LAPIS_PARAM_REAL) return isnan(v) && isnan(p->value);
  if (offers_auto(p) && v == -1) return true;
  return p->type == LAPIS_PARAM_INT && v == p->value;
}

static bool in_bounds(const lapis_param *p, double v)
{
  if (automatic(p, v)) return true;
  if (p->type == LAPIS_PARAM_TEXT || p->type == LAPIS_PARAM_BOOL) return true;
  if (p->type == LAPIS_PARAM_ENUM)
    return v >= 0 && v < choice_count(p->choices);
  return (p->above ? v > p->low : v >= p->low) && v <= p->high;
}

static lapis_status out_of_bounds(lapis_ctx *ctx, const lapis_method *m,
                                  const lapis_param *p, double v)
{
  const char *low = p->above ? "above" : "at least";
  if (p->type == LAPIS_PARAM_ENUM)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: --%s is %g; it must be 0 to %d, for %s", m->name,
                      p->name, v, choice_count(p->choices) - 1, p->choices);
  if (isinf(p->high) && p->high > 0)
    return lapis_fail(ctx, LAPIS_EINVAL, "%s: --%s is %g; it must be %s %g",
                      m->name, p->name, v, low, p->low);
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "%s: --%s is %g; it must be %s %g and at most %g", m->name,
                    p->name, v, low, p->low, p->high);
}

void base_fill(void *to, size_t size, const void *from, size_t from_size)
{
  if (to == NULL || size < sizeof size) return;
  memset(to, 0, size);
  memcpy(to, from, size < from_size ? size : from_size);
  memcpy(to, &size, sizeof size);
}

static lapis_status check_size(lapis_ctx *ctx, const char *who, size_t given,
                               size_t known)
{
  if (given < sizeof given)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s do not say their size (%zu bytes); start from the "
                      "defaults",
                      who, given);
  if (given <= known) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "%s are of a newer version of LAPIS (%zu bytes; this one "
                    "knows %zu); start from the defaults, and build the "
                    "program with the headers of this library",
                    who, given, known);
}

lapis_status base_take(lapis_ctx *ctx, const char *who, const void *given,
                       void *own, size_t size)
{
  if (given == NULL) return LAPIS_OK;
  size_t reach = size_of(given);
  TRY(check_size(ctx, who, reach, size));
  memcpy(own, given, reach);
  memcpy(own, &size, sizeof size);
  return LAPIS_OK;
}

static lapis_status check_settings(lapis_ctx *ctx, const lapis_method *m,
                                   const void *settings)
{
  char who[64];
  (void)snprintf(who, sizeof who, "%s: the settings", m->name);
  return check_size(ctx, who, size_of(settings), m->settings_size);
}

lapis_status settings_check(lapis_ctx *ctx, const lapis_method *m,
                            const void *settings)
{
  NEEDS(ctx, m);
  if (settings == NULL) return LAPIS_OK;
  TRY(check_settings(ctx, m, settings));
  for (int i = 0; i < m->n_params; i++) {
    const lapis_param *p = &m->params[i];
    if (!reaches(settings, p)) continue;
    double v = load(p, (const char *)settings + p->offset);
    if (!in_bounds(p, v)) return out_of_bounds(ctx, m, p, v);
  }
  return LAPIS_OK;
}

lapis_status lapis_settings_copy(lapis_ctx *ctx, const lapis_method *m,
                                 const void *from, void *to)
{
  NEEDS(ctx, m, to);
  TRY(settings_check(ctx, m, from));
  lapis_settings_default(m, to);
  return base_take(ctx, m->name, from, to, m->settings_size);
}

bool param_is_default(const lapis_param *p, const void *settings)
{
  const void *at = (const char *)settings + p->offset;
  if (!reaches(settings, p)) return true;
  if (p->type == LAPIS_PARAM_TEXT) return *(const char *const *)at == NULL;
  double v = load(p, at);
  return v == p->value || (isnan(v) && isnan(p->value));
}

/* ---- text in ------------------------------------------------------------*/
static lapis_status beyond(lapis_ctx *ctx, const lapis_method *m,
                           const char *name, const void *settings)
{
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "%s: --%s is newer than these settings (%zu bytes); build "
                    "the program with the headers of this library",
                    m->name, name, size_of(settings));
}

static lapis_status bad_value(lapis_ctx *ctx, const lapis_method *m,
                              const lapis_param *p, const char *value,
                              const char *wanted)
{
  return lapis_fail(ctx, LAPIS_EINVAL, "%s: --%s '%s' is not %s%s", m->name,
                    p->name, value, wanted,
                    p->type == LAPIS_PARAM_ENUM ? p->choices : "");
}

static lapis_status parse(lapis_ctx *ctx, const lapis_method *m,
                          const lapis_param *p, const char *value, double *v)
{
  bool may_be_auto =
      p->type == LAPIS_PARAM_REAL ? isnan(p->value) : auto_value(p) < p->low;
  switch (p->type) {
  case LAPIS_PARAM_ENUM:
    *v = choice_index(p->choices, value);
    if (*v < 0) return bad_value(ctx, m, p, value, "one of ");
    return LAPIS_OK;
  case LAPIS_PARAM_BOOL:
    *v = strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
    if (*v == 0 && strcmp(value, "false") != 0 && strcmp(value, "0") != 0)
      return bad_value(ctx, m, p, value, "true or false");
    return LAPIS_OK;
  default:
    break;
  }
  if (may_be_auto && strcmp(value, "auto") == 0) {
    *v = auto_value(p);
    return LAPIS_OK;
  }
  if (!lapis_number_read(value, NULL, v) || isnan(*v))
    return bad_value(ctx, m, p, value, "a number");
  if (p->type == LAPIS_PARAM_INT && (*v != floor(*v) || fabs(*v) > 0x1p53))
    return bad_value(ctx, m, p, value, "a whole number");
  if (may_be_auto &&
      *v == auto_value(p)) /* what stands for auto is no number */
    return out_of_bounds(ctx, m, p, *v);
  return LAPIS_OK;
}

lapis_status lapis_settings_set(lapis_ctx *ctx, const lapis_method *m,
                                void *settings, const char *name,
                                const char *value)
{
  NEEDS(ctx, m, settings, name, value);
  const lapis_param *p = lapis_param_find(m, name);
  if (p == NULL) return unknown(ctx, m, name);
  TRY(check_settings(ctx, m, settings));
  if (!reaches(settings, p)) return beyond(ctx, m, name, settings);
  if (p->type == LAPIS_PARAM_TEXT) {
    *(const char **)field(settings, p) = value;
    return LAPIS_OK;
  }
  double v = 0;
  TRY(parse(ctx, m, p, value, &v));
  if (!in_bounds(p, v)) return out_of_bounds(ctx, m, p, v);
  store(p, field(settings, p), v);
  return LAPIS_OK;
}

lapis_status lapis_settings_set_matrix(lapis_ctx *ctx, const lapis_method *m,
                                       void *settings, const char *name,
                                       const lapis_mat *value)
{
  NEEDS(ctx, m, settings, name, value);
  TRY(check_settings(ctx, m, settings));
  for (int i = 0; i < m->n_matrices; i++) {
    const lapis_matrix_setting *at = &m->matrices[i];
    if (strcmp(at->name, name) != 0) continue;
    if (at->offset + sizeof *value > size_of(settings))
      return beyond(ctx, m, name, settings);
    *(lapis_mat *)(void *)((char *)settings + at->offset) = *value;
    return LAPIS_OK;
  }
  return lapis_fail(ctx, LAPIS_EINVAL, "%s: there is no matrix '%s' to set",
                    m->name, name);
}

/* ---- text out -----------------------------------------------------------*/
/* A value that is no text of the program's, in room. */
static void value_text(const lapis_param *p, double v, char *room, size_t size)
{
  if (p->type == LAPIS_PARAM_ENUM)
    choice_text(p->choices, (int)v, room, size);
  else if (p->type == LAPIS_PARAM_BOOL)
    snprintf(room, size, "%s", v != 0 ? "true" : "false");
  else if (automatic(p, v) && (isnan(v) || v < p->low))
    snprintf(room, size, "auto");
  else
    lapis_number_text(v, room, size);
}

lapis_status lapis_settings_get(lapis_ctx *ctx, const lapis_method *m,
                                const void *settings, const char *name,
                                char *text, size_t size)
{
  char room[128] = "";
  NEEDS(ctx, m, settings, name);
  if (size > 0) NEEDS(ctx, text);
  const lapis_param *p = lapis_param_find(m, name);
  if (p == NULL) return unknown(ctx, m, name);
  TRY(check_settings(ctx, m, settings));
  bool given = reaches(settings, p);
  const void *from = (const char *)settings + p->offset;
  const char *words =
      given && p->type == LAPIS_PARAM_TEXT ? *(const char *const *)from : NULL;
  if (p->type != LAPIS_PARAM_TEXT)
    value_text(p, given ? load(p, from) : p->value, room, sizeof room);
  if (words == NULL) words = room;
  snprintf(text, size, "%s", words);
  if (strlen(words) < size) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "%s: the value of %s takes %zu bytes, and there is room "
                    "for %zu",
                    m->name, name, strlen(words) + 1, size);
}
