/* The disk is full at every write in turn (a limit on the size of files):
 * every command says so, the old output stays, and nothing is left beside. */
#include <dirent.h>

#include "command.h"
#include "remarks.h"

enum { N = 40, D = 6, LIMITS = 64 };
static const char old[] = "what was here before";

typedef struct task {
  const char *arguments, *output;
} task;

static const task tasks[] = {
    {"fit mc d.npz --mu-rel .1 -o out", "out"},
    {"fit rpca d.npz --model out", "out"},
    {"fit svmplus d.npz --kernel rbf --model out", "out"},
    {"predict m.lapis d.npz -o out", "out"},
    {"convert d.npz out.npz --map standard", "out.npz"},
    {"convert d.npz out.npy", "out.npy"},
    {"cv mc d.npz --grid lambda=.1,1 --config out.json", "out.json"},
    {"assign c.npy -o out", "out"},
    {"convert d.npz out.h5", "out.h5"},
    {"convert d.npz out.mat --as mat73", "out.mat"},
};

static void write_inputs(command *c)
{
  double X[D * N], Y[N];
  uint64_t r = 1;
  char path[160];
  lapis_ctx *ctx = lapis_ctx_new();
  for (int i = 0; i < D * N; i++) X[i] = check_normal(&r);
  for (int j = 0; j < N; j++) Y[j] = X[j * D] > 0;
  lapis_named item[] = {{.name = "X", .mat = lapis_mat_f64(X, D, N)},
                        {.name = "Y", .mat = lapis_mat_f64(Y, 1, N)},
                        {.name = "C", .mat = lapis_mat_f64(X, D, D)}};
  snprintf(path, sizeof path, "%s/d.npz", c->folder);
  assert_int_equal(lapis_arrays_write(ctx, path, "npz", item, 2), LAPIS_OK);
  snprintf(path, sizeof path, "%s/c.npy", c->folder);
  assert_int_equal(lapis_arrays_write(ctx, path, "npy", &item[2], 1), LAPIS_OK);
  lapis_ctx_free(ctx);
  command_do(c, "fit rlda d.npz --model m.lapis");
}

static int count_files(const command *c)
{
  int count = 0;
  DIR *d = opendir(c->folder);
  assert_non_null(d);
  while (readdir(d) != NULL) count++;
  closedir(d);
  return count;
}

/* Exit code with files of at most blocks * 512 bytes. */
static int run_limited(command *c, const char *arguments, int blocks)
{
  char line[1024];
  snprintf(line, sizeof line,
           "cd %s && { (ulimit -f %d; exec %s %s >/dev/null </dev/null) 2>&1; "
           "echo \"exit $?\"; } | cat >.stdout",
           c->folder, blocks, getenv("LAPIS_COMMAND"), arguments);
  assert_int_equal(system(line), 0);
  command_slurp(c, ".stdout", c->out, sizeof c->out);
  const char *code = strstr(c->out, "exit ");
  assert_non_null(code);
  return atoi(code + 5);
}

static void check_old(const command *c, const char *name, int blocks)
{
  char text[64] = "";
  command_slurp(c, name, text, sizeof text);
  if (strcmp(text, old) != 0) fail_msg("%s: gone at %d blocks", name, blocks);
}

static bool is_built(const char *format)
{
  for (int i = 0; lapis_format_at(i) != NULL; i++)
    if (strcmp(lapis_format_at(i)->name, format) == 0)
      return lapis_format_at(i)->built;
  return false;
}

static void fill(command *c, const task *t)
{
  bool apart =
      strstr(t->output, ".h5") != NULL || strstr(t->arguments, "mat73");
  if (apart && !is_built("h5")) return;
  int blocks = 0, code = -1;
  command_write(c, t->output, old, sizeof old - 1);
  int files = count_files(c);
  for (; blocks < LIMITS && code != 0; blocks++) {
    code = run_limited(c, t->arguments, blocks);
    if (code == 0) break;
    if (code != 4 || strstr(c->out, "cannot be written") == NULL)
      fail_msg("%s, %d blocks: %s", t->arguments, blocks, c->out);
    check_old(c, t->output, blocks);
    assert_int_equal(count_files(c), files);
  }
  print_message("%s: %d limits failed in turn\n", t->arguments, blocks);
  assert_true(blocks > 0 && blocks < LIMITS);
  char path[160];
  snprintf(path, sizeof path, "%s/%s", c->folder, t->output);
  assert_int_equal(unlink(path), 0);
}

static void a_full_disk_costs_no_old_file(void **state)
{
  command c;
  command_begin(&c);
  write_inputs(&c);
  for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) fill(&c, &tasks[i]);
  command_end(&c);
}

/* A result in parts stays as it was until its successor is written. */
static void a_full_disk_costs_no_folder(void **state)
{
  command c;
  char line[256];
  int blocks = 0;
  command_begin(&c);
  write_inputs(&c);
  command_do(&c, "fit rpca d.npz -o res/");
  snprintf(line, sizeof line, "cp -r %s/res %s/kept", c.folder, c.folder);
  assert_int_equal(system(line), 0);
  snprintf(line, sizeof line, "diff -r %s/res %s/kept", c.folder, c.folder);
  while (blocks < LIMITS &&
         run_limited(&c, "fit rpca d.npz --lambda .3 -o res/", blocks) != 0) {
    assert_non_null(strstr(c.out, "cannot be written"));
    if (system(line) != 0) fail_msg("res: differs at %d blocks", blocks);
    blocks++;
  }
  assert_true(blocks > 0 && blocks < LIMITS);
  command_do(&c, "info res/");
  command_end(&c);
}

/* A run does not end for its checkpoint; the checkpoint of before stays. */
static void a_full_disk_stops_no_run(void **state)
{
  command c;
  static char before[65536], after[65536];
  command_begin(&c);
  write_inputs(&c);
  const char *run = "fit mc d.npz --mu-rel .1 --tol 0 --max-iters %d "
                    "--checkpoint ck";
  char line[256];
  snprintf(line, sizeof line, run, 5);
  command_do(&c, "%s", line);
  command_slurp(&c, "ck", before, sizeof before);
  snprintf(line, sizeof line, run, 9);
  assert_int_equal(run_limited(&c, line, 1), 0);
  assert_non_null(strstr(c.out, NO_CHECKPOINT));
  command_slurp(&c, "ck", after, sizeof after);
  assert_memory_equal(before, after, sizeof before);
  command_end(&c);
}

int test_disk_full(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_full_disk_costs_no_old_file),
      cmocka_unit_test(a_full_disk_costs_no_folder),
      cmocka_unit_test(a_full_disk_stops_no_run),
  };
  return run_cases(tests, NULL, NULL);
}
