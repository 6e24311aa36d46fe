/* feature_case.h - images made by formulas, written and turned into features
 * by the library. */
#ifndef LAPIS_FEATURE_CASE_H
#define LAPIS_FEATURE_CASE_H
#include "files.h"
#include "lapis/images.h"

enum { MOST = 16 };

typedef struct run { /* of one kind over some files of the folder */
  files *f;
  char path[MOST][400];
  const char *name[MOST];
  int count;
  char text[1024]; /* of the settings */
  lapis_solver *s;
  lapis_mat X;
} run;

static inline void add_path(run *r, const char *name)
{
  (void)snprintf(r->path[r->count], sizeof *r->path, "%s/%s", r->f->folder,
                 name);
  r->name[r->count] = r->path[r->count];
  r->count++;
}

/* A picture of 16-bit levels, so that laws need not mind rounding. */
static inline void add_image(run *r, const char *name, const lapis_image *m)
{
  add_path(r, name);
  FILE *out = fopen(r->path[r->count - 1], "wb");
  assert_non_null(out);
  (void)fprintf(out, "P%d %d %d 65535\n", m->channels == 3 ? 6 : 5,
                (int)m->width, (int)m->height);
  for (int64_t k = 0; k < m->width * m->height * m->channels; k++) {
    long v = lround(65535 * (double)m->pixels[k]);
    (void)fputc((int)(v >> 8), out);
    (void)fputc((int)(v & 255), out);
  }
  assert_int_equal(fclose(out), 0);
}

static inline lapis_image make(int64_t width, int64_t height, int64_t channels)
{
  lapis_image m = {width, height, channels,
                   calloc((size_t)(width * height * channels), sizeof(float))};
  assert_non_null(m.pixels);
  return m;
}

/* Smooth, so that nothing hangs on one pixel; values .2 to .8. */
static inline lapis_image waves(int64_t width, int64_t height, int64_t channels,
                                uint64_t seed)
{
  lapis_image m = make(width, height, channels);
  for (int i = 0; i < 12; i++) {
    double fx = 30 * check_uniform(&seed) - 15;
    double fy = 30 * check_uniform(&seed) - 15;
    double phase = 7 * check_uniform(&seed);
    for (int64_t k = 0; k < width * height * channels; k++) {
      int64_t p = k / channels;
      double u = (double)(p % width) / (double)width;
      double v = (double)(p / width) / (double)height;
      double c = (double)(k % channels);
      m.pixels[k] +=
          (float)((.5 + .3 * sin(fx * u + fy * v + phase * (1 + c))) / 12);
    }
  }
  return m;
}

/* out(x, y) = m(w - 1 - y, x): turned left by a quarter. */
static inline lapis_image turned(const lapis_image *m)
{
  lapis_image out = make(m->height, m->width, m->channels);
  for (int64_t y = 0; y < out.height; y++)
    for (int64_t x = 0; x < out.width; x++)
      for (int64_t c = 0; c < m->channels; c++)
        out.pixels[(y * out.width + x) * m->channels + c] =
            m->pixels[(x * m->width + m->width - 1 - y) * m->channels + c];
  return out;
}

/* Each pixel twice along both sides. */
static inline lapis_image doubled(const lapis_image *m)
{
  lapis_image out = make(2 * m->width, 2 * m->height, m->channels);
  for (int64_t y = 0; y < out.height; y++)
    for (int64_t x = 0; x < out.width; x++)
      for (int64_t c = 0; c < m->channels; c++)
        out.pixels[(y * out.width + x) * m->channels + c] =
            m->pixels[(y / 2 * m->width + x / 2) * m->channels + c];
  return out;
}

static inline lapis_image brighter(const lapis_image *m, float times,
                                   float plus)
{
  lapis_image out = make(m->width, m->height, m->channels);
  for (int64_t k = 0; k < m->width * m->height * m->channels; k++)
    out.pixels[k] = times * m->pixels[k] + plus;
  return out;
}

static inline bool is_built(const char *kind)
{
  bool images = lapis_image_format_at(0)->built;
  return images || (strcmp(kind, "hog") != 0 && strcmp(kind, "sift") != 0);
}

static inline void need(const char *kind)
{
  if (is_built(kind)) return;
  print_message("skipped: %s is not built in\n", kind);
  skip();
}

/* Settings as "name=value name=value"; text is cut up and must live on. */
static inline void set_all(run *r, const lapis_method *m, void *settings,
                           char *text)
{
  lapis_settings_default(m, settings);
  for (char *w = strtok(text, " "); w != NULL; w = strtok(NULL, " ")) {
    char *equals = strchr(w, '=');
    *equals = '\0';
    CHECK_OK(r->f, lapis_settings_set(r->f->ctx, m, settings, w, equals + 1));
  }
}

static inline void solve(run *r, const char *kind, const char *words)
{
  const lapis_method *m = lapis_feature_find(kind);
  assert_non_null(m);
  void *settings = calloc(1, m->settings_size);
  (void)snprintf(r->text, sizeof r->text, "%s", words);
  set_all(r, m, settings, r->text);
  lapis_solver_free(r->s);
  CHECK_OK(r->f, lapis_features_new(r->f->ctx, m, settings, r->name, r->count,
                                    NULL, &r->s));
  CHECK_OK(r->f, lapis_solve(r->s));
  CHECK_OK(r->f, lapis_result_get(r->s, "X", &r->X));
  free(settings);
}

static inline const double *column(const run *r, int64_t j)
{
  return (const double *)r->X.val + j * r->X.rows;
}
#endif
