/* Every k-th allocation fails while pipelines run, those of the library and
 * their own: a status that says so, no crash, no leak, no half-made file. */
#include "feature_case.h"
#include "lapis/images.h"
#include "scarce.h"

/* The pipelines see what any program sees, and allocate as any program does. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
  return scarce_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
  return scarce_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
  return scarce_fails() ? NULL : __real_realloc(old, size);
}

/* ---- one run, from files to files ---------------------------------------*/
typedef lapis_status (*make_flow)(lapis_ctx *ctx, const run *r,
                                  const void *settings, lapis_solver **out);
typedef struct task {
  const char *name, *settings;
  make_flow make;
  const char *kind, *kind_settings; /* of features, for label */
  const char *table;                /* the file that settings name by %s */
} task;

static lapis_status make_label(lapis_ctx *ctx, const run *r, const void *set,
                               lapis_solver **out)
{
  return lapis_label_new(ctx, r->name, r->count, set, out);
}

static lapis_status make_match(lapis_ctx *ctx, const run *r, const void *set,
                               lapis_solver **out)
{
  return lapis_match_new(ctx, r->name, r->count, set, out);
}

static lapis_status make_locate(lapis_ctx *ctx, const run *r, const void *set,
                                lapis_solver **out)
{
  return lapis_locate_new(ctx, r->name, r->count, set, out);
}

typedef struct paths {
  char result[600], page[600], table[600];
} paths;

static lapis_status write_all(const lapis_solver *f, const task *t,
                              const paths *to)
{
  lapis_status s = lapis_flow_write(f, LAPIS_FLOW_ARRAYS, to->result, NULL);
  if (s >= 0) s = lapis_flow_write(f, LAPIS_FLOW_PAGE, to->page, "lapis");
  if (s >= 0) s = lapis_flow_write(f, LAPIS_FLOW_TABLE, to->table, NULL);
  if (s >= 0) s = lapis_flow_write(f, LAPIS_FLOW_SHEET, to->table, NULL);
  return s;
}

static lapis_status once(run *r, const task *t, const void *settings,
                         const paths *to)
{
  lapis_solver *f;
  lapis_status s = t->make(r->f->ctx, r, settings, &f);
  assert_true((f == NULL) == (s < 0));
  if (s >= 0) s = lapis_solve(f);
  if (s >= 0) s = write_all(f, t, to);
  lapis_solver_free(f);
  return s;
}

/* What stands in files under their names is whole. */
static void check_files(run *r, const paths *to)
{
  lapis_arrays all;
  if (access(to->result, F_OK) == 0) {
    CHECK_OK(r->f, lapis_arrays_read(r->f->ctx, to->result, &all));
    lapis_arrays_free(&all);
  }
  if (access(to->page, F_OK) == 0) {
    size_t size;
    unsigned char *text = files_get(to->page, &size);
    assert_memory_equal(text + size - 8, "</html>\n", 8);
    free(text);
  }
  (void)unlink(to->result);
  (void)unlink(to->page);
  (void)unlink(to->table);
  assert_int_equal(files_count(r->f, false), r->count + 1); /* and in.csv */
}

/* Allocations of a run; each has failed once. */
static long sweep(run *r, const task *t, const void *settings, const paths *to)
{
  for (long k = 0;; k += room_step(k)) {
    scarce.failed = false;
    scarce.countdown = k;
    lapis_status s = once(r, t, settings, to);
    scarce.countdown = -1;
    if (!scarce.failed) {
      CHECK_OK(r->f, s);
      assert_int_equal(access(to->result, F_OK), 0);
      assert_int_equal(access(to->page, F_OK), 0);
      return k;
    }
    if (s != LAPIS_ENOMEM)
      fail_msg("%s: allocation %ld: %d: %s", t->name, k, (int)s,
               lapis_ctx_error(r->f->ctx));
    check_files(r, to);
    assert_true(k < 200000);
  }
}

/* ---- the pipelines ------------------------------------------------------*/
#define LABELS "name,l\na,x\nb,y\nc,x\n"
static const task tasks[] = {
    {"label",
     "labels=%s features=pixels no-cache=true mu-rel=.1 lambda=.1 gamma=1 "
     "folds=2 suspects=2",
     make_label, "pixels", "size=4x4", LABELS},
    {"label",
     "labels=%s where=true no-cache=true mu-rel=.1 lambda=.1 gamma=1 "
     "suspects=0",
     make_label, "sift-bow", "words=4 levels=2 count=20 learn=30", LABELS},
    {"label",
     "labels=%s features=pixels,color-moments no-cache=true mu-rel=.1 "
     "lambda=.1 gamma=1 suspects=0",
     make_label, NULL, NULL, LABELS},
    {"match", "points=8 inliers=2 peak=0 no-cache=true", make_match, NULL, NULL,
     ""},
    {"match", "xy=%s inliers=2 no-cache=true", make_match, NULL, NULL,
     "a,9,9\na,4,4\nb,9,9\nb,5,7\nc,8,8\nc,2,9\nd,9,9\nd,7,2\n"},
    {"locate", "candidates=3 no-cache=true", make_locate, NULL, NULL, ""},
};

static void fill(run *r, const task *t, const char *table, void **settings,
                 void **kind, char *text)
{
  const lapis_method *m = lapis_flow_find(t->name);
  const char *at = strstr(t->settings, "%s");
  *settings = calloc(1, m->settings_size);
  (void)sprintf(text, "%.*s%s%s", at == NULL ? 0 : (int)(at - t->settings),
                t->settings, at == NULL ? "" : table,
                at == NULL ? t->settings : at + 2);
  set_all(r, m, *settings, text);
  if (t->kind == NULL) return;
  const lapis_method *features = lapis_feature_find(t->kind);
  *kind = calloc(1, features->settings_size);
  (void)snprintf(r->text, sizeof r->text, "%s", t->kind_settings);
  set_all(r, features, *kind, r->text);
  ((lapis_label_settings *)*settings)->kinds = (const void *const *)kind;
}

static void a_missing_allocation_is_survived(void **state)
{
  run r = {.f = *state};
  paths to;
  char table[600], text[2048];
  for (uint64_t i = 0; i < 4; i++) {
    char name[8];
    lapis_image m = waves(24, 20, i % 2 == 0 ? 3 : 1, i);
    (void)snprintf(name, sizeof name, "%c.pnm", (char)('a' + i));
    add_image(&r, name, &m);
    free(m.pixels);
  }
  files_put_text(r.f, "in.csv", "");
  (void)snprintf(table, sizeof table, "%s", r.f->path);
  (void)snprintf(to.result, sizeof to.result, "%s/r.npz", r.f->folder);
  (void)snprintf(to.page, sizeof to.page, "%s/page.html", r.f->folder);
  (void)snprintf(to.table, sizeof to.table, "%s/t.csv", r.f->folder);
  CHECK_OK(r.f, lapis_ctx_set(r.f->ctx, "threads", "1"));
  for (size_t t = 0; t < sizeof tasks / sizeof *tasks; t++) {
    void *settings = NULL, *kind = NULL;
    if (!is_built(tasks[t].make == make_match ? "sift" : "pixels")) continue;
    files_put_text(r.f, "in.csv", tasks[t].table);
    fill(&r, &tasks[t], table, &settings, &kind, text);
    long count = sweep(&r, &tasks[t], settings, &to);
    print_message("%s: %ld allocations\n", tasks[t].name, count);
    assert_true(count > 50);
    check_files(&r, &to);
    free(settings);
    free(kind);
  }
}

int test_flow_scarcity(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_missing_allocation_is_survived,
                                      files_setup, files_teardown),
  };
  return run_cases(tests, NULL, NULL);
}
