/* topics.c - the pages, options and results that have the words asked for. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "option_rows.h"

enum { PAGE, OPTION, RESULT, KINDS };

typedef struct hit {
  int kind;
  char left[96], text[640], pages[256]; /* "fit, cv": where it stands */
} hit;

typedef struct search {
  char **word;
  int n_words;
  const char *page; /* the one that is read */
  hit *hits;
  int n_hits;
} search;

static bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Where a word of text begins with word; "suspects" also finds "suspect". */
static bool has_word(const char *text, const char *word)
{
  size_t size = strlen(word);
  size -= size > 3 && (word[size - 1] == 's' || word[size - 1] == 'S');
  for (const char *at = text; *at != '\0'; at++)
    if ((at == text || !is_letter(at[-1])) && strncasecmp(at, word, size) == 0)
      return true;
  return false;
}

/* Words that others begin theirs with; names that these have here, and a word
 * that texts have for them. */
enum { WORDS = 6 };
static const struct {
  const char *theirs[WORDS], *ours[WORDS], *told;
} meaning[] = {
    {{"outlier", "anomal", "corrupt", "noise", "noisy"},
     {"rpca", "rr", "rlda", "suspects"},
     "trim"},
    {{"imput"}, {"completed", "mc"}, "impute"},
    {{"boost", "xgb", "lightgbm", "gbm", "gradient"}, {"trees"}, "boosted"},
    {{"lda", "discriminant"}, {"rlda"}, "rlda"},
    {{"classif", "automl"}, {"auto", "label"}, "classes"},
    {{"calibrat", "reliability"}, {"probabilities"}, "probability"},
    {{"conformal"}, {"coverage"}, "coverage"},
    {{"active", "learning"}, {"ask"}, "ask"},
    {{"segment", "detect"}, {"where", "locate"}, "where"},
    {{"align", "registration"}, {"roml", "match"}, "match"},
    {{"embed", "network"}, {"onnx", "onnx-map"}, "network"},
    {{"dedup", "duplic"}, {"info"}, "twice"},
    {{"gpu"}, {"backend"}, "cuda"},
    {{"confusion"}, {"html"}, "matrix of classes"}};

static bool has_any(const char *text, const char *const *word)
{
  for (int i = 0; i < WORDS && word[i] != NULL; i++)
    if (has_word(text, word[i])) return true;
  return false;
}

/* The word, or a name of what it means. */
static bool has(const char *left, const char *text, const char *word)
{
  bool found = has_word(left, word) || has_word(text, word);
  for (size_t k = 0; !found && k < sizeof meaning / sizeof *meaning; k++)
    found = has_any(word, meaning[k].theirs) &&
            (has_any(left, meaning[k].ours) || has_word(text, meaning[k].told));
  return found;
}

static bool matches(const search *s, const char *left, const char *text)
{
  bool own = false; /* not the name of the page alone */
  for (int i = 0; i < s->n_words; i++) {
    bool here = has(left, text, s->word[i]);
    if (!here && strcasecmp(s->page, s->word[i]) != 0) return false;
    own = own || here;
  }
  return own;
}

/* What several pages have is listed once. */
static void add(search *s, int kind, const char *left, const char *text)
{
  if (!matches(s, left, text)) return;
  hit *h = s->hits;
  for (int i = 0; i < s->n_hits; i++, h++)
    if (h->kind == kind && strcmp(h->left, left) == 0 &&
        strcmp(h->text, text) == 0)
      break;
  if (h == s->hits + s->n_hits) {
    hit *more = realloc(s->hits, (size_t)(s->n_hits + 1) * sizeof *more);
    if (more == NULL) return;
    s->hits = more;
    h = more + s->n_hits++;
    *h = (hit){.kind = kind};
    snprintf(h->left, sizeof h->left, "%s", left);
    snprintf(h->text, sizeof h->text, "%s", text);
  }
  size_t used = strlen(h->pages), size = strlen(s->page);
  if (used >= size && strcmp(h->pages + used - size, s->page) == 0) return;
  snprintf(h->pages + used, sizeof h->pages - used, "%s%s",
           used > 0 ? ", " : "", s->page);
}

static void add_row(const option_row *r, void *user)
{
  char left[96];
  row_left(r, left, sizeof left);
  size_t n = strlen(left);
  while (n > 0 && left[n - 1] == ' ') left[--n] = '\0';
  add(user, OPTION, left, r->help);
}

static void add_result(const char *name, const char *text, void *user)
{
  add(user, RESULT, name, text);
}

static void read_pages(search *s, verb_list *verb_at)
{
  const lapis_method *m;
  for (int i = 0; verb_at(i) != NULL; i++) {
    const cli_verb *v = verb_at(i);
    s->page = v->name;
    add(s, PAGE, v->name, v->help);
    rows_of_verb(v, add_row, s);
    if (v->pipeline != NULL)
      rows_of_results(lapis_flow_find(v->pipeline), add_result, s);
    if (v->table != NULL) rows_of_results(v->table(), add_result, s);
  }
  for (int i = 0; (m = rows_table_at(i)) != NULL; i++) {
    char text[640];
    s->page = m->name;
    snprintf(text, sizeof text, "%s: %s", m->title, m->summary);
    add(s, PAGE, m->name, text);
    rows_of_method(m, add_row, s);
    rows_of_results(m, add_result, s);
    s->page = "predict";
    if (lapis_predict_method(m) != NULL)
      rows_of_method(lapis_predict_method(m), add_row, s);
    rows_of_results(lapis_predict_method(m), add_result, s);
  }
  s->page = "every verb";
  rows_everywhere(add_row, s);
}

bool help_topic(FILE *to, verb_list *verb_at, int n_words, char **word)
{
  static const char *const heading[KINDS] = {
      [PAGE] = "Pages, for 'lapis help'",
      [OPTION] = "Options, and the pages that have them",
      [RESULT] = "Results, and the pages that have them"};
  search s = {.word = word, .n_words = n_words};
  read_pages(&s, verb_at);
  for (int kind = 0, before = -1; kind < KINDS; kind++)
    for (int i = 0; i < s.n_hits; i++) {
      const hit *h = &s.hits[i];
      char pages[300] = "", text[1024];
      if (h->kind != kind) continue;
      if (kind != before)
        fprintf(to, "%s%s:\n", before < 0 ? "" : "\n", heading[kind]);
      before = kind;
      if (kind != PAGE) snprintf(pages, sizeof pages, " [%s]", h->pages);
      snprintf(text, sizeof text, "%s%s", h->text, pages);
      help_entry(to, h->left, 26, text);
    }
  free(s.hits);
  return s.n_hits > 0;
}
