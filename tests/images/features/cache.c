/* What a cache of features holds is a foreign file: entries that no run wrote
 * are made again, with a line that says so, and the answer is the same. */
#include <glob.h>

#include "feature_case.h"
#include "remarks.h"

enum { IMAGES = 3 };

typedef struct shelf { /* a cache beside the images */
  run r;
  char folder[300];
  int said;
} shelf;

static void count_said(int level, const char *text, void *user)
{
  if (level == 0 && strstr(text, "made again") != NULL) ++*(int *)user;
}

static void begin(files *f, shelf *s)
{
  memset(s, 0, sizeof *s);
  s->r.f = f;
  (void)snprintf(s->folder, sizeof s->folder, "%s/kept", f->folder);
  for (int i = 0; i < IMAGES; i++) {
    char name[16];
    lapis_image m = waves(96, 80, 3, (uint64_t)(7 + i));
    (void)snprintf(name, sizeof name, "%d.ppm", i);
    add_image(&s->r, name, &m);
    free(m.pixels);
  }
  lapis_ctx_on_message(f->ctx, count_said, &s->said);
}

/* Every number that the kind publishes, one after the other. */
static double *numbers_of(shelf *s, const char *kind, void *settings,
                          int64_t *count)
{
  files *f = s->r.f;
  lapis_solver *solver;
  lapis_features_options o = {.size = sizeof o};
  double *all = NULL;
  o.cache = s->folder;
  *count = 0;
  CHECK_OK(f, lapis_features_new(f->ctx, lapis_feature_find(kind), settings,
                                 s->r.name, IMAGES, &o, &solver));
  CHECK_OK(f, lapis_solve(solver));
  for (int k = 0; lapis_result_name(solver, k) != NULL; k++) {
    lapis_mat m;
    CHECK_OK(f, lapis_result_get(solver, lapis_result_name(solver, k), &m));
    if (m.dtype == LAPIS_TEXT) continue;
    all = realloc(all, (size_t)(*count + m.rows * m.cols + 1) * sizeof *all);
    assert_non_null(all);
    for (int64_t j = 0; j < m.cols; j++)
      for (int64_t i = 0; i < m.rows; i++)
        all[(*count)++] = lapis_mat_at(&m, i, j);
  }
  lapis_solver_free(solver);
  return all;
}

static void entry_of(const shelf *s, char *path, size_t size)
{
  char pattern[400];
  glob_t found;
  (void)snprintf(pattern, sizeof pattern, "%s/*/*.npz", s->folder);
  assert_int_equal(glob(pattern, 0, NULL, &found), 0);
  assert_int_equal(found.gl_pathc, IMAGES);
  (void)snprintf(path, size, "%s", found.gl_pathv[1]);
  globfree(&found);
}

/* ---- what nobody wrote ---------------------------------------------------*/
static void put(lapis_mat *m, double v)
{
  int64_t last = m->rows * m->cols - 1;
  if (m->dtype == LAPIS_F64) ((double *)m->val)[last] = v;
  if (m->dtype == LAPIS_F32) ((float *)m->val)[last] = (float)v;
  if (m->dtype == LAPIS_I64) ((int64_t *)m->val)[last] = (int64_t)v;
}

/* Way number `way` to spoil array a; false: there is no such way. */
static bool spoil(lapis_named *item, int a, int way)
{
  static const double size[] = {-1, 0, 1e12};
  lapis_mat *m = &item[a].mat;
  bool is_score = strcmp(item[a].name, "a1") == 0 && m->dtype == LAPIS_F64;
  bool is_size = strcmp(item[a].name, "image_size") == 0;
  if (way < 3 && is_size) put(m, size[way]);
  if (way < 3 && m->dtype == LAPIS_F64) put(m, way == 1 ? INFINITY : NAN);
  if (way < 3 && m->dtype == LAPIS_F32) put(m, way == 1 ? -INFINITY : NAN);
  if (way < 3 && m->dtype == LAPIS_I64 && !is_size)
    put(m, way == 1 ? -1 : 9e15);
  if (way == 3) m->cols--;
  if (is_score && way % 2 == 0 && way < 3) return false; /* may be unknown */
  if (way == 4) m->ld = --m->rows;
  if (way == 5) m->dtype = m->dtype == LAPIS_F32 ? LAPIS_U8 : LAPIS_F32;
  return way < 6 && m->rows > 0 && m->cols > 0;
}

static void spoil_all(files *f, const char *kind, void *settings)
{
  shelf s;
  char path[600];
  lapis_arrays all;
  int64_t count, again;
  begin(f, &s);
  double *plain = numbers_of(&s, kind, settings, &count);
  assert_int_equal(s.said, 0);
  entry_of(&s, path, sizeof path);
  for (int a = 0;; a++)
    for (int way = 0; way < 6; way++) {
      lapis_named item[8];
      CHECK_OK(f, lapis_arrays_read(f->ctx, path, &all));
      for (int k = 0; k < all.count; k++)
        item[k] =
            (lapis_named){.name = all.item[k].name, .mat = all.item[k].mat};
      bool last = a >= all.count;
      bool spoilt = !last && spoil(item, a, way);
      if (spoilt)
        CHECK_OK(f, lapis_arrays_write(f->ctx, path, "npz", item, all.count));
      lapis_arrays_free(&all);
      if (last) goto done;
      if (!spoilt) continue;
      s.said = 0;
      double *now = numbers_of(&s, kind, settings, &again);
      if (s.said != 1) fail_msg("%s: array %d, way %d: taken", kind, a, way);
      assert_int_equal(again, count);
      assert_memory_equal(now, plain, (size_t)count * sizeof *now);
      free(now);
    }
done:
  free(plain);
  lapis_ctx_on_message(f->ctx, NULL, NULL);
}

static void what_nobody_wrote_is_made_again(void **state)
{
  files *f = *state;
  char line[700];
  lapis_gist_boxes_settings boxes;
  lapis_settings_default(lapis_feature_find("gist-boxes"), &boxes);
  boxes.candidates = 3;
  const struct {
    const char *kind;
    void *settings;
  } kinds[] = {{"pixels", NULL},       {"color-moments", NULL}, {"gist", NULL},
               {"gist-boxes", &boxes}, {"hog", NULL},           {"sift", NULL}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    if (k > 3 && !lapis_image_format_at(0)->built) continue;
    spoil_all(f, kinds[k].kind, kinds[k].settings);
    (void)snprintf(line, sizeof line, "rm -r %s/*", f->folder);
    assert_int_equal(system(line), 0);
  }
}

/* ---- who can write there -------------------------------------------------*/
static void count_others(int level, const char *text, void *user)
{
  if (level == 0 && strstr(text, OTHERS_CAN_WRITE) != NULL) ++*(int *)user;
}

static void a_folder_of_others_is_not_used(void **state)
{
  files *f = *state;
  shelf s;
  int64_t count;
  char line[700];
  begin(f, &s);
  lapis_ctx_on_message(f->ctx, count_others, &s.said);
  assert_int_equal(mkdir(s.folder, 0777), 0);
  assert_int_equal(chmod(s.folder, 0777), 0);
  free(numbers_of(&s, "pixels", NULL, &count));
  assert_int_equal(s.said, 1);
  assert_int_equal(rmdir(s.folder), 0); /* empty */
  free(numbers_of(&s, "pixels", NULL, &count));
  assert_int_equal(s.said, 1);
  struct stat made;
  assert_int_equal(stat(s.folder, &made), 0);
  assert_int_equal(made.st_mode & 077, 0);
  (void)snprintf(line, sizeof line, "chmod 777 %s/pixels-*", s.folder);
  assert_int_equal(system(line), 0);
  free(numbers_of(&s, "pixels", NULL, &count));
  assert_int_equal(s.said, 2);
  assert_int_equal(chmod(f->folder, 0777), 0); /* it could be exchanged whole */
  (void)snprintf(line, sizeof line, "chmod 700 %s/pixels-*", s.folder);
  assert_int_equal(system(line), 0);
  free(numbers_of(&s, "pixels", NULL, &count));
  assert_int_equal(s.said, 3);
  (void)snprintf(line, sizeof line, "rm -r %s", s.folder);
  assert_int_equal(system(line), 0);
}

int test_cache(void)
{
#define CASE(name) \
  cmocka_unit_test_setup_teardown(name, files_setup, files_teardown)
  const struct CMUnitTest tests[] = {CASE(what_nobody_wrote_is_made_again),
                                     CASE(a_folder_of_others_is_not_used)};
  return run_cases(tests, NULL, NULL);
}
