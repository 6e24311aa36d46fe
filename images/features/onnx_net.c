/* onnx_net.c - a net in the ONNX format: reading it, what it takes and gives,
 * running it.
 *
 * A net runs on one thread, so that its numbers do not depend on how many there
 * are: images share the threads.
 *
 * ONNX Runtime gives nothing but the outputs that a net declares.  A layer
 * inside it is made one by a few bytes behind the file: of two parts of one
 * message Protocol Buffers reads the lists as one. */
#include "images/features/onnx.h"

#include <stdio.h>
#include <string.h>

enum { SAID = 300, NAMES = 600, TAIL = 32 };

/* ---- what the library says ----------------------------------------------*/
/* What is not a line of text becomes blank. */
static lapis_status check(lapis_ctx *ctx, const onnx_net *n, ORT_STATUS status)
{
  char said[SAID];
  if (status == NULL) return LAPIS_OK;
  snprintf(said, sizeof said, "%s", n->api.GetErrorMessage(status));
  n->api.ReleaseStatus(status);
  for (char *c = said; *c != '\0'; c++)
    if ((unsigned char)*c < ' ' || (unsigned char)*c > '~') *c = ' ';
  return lapis_fail(ctx, LAPIS_EFORMAT,
                    "onnx: %s: ONNX Runtime cannot use it: "
                    "%s",
                    n->path, said);
}
#define ORT(call) TRY(check(ctx, n, n->api.call))

/* ---- a layer as an output -----------------------------------------------*/
static unsigned char *put_size(unsigned char *to, size_t size)
{
  for (; size > 127; size >>= 7) *to++ = (unsigned char)(size | 128);
  *to++ = (unsigned char)size;
  return to;
}

static size_t size_of_size(size_t size)
{
  size_t bytes = 1;
  for (; size > 127; size >>= 7) bytes++;
  return bytes;
}

/* ModelProto.graph (7) { GraphProto.output (12) { ValueInfoProto.name (1) } }
 * behind the file's own; its bytes. */
static size_t put_output(unsigned char *to, const char *name)
{
  enum { GRAPH = 7 << 3 | 2, OUTPUT = 12 << 3 | 2, NAME = 1 << 3 | 2 };
  size_t length = strlen(name), value = 1 + size_of_size(length) + length;
  unsigned char *at = to;
  *at++ = GRAPH;
  at = put_size(at, 1 + size_of_size(value) + value);
  *at++ = OUTPUT;
  at = put_size(at, value);
  *at++ = NAME;
  at = put_size(at, length);
  memcpy(at, name, length);
  return (size_t)(at - to) + length;
}

static lapis_status open_session(lapis_ctx *ctx, onnx_net *n, const void *bytes,
                                 int64_t size)
{
  if (n->session != NULL) n->api.ReleaseSession(n->session);
  n->session = NULL;
  ORT(CreateSessionFromArray(n->env, bytes, (size_t)size, n->options,
                             &n->session));
  return LAPIS_OK;
}

/* The outputs' names, "a, b"; *found: the layer is one of them.  Without a
 * layer the first becomes it. */
static lapis_status list_outputs(lapis_ctx *ctx, onnx_net *n, char *names,
                                 bool *found)
{
  size_t count, used = 0;
  ORT(SessionGetOutputCount(n->session, &count));
  *found = false;
  *names = '\0';
  for (size_t i = 0; i < count; i++) {
    char *name;
    ORT(SessionGetOutputName(n->session, i, n->allocator, &name));
    if (n->layer == NULL) n->layer = base_strdup(ctx, name);
    *found = *found || (n->layer != NULL && strcmp(n->layer, name) == 0);
    if (used < NAMES - 1)
      used += (size_t)snprintf(names + used, NAMES - used, "%s%.100s",
                               i > 0 ? ", " : "", name);
    (void)n->api.AllocatorFree(n->allocator, name);
    if (n->layer == NULL) return LAPIS_ENOMEM;
  }
  if (count > 0) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EDATA, "onnx: %s: has no output", n->path);
}

static lapis_status reach_layer(lapis_ctx *ctx, onnx_net *n, const void *bytes,
                                int64_t size)
{
  char names[NAMES];
  bool found;
  TRY(list_outputs(ctx, n, names, &found));
  if (found) return LAPIS_OK;
  unsigned char *more = base_alloc_raw(
      ctx, size + (int64_t)strlen(n->layer) + TAIL, sizeof *more);
  if (more == NULL) return LAPIS_ENOMEM;
  memcpy(more, bytes, (size_t)size);
  int64_t tail = (int64_t)put_output(more + size, n->layer);
  lapis_status s = open_session(ctx, n, more, size + tail);
  base_free(more);
  if (s >= 0) return s;
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "onnx: %s: has no layer '%.200s'; --layer names an output "
                    "(%s) or another value of the net",
                    n->path, n->layer, names);
}

/* ---- what it takes ------------------------------------------------------*/
/* Side of the channels: 1 or 3 numbers, in the second place or the last. */
static lapis_status take_input(lapis_ctx *ctx, onnx_net *n, const void *info)
{
  int type;
  size_t sides;
  ORT(GetTensorElementType(info, &type));
  ORT(GetDimensionsCount(info, &sides));
  int64_t *side = n->side;
  if (sides == NET_INPUT) ORT(GetDimensions(info, side, sides));
  bool first = side[1] == 1 || side[1] == 3;
  n->last = !first && (side[3] == 1 || side[3] == 3);
  bool image =
      sides == NET_INPUT && side[0] <= 1 && (first || n->last || side[1] < 1);
  if (type != ORT_FLOAT || !image)
    return lapis_fail(ctx, LAPIS_EDATA,
                      "onnx: %s: its input '%.100s' is not an image: 1 x 1 or "
                      "3 x height x width numbers of type float, or with the "
                      "channels last",
                      n->path, n->input);
  n->channels = n->last ? side[3] : first ? side[1] : 3;
  n->height = n->last ? side[1] : side[2];
  n->width = n->last ? side[2] : side[3];
  return LAPIS_OK;
}

static lapis_status find_input(lapis_ctx *ctx, onnx_net *n)
{
  size_t count;
  void *type;
  const void *info = NULL;
  ORT(SessionGetInputCount(n->session, &count));
  if (count != 1)
    return lapis_fail(ctx, LAPIS_EDATA,
                      "onnx: %s: takes %zu inputs; a net that describes an "
                      "image takes one",
                      n->path, count);
  ORT(SessionGetInputName(n->session, 0, n->allocator, &n->input));
  ORT(SessionGetInputTypeInfo(n->session, 0, &type));
  lapis_status s = check(ctx, n, n->api.CastTypeInfoToTensorInfo(type, &info));
  if (s >= 0 && info == NULL)
    s = lapis_fail(ctx, LAPIS_EDATA, "onnx: %s: its input holds no numbers",
                   n->path);
  if (s >= 0) s = take_input(ctx, n, info);
  n->api.ReleaseTypeInfo(type);
  return s;
}

lapis_status net_open(lapis_ctx *ctx, const ort *api, const char *path,
                      const void *bytes, int64_t size, const char *layer,
                      onnx_net *n)
{
  *n = (onnx_net){.api = *api, .path = path};
  if (layer != NULL && (n->layer = base_strdup(ctx, layer)) == NULL)
    return LAPIS_ENOMEM;
  ORT(CreateEnv(ORT_FATAL, "lapis", &n->env));
  ORT(CreateSessionOptions(&n->options));
  ORT(SetIntraOpNumThreads(n->options, 1));
  ORT(GetAllocatorWithDefaultOptions(&n->allocator));
  ORT(CreateCpuMemoryInfo(1, 0, &n->memory)); /* arena, default */
  TRY(open_session(ctx, n, bytes, size));
  TRY(reach_layer(ctx, n, bytes, size));
  ORT(SessionGetModelMetadata(n->session, &n->metadata));
  return find_input(ctx, n);
}

void net_close(onnx_net *n)
{
  if (n->input != NULL) (void)n->api.AllocatorFree(n->allocator, n->input);
  if (n->metadata != NULL) n->api.ReleaseModelMetadata(n->metadata);
  if (n->session != NULL) n->api.ReleaseSession(n->session);
  if (n->memory != NULL) n->api.ReleaseMemoryInfo(n->memory);
  if (n->options != NULL) n->api.ReleaseSessionOptions(n->options);
  if (n->env != NULL) n->api.ReleaseEnv(n->env);
  base_free(n->layer);
  *n = (onnx_net){.path = NULL};
}

bool net_says(const onnx_net *n, const char *key, char *text, size_t size)
{
  char *value = NULL;
  ORT_STATUS status = n->api.ModelMetadataLookupCustomMetadataMap(
      n->metadata, n->allocator, key, &value);
  if (status != NULL) n->api.ReleaseStatus(status);
  if (value == NULL) return false;
  snprintf(text, size, "%s", value);
  (void)n->api.AllocatorFree(n->allocator, value);
  return *text != '\0';
}

/* ---- running it ---------------------------------------------------------*/
/* Sides of the layer's value: [1, depth], [1, columns, depth] (tokens), or
 * [1, depth, rows, columns]; channels last as in the input. */
static bool lay_out(const onnx_net *n, const int64_t *side, size_t sides,
                    onnx_map *m)
{
  bool single = sides < 2 || side[0] == 1;
  m->rows = m->columns = 1;
  m->depth = sides == 0 ? 1 : side[sides - 1];
  m->deep_step = 1;
  if (sides == 3) m->columns = side[1];
  if (sides == 4 && n->last) m->rows = side[1], m->columns = side[2];
  m->step = m->depth;
  if (sides == 4 && !n->last) {
    m->depth = side[1], m->rows = side[2], m->columns = side[3];
    m->step = 1;
    m->deep_step = m->rows * m->columns;
  }
  m->row_step = m->step * m->columns;
  return single && sides <= 4 && m->rows > 0 && m->columns > 0 && m->depth > 0;
}

static lapis_status look_at(lapis_ctx *ctx, const onnx_net *n, onnx_map *m)
{
  void *info, *data;
  int type = 0;
  size_t sides = 0;
  int64_t side[NET_SIDES];
  ORT(GetTensorTypeAndShape(m->value, &info));
  lapis_status s = check(ctx, n, n->api.GetTensorElementType(info, &type));
  if (s >= 0) s = check(ctx, n, n->api.GetDimensionsCount(info, &sides));
  bool fits = type == ORT_FLOAT && sides <= NET_SIDES;
  if (s >= 0 && fits)
    s = check(ctx, n, n->api.GetDimensions(info, side, sides));
  n->api.ReleaseTensorTypeAndShapeInfo(info);
  TRY(s);
  if (!fits || !lay_out(n, side, sides, m))
    return lapis_fail(ctx, LAPIS_EDATA,
                      "onnx: %s: '%.200s' does not describe an image: it is no "
                      "vector and no map of floats; name another --layer",
                      n->path, n->layer);
  ORT(GetTensorMutableData(m->value, &data));
  m->at = data;
  return LAPIS_OK;
}

lapis_status net_run(lapis_ctx *ctx, const onnx_net *n, float *in,
                     int64_t width, int64_t height, onnx_map *m)
{
  const char *const input[] = {n->input}, *const layer[] = {n->layer};
  const int64_t first[] = {1, n->channels, height, width};
  const int64_t last[] = {1, height, width, n->channels};
  size_t bytes = (size_t)(n->channels * width * height) * sizeof *in;
  void *value;
  *m = (onnx_map){.value = NULL};
  ORT(CreateTensorWithDataAsOrtValue(n->memory, in, bytes,
                                     n->last ? last : first, NET_INPUT,
                                     ORT_FLOAT, &value));
  const void *const values[] = {value};
  lapis_status s = check(
      ctx, n,
      n->api.Run(n->session, NULL, input, values, 1, layer, 1, &m->value));
  n->api.ReleaseValue(value);
  if (s >= 0) s = look_at(ctx, n, m);
  if (s < 0) net_release(n, m);
  return s;
}

void net_release(const onnx_net *n, onnx_map *m)
{
  if (m->value != NULL) n->api.ReleaseValue(m->value);
  *m = (onnx_map){.value = NULL};
}
