/* categories.c - text becomes numbers, odd numbers become what data wants.
 *
 * Distinct texts are found by sorting pointers to them; equal texts then lie
 * side by side. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/io.h"

enum { NUMBER_TEXT = 32 };

typedef struct entry {
  const char *text;
  int64_t at; /* place in the matrix */
} entry;

static int by_text(const void *a, const void *b)
{
  const entry *x = a, *y = b;
  int order = strcmp(x->text, y->text);
  return order != 0 ? order : x->at < y->at ? -1 : x->at > y->at;
}

/* rows * cols entries of a TEXT matrix, sorted. */
static lapis_status sorted_entries(lapis_ctx *ctx, const lapis_mat *text,
                                   entry **out)
{
  int64_t n = text->rows * text->cols;
  *out = base_alloc(ctx, n, sizeof **out);
  if (*out == NULL) return LAPIS_ENOMEM;
  for (int64_t k = 0; k < n; k++) {
    int64_t place = k / text->rows * text->ld + k % text->rows;
    const char *s = ((const char *const *)text->val)[place];
    (*out)[k] = (entry){.text = s == NULL ? "" : s, .at = k};
  }
  if (n > 0) qsort(*out, (size_t)n, sizeof **out, by_text);
  return LAPIS_OK;
}

static bool starts_run(const entry *e, int64_t k)
{
  return k == 0 || strcmp(e[k].text, e[k - 1].text) != 0;
}

/* 1 x m, the distinct texts but the empty one. */
static lapis_status distinct(lapis_ctx *ctx, const entry *e, int64_t n,
                             lapis_array *out)
{
  int64_t count = 0, bytes = 0;
  for (int64_t k = 0; k < n; k++)
    if (starts_run(e, k) && *e[k].text != '\0') {
      bytes += (int64_t)strlen(e[k].text) + 1;
      count++;
    }
  char *pool;
  TRY(io_text_array(ctx, 1, count, bytes, out, &pool));
  const char **to = out->mat.val;
  for (int64_t k = 0; k < n; k++)
    if (starts_run(e, k) && *e[k].text != '\0') {
      size_t size = strlen(e[k].text) + 1;
      *to++ = memcpy(pool, e[k].text, size);
      pool += size;
    }
  return LAPIS_OK;
}

static void number_runs(const entry *e, int64_t n, double *codes)
{
  int64_t code = -1;
  for (int64_t k = 0; k < n; k++) {
    bool empty = *e[k].text == '\0';
    if (starts_run(e, k) && !empty) code++;
    codes[e[k].at] = empty ? NAN : (double)code;
  }
}

lapis_status codes_sorted(lapis_ctx *ctx, const lapis_mat *text,
                          lapis_array *codes, lapis_array *values)
{
  entry *e;
  int64_t n = text->rows * text->cols;
  TRY(sorted_entries(ctx, text, &e));
  lapis_status status = distinct(ctx, e, n, values);
  if (status == LAPIS_OK) {
    status = io_number_array(ctx, LAPIS_F64, text->rows, text->cols, codes);
    if (status == LAPIS_OK)
      number_runs(e, n, codes->mat.val);
    else
      lapis_array_free(values);
  }
  base_free(e);
  return status;
}

/* The first of them, for a sentence. */
enum { WORDS = 5, WORDS_BYTES = 512 };
static const char *some_words(const lapis_mat *values, char *to)
{
  const char *const *text = values->val;
  int64_t n = values->rows * values->cols, at = 0;
  for (int64_t k = 0; k < n && k < WORDS; k++)
    at += snprintf(to + at, WORDS_BYTES - (size_t)at, "%s\"%.60s\"",
                   k > 0 ? ", " : "", text[k]);
  if (n > WORDS)
    (void)snprintf(to + at, WORDS_BYTES - (size_t)at, " and %" PRId64 " more",
                   n - WORDS);
  return to;
}

lapis_status codes_put_last(lapis_ctx *ctx, const char *word, lapis_mat *codes,
                            lapis_mat *values)
{
  const char **text = values->val;
  double *code = codes->val;
  bool two = values->rows == 1 && values->cols == 2;
  if (word == NULL || (two && strcmp(text[1], word) == 0)) return LAPIS_OK;
  if (!two || strcmp(text[0], word) != 0)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "the positive label is one of two words, not \"%.60s\"; "
                      "the words here: %s",
                      word, some_words(values, (char[WORDS_BYTES]){""}));
  word = text[0];
  text[0] = text[1];
  text[1] = word;
  for (int64_t k = 0; k < codes->rows * codes->cols; k++) code[k] = 1 - code[k];
  return LAPIS_OK;
}

void codes_tell_twins(lapis_ctx *ctx, const char *path, const char *what,
                      const char *const *text, int64_t count)
{
  enum { MOST = 1000, BYTES = 512 };
  char twins[BYTES];
  if (count > MOST ||
      lapis_text_twins(text, count, NULL, "and", twins, sizeof twins) == 0)
    return;
  base_say(ctx, 0,
           "%s: %s %s differ in case or blanks alone; if they are one, write "
           "them alike in this file",
           path, what, twins);
}

/* The codes that row i has, the smaller first, NaN where it has fewer; false:
 * it has more than two. */
static bool find_pair(const lapis_mat *codes, int64_t i, double pair[2])
{
  pair[0] = pair[1] = NAN;
  for (int64_t j = 0; j < codes->cols; j++) {
    double v = lapis_mat_at(codes, i, j);
    if (isnan(v) || v == pair[0] || v == pair[1]) continue;
    if (!isnan(pair[1])) return false;
    pair[1] = fmax(pair[0], v); /* of NaN and v: v */
    pair[0] = fmin(pair[0], v);
    if (!(pair[0] < pair[1])) pair[1] = NAN;
  }
  return true;
}

/* Row i of codes and of pairs (rows x 2), from texts of the codes. */
static char *code_pair(const lapis_mat *values, lapis_mat *codes,
                       lapis_mat *pairs, int64_t i, char *pool)
{
  double pair[2], *code = codes->val;
  (void)find_pair(codes, i, pair);
  for (int64_t j = 0; j < codes->cols; j++) {
    double *v = code + j * codes->ld + i;
    if (!isnan(*v)) *v = *v == pair[1];
  }
  for (int64_t k = 0; k < 2; k++) {
    const char *text =
        isnan(pair[k]) ? ""
                       : ((const char *const *)values->val)[(int64_t)pair[k]];
    size_t size = strlen(text) + 1;
    ((const char **)pairs->val)[k * pairs->ld + i] = memcpy(pool, text, size);
    pool += size;
  }
  return pool;
}

lapis_status codes_by_row(lapis_ctx *ctx, lapis_array *codes,
                          lapis_array *values)
{
  lapis_array pairs;
  char *pool;
  double pair[2];
  int64_t rows = codes->mat.rows, bytes = 0;
  if (rows == 1 || values->mat.cols <= 2) return LAPIS_OK;
  for (int64_t i = 0; i < rows; i++) {
    if (!find_pair(&codes->mat, i, pair)) return LAPIS_OK;
    for (int k = 0; k < 2; k++) {
      const char *const *text = values->mat.val;
      bytes += isnan(pair[k]) ? 1 : (int64_t)strlen(text[(int64_t)pair[k]]) + 1;
    }
  }
  TRY(io_text_array(ctx, rows, 2, bytes, &pairs, &pool));
  for (int64_t i = 0; i < rows; i++)
    pool = code_pair(&values->mat, &codes->mat, &pairs.mat, i, pool);
  lapis_array_free(values);
  *values = pairs;
  return LAPIS_OK;
}

/* Each text's first place, then codes counted along the samples. */
static void number_by_appearance(const entry *e, int64_t n, int64_t *codes)
{
  int64_t first = 0, next = 0;
  for (int64_t k = 0; k < n; k++) {
    if (starts_run(e, k)) first = e[k].at;
    codes[e[k].at] = first;
  }
  for (int64_t i = 0; i < n; i++)
    codes[i] = codes[i] == i ? next++ : codes[codes[i]];
}

static lapis_status group_from_text(lapis_ctx *ctx, const char *what,
                                    const lapis_mat *group, lapis_array *out)
{
  entry *e;
  TRY(sorted_entries(ctx, group, &e));
  lapis_status status = LAPIS_OK;
  if (group->cols > 0 && *e[0].text == '\0')
    status = lapis_fail(ctx, LAPIS_EMISSING,
                        "%s: the group of sample %" PRId64 " is missing", what,
                        e[0].at + 1);
  if (status == LAPIS_OK)
    status = io_number_array(ctx, LAPIS_I64, 1, group->cols, out);
  if (status == LAPIS_OK) number_by_appearance(e, group->cols, out->mat.val);
  base_free(e);
  return status;
}

/* Beyond 2^53 a double no longer tells neighbouring integers apart. */
static lapis_status check_group(lapis_ctx *ctx, const char *what,
                                const lapis_mat *group)
{
  for (int64_t j = 0; j < group->cols && group->dtype != LAPIS_I64; j++) {
    double v = lapis_mat_at(group, 0, j);
    if (isnan(v))
      return lapis_fail(ctx, LAPIS_EMISSING,
                        "%s: the group of sample %" PRId64 " is missing", what,
                        j + 1);
    if (!(fabs(v) <= 0x1p53) || floor(v) < v)
      return lapis_fail(ctx, LAPIS_EDATA,
                        "%s: the group of sample %" PRId64
                        " is %g; a whole number or a text is needed",
                        what, j + 1, v);
  }
  return LAPIS_OK;
}

lapis_status codes_group(lapis_ctx *ctx, const char *what,
                         const lapis_mat *group, lapis_array *out)
{
  if (group->dtype == LAPIS_TEXT) return group_from_text(ctx, what, group, out);
  TRY(check_group(ctx, what, group));
  TRY(io_number_array(ctx, LAPIS_I64, 1, group->cols, out));
  int64_t *to = out->mat.val;
  for (int64_t j = 0; j < group->cols; j++)
    to[j] = group->dtype == LAPIS_I64
                ? ((const int64_t *)group->val)[j * group->ld]
                : (int64_t)lapis_mat_at(group, 0, j);
  return LAPIS_OK;
}

lapis_status codes_names(lapis_ctx *ctx, const lapis_mat *numbers,
                         lapis_array *out)
{
  char *pool;
  TRY(io_text_array(ctx, 1, numbers->cols, NUMBER_TEXT * numbers->cols, out,
                    &pool));
  for (int64_t j = 0; j < numbers->cols; j++, pool += NUMBER_TEXT) {
    lapis_number_text(lapis_mat_at(numbers, 0, j), pool, NUMBER_TEXT);
    ((const char **)out->mat.val)[j] = pool;
  }
  return LAPIS_OK;
}
