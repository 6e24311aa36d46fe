/* stand_in.c - plays ONNX Runtime: the functions that LAPIS calls, on networks
 * of a few lines of text.
 *
 *   stand-in                  first line
 *   in 1 3 8 12               sides of the input; -1: any
 *   out NAME 1 5              an output
 *   hidden NAME 1 4 2 3       a value inside, an output only where it is asked
 *   meta KEY VALUE
 *   do crash|loop|memory|file|nan|string
 *
 * The input is a picture, channels in the second place or the last.  A value of
 * places and channels c holds (c + 1) times the mean of channel c modulo the
 * picture's over the place's part of the picture. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/features/onnx_api.h"

enum { SIDES = 6, VALUES = 8, TEXT = 160 };
typedef struct tensor {
  size_t sides;
  int64_t side[SIDES];
  float *at;
  int type, owned;
} tensor;
typedef struct value {
  char name[TEXT];
  tensor of;
  int out;
} value;
typedef struct session {
  tensor in;
  int values, metas, nan;
  value item[VALUES];
  char key[VALUES][TEXT], meta[VALUES][TEXT];
} session;

static ORT_STATUS fail(const char *why)
{
  return strdup(why);
}

/* ---- reading ------------------------------------------------------------*/
static void read_sides(const char *text, tensor *to)
{
  char *end;
  for (to->sides = 0; to->sides < SIDES; to->sides++) {
    long long side = strtoll(text, &end, 10);
    if (end == text) return;
    to->side[to->sides] = side;
    text = end;
  }
}

static ORT_STATUS misbehave(session *s, const char *how)
{
  volatile int forever = 1;
  if (strcmp(how, "crash") == 0) abort();
  while (strcmp(how, "loop") == 0 && forever) continue;
  if (strcmp(how, "nan") == 0) s->nan = 1;
  if (strcmp(how, "string") == 0) s->in.type = 8;
  if (strcmp(how, "memory") == 0) {
    void *much = malloc((size_t)1 << 40);
    if (much == NULL) return fail("Failed to allocate\nmemory for 2^40 bytes");
    memset(much, 1, (size_t)1 << 40);
    free(much);
  }
  if (strcmp(how, "file") == 0) {
    FILE *more = fopen("/dev/null", "r");
    if (more == NULL) return fail("the weights' file cannot be opened");
    fclose(more);
  }
  return NULL;
}

static ORT_STATUS read_line(session *s, const char *line)
{
  char name[TEXT] = "";
  int at = 0;
  if (sscanf(line, "out %100s%n", name, &at) == 1 ||
      sscanf(line, "hidden %100s%n", name, &at) == 1) {
    value *v = &s->item[s->values++];
    strcpy(v->name, name);
    v->out = *line == 'o';
    v->of.type = ORT_FLOAT;
    read_sides(line + at, &v->of);
  } else if (sscanf(line, "meta %100s %n", name, &at) == 1) {
    strcpy(s->key[s->metas], name);
    snprintf(s->meta[s->metas++], TEXT, "%s", line + at);
  } else if (strncmp(line, "in ", 3) == 0) {
    read_sides(line + 3, &s->in);
  } else if (strncmp(line, "do ", 3) == 0) {
    return misbehave(s, line + 3);
  }
  return NULL;
}

/* graph (7) { output (12) { name (1) } }, as lengths below 128 are written. */
static ORT_STATUS read_tail(session *s, const unsigned char *at, size_t size)
{
  size_t length = size > 5 ? at[5] : 0;
  if (size != length + 6 || at[0] != 0x3a || at[1] != length + 4 ||
      at[2] != 0x62 || at[3] != length + 2 || at[4] != 0x0a)
    return fail("the bytes behind the network are no output");
  for (int k = 0; k < s->values; k++) {
    value *v = &s->item[k];
    if (strlen(v->name) != length || memcmp(v->name, at + 6, length) != 0)
      continue;
    v->out = 1;
    return NULL;
  }
  return fail("the graph has no such value");
}

static ORT_STATUS create_session(const void *env, const void *bytes,
                                 size_t size, const void *options, void **out)
{
  const char *at = bytes, *end = at + size;
  ORT_STATUS status = NULL;
  if (size < 9 || memcmp(at, "stand-in\n", 9) != 0)
    return fail("Protobuf parsing failed.");
  session *s = calloc(1, sizeof *s);
  s->in.type = ORT_FLOAT;
  while (status == NULL && at < end && *at != 0x3a) {
    char line[TEXT];
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (stop == NULL) stop = end;
    snprintf(line, sizeof line, "%.*s", (int)(stop - at), at);
    status = read_line(s, line);
    at = stop < end ? stop + 1 : end;
  }
  if (status == NULL && at < end)
    status = read_tail(s, (const unsigned char *)at, (size_t)(end - at));
  if (status == NULL)
    *out = s;
  else
    free(s);
  return status;
}

/* ---- what it has --------------------------------------------------------*/
static ORT_STATUS take_any(void **out)
{
  *out = malloc(1);
  return NULL;
}
static ORT_STATUS create_env(int level, const char *name, void **out)
{
  return take_any(out);
}
static ORT_STATUS memory_info(int allocator, int memory, void **out)
{
  return take_any(out);
}
static ORT_STATUS default_allocator(void **out)
{
  static int it;
  *out = &it;
  return NULL;
}
static ORT_STATUS set_threads(void *options, int threads)
{
  return threads == 1 ? NULL : fail("more threads than one");
}
static ORT_STATUS release_name(void *allocator, void *p)
{
  free(p);
  return NULL;
}
static const char *message(const void *status)
{
  return status;
}

static ORT_STATUS count_inputs(const void *of, size_t *out)
{
  *out = ((const session *)of)->in.sides > 0;
  return NULL;
}
static ORT_STATUS input_name(const void *of, size_t i, void *with, char **out)
{
  *out = strdup("image");
  return NULL;
}
static ORT_STATUS input_type(const void *of, size_t i, void **out)
{
  tensor *own = malloc(sizeof *own);
  *own = ((const session *)of)->in;
  *out = own;
  return NULL;
}
static ORT_STATUS cast_type(const void *type, const void **out)
{
  *out = type;
  return NULL;
}
static ORT_STATUS count_outputs(const void *of, size_t *out)
{
  const session *s = of;
  *out = 0;
  for (int k = 0; k < s->values; k++) *out += s->item[k].out != 0;
  return NULL;
}
static ORT_STATUS output_name(const void *of, size_t i, void *with, char **out)
{
  const session *s = of;
  int k = 0;
  for (;; k++)
    if (s->item[k].out && i-- == 0) break;
  *out = strdup(s->item[k].name);
  return NULL;
}
static ORT_STATUS metadata(const void *of, void **out)
{
  session *own = malloc(sizeof *own);
  memcpy(own, of, sizeof *own);
  *out = own;
  return NULL;
}
static ORT_STATUS look_up(const void *of, void *with, const char *key,
                          char **out)
{
  const session *s = of;
  *out = NULL;
  for (int k = 0; k < s->metas && *out == NULL; k++)
    if (strcmp(s->key[k], key) == 0) *out = strdup(s->meta[k]);
  return NULL;
}

/* ---- tensors ------------------------------------------------------------*/
static ORT_STATUS tensor_with(const void *memory, void *data, size_t bytes,
                              const int64_t *side, size_t sides, int type,
                              void **out)
{
  tensor *t = calloc(1, sizeof *t);
  size_t count = 1;
  t->sides = sides;
  t->at = data;
  t->type = type;
  for (size_t k = 0; k < sides; k++) count *= (size_t)(t->side[k] = side[k]);
  *out = t;
  return count * sizeof *t->at == bytes ? NULL : fail("sides against bytes");
}
static ORT_STATUS tensor_data(void *of, void **out)
{
  *out = ((tensor *)of)->at;
  return NULL;
}
static ORT_STATUS tensor_shape(const void *of, void **out)
{
  tensor *own = malloc(sizeof *own);
  *own = *(const tensor *)of;
  *out = own;
  return NULL;
}
static ORT_STATUS element_type(const void *of, int *out)
{
  *out = ((const tensor *)of)->type;
  return NULL;
}
static ORT_STATUS count_sides(const void *of, size_t *out)
{
  *out = ((const tensor *)of)->sides;
  return NULL;
}
static ORT_STATUS get_sides(const void *of, int64_t *side, size_t sides)
{
  memcpy(side, ((const tensor *)of)->side, sides * sizeof *side);
  return NULL;
}
static void release_tensor(void *of)
{
  tensor *t = of;
  if (t->owned) free(t->at);
  free(t);
}

/* ---- running ------------------------------------------------------------*/
/* The mean of a channel over part (y of rows, x of columns). */
static float part_of(const tensor *in, int last, int64_t c, int64_t y,
                     int64_t rows, int64_t x, int64_t columns)
{
  int64_t depth = in->side[last ? 3 : 1];
  int64_t high = in->side[last ? 1 : 2], wide = in->side[last ? 2 : 3];
  double sum = 0;
  int64_t n = 0;
  for (int64_t v = y * high / rows; v < (y + 1) * high / rows; v++)
    for (int64_t u = x * wide / columns; u < (x + 1) * wide / columns; u++, n++)
      sum += last ? in->at[(v * wide + u) * depth + c % depth]
                  : in->at[(c % depth * high + v) * wide + u];
  return (float)((double)(c + 1) * sum / (double)n);
}

static ORT_STATUS run(void *of, const void *options, const char *const *input,
                      const void *const *given, size_t inputs,
                      const char *const *output, size_t outputs, void **out)
{
  const session *s = of;
  const tensor *in = given[0];
  int last = s->in.side[1] != 1 && s->in.side[1] != 3 && s->in.side[1] > 0;
  int k = 0;
  while (k < s->values && strcmp(s->item[k].name, output[0]) != 0) k++;
  if (k == s->values || !s->item[k].out) return fail("no such output");
  tensor *t = malloc(sizeof *t);
  *t = s->item[k].of;
  size_t n = t->sides, count = 1;
  for (size_t i = 0; i < n; i++) count *= (size_t)t->side[i];
  int64_t rows = n == 4 ? t->side[last ? 1 : 2] : 1;
  int64_t columns = n == 4 ? t->side[last ? 2 : 3] : n == 3 ? t->side[1] : 1;
  int64_t depth = n == 4 && !last ? t->side[1] : t->side[n - 1];
  t->at = calloc(count, sizeof *t->at);
  t->owned = 1;
  for (int64_t y = 0; y < rows; y++)
    for (int64_t x = 0; x < columns; x++)
      for (int64_t c = 0; c < depth; c++)
        t->at[n == 4 && !last ? (c * rows + y) * columns + x
                              : (y * columns + x) * depth + c] =
            s->nan ? NAN : part_of(in, last, c, y, rows, x, columns);
  *out = t;
  return NULL;
}

/* ---- the table ----------------------------------------------------------*/
#define PUT(slot, function) [slot] = (ort_slot)(function)
static const ort_slot table[ORT_SLOTS] = {
    PUT(2, message),       PUT(3, create_env),      PUT(8, create_session),
    PUT(9, run),           PUT(10, take_any),       PUT(24, set_threads),
    PUT(30, count_inputs), PUT(31, count_outputs),  PUT(33, input_type),
    PUT(36, input_name),   PUT(37, output_name),    PUT(49, tensor_with),
    PUT(51, tensor_data),  PUT(55, cast_type),      PUT(60, element_type),
    PUT(61, count_sides),  PUT(62, get_sides),      PUT(65, tensor_shape),
    PUT(69, memory_info),  PUT(76, release_name),   PUT(78, default_allocator),
    PUT(92, free),         PUT(93, free),           PUT(94, free),
    PUT(95, free),         PUT(96, release_tensor), PUT(98, free),
    PUT(99, free),         PUT(100, free),          PUT(111, metadata),
    PUT(116, look_up),     PUT(118, free)};

static const ort_slot *get_api(uint32_t version)
{
  return version == ORT_VERSION ? table : NULL;
}
static const char *get_version(void)
{
  return "stand-in";
}

__attribute__((visibility("default"))) const ort_base *OrtGetApiBase(void);
const ort_base *OrtGetApiBase(void)
{
  static const ort_base base = {get_api, get_version};
  return &base;
}
