/* Figures that the pages give beside the papers' (docs/errata.md), once more.
 */
#include "command.h"

#define FACES LAPIS_TREE "/data/cmu_faces/faces.npz"

static double auroc(command *c, const char *file)
{
  double area = 0;
  command_do(c, "eval auroc --truth %s:hidden --scores %s", FACES, file);
  assert_int_equal(sscanf(c->out, "auroc %lf", &area), 1);
  return area;
}

/* MC-4: the papers run mu down to 1e-9. */
static void mu_decides(void **state)
{
  command c;
  command_begin(&c);
  static const struct {
    const char *mu;
    double area;
  } rows[] = {{"-rel .02", .967}, {" 1e-9", .953}};
  for (int i = 0; i < 2; i++) {
    command_do(&c,
               "fit mc -X %s:counts -Y %s:known --map sqrt --lambda .1 "
               "--gamma 3 --mu%s -q -o f.npz",
               FACES, FACES, rows[i].mu);
    CHECK_NEAR(auroc(&c, "f.npz"), rows[i].area, 5e-4);
  }
  command_end(&c);
}

int test_papers(void)
{
  const struct CMUnitTest tests[] = {LONG(cmocka_unit_test(mu_decides))};
  return run_cases(tests, NULL, NULL);
}
