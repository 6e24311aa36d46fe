/* fixture.h - the verified problems of tests/fixtures. */
#ifndef LAPIS_FIXTURE_H
#define LAPIS_FIXTURE_H
#include "check.h"
#include "lapis/files.h"
#include "lapis/tools.h"

typedef struct fixture {
  lapis_ctx *ctx;
  char folder[1024];
  lapis_json *say;       /* case.json */
  lapis_arrays data;     /* data.npz */
  lapis_arrays expected; /* expected.npz, where there is one */
} fixture;

static inline void fixture_open(fixture *f, const char *name, bool expected)
{
  char path[1200];
  const char *root = check_fixtures();
  memset(f, 0, sizeof *f);
  f->ctx = lapis_ctx_new();
  snprintf(f->folder, sizeof f->folder, "%s/%s", root, name);
  snprintf(path, sizeof path, "%s/case.json", f->folder);
  if (lapis_json_read(f->ctx, path, &f->say) < 0) fail_msg("%s", path);
  snprintf(path, sizeof path, "%s/data.npz", f->folder);
  if (lapis_arrays_read(f->ctx, path, &f->data) < 0) fail_msg("%s", path);
  if (!expected) return;
  snprintf(path, sizeof path, "%s/expected.npz", f->folder);
  if (lapis_arrays_read(f->ctx, path, &f->expected) < 0) fail_msg("%s", path);
}

static inline lapis_mat fixture_mat(const lapis_arrays *all, const char *name)
{
  const lapis_array *a = lapis_arrays_find(all, name);
  if (a == NULL) fail_msg("no member %s", name);
  return a->mat;
}

/* The numbers of a member of data.npz. */
static inline double *fixture_values(const fixture *f, const char *name)
{
  return fixture_mat(&f->data, name).val;
}

static inline void fixture_near(double value, double want)
{
  CHECK_NEAR(value, want, 1e-11 * fmax(1, fabs(want)));
}

static inline double fixture_number(const fixture *f, const char *key)
{
  return lapis_json_number(f->say, key, NAN);
}

static inline void fixture_close(fixture *f)
{
  lapis_json_free(f->say);
  lapis_arrays_free(&f->data);
  lapis_arrays_free(&f->expected);
  lapis_ctx_free(f->ctx);
}
#endif
