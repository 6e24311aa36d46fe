/* strangers.c - what a stranger's file makes the command do: nothing that was
 * not asked for. */
#include <fcntl.h>
#include <sys/inotify.h>

#include "command.h"
#include "lapis/methods.h"
#include "remarks.h"

/* A picture of 2 x 2, as "P5 ...". */
static void put_image(const command *c, const char *name)
{
  command_write(c, name, "P5\n2 2\n255\n\x10\x80\xff\x40", 15);
}

/* What lapis locate writes of two images with those names. */
static void put_result(const command *c, const char *name, const char *one,
                       const char *two)
{
  double match[] = {0, 1}, size[] = {2, 2, 2, 2};
  double boxes[] = {0, 0, 1, 1, 1, 0, 0, 1, 1, 1};
  const char *names[] = {one, two};
  char path[200];
  lapis_named item[] = {
      {.name = "match", .mat = lapis_mat_f64(match, 1, 2)},
      {.name = "boxes", .mat = lapis_mat_f64(boxes, 5, 2)},
      {.name = "image_size", .mat = lapis_mat_f64(size, 2, 2)},
      {.name = "names", .mat = lapis_mat_text(names, 1, 2), .flat = true}};
  lapis_ctx *ctx = lapis_ctx_new();
  (void)snprintf(path, sizeof path, "%s/%s", c->folder, name);
  assert_int_equal(lapis_arrays_write(ctx, path, "npz", item, 4), LAPIS_OK);
  lapis_ctx_free(ctx);
}

static int count(const char *text, const char *word)
{
  int n = 0;
  for (; (text = strstr(text, word)) != NULL; text++) n++;
  return n;
}

static void report(command *c, const char *more)
{
  command_run(c, "report result/r.npz -o page.html %s", more);
  if (c->code != 0) return;
  command_slurp(c, "page.html", c->out, sizeof c->out);
}

/* A result names images: those beside it are drawn, others only where their
 * folder is named; a link out of the folder leads out, too. */
static void a_result_shows_no_image_from_elsewhere(void **state)
{
  command c;
  char away[200], line[400];
  command_begin(&c);
  (void)snprintf(line, sizeof line, "cd %s && mkdir result result/in away",
                 c.folder);
  assert_int_equal(system(line), 0);
  put_image(&c, "result/in/a.pgm");
  put_image(&c, "away/b.pgm");
  (void)snprintf(away, sizeof away, "%s/away/b.pgm", c.folder);
  (void)snprintf(line, sizeof line, "ln -s %s %s/result/in/c.pgm", away,
                 c.folder);
  assert_int_equal(system(line), 0);
  int watch = inotify_init1(IN_NONBLOCK);
  assert_true(inotify_add_watch(watch, away, IN_OPEN) >= 0);
  const char *outside[] = {away, "result/../away/b.pgm", "away/b.pgm",
                           "result/in/c.pgm"};
  for (int k = 0; k < 4; k++) {
    char event[4096];
    put_result(&c, "result/r.npz", "result/in/a.pgm", outside[k]);
    report(&c, "");
    command_expect(&c, 0, "1 image left empty");
    assert_int_equal(count(c.out, "data:image"), 1);
    put_result(&c, "result/r.npz", outside[k], outside[k]);
    report(&c, "");
    command_expect(&c, 4, "--images FOLDER");
    assert_true(read(watch, event, sizeof event) < 0);
  }
  put_result(&c, "result/r.npz", away, "nowhere/b.pgm");
  report(&c, "--images away");
  command_expect(&c, 0, "");
  assert_int_equal(count(c.out, "data:image"), 2);
  put_result(&c, "result/r.npz", "result/in/a.pgm", "result/in/gone.pgm");
  report(&c, "");
  command_expect(&c, 0, "");
  assert_int_equal(count(c.out, "data:image"), 1);
  (void)close(watch);
  command_run(&c, "report result/answers.csv -o page.html");
  command_expect(&c, 4, HOLDS_ANSWERS_ALONE);
  command_end(&c);
}

/* A line that declares any width takes no memory for it, unless it is meant. */
static void a_wide_line_is_not_made_dense(void **state)
{
  static const char svm[] = "1 1:1 100000000:1\n2 2:1\n";
  static const char small[] = "1 1:1 9000000:1\n2 2:1\n";
  static const char triplets[] = "1,1,1\n2,1000000000,2\n";
  const lapis_method *m;
  command c;
  command_begin(&c);
  command_write(&c, "wide.svm", svm, sizeof svm - 1);
  command_write(&c, "small.svm", small, sizeof small - 1);
  command_write(&c, "t.csv", triplets, sizeof triplets - 1);
  for (int i = 0; (m = lapis_method_at(i)) != NULL; i++) {
    command_run(&c, "fit %s wide.svm -o o.npz -q", m->name);
    if (c.code == 0) fail_msg("%s takes it", m->name);
    assert_int_equal(count(c.err, "\n"), 1);
  }
  command_run(&c, "fit linear wide.svm -o o.npz");
  command_expect(&c, 1, "allows it (MB)");
  static const char *const ways[] = {
      "linear --map scale:auto",
      "linear --map impute",
      "linear --map balance",
      "svmplus --map chi2",
      "svmplus --scale standard",
      "mc --absent missing",
      "mc --absent missing --solver admm --mu-rel .1"};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    command_run(&c, "fit %s wide.svm -o o.npz -q", ways[i]);
    command_expect(&c, 1, "--max-unfold");
  }
  command_run(&c, "convert t.csv o.csv --triplets 1");
  command_expect(&c, 1, "--max-unfold");
  command_run(&c, "convert small.svm o.npy");
  command_expect(&c, 1, "--max-unfold 144");
  command_do(&c, "convert small.svm o.npy --max-unfold 144");
  command_do(&c, "convert t.csv o.npz --triplets 1"); /* stays sparse */
  command_end(&c);
}

int test_strangers(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_wide_line_is_not_made_dense),
      cmocka_unit_test(a_result_shows_no_image_from_elsewhere)};
  return run_cases(tests, NULL, NULL);
}
