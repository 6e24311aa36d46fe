/* Nothing given is dropped without a word: each option of each verb and method
 * changes the answer, or is refused in one sentence, or is named in a line. */
#include "check.h"
#include "command.h"

enum { N = 36, D = 5, IMAGES = 4, POINTS = 12, MANY = 400 };

/* ---- data ---------------------------------------------------------------*/
static void write_table(const command *c)
{
  char path[512];
  uint64_t seed = 3;
  snprintf(path, sizeof path, "%s/t.csv", c->folder);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f, "who,a,b,c,d,e,two,y,bag\n");
  for (int j = 0; j < N; j++) {
    double x[D];
    for (int i = 0; i < D; i++) x[i] = check_normal(&seed);
    x[1] = .7 * x[0] + .5 * x[1];
    int y = x[0] - .5 * x[2] + .8 * check_normal(&seed) > 0;
    fprintf(f, "s%d,%.3f,%.3f,%.3f,%.3f,%.3f,%d,%d,%d\n", j, x[0], x[1], x[2],
            x[3], x[4], check_uniform(&seed) > .5, y, j / 3);
  }
  fclose(f);
}

/* A file of one array, n rows of d. */
static void write_array(const command *c, const char *name, int n, int d,
                        int kind)
{
  char path[512];
  static double v[N * D * 4];
  uint64_t seed = 5 + (uint64_t)kind;
  lapis_ctx *ctx = lapis_ctx_new();
  snprintf(path, sizeof path, "%s/%s", c->folder, name);
  for (int k = 0; k < n * d; k++)
    v[k] = kind == 1   ? k % 2
           : kind == 2 ? k / 3
           : kind == 3 ? 1 + k % 3
           : kind == 4 ? k / 3 % 2
                       : check_normal(&seed);
  lapis_named item = {
      .name = "X", .mat = lapis_mat_f64(v, d, n), .flat = d == 1};
  assert_int_equal(lapis_arrays_write(ctx, path, "npy", &item, 1), 0);
  lapis_ctx_free(ctx);
}

/* The table as a container, with all members. */
static void write_container(const command *c, const char *name, bool all)
{
  char path[512];
  double X[N * D], Y[2 * N], P[2 * N], xy[2 * N], weight[N];
  int64_t group[N];
  static const char *const titles[] = {"first", "second"};
  uint64_t seed = 3;
  lapis_ctx *ctx = lapis_ctx_new();
  for (int j = 0; j < N; j++) {
    for (int i = 0; i < D; i++) X[j * D + i] = check_normal(&seed);
    Y[2 * j] = X[j * D] + .5 * check_normal(&seed) > 0;
    Y[2 * j + 1] = X[j * D + 1] + .5 * check_normal(&seed) > 0;
    for (int i = 0; i < 2; i++) P[2 * j + i] = xy[2 * j + i] = X[j * D + i];
    group[j] = j / 3;
    weight[j] = 1 + j % 3;
  }
  lapis_named item[] = {
      {.name = "X", .mat = lapis_mat_f64(X, D, N)},
      {.name = "Y", .mat = lapis_mat_f64(Y, 2, N)},
      {.name = "target_names",
       .mat = lapis_mat_text(titles, 1, 2),
       .flat = true},
      {.name = "P", .mat = lapis_mat_f64(P, 2, N)},
      {.name = "xy", .mat = lapis_mat_f64(xy, 2, N)},
      {.name = "group", .mat = lapis_mat_i64(group, 1, N), .flat = true},
      {.name = "weight", .mat = lapis_mat_f64(weight, 1, N), .flat = true}};
  snprintf(path, sizeof path, "%s/%s", c->folder, name);
  assert_int_equal(lapis_arrays_write(ctx, path, "npz", item, all ? 7 : 3), 0);
  lapis_ctx_free(ctx);
}

/* Points of images, which repeat with noise. */
static void write_points(const command *c)
{
  char path[512];
  enum { ALL = IMAGES * POINTS };
  double X[ALL * 4], xy[ALL * 2];
  int64_t group[ALL];
  uint64_t seed = 9;
  lapis_ctx *ctx = lapis_ctx_new();
  for (int k = 0; k < POINTS; k++)
    for (int i = 0; i < 4; i++) X[4 * k + i] = check_normal(&seed);
  for (int j = 0; j < ALL; j++) {
    group[j] = j / POINTS;
    for (int i = 0; i < 4 && j >= POINTS; i++)
      X[4 * j + i] = X[4 * (j % POINTS) + i] + .3 * check_normal(&seed);
    for (int i = 0; i < 2; i++) xy[2 * j + i] = X[4 * j + i];
  }
  lapis_named item[] = {
      {.name = "X", .mat = lapis_mat_f64(X, 4, ALL)},
      {.name = "xy", .mat = lapis_mat_f64(xy, 2, ALL)},
      {.name = "group", .mat = lapis_mat_i64(group, 1, ALL), .flat = true}};
  snprintf(path, sizeof path, "%s/points.npz", c->folder);
  assert_int_equal(lapis_arrays_write(ctx, path, "npz", item, 3), 0);
  lapis_named plane[] = {{.name = "X", .mat = lapis_mat_f64(xy, 2, ALL)},
                         item[2]};
  snprintf(path, sizeof path, "%s/plane.npz", c->folder);
  assert_int_equal(lapis_arrays_write(ctx, path, "npz", plane, 2), 0);
  lapis_ctx_free(ctx);
}

static void write_all(command *c)
{
  command_begin(c);
  write_table(c);
  write_array(c, "y.npy", N, 1, 1);
  write_array(c, "P.npy", N, 2, 0);
  write_array(c, "P2.npy", N, 2, 8);
  write_array(c, "kind.npy", N, 1, 1);
  write_array(c, "bag.npy", N, 1, 2);
  write_array(c, "of_bag.npy", N, 1, 4);
  write_array(c, "weight.npy", N, 1, 3);
  write_array(c, "xy.npy", N, 2, 0);
  write_array(c, "T.npy", 1, D + 1, 0);
  write_array(c, "W.npy", 2, 2, 3);
  write_array(c, "dictionary.npy", 8, D, 0);
  write_container(c, "plain.npz", false);
  write_container(c, "all.npz", true);
  write_points(c);
  command_run(c, "convert t.csv s.svm --target y --drop who");
}

/* ---- what a run answers -------------------------------------------------*/
/* All that was found, and not how it was written down or how long it took. */
typedef struct answer {
  int code;
  uint64_t hash, fit; /* fit: without what its model predicts */
  char err[4096];
} answer;

static void hash_file(const command *c, const char *name, answer *a)
{
  char path[512];
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_arrays all;
  snprintf(path, sizeof path, "%s/%s", c->folder, name);
  if (access(path, R_OK) == 0 && lapis_arrays_read(ctx, path, &all) >= 0) {
    for (int i = 0; i < all.count; i++) {
      const char *text = all.item[i].name;
      if (strcmp(text, "lapis") == 0) continue; /* of a model: its settings */
      if (strncmp(text, "history", 7) == 0) continue;
      for (; *text != '\0'; text++) a->hash = a->hash * 31 + (uint8_t)*text;
      a->hash = a->hash * 31 + lapis_mat_hash(&all.item[i].mat);
      a->hash = a->hash * 31 + (uint64_t)all.item[i].mat.cols;
      for (int64_t k = 0;
           all.item[i].mat.dtype == LAPIS_TEXT && k < all.item[i].mat.cols; k++)
        for (text = ((const char *const *)all.item[i].mat.val)[k];
             *text != '\0'; text++)
          a->hash = a->hash * 31 + (uint8_t)*text;
    }
    lapis_arrays_free(&all);
  }
  unlink(path);
  lapis_ctx_free(ctx);
}

/* Numbers before " s" are times. */
static void hash_text(const char *at, answer *a)
{
  while (*at != '\0') {
    size_t number = strspn(at, "0123456789.");
    bool time = number > 0 && strncmp(at + number, " s", 2) == 0;
    for (size_t k = 0; k < (number > 0 ? number : 1); k++)
      if (!time) a->hash = a->hash * 31 + (uint8_t)at[k];
    at += number > 0 ? number : 1;
  }
}

static void hash_predictions(command *c, const char *base, answer *a)
{
  const char *data = strstr(base, ".svm") != NULL   ? "s.svm"
                     : strstr(base, ".npz") != NULL ? "points.npz"
                                                    : "t.csv";
  command_run(c, "predict o.lapis %s --quiet -o p.npz", data);
  hash_text(c->out, a);
  hash_file(c, "o.lapis", a);
  hash_file(c, "p.npz", a);
}

/* "fit ...": also what its model answers, unless the fit differs already from
 * plain (NULL: nothing to compare with). */
static answer run(command *c, const char *base, const char *more,
                  const answer *plain)
{
  answer a = {.hash = 7};
  bool fit = strncmp(base, "fit", 3) == 0, cv = strncmp(base, "cv", 2) == 0;
  bool model = fit && strncmp(base, "fit clean", 9) != 0 &&
               strstr(base, " fpc") == NULL && strstr(base, " embed") == NULL &&
               strstr(base, "coordinates") == NULL;
  bool convert = strncmp(base, "convert", 7) == 0;
  a.code =
      command_run(c, "%s %s %s %s", base, more, cv || convert ? "" : "-o o.npz",
                  model ? "--model o.lapis" : "");
  snprintf(a.err, sizeof a.err, "%.4000s", c->err);
  hash_text(c->out, &a);
  hash_file(c, "o.npz", &a);
  a.fit = a.hash;
  if (model && a.code == 0 && (plain == NULL || a.fit == plain->fit))
    hash_predictions(c, base, &a);
  return a;
}

static int lines_of(const char *text)
{
  int lines = 0;
  for (; *text != '\0'; text++) lines += *text == '\n';
  return lines;
}

/* Refused, in one sentence. */
static bool is_refused(const answer *a)
{
  return a->code > 1 && a->code < 5 && lines_of(a->err) == 1;
}

/* ---- settings -----------------------------------------------------------*/
/* Of these nothing else is to be seen than how long it takes, or how much
 * memory, where the problem is small. */
static bool is_aside(const char *name)
{
  static const char *const all[] = {"time-limit", "max-iters", "tol",
                                    "cache",      "dense",     "proof"};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    if (strcmp(all[k], name) == 0) return true;
  return false;
}

/* The k-th value to try, other than the default; false: no more. */
static bool value_of(const lapis_param *p, int k, char *to, size_t size)
{
  static const struct {
    const char *name, *value;
  } files[] = {{"weight", "W.npy"},     {"weight", "paper"},
               {"weight", ".3"},        {"fix-weights", "T.npy"},
               {"dictionary", "t.csv"}, {"start", "first"},
               {"invariance", "shift"}, {"map", "l1"},
               {"map", "standard"},     {"candidates", "linear"}};
  static const double factor[] = {.2, .6, 5, 0};
  if (p->type == LAPIS_PARAM_TEXT) {
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
      if (strcmp(files[i].name, p->name) == 0 && k-- == 0)
        return snprintf(to, size, "%s", files[i].value) > 0;
    return false;
  }
  if (p->type == LAPIS_PARAM_BOOL) return snprintf(to, size, "true"), k == 0;
  if (p->type == LAPIS_PARAM_ENUM) {
    const char *at = p->choices;
    for (; k > 0 && at != NULL; k--) {
      at = strchr(at, '|');
      at = at == NULL ? NULL : at + 1;
    }
    if (at == NULL) return false;
    return snprintf(to, size, "%.*s", (int)strcspn(at, "|"), at) > 0;
  }
  if (k >= 4) return false;
  double from = isfinite(p->value) && p->value != 0 ? p->value : 1;
  double v = fabs(from) * factor[k];
  if (p->type == LAPIS_PARAM_INT)
    v = p->value == 0 || p->value == 1 ? 2 + k : fmax(ceil(v), 1 + k);
  if (v < p->low) v = p->low + (double)k;
  if (v > p->high) v = p->high;
  return snprintf(to, size, "%.10g", v) > 0;
}

/* Bases: what is asked about is added to each. */
static const char *const fits[] = {
    "fit mc t.csv --target y --id who --drop bag --mu-rel .1",
    "fit mc t.csv --target y --id who --drop bag --mu-rel .1 --solver admm",
    "fit mc t.csv --target y --id who --drop bag,d --mu-rel .01 --solver fpc",
    "fit mc t.csv --target y --id who --drop bag --mu-rel .1 --solver factored",
    "fit mc t.csv --id who --drop bag --mu-rel .1",
    "fit mc t.csv --use two,bag --target y --mu-rel .1",
    "fit mc t.csv --target y --id who --drop bag --mu .05",
    "fit mc s.svm --mu-rel .1",
    "fit mc t.csv --target y --id who --drop bag --solver factored",
    "fit auto t.csv --target y --id who --drop bag",
    "fit auto t.csv --target y --id who --drop bag --coverage .8",
    "fit auto t.csv --use two,bag --target y --candidates mc",
    "fit auto t.csv --target y --id who --drop bag --candidates mc",
    "fit auto s.svm --candidates mc",
    "fit auto t.csv -Y of_bag.npy --id who --drop y,bag -G bag.npy",
    "fit rpca t.csv --id who --drop bag",
    "fit rpca t.csv --id who --drop bag --refill 2",
    "fit clean t.csv --id who --use a,b,c,d,e --dictionary dictionary.npy",
    "fit clean t.csv --id who --use a,b,c,d,e --dictionary dictionary.npy "
    "--joint",
    "fit rr t.csv --target a --id who --drop bag",
    "fit rr t.csv --target a --id who --drop bag --lambda .3 --eta 5",
    "fit rr t.csv --target a,b --id who --drop bag --weight W.npy",
    "fit rr t.csv --target a --id who --drop bag --refill 2",
    "fit rlda t.csv --target y --id who --drop bag --refill 2",
    "fit clean t.csv --id who --use a,b,c,d,e --dictionary dictionary.npy "
    "--refill 2",
    "fit rr t.csv --target a --id who --drop bag --denoise none",
    "fit rr t.csv --target a --id who --use b,c,d,e,y --fix-weights T.npy",
    "fit rlda t.csv --target y --id who --drop bag",
    "fit rlda t.csv --target y --id who --drop bag --denoise rpca",
    "fit rlda t.csv --target y --id who --drop bag --denoise none",
    "fit svmplus t.csv --target y --id who --drop bag",
    "fit svmplus t.csv --target y --id who --drop bag -P P.npy",
    "fit svmplus t.csv --target y --id who --drop bag -P P.npy --kernel rbf "
    "--kernel-priv rbf --gamma 1",
    "fit svmplus t.csv --target y --id who --drop bag --formulation original",
    "fit misvm t.csv -Y of_bag.npy --id who --drop y,bag -G bag.npy --C 1",
    "fit misvm t.csv -Y of_bag.npy --id who --drop y,bag -G bag.npy --kernel "
    "linear",
    "fit misvm t.csv -Y of_bag.npy --id who --drop y,bag -G bag.npy -P P.npy "
    "--kernel-priv rbf --C 1",
    "fit linear t.csv --target y --id who --drop bag",
    "fit trees t.csv --target y --id who --drop bag --trees 9",
    "fit roml points.npz",
    "fit roml points.npz --inliers 6",
    "fit roml points.npz --inliers 6 --map embed",
    "fit roml plane.npz --layout coordinates --inliers 6"};

static bool has_option(const char *base, const char *name)
{
  char dashed[64];
  snprintf(dashed, sizeof dashed, " --%s", name);
  const char *at = strstr(base, dashed);
  return at != NULL && strchr(" ", at[strlen(dashed)]) != NULL;
}

/* absent says of a dense X how a sparse one that comes later is read.
 *
 * A setting of one base, with several values, one of which has to say
 * something: changed tells whether it was taken and did. */
static bool is_heard(command *c, const char *base, const answer *plain,
                     const lapis_param *p, bool *changed)
{
  char value[64], more[128];
  bool heard = false, given = has_option(base, p->name);
  bool is_switch = p->type == LAPIS_PARAM_BOOL;
  *changed = *changed || given;
  bool later = strcmp(p->name, "absent") == 0 && strstr(base, ".svm") == NULL;
  if (is_aside(p->name) || given || later) return true;
  for (int k = 0; !(heard && *changed) && value_of(p, k, value, sizeof value);
       k++) {
    snprintf(more, sizeof more, "--%s %s", p->name, is_switch ? "" : value);
    answer a = run(c, base, more, plain);
    if (a.code < 0) fail_msg("%s %s ended by a signal", base, more);
    bool refused = is_refused(&a);
    heard = heard || refused || a.hash != plain->hash;
    *changed = *changed || (!refused && a.hash != plain->hash);
  }
  return heard;
}

static int idle_settings(command *c, const char *base, const lapis_method *m,
                         bool *changed)
{
  answer plain = run(c, base, "", NULL);
  int idle = 0;
  if (plain.code != 0) {
    print_message("%s: exit %d, %s", base, plain.code, plain.err);
    return 1;
  }
  for (int i = 0; i < m->n_params; i++) {
    if (is_heard(c, base, &plain, &m->params[i], &changed[i])) continue;
    print_message("%s: --%s says nothing\n", base, m->params[i].name);
    idle++;
  }
  return idle;
}

/* And what is refused here is good for something there. */
static void each_setting_counts(void **state)
{
  command c;
  int idle = 0;
  static bool changed[32][64];
  write_all(&c);
  for (size_t b = 0; b < sizeof fits / sizeof *fits; b++) {
    char name[32];
    int k = 0;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(fits[b] + 4, " "),
             fits[b] + 4);
    while (strcmp(lapis_method_at(k)->name, name) != 0) k++;
    idle += idle_settings(&c, fits[b], lapis_method_at(k), changed[k]);
  }
  for (int k = 0; lapis_method_at(k) != NULL; k++)
    for (int i = 0; i < lapis_method_at(k)->n_params; i++) {
      const lapis_param *p = &lapis_method_at(k)->params[i];
      if (changed[k][i] || is_aside(p->name)) continue;
      print_message("%s: --%s never says anything\n", lapis_method_at(k)->name,
                    p->name);
      idle++;
    }
  assert_int_equal(idle, 0);
  command_end(&c);
}

/* ---- options of verbs, and members of data ------------------------------*/
/* Of these some value has to say something, or be refused; words apart from
 * each other by '|'. */
static const char *const options[] = {"-Y of_bag.npy",
                                      "-P P.npy|-P P2.npy",
                                      "-G bag.npy|-G kind.npy",
                                      "--xy xy.npy",
                                      "--map l1|--map standard",
                                      "--map-priv standard",
                                      "--suspects 3",
                                      "--completed f.csv",
                                      "--use a,b,two",
                                      "--drop c|--drop 1",
                                      "--one-hot two|--one-hot a",
                                      "--id a",
                                      "--target two|--target second|--target 1",
                                      "--header no|--header yes",
                                      "--decimal ,",
                                      "--arff-labels 1",
                                      "--triplets 1",
                                      "--scores",
                                      "--pairs y.npy",
                                      "--groups",
                                      "--folds-of groups|--folds-of cells",
                                      "--folds 3",
                                      "--metric accuracy|--metric rmse",
                                      "--pooled",
                                      "--baseline",
                                      "--join",
                                      "--as csv"};

static const char *const verbs[] = {
    "fit mc t.csv --target y --mu-rel .1 --drop who",
    "fit mc t.csv --drop who --mu-rel .1",
    "fit mc plain.npz --mu-rel .1",
    "fit mc s.svm --mu-rel .1",
    "fit auto t.csv --target y --id who --drop bag",
    "fit rpca plain.npz",
    "fit rpca t.csv --drop who",
    "fit rr plain.npz --lambda .1 --gamma .1",
    "fit rlda plain.npz --target first",
    "fit svmplus plain.npz",
    "fit svmplus t.csv --target y --drop who",
    "fit linear plain.npz",
    "fit trees plain.npz --trees 9",
    "fit clean plain.npz --dictionary dictionary.npy",
    "fit roml points.npz --inliers 6",
    "predict linear.lapis t.csv",
    "predict linear.lapis plain.npz",
    "predict mc.lapis plain.npz",
    "predict bags.lapis t.csv -G bag.npy",
    "cv linear t.csv --target y --drop who --grid C=.1,1",
    "cv svmplus plain.npz --grid C=.1,1",
    "convert t.csv o.npz --drop who",
    "convert plain.npz o.npz"};

/* A line of its own that names it. */
static bool is_named(const answer *a, const answer *plain)
{
  return lines_of(a->err) > lines_of(plain->err);
}

static bool counts(command *c, const char *base, const char *list,
                   const answer *plain)
{
  char more[64];
  for (const char *at = list; at != NULL; at = strchr(at, '|')) {
    at += *at == '|';
    snprintf(more, sizeof more, "%.*s", (int)strcspn(at, "|"), at);
    char *value = strchr(more, ' ');
    if (value != NULL) *value = '\0';
    bool given = strstr(base, more) != NULL;
    if (value != NULL) *value = ' ';
    if (given) return true;
    answer a = run(c, base, more, plain);
    if (is_refused(&a) || is_named(&a, plain) || a.hash != plain->hash)
      return true;
  }
  return false;
}

static void each_option_counts(void **state)
{
  command c;
  int idle = 0;
  write_all(&c);
  command_run(&c, "fit linear t.csv --target y --use a,b,c,d,e "
                  "--model linear.lapis");
  command_run(&c, "fit mc plain.npz --mu-rel .1 --model mc.lapis");
  command_do(&c, "fit misvm t.csv -Y of_bag.npy --use a,b,c,d,e -G bag.npy "
                 "--C 1 --model bags.lapis");
  for (size_t b = 0; b < sizeof verbs / sizeof *verbs;
       b += room_all() ? 1 : 5) {
    answer plain = run(&c, verbs[b], "", NULL);
    if (plain.code != 0) fail_msg("%s: %s", verbs[b], plain.err);
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
      if (counts(&c, verbs[b], options[k], &plain)) continue;
      print_message("%s: %s says nothing\n", verbs[b], options[k]);
      idle++;
    }
  }
  assert_int_equal(idle, 0);
  command_end(&c);
}

int test_given(void)
{
  const struct CMUnitTest tests[] = {
      LONG(cmocka_unit_test(each_setting_counts)),
      cmocka_unit_test(each_option_counts)};
  return run_cases(tests, NULL, NULL);
}
