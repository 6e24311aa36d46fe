/* check.h - what every test needs: cmocka, comparisons that print numbers,
 * random problems, verified fixtures. */
#ifndef LAPIS_CHECK_H
#define LAPIS_CHECK_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lapis/lapis.h"
#include "room.h"

#define CHECK_AT_MOST(value, bound) \
  check_at_most((value), (bound), #value, __FILE__, __LINE__)
#define CHECK_AT_LEAST(value, bound) \
  check_at_most(-(value), -(bound), "-" #value, __FILE__, __LINE__)
#define CHECK_NEAR(a, b, tolerance) \
  check_at_most(fabs((a) - (b)), (tolerance), #a " - " #b, __FILE__, __LINE__)

static inline void check_at_most(double value, double bound, const char *what,
                                 const char *file, int line)
{
  if (value <= bound) return; /* NaN fails */
  print_error("%s = %.17g, at most %.17g wanted\n", what, value, bound);
  _fail(file, line);
}

/* Deterministic test data; not the library's generator. */
static inline double check_uniform(uint64_t *state)
{
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}
static inline double check_normal(uint64_t *state)
{
  double u = 1.0 - check_uniform(state), v = check_uniform(state);
  return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

/* A new folder below TMPDIR, which the program removes at its end (room.c). */
static inline void check_folder(char *path, size_t size)
{
  const char *parent = getenv("TMPDIR");
  assert_in_range(snprintf(path, size, "%s/lapis-XXXXXX", parent), 0, size - 1);
  assert_non_null(mkdtemp(path));
}
/* The name of a new, empty file there. */
static inline void check_new_file(char *path, size_t size)
{
  const char *parent = getenv("TMPDIR");
  assert_in_range(snprintf(path, size, "%s/lapis-XXXXXX", parent), 0, size - 1);
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  (void)close(fd);
}

/* The numbers that a solver published. */
static inline const double *check_result(const lapis_solver *s,
                                         const char *name)
{
  lapis_mat m;
  assert_int_equal(lapis_result_get(s, name, &m), LAPIS_OK);
  return m.val;
}

/* Tests of behaviour look for places: files, lines, options, values.  How a
 * sentence is worded is seen in tests/sentences.txt alone.  Each of the words,
 * apart by blanks, is in the text. */
/* A number is met whole: 4 is not in 14. */
static inline bool check_has_word(const char *text, const char *word)
{
  size_t n = strlen(word);
  bool number = strspn(word, "0123456789") == n;
  for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
    bool within = at > text && at[-1] >= '0' && at[-1] <= '9';
    if (!number || (!within && !(at[n] >= '0' && at[n] <= '9'))) return true;
  }
  return false;
}
static inline bool check_has(const char *text, const char *words)
{
  char word[256];
  for (size_t n; *words != '\0'; words += n + (words[n] == ' ')) {
    n = strcspn(words, " ");
    assert_true(n < sizeof word);
    memcpy(word, words, n);
    word[n] = '\0';
    if (!check_has_word(text, word)) return false;
  }
  return true;
}
static inline void check_says(const char *text, const char *words)
{
  if (!check_has(text, words)) fail_msg("'%s' wanted in '%s'", words, text);
}

/* The sentence of the solver's remark of that name; NULL: it has none. */
static inline const char *check_note(const lapis_solver *s, const char *name)
{
  lapis_mat notes;
  if (lapis_result_get(s, "notes", &notes) < 0) return NULL;
  for (int64_t j = 0; j < notes.cols; j++) {
    const char *const *note = (const char *const *)notes.val + j * notes.rows;
    if (strcmp(note[1], name) == 0) return note[2];
  }
  return NULL;
}

/* A constructor refused with this status, made nothing, and said one sentence
 * with the words. */
static inline void check_refused(lapis_ctx *ctx, lapis_status got,
                                 lapis_status wanted, const lapis_solver *s,
                                 const char *words)
{
  const char *said = lapis_ctx_error(ctx);
  if (got != wanted || !check_has(said, words) || *said == '\0' ||
      strchr(said, '\n') != NULL)
    fail_msg("%d: '%s' wanted in '%s'", got, words, lapis_ctx_error(ctx));
  assert_null(s);
}

/* The folder of the verified problems: tests/fixtures, or another set of the
 * same kinds that LAPIS_FIXTURES names. */
static inline const char *check_fixtures(void)
{
  const char *folder = getenv("LAPIS_FIXTURES");
  return folder != NULL && *folder != '\0' ? folder
                                           : LAPIS_TREE "/tests/fixtures";
}

/* The folder of research images, which may not be copied into the tree; where
 * LAPIS_DATA names none, skips the running test, which is then listed as
 * skipped by its name. */
static inline const char *check_data(void)
{
  const char *folder = getenv("LAPIS_DATA");
  if (folder == NULL || *folder == '\0') {
    print_message("skipped: LAPIS_DATA is not set\n");
    skip();
  }
  return folder;
}
#endif
