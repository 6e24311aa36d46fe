/* blas_openblas.c - OpenBLAS as the BLAS (-DLAPIS_BLAS=openblas). */
#include <string.h>

#include "la/host/host.h"

/* As its cblas.h has them; that header is openblas.c's alone. */
void openblas_set_num_threads(int n);
int openblas_get_num_threads(void);
char *openblas_get_corename(void);

const char blas_title[] = "the processor, by OpenBLAS";

void blas_set_threads(int n)
{
  openblas_set_num_threads(n);
}

/* Each thread takes a buffer of 128 MiB when it first runs, and
 * where it cannot have it tries again for ever; those that OpenBLAS began when
 * it was loaded may not have run yet. A quarter of one is for our own threads'
 * stacks.
 */
double blas_address_need(void)
{
  enum { BUFFER = 1 << 27 };
  int64_t all = openblas_get_num_threads();
  int64_t there = base_address_pieces(BUFFER);
  return there < all ? (double)(all - there) * BUFFER + BUFFER / 4. : 0;
}

/* With the core that OpenBLAS chose: constants, because the caller owns nothing
 * and we keep no state. */
const char *blas_name(void)
{
  static const char *const known[] = {
      "openblas Core2",        "openblas Penryn",
      "openblas Dunnington",   "openblas Nehalem",
      "openblas Prescott",     "openblas Sandybridge",
      "openblas Haswell",      "openblas SkylakeX",
      "openblas Cooperlake",   "openblas SapphireRapids",
      "openblas Atom",         "openblas Nano",
      "openblas Opteron",      "openblas Barcelona",
      "openblas Bobcat",       "openblas Bulldozer",
      "openblas Piledriver",   "openblas Steamroller",
      "openblas Excavator",    "openblas Zen",
      "openblas armv8",        "openblas cortexa53",
      "openblas cortexa55",    "openblas cortexa57",
      "openblas cortexa72",    "openblas cortexa73",
      "openblas falkor",       "openblas thunderx",
      "openblas thunderx2t99", "openblas thunderx3t110",
      "openblas tsv110",       "openblas emag8180",
      "openblas neoversen1",   "openblas neoversev1",
      "openblas neoversen2",   "openblas vortex",
      "openblas a64fx",        "openblas POWER8",
      "openblas POWER9",       "openblas POWER10"};
  const char *core = openblas_get_corename();
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i] + strlen("openblas "), core) == 0) return known[i];
  return "openblas";
}
