/* One cell of the study of occluded faces (bench/papers/rr16.py), run again:
 * ORL, a black square over a fifth of every image, training and test. */
#include "command.h"

enum { SIDE = 32, D = SIDE * SIDE, PEOPLE = 40, EACH = 10, N = 200 };

typedef struct half {
  double X[D * N], Y[N];
} half;

static void read_images(lapis_arrays *all, const unsigned char **images)
{
  char path[4096];
  lapis_ctx *ctx = lapis_ctx_new();
  snprintf(path, sizeof path, "%s/orl32/orl32.npz", check_data());
  if (lapis_arrays_read(ctx, path, all) < 0)
    fail_msg("%s", lapis_ctx_error(ctx));
  lapis_ctx_free(ctx);
  const lapis_array *a = lapis_arrays_find(all, "images");
  assert_non_null(a);
  assert_int_equal(a->mat.dtype, LAPIS_U8);
  assert_int_equal(a->mat.cols, PEOPLE * EACH);
  *images = a->mat.val;
}

/* Image j in [0, 1], a square of 14 x 14 pixels black. */
static void cover(const unsigned char *image, uint64_t *seed, double *x)
{
  int top = (int)(19 * check_uniform(seed)),
      left = (int)(19 * check_uniform(seed));
  for (int i = 0; i < D; i++) {
    bool black = i / SIDE >= top && i / SIDE < top + 14 && i % SIDE >= left &&
                 i % SIDE < left + 14;
    x[i] = black ? 0 : image[i] / 255.0;
  }
}

/* Half of a person's images each: every other one, from a random start. */
static void split(const unsigned char *images, half *train, half *test)
{
  uint64_t seed = 2016;
  int n[2] = {0, 0};
  for (int person = 0; person < PEOPLE; person++) {
    int start = check_uniform(&seed) < 0.5;
    for (int k = 0; k < EACH; k++) {
      int which = (k + start) % 2;
      half *to = which == 0 ? train : test;
      cover(images + (person * EACH + k) * D, &seed, to->X + n[which] * D);
      to->Y[n[which]++] = person;
    }
  }
}

static void write_half(const command *c, const char *name, half *h)
{
  char path[160];
  lapis_named item[] = {{.name = "X", .mat = lapis_mat_f64(h->X, D, N)},
                        {.name = "Y", .mat = lapis_mat_f64(h->Y, 1, N)}};
  lapis_ctx *ctx = lapis_ctx_new();
  snprintf(path, sizeof path, "%s/%s", c->folder, name);
  assert_int_equal(lapis_arrays_write(ctx, path, "npz", item, 2), LAPIS_OK);
  lapis_ctx_free(ctx);
}

/* Per cent of the test images that a fit with these options gets right. */
static double accuracy(command *c, const char *fit, const char *predict)
{
  double mean;
  command_do(c, "fit rlda train.npz %s -q --model m.lapis", fit);
  command_do(c, "predict m.lapis test.npz %s -q -o p.npz", predict);
  command_do(c, "eval accuracy --truth test.npz --scores p.npz --json");
  lapis_json *v = command_json(c->out);
  mean = lapis_json_number(v, "mean", NAN);
  lapis_json_free(v);
  return 100 * mean;
}

static void filling_leads_under_a_square(void **state)
{
  lapis_arrays all;
  const unsigned char *images;
  command c;
  read_images(&all, &images);
  half *train = test_malloc(sizeof *train), *test = test_malloc(sizeof *test);
  split(images, train, test);
  lapis_arrays_free(&all);
  command_begin(&c);
  write_half(&c, "train.npz", train);
  write_half(&c, "test.npz", test);
  double ridge = accuracy(&c, "--denoise none --gamma 1", "");
  double rpca = accuracy(&c, "--denoise rpca --lambda .05 --tol 1e-3",
                         "--clean-weight 4 --tol 1e-3");
  double filled = accuracy(
      &c, "--denoise rpca --refill 3 --lambda .03 --tol 1e-3", "--tol 1e-3");
  print_message("ridge LDA %.1f, RPCA+LDA %.1f, filled %.1f\n", ridge, rpca,
                filled);
  CHECK_AT_LEAST(ridge, 45); /* the yardsticks are no straw men */
  CHECK_AT_LEAST(rpca, 65);
  CHECK_AT_LEAST(filled, rpca + 5);
  CHECK_AT_LEAST(filled, ridge + 5);
  test_free(train);
  test_free(test);
  command_end(&c);
}

int test_faces(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(filling_leads_under_a_square)};
  return run_cases(tests, NULL, NULL);
}
