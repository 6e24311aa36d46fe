/* mpirun.h - the command in several processes that mpirun starts. */
#ifndef LAPIS_MPIRUN_H
#define LAPIS_MPIRUN_H
#include "command.h"

enum { MPIRUN_WORDS = 5000 };

static inline bool mpirun_have(const char *what)
{
  char line[300];
  snprintf(line, sizeof line, "command -v %s >/dev/null", what);
  return system(line) == 0;
}

/* Skips the running test where mpirun or the plug-in is missing. */
static inline void mpirun_begin(command *c)
{
  command_begin(c);
  command_run(c, "info --json");
  if (mpirun_have("mpirun") && strstr(c->out, "\"mpi\": true") != NULL) return;
  print_message("skipped: no mpirun, or the plug-in for it is not built\n");
  skip();
}

/* Doubles in rows, as numpy writes them. */
static inline void mpirun_put(const command *c, const char *name,
                              const double *x, int rows, int cols)
{
  char *all = calloc(1, 128 + sizeof *x * (size_t)(rows * cols));
  memcpy(all, "\x93NUMPY\x01\x00\x76\x00", 10);
  memset(all + 10, ' ', 118);
  int n = snprintf(all + 10, 118,
                   "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, "
                   "%d), }",
                   rows, cols);
  all[10 + n] = ' ';
  all[127] = '\n';
  memcpy(all + 128, x, sizeof *x * (size_t)(rows * cols));
  command_write(c, name, all, 128 + sizeof *x * (size_t)(rows * cols));
  free(all);
}

/* mpirun -n processes BEFORE lapis ARGUMENTS; its own words go elsewhere. */
static inline int mpirun_run(command *c, int processes, const char *before,
                             const char *arguments)
{
  char line[MPIRUN_WORDS];
  snprintf(line, sizeof line,
           "cd %s && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
           "mpirun --quiet --oversubscribe -n %d %s %s %s >.stdout 2>.stderr "
           "</dev/null",
           c->folder, processes, before, getenv("LAPIS_COMMAND"), arguments);
  int status = system(line);
  c->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  command_slurp(c, ".stdout", c->out, sizeof c->out);
  command_slurp(c, ".stderr", c->err, sizeof c->err);
  return c->code;
}

static inline const lapis_mat *mpirun_member(const lapis_arrays *all,
                                             const char *name)
{
  for (int i = 0; i < all->count; i++)
    if (strcmp(all->item[i].name, name) == 0) return &all->item[i].mat;
  fail_msg("the result has no %s", name);
  return NULL;
}

/* The arrays of two files to 1e-9, but the history. */
static inline void mpirun_same(const command *c, const char *one,
                               const char *many)
{
  lapis_arrays a, b;
  command_arrays(c, one, &a);
  command_arrays(c, many, &b);
  assert_int_equal(a.count, b.count);
  for (int k = 0; k < a.count; k++) {
    const lapis_mat *x = &a.item[k].mat, *y = mpirun_member(&b, a.item[k].name);
    assert_int_equal(x->rows, y->rows);
    assert_int_equal(x->cols, y->cols);
    if (x->dtype != LAPIS_F64 || strcmp(a.item[k].name, "history") == 0)
      continue;
    for (int64_t j = 0; j < x->cols; j++)
      for (int64_t i = 0; i < x->rows; i++)
        CHECK_NEAR(lapis_mat_at(x, i, j), lapis_mat_at(y, i, j), 1e-9);
  }
  lapis_arrays_free(&a);
  lapis_arrays_free(&b);
}

#endif
