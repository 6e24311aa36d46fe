/* blas_flexiblas.c - FlexiBLAS as the BLAS (-DLAPIS_BLAS=flexiblas), which
 * hands on to the library that its user chose. */
#include "la/host.h"

/* As flexiblas_api.h has it. */
void flexiblas_set_num_threads(int n);

const char blas_title[] = "the processor, by FlexiBLAS";

void blas_set_threads(int n)
{
  flexiblas_set_num_threads(n);
}

double blas_address_need(void)
{
  return 0; /* not known to wait for memory */
}

const char *blas_name(void)
{
  return "flexiblas";
}
