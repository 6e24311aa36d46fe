/* through.h - a backend that is judged where arrays lie in the host's memory:
 * LAPIS_TEST_THROUGH names it.  Every operand goes there, into the middle of a
 * larger array, so that offsets count, and all come back. */
#ifndef LAPIS_THROUGH_H
#define LAPIS_THROUGH_H
#include "check.h"
#include "la/host/host.h"

enum { MOST = 8, ABOVE = 3, LEFT = 2 };

typedef struct trip {
  la h; /* the backend under test */
  int count;
  const la_array *host[MOST];
  la_array all[MOST], part[MOST];
  bool stays; /* floats are not a device's */
  la_penalty phi;
  la_alm alm;
} trip;

static la_array *on(trip *t, const la_array *A)
{
  for (int i = 0; A != NULL && i < t->count; i++)
    if (t->host[i] == A) return &t->part[i];
  return t->stays ? (la_array *)(uintptr_t)A : NULL;
}

static lapis_status send(trip *t, const la_array *A)
{
  int i = t->count;
  lapis_mat from = la_as_mat(A);
  if (A == NULL || on(t, A) != NULL) return LAPIS_OK;
  la_array *all = &t->all[i];
  TRY(t->h.ops->alloc(&t->h, A->dtype, A->rows + ABOVE + 1, A->cols + LEFT,
                      all));
  t->count++;
  t->host[i] = A;
  la_array cols = la_cols(all, LEFT, A->cols);
  t->part[i] = la_rows(&cols, ABOVE, A->rows);
  TRY(t->h.ops->fill(&t->h, NAN, all));
  return t->h.ops->upload(&t->h, &from, &t->part[i]);
}

static lapis_status go(la *h, trip *t, const la_array *const used[MOST])
{
  *t = (trip){.count = 0};
  TRY(la_open(h->ctx, &t->h));
  for (int i = 0; i < MOST; i++)
    if (used[i] != NULL && used[i]->dtype != LAPIS_F64) t->stays = true;
  if (t->stays) t->h.ops = &la_openblas;
  for (int i = 0; i < MOST && !t->stays; i++)
    if (used[i] != NULL) TRY(send(t, used[i]));
  return LAPIS_OK;
}

static lapis_status back(trip *t, lapis_status status)
{
  for (int i = 0; i < t->count; i++) {
    lapis_mat to = la_as_mat(t->host[i]);
    lapis_status got = t->h.ops->download(&t->h, &t->part[i], &to);
    if (got < 0 && status >= 0) status = got;
    t->h.ops->free(&t->h, &t->all[i]);
  }
  return status;
}

/* phi with its Z0 and times there. */
static const la_penalty *over(trip *t, const la_penalty *phi)
{
  t->phi = *phi;
  t->phi.Z0 = *on(t, &phi->Z0);
  if (phi->times.data != NULL) t->phi.times = *on(t, &phi->times);
  return &t->phi;
}

static const la_alm *step_on(trip *t, const la_alm *p)
{
  t->alm = *p;
  t->alm.X = on(t, p->X);
  t->alm.D = on(t, p->D);
  t->alm.F = on(t, p->F);
  t->alm.B = on(t, p->B);
  t->alm.G1 = on(t, p->G1);
  t->alm.G2 = on(t, p->G2);
  t->alm.Z = on(t, p->Z);
  return &t->alm;
}

#define ON(A) on(&away, A)
#define PHI(phi) over(&away, phi)
#define ALM(p) step_on(&away, p)
#define BARE(...) __VA_ARGS__
#define LA_ENTRY(name, parameters, arguments, arrays)                    \
  static lapis_status name(la *h, BARE parameters)                       \
  {                                                                      \
    trip away;                                                           \
    const la_array *const used[MOST] = {BARE arrays};                    \
    lapis_status status = go(h, &away, used);                            \
    if (status >= 0) status = away.h.ops->name(&away.h, BARE arguments); \
    return back(&away, status);                                          \
  }
#include "la/entries.h"
#undef LA_ENTRY

static const char *describe(const la *h)
{
  (void)h;
  return "openblas by way of another";
}

static const la_backend test_through = {
    .name = "through",
    .describe = describe,
    .alloc = host_alloc,
    .free = host_free,
    .upload = host_upload,
    .download = host_download,
#define LA_ENTRY(name, ...) .name = name,
#include "la/entries.h"
};

/* h computes by way of it, where one is named; its context is set to it. */
static void test_go_through(la *h)
{
  const char *name = getenv("LAPIS_TEST_THROUGH");
  if (name == NULL) return;
  if (lapis_ctx_set(h->ctx, "backend", name) < 0) abort();
  h->ops = &test_through;
}

#endif
