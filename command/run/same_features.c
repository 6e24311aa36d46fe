/* same_features.c - whether images were described as those that a model learnt
 * from.
 *
 * lapis features says how X was made: "KIND", "KIND words HASH", "KIND --NAME
 * VALUE".  As many numbers that were made in another way mean other things.  A
 * setting that one side does not name was none in its version. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"

static bool is_kind(const char *text)
{
  return strchr(text, ' ') == NULL;
}

/* Up to the value, which is behind the second blank. */
static size_t key_size(const char *text)
{
  size_t kind = strcspn(text, " ");
  return is_kind(text) ? kind : kind + 1 + strcspn(text + kind + 1, " ");
}

static bool tells_words(const char *text)
{
  return strncmp(text + strcspn(text, " "), " words", 6) == 0;
}

/* The text of a list that is about the same; NULL: none is. */
static const char *same_key(const lapis_mat *list, const char *text)
{
  size_t n = key_size(text);
  for (int64_t i = 0; i < list->cols; i++) {
    const char *other = ((const char *const *)list->val)[i];
    if (key_size(other) == n && strncmp(other, text, n) == 0) return other;
  }
  return NULL;
}

/* The first kind of a list that another lacks; NULL: there is none. */
static const char *kind_beyond(const lapis_mat *list, const lapis_mat *other)
{
  for (int64_t i = 0; i < list->cols; i++) {
    const char *text = ((const char *const *)list->val)[i];
    if (is_kind(text) && same_key(other, text) == NULL) return text;
  }
  return NULL;
}

static const char *next_kind(const lapis_mat *list, int64_t *i)
{
  const char *const *text = list->val;
  while (*i < list->cols && !is_kind(text[*i])) (*i)++;
  return *i < list->cols ? text[(*i)++] : NULL;
}

static int made_otherwise(const char *is, const char *was)
{
  return cli_fail(EXIT_INPUT,
                  "predict: X was made by '%.99s', what the model was fitted "
                  "with by '%.99s'; make X again in the same way",
                  is, was);
}

/* The same kinds, one behind the other in the same order. */
static int check_kinds(const lapis_mat *here, const lapis_mat *there)
{
  const char *more = kind_beyond(here, there);
  const char *lacks = kind_beyond(there, here);
  if (more != NULL && lacks != NULL) return made_otherwise(more, lacks);
  if (lacks != NULL)
    return cli_fail(EXIT_INPUT,
                    "predict: X lacks '%.99s', with which the model was "
                    "fitted; make X again in the same way",
                    lacks);
  if (more != NULL)
    return cli_fail(EXIT_INPUT,
                    "predict: X has '%.99s', without which the model was "
                    "fitted; make X again in the same way",
                    more);
  int64_t i = 0, j = 0;
  const char *is = next_kind(here, &i), *was = next_kind(there, &j);
  for (; is != NULL && was != NULL;
       is = next_kind(here, &i), was = next_kind(there, &j))
    if (strcmp(is, was) != 0)
      return cli_fail(EXIT_INPUT,
                      "predict: X has '%.99s' where the model was fitted with "
                      "'%.99s'; make X again with its kinds in that order",
                      is, was);
  return EXIT_DONE;
}

/* "032x32" is 32x32: numbers within are equal by value. */
static bool same_value(const char *a, const char *b)
{
  while (*a != '\0' && *b != '\0') {
    if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
      char *past_a, *past_b;
      if (strtod(a, &past_a) != strtod(b, &past_b)) return false;
      a = past_a;
      b = past_b;
    } else if (*a++ != *b++) {
      return false;
    }
  }
  return *a == *b;
}

int check_made(cli *c, const lapis_dataset *ds)
{
  lapis_mat here = lapis_dataset_text(ds, "feature_settings"), there;
  if (here.cols == 0 ||
      lapis_model_get(c->ctx, c->model, "feature_settings", &there) < 0 ||
      there.dtype != LAPIS_TEXT)
    return EXIT_DONE;
  int code = check_kinds(&here, &there);
  for (int64_t i = 0; code == EXIT_DONE && i < there.cols; i++) {
    const char *was = ((const char *const *)there.val)[i];
    const char *is = same_key(&here, was);
    bool words = tells_words(was);
    if (words && (is == NULL || strcmp(is, was) != 0))
      return cli_fail(
          EXIT_INPUT,
          "predict: X counts other words (%.*s) than the model's; give "
          "features --vocabulary the file that --save-vocabulary wrote for the "
          "training images; if there is none, make features of those images "
          "again with --save-vocabulary",
          (int)strcspn(was, " "), was);
    if (is == NULL || words || same_value(is, was)) continue;
    code = made_otherwise(is, was);
  }
  return code;
}
