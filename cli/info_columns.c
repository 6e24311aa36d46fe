/* info_columns.c - lapis info F.csv: each column by its title. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"

enum { SHOWN = 6, WIDE = 40 };

static const char *type_name(const lapis_column *c)
{
  static const char *const names[] = {"empty", "number", "whole", "counter",
                                      "date",  "comma",  "text"};
  bool few = c->different <= LAPIS_COLUMN_VALUES;
  bool repeated = c->different < c->numbers + c->texts;
  if (c->type == LAPIS_COLUMN_TEXT && few && repeated) return "class";
  return names[c->type];
}

static bool is_class(const lapis_column *c)
{
  return strcmp(type_name(c), "class") == 0 ||
         (c->type == LAPIS_COLUMN_WHOLE && c->different >= 2 &&
          c->different <= LAPIS_COLUMN_VALUES &&
          2 * c->different <= c->numbers);
}

/* A name for every row. */
static bool is_id(const lapis_column *c)
{
  return c->type == LAPIS_COLUMN_TEXT && c->missing == 0 && !is_class(c);
}

static const char *shown(const char *text, char *to, size_t size)
{
  (void)lapis_text_shown(text, to, size);
  if (strlen(to) > WIDE) {
    size_t end = WIDE;
    while (end > 0 && (to[end] & 0xc0) == 0x80) end--;
    snprintf(to + end, size - end, "...");
  }
  return to;
}

static const char *title_of(const lapis_columns *all, int j, char *to,
                            size_t size)
{
  if (all->column[j].title == NULL)
    snprintf(to, size, "column %d", j + 1);
  else
    shown(all->column[j].title, to, size);
  return to;
}

static void print_values(const lapis_column *c)
{
  char text[512];
  bool counts = is_class(c);
  if (c->different > LAPIS_COLUMN_VALUES)
    printf("more than %d different: ", LAPIS_COLUMN_VALUES);
  for (int k = 0; k < SHOWN && k < c->different; k++) {
    printf("%s%s", k > 0 ? ", " : "", shown(c->value[k], text, sizeof text));
    if (counts) printf(" %" PRId64, c->count[k]);
  }
  if (c->different > SHOWN) printf(", ...");
}

static void print_column(const lapis_columns *all, int j)
{
  char title[512];
  const lapis_column *c = &all->column[j];
  printf("  %-16s %-8s %7" PRId64 " missing   ",
         title_of(all, j, title, sizeof title), type_name(c), c->missing);
  if (c->type == LAPIS_COLUMN_NUMBER || c->type == LAPIS_COLUMN_COUNTER ||
      (c->type == LAPIS_COLUMN_WHOLE && !is_class(c)))
    printf("%.6g .. %.6g", c->low, c->high);
  else
    print_values(c);
  printf("\n");
}

/* The texts in a column of numbers, the first few of them. */
static void print_mixed(const lapis_column *c, const char *title)
{
  enum { NAMED = 3 };
  char value[512];
  double v;
  int named = 0;
  printf("  note: %s holds %" PRId64 " numbers and %" PRId64 " texts", title,
         c->numbers, c->texts);
  for (int k = 0; k < c->different && k < LAPIS_COLUMN_VALUES; k++)
    if (!lapis_number_read(c->value[k], NULL, &v) && named++ < NAMED)
      printf("%s\"%s\"", named > 1 ? ", " : ": ",
             shown(c->value[k], value, sizeof value));
  printf("%s\n", named > NAMED ? ", ..." : "");
}

/* What a person should know before the columns are used. */
static void print_remarks(const lapis_columns *all)
{
  char title[512], value[512];
  for (int j = 0; j < all->listed; j++) {
    const lapis_column *c = &all->column[j];
    title_of(all, j, title, sizeof title);
    if (c->type == LAPIS_COLUMN_COMMA)
      printf("  note: %s has decimal commas: read it with --decimal ,\n",
             title);
    if (c->type == LAPIS_COLUMN_COUNTER && j == 0)
      printf("  note: %s counts the rows: --drop it, or it is their names, "
             "--id 1\n",
             title);
    if (c->type == LAPIS_COLUMN_DATE)
      printf("  note: %s holds dates; a feature is a number, for example days "
             "since a first date\n",
             title);
    if (c->type == LAPIS_COLUMN_TEXT && c->numbers > 0) print_mixed(c, title);
    for (int k = 0; is_class(c) && c->texts > 0 && k < c->different; k++)
      if (c->count[k] == 1)
        printf("  note: \"%s\" occurs once in %s: is it spelt right?\n",
               shown(c->value[k], value, sizeof value), title);
  }
}

/* A column as a word of a command line: its number where the title would need
 * quotes. */
static const char *word_of(const lapis_columns *all, int j, char *to,
                           size_t size)
{
  const char *t = all->column[j].title;
  static const char *const plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  if (t == NULL || *t == '\0' || strspn(t, plain) != strlen(t))
    snprintf(to, size, "%d", j + 1);
  else
    snprintf(to, size, "%s", t);
  return to;
}

static void print_word(const lapis_columns *all, int j, char before)
{
  char word[512];
  printf("%c%s", before, word_of(all, j, word, sizeof word));
}

/* What could be asked: the columns of classes that have gaps, all of them, as
 * one would tell of the other; where none has, the last column of classes. */
static int find_targets(const lapis_columns *all, bool *target)
{
  int count = 0, last = -1;
  for (int j = 0; j < all->listed; j++) {
    const lapis_column *c = &all->column[j];
    bool better = is_class(c) &&
                  (last < 0 || c->texts > 0 || all->column[last].texts == 0);
    if (better) last = j;
    target[j] = is_class(c) && c->missing > 0;
    count += target[j];
  }
  if (count == 0 && last >= 0) target[last] = true;
  return count == 0 && last >= 0 ? 1 : count;
}

/* A list of columns after an option. */
static void print_list(const lapis_columns *all, const char *option,
                       const bool *listed)
{
  int count = 0;
  for (int j = 0; j < all->listed; j++) {
    if (!listed[j]) continue;
    if (count++ == 0) printf(" %s", option);
    print_word(all, j, count == 1 ? ' ' : ',');
  }
}

/* A column that --one-hot makes features of. */
static bool is_nominal(const lapis_column *c)
{
  return c->texts > 0 && is_class(c);
}

/* Names of samples are the first column that can be, and other texts cannot be
 * features. */
static void print_advice(const lapis_columns *all, const char *path)
{
  bool target[LAPIS_COLUMNS_LISTED], drop[LAPIS_COLUMNS_LISTED],
      nominal[LAPIS_COLUMNS_LISTED];
  int id = -1, features = 0;
  bool commas = false;
  char file[4096];
  if (find_targets(all, target) == 0) return;
  for (int j = 0; j < all->listed; j++) {
    const lapis_column *c = &all->column[j];
    bool comma = c->type == LAPIS_COLUMN_COMMA;
    bool number = comma || (c->texts == 0 && c->numbers > 0 &&
                            c->type != LAPIS_COLUMN_COUNTER);
    commas = commas || comma;
    if (id < 0 && is_id(c)) id = j;
    nominal[j] = !target[j] && is_nominal(c);
    drop[j] = !target[j] && !number && !nominal[j] && j != id;
    features += !target[j] && (number || nominal[j]);
  }
  if (features == 0) return;
  printf("  for example: lapis fit mc %s",
         lapis_text_shown(path, file, sizeof file));
  if (id >= 0) printf(" --id"), print_word(all, id, ' ');
  print_list(all, "--target", target);
  print_list(all, "--one-hot", nominal);
  print_list(all, "--drop", drop);
  printf("%s\n", commas ? " --decimal ," : "");
}

static lapis_json *column_json(const lapis_column *c)
{
  lapis_json *one = lapis_json_object();
  if (c->title != NULL) lapis_json_put_text(one, "title", c->title);
  lapis_json_put_text(one, "type", type_name(c));
  lapis_json_put_integer(one, "missing", c->missing);
  if (c->numbers > 0) lapis_json_put_number(one, "low", c->low);
  if (c->numbers > 0) lapis_json_put_number(one, "high", c->high);
  lapis_json *values = lapis_json_object();
  for (int k = 0; c->different <= LAPIS_COLUMN_VALUES && k < c->different; k++)
    lapis_json_put_integer(values, c->value[k], c->count[k]);
  lapis_json_put(one, "values", values);
  return one;
}

/* By title, or else by number, from 1. */
static int find_column(const lapis_columns *all, const char *wanted)
{
  char *end;
  for (int j = 0; j < all->listed; j++)
    if (all->column[j].title != NULL &&
        strcmp(all->column[j].title, wanted) == 0)
      return j;
  long number = strtol(wanted, &end, 10);
  return *wanted != '\0' && *end == '\0' && number >= 1 && number <= all->listed
             ? (int)number - 1
             : -1;
}

int info_column(cli *c, const lapis_columns *all, const char *path,
                const char *wanted)
{
  int j = find_column(all, wanted);
  char hint[256];
  lapis_nearest near = {.word = wanted, .size = strlen(wanted)};
  for (int k = 0; k < all->listed; k++)
    if (all->column[k].title != NULL)
      lapis_nearest_try(&near, all->column[k].title);
  if (j < 0)
    return cli_fail(EXIT_INPUT,
                    "%s: has no column '%s'%s; 'lapis info %s' lists what it "
                    "has",
                    path, wanted,
                    lapis_nearest_hint(&near, "", hint, sizeof hint), path);
  if (c->json) return print_json(column_json(&all->column[j]));
  print_column(all, j);
  for (int k = 0; all->column[j].different <= LAPIS_COLUMN_VALUES &&
                  k < all->column[j].different && is_class(&all->column[j]);
       k++)
    printf("    %-30s %7" PRId64 "\n",
           shown(all->column[j].value[k], hint, sizeof hint),
           all->column[j].count[k]);
  return EXIT_DONE;
}

void info_columns(const lapis_columns *all, const char *path, const char *why)
{
  char name[4096];
  const char *mark = all->delimiter == '\t'  ? "tabs"
                     : all->delimiter == ';' ? "semicolons"
                                             : "commas";
  const char *file = strcmp(path, "-") == 0 ? "standard input" : path;
  printf("%s: a table, %" PRId64 " columns, %" PRId64
         " rows%s, %s between cells\n",
         lapis_text_shown(file, name, sizeof name), all->columns, all->rows,
         all->header ? " below a header" : "", mark);
  int most = all->listed < 200 ? all->listed : 200;
  for (int j = 0; j < most; j++) print_column(all, j);
  if (most < all->columns)
    printf("  ... %" PRId64 " columns more\n", all->columns - most);
  print_remarks(all);
  if (*why != '\0') printf("  not data as it stands: %s\n", why);
  print_advice(all, path);
}

lapis_json *info_columns_json(const lapis_columns *all)
{
  lapis_json *list = lapis_json_list();
  for (int j = 0; j < all->listed; j++)
    lapis_json_put(list, NULL, column_json(&all->column[j]));
  return list;
}
