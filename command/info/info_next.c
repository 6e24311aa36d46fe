/* info_next.c - what to type next for a table: which column could be asked, and
 * what the others are to that. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "columns.h"

enum { MANY = 20 };

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
  if (c->different > column_values(c) ||
      2 * c->different > c->numbers + c->texts)
    return false;
  for (int k = 0; k < column_values(c); k++) {
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
  for (int k = 0; k < column_values(c); k++)
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

/* Numbers beside words that --missing is to name, as -. */
static bool is_number_else(const lapis_column *c)
{
  double v;
  if (c->numbers <= c->texts || c->declared) return false;
  for (int k = 0; k < column_values(c); k++)
    if (!lapis_number_read(c->value[k], NULL, &v) &&
        !lapis_text_unsure(c->value[k]))
      return false;
  return c->different <= LAPIS_COLUMN_VALUES;
}

/* A column that --one-hot makes features of. */
static bool is_nominal(const lapis_column *c)
{
  return c->texts > 0 && info_is_class(c) && !is_number_else(c);
}

/* What seems to mean unknown in column j: a text, or a number; "": nothing. */
static void unknown_of(const lapis_columns *all, int j, char text[512])
{
  const lapis_column *at = &all->column[j];
  double v;
  snprintf(text, 512, "%s", at->odd_one == NULL ? "" : at->odd_one);
  if (at->odd_one == NULL && !isnan(at->code))
    lapis_number_text(at->code, text, 512);
  for (int k = 0; *text == '\0' && is_number_else(at) && k < at->different; k++)
    if (!lapis_number_read(at->value[k], NULL, &v))
      snprintf(text, 512, "%s", at->value[k]);
}

/* Each once. */
static void print_unknown(const cli *c, const lapis_columns *all)
{
  char list[1024] = "", word[512], other[512];
  if (args_get(&c->args, "missing") != NULL) return;
  for (int j = 0; j < all->listed; j++) {
    size_t used = strlen(list);
    unknown_of(all, j, word);
    bool met = *word == '\0';
    for (int k = 0; k < j && !met; k++) {
      unknown_of(all, k, other);
      met = strcmp(other, word) == 0;
    }
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
  bool open;      /* several columns may be asked, and none has gaps */
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

static void ask_one(question *q, int column, bool classes)
{
  *q = (question){.any = true, .classes = classes};
  q->target[column] = true;
}

/* Where there is no gap at all quantities are asked as well as classes, unless
 * there is one of words. */
static bool is_quantity(const lapis_column *c)
{
  return holds_numbers(c) && !c->padded && !can_be_asked(c) && c->different > 1;
}

static bool is_open(const lapis_columns *all)
{
  int classes = 0, words = 0, quantities = 0, gaps = 0;
  for (int j = 0; j < all->listed; j++) {
    const lapis_column *c = &all->column[j];
    if (c->missing > 0 && can_be_asked(c)) return false;
    classes += can_be_asked(c) && (c->texts == 0 || c->numbers == 0);
    words += can_be_asked(c) && c->texts > 0;
    quantities += is_quantity(c);
    gaps += c->missing > 0;
  }
  return classes > 1 || (words + gaps == 0 && classes + quantities > 1);
}

/* Of a table with missing cells something that is missing: classes, or else
 * the one column of quantities that has gaps, or all cells where several
 * have. */
static void guess_question(const lapis_columns *all, question *q)
{
  int classes = find_targets(all, q->target), gaps = 0, last = 0;
  int number = find_last(all, q->target);
  q->classes = classes > 0;
  q->any = q->classes;
  for (int j = 0; j < all->listed; j++) {
    const lapis_column *c = &all->column[j];
    if (q->target[j] && c->missing > 0) {
      if (number >= 0) ask_one(q, number, false);
      return;
    }
    if (c->missing == 0 || info_is_class(c) || !holds_numbers(c)) continue;
    gaps++;
    last = j;
  }
  q->open = gaps == 0 && is_open(all);
  q->any |= q->open;
  if (gaps == 0) return;
  ask_one(q, last, false);
  q->completed = gaps > 1;
  if (!q->completed) return;
  q->target[last] = false;
}

/* Whether a title is that word, but for its case and a unit in brackets. */
static bool is_titled(const lapis_column *c, const char *word)
{
  const char *title = c->title == NULL ? "" : c->title;
  size_t size = strcspn(title, "([");
  while (size > 0 && isspace((unsigned char)title[size - 1])) size--;
  return size == strlen(word) && strncasecmp(title, word, size) == 0;
}

/* Many gaps, as of labels. */
static bool lacks_fifth(const lapis_columns *all, const lapis_column *c)
{
  return 5 * c->missing >= all->rows;
}

/* The column whose title says that it is asked, which counts more than gaps;
 * -1: none.  `target` and the like say so for sure.  `class`, `species`,
 * `diagnosis`, and `y` of a last column title features as often: such a one
 * without gaps yields to a guess that lacks a fifth of its cells. */
static int find_titled(const lapis_columns *all, const question *guess)
{
  enum { SURE = 6, WORDS = 10 };
  static const char *const words[WORDS] = {
      "target",   "label", "outcome", "response",  "churn",
      "survived", "class", "species", "diagnosis", "y"};
  bool lacks = false;
  for (int j = 0; j < all->listed; j++)
    lacks |= guess->target[j] && lacks_fifth(all, &all->column[j]);
  for (int k = 0; k < WORDS; k++)
    for (int j = 0; j < all->listed; j++) {
      const lapis_column *c = &all->column[j];
      bool number = holds_numbers(c) && !info_is_class(c) && c->different > 1;
      bool sure = k < SURE || c->missing > 0 || !lacks;
      bool placed = k < WORDS - 1 || j == all->listed - 1;
      if (is_titled(c, words[k]) && (number || can_be_asked(c)) && sure &&
          placed)
        return j;
    }
  return -1;
}

static void find_question(const lapis_columns *all, question *q)
{
  guess_question(all, q);
  int titled = find_titled(all, q);
  if (titled >= 0) ask_one(q, titled, can_be_asked(&all->column[titled]));
}

/* Columns with gaps like those of what is asked, in a fifth of the rows or
 * more, where most columns have few: labels, too, which new samples will not
 * have. */
static void find_leaks(const lapis_columns *all, question *q)
{
  int64_t asked = 0;
  int like = 0;
  for (int j = 0; j < all->listed; j++)
    if (q->target[j] && all->column[j].missing > asked &&
        lacks_fifth(all, &all->column[j]))
      asked = all->column[j].missing;
  for (int j = 0; asked > 0 && j < all->listed; j++) {
    int64_t gaps = all->column[j].missing;
    q->leak[j] = 2 * gaps >= asked && gaps >= 5 &&
                 lacks_fifth(all, &all->column[j]) &&
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
  for (int k = 0; k < column_values(c); k++) {
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
  column_title(all, group, title, sizeof title);
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
  int features = 0, names = column_of_names(c, all);
  char decimal = '\0';
  char file[4096];
  for (int j = 0; j < all->listed; j++) {
    const lapis_column *at = &all->column[j];
    group[j] = j == together && j != names;
    bool asked =
        !q->leak[j] && j != names && !group[j] && !column_is_constant(all, at);
    bool number =
        asked && (holds_numbers(at) || is_number_else(at)) && !at->padded;
    if (column_has_commas(at) && decimal == '\0') decimal = at->decimal;
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
             column_title(all, j, title, sizeof title));
  bool tells;
  int group = find_group(all, &q, &tells);
  if (!q.open || !tells) print_group(all, group, tells);
  if (!q.open) {
    print_line(c, all, path, &q, "  for example:");
    return;
  }
  printf("  no label is missing; which column is to be predicted? --drop those "
         "that new samples will not have\n");
  bool words = false;
  for (int j = 0; j < all->listed; j++)
    words |= can_be_asked(&all->column[j]) && all->column[j].texts > 0;
  for (int j = all->listed - 1, lines = 0; j >= 0 && lines < SHOWN_LINES; j--) {
    const lapis_column *at = &all->column[j];
    q.classes = can_be_asked(at) && !are_codes(at);
    if (!q.classes && (words || !is_quantity(at))) continue;
    memset(q.target, 0, sizeof q.target);
    q.target[j] = true;
    snprintf(before, sizeof before,
             "    %s:", column_title(all, j, title, sizeof title));
    print_line(c, all, path, &q, before);
    lines++;
  }
}

/* Names and classes of texts alone, or names of pictures and what several of
 * them share: labels, which go with images. */
static bool holds_labels(const lapis_columns *all)
{
  int names = 0, classes = 0;
  bool pictures = false, numbers = false;
  for (int j = 0; j < all->listed; j++) {
    const lapis_column *c = &all->column[j];
    bool shared = c->type == LAPIS_COLUMN_WHOLE && column_repeats(c);
    if ((c->numbers > 0 && !shared) || column_has_units(c) ||
        c->type == LAPIS_COLUMN_COMMA)
      return false;
    numbers = numbers || shared;
    pictures =
        pictures || (column_is_id(c) && info_picture_format(c->value[0]));
    names += column_is_id(c);
    classes += info_is_class(c);
  }
  return names == 1 && classes > 0 && (pictures || !numbers);
}

/* Of two columns without gaps the one of more values names what images belong
 * to, the other is asked. */
static void take_fewer(const lapis_columns *all, question *q, int *group)
{
  int target = -1, count = 0;
  for (int j = 0; j < all->listed; j++)
    if (q->target[j]) target = j, count++;
  if (count != 1 || gaps_of(&all->column[target]) > 0 ||
      gaps_of(&all->column[*group]) > 0 ||
      all->column[*group].different >= all->column[target].different ||
      !column_repeats(&all->column[target]))
    return;
  q->target[target] = false;
  q->target[*group] = true;
  *group = target;
}

/* The line of labels that several columns may hold, and what images may
 * belong to, as label remarks. */
static void print_label_line(const cli *c, const lapis_columns *all,
                             const char *path)
{
  question q = {.any = false};
  char title[512];
  int names = column_of_names(c, all), group = -1;
  find_question(all, &q);
  for (int j = 0; j < all->listed; j++) {
    const lapis_column *at = &all->column[j];
    bool may =
        j != names && !q.target[j] && at->different > 1 && column_repeats(at);
    if (may && (group < 0 || at->different > all->column[group].different))
      group = j;
  }
  if (group >= 0) take_fewer(all, &q, &group);
  printf("  names and labels, no features; 'lapis eval' compares with it; to "
         "fill in the missing ones:\n    lapis label IMAGE... --labels");
  shell_file(stdout, path);
  if (group >= 0 && q.classes) print_list(all, "--target", q.target);
  printf("\n");
  if (group >= 0)
    printf("  note: %s has %" PRId64 " different values, each of several "
           "images; if each is one person, scene or video, add --groups %s\n",
           column_title(all, group, title, sizeof title),
           all->column[group].different, title);
}

/* ---- points and boxes of pictures ----------------------------------------*/
/* How many columns have one of the titles, which end with NULL. */
static int count_titled(const lapis_columns *all, const char *const *title)
{
  int count = 0;
  for (int j = 0; j < all->listed; j++)
    for (int k = 0; title[k] != NULL; k++)
      count += is_titled(&all->column[j], title[k]);
  return count;
}

static bool names_pictures(const lapis_columns *all)
{
  for (int j = 0; j < all->listed; j++)
    if (all->column[j].texts > 0 &&
        info_picture_format(all->column[j].value[0]))
      return true;
  return false;
}

/* Places in pictures, which are no samples; false: something else. */
static bool print_places(const lapis_columns *all, const char *path)
{
  static const char *const corner[] = {"x", "y", NULL},
                           *const size[] = {"width", "height", NULL},
                           *const point[] = {"point", NULL},
                           *const named[] = {"name",  "file",    "path",
                                             "image", "picture", NULL};
  bool boxes = count_titled(all, size) == 2;
  int names = count_titled(all, named), points = count_titled(all, point);
  int known = names + 2 + (boxes ? 2 : points);
  if (count_titled(all, corner) != 2 || names > 1 || known != all->listed ||
      !(points == 1 || (names == 1 && (boxes || names_pictures(all)))))
    return false;
  if (!boxes && names == 0)
    printf("  points of one picture, to be found in others:\n    lapis match "
           "IMAGE... --first");
  else
    printf("  %s of pictures:\n    lapis %s IMAGE... %s",
           boxes ? "boxes" : "points", boxes ? "locate" : "match",
           boxes ? "--boxes" : "--xy");
  shell_file(stdout, path);
  printf("\n");
  return true;
}

void info_columns_next(const cli *c, const lapis_columns *all, const char *path,
                       const char *why)
{
  if (print_places(all, path)) return;
  if (*why != '\0' && holds_labels(all))
    print_label_line(c, all, path);
  else if (*why != '\0')
    printf("  cannot be used as data: %s\n", why);
  print_advice(c, all, path);
}
