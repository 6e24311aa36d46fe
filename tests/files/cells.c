/* Random tables as people have them: what is given comes back when they are
 * completed, cell by cell, and columns are still of their type. */
#include "files.h"
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

static void add_cell(made *m, dice *d, int kind, int row)
{
  static const char *const words[] = {
      "red",  "gr\xc3\xbcn", "none", "@home", "=1+1", "a, b", "5\" pipe",
      "'tis", "x;y",         "Yes",  "yes",   "-out", "null", "two words"};
  static const char *const codes[] = {"1", "2", "7"};
  char number[32] = "";
  if (kind > 0 && roll(d, 6) == 0) return; /* a hole */
  if (kind == 0)
    snprintf(number, sizeof number, "%ss%d", roll(d, 5) == 0 ? "@" : "", row);
  if (kind == 1)
    snprintf(number, sizeof number, "%s%u.%02u", roll(d, 2) ? "-" : "",
             roll(d, 100), roll(d, 100));
  const char *text = kind == 2   ? pick(d, codes, 3)
                     : kind == 3 ? pick(d, words, 14)
                                 : number;
  add(m, text, kind != 1 && roll(d, 4) == 0);
}

static void make(made *m, dice *d)
{
  static const char marks[] = ",;\t|";
  int kind[MOST];
  m->delimiter = marks[roll(d, 4)];
  m->columns = 3 + (int)roll(d, MOST - 3);
  m->rows = 12 + (int)roll(d, ROWS - 12);
  m->text[0] = m->words[0] = '\0';
  if (roll(d, 5) == 0) strcpy(m->text, "\xef\xbb\xbf");
  const char *end = roll(d, 3) == 0 ? "\r\n" : "\n";
  for (int i = -1; i < m->rows; i++) {
    for (int j = 0; j < m->columns; j++) {
      char title[16];
      if (i < 0) kind[j] = j == 0 ? 0 : j == 1 ? 1 : 1 + (int)roll(d, 3);
      if (j > 0) {
        size_t used = strlen(m->text);
        m->text[used] = m->delimiter;
        m->text[used + 1] = '\0';
      }
      snprintf(title, sizeof title, "c%d", j + 1);
      if (i < 0)
        add(m, title, roll(d, 4) == 0);
      else
        add_cell(m, d, kind[j], i);
      if (i < 0 && kind[j] == 3)
        snprintf(m->words + strlen(m->words),
                 sizeof m->words - strlen(m->words), "%s%s",
                 *m->words ? "," : "", title);
    }
    strcat(m->text, end);
  }
}

static void compare(lapis_ctx *ctx, const char *from, const char *to,
                    unsigned seed)
{
  lapis_cells a, b;
  lapis_columns before, after;
  if (lapis_cells_read(ctx, from, "", &a) < 0 ||
      lapis_cells_read(ctx, to, "", &b) < 0 ||
      lapis_columns_read(ctx, from, NULL, &before) < 0 ||
      lapis_columns_read(ctx, to, NULL, &after) < 0)
    fail_msg("seed %u: %s", seed, lapis_ctx_error(ctx));
  if (a.rows != b.rows || a.columns != b.columns)
    fail_msg("seed %u: another shape", seed);
  for (int64_t k = 0; k < a.rows * a.columns; k++)
    if (*a.text[k] != '\0' && strcmp(a.text[k], b.text[k]) != 0)
      fail_msg("seed %u: '%s' came back as '%s'", seed, a.text[k], b.text[k]);
  for (int j = 0; j < before.listed; j++)
    if ((before.column[j].texts > 0) != (after.column[j].texts > 0))
      fail_msg("seed %u: column %d is of another type", seed, j + 1);
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
  files_put_text(f, "t.csv", m.text);
  strcpy(from, files_path(f, "t.csv"));
  strcpy(to, files_path(f, roll(&d, 2) ? "full.csv" : "full.tsv"));
  lapis_table_options opt = {.id = "c1",
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
  if (lapis_table_complete(f->ctx, from, &opt, &Z, NULL, to, &filled) < 0)
    fail_msg("seed %u: %s", seed, lapis_ctx_error(f->ctx));
  free(full);
  lapis_dataset_free(ds);
  compare(f->ctx, from, to, seed);
}

static void given_cells_come_back(void **state)
{
  for (unsigned seed = 0; seed < (room_all() ? 2000 : 200); seed++)
    complete_one(*state, seed);
}

int test_cells(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
      given_cells_come_back, files_setup, files_teardown)};
  return run_cases(tests, NULL, NULL);
}
