/* Views that no matrix has are refused by every method with a sentence. */
#include "files.h"
#include "lapis/choose.h"

enum { D = 4, N = 12 };

typedef struct problem {
  double X[D * N], Y[N];
  int64_t start[N + 1];
  int32_t row[D * N];
  lapis_data d;
} problem;

static void begin(problem *p, bool sparse)
{
  uint64_t r = 2;
  for (int k = 0; k < D * N; k++) p->X[k] = check_normal(&r);
  for (int k = 0; k < D * N; k++) p->row[k] = k % D;
  for (int j = 0; j <= N; j++) p->start[j] = (int64_t)j * D;
  for (int j = 0; j < N; j++) p->Y[j] = j % 2;
  p->d = (lapis_data){.X = lapis_mat_f64(p->X, D, N),
                      .Y = lapis_mat_f64(p->Y, 1, N)};
  if (!sparse) return;
  p->d.X.colptr = p->start;
  p->d.X.rowidx = p->row;
}

static void check(files *f, const lapis_data *d, const char *words)
{
  for (int i = 0; lapis_method_at(i) != NULL; i++) {
    lapis_solver *s;
    lapis_status got =
        lapis_solver_new(f->ctx, lapis_method_at(i), d, NULL, &s);
    if (got >= 0) fail_msg("%s took it", lapis_method_at(i)->name);
    assert_null(s);
    CHECK_REFUSED(f, got, got, words);
  }
}

static void impossible_views_are_refused(void **state)
{
  files *f = *state;
  problem p;
  begin(&p, false);
  p.d.X.ld = D - 1;
  check(f, &p.d, "the distance of two columns");
  begin(&p, false);
  p.d.X.rows = -3;
  check(f, &p.d, "no size is below zero");
  begin(&p, false);
  p.d.X.val = NULL;
  check(f, &p.d, "its values are NULL");
  begin(&p, false);
  p.d.Y.val = NULL;
  check(f, &p.d, "Y is 1 x 12 and its values are NULL");
}

static void sparse_rows_lie_within(void **state)
{
  files *f = *state;
  problem p;
  static const int32_t rows[] = {-1, D, INT32_MAX};
  for (int i = 0; i < 3; i++) {
    begin(&p, true);
    p.row[9] = rows[i];
    check(f, &p.d, "sparse column 3 has a row outside 0 to 3");
  }
  begin(&p, true);
  p.start[5] = 2;
  check(f, &p.d, "begins behind its end");
  begin(&p, true);
  p.start[0] = -7;
  check(f, &p.d, "sparse column 1");
  begin(&p, true);
  p.d.X.rowidx = NULL;
  check(f, &p.d, "its values are NULL");
}

/* Each of its entries would be read as NaN: not known. */
static void text_is_no_numbers(void **state)
{
  files *f = *state;
  problem p;
  const char *word[D * N];
  double mean;
  lapis_map *map;
  for (int k = 0; k < D * N; k++) word[k] = k % 2 == 0 ? "no" : "yes";
  begin(&p, false);
  p.d.Y = lapis_mat_text(word, 1, N);
  check(f, &p.d, "Y is text where numbers are needed");
  CHECK_REFUSED(f,
                lapis_metric(f->ctx, "accuracy", &p.d.Y, &p.d.Y, NULL, &mean),
                LAPIS_EDATA, "truth");
  begin(&p, false);
  p.d.X = lapis_mat_text(word, D, N);
  check(f, &p.d, "X is text where numbers are needed");
  CHECK_OK(f, lapis_map_new(f->ctx, "standard", &map));
  CHECK_REFUSED(f, lapis_map_fit(f->ctx, map, &p.d.X), LAPIS_EDATA, "X");
  lapis_map_free(map);
}

/* As who thinks in rows hands it over. */
static void targets_that_are_turned_are_told(void **state)
{
  static const char *const name[] = {"mc",     "rr",    "rlda",  "svmplus",
                                     "linear", "trees", "misvm", "cv"};
  files *f = *state;
  problem p;
  int64_t fold[N];
  begin(&p, false);
  p.d.Y = lapis_mat_f64(p.Y, N, 1);
  for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
    const lapis_method *m = lapis_method_find(name[i]);
    lapis_solver *s = NULL;
    lapis_status got = m == NULL ? lapis_cv_draw(f->ctx, &p.d, NULL, fold)
                                 : lapis_solver_new(f->ctx, m, &p.d, NULL, &s);
    assert_null(s);
    CHECK_REFUSED(f, got, LAPIS_ESHAPE, "Y 12 1 X");
  }
}

int test_views(void)
{
#define CASE(name) \
  cmocka_unit_test_setup_teardown(name, files_setup, files_teardown)
  const struct CMUnitTest tests[] = {
      CASE(impossible_views_are_refused), CASE(sparse_rows_lie_within),
      CASE(text_is_no_numbers), CASE(targets_that_are_turned_are_told)};
  return run_cases(tests, NULL, NULL);
}
