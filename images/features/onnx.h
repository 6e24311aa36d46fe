/* onnx.h - a net in the ONNX format, run by ONNX Runtime. */
#ifndef LAPIS_VISION_ONNX_H
#define LAPIS_VISION_ONNX_H
#include "base/base.h"
#include "images/features/onnx_api.h"

/* ---- onnx_library.c -----------------------------------------------------*/
lapis_status onnx_library(lapis_ctx *ctx, ort *out);

/* ---- onnx_net.c ---------------------------------------------------------*/
enum { NET_SIDES = 8, NET_INPUT = 4 };
typedef struct onnx_net {
  ort api;
  const char *path; /* borrowed, for sentences */
  void *env, *options, *session, *memory, *allocator, *metadata;
  char *input;             /* its name, the library's */
  char *layer;             /* what describes an image, base_alloc'd */
  int64_t side[NET_INPUT]; /* of the input; an image, less than 1: any */
  bool last;               /* channels come last */
  int64_t channels, width, height; /* width, height less than 1: any */
} onnx_net;
/* layer: an output or a value inside the net; NULL: the first output.  To be
 * closed, whatever came of it. */
lapis_status net_open(lapis_ctx *ctx, const ort *api, const char *path,
                      const void *bytes, int64_t size, const char *layer,
                      onnx_net *n);
void net_close(onnx_net *n);
/* What the file's metadata say of a key, cut to size; false: nothing. */
bool net_says(const onnx_net *n, const char *key, char *text, size_t size);

/* What the layer gives for one image: places along y and x, channels. */
typedef struct onnx_map {
  void *value; /* the library's */
  const float *at;
  int64_t rows, columns, depth;      /* 1 x 1 where it has no places */
  int64_t row_step, step, deep_step; /* from an entry of at to the next */
} onnx_map;
/* in: width x height pixels as the net's own channels and order want them; may
 * be called from several threads at once. */
lapis_status net_run(lapis_ctx *ctx, const onnx_net *n, float *in,
                     int64_t width, int64_t height, onnx_map *m);
void net_release(const onnx_net *n, onnx_map *m);

#endif
