/* The page of a result, read back by a reader of XML and PNG that is not
 * ours; singular values against Jacobi's; refusals. */
#include "lapis/images.h"

#include "command.h"
#include "lapis/methods.h"
#include "oracle.h"
#include "python.h"
#include "remarks.h"

static void singular_values(void **state)
{
  static const int shape[][2] = {{1, 1}, {7, 3}, {3, 7}, {6, 6}};
  for (int k = 0; k < 4; k++) {
    double A[49], s[7], nuclear, largest, sum = 0;
    int m = shape[k][0], n = shape[k][1];
    uint64_t seed = 5 + (uint64_t)k;
    for (int i = 0; i < m * n; i++) A[i] = check_normal(&seed);
    lapis_ctx *ctx = lapis_ctx_new();
    lapis_mat view = lapis_mat_f64(A, m, n);
    assert_int_equal(lapis_singular_values(ctx, &view, s), LAPIS_OK);
    oracle_norms(A, m, n, &nuclear, &largest);
    for (int i = 0; i < (m < n ? m : n); i++) {
      sum += s[i];
      if (i > 0) CHECK_AT_MOST(s[i], s[i - 1]);
    }
    CHECK_NEAR(sum, nuclear, 1e-12 * nuclear);
    CHECK_NEAR(s[0], largest, 1e-12 * largest);
    A[0] = NAN;
    assert_int_equal(lapis_singular_values(ctx, &view, s), LAPIS_EMISSING);
    lapis_ctx_free(ctx);
  }
}

/* Nine samples of 3 x 4 pixels of rank two, three pixels not seen. */
static void write_samples(command *c)
{
  char text[4096];
  int used = 0;
  uint64_t seed = 3;
  for (int j = 0; j < 9; j++) {
    double a = check_normal(&seed), b = check_normal(&seed);
    for (int i = 0; i < 12; i++) {
      const char *end = i == 11 ? "\n" : ",";
      double x = a * sin(i) + b * cos(2 * i) + (i == j ? 3 : 0);
      if (j < 3 && i == 2 * j + 1)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s", end);
      else
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "%.6f%s", x, end);
    }
  }
  command_write(c, "x.csv", text, (size_t)used);
}

static void shell_or_fail(const command *c, const char *format, ...)
{
  char what[1024], line[2048];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  snprintf(line, sizeof line, "cd %s && %s", c->folder, what);
  if (system(line) != 0) fail_msg("failed: %s", what);
}

static void page_is_read_back(void **state)
{
  command c;
  if (system("python3 -c 'import xml, zlib' 2>/dev/null") != 0) {
    print_message("skipped: no python3\n");
    skip();
  }
  char script[512];
  beside("check_page.py", script, sizeof script);
  command_begin(&c);
  write_samples(&c);
  command_do(&c, "fit rpca -X x.csv --header no --tol 1e-6 --json -o out.npz");
  double objective = command_info(c.out, "objective");
  int rank = (int)command_info(c.out, "rank");
  /* five samples, three pictures each; three missing pixels in the inputs */
  command_do(&c, "report out.npz --data x.csv --shape 3x4 --count 5 "
                 "--title 'a < b & \"c\"' -o page.html");
  shell_or_fail(&c, "python3 %s page.html 3 4 15 3 %.17g %d", script, objective,
                rank);
  /* without the data: input is the sum of the parts, nothing is missing */
  command_do(&c, "report out.npz --shape 4x3 --first 8 -o page.html");
  shell_or_fail(&c, "python3 %s page.html 4 3 6 0 %.17g %d", script, objective,
                rank);
  command_do(&c, "report out.npz -o page.html");
  shell_or_fail(&c, "python3 %s page.html 4 3 0 0 %.17g %d", script, objective,
                rank);
  command_end(&c);
}

/* ---- labels, pictures, matches ------------------------------------------*/
enum { PEOPLE = 24 };

/* A table of two classes that features tell apart, some labels unknown, one
 * wrong; the truth; an image of each, called as the sample is. */
static void write_people(command *c)
{
  char table[4096] = "name,kind,a,b,c,d\n", truth[1024] = "name,kind\n";
  char line[128], name[64];
  uint64_t seed = 9;
  shell_or_fail(c, "mkdir pictures");
  for (int j = 0; j < PEOPLE; j++) {
    const char *kind = j % 3 == 0 ? "cat & <mouse>" : "dog";
    double x[4];
    for (int i = 0; i < 4; i++)
      x[i] = (i + 1) * (j % 3 == 0 ? 1 : -1) + 0.5 * check_normal(&seed);
    const char *given = j == 4 ? "cat & <mouse>" : j >= 16 ? "" : kind;
    snprintf(line, sizeof line, "s%02d,%s,%.4f,%.4f,%.4f,%.4f\n", j, given,
             x[0], x[1], x[2], x[3]);
    strcat(table, line);
    snprintf(line, sizeof line, "s%02d,%s\n", j, kind);
    strcat(truth, line);
    snprintf(name, sizeof name, "pictures/s%02d.pgm", j);
    int size = snprintf(line, sizeof line, "P2 3 2 9 %d 1 2 3 4 5\n", j % 9);
    command_write(c, name, line, (size_t)size);
  }
  command_write(c, "x.csv", table, strlen(table));
  command_write(c, "truth.csv", truth, strlen(truth));
}

static void labels_are_shown(void **state)
{
  command_need_images();
  python_need("xml");
  command c;
  char again[4096];
  command_begin(&c);
  write_people(&c);
  command_do(&c, "fit mc x.csv --target kind --id name --mu-rel .05 "
                 "--suspects 3 --json -o out.npz");
  double objective = command_info(c.out, "objective");
  command_write(&c, "run.json", c.out, strlen(c.out));
  command_do(&c, "report out.npz --data x.csv --target kind --id name "
                 "--header yes --truth truth.csv --images pictures --run "
                 "run.json -o page.html");
  python_run("check_labels.py", c.folder);
  /* the command on the page gives the same answer */
  command_slurp(&c, "command.txt", again, sizeof again);
  command_do(&c, "%s --json", again);
  CHECK_NEAR(command_info(c.out, "objective"), objective,
             1e-9 * fabs(objective));
  command_end(&c);
}

/* What was fitted is read as fit read it; the truth has none of its columns. */
static void data_are_read_as_they_were_fitted(void **state)
{
  static const char table[] = "name,town,when,x,y,kind\na,rome,May,1,2,u\n"
                              "b,oslo,May,2,1,v\nc,rome,June,1.5,3,u\n"
                              "d,oslo,May,2.5,,v\ne,rome,June,1,2.5,\n"
                              "f,oslo,May,3,1,\n";
  static const char truth[] = "name,kind\na,u\nb,v\nc,u\nd,v\ne,u\nf,v\n";
  command c;
  char page[65536];
  command_begin(&c);
  command_write(&c, "t.csv", table, sizeof table - 1);
  command_write(&c, "truth.csv", truth, sizeof truth - 1);
#define READ "t.csv --id name --target kind --one-hot town --drop when"
  command_do(&c, "fit mc " READ " --mu-rel .1 -q -o out.npz");
  command_do(&c, "report out.npz --data " READ " --truth truth.csv -o p.html");
  command_slurp(&c, "p.html", page, sizeof page);
  assert_non_null(strstr(page, "AUROC"));
  command_run(&c, "report out.npz --data t.csv --id name -o q.html");
  command_expect(&c, 4, "--one-hot");
#undef READ
  command_end(&c);
}

/* fit writes its answers as a page: what the table has, labels in doubt, and
 * the command; predict does the same. */
static void answers_are_a_page(void **state)
{
  enum { N = 80 };
  command c;
  char table[8192], page[65536];
  size_t size = (size_t)snprintf(table, sizeof table, "who,a,b,c,open\n");
  uint64_t seed = 5;
  command_begin(&c);
  for (int j = 0; j < N; j++) {
    double a = check_normal(&seed), b = check_normal(&seed);
    bool yes = a + .5 * b + .5 * check_normal(&seed) > 0;
    size += (size_t)snprintf(table + size, sizeof table - size,
                             "p%d,%.2f,%.2f,%.2f,%s\n", j, a, b,
                             check_normal(&seed),
                             j % 2 == 0        ? ""
                             : yes != (j == 7) ? "yes"
                                               : "no");
  }
  command_write(&c, "t.csv", table, size);
#define FIT "fit auto t.csv --id who --target open --suspects 5 -q "
  command_do(&c, FIT "-o answers.csv");
  command_do(&c, FIT "-o answers.html --model m.lapis");
  command_slurp(&c, "answers.html", page, sizeof page);
  assert_non_null(strstr(page, "Check labels"));
  assert_non_null(strstr(page, "lapis fit auto t.csv --id who"));
  command_do(&c, "predict m.lapis t.csv -q -o new.html");
  command_slurp(&c, "new.html", page, sizeof page);
  assert_non_null(strstr(page, "id=\"sheet\""));
  assert_non_null(strstr(page, "lapis predict m.lapis t.csv"));
  command_run(&c, "fit auto t.csv --target open -o nowhere/x.html");
  command_expect(&c, 4, "no folder nowhere");
  command_do(&c, "convert t.csv t.npz --id who --target open");
  command_do(&c, "fit auto -X t.npz:X -Y t.npz:Y -q -o arrays.html");
  command_slurp(&c, "arrays.html", page, sizeof page);
  assert_non_null(strstr(page, "<h1>t.npz:X</h1>"));
  command_run(&c, "fit rpca t.csv --id who --drop open -o x.html");
  command_expect(&c, 2, "x.html");
  assert_false(command_exists(&c, "x.html"));
#undef FIT
  python_need("json");
  if (python_has_browser()) python_run("browse_answers.py", c.folder);
  command_end(&c);
}

/* Of a result without a clean part --data add labels; those in doubt and what
 * was given are shown, and X is compared with nothing. */
static void labels_without_a_clean_part(void **state)
{
  static const char *const fits[] = {"linear", "trees"};
  command c;
  char page[65536];
  command_begin(&c);
  write_people(&c);
#define READ "x.csv --target kind --id name"
  for (int k = 0; k < 2; k++) {
    command_do(&c, "fit %s " READ " --suspects 3 -q -o out.npz", fits[k]);
    command_do(&c,
               "report out.npz --data " READ " --images pictures -o p.html");
    command_slurp(&c, "p.html", page, sizeof page);
    if (strstr(page, "Check labels") == NULL || strstr(page, "s04") == NULL)
      fail_msg("%s: no label in doubt on the page", fits[k]);
  }
  command_run(&c, "report out.npz --shape 2x2 -o q.html");
  command_expect(&c, 4, "2 low_rank missing");
#undef READ
  command_end(&c);
}

/* Counts of a run stand on the page as the numbers they are, whatever they end
 * on; what is measured stays short. */
static void counts_are_whole(void **state)
{
  static const char run[] =
      "{\"method\": \"rpca\", \"command\": \"lapis fit rpca x.csv "
      "--max-iters 10000\", \"settings\": {\"max-iters\": 10000, "
      "\"tol\": 0.0001}, \"info\": {\"iterations\": 20, \"rank\": 123450, "
      "\"objective\": 3.14159265}}";
  static const char *const wanted[] = {">10000<",  "--max-iters 10000",
                                       ">0.0001<", ">20<",
                                       ">123450<", ">3.142<"};
  command c;
  command_begin(&c);
  write_samples(&c);
  command_write(&c, "run.json", run, strlen(run));
  command_run(&c, "fit rpca -X x.csv --header no -o out.npz");
  command_do(&c, "report out.npz --run run.json -o page.html");
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    shell_or_fail(&c, "grep -qF -e '%s' page.html", wanted[i]);
  command_end(&c);
}

/* Two images that share four descriptors in another order; positions. */
static void matches_are_shown(void **state)
{
  command_need_images();
  python_need("numpy");
  command c;
  char words[160];
  command_begin(&c);
  shell_or_fail(&c, "mkdir pictures");
  for (int k = 0; k < 3; k++) {
    char name[64];
    snprintf(name, sizeof name, "pictures/view%d.pgm", k);
    command_write(&c, name, "P2 2 1 9 3 8\n", 13);
  }
  snprintf(words, sizeof words, "%s begin", c.folder);
  python_run("check_matches.py", words);
  command_do(&c, "fit roml in.npz --inliers 4 -o out.npz");
  command_do(&c, "report out.npz --data in.npz --images pictures -o p.html");
  snprintf(words, sizeof words, "%s end", c.folder);
  python_run("check_matches.py", words);
  command_run(&c, "report out.npz -o q.html");
  command_expect(&c, 0, MATCHES_ARE_DRAWN);
  command_run(&c, "report out.npz --data in.npz --images nowhere -o q.html");
  command_expect(&c, 4, "");
  shell_or_fail(&c, "mkdir empty");
  command_run(&c, "report out.npz --data in.npz --images empty -o q.html");
  command_expect(&c, 4, "");
  command_run(&c, "report out.npz --truth in.npz:group -o q.html");
  command_expect(&c, 4, "");
  command_end(&c);
}

static void refusals(void **state)
{
  command c;
  command_begin(&c);
  write_samples(&c);
  command_write(&c, "y.csv", "1,2\n3,4\n", 8);
  command_do(&c, "fit rpca -X x.csv --header no -o out.npz");
  command_run(&c, "report out.npz");
  command_expect(&c, 2, "-o F.html");
  command_run(&c, "report out.npz --shape 5x5 -o p.html");
  command_expect(&c, 4, "12");
  command_run(&c, "report out.npz --shape 12 -o p.html");
  command_expect(&c, 2, "HxW");
  command_run(&c, "report out.npz --shape 99999999999x2 -o p.html");
  command_expect(&c, 4, "12");
  command_run(&c, "report out.npz --data y.csv -o p.html");
  command_expect(&c, 4, "2");
  command_run(&c, "report out.npz --count many -o p.html");
  command_expect(&c, 2, "--count");
  command_run(&c, "report out.npz --shape 3x4 --first 10 -o p.html");
  command_expect(&c, 2, "10");
  command_run(&c, "report x.csv -o p.html");
  command_expect(&c, 4, "x.csv");
  command_run(&c, "report out.npz -o nowhere/p.html");
  command_expect(&c, 4, "nowhere");
  assert_false(command_exists(&c, "p.html"));
  command_end(&c);
}

int test_report(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(singular_values),
      cmocka_unit_test(page_is_read_back),
      cmocka_unit_test(labels_are_shown),
      cmocka_unit_test(labels_without_a_clean_part),
      cmocka_unit_test(answers_are_a_page),
      cmocka_unit_test(counts_are_whole),
      cmocka_unit_test(matches_are_shown),
      cmocka_unit_test(data_are_read_as_they_were_fitted),
      cmocka_unit_test(refusals)};
  return run_cases(tests, NULL, NULL);
}
