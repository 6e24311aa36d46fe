/* sift_vl.c - scale-invariant keypoints by VLFeat.
 *
 * vl_sift_new fills a table of the process with the same numbers each time: one
 * thread at a time does that, and whoever reads meanwhile reads what was there.
 * Directions go from x towards y, in radians. */
#include <math.h>
#include <string.h>
#include <vl/sift.h>

#include "images/features/sift.h"

bool sift_built(void)
{
  return true;
}

double sift_bytes(const sift_task *t)
{
  double pixels = (double)t->grey->width * (double)t->grey->height;
  double octave = pixels * pow(4, -(double)t->first_octave);
  /* levels + 3 of the Gaussian, + 2 of its differences, 2 x levels of
   * gradients, one to work in */
  return octave * (4 * (double)t->levels + 6) * sizeof(float);
}

static float strength(const VlSiftFilt *f, const VlSiftKeypoint *k)
{
  int w = f->octave_width, h = f->octave_height;
  int64_t at = ((int64_t)(k->is - f->s_min) * h + k->iy) * w + k->ix;
  return fabsf(f->dog[at]);
}

/* Whole numbers of 0 to 255; false: all are 0.  On the last row of an octave
 * VLFeat writes nothing. */
static bool describe(VlSiftFilt *f, const VlSiftKeypoint *k, double angle,
                     float *v)
{
  bool any = false;
  memset(v, 0, SIFT_SIZE * sizeof *v);
  vl_sift_calc_keypoint_descriptor(f, v, k, angle);
  for (int a = 0; a < SIFT_SIZE; a++) {
    float whole = floorf(512 * v[a]);
    v[a] = whole < 255 ? whole : 255;
    any |= v[a] > 0;
  }
  return any;
}

/* A keypoint has up to four directions, and is listed once with each.  One
 * without a descriptor is like nothing and is not listed. */
static lapis_status take(lapis_ctx *ctx, VlSiftFilt *f, const VlSiftKeypoint *k,
                         sift_list *out)
{
  double angle[4];
  int n = vl_sift_calc_keypoint_orientations(f, angle, k);
  for (int i = 0; i < n; i++) {
    TRY(sift_grow(ctx, out));
    float *v = out->vector + out->count * SIFT_SIZE;
    float *place = out->place + out->count * SIFT_PLACE;
    if (!describe(f, k, angle[i], v)) continue;
    place[0] = k->x;
    place[1] = k->y;
    place[2] = k->sigma;
    place[3] = (float)angle[i];
    out->strength[out->count++] = strength(f, k);
  }
  return LAPIS_OK;
}

static lapis_status search(lapis_ctx *ctx, VlSiftFilt *f, const float *pixels,
                           sift_list *out)
{
  int more = vl_sift_process_first_octave(f, pixels);
  for (; more == VL_ERR_OK; more = vl_sift_process_next_octave(f)) {
    vl_sift_detect(f);
    const VlSiftKeypoint *keys = vl_sift_get_keypoints(f);
    int n = vl_sift_get_nkeypoints(f);
    for (int i = 0; i < n; i++) {
      if (i % 64 == 0 && base_must_stop(ctx)) return LAPIS_CANCELLED;
      TRY(take(ctx, f, &keys[i], out));
    }
  }
  return LAPIS_OK;
}

static lapis_status new_filter(const sift_task *t, VlSiftFilt **out)
{
  const lapis_image *m = t->grey;
#pragma omp critical
  *out = vl_sift_new((int)m->width, (int)m->height, -1, (int)t->levels,
                     (int)t->first_octave);
  return *out == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

lapis_status sift_find(lapis_ctx *ctx, const sift_task *t, sift_list *out)
{
  VlSiftFilt *f;
  TRY(new_filter(t, &f));
  vl_sift_set_peak_thresh(f, t->peak);
  vl_sift_set_edge_thresh(f, t->edge);
  lapis_status s = search(ctx, f, t->grey->pixels, out);
  vl_sift_delete(f);
  return s;
}

/* ---- points made elsewhere ----------------------------------------------*/
/* Inside of what VLFeat describes: it leaves out an octave's last row. */
static void put_inside(const VlSiftFilt *f, VlSiftKeypoint *k)
{
  double step = pow(2, f->o_cur);
  double right = step * (f->octave_width - 1);
  double low = step * (f->octave_height - 2);
  k->x = (float)fmin(fmax(k->x, 0), right);
  k->y = (float)fmin(fmax(k->y, 0), low);
}

static VlSiftKeypoint keypoint(const VlSiftFilt *f, const sift_point *p)
{
  VlSiftKeypoint k;
  vl_sift_keypoint_init(f, &k, p->x, p->y, p->scale);
  return k;
}

/* The last level of an octave that points are described by, or that the next
 * octave is made of; below the first one: no point needs this octave. */
static int level_needed(const VlSiftFilt *f, const sift_points *points, int o)
{
  int level = f->s_min - 1, next = f->s_min + f->S;
  bool later = false;
  for (int64_t i = 0; i < points->count; i++) {
    VlSiftKeypoint k = keypoint(f, &points->at[i]);
    if (k.o == o && k.is > level) level = k.is;
    later |= k.o > o;
  }
  if (level < f->s_min && !later) return level;
  /* VLFeat asks for this level of the octave before by the bound of this one */
  return (later || o > f->o_min) && level < next ? next : level;
}

/* Those whose scale belongs to the octave at hand. */
static void describe_octave(VlSiftFilt *f, const sift_points *points,
                            float *vector)
{
  for (int64_t i = 0; i < points->count; i++) {
    VlSiftKeypoint k = keypoint(f, &points->at[i]);
    if (k.o != f->o_cur) continue;
    put_inside(f, &k);
    (void)describe(f, &k, points->at[i].angle, vector + i * SIFT_SIZE);
  }
}

/* VLFeat smooths levels up to s_max, which is two more than it describes: to
 * find keypoints between them, which nobody asks for here.  False: none is
 * needed, or there are no more octaves. */
static bool do_octave(VlSiftFilt *f, const sift_task *t,
                      const sift_points *points, int o, float *vector)
{
  int all = f->s_max, level = level_needed(f, points, o);
  if (level < f->s_min) return false;
  f->s_max = level;
  int made = o == f->o_min ? vl_sift_process_first_octave(f, t->grey->pixels)
                           : vl_sift_process_next_octave(f);
  f->s_max = level + 2;
  if (made == VL_ERR_OK) describe_octave(f, points, vector);
  f->s_max = all;
  return made == VL_ERR_OK;
}

lapis_status sift_describe(lapis_ctx *ctx, const sift_task *t,
                           const sift_points *points, float *vector)
{
  VlSiftFilt *f;
  TRY(new_filter(t, &f));
  bool stops = false;
  for (int o = f->o_min; !stops && do_octave(f, t, points, o, vector); o++)
    stops = base_must_stop(ctx);
  vl_sift_delete(f);
  return stops ? LAPIS_CANCELLED : LAPIS_OK;
}
