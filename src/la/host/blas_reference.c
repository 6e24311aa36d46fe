/* blas_reference.c - the system's BLAS and nothing beyond the standard's
 * functions (-DLAPIS_BLAS=reference). */
#include "la/host/host.h"

const char blas_title[] = "the processor, by the system's BLAS";

void blas_set_threads(int n)
{
  (void)n; /* there is no call for it; the reference BLAS has one thread */
}

double blas_address_need(void)
{
  return 0; /* it takes no memory of its own */
}

const char *blas_name(void)
{
  return "blas";
}
