/* mpi.c - the plug-ins lapis-mpi-openmpi and lapis-mpi-mpich: processes that
 * mpirun starts.
 *
 * This file alone includes MPI; it becomes a shared library that LAPIS opens at
 * run time, one for each MPI, since their binary interfaces differ.
 *
 * MPI says that all processes get the same result of an allreduce, and advises
 * that the same numbers give the same bits each time; Open MPI and MPICH do
 * both for as many processes.  A process that dies ends the job: mpirun sees to
 * it. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "parallel/comm_api.h"

/* MPI counts in ints, and long messages want memory of their own. */
enum { AT_ONCE = 1 << 20 };

static int reduce(double *x, int64_t n, MPI_Op op)
{
  for (int64_t i = 0; i < n; i += AT_ONCE) {
    int count = n - i < AT_ONCE ? (int)(n - i) : AT_ONCE;
    int code = MPI_Allreduce(MPI_IN_PLACE, x + i, count, MPI_DOUBLE, op,
                             MPI_COMM_WORLD);
    if (code != MPI_SUCCESS) return code;
  }
  return 0;
}

static int sum(void *self, double *x, int64_t n)
{
  (void)self;
  return reduce(x, n, MPI_SUM);
}

static int largest(void *self, double *x, int64_t n)
{
  (void)self;
  return reduce(x, n, MPI_MAX);
}

static int gather(void *self, const double *x, int64_t n, double *all)
{
  (void)self;
  if (n > AT_ONCE) return MPI_ERR_COUNT;
  return MPI_Allgather(x, (int)n, MPI_DOUBLE, all, (int)n, MPI_DOUBLE,
                       MPI_COMM_WORLD);
}

static int count_near(int *near)
{
  MPI_Comm machine;
  int code = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
                                 MPI_INFO_NULL, &machine);
  if (code == MPI_SUCCESS) code = MPI_Comm_size(machine, near);
  if (code == MPI_SUCCESS) code = MPI_Comm_free(&machine);
  return code;
}

static int mpi_open(lapis_comm *out, int *near, char *why, size_t size)
{
  int on = 0, level = 0;
  memset(out, 0, sizeof *out);
  int code = MPI_Initialized(&on);
  if (code == MPI_SUCCESS && !on)
    code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
  if (code == MPI_SUCCESS)
    code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (code == MPI_SUCCESS) code = MPI_Comm_rank(MPI_COMM_WORLD, &out->rank);
  if (code == MPI_SUCCESS) code = MPI_Comm_size(MPI_COMM_WORLD, &out->size);
  if (code == MPI_SUCCESS) code = count_near(near);
  out->sum = sum;
  out->max = largest;
  out->gather = gather;
  if (code != MPI_SUCCESS)
    snprintf(why, size, "MPI could not be started (code %d)", code);
  return code;
}

static void mpi_close(void)
{
  int on = 0, off = 1;
  if (MPI_Initialized(&on) != MPI_SUCCESS || !on) return; /* never joined */
  if (MPI_Finalized(&off) == MPI_SUCCESS && !off) MPI_Finalize();
}

__attribute__((visibility("default")))
const comm_api lapis_mpi = {COMM_API_VERSION, "mpi", mpi_open, mpi_close};
