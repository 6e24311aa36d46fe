/* The scripts of docs/scale.md, as they stand there: what parts make on one
 * machine is what one run makes.  A stand-in for sbatch runs the script of an
 * array once for each of its numbers, as SLURM does on its nodes. */
#include "command.h"

enum { N = 40, D = 4, IMAGES = 24, SIDE = 16, PAGE = 1 << 16 };

/* The first block of the page that begins with these words behind `after`. */
static void take_block(const command *c, const char *after, const char *start,
                       const char *to)
{
  static char page[PAGE];
  FILE *f = fopen(LAPIS_TREE "/docs/scale.md", "rb");
  assert_non_null(f);
  page[fread(page, 1, PAGE - 1, f)] = '\0';
  assert_int_equal(fclose(f), 0);
  char *at = strstr(page, after), *end = NULL, fence[200];
  snprintf(fence, sizeof fence, "\n```\n%s", start);
  if (at != NULL) at = strstr(at, fence);
  if (at != NULL) end = strstr(at + 5, "\n```\n");
  if (end == NULL) fail_msg("docs/scale.md has no '%s' there", start);
  at += strlen("\n```\n");
  command_write(c, to, at, (size_t)(end + 1 - at));
}

/* A line of the shell in the folder, where `lapis` is the command. */
static int shell(const command *c, const char *line)
{
  char all[2000], path[1000];
  snprintf(path, sizeof path, "%s", getenv("LAPIS_COMMAND"));
  *strrchr(path, '/') = '\0';
  snprintf(all, sizeof all,
           "cd %s && PATH=\"%s:$PWD:$PATH\" && { %s\n} >out 2>&1", c->folder,
           path, line);
  return system(all);
}

static void must(command *c, const char *line)
{
  if (shell(c, line) == 0) return;
  command_slurp(c, "out", c->out, sizeof c->out);
  fail_msg("%s: %s", line, c->out);
}

static void put_sbatch(const command *c)
{
  static const char script[] =
      "#!/bin/sh\n"
      "range=$(sed -n 's/^#SBATCH.*--array=\\([0-9-]*\\).*/\\1/p' \"$1\")\n"
      "for SLURM_ARRAY_TASK_ID in $(seq ${range%-*} ${range#*-}); do\n"
      "  export SLURM_ARRAY_TASK_ID\n"
      "  sh -e \"$1\" || exit 1\n"
      "done\n";
  command_write(c, "sbatch", script, sizeof script - 1);
  assert_int_equal(shell(c, "chmod +x sbatch"), 0);
}

static void put_data(const command *c)
{
  double X[D * N], Y[N];
  char path[160];
  uint64_t r = 7;
  lapis_ctx *ctx = lapis_ctx_new();
  for (int j = 0; j < N; j++) {
    for (int i = 0; i < D; i++) X[j * D + i] = check_normal(&r);
    Y[j] = X[j * D] + 0.5 * check_normal(&r) > 0 ? 1 : -1;
  }
  const lapis_named item[] = {{.name = "X", .mat = lapis_mat_f64(X, D, N)},
                              {.name = "Y", .mat = lapis_mat_f64(Y, 1, N)}};
  snprintf(path, sizeof path, "%s/data.npz", c->folder);
  assert_int_equal(lapis_arrays_write(ctx, path, "npz", item, 2), 0);
  lapis_ctx_free(ctx);
}

/* What one run chooses, in whole.json. */
#define WHOLE "lapis cv mc data.npz --grid mu-rel=1:.001:7 --config whole.json"

static void settings_in_parts(void **state)
{
  command c;
  command_begin(&c);
  put_data(&c);
  put_sbatch(&c);
  must(&c, WHOLE " --folds 10");
  take_block(&c, "## Choosing settings in parts", "lapis cv mc", "three");
  must(&c, "sh -e three && cmp best.json whole.json && rm p?.npz best.json");

  take_block(&c, "A SLURM array:", "#SBATCH", "array");
  must(&c, "sbatch array && ls p10.npz && lapis cv --join p*.npz --config "
           "best.json && cmp best.json whole.json && rm p*.npz best.json");
  take_block(&c, "A SLURM array:", "seq 10 | xargs", "all");
  must(&c, "sh -e all && lapis cv --join p*.npz --config best.json && cmp "
           "best.json whole.json && rm p*.npz best.json");

  must(&c, WHOLE);
  take_block(&c, "With make", "PARTS", "Makefile");
  must(&c, "make -j 4 best.json && cmp best.json whole.json");
  must(&c, "rm best.json part3.npz && make best.json && cmp best.json "
           "whole.json");
  command_end(&c);
}

/* GNU's; moreutils has another program of that name. */
static void settings_by_parallel(void **state)
{
  command c;
  if (system("parallel --version 2>/dev/null | grep -q GNU") != 0) {
    print_message("skipped: GNU parallel is not installed\n");
    skip();
  }
  command_begin(&c);
  put_data(&c);
  must(&c, WHOLE " --folds 10");
  must(&c, "parallel lapis cv mc data.npz --grid mu-rel=1:.001:7 --folds 10 "
           "--threads 1 --quiet --part {}/10 -o p{}.npz ::: $(seq 10)");
  must(&c, "lapis cv --join p*.npz --config best.json && cmp best.json "
           "whole.json");
  command_end(&c);
}

/* 64 x 64 is more than they have: they are enlarged. */
static void put_photos(const command *c)
{
  unsigned char image[SIDE * SIDE];
  char name[64], all[SIDE * SIDE + 32];
  uint64_t r = 5;
  assert_int_equal(shell(c, "mkdir photos"), 0);
  for (int k = 0; k < IMAGES; k++) {
    for (int i = 0; i < SIDE * SIDE; i++)
      image[i] = (unsigned char)(255 * check_uniform(&r));
    int head = snprintf(all, sizeof all, "P5\n%d %d\n255\n", SIDE, SIDE);
    memcpy(all + head, image, sizeof image);
    snprintf(name, sizeof name, "photos/%02d.pgm", k);
    command_write(c, name, all, (size_t)head + sizeof image);
  }
}

/* The page keeps them in a folder of the whole machine. */
static void features_in_parts(void **state)
{
  command c;
  command_begin(&c);
  put_photos(&c);
  must(&c, "lapis features hog photos --size 64x64 -o whole.npz");
  take_block(&c, "## Features in parts", "lapis features", "three");
  must(&c, "sed -i 's|/shared/|./|' three && sh -e three && cmp x.npz "
           "whole.npz");
  command_end(&c);
}

int test_scale(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(settings_in_parts),
      cmocka_unit_test(settings_by_parallel),
      cmocka_unit_test(features_in_parts),
  };
  return run_cases(tests, NULL, NULL);
}
