/* The README and the pages of the methods: what they show is what happens.
 *
 * Blocks fenced "sh" are run, page by page, in one temporary folder where
 * "lapis" and "build/lapis" are the command; "python" likewise.  Below a line
 * <!-- output of: lapis ... --> stands exactly what that command prints;
 * tools/update-help writes it.  Other fences are not run.
 *
 * Of all pages but the README only those are run that the working tree or the
 * commits after LAPIS_TEST_SINCE (else the last one) have changed; all of them
 * with LAPIS_TEST_ALL (tools/run-tests --all). */
#include <glob.h>

#include "command.h"

static const char *root(void)
{
  return LAPIS_TREE;
}

/* Runs a line of the shell in the temporary folder, $page being a page. */
static int shell(command *c, const char *page, const char *line)
{
  char all[8192];
  snprintf(all, sizeof all,
           "cd %s && root='%s' && page=\"$root/%s\" && PATH=$PWD/build:$PATH "
           "&& { %s\n} >.stdout 2>.stderr </dev/null",
           c->folder, root(), page, line);
  int status = system(all);
  c->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  command_slurp(c, ".stdout", c->out, sizeof c->out);
  command_slurp(c, ".stderr", c->err, sizeof c->err);
  return c->code;
}

static void shell_or_fail(command *c, const char *page, const char *line)
{
  if (shell(c, page, line) != 0)
    fail_msg("%s: exit %d of: %s\n%s%s", page, c->code, line, c->out, c->err);
}

/* ---- a folder with the command and the data -----------------------------*/
static void begin(command *c)
{
  command_begin(c);
  shell_or_fail(c, "",
                "mkdir build && ln -s \"$root/data\" data && "
                "ln -s \"$LAPIS_COMMAND\" build/lapis");
}

/* The folder and the table of labels that the README is about: the first block
 * of the gallery. */
static const char people[] =
    "awk '/^```sh$/ { on = 1; next } on && /^```/ { exit } on' "
    "\"$root/docs/gallery.md\" >first && sh -eu first";

/* ---- running ------------------------------------------------------------*/
static const char extract[] =
    "awk -v fence='```%s' '$0 == fence { on = 1; next } /^```/ { on = 0 } on' "
    "\"$page\" >block && test -s block";

static bool has_block(command *c, const char *page, const char *language)
{
  char line[512];
  snprintf(line, sizeof line, extract, language);
  return shell(c, page, line) == 0;
}

/* Whether the commands of a page are to be run. */
static bool is_due(command *c, const char *page)
{
  static const char changed[] =
      "cd \"$root\" && "
      "{ git diff --name-only \"${LAPIS_TEST_SINCE:-HEAD~1}\" -- \"$page\" || "
      "echo ${LAPIS_TEST_SINCE:+unknown}; "
      "git ls-files --others -- \"$page\"; } | grep -q .";
  return room_all() || shell(c, page, changed) == 0;
}

/* The pages of features and of pipelines; free with globfree. */
static void image_pages(glob_t *g)
{
  static const char *const names[] = {"features", "label", "match", "locate"};
  for (int i = 0; i < 4; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/docs/%s.md", root(), names[i]);
    assert_int_equal(glob(path, i > 0 ? GLOB_APPEND : 0, NULL, g), 0);
  }
}

static const char *relative(const char *path)
{
  return path + strlen(root()) + 1;
}

/* Lines of text fences, but for those that tools/update-help writes and what
 * follows Python, stand in this order in what the page's blocks printed.
 * Words are equal; numbers within a tenth, but for those below .001 (gaps at
 * the end of a solve) and for seconds: machines differ. */
static const char compare[] =
    "function number(t) { return t ~ /^[-+]?[0-9.]+(e[-+]?[0-9]+)?[;,)]?$/ }\n"
    "function size(x) { return x < 0 ? -x : x }\n"
    "function alike(a, b, n, i, p, q, u, v) {\n"
    "  n = split(a, p, \" \"); if (split(b, q, \" \") != n) return 0\n"
    "  for (i = 1; i <= n; i++) {\n"
    "    sub(/^[(]/, \"\", p[i]); sub(/^[(]/, \"\", q[i])\n"
    "    if (p[i] == q[i]) continue\n"
    "    if (!number(p[i]) || !number(q[i])) return 0\n"
    "    if (p[i + 1] ~ /^s[;,)]?$/ && q[i + 1] == p[i + 1]) continue\n"
    "    u = size(p[i] + 0); v = size(q[i] + 0)\n"
    "    if (u < .001 && v < .001) continue\n"
    "    if (size(p[i] - q[i]) > .1 * (u > v ? u : v)) return 0\n"
    "  }\n"
    "  return 1\n"
    "}\n"
    "NR == FNR { said[++lines] = $0; next }\n"
    "/^```python/ { exit }\n"
    "/^```text/ && before !~ /^<!--/ { on = 1; next }\n"
    "/^```/ { on = 0 }\n"
    "{ before = $0 }\n"
    "on {\n"
    "  wanted++\n"
    "  while (++at <= lines && !alike($0, said[at])) ;\n"
    "  if (at > lines) { print \"not printed: \" $0; bad = 1; exit }\n"
    "}\n"
    "END { exit bad || wanted == 0 }\n";

static void the_readme_runs(void **state)
{
  command c;
  begin(&c);
  command_write(&c, "compare", compare, sizeof compare - 1);
  assert_true(has_block(&c, "README.md", "sh"));
  shell_or_fail(&c, "README.md", people);
  shell_or_fail(&c, "README.md", "XDG_CACHE_HOME=$PWD sh -eu block >said");
  shell_or_fail(&c, "README.md", "awk -f compare said \"$page\"");
  command_end(&c);
}

static void the_readme_compiles(void **state)
{
  command c;
  begin(&c);
  assert_true(has_block(&c, "README.md", "c"));
  shell_or_fail(
      &c, "README.md",
      "{ echo '#include <stdio.h>'; grep '^#' block\n"
      "echo 'void f(double *x, double *y, int64_t features, int64_t samples)'\n"
      "echo '{'; grep -v '^#' block; echo '}'; } >readme.c\n"
      "${CC:-cc} -std=c11 -Wall -Wextra -Werror -fsyntax-only "
      "-I\"$root/include\" readme.c");
  command_end(&c);
}

static void the_pages_run(void **state)
{
  command c;
  glob_t pages;
  begin(&c);
  image_pages(&pages);
  if (is_due(&c, "docs/metrics.md")) {
    assert_true(has_block(&c, "docs/metrics.md", "sh"));
    shell_or_fail(&c, "docs/metrics.md", "sh -eu block >said");
    assert_true(has_block(&c, "docs/metrics.md", "text"));
    shell_or_fail(&c, "", "tail -n 3 said | diff block -");
  }
  for (size_t i = 0; i < pages.gl_pathc; i++) {
    const char *page = relative(pages.gl_pathv[i]);
    if (is_due(&c, page) && has_block(&c, page, "sh"))
      shell_or_fail(&c, page, "sh -eu block");
  }
  globfree(&pages);
  command_end(&c);
}

/* Vectors are made, labels come back, and the page's text is what is said. */
static void the_page_on_embeddings_runs(void **state)
{
  command c;
  const char *page = "docs/embeddings.md";
  begin(&c);
  if (is_due(&c, page)) {
    assert_true(has_block(&c, page, "sh"));
    shell_or_fail(&c, page, "sh -eu block >said");
    assert_true(has_block(&c, page, "text"));
    shell_or_fail(&c, page, "diff block said && test -s page.html");
  }
  command_end(&c);
}

static const char plan[] =
    "grep '^## ' \"$page\" >headings\n"
    "printf '## %s\\n' 'When to use it' 'The problem' 'An example' Results "
    "Settings Limits 'The paper' | diff - headings";

/* Every page of a method has one plan, and an example with its output. */
static void the_methods_have_one_plan(void **state)
{
  command c;
  char pattern[4096];
  glob_t pages;
  begin(&c);
  command_write(&c, "compare", compare, sizeof compare - 1);
  snprintf(pattern, sizeof pattern, "%s/docs/methods/*.md", root());
  assert_int_equal(glob(pattern, 0, NULL, &pages), 0);
  assert_int_equal(pages.gl_pathc, 10);
  for (size_t i = 0; i < pages.gl_pathc; i++) {
    const char *page = relative(pages.gl_pathv[i]);
    shell_or_fail(&c, page, plan);
    shell_or_fail(&c, page, "grep -q '^<!-- settings of: lapis' \"$page\"");
    assert_true(has_block(&c, page, "sh"));
    if (!is_due(&c, page)) continue;
    shell_or_fail(&c, page, "sh -eu block >said");
    shell_or_fail(&c, page, "awk -f compare said \"$page\"");
  }
  globfree(&pages);
  command_end(&c);
}

/* Pages whose examples other tests run: those above; of Python (python.md and
 * errata.md), Octave and scale.md theirs; of gallery.md tools/site;
 * internals.md is about the sources. */
static bool runs_elsewhere(const char *page)
{
  static const char *const names[] = {
      "features",   "label",   "match",  "locate", "metrics",
      "embeddings", "python",  "errata", "octave", "scale",
      "internals",  "gallery", "papers"};
  char path[64];
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    snprintf(path, sizeof path, "docs/%s.md", names[k]);
    if (strcmp(page, path) == 0) return true;
  }
  return false;
}

/* No page without an example: every other one has one that runs, and what it
 * shows is printed. */
static void the_guides_run(void **state)
{
  char pattern[4096];
  glob_t pages;
  command c;
  int guides = 0;
  begin(&c);
  command_write(&c, "compare", compare, sizeof compare - 1);
  snprintf(pattern, sizeof pattern, "%s/docs/*.md", root());
  assert_int_equal(glob(pattern, 0, NULL, &pages), 0);
  snprintf(pattern, sizeof pattern, "%s/docs/tutorials/*.md", root());
  assert_int_equal(glob(pattern, GLOB_APPEND, NULL, &pages), 0);
  for (size_t i = 0; i < pages.gl_pathc; i++) {
    const char *page = relative(pages.gl_pathv[i]);
    if (runs_elsewhere(page)) continue;
    if (!has_block(&c, page, "sh")) fail_msg("%s has no example", page);
    guides++;
    if (!is_due(&c, page)) continue;
    shell_or_fail(&c, page, "sh -eu block >said");
    if (has_block(&c, page, "text"))
      shell_or_fail(&c, page, "awk -f compare said \"$page\"");
  }
  assert_true(guides >= 11);
  globfree(&pages);
  command_end(&c);
}

/* Words that a reader whose English is a second language could not use: they
 * were in messages and pages, and stay out. */
static void the_words_are_plain(void **state)
{
  static const char find[] =
      "cd \"$root\" && words='(is|are)( all)? wanted|the usual (is|are) taken|"
      "[Nn]othing (is|was) learnt|files that end as'\n"
      "! { find command src images -name '*.[ch]' -exec sed -zE "
      "'s/\"[[:space:]]*\\n[[:space:]]*\"//g' {} + | "
      "grep -aoE \"\\\"[^\\\"]*($words)[^\\\"]*\"\n"
      "  grep -rnE \"$words\" docs README.md CONTRIBUTING.md quickstart; }";
  command c;
  begin(&c);
  if (shell(&c, "", find) != 0) fail_msg("say it otherwise:\n%s", c.out);
  command_end(&c);
}

/* Each link leads to a file and a heading; one that does not is found. */
static void the_links_lead_somewhere(void **state)
{
  command c;
  begin(&c);
  shell_or_fail(&c, "", "\"$root/tools/check-links\"");
  shell_or_fail(&c, "",
                "mkdir pages && echo '# One' >pages/one.md && "
                "echo '[a](one.md#one) `[b](no.md)`' >pages/two.md && "
                "\"$root/tools/check-links\" pages");
  assert_int_not_equal(shell(&c, "",
                             "echo '[a](one.md#two)' >pages/three.md && "
                             "\"$root/tools/check-links\" pages"),
                       0);
  assert_non_null(strstr(c.out, "three.md: one.md#two: no such heading"));
  assert_int_not_equal(shell(&c, "",
                             "rm pages/one.md && "
                             "\"$root/tools/check-links\" pages"),
                       0);
  assert_non_null(strstr(c.out, "two.md: one.md#one: no such file"));
  assert_int_not_equal(
      shell(&c, "",
            "mkdir site && echo '<p id=a><a href=/x.html#a>1</a>' >site/x.html "
            "&& "
            "\"$root/tools/check-links\" site && "
            "echo '<a href=x.html#b>2</a><img src=no.png>' >site/y.html && "
            "\"$root/tools/check-links\" site"),
      0);
  assert_non_null(strstr(c.out, "y.html: x.html#b: nothing has that id"));
  assert_non_null(strstr(c.out, "y.html: no.png: no such file"));
  command_end(&c);
}

static void the_certificate_can_be_read(void **state)
{
  command c;
  begin(&c);
  const char *numpy = "for p in python3 /usr/bin/python3; do "
                      "$p -c 'import numpy' && echo $p >python && break; done;"
                      "test -s python";
  if (shell(&c, "", numpy) != 0) {
    command_end(&c);
    print_message("skipped: no python3 with numpy\n");
    skip();
  }
  assert_true(has_block(&c, "docs/methods/mc.md", "sh"));
  shell_or_fail(&c, "docs/methods/mc.md", "sh -eu block");
  assert_true(has_block(&c, "docs/methods/mc.md", "python"));
  shell_or_fail(&c, "docs/methods/mc.md", "$(cat python) block");
  command_end(&c);
}

/* ---- help ---------------------------------------------------------------*/
static void the_help_is_current(void **state)
{
  command c;
  begin(&c);
  shell_or_fail(&c, "",
                "mkdir -p copy/docs copy/tools && cp -r \"$root/docs/methods\" "
                "copy/docs && cp -r \"$root/octave\" copy && "
                "cp \"$root/tools/update-help\" copy/tools");
  shell_or_fail(&c, "", "copy/tools/update-help build/lapis");
  if (shell(&c, "",
            "diff -ru \"$root/docs/methods\" copy/docs/methods && "
            "diff -ru \"$root/octave\" copy/octave") != 0)
    fail_msg("help in docs or octave is not what lapis says; run "
             "tools/regenerate:\n%s",
             c.out);
  command_end(&c);
}

int test_docs(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_readme_runs),
      cmocka_unit_test(the_readme_compiles),
      cmocka_unit_test(the_pages_run),
      cmocka_unit_test(the_page_on_embeddings_runs),
      cmocka_unit_test(the_methods_have_one_plan),
      cmocka_unit_test(the_guides_run),
      cmocka_unit_test(the_words_are_plain),
      cmocka_unit_test(the_links_lead_somewhere),
      cmocka_unit_test(the_certificate_can_be_read),
      cmocka_unit_test(the_help_is_current),
  };
  return run_cases(tests, NULL, NULL);
}
