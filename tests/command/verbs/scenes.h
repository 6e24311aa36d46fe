/* scenes.h - generated pictures: one textured object, moved, turned and scaled
 * over backgrounds that differ. */
#ifndef LAPIS_SCENES_H
#define LAPIS_SCENES_H
#include "command.h"

enum { SCENE_BLOBS = 160, SCENE_SIDE = 200 };

typedef struct scene_texture { /* Gaussian blobs in the square of side 2 */
  double x[SCENE_BLOBS], y[SCENE_BLOBS], width[SCENE_BLOBS];
  double height[SCENE_BLOBS];
} scene_texture;

typedef struct scene { /* where the object is: half its side, in pixels */
  double x, y, half, angle;
} scene;

static inline void scene_texture_make(scene_texture *t, uint64_t seed,
                                      double least, double most)
{
  for (int i = 0; i < SCENE_BLOBS; i++) {
    t->x[i] = 2.4 * check_uniform(&seed) - 1.2;
    t->y[i] = 2.4 * check_uniform(&seed) - 1.2;
    t->width[i] = least + (most - least) * check_uniform(&seed);
    t->height[i] = check_uniform(&seed) < 0.5 ? -1 : 1;
  }
}

static inline double scene_texture_at(const scene_texture *t, double x,
                                      double y)
{
  double sum = 0;
  for (int i = 0; i < SCENE_BLOBS; i++) {
    double u = (x - t->x[i]) / t->width[i], v = (y - t->y[i]) / t->width[i];
    if (u * u + v * v < 12) sum += t->height[i] * exp(-(u * u + v * v) / 2);
  }
  return sum;
}

/* From a picture's pixels to the object's own coordinates, -1..1 inside. */
static inline void scene_into(const scene *s, double x, double y, double *u,
                              double *v)
{
  double dx = x - s->x, dy = y - s->y, c = cos(s->angle), d = sin(s->angle);
  *u = (c * dx + d * dy) / s->half;
  *v = (-d * dx + c * dy) / s->half;
}

static inline void scene_write(const command *c, const char *name,
                               const scene *s, const scene_texture *object,
                               const scene_texture *ground, double strength)
{
  static char file[64 + SCENE_SIDE * SCENE_SIDE];
  int n = sprintf(file, "P5 %d %d 255\n", SCENE_SIDE, SCENE_SIDE);
  for (int y = 0; y < SCENE_SIDE; y++)
    for (int x = 0; x < SCENE_SIDE; x++) {
      double u, v, value;
      scene_into(s, x, y, &u, &v);
      bool inside = fabs(u) <= 1 && fabs(v) <= 1;
      if (inside)
        value = 128 + 60 * scene_texture_at(object, u, v);
      else
        value = 128 + strength * scene_texture_at(ground,
                                                  2.4 * x / SCENE_SIDE - 1.2,
                                                  2.4 * y / SCENE_SIDE - 1.2);
      file[n++] = (char)(unsigned char)fmin(255, fmax(0, value));
    }
  command_write(c, name, file, (size_t)n);
}

/* a.pgm, b.pgm, ...: one object at so many places, each before its own ground;
 * both textures from least[k] to most[k] wide, the object's first. */
static inline void scenes_begin(command *c, const scene *at, int count,
                                const double least[2], const double most[2],
                                double strength)
{
  scene_texture object, ground;
  command_begin(c);
  scene_texture_make(&object, 7, least[0], most[0]);
  for (int k = 0; k < count; k++) {
    char name[16];
    scene_texture_make(&ground, 100 + (uint64_t)k, least[1], most[1]);
    snprintf(name, sizeof name, "%c.pgm", 'a' + k);
    scene_write(c, name, &at[k], &object, &ground, strength);
  }
}
/* The pictures of the page that a run wrote (-o page.html --result r.npz), and
 * of the page that lapis report makes of the result and of pictures that have
 * been put elsewhere, are the same. */
static inline void scenes_report(command *c)
{
  static char page[2][1 << 22];
  char line[256];
  snprintf(line, sizeof line, "cd %s && mkdir moved && mv ?.pgm moved",
           c->folder);
  assert_int_equal(system(line), 0);
  command_run(c, "report r.npz --images moved -o again.html");
  command_expect(c, 0, "");
  for (int k = 0; k < 2; k++) {
    command_slurp(c, k == 0 ? "page.html" : "again.html", page[k],
                  sizeof page[k]);
    char *from = strstr(page[k], "<section id=\"pictures\"");
    assert_non_null(from);
    char *end = strstr(from, "</section>");
    assert_non_null(end);
    *end = '\0';
    memmove(page[k], from, strlen(from) + 1);
  }
  assert_string_equal(page[0], page[1]);
  snprintf(line, sizeof line,
           "mkdir %s/none && cp %s/moved/a.pgm %s/none/z.pgm", c->folder,
           c->folder, c->folder);
  assert_int_equal(system(line), 0);
  command_run(c, "report r.npz --images none -o again.html");
  command_expect(c, 4, "none of the images of the result, 'a.pgm' the first");
}
#endif
