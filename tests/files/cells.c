/* Random tables as people have them: what is given comes back when they are
 * completed, cell by cell, columns are still of their type, and pandas reads
 * the same cells. */
#include "files.h"
#include "python.h"
#include "room.h"

typedef struct dice {
  uint64_t state;
} dice;

static unsigned roll(dice *d, unsigned sides)
{
  d->state = d->state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(d->state >> 33) % sides;
}

static const char *pick(dice *d, const char *const *list, unsigned count)
{
  return list[roll(d, count)];
}

enum { MOST = 6, ROWS = 24 };
typedef struct made {
  char text[16384], words[64]; /* columns of words, "c1,c3" */
  int columns, rows;
  char delimiter;
} made;

static void add(made *m, const char *text, bool quote)
{
  size_t used = strlen(m->text);
  char *to = m->text + used;
  bool must =
      strchr(text, m->delimiter) != NULL || strpbrk(text, "\"\n") || quote;
  if (must) *to++ = '"';
  for (; *text != '\0'; text++) {
    if (*text == '"') *to++ = '"';
    *to++ = *text;
  }
  if (must) *to++ = '"';
  *to = '\0';
}

enum { ID, NUMBER, CODE, WORD, PADDED, WHOLE, KINDS };

static void add_cell(made *m, dice *d, int kind, int row)
{
  static const char *const words[] = {"red",
                                      "gr\xc3\xbcn",
                                      "none",
                                      "@home",
                                      "=1+1",
                                      "a, b",
                                      "5\" pipe",
                                      "'tis",
                                      "x;y",
                                      "Yes",
                                      "yes",
                                      "-out",
                                      "null",
                                      "two words",
                                      "a|b",
                                      "\xe6\x97\xa5\xe6\x9c\xac",
                                      "e\xcc\x81",
                                      "#1",
                                      "NA "
                                      "or so"};
  static const char *const codes[] = {"1", "2", "7"};
  char number[32] = "";
  if (kind != ID && roll(d, 6) == 0) return; /* a hole */
  if (kind == ID)
    snprintf(number, sizeof number, "%ss%d", roll(d, 5) == 0 ? "@" : "", row);
  if (kind == NUMBER)
    snprintf(number, sizeof number, "%s%u.%02u", roll(d, 2) ? "-" : "",
             roll(d, 100), 1 + roll(d, 99));
  if (kind == PADDED) snprintf(number, sizeof number, "%02u", 1 + roll(d, 31));
  if (kind == WHOLE)
    snprintf(number, sizeof number, "%u", 1000 + (unsigned)row * 7 % 13 * 90);
  const char *text = kind == CODE   ? pick(d, codes, 3)
                     : kind == WORD ? pick(d, words, 19)
                                    : number;
  add(m, text, kind != NUMBER && roll(d, 4) == 0);
}

/* Titles of all kinds, each once. */
static void add_title(made *m, dice *d, int column)
{
  static const char *const stems[] = {"c",  "2019", "a, b",     "\"q\"", "#",
                                      "x*", "id",   "\xc3\xa9", "-",     "="};
  char title[32];
  snprintf(title, sizeof title, "%s%d", pick(d, stems, 10), column + 1);
  add(m, title, roll(d, 4) == 0);
}

static void make(made *m, dice *d)
{
  static const char marks[] = ",;\t|";
  static const char *const ends[] = {"\n", "\n", "\r\n", "\r"};
  int kind[MOST];
  m->delimiter = marks[roll(d, 4)];
  m->columns = 3 + (int)roll(d, MOST - 3);
  m->rows = 12 + (int)roll(d, ROWS - 12);
  m->text[0] = m->words[0] = '\0';
  if (roll(d, 5) == 0) strcpy(m->text, "\xef\xbb\xbf");
  const char *end = pick(d, ends, 4);
  for (int j = 0; j < m->columns; j++) {
    kind[j] = j == 0 ? ID : j == 1 ? NUMBER : 1 + (int)roll(d, KINDS - 1);
    if (kind[j] != WORD) continue;
    size_t used = strlen(m->words);
    snprintf(m->words + used, sizeof m->words - used, "%s#%d",
             used > 0 ? "," : "", j + 1);
  }
  for (int i = -1; i < m->rows; i++) {
    for (int j = 0; j < m->columns; j++) {
      size_t used = strlen(m->text);
      if (j > 0) snprintf(m->text + used, 2, "%c", m->delimiter);
      if (i < 0)
        add_title(m, d, j);
      else
        add_cell(m, d, kind[j], i);
    }
    bool last = i + 1 == m->rows && roll(d, 3) == 0; /* without an end */
    if (!last) strcat(m->text, end);
  }
}

/* The cells as LAPIS reads them, for another reader to compare. */
static void dump(files *f, const lapis_cells *cells, const char *path,
                 unsigned seed, char which)
{
  char name[32], to[512];
  FILE *out;
  snprintf(name, sizeof name, "%u%c.cells", seed, which);
  snprintf(to, sizeof to, "%s", files_path(f, name));
  assert_non_null(out = fopen(to, "wb"));
  fprintf(out, "%s\x1d", path);
  for (int64_t k = 0; k < cells->rows * cells->columns; k++)
    fprintf(out, "%s%c", cells->text[k],
            (k + 1) % cells->columns == 0 ? '\x1e' : '\x1f');
  fclose(out);
}

static void compare(files *f, const char *from, const char *to, unsigned seed)
{
  lapis_ctx *ctx = f->ctx;
  lapis_cells a, b;
  lapis_columns before, after;
  lapis_table_options titled = {.header = LAPIS_HEADER_YES};
  if (lapis_cells_read(ctx, from, "", &a) < 0 ||
      lapis_cells_read(ctx, to, "", &b) < 0 ||
      lapis_columns_read(ctx, from, &titled, &before) < 0 ||
      lapis_columns_read(ctx, to, &titled, &after) < 0)
    fail_msg("seed %u: %s", seed, lapis_ctx_error(ctx));
  if (a.rows != b.rows || a.columns != b.columns)
    fail_msg("seed %u: another shape", seed);
  for (int64_t k = 0; k < a.rows * a.columns; k++)
    if (*a.text[k] != '\0' && strcmp(a.text[k], b.text[k]) != 0)
      fail_msg("seed %u: '%s' came back as '%s'", seed, a.text[k], b.text[k]);
  for (int j = 0; j < before.listed; j++)
    if (before.column[j].type != after.column[j].type ||
        strcmp(before.column[j].title, after.column[j].title) != 0)
      fail_msg("seed %u: column %d is of another type or title", seed, j + 1);
  dump(f, &a, from, seed, 'a');
  dump(f, &b, to, seed, 'b');
  lapis_cells_free(&a);
  lapis_cells_free(&b);
  lapis_columns_free(&before);
  lapis_columns_free(&after);
}

static void complete_one(files *f, unsigned seed)
{
  static made m;
  dice d = {.state = 977 * (uint64_t)seed + 13};
  char from[512], to[512];
  make(&m, &d);
  char name[32];
  snprintf(name, sizeof name, "t%u.csv", seed);
  files_put_text(f, name, m.text);
  strcpy(from, files_path(f, name));
  snprintf(name, sizeof name, "full%u.%s", seed, roll(&d, 2) ? "csv" : "tsv");
  strcpy(to, files_path(f, name));
  lapis_table_options opt = {.id = "#1",
                             .header = LAPIS_HEADER_YES,
                             .none_is_word = true, /* alone, too */
                             .one_hot = *m.words ? m.words : NULL};
  lapis_dataset *ds;
  assert_int_equal(lapis_dataset_new(f->ctx, &ds), LAPIS_OK);
  if (lapis_dataset_read(ds, from, &opt) < 0 || lapis_dataset_finish(ds) < 0)
    fail_msg("seed %u: %s", seed, lapis_ctx_error(f->ctx));
  const lapis_mat *X = &lapis_dataset_data(ds)->X;
  double *full = calloc((size_t)(X->rows * X->cols), sizeof *full);
  assert_non_null(full);
  for (int64_t k = 0; k < X->rows * X->cols; k++) {
    double v = lapis_mat_at(X, k % X->rows, k / X->rows);
    full[k] = isnan(v) ? .25 * roll(&d, 9) : v + 1;
  }
  lapis_mat Z = lapis_mat_f64(full, X->rows, X->cols);
  int64_t filled;
  if (lapis_table_complete(f->ctx, from, &opt, &Z, NULL, NULL, to, &filled) < 0)
    fail_msg("seed %u: %s", seed, lapis_ctx_error(f->ctx));
  free(full);
  lapis_dataset_free(ds);
  compare(f, from, to, seed);
}

static void given_cells_come_back(void **state)
{
  for (unsigned seed = 0; seed < (room_all() ? 2000 : 200); seed++)
    complete_one(*state, seed);
}

static void pandas_reads_the_same_cells(void **state)
{
  files *f = *state;
  python_need("pandas");
  for (unsigned seed = 0; seed < (room_all() ? 2000 : 100); seed++)
    complete_one(f, seed);
  python_run("check_cells.py", f->folder);
}

int test_cells(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(given_cells_come_back, files_setup,
                                      files_teardown),
      cmocka_unit_test_setup_teardown(pandas_reads_the_same_cells, files_setup,
                                      files_teardown)};
  return run_cases(tests, NULL, NULL);
}
