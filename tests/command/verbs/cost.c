/* cost.c - reading costs in proportion to the bytes of a file, whatever stands
 * in them: processor time and memory of the command, of a file of n things and
 * one of four times as many. */
#include <math.h>
#include <sys/resource.h>

#include "command.h"

typedef struct text {
  char *at;
  size_t size, room;
} text;

static void put(text *t, const char *format, ...)
{
  va_list args;
  for (;;) {
    va_start(args, format);
    int n = vsnprintf(t->at + t->size, t->room - t->size, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < t->room - t->size) {
      t->size += (size_t)n;
      return;
    }
    t->room = 2 * t->room + (size_t)n + 64;
    t->at = realloc(t->at, t->room);
    assert_non_null(t->at);
  }
}

/* format holds one %d, or none, for i of 0 .. n - 1; between: behind each but
 * the last. */
static void repeat(text *t, int n, const char *format, const char *between)
{
  for (int i = 0; i < n; i++) {
    put(t, format, i);
    put(t, "%s", i + 1 < n ? between : "");
  }
}

static void save(const command *c, const char *name, text *t)
{
  command_write(c, name, t->at, t->size);
  free(t->at);
  *t = (text){.at = NULL};
}

typedef struct used {
  double seconds, bytes;
  int code;
  char said[512];
} used;

/* Of the command alone: no shell between. */
static used run(const command *c, const char *arguments)
{
  char line[1024], *word[32], path[160];
  int n = 0;
  snprintf(line, sizeof line, "%s", arguments);
  word[n++] = getenv("LAPIS_COMMAND");
  for (char *at = strtok(line, " "); at != NULL; at = strtok(NULL, " "))
    word[n++] = at;
  word[n++] = "--threads";
  word[n++] = "1";
  word[n] = NULL;
  snprintf(path, sizeof path, "%s/.said", c->folder);
  int pipes[2], status;
  struct {
    struct rusage of;
    int status;
  } told;
  assert_int_equal(pipe(pipes), 0);
  pid_t between = fork(); /* the command is its only child */
  if (between == 0) {
    pid_t pid = fork();
    if (pid == 0) {
      if (chdir(c->folder) != 0 || freopen(path, "w", stdout) == NULL ||
          dup2(1, 2) < 0)
        _exit(126);
      execv(word[0], word);
      _exit(127);
    }
    memset(&told, 0, sizeof told);
    bool fine = waitpid(pid, &told.status, 0) == pid &&
                getrusage(RUSAGE_CHILDREN, &told.of) == 0 &&
                write(pipes[1], &told, sizeof told) == sizeof told;
    _exit(fine ? 0 : 1);
  }
  assert_int_equal(waitpid(between, &status, 0), between);
  assert_int_equal(read(pipes[0], &told, sizeof told), sizeof told);
  close(pipes[0]);
  close(pipes[1]);
  const struct rusage u = told.of;
  status = told.status;
  used out = {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1};
  out.seconds = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
  out.bytes = 1024.0 * (double)u.ru_maxrss;
  command_slurp(c, ".said", out.said, sizeof out.said);
  return out;
}

/* ---- files --------------------------------------------------------------*/
enum { SMALL = 4000, LARGE = 4 * SMALL };

static void arff_words(const command *c, int n)
{
  text t = {.at = NULL};
  put(&t, "@relation r\n@attribute k {");
  repeat(&t, n, "v%d", ",");
  put(&t, "}\n@attribute x numeric\n@data\nv0,1\nv1,2\n");
  save(c, "f.arff", &t);
}

static void arff_words_used(const command *c, int n)
{
  text t = {.at = NULL};
  put(&t, "@relation r\n@attribute k {");
  repeat(&t, n, "'v %d'", ",");
  put(&t, "}\n@attribute x numeric\n@data\n");
  repeat(&t, n, "\"v %d\",1", "\n");
  save(c, "f.arff", &t);
}

static void arff_numbers_used(const command *c, int n)
{
  text t = {.at = NULL};
  put(&t, "@relation r\n@attribute k {");
  repeat(&t, n, "%d", ",");
  put(&t, "}\n@attribute x numeric\n@data\n");
  repeat(&t, n, "%d.0,1", "\n");
  save(c, "f.arff", &t);
}

static void arff_sparse(const command *c, int n)
{
  text t = {.at = NULL};
  put(&t, "@relation r\n");
  repeat(&t, 4 * n, "@attribute a%d numeric\n", "");
  put(&t, "@data\n");
  repeat(&t, 4 * n, "{%d 1}\n", "");
  save(c, "f.arff", &t);
}

static void arff_labels(const command *c, int n)
{
  text t = {.at = NULL};
  put(&t, "@relation r\n");
  repeat(&t, n, "@attribute a%d {0,1}\n", "");
  put(&t, "@data\n");
  repeat(&t, n, "1", ",");
  put(&t, "\n");
  repeat(&t, n, "0", ",");
  save(c, "f.arff", &t);
  put(&t, "<labels>");
  repeat(&t, n - 1, "<label name=\"a%d\"></label>\n", "");
  save(c, "f.xml", &t);
}

static void arff_no_labels(const command *c, int n)
{
  text t = {.at = NULL};
  put(&t, "@relation r\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n1,0\n");
  save(c, "f.arff", &t);
  repeat(&t, 8 * n, "<label ", "");
  put(&t, ">");
  save(c, "f.xml", &t);
}

static void svm_labels(const command *c, int n)
{
  text t = {.at = NULL};
  repeat(&t, n, "1,2%d 1:1 2:1\n", "");
  save(c, "f.svm", &t);
}

static void csv_row_of(text *t, int n, const char *cell)
{
  repeat(t, n, cell, ",");
  put(t, "\n");
}

static void csv_words(const command *c, int n)
{
  text t = {.at = NULL};
  csv_row_of(&t, n, "c%d");
  csv_row_of(&t, n, "x");
  csv_row_of(&t, n, "y");
  save(c, "f.csv", &t);
}

static void csv_codes(const command *c, int n)
{
  text t = {.at = NULL};
  csv_row_of(&t, n, "01");
  csv_row_of(&t, n, "2");
  csv_row_of(&t, n, "03");
  save(c, "y.csv", &t);
  put(&t, "1\n2\n3\n");
  save(c, "f.csv", &t);
}

static void csv_numbered(const command *c, int n)
{
  text t = {.at = NULL};
  csv_row_of(&t, n, "c%did");
  for (int k = 0; k < 12; k++) {
    char cell[8];
    snprintf(cell, sizeof cell, "%d", k * k);
    csv_row_of(&t, n, cell);
  }
  save(c, "f.csv", &t);
}

static void cells_one_long(const command *c, int n)
{
  text t = {.at = NULL};
  put(&t, "name");
  repeat(&t, n, ",c%d", "");
  put(&t, "\n");
  repeat(&t, n, "a\n", "");
  save(c, "f.csv", &t);
  command_write(c, "a.pgm", "P5\n2 2\n255\n\x10\x80\xff\x40", 15);
}

static void json_keys(const command *c, int n)
{
  text t = {.at = NULL};
  put(&t, "{");
  repeat(&t, 8 * n, "\"k%d\": 1", ",");
  put(&t, "}");
  save(c, "f.json", &t);
  put(&t, "1,2\n3,4\n5,6\n");
  save(c, "f.csv", &t);
}

static const struct {
  void (*make)(const command *c, int n);
  const char *run;
} cases[] = {{arff_words, "convert f.arff o.npz -q"},
             {arff_words, "info f.arff --json"},
             {arff_words_used, "convert f.arff o.npz -q --target k"},
             {arff_words_used, "convert f.arff o.npz -q"},
             {arff_words_used, "info f.arff --target k"},
             {arff_numbers_used, "convert f.arff o.npz -q"},
             {arff_numbers_used, "convert f.arff o.npz -q --one-hot k"},
             {arff_sparse, "convert f.arff o.npz -q"},
             {arff_sparse, "convert f.arff o.csv -q"},
             {arff_labels, "convert f.arff o.npz -q --arff-labels f.xml"},
             {arff_labels, "info f.arff --json --arff-labels f.xml"},
             {arff_no_labels, "convert f.arff o.npz -q --arff-labels f.xml"},
             {svm_labels, "convert f.svm o.npz -q"},
             {svm_labels, "convert f.svm o.csv -q"},
             {csv_words, "convert f.csv o.npz -q --header yes --one-hot *"},
             {csv_codes, "convert f.csv o.npz -q -Y y.csv"},
             {csv_numbered, "convert f.csv o.npz -q --header yes"},
             {cells_one_long, "label a.pgm --labels f.csv --no-cache -q"},
             {json_keys, "fit rpca f.csv -q -o o.npz --config f.json"}};

#ifdef __SANITIZE_ADDRESS__
/* Its allocator keeps what was freed, up to so many MB. */
enum { SLOWER = 8, KEPT = 4, FREED = 256 };
#else
enum { SLOWER = 1, KEPT = 1, FREED = 0 };
#endif

/* Twice of what is in proportion, and what is next to nothing anyhow. */
static bool in_proportion(used one, used four)
{
  return four.seconds <= SLOWER * 0.2 + 8 * one.seconds &&
         four.bytes <= KEPT * 60e6 + 8 * fmax(one.bytes - 15e6, 0) &&
         four.bytes <= KEPT * 256e6;
}

/* Processor time grows where another program shares the core: what is out of
 * proportion must be so three times in a row. */
static void four_times_as_much_costs_four_times(void **state)
{
  command c;
  command_begin(&c);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    used one, four;
    int tries = 0;
    do {
      cases[k].make(&c, SMALL);
      one = run(&c, cases[k].run);
      cases[k].make(&c, LARGE);
      four = run(&c, cases[k].run);
      if (four.code < 0 || four.code > 4)
        fail_msg("%s: exit %d: %s", cases[k].run, four.code, four.said);
    } while (!in_proportion(one, four) && ++tries < 3);
    if (tries == 3)
      fail_msg("%s: %.2f s and %.2f s, %.0f MB and %.0f MB", cases[k].run,
               one.seconds, four.seconds, one.bytes / 1e6, four.bytes / 1e6);
  }
  command_end(&c);
}

/* What is refused says by what, and what allows it. */
static void what_unfolds_names_the_option(void **state)
{
  command c;
  command_begin(&c);
  arff_words_used(&c, LARGE);
  command_run(&c, "convert f.arff o.npz");
  command_expect(&c, 1, "--max-unfold");
  svm_labels(&c, LARGE);
  command_run(&c, "convert f.svm o.npz");
  command_expect(&c, 1, "--max-unfold");
  arff_words_used(&c, SMALL);
  command_run(&c, "convert f.arff o.npz");
  command_expect(&c, 1, "--max-unfold");
  command_do(&c, "convert f.arff o.npz -q --max-unfold 200");
  command_end(&c);
}

/* ---- what methods hold ---------------------------------------------------*/
/* n samples of d features, one of which is not 0, in K classes and bags of 4;
 * a file of a few kilobytes. */
static void put_samples(const command *c, int d, int n, int K)
{
  text t = {.at = NULL};
  for (int j = 0; j < n; j++)
    put(&t, "%d %d:%d\n", j % K, j * 7919 % d + 1, 1 + j * 31 % 5);
  save(c, "f.svm", &t);
  for (int j = 0; j < n; j++) put(&t, "%d\n", j / 4);
  save(c, "g.csv", &t);
  for (int j = 0; j < 40; j++)
    put(&t, "%d %d:2 %d:1\n", j % 2, j * 7919 % d + 1, d);
  save(c, "d.svm", &t);
}

static const struct {
  const char *method, *with;
} fits[] = {{"mc", "--mu-rel .1"},
            {"mc", "--mu-rel .1 --solver admm"},
            {"mc", "--mu-rel .1 --absent missing"},
            {"rr", ""},
            {"rlda", ""},
            {"rpca", "--refill 2 --certificate"},
            {"clean", "--dictionary d.svm"},
            {"svmplus", ""},
            {"svmplus", "--kernel rbf"},
            {"svmplus", "--kernel rbf --formulation original"},
            {"misvm", "-G g.csv"},
            {"linear", "--certificate"},
            {"trees", "--trees 5"},
            {"trees", "--trees 5 --kind forest"},
            {"auto", ""}};

/* The MB of the sentence, or 0. */
static double needs(const used *u)
{
  const char *at = strstr(u->said, "would take ");
  return u->code == 1 && at != NULL ? strtod(at + 11, NULL) : 0;
}

static void check_fit(const command *c, size_t k, double *told)
{
  char line[256];
  const char *end = "-o o.npz -q --time-limit 4 --seed 1";
  snprintf(line, sizeof line, "fit %s f.svm %s %s --max-unfold 1",
           fits[k].method, fits[k].with, end);
  used refused = run(c, line);
  double need = needs(&refused);
  snprintf(line, sizeof line, "fit %s f.svm %s %s --max-unfold 100000",
           fits[k].method, fits[k].with, end);
  used free = need > 0 ? run(c, line) : refused; /* which it was not */
  double held = free.bytes / 1e6 - 45; /* of the process, and what BLAS takes */
  if (free.code < 0 || free.code == 2)
    fail_msg("%s: exit %d: %s", line, free.code, free.said);
  if (need > 0) ++*told;
  if (held > KEPT * fmax(need, 40) + FREED || need > 12 * fmax(held, 10))
    fail_msg("%s: %s %.0f MB are held, %.0f were told", line, fits[k].with,
             held, need);
}

/* Within an order of magnitude, and never less; of all fits or, by turns, of
 * many samples or many features. */
static void a_fit_holds_what_its_method_says(void **state)
{
  static const int shape[][3] = {{700, 900, 2}, {12, 1500, 150}};
  command c;
  double told = 0;
  command_begin(&c);
  for (size_t s = 0; s < 2; s++) {
    put_samples(&c, shape[s][0], shape[s][1], shape[s][2]);
    for (size_t k = 0; k < sizeof fits / sizeof *fits; k++)
      if (room_all() || k % 2 == s) check_fit(&c, k, &told);
  }
  assert_true(told > (room_all() ? 8 : 2));
  command_end(&c);
}

/* The n x n matrices of a solve fit into --cache; those of folds, of the SVM
 * without P and of other values of C come after others, or are not kept. */
static void kernels_stay_within_the_cache(void **state)
{
  enum { N = 1000, MB = 45 };
  command c;
  text t = {.at = NULL};
  uint64_t seed = 3;
  command_begin(&c);
  put(&t, "a,b,c,d,e,f,g,h,p,q,y\n");
  for (int j = 0; j < N; j++) {
    double sum = 0, x = 0;
    for (int k = 0; k < 8; k++) {
      put(&t, "%.3f,", x = check_normal(&seed));
      sum += k < 4 ? x : 0;
    }
    put(&t, "%.3f,%.3f,%d\n", sum + .5 * check_normal(&seed), x,
        sum + .8 * check_normal(&seed) > 0);
  }
  save(&c, "t.csv", &t);
  used u = run(&c, "fit svmplus t.csv --target y --priv p,q --kernel rbf "
                   "--kernel-priv rbf --cache 45 -q");
  assert_int_equal(u.code, 0);
  double held = u.bytes / 1e6 - 30; /* of the process */
  if (held > KEPT * (MB + 4) + FREED)
    fail_msg("%.0f MB are held, %d were granted", held, MB);
  command_end(&c);
}

/* Leaves that hold a share of each class are known after one tree. */
static void trees_are_weighed_by_the_first(void **state)
{
  command c;
  text t = {.at = NULL};
  command_begin(&c);
  for (int j = 0; j < 1200; j++) put(&t, "%d 1:%d\n", j % 150, j);
  save(&c, "f.svm", &t);
  command_run(&c, "fit trees f.svm -o o.npz -q");
  command_expect(&c, 1, "500 of");
  command_do(&c, "fit trees f.svm --trees 9 -o o.npz -q");
  command_end(&c);
}

/* Copies count, and answers of many classes; what is meant goes on. */
static void what_a_fit_holds_names_the_option(void **state)
{
  command c;
  text t = {.at = NULL};
  command_begin(&c);
  put(&t, "1,1,1\n2800,2800,2\n"); /* 63 MB, once */
  save(&c, "t.csv", &t);
  const char *const dense[] = {"rpca", "clean --dictionary t.csv"};
  for (int k = 0; k < 2; k++) {
    command_run(&c, "fit %s t.csv --triplets 1 -o o.npz", dense[k]);
    command_expect(&c, 1, "--max-unfold");
  }
  for (int j = 0; j < 9000; j++) put(&t, "%d 1:%d\n", j / 3, j % 7);
  save(&c, "f.svm", &t);
  const char *const many[] = {"linear", "mc",   "mc --mu-rel .1", "rlda",
                              "trees",  "auto", "svmplus"};
  for (int k = 0; k < 7; k++) {
    command_run(&c, "fit %s f.svm -o o.npz", many[k]);
    command_expect(&c, 1, "3000 classes");
  }
  command_do(&c, "fit linear f.svm --max-unfold 2000 --time-limit 1 -q");
  command_end(&c);
}

int test_cost(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(four_times_as_much_costs_four_times),
      cmocka_unit_test(what_unfolds_names_the_option),
      cmocka_unit_test(a_fit_holds_what_its_method_says),
      cmocka_unit_test(kernels_stay_within_the_cache),
      cmocka_unit_test(trees_are_weighed_by_the_first),
      cmocka_unit_test(what_a_fit_holds_names_the_option)};
  return run_cases(tests, NULL, NULL);
}
