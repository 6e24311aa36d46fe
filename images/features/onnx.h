/* onnx.h - a net in the ONNX format, run by ONNX Runtime. */
#ifndef LAPIS_VISION_ONNX_H
#define LAPIS_VISION_ONNX_H
#include "images/features/feature.h"
#include "images/features/onnx_api.h"
#include "lapis/images.h"

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

/* ---- onnx.c -------------------------------------------------------------*/
typedef struct onnx_state onnx_state; /* a net, and how it is given images */
/* set: what is automatic is resolved, of texts that the state owns.  To be
 * closed, whatever came of it. */
lapis_status onnx_open(lapis_ctx *ctx, const char *kind,
                       lapis_onnx_settings *set, onnx_state **out);
void onnx_close(onnx_state *s);
uint64_t onnx_hash(const onnx_state *s); /* of the file */
/* The sides of what a black image gives. */
void onnx_shape(const onnx_state *s, onnx_map *shape);
/* m: to be released by onnx_let_go. */
lapis_status onnx_look(lapis_ctx *ctx, const onnx_state *s,
                       const lapis_onnx_settings *set, const lapis_image *image,
                       onnx_map *m);
void onnx_let_go(const onnx_state *s, onnx_map *m);
/* Refusals: numbers that are not finite, or not as many as of a black image. */
lapis_status onnx_not_finite(lapis_ctx *ctx, const onnx_state *s);
lapis_status onnx_odd(lapis_ctx *ctx, const onnx_state *s);
/* What was taken, said; numbers: that a column has. */
void onnx_say(lapis_ctx *ctx, const char *kind, const onnx_state *s,
              const lapis_onnx_settings *set, int64_t numbers);

/* Rows of the kinds' tables: of fields net, layer, .. bgr. */
#define ONNX_ROWS                                                   \
  TEXT("net", net, .arg = "F.onnx", .help = "file of the network"), \
      PARAMS_OF_NET()

#endif
