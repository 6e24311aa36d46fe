/* blas_blis.c - BLIS as the BLAS (-DLAPIS_BLAS=blis). */
#include "la/host.h"

/* As blis.h has it, whose dim_t has 64 bits here. */
void bli_thread_set_num_threads(int64_t n);

const char blas_title[] = "the processor, by BLIS";

void blas_set_threads(int n)
{
  bli_thread_set_num_threads(n);
}

double blas_address_need(void)
{
  return 0; /* not known to wait for memory */
}

const char *blas_name(void)
{
  return "blis";
}
