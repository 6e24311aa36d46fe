/* label_case.h - images made here, whose labels and places are known, and
 * tables of labels as people write them. */
#ifndef LAPIS_LABEL_CASE_H
#define LAPIS_LABEL_CASE_H
#include "command.h"

enum { SIDE = 48, IMAGES = 24 };

typedef struct picture {
  double pixel[SIDE * SIDE];
} picture;

static inline void write_picture(const command *c, const char *name,
                                 const picture *p)
{
  unsigned char bytes[32 + SIDE * SIDE];
  int head = sprintf((char *)bytes, "P5\n%d %d\n255\n", SIDE, SIDE);
  for (int k = 0; k < SIDE * SIDE; k++)
    bytes[head + k] = (unsigned char)fmin(fmax(p->pixel[k], 0), 255);
  command_write(c, name, bytes, (size_t)(head + SIDE * SIDE));
}

/* Stripes of one of three directions, on noise. */
static inline void stripes(picture *p, int kind, uint64_t *state)
{
  double phase = 6 * check_uniform(state);
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++) {
      double at = kind == 0 ? x : kind == 1 ? y : (x + y) / sqrt(2);
      p->pixel[y * SIDE + x] =
          128 + 60 * sin(at + phase) + 15 * check_normal(state);
    }
}

static inline void folder(const command *c, const char *name)
{
  char path[160];
  snprintf(path, sizeof path, "%s/%s", c->folder, name);
  assert_int_equal(mkdir(path, 0777), 0);
}

/* in/a00.pgm ...: image i is of kind i mod kinds. */
static inline void begin_stripes(command *c, int kinds)
{
  uint64_t state = 7;
  command_begin(c);
  folder(c, "in");
  for (int i = 0; i < IMAGES; i++) {
    picture p;
    char name[32];
    stripes(&p, i % kinds, &state);
    snprintf(name, sizeof name, "in/a%02d.pgm", i);
    write_picture(c, name, &p);
  }
}

static inline void write_text(const command *c, const char *name,
                              const char *text)
{
  command_write(c, name, text, strlen(text));
}

/* A table of the first `known` images. */
static inline void write_labels(const command *c, const char *const *text,
                                int kinds, int known)
{
  char table[4096] = "file,what\n";
  for (int i = 0; i < known; i++)
    sprintf(table + strlen(table), "a%02d.pgm,%s\n", i, text[i % kinds]);
  write_text(c, "labels.csv", table);
}

/* choosing is left to one test: it is most of the time */
#define GIVEN "--mu-rel .02 --lambda .1 --gamma 3"
#define CHOOSING "label in --labels labels.csv --features hog --size 32x32"
#define LABEL CHOOSING " " GIVEN

/* Lines of the table for image i hold its label. */
static inline void table_says(const command *c, int i, const char *label)
{
  char name[32];
  snprintf(name, sizeof name, "in/a%02d.pgm ", i);
  const char *line = strstr(c->out, name);
  assert_non_null(line);
  const char *found = strstr(line, label), *end = strchr(line, '\n');
  if (found == NULL || found > end)
    fail_msg("'%.*s' should say %s", (int)(end - line), line, label);
}

static inline void shell(const command *c, const char *words)
{
  char line[512];
  snprintf(line, sizeof line, "cd %s && %s", c->folder, words);
  assert_int_equal(system(line), 0);
}
#endif
