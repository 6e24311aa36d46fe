/* What a method remarks is the same by the library as by the command, which
 * says it once on stderr and lists it in its JSON. */
#include "command.h"
#include "lapis/tools.h"
#include "remarks.h"

enum { ROWS = 60 };
typedef struct remark_case {
  const char *method, *target, *name, *value; /* a setting, or NULL */
  const char *expected[4];
} remark_case;
static const remark_case cases[] = {
    {"svmplus", "seldom", "C", "1", {"never-predicted"}},
    {"svmplus", "opne", "C", "1", {"rare-class", "standardised"}},
    {"svmplus", "holes", NULL, NULL, {"rows-used", "standardised"}},
    {"svmplus", "stars", NULL, NULL, {"number-targets"}},
    {"svmplus", "seldom", "max-iters", "1", {"stopped"}},
    {"rr", "noise", NULL, NULL, {"rows-used", "chosen", "unsure"}},
    {"rlda", "holes", NULL, NULL, {"rows-used", "chosen"}},
    {"linear", "seldom", "C", "0.01", {"never-predicted"}},
    {"mc", "seldom", "mu-rel", "0.5", {"never-predicted", "units-differ"}},
    {"rpca", NULL, NULL, NULL, {"units-differ"}},
    {"rpca", NULL, "refill", "1", {"units-differ", "mostly-covered"}},
    {"trees", "unknown", NULL, NULL, {"minus-one"}},
    {"linear", "signs", NULL, NULL, {"three-signs"}},
    {"trees", "codes", NULL, NULL, {"rare-class"}}};
enum { CASES = sizeof cases / sizeof *cases };

/* Noise: a, b with gaps and of another unit; nothing tells any target. */
static void write_table(const command *c)
{
  static char text[ROWS * 160];
  uint64_t seed = 3;
  size_t at = (size_t)sprintf(text, "a,b,noise,seldom,opne,holes,codes,stars,"
                                    "unknown,signs\n");
  for (int j = 0; j < ROWS; j++) {
    at += (size_t)sprintf(text + at, "%.4f,", check_normal(&seed));
    at += (size_t)sprintf(text + at, "%.4f,", 1e3 * check_normal(&seed));
    double y = check_normal(&seed);
    at += (size_t)sprintf(text + at, j < 50 ? "%.4f," : ",", y);
    at += (size_t)sprintf(text + at, "%s,", j % 15 == 4 ? "yes" : "no");
    at += (size_t)sprintf(text + at, "%s,",
                          j == 7  ? "opne"
                          : j % 2 ? "open"
                                  : "shut");
    at += (size_t)sprintf(text + at, "%s,",
                          j > 50  ? ""
                          : j % 2 ? "up"
                                  : "down");
    at += (size_t)sprintf(text + at, "%d,%g,%d,%d\n", j == 9 ? 3 : j % 2,
                          1 + j % 9 / 2., j % 4 - 1, j % 3 - 1);
  }
  command_write(c, "t.csv", text, at);
  /* cells of X that mc and rpca fill */
  for (char *line = text; (line = strchr(line, '\n')) != NULL; line++)
    if ((line - text) % 7 == 0 && line[1] != '\0') line[1] = ' ';
  char *first = strchr(text, '\n') + 1, *comma = strchr(first, ',');
  memset(first, ' ', (size_t)(comma - first));
  command_write(c, "gaps.csv", text, at);
}

static int count_of(const char *text, const char *part)
{
  int count = 0;
  for (; (text = strstr(text, part)) != NULL; text += strlen(part)) count++;
  return count;
}

static lapis_mat remarks_of(lapis_solver *s)
{
  lapis_mat notes;
  assert_int_equal(lapis_result_get(s, "notes", &notes), LAPIS_OK);
  assert_int_equal(notes.dtype, LAPIS_TEXT);
  assert_true(notes.cols == 0 || notes.rows == 3);
  return notes;
}

/* By the library, as a program would. */
static lapis_solver *solve(lapis_ctx *ctx, const remark_case *k,
                           const lapis_dataset *ds)
{
  const lapis_method *m = lapis_method_find(k->method);
  char *set = malloc(m->settings_size);
  lapis_solver *s;
  lapis_settings_default(m, set);
  if (k->name != NULL)
    assert_int_equal(lapis_settings_set(ctx, m, set, k->name, k->value), 0);
  assert_int_equal(lapis_solver_new(ctx, m, lapis_dataset_data(ds), set, &s),
                   0);
  int64_t before = remarks_of(s).cols;
  assert_true(lapis_solve(s) >= 0);
  assert_true(remarks_of(s).cols >= before);
  free(set);
  return s;
}

/* The text of a JSON string, as it stands there. */
static const char *quoted(const char *text, char to[2048])
{
  char *at = to;
  for (; *text != '\0'; text++) {
    if (*text == '"' || *text == '\\') *at++ = '\\';
    *at++ = *text;
  }
  *at = '\0';
  return to;
}

/* In their order, and no others. */
static void check_json(const command *c, const lapis_mat *notes)
{
  const char *at = strstr(c->out, "\"notes\": [");
  const char *const *cell = notes->val;
  char one[4096], text[2048];
  assert_non_null(at);
  for (int64_t n = 0; n < notes->cols; n++, cell += 3) {
    snprintf(one, sizeof one,
             "  {\n   \"level\": \"%s\",\n   \"name\": \"%s\",\n   \"text\": "
             "\"%s\"\n  }",
             cell[0], cell[1], quoted(cell[2], text));
    at = strstr(at, one);
    if (at == NULL) fail_msg("no %s in %s", one, c->out);
  }
  assert_int_equal(count_of(c->out, "\"level\": "), notes->cols);
}

static void check_case(command *c, const remark_case *k)
{
  char path[160], setting[64] = "", target[64] = "";
  const char *file = strcmp(k->expected[0], "units-differ") == 0 ||
                             strcmp(k->method, "mc") == 0
                         ? "gaps.csv"
                         : "t.csv";
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_dataset *ds;
  assert_int_equal(lapis_ctx_set(ctx, "spelling", "options"), LAPIS_OK);
  lapis_table_options o = {
      .target = k->target,
      .drop = k->target == NULL
                  ? "noise,seldom,opne,holes,codes,stars,unknown,signs"
                  : NULL,
      .use = k->target == NULL ? NULL : "a,b"};
  snprintf(path, sizeof path, "%s/%s", c->folder, file);
  assert_int_equal(lapis_dataset_new(ctx, &ds), 0);
  assert_int_equal(lapis_dataset_read(ds, path, &o), 0);
  assert_int_equal(lapis_dataset_finish(ds), 0);
  lapis_solver *s = solve(ctx, k, ds);
  lapis_mat notes = remarks_of(s);
  const char *const *cell = notes.val;
  if (k->name != NULL)
    snprintf(setting, sizeof setting, "--%s %s", k->name, k->value);
  if (k->target != NULL)
    snprintf(target, sizeof target, "--target %s", k->target);
  command_do(c, "fit %s %s %s --use a,b %s --json", k->method, file, target,
             setting);
  check_json(c, &notes);
  for (int64_t n = 0; n < notes.cols; n++)
    assert_int_equal(count_of(c->err, cell[3 * n + 2]), 1);
  for (int i = 0; i < 4 && k->expected[i] != NULL; i++) {
    int64_t n = 0;
    while (n < notes.cols && strcmp(cell[3 * n + 1], k->expected[i]) != 0) n++;
    if (n == notes.cols)
      fail_msg("%s of %s: no %s: %s", k->method, k->target, k->expected[i],
               c->err);
  }
  command_do(c, "fit %s %s %s --use a,b %s -q", k->method, file, target,
             setting);
  assert_string_equal(c->err, "");
  lapis_solver_free(s);
  lapis_dataset_free(ds);
  lapis_ctx_free(ctx);
}

static void a_page_shows_remarks(void **state)
{
  static char page[1 << 20];
  command c;
  command_begin(&c);
  write_table(&c);
  command_do(&c, "fit svmplus t.csv --target seldom --use a,b -o r.npz -q");
  command_do(&c, "report r.npz -o r.html");
  command_slurp(&c, "r.html", page, sizeof page);
  assert_int_equal(
      count_of(page, "<th scope=\"row\">warning</th><td>svmplus: "), 1);
  command_end(&c);
}

static void the_library_remarks_what_the_command_says(void **state)
{
  command c;
  command_begin(&c);
  write_table(&c);
  for (int k = 0; k < CASES; k++) check_case(&c, &cases[k]);
  command_end(&c);
}

/* Of a program, the words of its targets and its way to spell settings. */
static void remarks_are_spelt_for_their_reader(void **state)
{
  enum { N = 40 };
  static const char *const words[] = {"no", "yes"};
  static const struct {
    const char *spelling, *said;
  } spelt[] = {{"options",
                "\"yes\", which 2 of 40 are; the order of the scores "
                "may still show which are; --balanced makes"},
               {"keywords", "show which are; balanced makes both kinds count "
                            "equally; a larger C fits"}};
  double X[N], Y[N];
  uint64_t seed = 1;
  for (int j = 0; j < N; j++) X[j] = check_normal(&seed), Y[j] = j % 20 == 3;
  lapis_data data = {.X = lapis_mat_f64(X, 1, N),
                     .Y = lapis_mat_f64(Y, 1, N),
                     .words = lapis_mat_text(words, 1, 2)};
  for (int k = 0; k < 2; k++) {
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_solver *s;
    assert_int_equal(lapis_ctx_set(ctx, "spelling", spelt[k].spelling), 0);
    assert_int_equal(lapis_svmplus_new(ctx, &data, NULL, &s), 0);
    assert_int_equal(remarks_of(s).cols, 0);
    assert_int_equal(lapis_solve(s), 0);
    assert_int_equal(lapis_solve(s), 0); /* again: not twice */
    lapis_mat notes = remarks_of(s);
    assert_int_equal(notes.cols, 1);
    assert_string_equal(((const char *const *)notes.val)[0], "warning");
    if (strstr(((const char *const *)notes.val)[2], spelt[k].said) == NULL)
      fail_msg("'%s'", ((const char *const *)notes.val)[2]);
    lapis_solver_free(s);
    lapis_ctx_free(ctx);
  }
  lapis_ctx *ctx = lapis_ctx_new();
  lapis_ctx_set(ctx, "spelling", "keywords");
  assert_int_equal(lapis_ctx_set(ctx, "spelling", "loud"), LAPIS_EINVAL);
  assert_null(strstr(lapis_ctx_error(ctx), "--")); /* what it was it stays */
  lapis_fail(ctx, LAPIS_EINVAL, "--mu-rel");
  assert_string_equal(lapis_ctx_error(ctx), "mu_rel");
  data.words = lapis_mat_f64(X, 1, 2);
  lapis_solver *s;
  assert_int_equal(lapis_svmplus_new(ctx, &data, NULL, &s), LAPIS_ESHAPE);
  lapis_ctx_free(ctx);
}

/* What is read twice is doubted once. */
static void a_doubt_is_told_once(void **state)
{
  static const char table[] = "0,1,2\n.5,.25,\n.1,.3,2.5\n.7,.2,1.5\n,.4,.75\n";
  command c;
  command_begin(&c);
  command_write(&c, "t.csv", table, sizeof table - 1);
  command_do(&c, "fit mc t.csv --mu-rel .1 --completed full.csv -o o.npz");
  const char *first = strstr(c.err, FIRST_ROW_OF_NUMBERS);
  assert_non_null(first);
  assert_null(strstr(first + 1, FIRST_ROW_OF_NUMBERS));
  command_end(&c);
}

int test_notes(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_library_remarks_what_the_command_says),
      cmocka_unit_test(a_page_shows_remarks),
      cmocka_unit_test(remarks_are_spelt_for_their_reader),
      cmocka_unit_test(a_doubt_is_told_once)};
  return run_cases(tests, NULL, NULL);
}
