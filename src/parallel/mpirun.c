/* mpirun.c - the processes that mpirun starts, by the plug-in for MPI. */
#include <stdlib.h>

#include "base/base.h"
#include "lapis/tools.h"
#include "parallel/comm_api.h"
#include "parallel/plugin.h"

enum { OPEN_MPI, MPICH };
static const base_plugin_kind plugins[] = {{.file = "lapis-mpi-openmpi",
                                            .symbol = "lapis_mpi",
                                            .package = "libopenmpi-dev",
                                            .version = COMM_API_VERSION},
                                           {.file = "lapis-mpi-mpich",
                                            .symbol = "lapis_mpi",
                                            .package = "libmpich-dev",
                                            .version = COMM_API_VERSION}};

/* The one whose mpirun has started this process, by what it leaves in the
 * environment: another would see one process only. */
static const comm_api *open_plugin(char *why, size_t size)
{
  bool ours = getenv("OMPI_COMM_WORLD_SIZE") != NULL;
  bool theirs = !ours && getenv("PMI_SIZE") != NULL;
  return base_plugin(&plugins[theirs ? MPICH : OPEN_MPI], why, size);
}

lapis_status lapis_mpi_join(lapis_ctx *ctx, lapis_processes *out)
{
  NEEDS(ctx, ctx, out);
  char why[512];
  lapis_comm comm;
  *out = (lapis_processes){.size = 1, .near = 1};
  const comm_api *api = open_plugin(why, sizeof why);
  if (api == NULL) return lapis_fail(ctx, LAPIS_ENOTBUILT, "mpi: %s", why);
  if (api->open(&comm, &out->near, why, sizeof why) != 0)
    return lapis_fail(ctx, LAPIS_EIO, "mpi: %s", why);
  out->rank = comm.rank;
  out->size = comm.size;
  lapis_ctx_set_comm(ctx, comm.size > 1 ? &comm : NULL);
  return LAPIS_OK;
}

void lapis_mpi_leave(lapis_ctx *ctx)
{
  char why[512];
  const comm_api *api = open_plugin(why, sizeof why);
  lapis_ctx_set_comm(ctx, NULL);
  if (api != NULL) api->close();
}

bool lapis_mpi_is_there(char *why, size_t size)
{
  char unseen[256];
  bool there = base_plugin(&plugins[OPEN_MPI], why != NULL ? why : unseen,
                           why != NULL ? size : sizeof unseen) != NULL;
  return there || base_plugin(&plugins[MPICH], unseen, sizeof unseen) != NULL;
}
