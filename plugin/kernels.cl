/* kernels.cl - the kernels of a device, in doubles.  What a pass does to one
 * entry, or of the simplex to one column, is src/la/losses.h, l1.h and
 * simplex_column.h, which stand before this text.
 *
 * What OpenCL and CUDA write otherwise is said by their preludes (preludes.h):
 * KERNEL, FAR of what a pointer leads to in the device's memory, NEAR of what a
 * group shares, NEAR_TO of a pointer to it; the rest has OpenCL's names.
 *
 * Every kernel runs in groups of GROUP.  An array A comes as a buffer, the
 * place of its first entry and the distance of its columns.  Sums of a group
 * are left in `parts`, group after group, and added by the host in that order:
 * as many groups give the same bits. */
enum { GROUP = 256, TILE = 64, DEEP = 16 };

#define IN(A) FAR const double *A, long A##_at, long A##_ld
#define OUT(A) FAR double *A, long A##_at, long A##_ld
#define AT(A, i, j) A[A##_at + (j) * A##_ld + (i)]

/* for each entry (i, j) of rows x cols that is this item's */
#define EACH(rows, cols)                                                   \
  long step_ = get_global_size(0), down_ = step_ % (rows);                 \
  for (long i = get_global_id(0) % (rows), j = get_global_id(0) / (rows); \
       j < (cols); i += down_, j += step_ / (rows) + (i >= (rows)),        \
            i -= i >= (rows) ? (rows) : 0)

/* x of all items of the group, added up, for all of them. */
static double group_sum(double x, NEAR_TO double *room)
{
  int me = get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  room[me] = x;
  for (int left = GROUP / 2; left > 0; left /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < left) room[me] += room[me + left];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return room[0];
}

/* The group's sums as its row of parts. */
#define LEAVE(count, sums)                                     \
  for (int c_ = 0; c_ < (count); c_++) {                       \
    double sum_ = group_sum((sums)[c_], room);                 \
    if (get_local_id(0) == 0)                                  \
      parts[get_group_id(0) * (count) + c_] = sum_;            \
  }

/* ---- products -----------------------------------------------------------*/

/* C = alpha op(A) op(B) + beta C, op(A) m x depth.  same: C is symmetric, and
 * only tiles on and below the diagonal are made, and written twice. */
KERNEL gemm(long ta, long tb, long m, long n, long depth, double alpha, IN(A),
            IN(B), double beta, OUT(C), long same)
{
  NEAR double a[DEEP][TILE + 1], b[DEEP][TILE + 1];
  long i0 = get_group_id(0) * TILE, j0 = get_group_id(1) * TILE;
  int me = get_local_id(0), x = me % 16, y = me / 16;
  double sum[4][4];
  if (same && i0 < j0) return;
  for (int p = 0; p < 4; p++)
    for (int q = 0; q < 4; q++) sum[p][q] = 0;
  for (long k0 = 0; k0 < depth; k0 += DEEP) {
    for (int e = me; e < TILE * DEEP; e += GROUP) {
      int side = ta ? e / DEEP : e % TILE, k = ta ? e % DEEP : e / TILE;
      long i = i0 + side, l = k0 + k;
      bool in = i < m && l < depth;
      a[k][side] = !in ? 0 : ta ? AT(A, l, i) : AT(A, i, l);
    }
    for (int e = me; e < TILE * DEEP; e += GROUP) {
      int side = tb ? e % TILE : e / DEEP, k = tb ? e / TILE : e % DEEP;
      long j = j0 + side, l = k0 + k;
      bool in = j < n && l < depth;
      b[k][side] = !in ? 0 : tb ? AT(B, j, l) : AT(B, l, j);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < DEEP; k++)
      for (int p = 0; p < 4; p++)
        for (int q = 0; q < 4; q++)
          sum[p][q] = mad(a[k][x + 16 * p], b[k][y + 16 * q], sum[p][q]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int q = 0; q < 4; q++)
    for (int p = 0; p < 4; p++) {
      long i = i0 + x + 16 * p, j = j0 + y + 16 * q;
      if (i >= m || j >= n || (same && i < j)) continue;
      double c = alpha * sum[p][q];
      if (beta < 0 || beta > 0) c += beta * AT(C, i, j);
      AT(C, i, j) = c;
      if (same) AT(C, j, i) = c;
    }
}

/* y = alpha A x + beta y: an item a row. */
KERNEL gemv(long m, long n, double alpha, IN(A), IN(x), double beta, OUT(y))
{
  for (long i = get_global_id(0); i < m; i += get_global_size(0)) {
    double sum = 0;
    for (long j = 0; j < n; j++) sum = mad(AT(A, i, j), AT(x, j, 0), sum);
    sum *= alpha;
    AT(y, i, 0) = beta < 0 || beta > 0 ? sum + beta * AT(y, i, 0) : sum;
  }
}

/* y = alpha A'x + beta y: a group a column of A. */
KERNEL gemv_t(long m, long n, double alpha, IN(A), IN(x), double beta, OUT(y))
{
  NEAR double room[GROUP];
  for (long j = get_group_id(0); j < n; j += get_num_groups(0)) {
    double sum = 0;
    for (long i = get_local_id(0); i < m; i += GROUP)
      sum = mad(AT(A, i, j), AT(x, i, 0), sum);
    sum = alpha * group_sum(sum, room);
    if (get_local_id(0) == 0)
      AT(y, j, 0) = beta < 0 || beta > 0 ? sum + beta * AT(y, j, 0) : sum;
  }
}

/* L X = B in place (n x cols), or L'X = B: a group a column of B. */
KERNEL solve(long back, long n, long cols, IN(L), OUT(B))
{
  NEAR double room[GROUP];
  int me = get_local_id(0);
  for (long j = get_group_id(0); j < cols; j += get_num_groups(0))
    for (long k = 0; k < n; k++) {
      long i = back ? n - 1 - k : k;
      double before = 0, x;
      if (back) {
        for (long r = i + 1 + me; r < n; r += GROUP)
          before += AT(L, r, i) * AT(B, r, j);
        before = group_sum(before, room);
      }
      x = (AT(B, i, j) - before) / AT(L, i, i);
      barrier(CLK_GLOBAL_MEM_FENCE); /* all have read it */
      if (me == 0) AT(B, i, j) = x;
      if (!back)
        for (long r = i + 1 + me; r < n; r += GROUP)
          AT(B, r, j) -= AT(L, r, i) * x;
      barrier(CLK_GLOBAL_MEM_FENCE);
    }
}

/* ---- passes without a penalty --------------------------------------------*/

/* B = alpha A + beta B; beta 0 never reads B. */
KERNEL axpby(long rows, long cols, double alpha, IN(A), double beta, OUT(B))
{
  EACH(rows, cols)
  {
    double sum = alpha * AT(A, i, j);
    AT(B, i, j) = beta < 0 || beta > 0 ? sum + beta * AT(B, i, j) : sum;
  }
}

KERNEL fill(long rows, long cols, double value, OUT(A))
{
  EACH(rows, cols) { AT(A, i, j) = value; }
}

/* B_j = f_j A_w(j) + beta B_j; w stands behind f. */
KERNEL axpby_cols(long rows, long cols, FAR const double *f, IN(A),
                  double beta, OUT(B))
{
  EACH(rows, cols)
  {
    double sum = f[j] * AT(A, i, (long)f[cols + j]);
    AT(B, i, j) = beta < 0 || beta > 0 ? sum + beta * AT(B, i, j) : sum;
  }
}

KERNEL scale_rows(long rows, long cols, FAR const double *f, OUT(A))
{
  EACH(rows, cols) { AT(A, i, j) *= f[i]; }
}

KERNEL add_to_cols(long rows, long cols, FAR const double *f, OUT(A))
{
  EACH(rows, cols) { AT(A, i, j) += f[i]; }
}

KERNEL add_diagonal(long rows, double f, OUT(A))
{
  for (long i = get_global_id(0); i < rows; i += get_global_size(0))
    AT(A, i, i) += f;
}

/* The triangle above the diagonal of a square becomes that below it turned, or
 * the other way round. */
KERNEL mirror(long to_upper, long n, OUT(A))
{
  EACH(n, n)
  {
    if (to_upper && i < j) AT(A, i, j) = AT(A, j, i);
    if (!to_upper && i > j) AT(A, i, j) = AT(A, j, i);
  }
}

/* Numbers in (-1, 1) without order, the same for the same shape: a counter, its
 * bits stirred by two multiplications by odd numbers. */
KERNEL noise(long rows, long cols, OUT(A))
{
  EACH(rows, cols)
  {
    ulong x = (ulong)(i + j * rows + 1) * 0x9e3779b97f4a7c15UL;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93UL;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93UL;
    AT(A, i, j) = (double)(long)(x ^ (x >> 32)) * 0x1p-63;
  }
}

KERNEL dot_parts(long rows, long cols, IN(A), IN(B), FAR double *parts)
{
  NEAR double room[GROUP];
  double sums[1] = {0};
  EACH(rows, cols) { sums[0] += AT(A, i, j) * AT(B, i, j); }
  LEAVE(1, sums)
}

/* A group a column. */
KERNEL dot_cols(long rows, long cols, IN(A), IN(B), FAR double *out)
{
  NEAR double room[GROUP];
  for (long j = get_group_id(0); j < cols; j += get_num_groups(0)) {
    double sum = 0;
    for (long i = get_local_id(0); i < rows; i += GROUP)
      sum += AT(A, i, j) * AT(B, i, j);
    sum = group_sum(sum, room);
    if (get_local_id(0) == 0) out[j] = sum;
  }
}

/* ---- the sparse error -----------------------------------------------------*/

KERNEL l1_step(long rows, long cols, double t, double relax, double rescale,
               IN(X), IN(A), OUT(S), OUT(W), FAR double *parts)
{
  NEAR double room[GROUP];
  double sums[6] = {0, 0, 0, 0, 0, 0};
  l1_step_par par = {t, relax, rescale};
  EACH(rows, cols)
  {
    double s = AT(S, i, j), w;
    l1_step_entry(AT(X, i, j), AT(A, i, j), &s, &w, &par, sums, 1);
    AT(S, i, j) = s;
    AT(W, i, j) = w;
  }
  LEAVE(6, sums)
}

KERNEL l1_dual(long rows, long cols, double t, IN(X), IN(S), OUT(C))
{
  EACH(rows, cols) { AT(C, i, j) = l1_clamp(AT(X, i, j) - AT(S, i, j), t); }
}

KERNEL l1_sums(long rows, long cols, long inner, IN(X), IN(A), IN(C),
               FAR double *parts)
{
  NEAR double room[GROUP];
  double sums[2] = {0, 0};
  EACH(rows, cols)
  {
    double c = inner ? AT(C, i, j) : 0;
    l1_sums_entry(AT(X, i, j), AT(A, i, j), c, sums);
  }
  LEAVE(2, sums)
}

KERNEL l1_alm(long rows, long cols, double t, double mu1, double mu2,
              double next1, double next2, IN(X), IN(D), IN(F), OUT(B), OUT(G1),
              OUT(G2), OUT(Z), FAR double *parts)
{
  NEAR double room[GROUP];
  double sums[3] = {0, 0, 0};
  l1_alm_par par = {t, mu1, mu2, next1, next2};
  EACH(rows, cols)
  {
    double b, z, g1 = AT(G1, i, j), g2 = AT(G2, i, j);
    l1_alm_entry(AT(X, i, j), AT(D, i, j), AT(F, i, j), &b, &g1, &g2, &z, &par,
                 sums);
    AT(B, i, j) = b;
    AT(G1, i, j) = g1;
    AT(G2, i, j) = g2;
    AT(Z, i, j) = z;
  }
  LEAVE(3, sums)
}

/* ---- passes over a penalty: one block of rows a launch --------------------*/

/* B = pass(V), entry by entry. */
/* counted: columns of a block of labels count T(0, j) times. */
static entry_par at_column(entry_par p, double times)
{
  p.t *= times;
  p.weight *= times;
  return p;
}

KERNEL map(long pass, long kind, long rows, long cols, double t, double weight,
           double gamma, long zero_one, long counted, IN(T), IN(Z0), IN(V),
           OUT(B))
{
  entry_par of = {t, weight, gamma, 1, zero_one != 0};
  EACH(rows, cols)
  {
    entry_par p = counted ? at_column(of, AT(T, 0, j)) : of;
    double x = AT(V, i, j), z0 = AT(Z0, i, j);
    if (pass == LA_PROX)
      x = e_prox(kind, x, z0, &p);
    else if (pass == LA_STEP)
      x = e_step(kind, x, z0, &p);
    else if (pass == LA_CLAMP)
      x = e_clamp(kind, x, z0, &p);
    else /* LA_PROJECT */
      x = e_project(kind, x, z0, &p);
    AT(B, i, j) = x;
  }
}

KERNEL add_up(long pass, long kind, long rows, long cols, double weight,
              double gamma, double scale, long zero_one, long counted, IN(T),
              IN(Z0), IN(V), FAR double *parts)
{
  NEAR double room[GROUP];
  double sums[1] = {0};
  entry_par of = {0, weight, gamma, scale, zero_one != 0};
  EACH(rows, cols)
  {
    double x = AT(V, i, j), z0 = AT(Z0, i, j);
    double times = counted ? AT(T, 0, j) : 1;
    entry_par p = at_column(of, times);
    sums[0] += pass == LA_LOSS ? times * e_loss(kind, x, z0, &p)
                               : e_conj(kind, x, z0, &p);
  }
  LEAVE(1, sums)
}

/* Of a simplex, W holds the proximal step at V. */
KERNEL reflect(long kind, long rows, long cols, double t, double weight,
               double gamma, long zero_one, long counted, IN(T), IN(Z0), IN(A),
               IN(V), OUT(B), OUT(W), FAR double *parts)
{
  NEAR double room[GROUP];
  double sums[4] = {0, 0, 0, 0};
  entry_par of = {t, weight, gamma, 1, zero_one != 0};
  EACH(rows, cols)
  {
    entry_par p = counted ? at_column(of, AT(T, 0, j)) : of;
    double v = AT(V, i, j), b = AT(B, i, j), w;
    double z = kind == LA_CHI2_SIMPLEX ? AT(W, i, j)
                                       : e_prox(kind, v, AT(Z0, i, j), &p);
    e_reflect(AT(A, i, j), v, z, &b, &w, sums);
    AT(B, i, j) = b;
    AT(W, i, j) = w;
  }
  LEAVE(4, sums)
}

/* ---- the simplex: an item a column ------------------------------------------
 * As src/la/host/simplex.c, where the reasons are, from the left end. */

static double simplex_entry(const column *c, long i, double shift,
                            double theta)
{
  double v = (c->v[i] - shift) - theta;
  return column_is_free(c, i) ? k_positive(v)
                              : k_prox_chi2(v, c->z0[i], c->t);
}

/* sum of z_i at theta, and minus its derivative. */
static double simplex_sum(const column *c, double shift, double theta,
                          double *rate)
{
  double sum = 0, carry = 0, slope = 0;
  for (long i = 0; i < c->n; i++) {
    double z = simplex_entry(c, i, shift, theta);
    column_add(z, &sum, &carry);
    slope += !column_is_free(c, i) ? k_prox_chi2_rate(z, c->z0[i], c->t)
             : z > 0               ? 1
                                   : 0;
  }
  *rate = slope;
  return sum + carry;
}

/* t = 0: the projection onto the simplex. */
KERNEL simplex_prox(long rows, long cols, double t, IN(Z0), IN(V), OUT(B))
{
  for (long j = get_global_id(0); j < cols; j += get_global_size(0)) {
    column c = {rows, &AT(V, 0, j), &AT(Z0, 0, j), t, 1};
    double shift = column_reaching(&c, 1), theta = 0, sum = 1, rate;
    double ceiling = column_reaching(&c, 1.0 / rows) - shift;
    for (int k = 0; k < COLUMN_STEPS; k++) {
      sum = simplex_sum(&c, shift, theta, &rate);
      double next = column_next(theta, sum - 1, rate, ceiling);
      if (!(fabs(sum - 1) > column_rounding(&c) && fabs(next - theta) > 0))
        break;
      theta = next;
    }
    for (long i = 0; i < rows; i++)
      AT(B, i, j) = simplex_entry(&c, i, shift, theta) / sum;
  }
}

KERNEL simplex_conjugate(long rows, long cols, double weight, double scale,
                         IN(Z0), IN(G), FAR double *parts)
{
  NEAR double room[GROUP];
  double sums[1] = {0};
  for (long j = get_global_id(0); j < cols; j += get_global_size(0)) {
    column c = {rows, &AT(G, 0, j), &AT(Z0, 0, j), weight, scale};
    sums[0] += column_conjugate(&c);
  }
  LEAVE(1, sums)
}
