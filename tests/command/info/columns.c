/* The command on columns as strangers have them: titles, numbers of rows,
 * values that mean unknown, codes. */
#include "command/verbs/people_case.h"
#include "remarks.h"

enum { ROOM = 65536 };

static void append(char *text, const char *format, ...)
{
  va_list args;
  size_t used = strlen(text);
  va_start(args, format);
  vsnprintf(text + used, ROOM - used, format, args);
  va_end(args);
}

/* A value of row i, the same each time, with two decimals. */
static double some(int i, int j)
{
  return (i * 37 + j * 61) % 101 * .09 + .1 * j;
}

static void rows_are(command *c, const char *what, const char *words, int rows,
                     int columns)
{
  char shape[96];
  command_run(c, "info t.csv %s", words);
  snprintf(shape, sizeof shape, "%d columns, %d rows", columns, rows);
  if (strstr(c->out, shape) == NULL)
    fail_msg("%s: %s wanted: %s %s", what, shape, c->out, c->err);
}

/* Titles that are numbers or dates, above numbers. */
static void first_rows_of_strangers(void **state)
{
  static const struct {
    const char *first; /* %s: delimiter */
    char delimiter;
    int decimals, titles; /* of the cells; whether they are titles */
    const char *words;
  } tried[] = {{"0;1;2;3", ';', 2, 1, ""},
               {"\"0\",\"1\",\"2\",\"3\"", ',', 2, 1, ""},
               {"10,20,30,40", ',', 2, 1, ""},
               {"0.0,1.0,2.0,3.0", ',', 2, 1, ""},
               {"Unnamed: 0\t0\t1\t2", '\t', 2, 1, ""},
               {"400.5,401.5,402.5,403.5,404.5", ',', 2, 1, ""},
               {"4000.1,3998.2,3996.4,3994.6,3992.7", ',', 2, 1, ""},
               {"1100,1102,1105,1109,1111,1112", ',', 2, 1, ""},
               {"id,2020-01-01,2020-02-01", ',', 2, 1, ""},
               {"2020-01-01;2020-02-01;2020-03-01", ';', 2, 1, ""},
               {"01/2020,02/2020,03/2020", ',', 2, 1, ""},
               {"10,20,31", ',', 2, 1, "--header yes"},
               {"1.1,2.2,3.1", ',', 2, 0, ""}, /* could be a sample */
               {"3,2,1,0", ',', 2, 0, ""},
               {"3,2,1,0,0,1", ',', 0, 0, ""},
               {"2020-01-01,5,6", ',', -1, 0, ""}, /* dates below, too */
               {"5.5,4.4,3.3,2.2,1.1", ',', 2, 0, ""}};
  command c;
  static char text[ROOM];
  begin(&c);
  for (size_t t = 0; t < sizeof tried / sizeof *tried; t++) {
    char mark[2] = {tried[t].delimiter};
    int columns = 1;
    for (const char *at = tried[t].first; *at != '\0'; at++)
      columns += *at == *mark;
    *text = '\0';
    append(text, "%s\n", tried[t].first);
    for (int i = 0; i < 30; i++)
      for (int j = 0; j < columns; j++) {
        const char *end = j + 1 == columns ? "\n" : mark;
        if (j == 0 && strncmp(tried[t].first, "id", 2) == 0)
          append(text, "p%d%s", i, end);
        else if (j == 0 && tried[t].decimals < 0)
          append(text, "2020-01-%02d%s", i + 1, end);
        else
          append(text, "%.*f%s", tried[t].decimals < 0 ? 0 : tried[t].decimals,
                 some(i, j), end);
      }
    put(&c, "t.csv", text);
    rows_are(&c, tried[t].first, tried[t].words, 30 + !tried[t].titles,
             columns);
  }
  command_end(&c);
}

/* What an option names by a title stands in a first row of titles, a number
 * beyond the columns, too. */
static void an_option_names_the_first_row(void **state)
{
  static const char *const words[] = {"--use 10,20 --target y",
                                      "--use 20,10 --target 4",
                                      "--drop 30 --target y", "--target y"};
  command c;
  begin(&c);
  put(&c, "t.csv", "10;20;30;y\n1.5;2;3;a\n2;3.5;1;b\n2;2.5;1;b\n");
  for (int k = 0; k < 4; k++) {
    command_do(&c, "convert t.csv - --as csv %s", words[k]);
    assert_true(strncmp(c.out, "10,20,", 6) == 0);
  }
  put(&c, "t.csv", "2020,2021,5\n1.5,2,a\n2,3.5,b\n");
  command_do(&c, "convert t.csv - --as csv --target 5");
  assert_string_equal(c.out, "2020,2021,5\n1.5,2,a\n2,3.5,b\n");
  put(&c, "t.arff",
      "@relation r\n@attribute 2 numeric\n@attribute b numeric\n"
      "@attribute 7 {p,q}\n@data\n1,2,p\n3,4,q\n");
  command_do(&c, "convert t.arff - --as csv --target '#3' --use '#2'");
  assert_string_equal(c.out, "b,7\n2,p\n4,q\n");
  command_do(&c, "convert t.arff - --as csv --target 7 --use 2");
  assert_string_equal(c.out, "2,7\n1,p\n3,q\n");
  command_run(&c, "convert t.arff - --as csv --target '#7'");
  command_expect(&c, 2, "has no attribute \"#7\"");
  command_end(&c);
}

/* Numbers of the rows: rising with holes, or in any order under a title that
 * says it. */
static void names_of_rows_are_no_features(void **state)
{
  enum { RISES, HOLES, SHUFFLED, TWINS, FEW };
  static const struct {
    const char *title;
    int kind, place;
    bool named;
  } tried[] = {{"nr", HOLES, 0, true},
               {"patient_id", SHUFFLED, 0, true},
               {"CustomerID", SHUFFLED, 1, true},
               {"KundenNr", TWINS, 1, true},
               {"Kundennummer", SHUFFLED, 0, true},
               {"Kunden-Nr.", SHUFFLED, 0, true},
               {"order_no", SHUFFLED, 0, true},
               {"casino", SHUFFLED, 0, false},
               {"PassengerId", SHUFFLED, 0, true},
               {"Row ID", SHUFFLED, 2, true},
               {"No.", SHUFFLED, 0, true},
               {"sample code number", TWINS, 0, true},
               {"Id", TWINS, 0, true},
               {"", SHUFFLED, 0, true},
               {"time", RISES, 1, true},
               {"lipid", SHUFFLED, 0, false},
               {"index", FEW, 0, false},
               {"key", FEW, 0, false},
               {"group id", FEW, 1, false},
               {"heat_index", SHUFFLED, 1, false},
               {"no smoker", SHUFFLED, 1, false}};
  command c;
  static char text[ROOM];
  begin(&c);
  for (size_t t = 0; t < sizeof tried / sizeof *tried; t++) {
    *text = '\0';
    for (int i = -1; i < 40; i++) {
      int any = (i * 17 + 5) % 40, twin = any == 7 ? 8 : any;
      for (int j = 0; j < 3; j++) {
        if (i < 0)
          append(text, "%s,",
                 j == tried[t].place ? tried[t].title
                 : j == 0            ? "a"
                                     : "b");
        else if (j != tried[t].place)
          append(text, "%.2f,", some(i, j));
        else if (tried[t].kind == HOLES && i % 13 == 12)
          append(text, ",");
        else
          append(text, "%d,",
                 tried[t].kind <= HOLES      ? 100 + 2 * i
                 : tried[t].kind == SHUFFLED ? 1 + any
                 : tried[t].kind == TWINS    ? 1000 + twin
                                             : any / 3);
      }
      append(text, "%s\n",
             i < 0        ? "glass"
             : i % 6 == 5 ? ""
             : i < 20     ? "A"
                          : "B");
    }
    put(&c, "t.csv", text);
    command_do(&c, "fit linear t.csv --target glass --model m");
    if ((strstr(c.err, NUMBERS_THE_ROWS) != NULL) != tried[t].named ||
        strstr(c.out, tried[t].named ? "2 features" : "3 features") == NULL)
      fail_msg("'%s': %s%s", tried[t].title, c.err, c.out);
    command_do(&c, "predict m t.csv -o p.csv");
    command_run(&c, "info t.csv");
    assert_true((strstr(c.out, NUMBERS_THE_ROWS) != NULL) == tried[t].named);
  }
  command_end(&c);
}

/* One text among many numbers, or dates, that stands for what is not known;
 * codes with leading zeros; what all rows have alike; names that are there
 * twice: each is said, and the line that is proposed runs. */
static void odd_columns_of_strangers(void **state)
{
  command c;
  static char text[ROOM];
  begin(&c);
  *text = '\0';
  append(text, "kunde,staff,zip,since,country,remark,size,kind\n");
  for (int i = 0; i < 40; i++) {
    append(text, "c%d,", i == 30 ? 3 : i);
    append(text, i % 13 == 5 ? "k.A.," : "%d,", 10 + i % 15);
    append(text, "%05d,", 1067 + 997 * (i % 20));
    append(text, i == 9 ? "unknown," : "2020-01-%02d,", 1 + i % 28);
    append(text, "DE,,%.2f,%s\n", some(i, 2),
           i % 6 == 5 ? ""
           : i % 2    ? "a"
                      : "b");
  }
  put(&c, "t.csv", text);
  command_do(&c, "info t.csv --id kunde");
  static const char *const said[] = {
      "\"k.A.\" stands in all cells of staff that are no numbers",
      "\"unknown\" stands in all cells of since that are no dates",
      "zip has numbers that begin with 0",
      "country is DE in every row",
      "remark is empty in every row",
      "kunde, which names the rows, has 1 name that",
      "--id kunde --target kind --drop zip,since,country,remark --missing "};
  for (size_t k = 0; k < sizeof said / sizeof *said; k++)
    if (strstr(c.out, said[k]) == NULL) fail_msg("%s: %s", said[k], c.out);
  assert_null(strstr(c.out, "staff holds"));
  assert_null(strstr(c.out, "as labels have"));
  command_do(&c, "fit linear t.csv --id kunde --target kind --drop "
                 "zip,since,country,remark --missing k.A.,unknown");
  assert_non_null(strstr(c.out, "2 features"));
  command_end(&c);
}

/* Rows of one patient have one label: they belong together, which those of one
 * city, whose labels differ, do not. */
static void rows_of_one_belong_together(void **state)
{
  command c;
  static char text[ROOM];
  begin(&c);
  *text = '\0';
  append(text, "patient,city,size,kind\n");
  for (int i = 0; i < 40; i++)
    append(text, "p%d,t%d,%.2f,%s\n", i % 10, i % 7, some(i, 2),
           i % 9 == 5   ? ""
           : i % 10 < 5 ? "sick"
                        : "well");
  put(&c, "t.csv", text);
  command_do(&c, "info t.csv");
  if (strstr(c.out, "rows of one patient never differ") == NULL ||
      strstr(c.out, "--target kind -G patient --one-hot city") == NULL)
    fail_msg("%s", c.out);
  command_do(&c, "fit auto t.csv --target kind -G patient --one-hot city");
  command_end(&c);
}

/* What stands for unknown, and numbers that only look so. */
static void numbers_of_strangers_that_mean_unknown(void **state)
{
  static const struct {
    const char *code;
    double from, step; /* of the others */
    int different, decimals;
    bool told;
  } tried[] = {{"-999.25", 60, 1.25, 40, 2, true},
               {"-99", 20, 1, 60, 0, true},
               {"-9", 0, 1, 8, 0, true},
               {"-1", 1, 3, 30, 0, true},
               {"9", 1, 1, 5, 0, true},
               {"99", 0, 1, 4, 0, true},
               {"9999", 1950, 1, 70, 0, true},
               {"-1", 0, 1, 5, 0, false}, /* -1, 0, .., 4 */
               {"-1", -30, 1, 60, 0, false},
               {"9", 1, 1, 8, 0, false},
               {"-7", 1, 1, 20, 0, false},
               {"0", 1, 1, 9, 0, false}};
  command c;
  static char text[ROOM];
  begin(&c);
  for (size_t t = 0; t < sizeof tried / sizeof *tried; t++) {
    strcpy(text, "v,b,y\n");
    for (int i = 0; i < 80; i++) {
      if (i % 8 == 3)
        append(text, "%s,", tried[t].code);
      else
        append(text, "%.*f,", tried[t].decimals,
               tried[t].from + tried[t].step * (i * 7 % tried[t].different));
      append(text, "%.2f,%s\n", some(i, 1),
             i % 5 == 4 ? ""
             : i % 2    ? "p"
                        : "q");
    }
    put(&c, "t.csv", text);
    for (int info = 0; info < 2; info++) {
      command_do(&c, info ? "info t.csv" : "fit linear t.csv --target y");
      if ((strstr(info ? c.out : c.err, FAR_FROM_OTHERS) != NULL) !=
          tried[t].told)
        fail_msg("%s: %s%s", tried[t].code, c.out, c.err);
    }
    if (!tried[t].told) continue;
    snprintf(text, 64, "give --missing %s", tried[t].code);
    check_says(c.out, text);
  }
  command_end(&c);
}

/* Cells that cannot be are named by row, with what is right; long tails and
 * what is said to mean unknown are not. */
static void cells_far_from_all_others_are_named(void **state)
{
  command c;
  static char text[ROOM];
  begin(&c);
  strcpy(text, "age,weight,pressure,income,y\n");
  for (int i = 0; i < 80; i++) {
    bool slipped = i == 7 || i == 60;
    append(text, "%d,", i == 16 || i == 40 ? 999 : 20 + i * 7 % 45);
    append(text, "%.1f,", (slipped ? 10 : 1) * (65 + 2 * some(i, 1)));
    append(text, "%d,", i % 20 == 3 ? -999 : 110 + i % 23);
    append(text, "%.3f,%d\n", exp(some(i, 2)), i % 2);
  }
  put(&c, "t.csv", text);
  command_do(&c, "info t.csv");
  check_says(c.out, "age: 2 values are");
  check_says(c.out, "(999 in row 17, 999 in row 41): ");
  check_says(c.out, "give --missing 999");
  check_says(c.out, "weight: 2 values are");
  check_says(c.out, " in row 61): --map trim");
  check_says(c.out, FAR_FROM_ALL);
  assert_null(strstr(c.out, "income: "));
  check_says(c.out, " --missing 999,-999\n"); /* of the example */
  command_do(&c, "info t.csv --missing 999,-999");
  assert_null(strstr(c.out, "age: "));
  command_end(&c);
}

/* Months 01 to 12, sizes 36 to 44, years: filled as they are written. */
static void cells_of_strangers_are_filled_alike(void **state)
{
  command c;
  static char text[ROOM];
  begin(&c);
  strcpy(text, "month\tsize\tyear\tstars\tw\n");
  for (int i = 0; i < 60; i++) {
    if (i % 7 != 6) append(text, "%02d", 1 + i % 12);
    append(text, "\t");
    if (i % 5 != 4) append(text, "%d", 36 + 2 * (i % 5));
    append(text, "\t");
    if (i % 6 != 5) append(text, "%d", 1990 + i % 29);
    append(text, "\t");
    if (i % 9 != 8) append(text, "%s", i % 2 ? "***" : "*");
    append(text, "\t%.2f\n", some(i, 1));
  }
  put(&c, "t.tsv", text);
  command_do(&c, "fit mc t.tsv --one-hot stars --map standard --mu-rel .05 "
                 "--completed full.tsv");
  for (int i = 1; i <= 60; i++) {
    assert_true(strlen(cell(&c, "full.tsv", i, 0, '\t')) == 2);
    const char *size = cell(&c, "full.tsv", i, 1, '\t');
    assert_true(strlen(size) == 2 && (size[1] - '0') % 2 == 0);
    assert_true(strlen(cell(&c, "full.tsv", i, 2, '\t')) == 4);
    assert_true(*cell(&c, "full.tsv", i, 3, '\t') == '*');
  }
  command_end(&c);
}

/* Texts beside numbers are classes where each repeats. */
static void classes_of_numbers_and_texts(void **state)
{
  static const struct {
    const char *label[3], *said;
    int code;
  } tried[] = {{{"3a", "3b", "4"}, "among numbers", 0},
               {{"0x10", "16", "1_000"}, "among numbers", 0},
               {{"K", "1", "2"}, "among numbers", 0},
               {{"-0", "0", "1"}, "one number in two spellings", 0},
               {{"1", "2", "."}, "--missing lists what means unknown", 4},
               {{"-", "0", "1"}, "--missing lists what means unknown", 4}};
  command c;
  static char text[ROOM];
  begin(&c);
  for (size_t t = 0; t < sizeof tried / sizeof *tried; t++) {
    strcpy(text, "id,a,b,kind\n");
    for (int i = 0; i < 45; i++)
      append(text, "s%d,%.2f,%.2f,%s\n", i, 3. * (i % 3) + .01 * i,
             3. * (i % 3 == 1), i / 3 % 5 == 4 ? "" : tried[t].label[i % 3]);
    put(&c, "t.csv", text);
    command_run(&c,
                "fit linear t.csv --id id --target kind -o a.csv --model m");
    command_expect(&c, tried[t].code, tried[t].said);
    if (tried[t].code != 0) continue;
    for (int i = 0; i < 45; i++)
      assert_string_equal(cell(&c, "a.csv", i + 1, 1, ','),
                          tried[t].label[i % 3]);
    command_do(&c, "predict m t.csv -o p.csv");
    command_do(&c, "eval accuracy --truth t.csv --id id --target kind "
                   "--scores p.csv");
    assert_non_null(strstr(c.out, "accuracy 1.000000"));
    command_do(&c, "info t.csv");
    assert_non_null(strstr(c.out, "--id id --target kind"));
    snprintf(text, sizeof text, "id,a,b,kind\nn1,0,0,%s\nn2,3,3,%s\nn3,6,0,\n",
             tried[t].label[0], tried[t].label[1]);
    put(&c, "few.csv", text); /* too few to see that they repeat */
    command_do(&c, "predict m few.csv -o p.csv");
    assert_string_equal(cell(&c, "p.csv", 1, 1, ','), tried[t].label[0]);
    command_do(&c, "eval accuracy --truth few.csv --id id --target kind "
                   "--scores p.csv");
    assert_non_null(strstr(c.out, "accuracy 1.000000"));
  }
  put(&c, "t.csv", "a,y\n1,0\n2,1\n3,1O\n4,0\n5,1\n"); /* a slip */
  command_run(&c, "fit linear t.csv --target y -o b.csv");
  command_expect(&c, 4, "t.csv:4:3: column 2 (\"y\") holds the text \"1O\"");
  assert_false(command_exists(&c, "b.csv"));
  command_end(&c);
}

/* Answers as fit writes them: a class that stands once under "rather" is one of
 * the column beside it, and spelt right; one that stands nowhere else is asked
 * about. */
static void words_of_another_column_are_spelt_right(void **state)
{
  command c;
  begin(&c);
  put(&c, "a.csv",
      "name,plays,origin,rather\na,front,given,\nb,back,given,front\n"
      "c,front,given,\nd,back,filled,\ne,frnt,given,\nf,back,given,\n");
  command_do(&c, "info a.csv");
  assert_non_null(strstr(c.out, "\"frnt\" occurs once in plays"));
  assert_null(strstr(c.out, "occurs once in rather"));
  command_end(&c);
}

/* A row of sums below a table is told of, by info and before a fit; sums that
 * are nothing but a large value are not. */
static void a_row_of_totals_is_told(void **state)
{
  static const struct {
    const char *last;
    bool total;
  } tried[] = {{"r99,210,3.5,yes\n", true}, {"Summe,7,.5,no\n", true},
               {"TOTAL,,,\n", true},        {"r99,205,3.5,yes\n", false},
               {"r99,21,3.5,no\n", false},  {"r99,,,yes\n", false}};
  char text[2048], said[] = "a total occurs in the last row";
  command c;
  begin(&c);
  for (size_t t = 0; t < sizeof tried / sizeof *tried; t++) {
    *text = '\0';
    strcat(text, "name,a,b,kind\n");
    for (int j = 0; j < 20; j++)
      sprintf(text + strlen(text), "r%d,%d,%.1f,%s\n", j, 7 * j % 20 + 1,
              j % 3 + .5, j % 2 ? "yes" : "no");
    strcat(text, tried[t].last);
    put(&c, "t.csv", text);
    command_do(&c, "info t.csv --header yes");
    assert_int_equal(strstr(c.out, said) != NULL, tried[t].total);
    command_run(&c, "fit linear t.csv --id name --target kind --map impute");
    assert_int_equal(strstr(c.err, said) != NULL, tried[t].total);
  }
  command_end(&c);
}

/* As people write tables: units in cells, - for unknown in many columns.  Each
 * is said once, and the line that is proposed runs. */
static void raw_sheets_are_told_once(void **state)
{
  command c;
  char text[8192] = "id,age,size,visits,plan,price\n";
  begin(&c);
  for (int i = 0; i < 80; i++) {
    char age[16], size[16], visits[16], price[16];
    snprintf(age, sizeof age, i % 9 == 4 ? "-" : "%d years", 20 + i % 40);
    snprintf(size, sizeof size, i % 9 == 5 ? "-" : "%d.5 cm", 150 + i % 50);
    snprintf(visits, sizeof visits, i % 9 == 6 ? "-" : "%d", i % 7);
    snprintf(price, sizeof price, i % 4 == 0 ? "" : "%d.25", 3 * i % 71);
    sprintf(text + strlen(text), "n%d,%s,%s,%s,%s,%s\n", i, age, size, visits,
            i % 9 == 7 ? "-"
            : i % 2    ? "Pro"
                       : "Basic",
            price);
  }
  put(&c, "raw.csv", text);
  command_do(&c, "info raw.csv");
  const char *at = strstr(c.out, "--missing \"-\" reads");
  assert_non_null(at);
  assert_null(strstr(at + 1, "--missing \"-\" reads"));
  assert_non_null(strstr(c.out, "age holds numbers with units (\"20 years\")"));
  assert_non_null(strstr(c.out, "size holds numbers with units (\"150.5 cm"));
  const char *line = strstr(c.out, "lapis fit auto raw.csv");
  assert_non_null(line);
  assert_non_null(strstr(line, "--one-hot plan --drop age,size --missing -"));
  line += strlen("lapis ");
  char words[512];
  snprintf(words, sizeof words, "%.*s", (int)strcspn(line, "\n"), line);
  command_do(&c, "%s -q -o o.csv", words);
  command_end(&c);
}

/* A row of units below the titles is named as what it is; one text among
 * numbers in that row is not. */
static void a_row_of_units_is_told(void **state)
{
  command c;
  begin(&c);
  put(&c, "u.csv", "age,size,kind\nyears,cm,\n31,170,a\n44,180,b\n51,176,a\n");
  command_do(&c, "info u.csv");
  assert_non_null(strstr(c.out, "3 columns, 4 rows below a header"));
  assert_non_null(strstr(c.out, "u.csv:2:1"));
  assert_non_null(strstr(c.out, "a row of units"));
  command_run(&c, "fit auto u.csv --target age --drop kind");
  command_expect(&c, 4, "a row of units");
  put(&c, "u.csv", "age,size,kind\nyears,170,a\n31,171,b\n44,180,b\n");
  command_run(&c, "fit auto u.csv --target kind");
  command_expect(&c, 4, "u.csv:2:1");
  assert_null(strstr(c.err, "a row of units"));
  command_end(&c);
}

/* What locate and match wrote is no table to learn from. */
static void tables_of_found_things_are_known(void **state)
{
  command c;
  begin(&c);
  put(&c, "b.csv",
      "name,x,y,width,height,score\na,1,2,30,40,.5\nb,4,2,9,40,.6\n");
  command_do(&c, "info b.csv");
  assert_non_null(strstr(c.out, BOXES_A_ROW));
  assert_null(strstr(c.out, "lapis fit"));
  put(&c, "m.csv",
      "name,point,x,y,doubtful,instance\na,P,1,2,no,1\nb,P,4,2,no,1\n");
  command_do(&c, "info m.csv");
  assert_non_null(strstr(c.out, POINTS_IN_COMMON));
  assert_null(strstr(c.out, "lapis fit"));
  command_end(&c);
}

/* Who writes that he could not tell does not mean a class of that name; info
 * and a fit ask, and the option that they name is enough. */
static void labels_of_doubt_are_told(void **state)
{
  static const char *const words[] = {"unsure", "Don't know", "UNKNOWN", "-",
                                      "unsurely"};
  char text[2048], said[80];
  command c;
  begin(&c);
  for (int t = 0; t < 5; t++) {
    bool doubt = t < 4;
    strcpy(text, "a,b,kind\n");
    for (int j = 0; j < 40; j++)
      sprintf(text + strlen(text), "%d,%d,%s\n", 7 * j % 20 + 1, 3 * j % 11,
              j % 8 == 0 ? words[t]
              : j % 2    ? "yes"
                         : "no");
    put(&c, "t.csv", text);
    snprintf(said, sizeof said, "\"%s\" occurs 5 times and is read as a word; ",
             words[t]);
    command_do(&c, "info t.csv");
    assert_int_equal(strstr(c.out, said) != NULL, doubt);
    command_do(&c, "fit linear t.csv --target kind -o o.npz");
    assert_int_equal(strstr(c.err, said) != NULL, doubt);
    command_do(&c, "fit linear t.csv --target kind --missing \"%s\" -o o.npz",
               words[t]);
    assert_null(strstr(c.err, said));
    assert_non_null(strstr(c.out, "5 labels filled in"));
  }
  strcpy(text, "a,b,kind\n"); /* - and + are two classes */
  for (int j = 0; j < 40; j++)
    sprintf(text + strlen(text), "%d,%d,%s\n", 7 * j % 20 + 1, 3 * j % 11,
            j % 2 ? "-" : "+");
  put(&c, "t.csv", text);
  command_do(&c, "info t.csv");
  assert_null(strstr(c.out, "\"-\" occurs "));
  command_end(&c);
}

/* The words that stand for unknown in any table do so beside those named. */
static void what_info_proposes_is_read(void **state)
{
  char text[2048] = "id,age,km,ok\n", *at;
  command c;
  begin(&c);
  for (int j = 0; j < 40; j++) {
    char age[16], km[16];
    sprintf(age, "%d", 20 + 11 * j % 50);
    sprintf(km, "%d", 300 + 37 * j % 900);
    sprintf(text + strlen(text), "a%d,%s,%s,%s\n", j, j % 8 ? age : "n/a",
            j % 9 ? km : "-",
            j % 6 == 0 ? ""
            : j % 2    ? "yes"
                       : "no");
  }
  put(&c, "t.csv", text);
  command_do(&c, "info t.csv");
  at = strstr(c.out, "lapis fit auto t.csv --id id --target ok --missing -");
  assert_non_null(at);
  at += strlen("lapis ");
  at[strcspn(at, "\n")] = '\0';
  snprintf(text, sizeof text, "%s", at);
  command_do(&c, "%s", text);
  command_end(&c);
}

/* Copies under another name are told; small tables of few values have such by
 * chance. */
static void rows_that_stand_twice_are_told(void **state)
{
  command c;
  static char text[ROOM];
  begin(&c);
  for (int few = 0; few < 2; few++)
    for (int copies = 0; copies < 3; copies++) {
      *text = '\0';
      append(text, "id,a,b,c,kind\n");
      for (int i = 0; i < 40 + copies; i++) {
        int k = i < 40 ? i : 3 * (i - 39);
        append(text, "s%d,%.*f,%.*f,%.*f,%s\n", i, few ? 0 : 2,
               few ? k % 2 : some(k, 2), few ? 0 : 2, few ? k % 3 : some(k, 3),
               few ? 0 : 2, few ? 1 : some(k, 5), k % 3 ? "u" : "v");
      }
      put(&c, "t.csv", text);
      command_do(&c, "info t.csv");
      bool told = strstr(c.out, NAMES_ASIDE) != NULL;
      if (told != (!few && copies > 0)) fail_msg("%d: %s", copies, c.out);
      if (told) check_says(c.out, copies == 1 ? "1 row repeats" : "2 rows ");
    }
  command_end(&c);
}

int test_columns(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(first_rows_of_strangers),
      cmocka_unit_test(an_option_names_the_first_row),
      cmocka_unit_test(names_of_rows_are_no_features),
      cmocka_unit_test(odd_columns_of_strangers),
      cmocka_unit_test(rows_of_one_belong_together),
      cmocka_unit_test(numbers_of_strangers_that_mean_unknown),
      cmocka_unit_test(cells_of_strangers_are_filled_alike),
      cmocka_unit_test(cells_far_from_all_others_are_named),
      cmocka_unit_test(classes_of_numbers_and_texts),
      cmocka_unit_test(words_of_another_column_are_spelt_right),
      cmocka_unit_test(a_row_of_totals_is_told),
      cmocka_unit_test(labels_of_doubt_are_told),
      cmocka_unit_test(raw_sheets_are_told_once),
      cmocka_unit_test(a_row_of_units_is_told),
      cmocka_unit_test(tables_of_found_things_are_known),
      cmocka_unit_test(what_info_proposes_is_read),
      cmocka_unit_test(rows_that_stand_twice_are_told),
  };
  return run_cases(tests, NULL, NULL);
}
