/* did_you_mean.c - the name that was meant: the distance of Damerau and
 * Levenshtein between two words, restricted to neighbours that are swapped
 * once. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "lapis/tools.h"

enum { LONGEST = 63 }; /* letters; a longer word is compared to no name */

static size_t least(size_t a, size_t b)
{
  return a < b ? a : b;
}

static char lower(char c) /* in every locale the same */
{
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* row[i % 3][j]: the distance of i letters of a to j letters of b. */
static size_t distance(const char *a, size_t m, const char *b, size_t n)
{
  size_t row[3][LONGEST + 1];
  for (size_t j = 0; j <= n; j++) row[0][j] = j;
  for (size_t i = 1; i <= m; i++) {
    size_t *now = row[i % 3];
    const size_t *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
    now[0] = i;
    for (size_t j = 1; j <= n; j++) {
      bool same = lower(a[i - 1]) == lower(b[j - 1]);
      now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + !same);
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1]))
        now[j] = least(now[j], before[j - 2] + 1);
    }
  }
  return row[m % 3][n];
}

/* "Target" of "Target (EUR)" or "target_eur". */
static bool is_first_word(const char *word, size_t size, const char *name,
                          size_t length)
{
  if (size < 2 || length <= size || strchr(" _([", name[size]) == NULL)
    return false;
  for (size_t k = 0; k < size; k++)
    if (lower(word[k]) != lower(name[k])) return false;
  return true;
}

void lapis_nearest_try(lapis_nearest *n, const char *name)
{
  if (n == NULL || n->word == NULL || name == NULL) return;
  size_t size = strnlen(name, LONGEST + 1);
  if (n->size > LONGEST || size > LONGEST) return;
  size_t far = distance(n->word, n->size, name, size);
  bool near = far <= least(n->size, size) / 3 || far <= (n->size > 2 ? 1u : 0u);
  if (!near && !is_first_word(n->word, n->size, name, size)) return;
  if (n->name != NULL && far >= n->distance) return;
  n->name = name;
  n->distance = far;
}

char *lapis_nearest_hint(const lapis_nearest *n, const char *dashes, char *to,
                         size_t size)
{
  if (to == NULL || size == 0) return to;
  *to = '\0';
  if (n != NULL && n->name != NULL)
    (void)snprintf(to, size, " (did you mean '%s%s'?)",
                   dashes == NULL ? "" : dashes, n->name);
  return to;
}
