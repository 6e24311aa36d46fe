/* named.c - candidates that are named with their settings, in the words of the
 * result `candidates`:
 *
 *   mc --map standard --variant mc1 --labels 01 --lambda 0.1 --gamma 3 --mu-rel
 *   0.3; linear --map standard --C 0.1
 *
 * Nobody is compared: who is named answers, of several their mean. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods/auto/candidates.h"

static const char BETWEEN[] = "; ";

static bool is_word(const char *a, const char *b)
{
  return strcmp(a, b) == 0;
}

/* ---- writing ------------------------------------------------------------*/
char *candidate_named(const comparison *r, const candidate *x)
{
  enum { ROOM = CANDIDATE_TEXT + 16 };
  int parts = x->parts > 0 ? x->parts : 1;
  char *text = base_alloc(r->ctx, (int64_t)parts * ROOM, 1);
  size_t used = 0;
  for (int k = 0; text != NULL && k < parts; k++) {
    char settings[CANDIDATE_TEXT];
    const candidate *one = x->parts > 0 ? &r->run[x->of[k]] : x;
    candidate_describe(r, one, settings);
    used += (size_t)snprintf(text + used, (size_t)parts * ROOM - used,
                             "%s%s %s", k > 0 ? BETWEEN : "",
                             candidate_method(one->kind), settings);
  }
  return text;
}

/* ---- reading ------------------------------------------------------------*/
/* Of a method by its name, or before its settings as remarks call it; -1: none.
 */
static int kind_of(const char *name, size_t length, bool settings)
{
  static const struct {
    const char *name;
    candidate_kind kind;
  } called[] = {{"logistic regression", CANDIDATE_LINEAR},
                {"kernel logistic regression", CANDIDATE_LINEAR},
                {"ridge regression", CANDIDATE_LINEAR},
                {"kernel ridge regression", CANDIDATE_LINEAR},
                {"a forest of trees", CANDIDATE_TREES},
                {"boosted trees", CANDIDATE_TREES}};
  for (int k = 0; k <= CANDIDATE_MISVM; k++) {
    const char *own = candidate_method((candidate_kind)k);
    if (k != CANDIDATE_MEAN && strlen(own) == length &&
        strncmp(own, name, length) == 0)
      return k;
  }
  for (size_t k = 0; settings && k < sizeof called / sizeof *called; k++)
    if (strlen(called[k].name) == length &&
        strncmp(called[k].name, name, length) == 0)
      return (int)called[k].kind;
  return -1;
}

/* Of what stands before `end`, without settings and blanks behind. */
static size_t name_length(const char *text, const char *end)
{
  const char *settings = strstr(text, " --");
  size_t length = strcspn(text, end);
  if (settings != NULL && (size_t)(settings - text) < length)
    length = (size_t)(settings - text);
  while (length > 0 && text[length - 1] == ' ') length--;
  return length;
}

static bool positive(const char *text, double *to)
{
  char *end;
  *to = strtod(text, &end);
  return end != text && *end == '\0' && isfinite(*to) && *to > 0;
}

/* Among the maps that these data are read through. */
static bool take_map(comparison *r, candidate *x, const char *text)
{
  const char *kernel = strstr(text, "nystrom:");
  for (x->map = 0; x->map < r->n_maps; x->map++)
    if (is_word(text, r->map[x->map]) ||
        is_word(text, race_map_filled(r, x->map)))
      return true;
  if (kernel == NULL || x->kind != CANDIDATE_LINEAR) return false;
  kernel += strlen("nystrom:");
  double width = *kernel == 'a' ? 1 : strtod(kernel, NULL);
  for (x->map = 0; x->map < r->n_maps && width > 0; x->map++) {
    char said[CANDIDATE_TEXT];
    size_t size = strlen(text);
    if (kernels_find(r, x->map, width, &x->kernel) < 0 || x->kernel == 0)
      return false;
    candidate_describe(r, x, said); /* "--map MAP ..." */
    if (strncmp(said + strlen("--map "), text, size) == 0) return true;
  }
  return false;
}

static bool take_mc(comparison *r, candidate *x, const char *name,
                    const char *value)
{
  static const char *const own[] = {"variant", "labels", "lambda",
                                    "gamma",   "mu",     "mu-rel"};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++)
    if (is_word(name, own[k]))
      return lapis_settings_set(r->ctx, lapis_method_find("mc"), &x->set, name,
                                value) >= 0;
  return false;
}

static bool take_plain(candidate *x, const char *name, const char *value)
{
  double number = 0;
  bool is = positive(value, &number);
  if (is_word(name, "kernel") && x->kind == CANDIDATE_MISVM) {
    x->svm_kernel =
        is_word(value, "rbf") ? LAPIS_KERNEL_RBF : LAPIS_KERNEL_LINEAR;
    return is_word(value, "rbf") || is_word(value, "linear");
  }
  if (is_word(name, "scale")) return x->kind == CANDIDATE_MISVM;
  if (is_word(name, "C")) return is && (x->C = number) > 0;
  if (!candidate_grows(x)) return false;
  if (is_word(name, "kind")) {
    bool boosted = is_word(value, "boosted");
    x->grown = boosted ? TREES_BOOSTED : TREES_FOREST;
    if (boosted) x->kind = CANDIDATE_BOOSTED;
    return boosted || is_word(value, "forest");
  }
  if (is_word(name, "share")) return is && (x->share = number) <= 1;
  if (is_word(name, "leaf")) return is && (x->leaf = (int64_t)number) > 0;
  if (is_word(name, "rate")) return is && (x->rate = number) <= 1;
  if (is_word(name, "depth")) return is && (x->depth = (int64_t)number) > 0;
  return is_word(name, "trees") && is && (x->count = (int64_t)number) > 0;
}

static bool take_option(comparison *r, candidate *x, const char *name,
                        const char *value)
{
  if (strncmp(name, "--", 2) != 0 || value == NULL) return false;
  if (is_word(name + 2, "map")) return take_map(r, x, value);
  return x->kind == CANDIDATE_MC ? take_mc(r, x, name + 2, value)
                                 : take_plain(x, name + 2, value);
}

/* What is stated for all stays. */
static void keep_stated(const comparison *r, candidate *x)
{
  unsigned stated = r->o.stated;
  if ((stated & STATED_LABELS) != 0) x->set.labels = r->set.labels;
  if ((stated & STATED_LAMBDA) != 0) x->set.lambda = r->set.lambda;
  if ((stated & STATED_GAMMA) != 0) x->set.gamma = r->set.gamma;
  if ((stated & STATED_MU) == 0) return;
  x->set.mu = r->set.mu;
  x->set.mu_rel = r->set.mu_rel;
}

/* Whether the method runs, and has what its solver needs. */
static bool is_whole(const comparison *r, const candidate *x)
{
  if (r->o.numbers && x->kind == CANDIDATE_MC) return false;
  if (!r->o.numbers && x->kind == CANDIDATE_RR) return false;
  if ((x->kind == CANDIDATE_MISVM) != (r->o.bags != NULL && r->o.misvm) &&
      x->kind == CANDIDATE_MISVM)
    return false;
  if (candidate_grows(x) && x->kind != CANDIDATE_BOOSTED)
    return x->depth == 0 && x->rate == 0;
  return x->kind != CANDIDATE_MC || x->set.variant == r->set.variant;
}

/* "METHOD --OPTION VALUE ..", which is cut up. */
static bool read_one(comparison *r, char *text, candidate *x)
{
  char *filled = strstr(text, RACE_FILLED), *turned = strstr(text, RACE_TURNED);
  char *rest, *name;
  *x = (candidate){.set = r->set, .filled = filled != NULL, .share = NAN};
  x->turned = turned != NULL;
  if (filled != NULL) *filled = '\0';
  if (turned != NULL) *turned = '\0';
  text += strspn(text, " ");
  size_t length = name_length(text, ";");
  int kind = kind_of(text, length, true);
  if (kind < 0) return false;
  x->kind = (candidate_kind)kind;
  name = strtok_r(text + length, " ", &rest);
  for (; name != NULL; name = strtok_r(NULL, " ", &rest))
    if (!take_option(r, x, name, strtok_r(NULL, " ", &rest))) return false;
  keep_stated(r, x);
  candidate_complete(r, x);
  return is_whole(r, x);
}

static lapis_status take(comparison *r, char *text)
{
  candidate x;
  char said[256];
  (void)lapis_text_shown(text, said, sizeof said);
  int at = -1;
  if (r->n_named < MOST_PARTS && read_one(r, text, &x))
    at = candidates_place(r, &x);
  if (at < 0)
    return lapis_fail(r->ctx, LAPIS_EDATA,
                      "auto: '%s' is no candidate of these data; the result "
                      "candidates has the words, at most %d with ';' between",
                      said, MOST_PARTS);
  r->named[r->n_named++] = at;
  return LAPIS_OK;
}

lapis_status race_list_named(comparison *r)
{
  if (strstr(r->o.named_as, RACE_FILLED) != NULL)
    candidates_filler(r);
  else
    r->fills = false;
  char *text = base_strdup(r->ctx, r->o.named_as), *rest = text;
  lapis_status s = text == NULL ? LAPIS_ENOMEM : LAPIS_OK;
  while (s >= 0 && rest != NULL) {
    char *one = rest;
    rest = strchr(rest, ';');
    if (rest != NULL) *rest++ = '\0';
    s = take(r, one);
  }
  base_free(text);
  return s;
}

/* ---- answering ----------------------------------------------------------*/
lapis_status race_join_named(comparison *r)
{
  for (int k = 0; k < r->n_named; k++)
    if (!r->run[r->named[k]].judged) return LAPIS_OK;
  if (r->n_named == 1) return LAPIS_OK;
  return r->o.numbers ? numbers_mean(r, r->named, r->n_named)
                      : candidates_mean(r, r->named, r->n_named);
}

/* ---- names alone --------------------------------------------------------*/
static lapis_status no_candidate(lapis_ctx *ctx, const char *text, int length,
                                 bool bags, const auto_options *o)
{
  static const char *const kinds[][2] = {
      {"boosted", "; 'trees --kind boosted' is boosted trees alone"},
      {"forest", "; 'trees --kind forest' is forests alone"},
      {"regression", "; 'linear' is logistic and ridge regression"}};
  char name[CANDIDATE_TEXT], spelt[64];
  const char *help = "";
  (void)snprintf(name, sizeof name, "%.*s", length, text);
  if (strncmp(name, "mean", strlen("mean")) == 0)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "auto: {candidates} has '%.99s': a mean is named by its "
                      "parts, each with its settings, ';' between, as the "
                      "result choice has them",
                      name);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (strstr(name, kinds[k][0]) != NULL) help = kinds[k][1];
  const char *more = o->numbers ? ", as targets are numbers"
                     : bags     ? ", misvm"
                                : " (with {bags} misvm, too)";
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "auto: {candidates} has '%.99s'; it names some of %s, "
                    "linear, trees%s%s",
                    name, o->numbers ? "rr" : "mc",
                    base_spell(ctx, more, spelt, sizeof spelt), help);
}

lapis_status candidates_read(lapis_ctx *ctx, const char *text, bool bags,
                             auto_options *o)
{
  bool none = false, *of_labels = o->numbers ? &none : &o->mc;
  bool *const of[] = {[CANDIDATE_MC] = of_labels,
                      [CANDIDATE_LINEAR] = &o->linear,
                      [CANDIDATE_TREES] = &o->trees,
                      [CANDIDATE_BOOSTED] = &o->trees,
                      [CANDIDATE_RR] = o->numbers ? &o->rr : &none,
                      [CANDIDATE_MEAN] = &none,
                      [CANDIDATE_MISVM] = bags ? &o->misvm : &none};
  bool any = text != NULL && *text != '\0';
  bool whole = any && strstr(text, " --") != NULL; /* with their settings */
  const char *between = whole ? ";" : ",";
  for (int k = 0; k <= CANDIDATE_MISVM; k++) *of[k] = !any;
  /* gaps are filled as they were when these were compared */
  if (whole) o->named_as = text;
  if (whole && (strstr(text, "impute") || strstr(text, RACE_FILLED)))
    *of_labels = true;
  for (const char *at = text; any && *at != '\0';) {
    at += strspn(at, " ");
    size_t length = name_length(at, between);
    int kind = kind_of(at, length, whole);
    if (kind < 0 || of[kind] == &none)
      return no_candidate(ctx, at, (int)length, bags, o);
    *of[kind] = true;
    length = strcspn(at, between);
    at += length + (at[length] != '\0');
  }
  return LAPIS_OK;
}
