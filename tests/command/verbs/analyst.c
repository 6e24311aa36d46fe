/* What an analyst with a table reads: one figure, the column's own name, the
 * decimals of the column, and what came of it in the last line. */
#include <math.h>

#include "people_case.h"
#include "remarks.h"

enum { ROWS = 60, ASKED = 50 };

/* Cars: prices follow power and km, "noise" follows nothing; price has more
 * gaps than kind. */
static void cars(const command *c)
{
  static char text[ROWS * 120];
  char number[32];
  uint64_t seed = 5;
  size_t at = (size_t)sprintf(text, "id,power,km,kind,one,noise,price\n");
  for (int j = 0; j < ROWS; j++) {
    double power = 50 + 20 * check_normal(&seed), km = check_normal(&seed);
    at += (size_t)sprintf(text + at, "car%d,%.1f,", j, power);
    snprintf(number, sizeof number, "%.3f", km);
    const char *gap = j % 20 == 3 ? "NA" : j % 20 == 9 ? "" : number;
    at += (size_t)sprintf(text + at, "%s,", gap);
    at += (size_t)sprintf(text + at, "%s,",
                          j % 25 == 4   ? ""
                          : j % 25 == 7 ? "NA"
                          : power > 50  ? "fast"
                                        : "slow");
    double noise = check_normal(&seed), price = 100 * power - 500 * km;
    if (j < ASKED)
      at += (size_t)sprintf(text + at, "yes,%.2f,%.2f\n", noise, price);
    else
      at += (size_t)sprintf(text + at, ",,\n");
  }
  command_write(c, "cars.csv", text, at);
}

#define CARS "cars.csv --id id --drop one,kind,noise --target price "
#define KINDS "cars.csv --id id --drop one,noise,price --target kind "

static void start(command *c)
{
  command_begin(c);
  cars(c);
}

static int count_of(const char *text, const char *part)
{
  int count = 0;
  for (; (text = strstr(text, part)) != NULL; text += strlen(part)) count++;
  return count;
}

static const char *last_line(const char *text)
{
  const char *end = text + strlen(text);
  if (end > text) end--;
  while (end > text && end[-1] != '\n') end--;
  return end;
}

static void suspects_of_numbers_are_refused_before_the_fit(void **state)
{
  command c;
  start(&c);
  command_run(&c, "fit auto " CARS "--suspects 5 -o a.npz");
  command_expect(&c, 2, "column price holds numbers");
  assert_null(strstr(c.err, "hidden,"));
  assert_false(command_exists(&c, "a.npz"));
  command_end(&c);
}

/* The first line says it, and R^2 is one figure. */
static void numbers_that_nothing_predicts_are_said_first(void **state)
{
  command c;
  start(&c);
  command_do(&c, "fit auto cars.csv --id id --drop one,kind,price "
                 "--target noise");
  const char *warning = strstr(c.err, "hidden numbers are predicted no");
  assert_non_null(warning);
  assert_ptr_equal(strstr(c.err, "auto:"), warning - strlen("auto: "));
  char figure[40];
  const char *at = strstr(warning, "R^2 ");
  snprintf(figure, sizeof figure, "%.*s", (int)strcspn(at, ")"), at);
  assert_non_null(strstr(figure, " +- "));
  for (at = c.err; (at = strstr(at, "better than")) != NULL; at++)
    assert_int_equal(strncmp(strstr(at, "R^2 "), figure, strlen(figure)), 0);
  assert_non_null(strstr(strstr(c.err, " answers ("), figure));
  command_end(&c);
}

static void the_column_with_most_gaps_is_proposed(void **state)
{
  command c;
  start(&c);
  command_do(&c, "info cars.csv");
  assert_non_null(strstr(c.out, "--target price"));
  put(&c, "few.csv",
      "a,kind,b\n1,x,1.5\n2,y,2.25\n3,,3.5\n4,x,4.75\n5,,\n"
      "6,y,1.25\n");
  command_do(&c, "info few.csv");
  assert_non_null(strstr(c.out, "--target kind"));
  command_end(&c);
}

static void how_many_labels_are_wrong_is_said(void **state)
{
  command c;
  long least = -1, most = -1, all = -1;
  start(&c);
  command_do(&c, "fit auto " KINDS "--suspects 3 --json -o s.html");
  const char *at = strstr(c.out, "\"expected_wrong\"");
  assert_non_null(at);
  assert_int_equal(sscanf(strstr(at, "least"), "least\": %ld", &least), 1);
  assert_int_equal(sscanf(strstr(at, "most"), "most\": %ld", &most), 1);
  assert_int_equal(sscanf(strstr(at, "check"), "checkable\": %ld", &all), 1);
  assert_true(0 <= least && least <= most && most <= all);
  assert_int_equal(all, ROWS - 6);
  command_do(&c, "fit auto " KINDS "--suspects 3");
  char line[120];
  snprintf(line, sizeof line, "of your %ld checkable labels, ", all);
  assert_non_null(strstr(c.out, line));
  assert_non_null(strstr(c.out, "the 3 most doubtful first"));
  command_end(&c);
}

static void read_cells(const command *c, const char *name, lapis_cells *to)
{
  char path[300];
  snprintf(path, sizeof path, "%s/%s", c->folder, name);
  lapis_ctx *ctx = lapis_ctx_new();
  assert_true(lapis_cells_read(ctx, path, NULL, to) >= 0);
  lapis_ctx_free(ctx);
}

static const char *at_title(const lapis_cells *t, int64_t row, const char *of)
{
  for (int64_t j = 0; j < t->columns; j++)
    if (strcmp(t->text[j], of) == 0) return t->text[row * t->columns + j];
  fail_msg("no column %s", of);
  return NULL;
}

/* One price is ten times too high: its row, and no other, says what it rather
 * is, in the table and on the page. */
static void a_slipped_decimal_is_marked(void **state)
{
  enum { SLIPPED = 8 };
  command c;
  lapis_cells is, was;
  start(&c);
  read_cells(&c, "cars.csv", &was);
  char words[400];
  snprintf(words, sizeof words,
           "cd %s && awk -F, -v OFS=, 'NR == 9 { $7 *= 10 } 1' cars.csv > new "
           "&& mv new cars.csv",
           c.folder);
  assert_int_equal(system(words), 0);
  command_do(&c, "fit auto " CARS "-o a.csv");
  assert_int_equal(count_of(c.out, "  car7  "), 1);
  assert_int_equal(count_of(c.out, " given "), 1);
  read_cells(&c, "a.csv", &is);
  for (int64_t i = 1; i < is.rows; i++)
    assert_int_equal(*at_title(&is, i, "rather") != '\0', i == SLIPPED);
  double right = atof(at_title(&was, SLIPPED, "price"));
  CHECK_NEAR(atof(at_title(&is, SLIPPED, "rather")), right, .2 * fabs(right));
  lapis_cells_free(&is);
  lapis_cells_free(&was);
  command_do(&c, "fit auto " CARS "-o a.html");
  static char page[1 << 17];
  command_slurp(&c, "a.html", page, sizeof page);
  char *marks = strstr(page, "\"marks\":[");
  assert_non_null(marks);
  *strchr(marks, ']') = '\0';
  assert_int_equal(count_of(marks, "\"doubted\""), 1);
  command_end(&c);
}

/* What has learnt from a label does not confirm it, neither in a table nor on
 * a page: the column says what was said while it was hidden. */
static void probabilities_of_given_labels_are_held_out(void **state)
{
  command c;
  lapis_cells is;
  start(&c);
  command_do(&c, "fit auto " KINDS "-o a.csv --held-out 3");
  read_cells(&c, "a.csv", &is);
  for (int64_t i = 1; i < is.rows; i++)
    if (strcmp(at_title(&is, i, "origin"), "given") == 0)
      assert_string_equal(at_title(&is, i, "probability of slow"),
                          at_title(&is, i, "held-out probability of slow"));
  lapis_cells_free(&is);
  command_end(&c);
}

static int decimals_of(const char *text)
{
  const char *point = strchr(text, '.');
  return point == NULL ? 0 : (int)strlen(point + 1);
}

/* In a table, on a page, and in the table completed; a score that would repeat
 * the answer is left out, and .npz keeps all digits. */
static void numbers_have_the_decimals_of_their_column(void **state)
{
  command c;
  lapis_arrays all;
  start(&c);
  command_do(&c, "fit auto " CARS "-o a.csv --completed full.csv --model m");
  assert_string_equal(cell(&c, "a.csv", 0, 1, ','), "price");
  assert_null(strstr(cell(&c, "a.csv", 0, 3, ','), "score"));
  for (int j = ASKED + 1; j <= ROWS; j++) {
    assert_int_equal(decimals_of(cell(&c, "a.csv", j, 1, ',')), 2);
    assert_int_equal(decimals_of(cell(&c, "full.csv", j, 6, ',')), 2);
  }
  command_do(&c, "predict m cars.csv --id id -q -o p.csv");
  assert_int_equal(decimals_of(cell(&c, "p.csv", ROWS, 1, ',')), 2);
  command_do(&c, "fit auto " CARS "-q -o a.npz");
  command_arrays(&c, "a.npz", &all);
  double v = lapis_mat_at(&lapis_arrays_find(&all, "scores")->mat, 0, ROWS - 1);
  CHECK_NEAR(v, number(&c, "a.csv", ROWS, 1), .005);
  assert_true(v != number(&c, "a.csv", ROWS, 1));
  lapis_arrays_free(&all);
  command_do(&c, "fit auto " KINDS "-q -o k.csv");
  assert_true(strlen(cell(&c, "k.csv", 5, 4, ',')) <= strlen("0.00123456"));
  command_do(&c, "fit mc " KINDS "-q --mu-rel .1 --completed k2.csv");
  assert_int_equal(decimals_of(cell(&c, "k2.csv", 4, 2, ',')), 3);
  command_end(&c);
}

static void a_word_in_many_columns_is_said_once(void **state)
{
  command c;
  start(&c);
  put(&c, "na.csv",
      "a,b,c,d,y\nu,NA,,1,x\n,v,NA,2,y\nNA,,w,4,x\nu,v,w,3,y\nu,v,w,0,x\n"
      "u,v,w,5,y\n");
  command_run(&c, "fit mc na.csv --one-hot a,b,c --target y --mu-rel .1");
  assert_int_equal(count_of(c.err, "\"NA\" occurs"), 1);
  assert_non_null(strstr(c.err, "(\"a\"), and so in 2 others"));
  command_end(&c);
}

static void the_last_line_says_what_came_of_it(void **state)
{
  command c;
  start(&c);
  command_do(&c, "fit auto " KINDS "-o k.csv");
  assert_string_equal(last_line(c.out),
                      "6 labels filled in, written to k.csv\n");
  command_do(&c, "fit auto " CARS "-o k.csv --model m");
  assert_string_equal(last_line(c.out),
                      "10 numbers filled in, written to k.csv and m\n");
  put(&c, "all.csv", "a,b,y\n1,2,x\n2,1,y\n3,4,x\n5,3,y\n7,9,x\n8,1,y\n");
  command_do(&c, "fit mc all.csv --target y --mu-rel .1");
  assert_int_equal(strncmp(last_line(c.out), "no label was missing", 20), 0);
  command_end(&c);
}

static int64_t number_behind(const char *text, const char *words)
{
  long long v = -1;
  const char *at = strstr(text, words);
  assert_non_null(at);
  assert_int_equal(sscanf(at + strlen(words), "%lld", &v), 1);
  return v;
}

/* An answer that is not sure is no fact; --sure 0 writes it, 1 none. */
static void unsure_answers_stay_empty(void **state)
{
  command c;
  int64_t filled[3];
  static const char *const sure[] = {"", "--sure 0", "--sure 1"};
  start(&c);
  for (int k = 0; k < 3; k++) {
    command_do(&c, "fit auto " KINDS "--candidates linear --completed f.csv %s",
               sure[k]);
    filled[k] = number_behind(c.err, "f.csv, ");
    int64_t empty = 0;
    for (int j = 1; j <= ROWS; j++) {
      const char *text = cell(&c, "f.csv", j, 3, ',');
      empty += *text == '\0' || strcmp(text, "NA") == 0;
    }
    filled[k] -= 6; /* gaps of features */
    assert_int_equal(empty, 6 - filled[k]);
    if (empty > 0)
      assert_int_equal(number_behind(c.err, "cells filled; "), empty);
  }
  assert_int_equal(filled[1], 6);
  assert_int_equal(filled[2], 0);
  assert_true(filled[0] <= filled[1]);
  command_run(&c, "fit auto " KINDS "--sure .7");
  command_expect(&c, 2, "--completed");
  command_run(&c, "fit auto " KINDS "--sure 7 --completed f.csv");
  command_expect(&c, 2, "no probability");
  command_end(&c);
}

/* How sure, by labels that were hidden; what was filled in, marked; what was
 * compared. */
static void a_page_says_how_sure_it_is(void **state)
{
  static char page[400000];
  command c;
  start(&c);
  command_do(&c, "fit mc " KINDS "-o p.html --completed f.csv --sure 0 -q");
  command_slurp(&c, "p.html", page, sizeof page);
  const char *sure = strstr(page, "<section id=\"sure\"");
  assert_non_null(sure);
  int64_t answers = 0, pairs = 0;
  const char *end = strstr(sure, "</section>"), *at = sure;
  while ((at = strstr(at, "%</th><td class=\"n\">")) != NULL && at < end)
    answers += number_behind(at++, "<td class=\"n\">");
  assert_int_equal(answers, ROWS - 6);
  at = strstr(sure, "confusion\"");
  assert_true(at != NULL && at < end);
  while ((at = strstr(at, "<td class=\"n")) != NULL && at < end)
    pairs += number_behind(at++, ">");
  assert_int_equal(pairs, ROWS - 6);
  const char *cells = strstr(page, "<section id=\"cells\"");
  assert_non_null(cells);
  assert_int_equal(count_of(cells, "<td><ins>"), 12); /* of kind and of km */
  assert_int_equal(count_of(page, "<section id=\"compared\""), 1);
  command_do(&c, "fit mc " KINDS "-o p.html --held-out 5 --sure 0 -q");
  command_slurp(&c, "p.html", page, sizeof page);
  assert_int_equal(count_of(page, "<section id=\"sure\""), 1);
  assert_non_null(strstr(page, "held-out probability of "));
  command_do(&c, "fit mc " KINDS "--model m.lapis -q");
  command_do(&c, "predict m.lapis " KINDS "-o q.html --completed g.csv -q");
  command_slurp(&c, "q.html", page, sizeof page);
  assert_non_null(strstr(page, "<section id=\"cells\""));
  command_do(&c, "fit auto " CARS "-o p.html -q");
  command_slurp(&c, "p.html", page, sizeof page);
  assert_null(strstr(page, "<section id=\"sure\""));
  command_end(&c);
}

/* A page shows what was asked for, and calls those labels wrong that the list
 * calls so. */
static void a_page_doubts_what_is_listed(void **state)
{
  static char page[400000];
  command c;
  start(&c);
  for (int k = 0; k < 2; k++) {
    command_do(&c, "fit mc " KINDS "--mu-rel %s --suspects 9 -q",
               k == 0 ? ".9" : ".1");
    int listed = count_of(c.out, ", rather ");
    command_do(&c, "fit mc " KINDS "--mu-rel %s --suspects 9 -q -o o.html",
               k == 0 ? ".9" : ".1");
    command_slurp(&c, "o.html", page, sizeof page);
    assert_int_equal(count_of(page, "No given label clearly looks wrong; "),
                     listed == 0);
    assert_int_equal(count_of(page, "<div class=\"doubt\">"), 9);
    assert_int_equal(count_of(page, "<del>"), listed);
  }
  command_end(&c);
}

/* The probability that a page shows of a car; NaN: an empty cell. */
static double shown_of(const char *page, int car)
{
  char row[40];
  static const char meter[] = "<meter value=\"";
  snprintf(row, sizeof row, "<th scope=\"row\">car%d</th>", car);
  const char *at = strstr(page, row);
  assert_non_null(at);
  const char *end = strstr(at, "</tr>");
  at = strstr(at, meter);
  return at == NULL || at > end ? NAN : strtod(at + strlen(meter), NULL);
}

/* Given labels have on a page what was said of them while they were hidden, or
 * nothing; the table has what the answer says. */
static void a_page_confirms_no_label_by_itself(void **state)
{
  enum { SHOWN = 25, PROBABILITY = 4 };
  static const char *const methods[] = {"auto", "linear", "trees"};
  static char page[400000];
  command c;
  start(&c);
  for (int k = 0; k < 3; k++) {
    int differ = 0, empty = 0;
    command_do(&c, "fit %s " KINDS "-o p.html -q", methods[k]);
    command_do(&c, "fit %s " KINDS "-o p.csv -q", methods[k]);
    command_slurp(&c, "p.html", page, sizeof page);
    for (int j = 0; j < SHOWN; j++) {
      double is = shown_of(page, j),
             of = number(&c, "p.csv", j + 1, PROBABILITY);
      bool given = strcmp(cell(&c, "p.csv", j + 1, 2, ','), "given") == 0;
      if (!given) CHECK_NEAR(is, of, 1e-3);
      differ += given && fabs(is - of) > 1e-3;
      empty += isnan(is);
    }
    if (k == 0) assert_true(differ > 0 && empty == 0);
    if (k > 0) assert_int_equal(empty, SHOWN - 2);
  }
  command_end(&c);
}

/* A result kept as arrays is shown as a table, too. */
static void a_report_shows_the_answers(void **state)
{
  static char page[400000];
  command c;
  start(&c);
  command_do(&c, "fit auto " KINDS "-q -o k.npz");
  command_do(&c, "report k.npz -o r.html");
  command_slurp(&c, "r.html", page, sizeof page);
  assert_non_null(strstr(page, "<section id=\"answers\""));
  assert_int_equal(count_of(page, "<th scope=\"row\">car"), 25);
  assert_non_null(strstr(page, "probability of slow"));
  command_do(&c, "fit rr " CARS "-q -o n.npz");
  command_do(&c, "report n.npz -o r.html");
  command_slurp(&c, "r.html", page, sizeof page);
  assert_int_equal(count_of(page, "<th scope=\"row\">car"), 25);
  assert_non_null(strstr(page, ">value</button>"));
  command_end(&c);
}

/* Numbers are read as where the model learnt. */
static void a_model_keeps_its_decimal_mark(void **state)
{
  command c;
  start(&c);
  put(&c, "d.csv",
      "id;a;b;y\nr;1,5;2,5;u\ns;2,5;1,5;v\nt;0,5;3,5;u\nu;3,5;0,5;v\n");
  command_do(&c, "fit linear d.csv --id id --target y --decimal , --C 1 "
                 "--model m -q");
  command_do(&c, "predict m d.csv -q -o a.csv --decimal ,");
  command_do(&c, "predict m d.csv -q -o b.csv");
  command_do(&c, "eval accuracy --truth a.csv --target y --id id --scores "
                 "b.csv");
  assert_non_null(strstr(c.out, "accuracy 1.000000"));
  command_end(&c);
}

/* As many as label lists; what follows may be a file, an option or nothing. */
static void suspects_need_no_number(void **state)
{
  static const char *const tried[] = {
      "--suspects 10 " KINDS, "--suspects " KINDS, "--suspects -q " KINDS,
      KINDS "--suspects"};
  char first[1 << 14], other[1 << 14];
  command c;
  start(&c);
  for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
    command_do(&c, "fit mc --mu-rel .1 -o a.csv %s", tried[k]);
    command_slurp(&c, "a.csv", k == 0 ? first : other, sizeof first);
    if (k > 0) assert_string_equal(other, first);
  }
  command_end(&c);
}

/* Where nothing was learnt nothing is listed; what is listed says that it is
 * wrong with a probability, in the table and in JSON as on the terminal. */
static void doubts_say_what_their_number_is(void **state)
{
  char text[1 << 14] = "name,x,z,kind\n", page[1 << 18];
  command c;
  uint64_t seed = 3;
  command_begin(&c);
  for (int learnt = 0; learnt < 2; learnt++) {
    size_t at = (size_t)sprintf(text, "name,x,z,kind\n");
    for (int j = 0; j < 400; j++) {
      bool b = check_uniform(&seed) < .5, says = j % 10 == 7 ? !b : b;
      double x = check_normal(&seed) + (learnt ? 8. * b : 0);
      at += (size_t)sprintf(text + at, "n%d,%.3f,%.3f,%s\n", j, x,
                            check_normal(&seed), says ? "car" : "bus");
    }
    command_write(&c, "t.csv", text, at);
    command_do(&c, "fit auto t.csv --id name --target kind --candidates linear "
                   "--suspects 5 -o a.csv");
    command_slurp(&c, "a.csv", page, sizeof page);
    assert_true((strstr(c.out, "  " WRONG_WITH) != NULL) == learnt);
    assert_true((strstr(page, ",probability wrong,") != NULL) == learnt);
    assert_true((strstr(c.out, "doubtful first") != NULL) == learnt);
    command_do(&c, "fit auto t.csv --id name --target kind --candidates linear "
                   "--suspects 5 --json -o a.html");
    assert_true((strstr(c.out, "\"probability_wrong\"") != NULL) == learnt);
    command_slurp(&c, "a.html", page, sizeof page);
    assert_true((strstr(page, ">" WRONG_WITH) != NULL) == learnt);
  }
  command_end(&c);
}

/* They stay as they were given, beside what they rather are. */
static void doubted_labels_are_left_out(void **state)
{
  char text[1 << 14], page[1 << 15], line[80];
  command c;
  uint64_t seed = 3;
  size_t at = (size_t)sprintf(text, "name,x,z,kind\n");
  command_begin(&c);
  for (int j = 0; j < 400; j++) {
    bool b = check_uniform(&seed) < .5, says = j % 10 == 7 ? !b : b;
    at += (size_t)sprintf(text + at, "n%d,%.3f,%.3f,%s\n", j,
                          check_normal(&seed) + 8. * b, check_normal(&seed),
                          says ? "car" : "bus");
  }
  command_write(&c, "t.csv", text, at);
#define LEFT_OUT "fit auto t.csv --id name --target kind --candidates linear "
  command_do(&c, LEFT_OUT "--doubted omit -o a.csv");
  assert_non_null(strstr(c.err, "--doubted learn"));
  assert_non_null(strstr(c.out, "  " WRONG_WITH));
  command_slurp(&c, "a.csv", page, sizeof page);
  assert_non_null(strstr(page, ",origin,doubt,rather,probability wrong,"));
  for (int j = 7; j < 400; j += 10) {
    snprintf(line, sizeof line, "\nn%d,", j);
    const char *row = strstr(page, line), *given = strstr(text, line);
    assert_non_null(given);
    assert_non_null(row);
    bool car = *strpbrk(given, "cb") == 'c';
    row = strchr(row, ',') + 1;
    assert_int_equal(strncmp(row, car ? "car,given," : "bus,given,", 10), 0);
    assert_non_null(strstr(row, car ? ",bus," : ",car,"));
  }
  command_do(&c, LEFT_OUT "--doubted omit --json");
  assert_non_null(strstr(c.out, "\"probability_wrong\""));
  command_do(&c, LEFT_OUT "--doubted learn --json");
  assert_null(strstr(c.out, "\"probability_wrong\""));
  command_run(&c, LEFT_OUT "--doubted omit --suspects 5");
  command_expect(&c, 2, "--suspects");
  command_run(&c, "fit auto t.csv --id name --target x --drop kind "
                  "--doubted omit");
  command_expect(&c, 2, "--targets classes");
  command_end(&c);
}

/* A table says "rather" where the list does, of words as of numbers. */
static void a_table_doubts_what_is_listed(void **state)
{
  static const char *const kind[][2] = {{"no", "yes"}, {"0", "1"}, {"3", "7"}};
  char text[1 << 13], name[32];
  command c;
  command_begin(&c);
  for (size_t t = 0; t < sizeof kind / sizeof *kind; t++) {
    uint64_t seed = 5;
    size_t at = (size_t)sprintf(text, "name,x,z,kind\n");
    for (int j = 0; j < 120; j++) {
      bool b = check_uniform(&seed) < .5, says = j % 40 == 7 ? !b : b;
      at += (size_t)sprintf(text + at, "n%d,%.3f,%.3f,%s\n", j,
                            check_normal(&seed) + 2 * b, check_normal(&seed),
                            kind[t][says]);
    }
    command_write(&c, "t.csv", text, at);
    command_do(&c, "fit auto t.csv --id name --target kind --candidates linear "
                   "--suspects 9 -o a.csv");
    command_slurp(&c, "a.csv", text, sizeof text);
    assert_non_null(strstr(text, ",origin,doubt,rather,"));
    const char *line = strstr(c.out, "doubtful first");
    int rather = count_of(c.out, ", rather "), seen = 0;
    assert_true(rather > 0 && rather < 9);
    for (int k = 1; k <= 9; k++) { /* in the same order */
      char row[64], other[8] = "", place[40];
      line = strchr(line, '\n') + 1;
      assert_int_equal(sscanf(line, " %31s", name), 1);
      const char *end = strchr(line, '\n'), *says = strstr(line, ", rather ");
      if (says != NULL && says < end)
        assert_int_equal(sscanf(says, ", rather %7s", other), 1);
      snprintf(row, sizeof row, "\n%s,", name);
      snprintf(place, sizeof place, ",given,%d,%s", k, other);
      const char *cell = strstr(text, row);
      assert_non_null(cell);
      assert_non_null(strstr(cell, place));
      assert_true(strstr(cell, place) < strchr(cell + 1, '\n'));
    }
    for (const char *cell = text; (cell = strstr(cell, ",given,")) != NULL;
         cell++)
      seen += cell[7] != ',' && cell[9] != ',';
    assert_int_equal(seen, rather);
  }
  command_end(&c);
}

static void refusals_name_what_is_in_the_table(void **state)
{
  command c;
  start(&c);
  command_run(&c, "fit auto cars.csv --id id --use power,km --target one");
  command_expect(&c, 4,
                 "column one holds one value alone, \"yes\", in 50 rows");
  command_run(&c, "fit cars.csv");
  command_expect(&c, 2, "lapis fit auto cars.csv");
  command_run(&c, "fit auto " CARS "--suspects many");
  command_expect(&c, 2, "--suspects 'many' is not a whole number");
  command_run(&c, "predict none.lapis cars.csv --backend nope");
  command_expect(&c, 2, "backend \"nope\" is not known");
  command_run(&c, "fit auto " CARS "-o a.csv -o b.html");
  command_expect(&c, 2, RUN_FOR_EACH);
  command_end(&c);
}

/* 40 patients of three visits each, in a shuffled order where asked for: not
 * one visit tells of another patient. */
static void put_visits(const command *c, const char *code, bool shuffled)
{
  char text[8192] = "patient,a,b,ill\n";
  uint64_t seed = 3;
  for (int j = 0; j < 120; j++) {
    int of = shuffled ? j % 40 : j / 3;
    sprintf(text + strlen(text), code, of + 1);
    sprintf(text + strlen(text), ",%.3f,%.3f,%s\n", check_normal(&seed),
            check_normal(&seed), check_uniform(&seed) < .5 ? "no" : "yes");
  }
  command_write(c, "visits.csv", text, strlen(text));
}

/* Names of patients are no feature: info proposes -G, --one-hot and --id say
 * so. */
static void visits_are_of_patients(void **state)
{
  static const struct {
    const char *code, *asked;
    bool shuffled;
  } all[] = {{"P%03d", "--target ill -G patient\n", false},
             {"P%03d", "--target ill -G patient\n", true},
             {"p%d", "--target ill -G patient\n", false},
             {"%d", "--target ill -G patient\n", false},
             {"%d", "--target ill\n", true}};
  command c;
  command_begin(&c);
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    put_visits(&c, all[k].code, all[k].shuffled);
    command_do(&c, "info visits.csv");
    if (strstr(c.out, all[k].asked) == NULL) fail_msg("%zu: %s", k, c.out);
  }
  put_visits(&c, "P%03d", true);
  command_run(&c, "fit linear visits.csv --target ill --one-hot patient");
  command_expect(&c, 0, NAMES_SEVERAL_ROWS);
  command_run(&c, "fit linear visits.csv --target ill --id patient");
  command_expect(&c, 0, NAMES_SEVERAL_ROWS);
  command_run(&c, "fit linear visits.csv --target ill -G patient");
  assert_null(strstr(c.err, NAMES_SEVERAL_ROWS));
  command_end(&c);
}

/* Spellings of a word are told of where it is a feature, too; a positive word
 * that there is none of names those there are. */
static void words_are_spelt_alike(void **state)
{
  command c;
  command_begin(&c);
  static const char text[] =
      "a,kind,y\n1,Monthly,yes\n2,monthly,no\n3,yearly,yes\n4,yearly,no\n";
  command_write(&c, "t.csv", text, sizeof text - 1);
  command_run(&c, "fit linear t.csv --target y --one-hot kind");
  command_expect(&c, 0, "\"kind\"");
  assert_non_null(strstr(c.err, DIFFER_IN_CASE));
  command_run(&c, "fit linear t.csv --target y --one-hot kind --positive ja");
  assert_int_equal(c.code, 2);
  assert_true(check_has(c.err, "\"ja\"; the words here: \"no\", \"yes\"\n"));
  command_run(&c, "fit linear t.csv --target kind --drop y --positive monthly");
  assert_int_equal(c.code, 2);
  assert_true(check_has(c.err, "\"Monthly\", \"monthly\", \"yearly\"\n"));
  command_end(&c);
}

int test_analyst(void)
{
  const struct CMUnitTest cases[] = {
      cmocka_unit_test(suspects_of_numbers_are_refused_before_the_fit),
      cmocka_unit_test(numbers_that_nothing_predicts_are_said_first),
      cmocka_unit_test(the_column_with_most_gaps_is_proposed),
      cmocka_unit_test(how_many_labels_are_wrong_is_said),
      cmocka_unit_test(a_slipped_decimal_is_marked),
      cmocka_unit_test(probabilities_of_given_labels_are_held_out),
      cmocka_unit_test(numbers_have_the_decimals_of_their_column),
      cmocka_unit_test(a_word_in_many_columns_is_said_once),
      cmocka_unit_test(the_last_line_says_what_came_of_it),
      cmocka_unit_test(unsure_answers_stay_empty),
      cmocka_unit_test(a_page_says_how_sure_it_is),
      cmocka_unit_test(a_page_doubts_what_is_listed),
      cmocka_unit_test(a_page_confirms_no_label_by_itself),
      cmocka_unit_test(a_report_shows_the_answers),
      cmocka_unit_test(a_model_keeps_its_decimal_mark),
      cmocka_unit_test(suspects_need_no_number),
      cmocka_unit_test(doubts_say_what_their_number_is),
      cmocka_unit_test(doubted_labels_are_left_out),
      cmocka_unit_test(a_table_doubts_what_is_listed),
      cmocka_unit_test(refusals_name_what_is_in_the_table),
      cmocka_unit_test(visits_are_of_patients),
      cmocka_unit_test(words_are_spelt_alike),
  };
  return run_cases(cases, NULL, NULL);
}
