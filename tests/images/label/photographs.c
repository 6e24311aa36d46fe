/* lapis label on photographs whose labels are missing and wrong as people's
 * are: nobody gives a setting, and the answer is good. */
#include "folds/rank.h"
#include "label_case.h"
#include "lapis/choose.h"

enum { PHOTOS = 591, KINDS = 23, COLUMNS = 21, DRAW = 6 };
typedef struct photos {
  bool truth[PHOTOS * COLUMNS], hidden[PHOTOS * COLUMNS];
} photos;

/* Two kinds of things hardly occur. */
static bool is_column(int kind)
{
  return kind != 4 && kind != 7;
}

/* labels.csv: 60 % of the cells are empty, a share of the others is wrong. */
static void write_table(const command *c, photos *p, const lapis_mat *labels,
                        const char *const *name, double wrong, uint64_t seed)
{
  char *table = calloc(PHOTOS + 1, 128), *at = table;
  assert_non_null(table);
  at += sprintf(at, "name");
  for (int k = 0; k < COLUMNS; k++) at += sprintf(at, ",c%d", k);
  for (int i = 0; i < PHOTOS; i++) {
    at += sprintf(at, "\n%s.png", name[i]);
    for (int kind = 0, k = COLUMNS * i; kind < KINDS; kind++) {
      if (!is_column(kind)) continue;
      p->truth[k] = lapis_mat_at(labels, kind, i) > 0;
      p->hidden[k] = check_uniform(&seed) < .6;
      bool flipped = check_uniform(&seed) < wrong;
      const char *given = p->truth[k] != flipped ? "1" : "0";
      at += sprintf(at, ",%s", p->hidden[k++] ? "" : given);
    }
  }
  sprintf(at, "\n");
  write_text(c, "labels.csv", table);
  free(table);
}

/* names.txt: the images in the order of their counts of textons. */
static void write_names(const command *c, const char *const *name)
{
  char *names = calloc(PHOTOS + 1, 32), *at = names;
  assert_non_null(names);
  for (int i = 0; i < PHOTOS; i++) at += sprintf(at, "%s.png\n", name[i]);
  write_text(c, "names.txt", names);
  free(names);
}

/* The mean over the columns of the AUROC of hidden cells. */
static double auroc_of_hidden(const photos *p, const lapis_mat *scores)
{
  lapis_ctx *ctx = lapis_ctx_new();
  double truth[PHOTOS], score[PHOTOS], sum = 0, area;
  int columns = 0;
  for (int k = 0; k < COLUMNS; k++) {
    int64_t n = 0, yes = 0;
    for (int i = 0; i < PHOTOS; i++) {
      if (!p->hidden[COLUMNS * i + k]) continue;
      truth[n] = p->truth[COLUMNS * i + k];
      yes += truth[n] > 0;
      score[n++] = lapis_mat_at(scores, k, i);
    }
    if (yes == 0 || yes == n) continue;
    assert_int_equal(metric_auroc(ctx, truth, score, n, &area), LAPIS_OK);
    sum += area;
    columns++;
  }
  lapis_ctx_free(ctx);
  return sum / columns;
}

/* One draw of what is missing and wrong. */
static double answer(command *c, photos *p, const lapis_arrays *data,
                     double wrong, uint64_t seed)
{
  lapis_arrays all;
  const char *const *name = lapis_arrays_find(data, "names")->mat.val;
  write_table(c, p, &lapis_arrays_find(data, "labels")->mat, name, wrong, seed);
  command_do(c, "label $(sed s,^,in/, names.txt) --labels labels.csv "
                "--features table:m.npz:bow --names names.txt --result r.npz "
                "--no-cache --suspects 0 --threads 1 -q");
  command_arrays(c, "r.npz", &all);
  double area = auroc_of_hidden(p, &lapis_arrays_find(&all, "scores")->mat);
  print_message("%.0f %% wrong: AUROC of hidden cells %.3f\n", 100 * wrong,
                area);
  lapis_arrays_free(&all);
  return area;
}

static void check_photographs(double wrong, double least)
{
  command c;
  lapis_arrays data;
  char line[400];
  const char *folder = check_data();
  photos *p = calloc(1, sizeof *p);
  assert_non_null(p);
  command_begin(&c);
  snprintf(line, sizeof line,
           "ln -s '%.150s/msrc_v2/msrc_v2.npz' m.npz && "
           "ln -s '%.150s/msrc_v2/images_half' in",
           folder, folder);
  shell(&c, line);
  command_arrays(&c, "m.npz", &data);
  write_names(&c, lapis_arrays_find(&data, "names")->mat.val);
  CHECK_AT_LEAST(answer(&c, p, &data, wrong, DRAW), least);
  lapis_arrays_free(&data);
  command_end(&c);
  free(p);
}

/* A usual logistic regression (roots of shares, standardised, C = .1) has .839
 * on this draw. */
static void photographs_are_told(void **state)
{
  check_photographs(.1, .84);
}

static void photographs_without_errors_are_told(void **state)
{
  check_photographs(0, .90);
}

int test_photographs(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(photographs_are_told),
      LONG(cmocka_unit_test(photographs_without_errors_are_told)),
  };
  return run_cases(tests, NULL, NULL);
}
