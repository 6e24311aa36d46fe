/* goes_with.c - settings that say something beside others alone: the word of
 * lapis_param that states it (grammar in lapis.h), asked and said. */
#include <stdio.h>
#include <string.h>

#include "base/param.h"
#include "lapis/tools.h"

/* What there is beside the setting that is asked about. */
typedef struct beside {
  const lapis_method *m;
  const void *settings;
  unsigned members;
  const char *tried; /* "a b", or NULL */
} beside;

/* One condition: the text up to a space or a comma. */
typedef struct condition {
  bool absent;      /* !NAME */
  const char *name; /* of so many bytes */
  size_t length;
  const char *words, *end; /* "x|y" up to the end; NULL: any */
} condition;

static bool is_name(const char *name, const char *at, size_t length)
{
  return strlen(name) == length && strncmp(name, at, length) == 0;
}

static condition read_condition(const char *at)
{
  condition c = {.absent = *at == '!', .end = at + strcspn(at, " ,")};
  c.name = at + c.absent;
  c.length = strcspn(c.name, "=, ");
  if (c.name[c.length] == '=') c.words = c.name + c.length + 1;
  return c;
}

static const lapis_param *row_of(const lapis_method *m, const condition *c)
{
  for (int i = 0; i < m->n_params; i++)
    if (is_name(m->params[i].name, c->name, c->length)) return &m->params[i];
  return NULL;
}

/* NULL: the condition is of a row. */
static const lapis_member *member_of(const condition *c)
{
  const lapis_member *m = NULL;
  for (int k = 0; (m = lapis_member_at(k)) != NULL; k++)
    if (is_name(m->name, c->name, c->length)) return m;
  return NULL;
}

static bool is_tried(const char *tried, const condition *c)
{
  for (; tried != NULL && *tried != '\0'; tried += strspn(tried, " ")) {
    size_t length = strcspn(tried, " ");
    if (length == c->length && strncmp(tried, c->name, length) == 0)
      return true;
    tried += length;
  }
  return false;
}

/* The matrix whose file a row names, or NULL. */
static const lapis_matrix_setting *matrix_of(const lapis_method *m,
                                             const lapis_param *p)
{
  for (int i = 0; i < m->n_matrices; i++)
    if (strcmp(m->matrices[i].name, p->name) == 0) return &m->matrices[i];
  return NULL;
}

static bool has_matrix(const beside *b, const lapis_matrix_setting *of)
{
  const char *at = (const char *)b->settings + of->offset;
  return ((const lapis_mat *)(const void *)at)->val != NULL;
}

/* A matrix may be given in place of the file that its row names. */
static bool is_set(const beside *b, const lapis_param *p)
{
  const lapis_matrix_setting *of = matrix_of(b->m, p);
  return (of != NULL && has_matrix(b, of)) || !param_is_default(p, b->settings);
}

/* Whether the text, or an item of the list that it is, is one of the words. */
static bool is_word(const condition *c, const char *text)
{
  for (const char *at = c->words; at < c->end; at++) {
    size_t length = strcspn(at, "|, ");
    for (const char *item = text; item != NULL; item = strpbrk(item, ",;")) {
      item += strspn(item, ",; ");
      if (strcspn(item, ",; ") == length && strncmp(item, at, length) == 0)
        return true;
    }
    at += length;
  }
  return false;
}

static bool holds(const beside *b, const condition *c)
{
  char text[64];
  const lapis_param *p = row_of(b->m, c);
  if (p == NULL) {
    const lapis_member *m = member_of(c);
    bool has = m != NULL && (b->members & m->bit) != 0;
    return has != c->absent; /* a row that this table has not is not given */
  }
  if (is_tried(b->tried, c)) return true;
  if (c->words == NULL) return is_set(b, p) != c->absent;
  const void *value = (const char *)b->settings + p->offset;
  if (p->type == LAPIS_PARAM_TEXT)
    return is_word(c, *(const char *const *)value) != c->absent;
  bool fits = lapis_settings_get(NULL, b->m, b->settings, p->name, text,
                                 sizeof text) >= 0;
  return (fits && is_word(c, text)) != c->absent;
}

/* "with --kernel rbf or chi2"; what is left to LAPIS need not be named. */
static void say(const beside *b, const condition *c, char *to, size_t size)
{
  const char *with = c->absent ? "without" : "with";
  size_t used;
  const lapis_member *m = member_of(c);
  if (row_of(b->m, c) == NULL && m != NULL) {
    (void)snprintf(to, size, "%s %s (%s)", with, m->what, m->name);
    return;
  }
  (void)snprintf(to, size, "%s --%.*s", with, (int)c->length, c->name);
  int said = 0;
  bool open = false;
  for (const char *at = c->words; at != NULL && at < c->end; at++) {
    size_t length = strcspn(at, "|, ");
    used = strlen(to);
    open = open || is_name("auto", at, length);
    if (!is_name("auto", at, length) && !is_name("true", at, length))
      (void)snprintf(to + used, size - used, "%s%.*s",
                     said++ > 0 ? " or " : " ", (int)length, at);
    at += length;
  }
  used = strlen(to);
  if (open && said == 0) (void)snprintf(to + used, size - used, " left open");
}

/* One of "a,b" from *at, which moves behind them; false: *why says what. */
static bool any_holds(const beside *b, const char **at, char *why, size_t size)
{
  bool any = false;
  *why = '\0';
  for (bool more = true; more; ++*at) {
    condition c = read_condition(*at);
    size_t used = strlen(why);
    any = any || holds(b, &c);
    (void)snprintf(why + used, size - used, "%s", used > 0 ? " or " : "");
    used = strlen(why);
    say(b, &c, why + used, size - used);
    *at = c.end;
    more = *c.end == ',';
    if (*c.end == '\0') break;
  }
  return any;
}

static lapis_status check(lapis_ctx *ctx, const beside *b, const lapis_param *p)
{
  char why[256], text[384], words[384];
  for (const char *at = p->goes_with; at != NULL && *at != '\0';) {
    if (any_holds(b, &at, why, sizeof why)) continue;
    (void)snprintf(text, sizeof text, "--%s goes %s", p->name, why);
    return lapis_fail(ctx, LAPIS_EINVAL, "%s: %s", b->m->name,
                      base_spell(ctx, text, words, sizeof words));
  }
  return LAPIS_OK;
}

/* One of "a|b". */
static bool is_choice(const char *choices, const char *text)
{
  size_t length = strlen(text);
  for (const char *at = choices; at != NULL; at = strchr(at, '|')) {
    at += *at == '|';
    if (strncmp(at, text, length) == 0 && strchr("|", at[length]) != NULL)
      return true;
  }
  return false;
}

/* A row that names the file of a matrix, and the matrix is empty: its name
 * alone changes nothing. */
static lapis_status check_matrix_of(lapis_ctx *ctx, const beside *b,
                                    const lapis_param *p)
{
  char text[384], words[384];
  const lapis_matrix_setting *of = matrix_of(b->m, p);
  if (of == NULL || has_matrix(b, of) || param_is_default(p, b->settings))
    return LAPIS_OK;
  const char *file = *(
      const char *const *)(const void *)((const char *)b->settings + p->offset);
  if (is_choice(p->choices, file)) return LAPIS_OK;
  (void)snprintf(text, sizeof text, "--%s", p->name);
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "%s: %s names '%.80s', and its matrix is empty; set the "
                    "matrix, its name is a note of where it came from",
                    b->m->name, base_spell(ctx, text, words, sizeof words),
                    file);
}

/* Whether a condition of p is that another row is not set, which is. */
static bool is_excluded(const beside *b, const lapis_param *p, condition *by)
{
  const char *at = p->goes_with;
  while (at != NULL && *at != '\0') {
    *by = read_condition(at);
    bool alone = *by->end != ',' && (at == p->goes_with || at[-1] == ' ');
    if (alone && by->absent && row_of(b->m, by) != NULL && !holds(b, by))
      return true;
    at = by->end + (*by->end != '\0');
  }
  return false;
}

/* Two rows for one thing: what `choose` tries, and `unless`. */
static bool is_doubled(const beside *b, const lapis_param *p, condition *by)
{
  const lapis_method *m = b->m;
  if (m->choose == NULL || m->unless == NULL) return false;
  *by = read_condition(m->unless);
  const lapis_param *other = row_of(m, by);
  return is_name(p->name, m->choose, strcspn(m->choose, "=")) &&
         other != NULL && is_set(b, other);
}

lapis_status settings_check_exclusions(lapis_ctx *ctx, const lapis_method *m,
                                       const void *settings)
{
  beside b = {m, settings, 0, NULL};
  condition by;
  for (int i = 0; settings != NULL && i < m->n_params; i++) {
    const lapis_param *p = &m->params[i];
    char text[128], words[128];
    if (!is_set(&b, p)) continue;
    if (!is_doubled(&b, p, &by) && !is_excluded(&b, p, &by)) continue;
    (void)snprintf(text, sizeof text, "--%s goes without --%.*s", p->name,
                   (int)by.length, by.name);
    return lapis_fail(ctx, LAPIS_EINVAL, "%s: %s; give one of them", m->name,
                      base_spell(ctx, text, words, sizeof words));
  }
  return LAPIS_OK;
}

bool param_when_holds(const lapis_method *m, const void *settings,
                      unsigned members_given, const char *when)
{
  char why[256];
  beside b = {m, settings, members_given, NULL};
  while (when != NULL && *when != '\0')
    if (!any_holds(&b, &when, why, sizeof why)) return false;
  return true;
}

lapis_status settings_check_use(lapis_ctx *ctx, const lapis_method *m,
                                const void *settings, unsigned members_given,
                                const char *tried)
{
  beside b = {m, settings, members_given, tried};
  for (int i = 0; i < m->n_params; i++)
    TRY(check_matrix_of(ctx, &b, &m->params[i]));
  TRY(lapis_settings_check_effect(ctx, m, settings, ~0u, NULL, tried));
  if (lapis_settings_check_effect(ctx, m, settings, members_given, NULL,
                                  tried) >= 0)
    return LAPIS_OK;
  char text[512]; /* data may come without it another day: it is said */
  (void)snprintf(text, sizeof text, "%s", lapis_ctx_error(ctx));
  base_forget_error(ctx);
  base_note(ctx, BASE_WARNING, "no-effect", "%s, and has no effect here", text);
  return LAPIS_OK;
}

lapis_status lapis_settings_check_effect(lapis_ctx *ctx, const lapis_method *m,
                                         const void *settings,
                                         unsigned members_given,
                                         const char *name, const char *tried)
{
  NEEDS(ctx, m, settings);
  beside b = {m, settings, members_given, tried};
  TRY(settings_check(ctx, m, settings));
  for (int i = 0; i < m->n_params; i++) {
    const lapis_param *p = &m->params[i];
    bool asked = name != NULL ? strcmp(p->name, name) == 0 : is_set(&b, p);
    if (asked) TRY(check(ctx, &b, p));
  }
  return LAPIS_OK;
}
