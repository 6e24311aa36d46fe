/* device_memory.c - what the host sees of arrays, its own and a device's. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "la/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "la/host/host.h"

/* ---- the record ---------------------------------------------------------*/
lapis_status apart_new(la *h, lapis_dtype t, int64_t rows, int64_t cols,
                       la_array *out)
{
  TRY(host_check_size(h, t, rows, cols));
  *out = (la_array){.dtype = t, .ld = 1};
  apart *a = base_alloc(h->ctx, 1, sizeof *a);
  if (a == NULL) return LAPIS_ENOMEM;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  a->bytes = (size_t)(rows * cols) * (t == LAPIS_F64 ? 8 : 4);
  a->bytes = (a->bytes / page + 1) * page;
  void *p = mmap(NULL, a->bytes, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    base_free(a);
    return lapis_fail(h->ctx, LAPIS_ENOMEM,
                      "la: no addresses for a %" PRId64 " x %" PRId64 " array",
                      rows, cols);
  }
  a->h = (la){.ops = h->ops, .ctx = h->ctx, .threads = h->threads};
  a->all = (la_array){t, rows, cols, rows > 0 ? rows : 1, p, true, a};
  *out = a->all;
  out->view = false;
  return LAPIS_OK;
}

void apart_free(apart *a)
{
  if (a == NULL) return;
  (void)munmap(a->all.data, a->bytes);
  base_free(a->mirror);
  base_free(a);
}

lapis_status apart_refuse(la *h)
{
  return lapis_fail(h->ctx, LAPIS_EINVAL,
                    "la: backend %s keeps arrays in memory of its own and was "
                    "handed memory of the host",
                    h->ops->name);
}

static lapis_status make_mirror(apart *a)
{
  if (a->mirror != NULL) return LAPIS_OK;
  a->mirror = base_alloc(a->h.ctx, a->all.ld * a->all.cols, sizeof(double));
  return a->mirror == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

/* ---- what solvers ask for -------------------------------------------------*/
lapis_status la_borrow(la *h, const la_array *A, lapis_mat *out)
{
  *out = la_as_mat(A);
  if (A->own == NULL) return LAPIS_OK;
  TRY(make_mirror(A->own));
  out->dtype = LAPIS_F64;
  out->val = A->own->mirror + apart_offset(A);
  return h->ops->download(h, A, out);
}

lapis_status la_give_back(la *h, const lapis_mat *from, la_array *A)
{
  return A->own == NULL ? LAPIS_OK : h->ops->upload(h, from, A);
}

bool la_is_host(const la *h)
{
  return la_beside(h).ops == h->ops;
}

lapis_status la_lend(la *h, const double *p, bool full, int64_t rows,
                     int64_t cols, la_array *out)
{
  *out = la_wrap((double *)(uintptr_t)p, rows, cols);
  if (la_is_host(h)) return LAPIS_OK;
  lapis_mat from = la_as_mat(out);
  TRY(h->ops->alloc(h, LAPIS_F64, rows, cols, out));
  lapis_status status = full ? h->ops->upload(h, &from, out) : LAPIS_OK;
  if (status < 0) h->ops->free(h, out);
  return status;
}

lapis_status la_return(la *h, lapis_status status, la_array *A, double *p)
{
  lapis_mat to = lapis_mat_f64(p, A->rows, A->cols);
  if (status >= 0 && A->own != NULL) status = h->ops->download(h, A, &to);
  h->ops->free(h, A);
  return status;
}

/* 64 operations for a byte that travels, at least: 16 processors make about as
 * many meanwhile. */
static bool is_worth_sending(const la_array *A, const la_array *C)
{
  const double enough = 64 * sizeof(double);
  double entries = (double)(A->rows * A->cols), n = (double)C->rows;
  bool plain = A->dtype == LAPIS_F64 && A->ld == A->rows && C->ld == C->rows;
  return plain && n * entries >= enough * (entries + n * n);
}

/* LAPIS_ENOMEM: it does not fit there. */
static lapis_status syrk_there(la *g, la_trans t, const la_array *A,
                               la_array *C)
{
  la_array a, c;
  TRY(la_lend(g, A->data, true, A->rows, A->cols, &a));
  lapis_status s = la_lend(g, C->data, false, C->rows, C->cols, &c);
  if (s >= 0) s = la_return(g, g->ops->syrk(g, t, &a, &c), &c, C->data);
  g->ops->free(g, &a);
  return s;
}

lapis_status la_syrk_there(la *h, la_trans t, const la_array *A, la_array *C)
{
  la g;
  if (!is_worth_sending(A, C)) return h->ops->syrk(h, t, A, C);
  TRY(la_open(h->ctx, &g));
  lapis_status s = la_is_host(&g) ? LAPIS_ENOMEM : syrk_there(&g, t, A, C);
  return s == LAPIS_ENOMEM ? h->ops->syrk(h, t, A, C) : s;
}

lapis_status la_sum(la *h, la_array *A)
{
  lapis_mat own;
  if (base_ranks(h->ctx) == 1) return LAPIS_OK;
  TRY(la_borrow(h, A, &own));
  TRY(base_sum(h->ctx, own.val, A->rows > 0 ? A->ld * A->cols : 0));
  return la_give_back(h, &own, A);
}

/* The mirror to or from the array, when the checkpoint reads or fills it. */
static lapis_status move_row(void *self, bool filled)
{
  apart *a = self;
  lapis_mat own = la_as_mat(&a->all);
  own.val = a->mirror;
  return filled ? a->h.ops->upload(&a->h, &own, &a->all)
                : a->h.ops->download(&a->h, &a->all, &own);
}

static void keep(loop *l, const char *name, const la_array *A, keep_rule rule)
{
  keep_row row = {.rule = rule, .val = A->data, .count = A->ld * A->cols};
  if (!l->scope.open) return;
  if (A->own != NULL) {
    if (make_mirror(A->own) < 0) l->status = LAPIS_ENOMEM;
    if (l->status == LAPIS_ENOMEM) return;
    row.val = A->own->mirror + apart_offset(A);
    row.self = A->own;
    row.move = move_row;
  }
  keep_add(&l->scope, name, row);
}

void la_keep(loop *l, const char *name, const la_array *A)
{
  keep(l, name, A, KEEP_NUMBERS);
}

void la_keep_part(loop *l, const char *name, const la_array *A)
{
  la_keep(l, name, A);
  loop_divide(l, 1);
}

void la_keep_part_holes(loop *l, const char *name, const la_array *A)
{
  keep(l, name, A, KEEP_HOLES);
  loop_divide(l, 1);
}
