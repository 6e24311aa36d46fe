/* info_written.c - tables that LAPIS wrote, by the titles that it gives. */
#include <string.h>

#include "info.h"

static bool begins(const char *title, const char *with)
{
  return title != NULL && strncmp(title, with, strlen(with)) == 0;
}

static bool is_titled(const lapis_column *c, const char *title)
{
  return c->title != NULL && strcmp(c->title, title) == 0;
}

/* A column that only tables of answers have: where each is from, how probable
 * it is, the set or the interval around it. */
static bool is_of_answers(const lapis_columns *all, int j)
{
  const lapis_column *c = &all->column[j];
  bool share = c->numbers > 0 && c->low >= 0 && c->high <= 1;
  return (begins(c->title, "origin") && info_has_value(c, "given") &&
          c->different <= 2) ||
         (begins(c->title, "origin") && info_has_value(c, "filled")) ||
         (is_titled(c, "probability") && share) ||
         begins(c->title, "probability of ") || begins(c->title, "score of ") ||
         begins(c->title, "set of ") || begins(c->title, "low of ") ||
         (is_titled(c, "low") && j + 1 < all->listed &&
          is_titled(&all->column[j + 1], "high"));
}

/* What fit, predict or label wrote with -o F.csv; *numbers: answers are. */
static bool holds_answers(const lapis_columns *all, bool *numbers)
{
  bool any = false, sure = false, words = false;
  for (int j = 0; j < all->listed; j++) {
    const lapis_column *c = &all->column[j];
    any = any || is_of_answers(all, j);
    sure = sure || begins(c->title, "probability") || begins(c->title, "score");
    words = words || (info_is_class(c) && !begins(c->title, "origin"));
  }
  *numbers = !sure && !words;
  return any;
}

/* What tables of locate and match are, by the titles that they write; NULL: it
 * is none of them. */
static const char *found_in(const lapis_columns *all)
{
  enum { TITLES = 5 };
  static const struct {
    const char *title[TITLES], *is;
  } kind[] = {
      {{"x", "y", "width", "height", "score"},
       "boxes, a row an image, as 'lapis locate' finds them, and takes them as "
       "candidates (--boxes)"},
      {{"point", "x", "y", "doubtful", "instance"},
       "points that images have in "
       "common, as 'lapis match' finds them, a row a point of an image"}};
  for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
    int found = 0;
    for (int j = 0; j < all->listed; j++)
      for (int i = 0; i < TITLES; i++)
        found += is_titled(&all->column[j], kind[k].title[i]);
    if (found == TITLES && all->listed <= TITLES + 2) return kind[k].is;
  }
  return NULL;
}

/* Of one target, as the truth may have other columns. */
static void print_target(const cli *c, const lapis_columns *all)
{
  const char *title = all->listed > 2 ? all->column[1].title : NULL;
  int targets = 0;
  for (int j = 0; j < all->listed; j++)
    targets += begins(all->column[j].title, "origin");
  bool one = targets == 1 && strcmp(all->column[2].title, "origin") == 0;
  if (one && title != NULL) shell_option(stdout, c, "target", title);
}

bool info_written(const cli *c, const lapis_columns *all, const char *path)
{
  bool numbers;
  const char *found = found_in(all);
  if (found != NULL) printf("  %s\n", found);
  if (found != NULL) return true;
  if (!holds_answers(all, &numbers)) return false;
  printf("  answers of lapis, a row a sample; to compare them with the "
         "truth:\n    lapis eval %s --truth TRUTH.csv --scores",
         numbers ? "r2" : "accuracy");
  shell_file(stdout, path);
  print_target(c, all);
  printf("\n");
  return true;
}
