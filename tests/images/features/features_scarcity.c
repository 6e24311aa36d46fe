/* Every k-th allocation of the library fails while images become features: no
 * crash, no leak, no half-made file, and a status that says so. */
#include "feature_case.h"
#include "scarce.h"

/* settings: %s is a vocabulary's file */
static lapis_status once(run *r, const char *kind, const char *settings,
                         const char *file)
{
  const lapis_method *m = lapis_feature_find(kind);
  void *set = calloc(1, m->settings_size);
  lapis_solver *s;
  const char *at = strstr(settings, "%s");
  (void)snprintf(r->text, sizeof r->text, "%.*s%s",
                 at == NULL ? 1000 : (int)(at - settings), settings,
                 at == NULL ? "" : file);
  set_all(r, m, set, r->text);
  lapis_status status =
      lapis_features_new(r->f->ctx, m, set, r->name, r->count, NULL, &s);
  assert_true((s == NULL) == (status < 0));
  if (status >= 0) status = lapis_solve(s);
  lapis_solver_free(s);
  free(set);
  return status;
}

typedef struct task {
  const char *kind, *settings;
} task;
static const task tasks[] = {
    {"pixels", "size=4x4"},
    {"color-moments", "grid=2"},
    {"luv-histogram", "bins=3"},
    {"hog", "size=16x16"},
    {"gist", "side=16 scales=2 orientations=2 blocks=2"},
    {"sift-bow", "words=4 levels=2 count=20 learn=30 save-vocabulary=%s"},
    {"sift-bow", "count=20 vocabulary=%s"},
    {"dense-sift-bow", "words=3 learn=30 bins=2,3 magnif=1"},
    {"texton-bow", "words=5 learn=60"},
    {"sift", "most=2 peak=0"},
};

static void a_missing_allocation_is_survived(void **state)
{
  run r = {.f = *state};
  char file[600];
  (void)snprintf(file, sizeof file, "%s/words.npz", r.f->folder);
  for (uint64_t i = 0; i < 2; i++) {
    lapis_image m = waves(14 + (int64_t)i, 12, i == 0 ? 3 : 1, i);
    add_image(&r, i == 0 ? "a.ppm" : "b.pgm", &m);
    free(m.pixels);
  }
  CHECK_OK(r.f, lapis_ctx_set(r.f->ctx, "threads", "1"));
  for (size_t t = 0; t < sizeof tasks / sizeof *tasks; t++) {
    if (!is_built(tasks[t].kind)) continue;
    long k = 0;
    do {
      scarce.failed = false;
      scarce.countdown = k++;
      lapis_status s = once(&r, tasks[t].kind, tasks[t].settings, file);
      scarce.countdown = -1;
      if (scarce.failed && s >= 0)
        fail_msg("%s: allocation %ld", tasks[t].kind, k);
      if (!scarce.failed) CHECK_OK(r.f, s);
      assert_true(k < 100000);
    } while (scarce.failed);
    print_message("%s: %ld allocations\n", tasks[t].kind, k - 1);
    assert_true(k > 5);
  }
}

int test_features_scarcity(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_missing_allocation_is_survived,
                                      files_setup, files_teardown),
  };
  return run_cases(tests, NULL, NULL);
}
