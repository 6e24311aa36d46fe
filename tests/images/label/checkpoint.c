/* A race, and lapis label, that were killed or cancelled go on where they were,
 * and end with the bits of a run that nobody disturbed. */
#include <sys/wait.h>

#include "label_case.h"
#include "lapis/images.h"
#include "methods/auto/compare.h"

/* ---- a race -------------------------------------------------------------*/
enum { N = 90, D = 6, CLASSES = 3, FOLDS = 4, WORDS = 1 << 12 };
typedef struct problem {
  double X[D * N], Y[N];
} problem;

/* Three classes, or two; X with gaps, so that some candidates read what another
 * has filled. */
static void draw_problem(problem *p, int classes)
{
  uint64_t r = 9;
  for (int j = 0; j < N; j++) {
    int k = j % classes;
    for (int i = 0; i < D; i++) {
      double x = check_normal(&r) + 1.5 * (i % classes == k);
      p->X[j * D + i] = check_uniform(&r) < .15 ? NAN : x;
    }
    p->Y[j] = check_uniform(&r) < .3 ? NAN : k;
  }
}

typedef struct told { /* all that a race says, as numbers */
  int64_t count;
  double val[WORDS];
  int64_t shown; /* answers, as they came */
} told;

typedef struct watch {
  int64_t shown, last; /* answers; the process ends at the last, -1: never */
  lapis_checkpoint *kept;
} watch;

static bool count_answers(const lapis_progress *now, void *user)
{
  watch *w = user;
  if (strcmp(now->method, "auto") != 0) return true;
  if (w->shown++ < w->last || w->last < 0) return true;
  _exit(lapis_checkpoint_write(w->kept) < 0 ? 8 : 7);
}

static void add(told *t, const void *val, int64_t count)
{
  assert_true(t->count + count <= WORDS);
  memcpy(t->val + t->count, val, (size_t)count * sizeof(double));
  t->count += count;
}

/* The race of the problem, with or without a checkpoint. */
static void tell(problem *p, const char *path, int jobs, int64_t last, told *t)
{
  lapis_data d = {.X = lapis_mat_f64(p->X, D, N),
                  .Y = lapis_mat_f64(p->Y, 1, N)};
  lapis_mc_settings set = lapis_mc_defaults();
  auto_options o = {.mc = true, .linear = true, .trees = true};
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_checkpoint *c = NULL;
  comparison *race;
  watch w = {.last = last};
  static double held[CLASSES * N];
  memset(t, 0, sizeof *t);
  assert_int_equal(lapis_ctx_set(ctx, "threads", jobs > 1 ? "2" : "1"), 0);
  assert_int_equal(lapis_ctx_set(ctx, "jobs", jobs > 1 ? "2" : "1"), 0);
  lapis_ctx_on_progress(ctx, count_answers, &w);
  if (path != NULL)
    assert_int_equal(lapis_checkpoint_new(ctx, path, lapis_method_find("mc"),
                                          &d, &set, NULL, 0, &c),
                     LAPIS_OK);
  w.kept = c;
  assert_int_equal(comparison_run(ctx, &d, &set, &o, &race), LAPIS_OK);
  for (int i = 0; i < comparison_count(race); i++) {
    candidate_figures x = comparison_at(race, i);
    add(t, &x.loss, 1);
    add(t, &x.error, 1);
    add(t, &x.auroc, 1);
    add(t, &x.accuracy, 1);
  }
  int best = comparison_best(race, NULL);
  assert_true(best >= 0);
  assert_int_equal(comparison_hold_out(ctx, race, best, &d, FOLDS, held),
                   LAPIS_OK);
  add(t, held, N);
  t->shown = w.shown;
  comparison_free(race);
  lapis_checkpoint_free(c, true);
  lapis_ctx_free(ctx);
}

static void kill_at(problem *p, const char *path, int jobs, int64_t last)
{
  static told t;
  int status;
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    tell(p, path, jobs, last, &t);
    _exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(WEXITSTATUS(status), 7);
}

static void a_killed_race_ends_the_same(void **state)
{
  static problem p;
  static told whole, resumed;
  char path[160];
  command c;
  command_begin(&c);
  snprintf(path, sizeof path, "%s/race.ck", c.folder);
  for (int classes = room_all() ? 2 : CLASSES; classes <= CLASSES; classes++) {
    draw_problem(&p, classes);
    tell(&p, NULL, 1, -1, &whole);
    CHECK_AT_LEAST((double)whole.shown, 30);
    /* from the first answers to the last; three of four unless all are due */
    for (int k = room_all() ? 0 : 1; k < 4; k++) {
      int64_t last = k * (whole.shown - 4) / 3;
      int jobs = k == 2 ? 2 : 1;
      kill_at(&p, path, jobs, last);
      tell(&p, path, 1, -1, &resumed);
      assert_int_equal(resumed.count, whole.count);
      assert_memory_equal(resumed.val, whole.val,
                          (size_t)whole.count * sizeof(double));
      if (jobs == 1) /* else what was at hand is done again */
        CHECK_AT_MOST((double)resumed.shown, (double)(whole.shown - last));
      else
        CHECK_AT_MOST((double)resumed.shown, (double)whole.shown - 1);
      assert_int_not_equal(access(path, F_OK), 0); /* ended: gone */
    }
  }
  command_end(&c);
}

/* ---- lapis label --------------------------------------------------------*/
typedef struct shot { /* a run of label over the pictures of a command */
  char labels[160], kept[160], path[IMAGES][160];
  const char *paths[IMAGES];
  lapis_label_settings set;
  int64_t last; /* steps shown; the run is cancelled at the last, -1: never */
  int64_t shown;
} shot;

static bool count_steps(const lapis_progress *now, void *user)
{
  shot *s = user;
  if (!isnan(now->objective)) return true; /* an iteration: by the clock */
  return s->shown++ != s->last;
}

static void aim(shot *s, const command *c, int variant)
{
  memset(s, 0, sizeof *s);
  snprintf(s->labels, sizeof s->labels, "%s/labels.csv", c->folder);
  snprintf(s->kept, sizeof s->kept, "%s/label.ck", c->folder);
  for (int i = 0; i < IMAGES; i++) {
    snprintf(s->path[i], sizeof s->path[i], "%s/in/a%02d.pgm", c->folder, i);
    s->paths[i] = s->path[i];
  }
  lapis_settings_default(lapis_flow_find("label"), &s->set);
  s->set.labels = s->labels;
  s->set.features = "hog";
  s->set.variant = variant;
  s->set.no_cache = true;
  s->last = -1;
}

/* The status; every array of a run that ended into `all`, to be freed. */
static lapis_status shoot(shot *s, const command *c, lapis_arrays *all)
{
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_solver *f;
  char path[160];
  s->shown = 0;
  snprintf(path, sizeof path, "%s/all.npz", c->folder);
  lapis_ctx_on_progress(ctx, count_steps, s);
  assert_int_equal(lapis_label_new(ctx, s->paths, IMAGES, &s->set, &f), 0);
  lapis_status status = lapis_solve(f);
  if (status >= 0 && status != LAPIS_CANCELLED) {
    assert_int_equal(lapis_flow_write(f, LAPIS_FLOW_ARRAYS, path, NULL),
                     LAPIS_OK);
    assert_int_equal(lapis_arrays_read(ctx, path, all), LAPIS_OK);
  }
  lapis_solver_free(f);
  lapis_ctx_free(ctx);
  return status;
}

static void check_same(const lapis_arrays *a, const lapis_arrays *b)
{
  static const char *const name[] = {"scores", "held_out", "suspect_margin",
                                     "low_rank"};
  for (int k = 0; k < 4; k++) {
    const lapis_array *x = lapis_arrays_find(a, name[k]);
    const lapis_array *y = lapis_arrays_find(b, name[k]);
    assert_true((x == NULL) == (y == NULL));
    if (x == NULL) continue;
    assert_int_equal(x->mat.rows * x->mat.cols, y->mat.rows * y->mat.cols);
    assert_memory_equal(x->mat.val, y->mat.val,
                        (size_t)(x->mat.rows * x->mat.cols) * sizeof(double));
  }
}

/* Cancelled again and again, a few steps further each time. */
static void a_cancelled_label_goes_on(void **state)
{
  command c;
  static shot s;
  lapis_arrays whole, resumed;
  begin_stripes(&c, 2);
  write_labels(&c, (const char *const[]){"flat", "upright"}, 2, 16);
  for (int k = 0; k < (room_all() ? 3 : 1); k++) {
    int64_t all = 0, times = 0;
    aim(&s, &c, k == 1 ? 1 + LAPIS_MC_POS : LAPIS_LABEL_AUTO);
    if (k == 2) s.set.features = "auto";
    assert_int_equal(shoot(&s, &c, &whole), LAPIS_OK);
    int64_t steps = s.shown;
    s.set.checkpoint = s.kept;
    s.last = steps / 2;
    while (shoot(&s, &c, &resumed) == LAPIS_CANCELLED) {
      all += s.shown;
      assert_true(times++ < steps);
      assert_true(command_exists(&c, "label.ck"));
    }
    CHECK_AT_LEAST((double)times, 1);
    CHECK_AT_MOST((double)(all + s.shown), 2. * (double)steps);
    check_same(&whole, &resumed);
    assert_false(command_exists(&c, "label.ck"));
    lapis_arrays_free(&whole);
    lapis_arrays_free(&resumed);
  }
  command_end(&c);
}

/* ---- what is said -------------------------------------------------------*/
/* Trial fits in the file: those done, and all of them. */
static void count_fits(const command *c, int *done, int *all)
{
  lapis_arrays kept;
  command_arrays(c, "label.ck", &kept);
  *done = *all = 0;
  for (int i = 0; i < kept.count; i++) {
    const lapis_array *a = &kept.item[i];
    if (strstr(a->name, "/answered-") == NULL) continue;
    for (int64_t k = 0; k < a->mat.cols; k++)
      *done += lapis_mat_at(&a->mat, 0, k) > 0;
    *all += (int)a->mat.cols;
  }
  lapis_arrays_free(&kept);
}

static void leave_checkpoint(command *c, shot *s);
static void going_on_is_said(void **state)
{
  command c;
  static shot s;
  char said[160];
  int done, all;
  const char *plain = "label in --labels labels.csv --features hog --no-cache "
                      "--checkpoint label.ck";
  begin_stripes(&c, 2);
  write_labels(&c, (const char *const[]){"flat", "upright"}, 2, 16);
  leave_checkpoint(&c, &s);
  count_fits(&c, &done, &all);
  assert_true(done > 0 && done < all);
  shell(&c, "cp label.ck again.ck");
  command_do(&c, "%s", plain);
  snprintf(said, sizeof said,
           "lapis: label.ck: goes on where an earlier run stopped; done "
           "already: %d of the %d trial fits begun\n",
           done, all);
  assert_true(strncmp(c.err, said, strlen(said)) == 0);
  shell(&c, "mv again.ck label.ck");
  command_run(&c, "%s -q", plain);
  assert_string_equal(c.err, "");
  command_run(&c, "%s", plain); /* anew */
  assert_null(strstr(c.err, "goes on"));
  command_end(&c);
}

/* ---- files of others ----------------------------------------------------*/
/* Leaves label.ck of a run that was cancelled. */
static void leave_checkpoint(command *c, shot *s)
{
  lapis_arrays none;
  aim(s, c, LAPIS_LABEL_AUTO);
  s->set.checkpoint = s->kept;
  s->last = IMAGES + 12;
  assert_int_equal(shoot(s, c, &none), LAPIS_CANCELLED);
  assert_true(command_exists(c, "label.ck"));
}

static void another_run_is_refused(void **state)
{
  command c;
  static shot s;
  const char *plain =
      "label in --labels labels.csv --features hog --no-cache --checkpoint "
      "label.ck";
  begin_stripes(&c, 2);
  write_labels(&c, (const char *const[]){"flat", "upright"}, 2, 16);
  leave_checkpoint(&c, &s);
  command_run(&c, "%s --folds 5", plain);
  command_expect(&c, 4, "label.ck --folds 4 5");
  command_run(&c, "%s --size 32x32", plain); /* of features */
  command_expect(&c, 4, "label.ck X");
  write_labels(&c, (const char *const[]){"flat", "upright"}, 2, 15);
  command_run(&c, "%s", plain);
  command_expect(&c, 4, "label.ck Y");
  write_labels(&c, (const char *const[]){"flat", "upright"}, 2, 16);
  shell(&c, "mv in/a03.pgm t; mv in/a04.pgm in/a03.pgm; mv t in/a04.pgm");
  command_run(&c, "%s", plain);
  command_expect(&c, 4, "label.ck X");
  shell(&c, "mv in/a03.pgm t; mv in/a04.pgm in/a03.pgm; mv t in/a04.pgm");
  command_run(&c, "%s --suspects 3", plain); /* what decides is the same */
  command_expect(&c, 0, "");
  assert_false(command_exists(&c, "label.ck"));
  command_end(&c);
}

static void what_is_no_checkpoint_is_refused(void **state)
{
  command c;
  static shot s;
  begin_stripes(&c, 2);
  write_labels(&c, (const char *const[]){"flat", "upright"}, 2, 16);
  leave_checkpoint(&c, &s);
  shell(&c, "head -c 700 label.ck >cut.ck; echo nothing >text.ck; : >empty.ck");
  static const char *const name[] = {"cut.ck", "text.ck", "empty.ck"};
  for (int k = 0; k < 3; k++) {
    command_run(&c,
                "label in --labels labels.csv --features hog --no-cache "
                "--checkpoint %s -q",
                name[k]);
    command_expect(&c, 4, name[k]);
    assert_true(command_exists(&c, name[k]));
  }
  command_end(&c);
}

int test_checkpoint(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_killed_race_ends_the_same),
      cmocka_unit_test(a_cancelled_label_goes_on),
      cmocka_unit_test(going_on_is_said),
      cmocka_unit_test(another_run_is_refused),
      cmocka_unit_test(what_is_no_checkpoint_is_refused),
  };
  return run_cases(tests, NULL, NULL);
}
