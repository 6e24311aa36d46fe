/* What a pipeline answers with is what its rows say: with labels of two
 * classes, three, and several of an image, settings given and chosen, images
 * left out; and every row is met. */
#include "feature_case.h"
#include "result_rows.h"

enum { IMAGES = 14 };
typedef struct task {
  const char *pipeline, *settings;
  const char *kind, *kind_settings; /* of features, for label */
  const char *table;                /* the file that settings name by %s */
} task;

#define GIVEN "labels=%s no-cache=true mu-rel=.1 lambda=.1 gamma=1 "
#define TWO "name,l\na,x\nb,y\nc,x\nd,y\ne,x\nf,y\ng,x\nh,y\ni,x\nj,y\n"
#define THREE "name,l\na,x\nb,y\nc,z\nd,y\ne,x\nf,z\ng,x\nh,y\ni,z\nj,y\n"
#define MANY "name,l,m\na,1,0\nb,0,1\nc,1,\nd,0,0\ne,1,1\nf,0,1\ng,1,0\nh,0,1\n"
#define POINTS "name,x,y,point\na,6,6,eye\na,16,12,nose\na,10,15,ear\n"
#define WORDS "words=4 levels=2 count=20 learn=30"
static const task tasks[] = {
    {"label", GIVEN "features=pixels folds=2", "pixels", "size=4x4", TWO},
    {"label", GIVEN "features=pixels folds=2", "pixels", "size=4x4", MANY},
    {"label", "labels=%s features=pixels no-cache=true", "pixels", "size=4x4",
     TWO},
    {"label", "labels=%s features=pixels no-cache=true", "pixels", "size=4x4",
     THREE},
    {"label",
     "labels=%s features=auto candidates=linear no-cache=true coverage=.5 "
     "ask=2",
     NULL, NULL, TWO},
    {"label", GIVEN "features=pixels suspects=0 keep-going=true target=l",
     "pixels", "size=4x4", TWO "other,x\n"},
    {"label", GIVEN "where=true suspects=0", "sift-bow", WORDS, TWO},
    {"label", GIVEN "where=true suspects=0", "sift-bow", WORDS, THREE},
    {"match", "points=8 peak=0 no-cache=true keep-going=true", NULL, NULL, ""},
    {"match", "points=8 inliers=2 peak=0 no-cache=true", NULL, NULL, ""},
    {"match", "first=%s grid=4 no-cache=true", NULL, NULL, POINTS},
    {"locate", "candidates=3 no-cache=true keep-going=true", NULL, NULL, ""},
    {"locate", "candidates=3 no-cache=true look=gist", NULL, NULL, ""},
};

static void add_images(run *r)
{
  for (uint64_t i = 0; i < IMAGES; i++) {
    char name[8];
    lapis_image m = waves(24, 20, i % 2 == 0 ? 3 : 1, i % 5);
    (void)snprintf(name, sizeof name, "%c.pnm", (char)('a' + i));
    add_image(r, name, &m);
    free(m.pixels);
  }
  files_put_text(r->f, "bad.pnm", "P5 16 16 255\n"); /* cut off */
}

/* text stays as long as the settings, which point into it. */
static void *settings_of(run *r, const lapis_method *m, char *text)
{
  void *set = calloc(1, m->settings_size);
  set_all(r, m, set, text);
  return set;
}

static void check_task(run *r, const task *t, bool *seen)
{
  char table[600], text[1024], of_kind[128], who[256];
  const lapis_method *m = lapis_flow_find(t->pipeline);
  lapis_solver *s;
  lapis_mat names;
  void *kind = NULL;
  files_put_text(r->f, "in.csv", t->table);
  (void)snprintf(table, sizeof table, "%s/in.csv", r->f->folder);
  (void)snprintf(text, sizeof text, t->settings, table);
  int count = r->count - (strstr(text, "keep-going") == NULL);
  void *set = settings_of(r, m, text);
  if (t->kind != NULL) {
    (void)snprintf(of_kind, sizeof of_kind, "%s", t->kind_settings);
    kind = settings_of(r, lapis_feature_find(t->kind), of_kind);
    ((lapis_label_settings *)set)->kinds = (const void *const *)&kind;
  }
  CHECK_OK(r->f, lapis_flow_new(r->f->ctx, m, r->name, count, set, &s));
  CHECK_OK(r->f, lapis_solve(s));
  CHECK_OK(r->f, lapis_result_get(s, "names", &names));
  symbols n = {.count = 0};
  define(&n, "n", names.cols);
  (void)snprintf(who, sizeof who, "%s %s", t->pipeline, t->settings);
  check_answer(r->f, s, m, lapis_result_settings(s), 0, n, who, seen);
  CHECK_REFUSED(r->f, lapis_solve(s), LAPIS_EINVAL, "has run already");
  lapis_solver_free(s);
  free(kind);
  free(set);
}

static void results_are_what_the_tables_say(void **state)
{
  static const char *const pipeline[] = {"label", "match", "locate"};
  static bool seen[3][ROWS];
  run r = {.f = *state};
  add_images(&r);
  add_path(&r, "bad.pnm");
  for (size_t t = 0; t < sizeof tasks / sizeof *tasks; t++)
    for (int k = 0; k < 3; k++)
      if (strcmp(tasks[t].pipeline, pipeline[k]) == 0)
        check_task(&r, &tasks[t], seen[k]);
  for (int k = 0; k < 3; k++) {
    const lapis_method *m = lapis_flow_find(pipeline[k]);
    const lapis_result_row *row;
    for (int i = 0; (row = lapis_method_result(m, i)) != NULL; i++)
      if (!seen[k][i] && strcmp(row->name, "notes") != 0)
        fail_msg("%s: nothing was ever called %s", m->name, row->name);
  }
}

int test_flow_results(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
      results_are_what_the_tables_say, files_setup, files_teardown)};
  return run_cases(tests, NULL, NULL);
}
