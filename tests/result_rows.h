/* result_rows.h - the rows that say what a table answers with, held against one
 * answer: what is published has a row whose type, shape and condition are true,
 * and what a row promises is there. */
#ifndef RESULT_ROWS_H
#define RESULT_ROWS_H
#include <ctype.h>

#include "base/param.h"
#include "files.h"
#include "lapis/tools.h"

/* ---- shapes: "n x (K + d + 1)" -------------------------------------------*/
enum { SYMBOLS = 24, WORD = 24 };
typedef struct symbols { /* what letters stand for in the results of one */
  int count;
  char name[SYMBOLS][WORD];
  int64_t value[SYMBOLS];
} symbols;

static inline void define(symbols *t, const char *name, int64_t value)
{
  assert_true(t->count < SYMBOLS && strlen(name) < WORD);
  strcpy(t->name[t->count], name);
  t->value[t->count++] = value;
}

static inline bool is_word_only(const char *text)
{
  return isalpha((unsigned char)*text) && strpbrk(text, "( +") == NULL;
}

static inline int64_t value_of(const symbols *t, const char *word, size_t size)
{
  if (isdigit((unsigned char)*word)) return strtol(word, NULL, 10);
  for (int i = 0; i < t->count; i++)
    if (strlen(t->name[i]) == size && strncmp(t->name[i], word, size) == 0)
      return t->value[i];
  fail_msg("a shape with '%s', which nothing says", word);
  return 0;
}

/* A sum of products: "(inliers d)", "(K + d + 1)". */
static inline int64_t sum_of(const symbols *t, const char *at)
{
  int64_t sum = 0, product = 1;
  for (at += *at == '('; *at != '\0' && *at != ')';) {
    size_t size = strcspn(at, " )");
    if (*at == '+') {
      sum += product;
      product = 1;
    } else
      product *= value_of(t, at, size);
    at += size;
    at += strspn(at, " ");
  }
  return sum + product;
}

static inline void check_side(symbols *t, const char *text, int64_t size,
                              const char *who, const char *name)
{
  bool known = !is_word_only(text);
  for (int i = 0; i < t->count && !known; i++)
    known = strcmp(t->name[i], text) == 0;
  if (!known) define(t, text, size);
  if (sum_of(t, text) != size)
    fail_msg("%s: %s has %lld where its row says %s", who, name,
             (long long)size, text);
}

/* A row of text is a sample, a column of the matrix is one; of three axes the
 * last two lie in a column. */
static inline void check_shape(symbols *t, const lapis_result_row *row,
                               const lapis_mat *mat, const char *who)
{
  char text[64];
  (void)snprintf(text, sizeof text, "%s", row->shape);
  char *second = strstr(text, " x ");
  char *third = second == NULL ? NULL : strstr(second + 3, " x ");
  int64_t rows = mat->rows;
  if (second != NULL) *second = '\0';
  if (third != NULL) *third = '\0';
  check_side(t, text, mat->cols, who, row->name);
  if (third != NULL) {
    int64_t of_second = sum_of(t, second + 3);
    assert_int_equal(rows % of_second, 0);
    check_side(t, third + 3, rows / of_second, who, row->name);
    return;
  }
  check_side(t, second == NULL ? "1" : second + 3, rows, who, row->name);
}

/* ---- one answer ----------------------------------------------------------*/
enum { ROWS = 48 };
static inline int row_of(const lapis_method *m, const char *name)
{
  const lapis_result_row *row;
  for (int i = 0; (row = lapis_method_result(m, i)) != NULL; i++)
    if (strcmp(row->name, name) == 0) return i;
  return -1;
}

static inline bool is_published(const lapis_solver *s, const char *name)
{
  const char *there;
  for (int i = 0; (there = lapis_result_name(s, i)) != NULL; i++)
    if (strcmp(there, name) == 0) return true;
  return false;
}

/* who: "svmplus kernel=rbf", for a message; seen: ROWS, rows that were met. */
static inline void check_answer(files *f, const lapis_solver *s,
                                const lapis_method *m, const void *set,
                                unsigned has, symbols t, const char *who,
                                bool *seen)
{
  const lapis_result_row *row;
  const char *name;
  lapis_mat mat;
  for (int i = 0; (name = lapis_result_name(s, i)) != NULL; i++) {
    int at = row_of(m, name);
    if (at < 0) fail_msg("%s: no row says %s", who, name);
    assert_true(at < ROWS);
    row = lapis_method_result(m, at);
    seen[at] = true;
    CHECK_OK(f, lapis_result_get(s, name, &mat));
    if (mat.dtype != row->type) fail_msg("%s: the type of %s", who, name);
    if (!param_when_holds(m, set, has, row->when))
      fail_msg("%s: %s is there, but not '%s'", who, name, row->when);
    check_shape(&t, row, &mat, who);
  }
  for (int i = 0; (row = lapis_method_result(m, i)) != NULL; i++)
    if (row->where == NULL && param_when_holds(m, set, has, row->when) &&
        !is_published(s, row->name))
      fail_msg("%s: %s is not there, though '%s'", who, row->name,
               row->when == NULL ? "always" : row->when);
}

#endif
