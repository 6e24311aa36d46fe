/* mpi_option.c - one fit, or one answer, by the processes that mpirun starts
 * (--mpi).
 *
 * Each reads its own samples (lapis_dataset_divide) and solves for its part;
 * rank 0 alone talks, and writes what is joined in blocks.  At every place
 * where one may fail alone all agree before they go on. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"

enum { BLOCK = 1 << 19 }; /* doubles of a result that travel at once */

/* What mpirun tells the processes it starts, of Open MPI or of MPICH. */
static long from_mpirun(const char *ours, const char *theirs, long otherwise)
{
  const char *text = getenv(ours);
  if (text == NULL) text = getenv(theirs);
  return text == NULL ? otherwise : strtol(text, NULL, 10);
}

/* The verb has --mpi. */
static bool divides(const cli *c)
{
  const cli_option *o = c->verb->options;
  while (o->name != NULL && strcmp(o->name, "mpi") != 0) o++;
  return o->name != NULL;
}

/* Four runs that write one file are the classic accident. */
static int refuse_several(const cli *c)
{
  long size = from_mpirun("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", 1);
  if (size <= 1) return EXIT_DONE;
  if (from_mpirun("OMPI_COMM_WORLD_RANK", "PMI_RANK", 0) > 0)
    return EXIT_MISUSE; /* one says it */
  if (divides(c))
    return cli_fail(EXIT_MISUSE,
                    "%s: mpirun started %ld processes, which would all do the "
                    "same and write the same files; --mpi divides the samples "
                    "among them",
                    c->verb->name, size);
  return cli_fail(EXIT_MISUSE,
                  "%s: mpirun started %ld processes, and this verb runs in "
                  "one; start it without mpirun",
                  c->verb->name, size);
}

/* What works on all samples in one process. */
static int check_options(const cli *c)
{
  static const char *const alone[] = {"suspects", "threshold", "jobs", "pairs"};
  for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
    if (args_get(&c->args, alone[i]) != NULL)
      return cli_fail(EXIT_MISUSE,
                      "%s: --%s is not divided among processes; leave it or "
                      "--mpi out",
                      c->verb->name, alone[i]);
  return EXIT_DONE;
}

/* A share of the machine's cores, unless mpirun has bound us to some. */
static void share_cores(cli *c, int near)
{
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int own = lapis_ctx_threads(c->ctx);
  char text[32];
  if (args_get(&c->args, "threads") != NULL || (long)own * near <= cores)
    return;
  snprintf(text, sizeof text, "%ld", cores > near ? cores / near : 1L);
  lapis_ctx_set(c->ctx, "threads", text);
}

int spread_begin(cli *c)
{
  c->ranks = (lapis_processes){.size = 1, .near = 1};
  if (args_get(&c->args, "mpi") == NULL) return refuse_several(c);
  lapis_status s = lapis_mpi_join(c->ctx, &c->ranks);
  if (s < 0) return cli_fail_status(c, s);
  c->joined = true;
  share_cores(c, c->ranks.near);
  if (c->ranks.rank > 0) {
    c->quiet = true;
    c->bar = false;
    if (freopen("/dev/null", "w", stdout) == NULL ||
        freopen("/dev/null", "w", stderr) == NULL)
      return EXIT_FAILED;
  }
  return check_options(c);
}

void spread_end(cli *c)
{
  if (c->joined) lapis_mpi_leave(c->ctx);
  c->joined = false;
}

int spread_agree(cli *c, int code)
{
  if (c->ranks.size <= 1) return code;
  lapis_status own = code == EXIT_DONE     ? LAPIS_OK
                     : code == EXIT_MISUSE ? LAPIS_EINVAL
                                           : LAPIS_EIO;
  if (own < 0 && lapis_ctx_error(c->ctx)[0] == '\0')
    lapis_fail(c->ctx, own, "its part could not be read");
  lapis_status s = lapis_ctx_agree(c->ctx, own);
  if (code != EXIT_DONE || s >= 0) return code;
  return cli_fail_status(c, s);
}

lapis_status spread_settle(cli *c, lapis_status own)
{
  return c->ranks.size > 1 ? lapis_ctx_agree(c->ctx, own) : own;
}

void spread_count(cli *c, double *counts, int64_t n)
{
  if (c->ranks.size > 1) (void)lapis_ctx_sum(c->ctx, counts, n);
}

/* ---- the whole of a result ----------------------------------------------*/
/* Columns from .. from + count - 1 of the whole, where they are ours. */
static void put_own(const lapis_mat *mat, int64_t first, int64_t from,
                    int64_t count, double *block)
{
  for (int64_t j = 0; j < mat->cols; j++) {
    int64_t at = first + j - from;
    for (int64_t i = 0; at >= 0 && at < count && i < mat->rows; i++)
      block[at * mat->rows + i] = lapis_mat_at(mat, i, j);
  }
}

static lapis_status join_blocks(cli *c, const lapis_mat *mat, int64_t all,
                                double *whole)
{
  int64_t size = BLOCK / (mat->rows > 0 ? mat->rows : 1) + 1;
  int64_t first = all * c->ranks.rank / c->ranks.size;
  double *block = calloc((size_t)(size * mat->rows + 1), sizeof *block);
  lapis_status s = LAPIS_OK;
  if (block == NULL || (whole == NULL && c->ranks.rank == 0))
    s = lapis_fail(c->ctx, LAPIS_ENOMEM, "out of memory for the whole result");
  s = lapis_ctx_agree(c->ctx, s);
  for (int64_t from = 0; block != NULL && s >= 0 && from < all; from += size) {
    int64_t count = all - from < size ? all - from : size;
    memset(block, 0, (size_t)(count * mat->rows) * sizeof *block);
    put_own(mat, first, from, count, block);
    s = lapis_ctx_sum(c->ctx, block, count * mat->rows);
    if (s >= 0 && whole != NULL)
      memcpy(whole + from * mat->rows, block,
             (size_t)(count * mat->rows) * sizeof *block);
  }
  free(block);
  return s;
}

lapis_status spread_join(cli *c, const lapis_solver *s, const char *name,
                         int64_t all, lapis_mat *mat, void **owned)
{
  *owned = NULL;
  if (c->ranks.size <= 1 || !lapis_result_is_divided(s, name)) return LAPIS_OK;
  int64_t count = mat->rows * all;
  double *whole =
      c->ranks.rank > 0 ? NULL : malloc((size_t)(count + 1) * sizeof *whole);
  lapis_status status = join_blocks(c, mat, all, whole);
  *owned = whole;
  if (whole != NULL) *mat = lapis_mat_f64(whole, mat->rows, all);
  return status;
}
