/* The examples of help and of the manual pages: each does what it shows, and
 * the pages fit a terminal. */
#include "command.h"

/* What the examples read: people and players in tables, two folders of
 * photographs, some labels, costs. */
static const char files[] =
    "mkdir photos more\n"
    "for p in an2i at33 boland bpm; do\n"
    "  cp \"$images\"/${p}_straight_[hn]* photos\n"
    "done\n"
    "cp \"$images\"/ch4f_straight_[hns]*_open.png more\n"
    "cut -d, -f1,5 \"$images/../index.csv\" |\n"
    "  grep -E '^(name|(an2i|at33|boland)_straight_[hn])' >labels.csv\n"
    "awk 'BEGIN { srand(3); print \"name,height,reach,weight,tall\"\n"
    "  print \"name,height,reach,weight\" >\"new.csv\"\n"
    "  print \"name,tall\" >\"truth.csv\"\n"
    "  print \"team\" >\"teams.csv\"\n"
    "  print \"name,height,weight,wins\" >\"players.csv\"\n"
    "  for (i = 0; i < 60; i++) {\n"
    "    h = 1.5 + .5 * rand(); t = h > 1.75 ? \"yes\" : \"no\"; g = int(i / "
    "6)\n"
    "    r = i % 9 ? sprintf(\"%.2f\", h * 1.02 + .05 * rand()) : \"\"\n"
    "    w = sprintf(\"%.1f\", 60 * (h - .6) + 8 * rand())\n"
    "    printf \"p%d,%.2f,%s,%s,%s\\n\", i, h, r, w, i < 40 ? t : \"\"\n"
    "    if (i >= 40) printf \"p%d,%.2f,%s,%s\\n\", i, h, r, w >\"new.csv\"\n"
    "    if (i >= 40) printf \"p%d,%s\\n\", i, t >\"truth.csv\"\n"
    "    print g >\"teams.csv\"\n"
    "    printf \"p%d,%.2f,%s,%d\\n\", i, h, w, g % 2 >\"players.csv\"\n"
    "  } }' >people.csv\n"
    "printf '4,1,3\\n2,0,5\\n3,2,2\\n' >costs.csv\n"
    "printf 'stand-in\\nin 1 3 8 12\\nout f 1 5\\n"
    "hidden map 1 3 4 6\\n' >net.onnx\n";

static int shell(command *c, const char *script)
{
  char all[8192];
  (void)snprintf(all, sizeof all,
                 "cd %s && images='%s/data/cmu_faces/images' && "
                 "export LAPIS_ONNXRUNTIME=\"${LAPIS_TEST_ONNX-}\" && "
                 "lapis() { \"$LAPIS_COMMAND\" \"$@\"; } && { set -eu\n%s\n} "
                 ">.stdout 2>.stderr </dev/null",
                 c->folder, LAPIS_TREE, script);
  int status = system(all);
  c->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  command_slurp(c, ".stdout", c->out, sizeof c->out);
  command_slurp(c, ".stderr", c->err, sizeof c->err);
  return c->code;
}

/* Every page has examples.  (test_command runs the demo.) */
static void every_example_runs(void **state)
{
  command_need_images();
  static const char list[] =
      "for page in $(lapis help --man | sed -n 's/^lapis-//p'); do\n"
      "  lapis help $page | awk '/^For instance:/ { on = 1; next } on' >lines\n"
      "  test -s lines || echo \"$page has no example\"\n"
      "  while read -r line; do\n"
      "    case $line in lapis\\ *) ;; *) echo \"$page: $line\" ;; esac\n"
      "    case $line in *demo*) continue ;; esac\n"
      "    echo \"$line\" >>script\n"
      "  done <lines\n"
      "done\n";
  command c;
  command_begin(&c);
  if (shell(&c, files) != 0) fail_msg("%s", c.err);
  shell(&c, list);
  assert_string_equal(c.out, "");
  /* models and points come before what reads them */
  if (shell(&c, "grep -E ' fit (mc|rpca)| pixels | sift ' script >first\n"
                "cat first script | while read -r line; do\n"
                "  case $line in # a small vocabulary is learnt as well\n"
                "  *--vocabulary*) ;;\n"
                "  *\\ sift-bow*|*\\ texton-bow*)\n"
                "    line=\"$line --words 64 --learn 2000\" ;;\n"
                "  esac\n"
                "  (eval \"$line\" -q) </dev/null >said 2>why ||\n"
                "    { echo \"exit $?: $line\"; cat why; exit 1; }\n"
                "done\n") != 0)
    fail_msg("%s%s", c.out, c.err);
  command_end(&c);
}

/* Every page by its name, and of a method or kind below each verb; in manual
 * pages the lines that man does not fill, which it moves in by 7. */
static void help_fits_a_terminal(void **state)
{
  static const char pages[] =
      "long() { awk -v page=\"$1\" -v most=$2 \\\n"
      "  '{ pages = 1 } length > most { print page \": \" $0 }\n"
      "   END { if (!pages) print page \" is empty\" }'; }\n"
      "names=$(lapis help --man | sed -n 's/^lapis-//p')\n"
      "lapis help | long help 79\n"
      "for page in $names; do\n"
      "  lapis help $page | long $page 79\n"
      "  for verb in fit cv features; do\n"
      "    lapis help $verb $page >it 2>/dev/null || continue\n"
      "    long \"$verb $page\" 79 <it\n"
      "  done\n"
      "  lapis help --man lapis-$page |\n"
      "    awk '/^\\.nf/ { on = 1; next } /^\\.fi/ { on = 0 } on' |\n"
      "    tr -d '\\134' | long \"man $page\" 73\n"
      "done\n";
  command c;
  command_begin(&c);
  shell(&c, pages);
  assert_int_equal(c.code, 0);
  assert_string_equal(c.out, "");
  command_end(&c);
}

int test_examples(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_example_runs),
                                     cmocka_unit_test(help_fits_a_terminal)};
  return run_cases(tests, NULL, NULL);
}
