/* info_columns.c - lapis info F.csv: each column by its title. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"

enum { SHOWN = 6, WIDE = 40, MANY = 20 };

/* How many are listed. */
static int values_of(const lapis_column *c)
{
  return c->different < LAPIS_COLUMN_VALUES ? (int)c->different
                                            : LAPIS_COLUMN_VALUES;
}

/* Words that stand for kinds: a few of which some repeats, or many each of
 * which stands twice or more on average. */
static bool repeats(const lapis_column *c)
{
  int64_t cells = c->numbers + c->texts;
  return c->different <= LAPIS_COLUMN_VALUES ? c->different < cells
                                             : 2 * c->different <= cells;
}

static const char *type_name(const lapis_column *c)
{
  static const char *const names[] = {"empty", "number", "whole", "counter",
                                      "date",  "comma",  "text"};
  if (c->type == LAPIS_COLUMN_TEXT && c->odd_one == NULL &&
      (c->declared || repeats(c)))
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

/* What stands behind a number, as "cm" in "10 cm" or "%" in "10%", perhaps
 * behind a currency; NULL: the text is something else. */
static const char *unit_of(const char *text)
{
  enum { LONG = 8 };
  static const char *const currency[] = {"$", "\u20ac", "\u00a3", "\u00a5"};
  const char *at = text;
  for (size_t k = 0; k < sizeof currency / sizeof *currency; k++)
    if (strncmp(text, currency[k], strlen(currency[k])) == 0)
      at = text + strlen(currency[k]);
  at += strspn(at, " ");
  size_t size = strspn(at, "+-.,0123456789");
  const char *unit = at + size + strspn(at + size, " ");
  bool bare = *unit == '\0' && at == text; /* a number or a date */
  bool none = size == 0 || bare || strlen(unit) > LONG ||
              strpbrk(unit, "0123456789") != NULL;
  return none ? NULL : unit;
}

/* Whether texts are numbers with units, the first of which has company. */
static bool has_units(const lapis_column *c)
{
  int alike = 0;
  if (c->type != LAPIS_COLUMN_TEXT || c->numbers > 0 || info_is_class(c))
    return false;
  for (int k = 0; k < values_of(c); k++) {
    const char *unit = unit_of(c->value[k]);
    if (unit == NULL) return false;
    alike += strcmp(unit, unit_of(c->value[0])) == 0;
  }
  return alike > 1;
}

/* A name for every row, but for a few twins. */
static bool is_id(const lapis_column *c)
{
  return c->type == LAPIS_COLUMN_TEXT && c->missing == 0 && !info_is_class(c) &&
         !has_units(c) && c->odd_one == NULL &&
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

/* The names of samples: what is asked for; else a first column that numbers
 * them, as no two have one number; else the first of texts that may be names;
 * else numbers in another column.  -1: none. */
static int find_id(const cli *c, const lapis_columns *all)
{
  const char *asked = args_get(&c->args, "id");
  if (asked != NULL) return find_column(all, asked);
  if (all->listed > 0 && all->column[0].type == LAPIS_COLUMN_COUNTER) return 0;
  for (int j = 0; j < all->listed; j++)
    if (is_id(&all->column[j])) return j;
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
         title_of(all, j, title, sizeof title), type_name(c), c->missing);
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
         c->numbers, c->numbers > 1 ? "s" : "", c->texts,
         c->texts > 1 ? "s" : "");
  for (int k = 0; k < values_of(c); k++)
    if (!lapis_number_read(c->value[k], NULL, &v) && named++ < NAMED)
      printf("%s\"%s\"", named > 1 ? ", " : ": ",
             shown(c->value[k], value, sizeof value));
  printf("%s\n", named > NAMED ? ", ..." : "");
}

/* What a column says alike of all rows is no feature. */
static bool is_constant(const lapis_columns *all, const lapis_column *c)
{
  return all->rows > 1 && c->different == 1 && c->missing == 0 && !c->declared;
}

static void print_kind(const lapis_columns *all, const lapis_column *c,
                       const char *title)
{
  char value[512];
  if (c->type == LAPIS_COLUMN_EMPTY)
    printf("  note: %s is empty in every row: it says nothing\n", title);
  if (is_constant(all, c))
    printf("  note: %s is %s in every row: it says nothing\n", title,
           shown(c->value[0], value, sizeof value));
  if (c->padded && c->type != LAPIS_COLUMN_COUNTER)
    printf("  note: %s has numbers that begin with 0, as codes of places and "
           "things do: as a feature it would be a quantity\n",
           title);
  if (c->odd_one != NULL)
    printf(
        "  note: \"%s\" stands in all cells of %s that are no %s: if it means "
        "unknown, --missing %s reads it so\n",
        shown(c->odd_one, value, sizeof value), title,
        c->numbers > 0 ? "numbers" : "dates", value);
}

/* Samples of one name. */
static void print_twins(const lapis_columns *all, int names)
{
  char title[512];
  const lapis_column *c = names < 0 ? NULL : &all->column[names];
  if (c == NULL || c->different > LAPIS_COLUMN_MOST) return;
  int64_t twins = c->numbers + c->texts - c->different;
  if (twins > 0)
    printf("  note: %s, which names the rows, has %" PRId64 " name%s that "
           "stood in a row above: are these rows twice there?\n",
           title_of(all, names, title, sizeof title), twins,
           twins > 1 ? "s" : "");
}

/* Yes and yes. */
static void print_case(const lapis_column *c, const char *title)
{
  char a[512], b[512];
  int twin, listed = info_is_class(c) ? values_of(c) : 0;
  for (int k = 0; k < listed; k++)
    if ((twin = lapis_text_twin(c->value, listed, k)) >= 0)
      printf("  note: %s: \"%s\" and \"%s\" differ in case or blanks alone; "
             "they are two classes unless they are written alike\n",
             title, shown(c->value[twin], a, sizeof a),
             shown(c->value[k], b, sizeof b));
}

/* Another column, too, has the word: what stands once here is a word there. */
static bool is_elsewhere(const lapis_columns *all, int j, const char *word)
{
  for (int i = 0; i < all->listed; i++)
    for (int k = 0; i != j && k < values_of(&all->column[i]); k++)
      if (strcmp(all->column[i].value[k], word) == 0) return true;
  return false;
}

/* All its numbers are so, or they are beside texts. */
static bool has_decimal_commas(const lapis_column *c)
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
    title_of(all, j, title, sizeof title);
    if (c->marks != NULL)
      printf("  note: %s: %s\n", title, c->marks);
    else if (has_decimal_commas(c))
      printf("  note: %s has decimal commas: read it with --decimal ,\n",
             title);
    for (int k = 0; k < LAPIS_COLUMN_REMARKS && c->remark[k] != NULL; k++)
      printf("  note: %s: %s\n", title, c->remark[k]);
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
    if (c->type == LAPIS_COLUMN_TEXT && c->numbers > 0 && c->odd_one == NULL)
      print_mixed(c, title);
    if (has_units(c))
      printf("  note: %s holds numbers with units (\"%s\"), which are texts; a "
             "feature is a number alone, in one unit\n",
             title, shown(c->value[0], value, sizeof value));
    bool words = info_is_class(c) && !c->declared && c->texts > 0;
    for (int k = 0; words && c->different == values_of(c) && k < c->different;
         k++)
      if (c->count[k] == 1 && !is_elsewhere(all, j, c->value[k]))
        printf("  note: \"%s\" occurs once in %s: is it spelt right?\n",
               shown(c->value[k], value, sizeof value), title);
  }
  print_twins(all, names);
}

/* Whether a list of columns can name one by its title: no list, number or
 * pattern, and no other column's. */
static bool is_name(const lapis_columns *all, int j)
{
  const char *title = all->column[j].title;
  char shown[512];
  double number;
  if (title == NULL || *title == '\0' || strpbrk(title, ",*?[") != NULL ||
      lapis_number_read(title, NULL, &number) ||
      strcmp(lapis_text_shown(title, shown, sizeof shown), title) != 0)
    return false;
  for (int k = 0; k < all->listed; k++)
    if (k != j && strcmp(all->column[k].title, title) == 0) return false;
  return true;
}

/* Texts beside numbers, each of which stands twice or more. */
static bool is_mixed_class(const lapis_column *c)
{
  double v;
  if (c->different > values_of(c) || 2 * c->different > c->numbers + c->texts)
    return false;
  for (int k = 0; k < values_of(c); k++) {
    const char *text = c->value[k];
    bool word = false;
    if (lapis_number_read(text, NULL, &v)) continue;
    for (; *text != '\0'; text++)
      word |= isalnum((unsigned char)*text) || (unsigned char)*text >= 0x80;
    if (!word || c->count[k] < 2) return false;
  }
  return true;
}

/* What a class holds can be asked: two values or more, all of one kind. */
static bool can_be_asked(const lapis_column *c)
{
  return info_is_class(c) && c->different >= 2 &&
         (c->texts == 0 || c->numbers == 0 || is_mixed_class(c));
}

bool info_has_value(const lapis_column *c, const char *value)
{
  for (int k = 0; k < values_of(c); k++)
    if (strcmp(c->value[k], value) == 0) return true;
  return false;
}

/* Several columns are asked at once where each says yes or no in one way: the
 * same two words, 0 and 1, -1 and 1. */
static bool are_alike(const lapis_column *a, const lapis_column *b)
{
  bool signs = a->high == 1 && (a->low == 0 || a->low == -1);
  return a->different == 2 && b->different == 2 && (a->texts > 0 || signs) &&
         info_has_value(a, b->value[0]) && info_has_value(a, b->value[1]);
}

/* Cells that ask; a few in a column of numbers and texts are mishaps. */
static int64_t gaps_of(const lapis_column *c)
{
  bool mixed = c->texts > 0 && c->numbers > 0;
  return mixed && 3 * c->missing < c->texts + c->numbers ? 0 : c->missing;
}

/* Rather asked than another: with more gaps (a few are mishaps, many a
 * question), words rather than numbers, behind it. */
static bool is_rather(const lapis_column *c, const lapis_column *best)
{
  bool words = c->texts > 0 && c->numbers == 0;
  int64_t gaps = gaps_of(c), most = gaps_of(best);
  if (gaps != most) return gaps > most;
  return words || best->texts == 0;
}

/* What could be asked: a column of classes, and those like it with gaps, as one
 * would tell of the other. */
static int find_targets(const lapis_columns *all, bool *target)
{
  int last = -1, count = 0;
  for (int j = 0; j < all->listed; j++) {
    const lapis_column *c = &all->column[j];
    if (can_be_asked(c) && (last < 0 || is_rather(c, &all->column[last])))
      last = j;
  }
  for (int j = 0; j < all->listed; j++) {
    const lapis_column *c = &all->column[j];
    target[j] = last >= 0 && (j == last || (c->missing > 0 && can_be_asked(c) &&
                                            are_alike(c, &all->column[last])));
    count += target[j];
  }
  return count;
}

/* Whether another column than that is titled by its number. */
static bool is_title(const lapis_columns *all, int number)
{
  char text[16];
  snprintf(text, sizeof text, "%d", number);
  for (int j = 0; j < all->listed; j++)
    if (j != number - 1 && all->column[j].title != NULL &&
        strcmp(all->column[j].title, text) == 0)
      return true;
  return false;
}

/* A list of columns after an option. */
static void print_list(const lapis_columns *all, const char *option,
                       const bool *listed)
{
  char *text = NULL;
  size_t size;
  FILE *to = open_memstream(&text, &size);
  bool any = false;
  for (int j = 0; to != NULL && j < all->listed; j++) {
    if (!listed[j]) continue;
    if (any) fputc(',', to);
    if (is_name(all, j))
      fputs(all->column[j].title, to);
    else
      fprintf(to, "%s%d", is_title(all, j + 1) ? "#" : "", j + 1);
    any = true;
  }
  if (to != NULL && fclose(to) == 0 && any) {
    printf(" %s", option);
    shell_word(stdout, text);
  }
  free(text);
}

/* A column that --one-hot makes features of. */
static bool is_nominal(const lapis_column *c)
{
  return c->texts > 0 && info_is_class(c);
}

/* The texts that seem to mean unknown, each once. */
static void print_unknown(const cli *c, const lapis_columns *all)
{
  char list[1024] = "";
  if (args_get(&c->args, "missing") != NULL) return;
  for (int j = 0; j < all->listed; j++) {
    const char *word = all->column[j].odd_one;
    size_t used = strlen(list);
    bool met = word == NULL;
    for (int k = 0; k < j && !met; k++)
      met = all->column[k].odd_one != NULL &&
            strcmp(all->column[k].odd_one, word) == 0;
    if (!met && used + strlen(word) + 2 < sizeof list)
      snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? "," : "",
               word);
  }
  if (*list != '\0') shell_option(stdout, c, "missing", list);
}

/* How the table was read, which is how it has to be read again. */
static void print_reading(const cli *c, char decimal)
{
  static const char *const how[] = {"header", "decimal", "missing"};
  for (size_t k = 0; k < sizeof how / sizeof *how; k++) {
    const char *value = args_get(&c->args, how[k]);
    if (value != NULL) shell_option(stdout, c, how[k], value);
    if (value != NULL && k == 1) decimal = '\0';
  }
  if (decimal != '\0') printf(" --decimal %c", decimal);
  printf("\n");
}

static bool holds_numbers(const lapis_column *c)
{
  return c->type == LAPIS_COLUMN_COMMA ||
         (c->odd_one != NULL && c->numbers > 0) ||
         (c->texts == 0 && c->numbers > 0 && c->type != LAPIS_COLUMN_COUNTER);
}

typedef struct question {
  bool any;       /* there is one */
  bool open;      /* several columns are classes, and none has gaps */
  bool completed; /* the whole table, no targets */
  bool classes;   /* targets are classes */
  bool target[LAPIS_COLUMNS_LISTED];
  bool leak[LAPIS_COLUMNS_LISTED]; /* would be asked next to it, not known */
} question;

/* A column of quantities behind all others, as what is asked often is, with
 * more gaps than any class that could be; -1: none. */
static int find_last(const lapis_columns *all, const bool *target)
{
  int last = all->listed - 1;
  const lapis_column *c = last < 0 ? NULL : &all->column[last];
  if (c == NULL || c->missing == 0 || info_is_class(c) || !holds_numbers(c))
    return -1;
  for (int j = 0; j < last; j++)
    if (target[j] && gaps_of(&all->column[j]) >= c->missing) return -1;
  return last;
}

static void ask_number(question *q, int column)
{
  memset(q->target, 0, sizeof q->target);
  q->target[column] = true;
  q->classes = false;
  q->any = true;
}

/* Of a table with missing cells something that is missing: classes, or else
 * the one column of quantities that has gaps, or all cells where several
 * have. */
static void find_question(const lapis_columns *all, question *q)
{
  int classes = find_targets(all, q->target), gaps = 0, last = 0, asked = 0;
  int number = find_last(all, q->target);
  q->classes = classes > 0;
  q->any = q->classes;
  for (int j = 0; j < all->listed; j++) {
    const lapis_column *c = &all->column[j];
    if (q->target[j] && c->missing > 0) {
      if (number >= 0) ask_number(q, number);
      return;
    }
    asked += can_be_asked(c) && (c->texts == 0 || c->numbers == 0);
    if (c->missing == 0 || info_is_class(c) || !holds_numbers(c)) continue;
    gaps++;
    last = j;
  }
  q->open = gaps == 0 && asked > 1;
  if (gaps == 0) return;
  ask_number(q, last);
  q->completed = gaps > 1;
  if (!q->completed) return;
  q->target[last] = false;
}

/* Columns with gaps like those of what is asked, in a fifth of the rows or
 * more, where most columns have few: labels, too, which new samples will not
 * have. */
static void find_leaks(const lapis_columns *all, question *q)
{
  int64_t asked = 0;
  int like = 0;
  for (int j = 0; j < all->listed; j++)
    if (q->target[j] && all->column[j].missing > asked)
      asked = all->column[j].missing;
  for (int j = 0; asked > 0 && j < all->listed; j++) {
    int64_t gaps = all->column[j].missing;
    q->leak[j] = 2 * gaps >= asked && gaps >= 5 && 5 * gaps >= all->rows &&
                 all->column[j].type != LAPIS_COLUMN_EMPTY;
    like += q->leak[j];
  }
  bool few = 2 * like <= all->listed;
  for (int j = 0; j < all->listed; j++)
    q->leak[j] = few && q->leak[j] && !q->target[j];
}

/* Codes as P017, or P7 where their rows stand together, for things of which
 * there are several rows each: of twenty or more, one for twenty rows or fewer.
 */
static bool are_codes(const lapis_column *c)
{
  int64_t cells = c->numbers + c->texts;
  if (!is_nominal(c) || c->declared || c->missing > 0 || c->different < MANY ||
      MANY * c->different < cells || 2 * c->different > cells)
    return false;
  for (int k = 0; k < values_of(c); k++) {
    const char *digit = strpbrk(c->value[k], "0123456789");
    if (digit == NULL || (!c->together && !isdigit((unsigned char)digit[1])))
      return false;
  }
  return true;
}

/* Whole numbers in front of all else whose rows stand together: of persons. */
static bool are_numbered(const lapis_columns *all, int j)
{
  const lapis_column *c = &all->column[j];
  return j == 0 && c->type == LAPIS_COLUMN_WHOLE && c->together && c->low >= 0;
}

/* What rows may belong to, as visits to a patient: words within which what is
 * asked never changes, or what looks like its names; -1: none. */
static int find_group(const lapis_columns *all, const question *q, bool *tells)
{
  for (int often = 1; often >= 0; often--)
    for (int j = 0; j < all->listed; j++) {
      const lapis_column *c = &all->column[j];
      bool is = often ? q->classes && c->tells != NULL && is_nominal(c)
                      : are_codes(c) || are_numbered(all, j);
      is = is && !q->target[j] && !q->leak[j] && is_name(all, j);
      for (int k = 0; k < all->listed && is && often; k++)
        is = !q->target[k] || c->tells[k];
      *tells = often;
      if (is) return j;
    }
  return -1;
}

static void print_group(const lapis_columns *all, int group, bool tells)
{
  char title[512];
  if (group < 0) return;
  title_of(all, group, title, sizeof title);
  if (tells)
    printf("  note: rows of one %s never differ in what is asked: they may "
           "belong together, as pictures of one person do; -G holds them out "
           "together; where a few rows decide for all of them, as patches of a "
           "slide do, add --bags\n",
           title);
  else
    printf("  note: %s seems to name what several rows are of, as visits are "
           "of one patient: -G holds these out together; as a feature it would "
           "say nothing of others\n",
           title);
}

/* Quantities asked that repeat, as ages do. */
static bool seem_classes(const lapis_columns *all, const question *q)
{
  for (int j = 0; j < all->listed && !q->classes; j++) {
    const lapis_column *c = &all->column[j];
    if (q->target[j] && c->type == LAPIS_COLUMN_WHOLE &&
        c->different < c->numbers)
      return true;
  }
  return false;
}

/* A line that a person may paste.  Texts that are
 * neither names nor classes cannot be features.  Who answers best is not known
 * before, so it is asked. */
static void print_line(const cli *c, const lapis_columns *all, const char *path,
                       const question *q, const char *before)
{
  bool drop[LAPIS_COLUMNS_LISTED], nominal[LAPIS_COLUMNS_LISTED],
      id[LAPIS_COLUMNS_LISTED] = {false}, group[LAPIS_COLUMNS_LISTED];
  bool tells;
  int together = find_group(all, q, &tells);
  int features = 0, names = find_id(c, all);
  char decimal = '\0';
  char file[4096];
  for (int j = 0; j < all->listed; j++) {
    const lapis_column *at = &all->column[j];
    group[j] = j == together && j != names;
    bool asked =
        !q->leak[j] && j != names && !group[j] && !is_constant(all, at);
    bool number = asked && holds_numbers(at) && !at->padded;
    if (has_decimal_commas(at) && decimal == '\0') decimal = at->decimal;
    id[j] = j == names;
    bool words = !q->target[j] && asked && is_nominal(at);
    nominal[j] = words && !at->declared; /* the declared become features so */
    drop[j] = !q->target[j] && !number && !words && !id[j] && !group[j];
    features += !q->target[j] && (number || words);
  }
  if (!q->any || features == 0) return;
  printf("%s lapis fit auto", before);
  shell_file(stdout, lapis_text_shown(path, file, sizeof file));
  print_list(all, "--id", id);
  print_list(all, "--target", q->target);
  if (seem_classes(all, q)) printf(" --targets numbers");
  print_list(all, "-G", group);
  print_list(all, "--one-hot", nominal);
  print_list(all, "--drop", drop);
  if (q->completed) printf(" --completed completed.csv");
  print_unknown(c, all);
  print_reading(c, decimal);
}

/* Where every label is given, nothing says which column is asked. */
static void print_advice(const cli *c, const lapis_columns *all,
                         const char *path)
{
  enum { SHOWN_LINES = 4 };
  question q = {.any = false};
  char before[600], title[512];
  find_question(all, &q);
  if (!q.open && !q.completed) find_leaks(all, &q);
  for (int j = 0; j < all->listed; j++)
    if (q.leak[j])
      printf("  note: %s has gaps as labels have: it is left out of the "
             "features, as new samples will not have it\n",
             title_of(all, j, title, sizeof title));
  bool tells;
  int group = find_group(all, &q, &tells);
  if (!q.open || !tells) print_group(all, group, tells);
  if (!q.open) {
    print_line(c, all, path, &q, "  for example:");
    return;
  }
  printf("  no label is missing; which column is to be predicted? --drop those "
         "that new samples will not have\n");
  for (int j = all->listed - 1, lines = 0; j >= 0 && lines < SHOWN_LINES; j--) {
    if (!can_be_asked(&all->column[j]) || are_codes(&all->column[j])) continue;
    memset(q.target, 0, sizeof q.target);
    q.target[j] = true;
    snprintf(before, sizeof before,
             "    %s:", title_of(all, j, title, sizeof title));
    print_line(c, all, path, &q, before);
    lines++;
  }
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

/* Names and classes of texts alone: labels, which go with images. */
static bool holds_labels(const lapis_columns *all)
{
  int names = 0, classes = 0;
  for (int j = 0; j < all->listed; j++) {
    const lapis_column *c = &all->column[j];
    if (c->numbers > 0 || has_units(c) || c->type == LAPIS_COLUMN_COMMA)
      return false;
    names += is_id(c);
    classes += info_is_class(c);
  }
  return names == 1 && classes > 0;
}

void info_columns(const cli *c, const lapis_columns *all, const char *path)
{
  char name[4096];
  const char *mark = all->delimiter == '\t'  ? "tabs"
                     : all->delimiter == ';' ? "semicolons"
                     : all->delimiter == '|' ? "bars"
                                             : "commas";
  const char *file = strcmp(path, "-") == 0 ? "standard input" : path;
  printf("%s: a table, %" PRId64 " columns, %" PRId64 " rows%s",
         lapis_text_shown(file, name, sizeof name), all->columns, all->rows,
         all->delimiter == '\0' ? ", ARFF"
         : all->header          ? " below a header"
                                : "");
  if (all->delimiter != '\0') printf(", %s between cells", mark);
  printf("\n");
  int most = all->listed < 200 ? all->listed : 200;
  for (int j = 0; j < most; j++) print_column(all, j);
  if (most < all->columns)
    printf("  ... %" PRId64 " columns more\n", all->columns - most);
  print_remarks(all, find_id(c, all));
}

void info_columns_next(const cli *c, const lapis_columns *all, const char *path,
                       const char *why)
{
  if (*why != '\0' && holds_labels(all)) {
    printf("  names and labels, no features; 'lapis eval' compares with it; to "
           "fill in the missing ones:\n    lapis label IMAGE... --labels");
    shell_file(stdout, path);
    printf("\n");
  } else if (*why != '\0')
    printf("  cannot be used as data: %s\n", why);
  print_advice(c, all, path);
}

lapis_json *info_columns_json(const lapis_columns *all)
{
  lapis_json *list = lapis_json_list();
  for (int j = 0; j < all->listed; j++)
    lapis_json_put(list, NULL, column_json(&all->column[j]));
  return list;
}
