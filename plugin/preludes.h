/* preludes.h - what stands before the kernels' text (kernels.cl) in either
 * language.  The formulas are exact to their rounding: nothing is fused behind
 * them.  A prelude ends with PRELUDE_END, by which a test finds the text. */
#ifndef LAPIS_PLUGIN_PRELUDES_H
#define LAPIS_PLUGIN_PRELUDES_H

#define PRELUDE_END "#line 1 \"kernels\"\n"

#define OPENCL_PRELUDE                                                       \
  "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"                          \
  "#pragma OPENCL FP_CONTRACT OFF\n"                                         \
  "#define KERNEL __kernel __attribute__((reqd_work_group_size(256, 1, 1)))" \
  " void\n"                                                                  \
  "#define FAR __global\n"                                                   \
  "#define NEAR __local\n"                                                   \
  "#define NEAR_TO __local\n"                                                \
  "#define LA_FAR __global\n"                                                \
  "typedef long int64_t;\n" PRELUDE_END

/* NVRTC has no headers: what <math.h> and <float.h> name is spelled out. */
#define CUDA_PRELUDE                                                  \
  "#define KERNEL extern \"C\" __global__ void\n"                     \
  "#define FAR\n"                                                     \
  "#define NEAR __shared__\n"                                         \
  "#define NEAR_TO\n"                                                 \
  "#define LA_FAR\n"                                                  \
  "#define restrict\n"                                                \
  "#define CLK_LOCAL_MEM_FENCE 0\n"                                   \
  "#define CLK_GLOBAL_MEM_FENCE 0\n"                                  \
  "#define barrier(fence) __syncthreads()\n"                          \
  "#define get_local_id(d) ((int)threadIdx.x)\n"                      \
  "#define get_group_id(d) "                                          \
  "((d) == 0 ? (long)blockIdx.x : (long)blockIdx.y)\n"                \
  "#define get_num_groups(d) ((long)gridDim.x)\n"                     \
  "#define get_global_size(d) ((long)gridDim.x * 256)\n"              \
  "#define get_global_id(d) ((long)blockIdx.x * 256 + threadIdx.x)\n" \
  "#define mad(a, b, c) __fma_rn(a, b, c)\n"                          \
  "#define INFINITY __longlong_as_double(0x7ff0000000000000LL)\n"     \
  "#define NAN __longlong_as_double(0x7ff8000000000000LL)\n"          \
  "#define DBL_MIN 2.2250738585072014e-308\n"                         \
  "#define DBL_EPSILON 2.220446049250313e-16\n"                       \
  "typedef long int64_t;\n"                                           \
  "typedef unsigned long ulong;\n" PRELUDE_END

#endif
