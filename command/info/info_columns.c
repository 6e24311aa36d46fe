/* info_columns.c - lapis info F.csv: each column by its title. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"

enum { SHOWN = 6, WIDE = 40 };

int column_values(const lapis_column *c)
{
  return c->different < LAPIS_COLUMN_VALUES ? (int)c->different
                                            : LAPIS_COLUMN_VALUES;
}

bool column_repeats(const lapis_column *c)
{
  int64_t cells = c->numbers + c->texts;
  return c->different <= LAPIS_COLUMN_VALUES ? c->different < cells
                                             : 2 * c->different <= cells;
}

bool column_has_units(const lapis_column *c)
{
  enum { CLASSES = 9 }; /* 10 mm, 20 mm: so few are classes */
  int units = 0, alike = 0, size;
  const char *number, *first = "";
  double v;
  if (c->type != LAPIS_COLUMN_TEXT || c->declared) return false;
  for (int k = 0; k < column_values(c); k++) {
    if (lapis_number_read(c->value[k], NULL, &v) ||
        lapis_text_unsure(c->value[k]))
      continue;
    const char *unit = lapis_number_unit(c->value[k], &number, &size);
    if (unit == NULL) return false;
    if (units++ == 0) first = unit;
    alike += strcmp(unit, first) == 0;
  }
  return alike > (column_repeats(c) ? CLASSES : 1);
}

static const char *type_name(const lapis_column *c)
{
  static const char *const names[] = {"empty", "number", "whole", "counter",
                                      "date",  "comma",  "text"};
  if (c->type == LAPIS_COLUMN_TEXT && c->odd_one == NULL &&
      (c->declared || column_repeats(c)) && !column_has_units(c))
    return "class";
  return names[c->type];
}

bool info_is_class(const lapis_column *c)
{
  return strcmp(type_name(c), "class") == 0 ||
         (c->type == LAPIS_COLUMN_WHOLE && c->different >= 2 &&
          c->different <= LAPIS_COLUMN_VALUES &&
          (c->declared || 2 * c->different <= c->numbers));
}

bool column_is_id(const lapis_column *c)
{
  return c->type == LAPIS_COLUMN_TEXT && c->missing == 0 && !info_is_class(c) &&
         !column_has_units(c) && c->odd_one == NULL &&
         (c->different > LAPIS_COLUMN_MOST ||
          10 * c->different >= 9 * (c->numbers + c->texts));
}

/* By title, or else by number, from 1. */
static int find_column(const lapis_columns *all, const char *wanted)
{
  char *end;
  for (int j = 0; j < all->listed; j++)
    if (all->column[j].title != NULL &&
        strcmp(all->column[j].title, wanted) == 0)
      return j;
  wanted += *wanted == '#';
  long number = strtol(wanted, &end, 10);
  return *wanted != '\0' && *end == '\0' && number >= 1 && number <= all->listed
             ? (int)number - 1
             : -1;
}

int column_of_names(const cli *c, const lapis_columns *all)
{
  const char *asked = args_get(&c->args, "id");
  if (asked != NULL) return find_column(all, asked);
  if (all->listed > 0 && all->column[0].type == LAPIS_COLUMN_COUNTER) return 0;
  for (int j = 0; j < all->listed; j++)
    if (column_is_id(&all->column[j])) return j;
  for (int j = 0; j < all->listed; j++)
    if (all->column[j].type == LAPIS_COLUMN_COUNTER) return j;
  return -1;
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

const char *column_title(const lapis_columns *all, int j, char *to, size_t size)
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
  bool counts = info_is_class(c);
  if (c->different > LAPIS_COLUMN_MOST)
    printf("more than %d different: ", LAPIS_COLUMN_MOST);
  else if (c->different > LAPIS_COLUMN_VALUES)
    printf("%" PRId64 " different: ", c->different);
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
         column_title(all, j, title, sizeof title), type_name(c), c->missing);
  if (c->type == LAPIS_COLUMN_NUMBER || c->type == LAPIS_COLUMN_COUNTER ||
      (c->type == LAPIS_COLUMN_WHOLE && !info_is_class(c)))
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
  printf("  note: %s holds %" PRId64 " number%s and %" PRId64 " text%s", title,
         c->numbers, cli_s(c->numbers), c->texts, cli_s(c->texts));
  for (int k = 0; k < column_values(c); k++)
    if (!lapis_number_read(c->value[k], NULL, &v) && named++ < NAMED)
      printf("%s\"%s\"", named > 1 ? ", " : ": ",
             shown(c->value[k], value, sizeof value));
  printf("%s\n", named > NAMED ? ", ..." : "");
}

bool column_is_constant(const lapis_columns *all, const lapis_column *c)
{
  return all->rows > 1 && c->different == 1 && c->missing == 0 && !c->declared;
}

/* The first value that is a number with its unit. */
static const char *with_unit(const lapis_column *c)
{
  const char *number;
  int k = 0, size;
  while (k < column_values(c) - 1 &&
         lapis_number_unit(c->value[k], &number, &size) == NULL)
    k++;
  return c->value[k];
}

/* Of one word in quotes, and else the same, counts aside. */
static bool are_alike(const char *a, const char *b)
{
  static const char digits[] = "0123456789";
  size_t word = *a == '"' ? 2 + strcspn(a + 1, "\"") : 0;
  if (strncmp(a, b, word) != 0) return false;
  a += word;
  b += word;
  while (*a != '\0' && *a == *b) {
    a += 1 + strspn(a + 1, digits);
    b += 1 + strspn(b + 1, digits);
  }
  return *a == *b;
}

static bool has_alike(const lapis_column *c, const char *remark)
{
  for (int k = 0; k < LAPIS_COLUMN_REMARKS && c->remark[k] != NULL; k++)
    if (are_alike(c->remark[k], remark)) return true;
  return false;
}

/* A remark on the word is of other columns, too. */
static bool is_remarked(const lapis_columns *all, const lapis_column *c,
                        const char *word)
{
  size_t size = strlen(word);
  for (int k = 0; k < LAPIS_COLUMN_REMARKS && c->remark[k] != NULL; k++) {
    int columns = 0;
    const char *of = c->remark[k];
    if (*of != '"' || strncmp(of + 1, word, size) != 0 || of[size + 1] != '"')
      continue;
    for (int i = 0; i < all->listed; i++)
      columns += has_alike(&all->column[i], of);
    if (columns > 1) return true;
  }
  return false;
}

/* Once, for all columns that it is of. */
static void print_remark(const lapis_columns *all, int j, int k,
                         const char *title)
{
  enum { NAMED = 3 };
  char other[512];
  int more = 0;
  const char *remark = all->column[j].remark[k];
  for (int i = 0; i < j; i++)
    if (has_alike(&all->column[i], remark)) return;
  printf("  note: %s: %s", title, remark);
  for (int i = j + 1; i < all->listed; i++) {
    if (!has_alike(&all->column[i], remark)) continue;
    if (more < NAMED)
      printf("%s%s", more == 0 ? "; so in " : ", ",
             column_title(all, i, other, sizeof other));
    more++;
  }
  if (more > NAMED) printf(" and %d more", more - NAMED);
  printf("\n");
}

static void print_kind(const lapis_columns *all, const lapis_column *c,
                       const char *title)
{
  char value[512];
  double end = 0;
  if (c->type == LAPIS_COLUMN_EMPTY)
    printf("  note: %s is empty in every row: it says nothing\n", title);
  if (column_is_constant(all, c))
    printf("  note: %s is %s in every row: it says nothing\n", title,
           shown(c->value[0], value, sizeof value));
  if (c->padded && c->type != LAPIS_COLUMN_COUNTER)
    printf("  note: %s has numbers that begin with 0, as codes of places and "
           "things do: as a feature it would be a quantity\n",
           title);
  int limit = c->numbers > 0 ? lapis_number_limit(c->odd_one, &end) : 0;
  if (limit != 0)
    printf("  note: \"%s\" stands in all cells of %s that are no numbers: "
           "values %s a limit; a number in their place, such as %g, keeps what "
           "is known of them, where --missing reads them as unknown, and "
           "fills in values that may lie %s\n",
           shown(c->odd_one, value, sizeof value), title,
           limit < 0 ? "below" : "above", limit < 0 ? end / 2 : end,
           limit < 0 ? "above it" : "below it");
  else if (c->odd_one != NULL && !is_remarked(all, c, c->odd_one))
    printf(
        "  note: \"%s\" stands in all cells of %s that are no %s: if it means "
        "unknown, --missing %s reads it so\n",
        shown(c->odd_one, value, sizeof value), title,
        c->numbers > 0 ? "numbers" : "dates", value);
}

/* Rows that stand twice, and samples of one name. */
static void print_twins(const lapis_columns *all, int names)
{
  char title[512];
  const lapis_column *c = names < 0 ? NULL : &all->column[names];
  if (all->twins > 0)
    printf("  note: %" PRId64 " row%s one above, names aside: held out apart "
           "from it, a copy makes figures too good\n",
           all->twins, all->twins > 1 ? "s repeat" : " repeats");
  if (c == NULL || c->different > LAPIS_COLUMN_MOST) return;
  int64_t twins = c->numbers + c->texts - c->different;
  if (twins > 0)
    printf("  note: %s, which names the rows, has %" PRId64 " name%s that "
           "stood in a row above: are these rows twice there?\n",
           column_title(all, names, title, sizeof title), twins, cli_s(twins));
}

/* Yes and yes. */
static void print_case(const lapis_column *c, const char *title)
{
  char twins[512], safe[1024];
  int listed = info_is_class(c) ? column_values(c) : 0;
  if (lapis_text_twins(c->value, listed, c->count, "and", twins, sizeof twins) >
      0)
    printf("  note: %s: %s differ in case or blanks alone; they are classes of "
           "their own unless they are written alike\n",
           title, lapis_text_shown(twins, safe, sizeof safe));
}

/* Another column, too, has the word: what stands once here is a word there. */
static bool is_elsewhere(const lapis_columns *all, int j, const char *word)
{
  for (int i = 0; i < all->listed; i++)
    for (int k = 0; i != j && k < column_values(&all->column[i]); k++)
      if (strcmp(all->column[i].value[k], word) == 0) return true;
  return false;
}

bool column_has_commas(const lapis_column *c)
{
  return c->type == LAPIS_COLUMN_COMMA ||
         (c->type == LAPIS_COLUMN_TEXT && c->decimal != '\0');
}

/* What a person should know before the columns are used. */
static void print_remarks(const lapis_columns *all, int names)
{
  char title[512], value[512];
  for (int j = 0; j < all->listed; j++) {
    const lapis_column *c = &all->column[j];
    column_title(all, j, title, sizeof title);
    if (c->marks != NULL)
      printf("  note: %s: %s\n", title, c->marks);
    else if (column_has_commas(c))
      printf("  note: %s has decimal commas: read it with --decimal ,\n",
             title);
    for (int k = 0; k < LAPIS_COLUMN_REMARKS && c->remark[k] != NULL; k++)
      print_remark(all, j, k, title);
    print_case(c, title);
    print_kind(all, c, title);
    if (c->type == LAPIS_COLUMN_COUNTER)
      printf("  note: %s numbers the rows: it is not a feature, but may be "
             "their names, --id %d\n",
             title, j + 1);
    if (c->type == LAPIS_COLUMN_DATE)
      printf("  note: %s holds dates; a feature is a number, for example days "
             "since a first date\n",
             title);
    bool units = column_has_units(c);
    if (c->type == LAPIS_COLUMN_TEXT && c->numbers > 0 && c->odd_one == NULL &&
        !units)
      print_mixed(c, title);
    if (units)
      printf("  note: %s holds numbers with units (\"%s\"), which are texts; a "
             "feature is a number alone, in one unit\n",
             title, shown(with_unit(c), value, sizeof value));
    bool words = info_is_class(c) && !c->declared && c->texts > 0;
    for (int k = 0;
         words && c->different == column_values(c) && k < c->different; k++)
      if (c->count[k] == 1 && !is_elsewhere(all, j, c->value[k]) &&
          lapis_text_twin(c->value, c->different, k) < 0)
        printf("  note: \"%s\" occurs once in %s: is it spelt right?\n",
               shown(c->value[k], value, sizeof value), title);
  }
  print_twins(all, names);
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
  for (int k = 0;
       all->column[j].different <= LAPIS_COLUMN_VALUES &&
       k < all->column[j].different && info_is_class(&all->column[j]);
       k++)
    printf("    %-30s %7" PRId64 "\n",
           shown(all->column[j].value[k], hint, sizeof hint),
           all->column[j].count[k]);
  return EXIT_DONE;
}

void info_columns(const cli *c, const lapis_columns *all, const char *path)
{
  char name[4096];
  const char *mark = all->delimiter == '\t'  ? "tabs"
                     : all->delimiter == ';' ? "semicolons"
                     : all->delimiter == '|' ? "bars"
                                             : "commas";
  const char *file = strcmp(path, "-") == 0 ? "standard input" : path;
  printf("%s: a table, %" PRId64 " column%s, %" PRId64 " row%s%s",
         lapis_text_shown(file, name, sizeof name), all->columns,
         cli_s(all->columns), all->rows, cli_s(all->rows),
         all->delimiter == '\0' ? ", ARFF"
         : all->header          ? " below a header"
                                : "");
  if (all->delimiter != '\0') printf(", %s between cells", mark);
  printf("\n");
  int most = all->listed < 200 ? all->listed : 200;
  for (int j = 0; j < most; j++) print_column(all, j);
  if (most < all->columns)
    printf("  ... %" PRId64 " column%s more\n", all->columns - most,
           cli_s(all->columns - most));
  print_remarks(all, column_of_names(c, all));
}

lapis_json *info_columns_json(const lapis_columns *all)
{
  lapis_json *list = lapis_json_list();
  for (int j = 0; j < all->listed; j++)
    lapis_json_put(list, NULL, column_json(&all->column[j]));
  return list;
}
