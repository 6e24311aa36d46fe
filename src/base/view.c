/* view.c - matrices as they lie in memory, dense and without gaps. */
#include "base/base.h"

static lapis_mat view(lapis_dtype dtype, void *val, int64_t rows, int64_t cols)
{
  return (lapis_mat){.dtype = dtype,
                     .rows = rows,
                     .cols = cols,
                     .ld = rows > 0 ? rows : 1,
                     .val = val};
}

lapis_mat lapis_mat_f64(double *val, int64_t rows, int64_t cols)
{
  return view(LAPIS_F64, val, rows, cols);
}

lapis_mat lapis_mat_f32(float *val, int64_t rows, int64_t cols)
{
  return view(LAPIS_F32, val, rows, cols);
}

lapis_mat lapis_mat_i64(int64_t *val, int64_t rows, int64_t cols)
{
  return view(LAPIS_I64, val, rows, cols);
}

lapis_mat lapis_mat_u8(unsigned char *val, int64_t rows, int64_t cols)
{
  return view(LAPIS_U8, val, rows, cols);
}

lapis_mat lapis_mat_text(const char *const *val, int64_t rows, int64_t cols)
{
  return view(LAPIS_TEXT, (void *)(uintptr_t)val, rows, cols);
}
