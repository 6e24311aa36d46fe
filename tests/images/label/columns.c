/* Columns of the table of labels that hold no labels: what a table that is
 * written has of them is what was read, in its order. */
#include "label_case.h"
#include "python.h"
#include "remarks.h"

enum { KNOWN = 14 };
static const char *const two[] = {"flat", "upright"};
static const char *const remark[] = {
    "\"a, \"\"b\"\"\"", "NA", "\"NA\"", "", "'=1+1", "0.50", "\" blank\""};

static void write_table(const command *c, const char *name, const char *head,
                        bool checked)
{
  char table[4096];
  int used = sprintf(table, "%s\n", head);
  for (int i = 0; i < KNOWN; i++)
    used += sprintf(table + used, "2024-01-%02d,%s%s,a%02d.pgm,p%d,%s\n", i + 1,
                    checked ? i == 3 ? "yes," : "," : "", two[i % 2], i, i / 2,
                    remark[i % 7]);
  write_text(c, name, table);
}

static void read_cells(const command *c, const char *name, lapis_cells *out)
{
  char path[160];
  lapis_ctx *ctx = lapis_ctx_new();
  snprintf(path, sizeof path, "%s/%s", c->folder, name);
  if (lapis_cells_read(ctx, path, NULL, out) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  lapis_ctx_free(ctx);
}

/* Titles and, but for the names of images, all cells of `from`, whose rows are
 * the first of `to`; those below have labels alone (label < 0: unchecked). */
static void expect_same(const command *c, const char *from, const char *to,
                        int64_t columns, int64_t name, int64_t label)
{
  lapis_cells a, b;
  read_cells(c, from, &a);
  read_cells(c, to, &b);
  assert_int_equal(a.columns, columns);
  assert_true(b.columns >= a.columns);
  assert_int_equal(b.rows, IMAGES + 1);
  for (int64_t i = 0; i < b.rows; i++)
    for (int64_t j = 0; j < a.columns; j++) {
      const char *is = b.written[i * b.columns + j];
      if (i > 0 && j == name) continue;
      if (i < a.rows) assert_string_equal(is, a.written[i * a.columns + j]);
      if (i >= a.rows && label >= 0 && j != label) assert_string_equal(is, "");
    }
  lapis_cells_free(&a);
  lapis_cells_free(&b);
}

static void labels_out_has_all_columns(void **state)
{
  command c;
  begin_stripes(&c, 2);
  write_table(&c, "labels.csv", "date,what,file,person,a remark", false);
  command_do(&c, LABEL " --target what --cache kept -q --labels-out all.csv");
  expect_same(&c, "labels.csv", "all.csv", 5, 2, 1);
  write_table(&c, "labels.csv", "date,checked,label,file,person,a remark",
              true);
  command_do(&c, LABEL " --groups person --cache kept -q --labels-out "
                       "labels2.csv && cp labels2.csv labels3.csv");
  expect_same(&c, "labels.csv", "labels2.csv", 6, 3, 2);
  command_end(&c);
}

/* Columns are called by their numbers, before and after. */
static void without_titles(void **state)
{
  command c;
  char table[4096] = "";
  begin_stripes(&c, 2);
  for (int i = 0; i < KNOWN; i++)
    sprintf(table + strlen(table), "x%d,%s,a%02d.pgm,p%d\n", i, two[i % 2], i,
            i / 2);
  write_text(&c, "labels.csv", table);
  command_do(&c, LABEL " --target 2 --groups 4 --cache kept -q --labels-out "
                       "all.csv");
  shell(&c,
        "head -n 1 all.csv | grep -qx 'column 1,label,name,group,origin' && "
        "grep -qx 'x5,upright,in/a05.pgm,p2,given' all.csv && "
        "cp all.csv labels.csv");
  command_do(&c, LABEL " --target 2 --groups 4 --cache kept -q --labels-out "
                       "again.csv");
  shell(&c, "cmp all.csv again.csv");
  command_end(&c);
}

/* A label a column, asked for in another order. */
static void columns_between_labels(void **state)
{
  command c;
  char table[4096] = "up,file,note,flat\n";
  begin_stripes(&c, 2);
  for (int i = 0; i < KNOWN; i++)
    sprintf(table + strlen(table), "%d,a%02d.pgm,n%d,%d\n", i % 2, i, i,
            1 - i % 2);
  write_text(&c, "labels.csv", table);
  command_do(&c, LABEL " --target flat,up --cache kept -q --labels-out "
                       "all.csv");
  expect_same(&c, "labels.csv", "all.csv", 4, 1, -1);
  command_end(&c);
}

/* A table that was written is read as the one that it was made of: what was
 * filled in there is not given, but where a person has checked it. */
static void what_was_filled_in_is_not_given(void **state)
{
  command c;
  char table[4096] = "up,file,flat\n";
  begin_stripes(&c, 2);
  for (int k = 0; k < 2; k++) {
    write_table(&c, "labels.csv", "date,what,file,person,a remark", false);
    if (k == 1) {
      for (int i = 0; i < KNOWN; i++)
        sprintf(table + strlen(table), "%s,a%02d.pgm,%s\n",
                i % 5 == 0   ? ""
                : i % 2 == 0 ? "1"
                             : "0",
                i, i % 2 ? "1" : "0");
      write_text(&c, "labels.csv", table);
    }
    const char *target = k == 0 ? "what" : "up,flat";
    command_do(&c,
               LABEL " --target %s --cache kept -q --labels-out all.csv -o "
                     "one.csv",
               target);
    shell(&c, "cp all.csv labels.csv");
    command_do(&c,
               LABEL " --target %s --cache kept --labels-out again.csv -o "
                     "two.csv",
               target);
    assert_non_null(strstr(c.err, WERE_FILLED));
    shell(&c, "cmp all.csv again.csv && cmp one.csv two.csv");
  }
  shell(&c, "sed 's/filled/given/g' all.csv > labels.csv");
  command_do(&c, LABEL " --target up,flat --cache kept -o two.csv");
  assert_null(strstr(c.err, WERE_FILLED));
  shell(&c, "! grep -q filled two.csv");
  shell(&c, "sed 's/$/,yes/; 1s/,yes/,checked/' all.csv > labels.csv");
  command_do(&c, LABEL " --target up,flat --cache kept -o two.csv");
  assert_null(strstr(c.err, WERE_FILLED));
  command_end(&c);
}

static void the_page_saves_all_columns(void **state)
{
  command c;
  char words[200];
  python_need_browser();
  begin_stripes(&c, 2);
  for (int checked = 0; checked < 2; checked++) {
    write_table(&c, "labels.csv",
                checked ? "date,checked,label,file,person,a remark"
                        : "date,label,file,person,a remark",
                checked);
    shell(&c, "cp labels.csv given.csv");
    command_do(&c, LABEL " --cache kept -q -o page.html");
    snprintf(words, sizeof words, "%s '#check-on'", c.folder);
    python_run("browse_label.py", words);
    expect_same(&c, "given.csv", "labels.csv", 5 + checked, 2 + checked,
                1 + checked);
    if (!checked)
      shell(&c, "head -n 1 labels.csv | grep -q 'a remark,checked$'");
    command_do(&c, LABEL " --groups person --cache kept -q");
  }
  command_end(&c);
}

int test_columns(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(labels_out_has_all_columns),
      cmocka_unit_test(without_titles),
      cmocka_unit_test(columns_between_labels),
      cmocka_unit_test(what_was_filled_in_is_not_given),
      cmocka_unit_test(the_page_saves_all_columns),
  };
  return run_cases(tests, NULL, NULL);
}
