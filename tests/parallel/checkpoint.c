/* checkpoint.c - runs of several processes that are ended and go on
 * with another number of them: the answer of one that nobody disturbed. */
#include "files.h"
#include "model/model.h"
#include "ranks_case.h"
#include "remarks.h"

/* What before() needs: a checkpoint for each rank. */
typedef struct keeping {
  char path[300];
  const char *method;
  lapis_checkpoint *of[RANKS_MOST];
  lapis_status opened[RANKS_MOST];
} keeping;

static void open_one(ranks_part *part, void *settings, void *user)
{
  keeping *k = user;
  lapis_checkpoint **c = &k->of[part->rank];
  k->opened[part->rank] = part->made =
      lapis_checkpoint_new(part->ctx, k->path, lapis_method_find(k->method),
                           &part->data, settings, NULL, 0, c);
  checkpoint_every(*c, 0);
}

/* As the command does when a run ends: the last state is written. */
static void close_all(keeping *k, int size, bool finished)
{
  for (int r = 0; r < size; r++) {
    if (!finished && k->of[r] != NULL)
      assert_int_equal(lapis_checkpoint_write(k->of[r]), LAPIS_OK);
    lapis_checkpoint_free(k->of[r], finished);
    k->of[r] = NULL;
  }
}

static void run(ranks_job job, keeping *k, int size, int iterations,
                ranks_run *out)
{
  char settings[300];
  snprintf(settings, sizeof settings, "%s;max-iters=%d", job.settings,
           iterations);
  job.settings = settings;
  job.size = size;
  k->method = job.method;
  job.before = k->path[0] == '\0' ? NULL : open_one;
  job.user = k;
  ranks_solve(&job, out);
}

/* Half of all iterations by `before` processes, the rest by `after`. */
static void check_goes_on(ranks_job job, files *f, int all, int before,
                          int after, const ranks_run *whole,
                          const char *const *names)
{
  keeping k = {.path = ""};
  ranks_run half, rest;
  snprintf(k.path, sizeof k.path, "%s/run", f->folder);
  run(job, &k, before, all / 2, &half);
  if (half.part[0].solved < 0)
    fail_msg("%s", lapis_ctx_error(half.part[0].ctx));
  assert_int_equal(info_of(&half, 0)->iterations, all / 2);
  close_all(&k, before, false);
  assert_int_equal(access(k.path, F_OK), 0);
  ranks_free(&half);
  run(job, &k, after, all, &rest);
  check_same(&rest, whole, names, 1e-10);
  close_all(&k, after, true);
  assert_int_not_equal(access(k.path, F_OK), 0);
  ranks_free(&rest);
}

static void check_all(ranks_job job, files *f, int all,
                      const char *const *names)
{
  static const int from[][2] = {{4, 2}, {4, 1}, {1, 3}, {2, 7}, {3, 3}};
  keeping none = {.path = ""};
  ranks_run whole;
  run(job, &none, 1, all, &whole);
  for (int i = 0; i < 5; i++)
    check_goes_on(job, f, all, from[i][0], from[i][1], &whole, names);
  ranks_free(&whole);
}

static void completion_goes_on(void **state)
{
  files *f = *state;
  static const char *const names[] = {"low_rank", "sparse", "scores", "labels",
                                      NULL};
  sample_set *s = samples(12, 90, 0.2, 0);
  ranks_job job = {.method = "mc",
                   .settings = "mu-rel=0.05;tol=1e-12",
                   .whole = samples_view(s, true)};
  check_all(job, f, 20, names);
  for (int k = 0; k < 12 * 90; k++) s->X[k] = fabs(s->X[k]);
  job.settings = "variant=pos;mu-rel=0.05;tol=1e-12";
  check_all(job, f, 20, names);
  free(s);
}

static void factored_goes_on(void **state)
{
  files *f = *state;
  static const char *const names[] = {"low_rank", "sparse", NULL};
  sample_set *s = samples(40, 300, 0.4, 0);
  check_all((ranks_job){.method = "mc",
                        .settings = "solver=factored;mu-rel=0.05;tol=1e-14",
                        .whole = samples_view(s, false)},
            f, 20, names);
  free(s);
}

static void bordered_goes_on(void **state)
{
  files *f = *state;
  static const char *const names[] = {"low_rank", "scores", "labels", NULL};
  sample_set *s = samples(8, 200, 0, 0);
  for (int j = 0; j < 200; j++)
    if (j % 5 != 0) s->Y[j] = NAN;
  check_all((ranks_job){.method = "mc",
                        .settings = "solver=bordered;mu-rel=0.05;tol=1e-12",
                        .whole = samples_view(s, true)},
            f, 20, names);
  free(s);
}

static void robust_methods_go_on(void **state)
{
  files *f = *state;
  static const char *const parts[] = {"low_rank", "sparse", NULL};
  static const char *const names[] = {"low_rank", "scores", NULL};
  sample_set *s = samples(12, 90, 0.1, 0.05), *t = samples(12, 90, 0, 0.05);
  check_all((ranks_job){.method = "rpca",
                        .settings = "tol=1e-12",
                        .whole = samples_view(s, false)},
            f, 20, parts);
  for (int j = 0; j < 90; j++)
    t->Y[j] = t->X[12 * j] + t->X[12 * j + 1] > 0 ? 1 : -1;
  check_all((ranks_job){.method = "rr",
                        .settings = "tol=1e-12;denoise=joint",
                        .whole = samples_view(t, true)},
            f, 20, names);
  free(s);
  free(t);
}

static void margins_go_on(void **state)
{
  files *f = *state;
  static const char *const names[] = {"scores", "labels", NULL};
  sample_set *s = samples(12, 90, 0, 0);
  for (int j = 0; j < 90; j++) s->Y[j] = s->X[12 * j] > 0 ? 1 : -1;
  check_all((ranks_job){.method = "svmplus",
                        .settings = "solver=ipm;gamma=1;C=0.01",
                        .whole = samples_view(s, true)},
            f, 6, names);
  free(s);
}

/* The data of all processes are compared: one entry in one part is enough. */
static void what_is_of_another_run_is_refused(void **state)
{
  files *f = *state;
  keeping k = {.path = ""};
  ranks_run run_of;
  sample_set *s = samples(12, 90, 0, 0);
  ranks_job job = {.method = "rpca",
                   .settings = "tol=1e-12",
                   .whole = samples_view(s, false)};
  snprintf(k.path, sizeof k.path, "%s/run", f->folder);
  run(job, &k, 4, 4, &run_of);
  close_all(&k, 4, false);
  ranks_free(&run_of);
  for (int j = 0; j < 90; j += 89) { /* in the first part, in the last */
    s->X[12 * j] += 1;
    run(job, &k, 3, 8, &run_of);
    for (int r = 0; r < 3; r++) {
      const char *said = lapis_ctx_error(run_of.part[r].ctx);
      assert_int_equal(k.opened[r], LAPIS_EDATA);
      assert_null(k.of[r]);
      assert_non_null(strstr(said, OF_ANOTHER_RUN));
    }
    ranks_free(&run_of);
    s->X[12 * j] -= 1;
  }
  run(job, &k, 1, 8, &run_of);
  assert_int_equal(run_of.part[0].solved, LAPIS_MAX_ITERS);
  close_all(&k, 1, true);
  ranks_free(&run_of);
  free(s);
}

/* A file that anyone has changed: every process says so, and none waits. */
static void an_altered_file_is_refused_by_all(void **state)
{
  files *f = *state;
  keeping k = {.path = ""};
  ranks_run run_of;
  lapis_arrays all;
  lapis_named item[200];
  sample_set *s = samples(12, 90, 0, 0);
  ranks_job job = {.method = "rpca",
                   .settings = "tol=1e-12",
                   .whole = samples_view(s, false)};
  snprintf(k.path, sizeof k.path, "%s/run", f->folder);
  for (int way = 0; way < 2; way++) {
    run(job, &k, 2, 4, &run_of);
    close_all(&k, 2, false);
    ranks_free(&run_of);
    CHECK_OK(f, lapis_arrays_read(f->ctx, k.path, &all));
    for (int i = 0; i < all.count; i++) {
      item[i] = (lapis_named){
          .name = all.item[i].name, .flat = true, .mat = all.item[i].mat};
      if (strcmp(item[i].name, "solve/S") != 0) continue;
      if (way == 0) item[i].mat.cols--;                         /* too short */
      if (way == 1) ((double *)item[i].mat.val)[12 * 89] = NAN; /* of rank 2 */
    }
    CHECK_OK(f, lapis_arrays_write(f->ctx, k.path, "npz", item, all.count));
    lapis_arrays_free(&all);
    run(job, &k, 3, 8, &run_of);
    for (int r = 0; r < 3; r++) {
      const char *said = lapis_ctx_error(run_of.part[r].ctx);
      assert_int_equal(run_of.part[r].solved, LAPIS_EFORMAT);
      assert_non_null(strstr(
          said, way == 0 ? "solve/S holds 1079 numbers, this run has 1080"
                         : "of solve/S is not one that a run writes"));
    }
    close_all(&k, 3, true);
    ranks_free(&run_of);
  }
  free(s);
}

int test_checkpoint(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(completion_goes_on, files_setup,
                                      files_teardown),
      cmocka_unit_test_setup_teardown(factored_goes_on, files_setup,
                                      files_teardown),
      cmocka_unit_test_setup_teardown(bordered_goes_on, files_setup,
                                      files_teardown),
      cmocka_unit_test_setup_teardown(robust_methods_go_on, files_setup,
                                      files_teardown),
      cmocka_unit_test_setup_teardown(margins_go_on, files_setup,
                                      files_teardown),
      cmocka_unit_test_setup_teardown(what_is_of_another_run_is_refused,
                                      files_setup, files_teardown),
      cmocka_unit_test_setup_teardown(an_altered_file_is_refused_by_all,
                                      files_setup, files_teardown),
  };
  return run_cases(tests, NULL, NULL);
}
