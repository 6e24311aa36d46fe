/* Where an output cannot be written is said before anything is computed: one
 * sentence and nothing else under -v, which a solve would fill with steps. */
#include "command.h"

static void write_inputs(command *c)
{
  enum { ROWS = 12 };
  char text[2000];
  uint64_t seed = 3;
  int used = sprintf(text, "a,b,c,y\n");
  for (int j = 0; j < ROWS; j++)
    used += sprintf(text + used, "%.3f,%.3f,%.3f,%d\n", check_normal(&seed),
                    check_normal(&seed), check_normal(&seed), j % 2);
  command_write(c, "d.csv", text, (size_t)used);
  unsigned char image[15 + 32 * 24 * 3];
  int head = sprintf((char *)image, "P6 32 24 255\n");
  for (int k = head; k < head + 32 * 24 * 3; k++)
    image[k] = (unsigned char)(k * 7 % 251);
  command_write(c, "0.ppm", image, (size_t)head + 32 * 24 * 3);
  command_write(c, "1.ppm", image, (size_t)head + 32 * 24 * 3);
  static const char labels[] = "name,class\n0.ppm,a\n1.ppm,b\n";
  command_write(c, "cost.csv", "1,2\n3,1\n", 8);
  command_write(c, "labels.csv", labels, sizeof labels - 1);
}

#define MC "fit mc d.csv --target y --mu-rel .1"
#define CV "cv rlda d.csv --target y --grid lambda=.1,1 --folds 2"
#define LABEL                                                            \
  "label . --labels labels.csv --target class --features color-moments " \
  "--mu-rel .2 --no-cache"
#define PAIR "0.ppm 1.ppm --no-cache"
static const char *const lines[] = {
    MC " -o no/o.npz",
    MC " --model no/o",
    MC " -o o.npz --model no/o",
    MC " -o o.npz --model o --checkpoint no/o",
    "fit mc d.csv --target y -o no/o.npz",
    "predict m d.csv -o no/o.npz",
    CV " --config no/o.json",
    CV " --checkpoint no/o",
    CV " --part 1/2 -o no/o.npz",
    "features hog . -o no/o.npz",
    "features dense-sift-bow . --words 5 -o o.npz --save-vocabulary no/v.npz",
    LABEL " -o no/o.html",
    LABEL " -o no/o.csv",
    LABEL " -o o.html --result no/o.npz",
    LABEL " -o o.html --result o.npz --labels-out no/o.csv",
    "match " PAIR " -o no/o.html",
    "match " PAIR " -o o.html --result no/o.npz",
    "locate " PAIR " -o no/o.html",
    "locate " PAIR " -o o.html --csv no/o.csv",
    "locate " PAIR " -o o.html --csv o.csv --result no/o.npz",
    "convert d.csv no/o.npz",
    "report r.npz -o no/o.html",
    "assign cost.csv -o no/o.npz",
    "demo -o no/o",
};

static void outputs_are_tried_first(void **state)
{
  command c;
  command_begin(&c);
  write_inputs(&c);
  command_run(&c, MC " --model m -o r.npz -v");
  command_expect(&c, 0, "solver");
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    command_run(&c, "%s -v", lines[i]);
    const char *end = strchr(c.err, '\n');
    if (c.code != 4 || strstr(c.err, "no/") == NULL || c.out[0] != '\0' ||
        end == NULL || end[1] != '\0')
      fail_msg("%s: exit %d, '%s' and '%s'", lines[i], c.code, c.err, c.out);
    if (command_exists(&c, "o.npz") || command_exists(&c, "o"))
      fail_msg("%s: an output was written", lines[i]);
  }
  command_end(&c);
}

/* An ending that says another format is not written as if it said none. */
static void endings_are_obeyed(void **state)
{
  static const struct {
    const char *line, *name;
    bool fine;
  } tried[] = {{MC, "a.xlsx", false},
               {MC, "a.b/o.parquet", false},
               {MC, "o.npy", false},
               {MC, "a.b/o", true},
               {MC, "o.1", true},
               {MC, "tmp.aX3bY5cZ7d", true},
               {MC, ".hidden", true},
               {MC, "o.npz", true},
               {MC, "o.csv", true},
               {"predict m d.csv --target y", "o.json", false},
               {"predict m d.csv --target y", "o.tsv", true},
               {"features hog .", "o.xlsx", false},
               {CV " --part 1/2", "part.csv", false},
               {CV " --part 1/2", "part1", true}};
  command c;
  command_begin(&c);
  write_inputs(&c);
  command_run(&c, "formats >/dev/null; mkdir %s/a.b", c.folder);
  command_do(&c, MC " --model m -q");
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    command_run(&c, "%s -o %s %s", tried[i].line, tried[i].name,
                tried[i].fine ? "-q" : "-v");
    command_expect(&c, tried[i].fine ? 0 : 2, "");
    if (!tried[i].fine && (strstr(c.err, "a .npz") == NULL || *c.out != '\0' ||
                           strstr(c.err, tried[i].name) == NULL))
      fail_msg("%s: %s", tried[i].name, c.err);
    if (command_exists(&c, tried[i].name) != tried[i].fine)
      fail_msg("%s: %s", tried[i].name, c.err);
  }
  command_end(&c);
}

/* Pages and tables of the verbs that read images have endings, too. */
static void pages_and_tables_have_their_endings(void **state)
{
  static const struct {
    const char *line, *name, *right; /* NULL: it is written */
  } tried[] = {{LABEL " -o", "x.foo", "F.html"},
               {LABEL " -o", "x.npz", "--result F.npz"},
               {LABEL " -o", "x.pdf", "F.csv"},
               {LABEL " -o", "page.htm", NULL},
               {LABEL " -o", "page.HTML", NULL},
               {LABEL " -o", "page", NULL},
               {LABEL " -o", "answers.csv", NULL},
               {LABEL " --labels-out", "l.json", "F.csv"},
               {LABEL " --labels-out", "l.csv", NULL},
               {"match " PAIR " -o", "x.png", "F.html"},
               {"locate " PAIR " -o", "x.json", "F.html"},
               {"locate " PAIR " --csv", "x.npz", "F.csv"},
               {"report r.npz -o", "x.pdf", "F.html"},
               {"report r.npz -o", "x.csv", "F.html"},
               {"report r.npz -o", "r.html", NULL}};
  command c;
  command_begin(&c);
  write_inputs(&c);
  command_do(&c, MC " -o r.npz -q");
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    bool fine = tried[i].right == NULL;
    command_run(&c, "%s %s %s", tried[i].line, tried[i].name,
                fine ? "-q" : "-v");
    command_expect(&c, fine ? 0 : 2, "");
    const char *end = strchr(c.err, '\n');
    if (!fine && (strstr(c.err, tried[i].right) == NULL || *c.out != '\0' ||
                  strstr(c.err, tried[i].name) == NULL || end[1] != '\0'))
      fail_msg("%s: %s", tried[i].name, c.err);
    if (command_exists(&c, tried[i].name) != fine)
      fail_msg("%s: %s", tried[i].name, c.err);
  }
  command_end(&c);
}

int test_outputs(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(outputs_are_tried_first),
      cmocka_unit_test(endings_are_obeyed),
      cmocka_unit_test(pages_and_tables_have_their_endings)};
  return run_cases(tests, NULL, NULL);
}
