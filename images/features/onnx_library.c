/* onnx_library.c - finding and opening the library of ONNX Runtime.
 *
 * It is opened when a net is read: the file or folder that LAPIS_ONNXRUNTIME
 * names (never where privileges were gained), else by its usual names on the
 * loader's path.  One that is named has to lie where nobody else can write.
 * What was opened stays in memory. */
#define _GNU_SOURCE /* secure_getenv */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/features/onnx.h"
#include "parallel/plugin.h"

enum { PATH_TEXT = 4096, HOW = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE };
static const char *const usual[] = {"libonnxruntime.so.1", "libonnxruntime.so",
                                    "libonnxruntime.so.1.21"};
enum { USUAL = sizeof usual / sizeof *usual };

/* The file that is named, or the first of the usual names in that folder. */
static char *named_file(const char *named)
{
  char path[PATH_TEXT];
  for (int i = 0; i < USUAL; i++) {
    int n = snprintf(path, sizeof path, "%s/%s", named, usual[i]);
    char *real = n < PATH_TEXT ? realpath(path, NULL) : NULL;
    if (real != NULL) return real;
  }
  return realpath(named, NULL);
}

static lapis_status open_named(lapis_ctx *ctx, const char *named, void **out)
{
  char *real = named[0] == '/' ? named_file(named) : NULL;
  bool ours = real != NULL && base_is_ours(real);
  if (ours) *out = dlopen(real, HOW);
  lapis_status s = LAPIS_OK;
  if (real == NULL)
    s = lapis_fail(ctx, LAPIS_ENOTBUILT,
                   "onnx: LAPIS_ONNXRUNTIME is '%s', which is not there; it "
                   "names libonnxruntime.so.1 or its folder, beginning with /",
                   named);
  else if (!ours)
    s = lapis_fail(ctx, LAPIS_ENOTBUILT,
                   "onnx: %s is not opened: it or a folder above it belongs to "
                   "someone else, or others can write to it",
                   real);
  else if (*out == NULL)
    s = lapis_fail(ctx, LAPIS_ENOTBUILT, "onnx: %s cannot be opened: %.300s",
                   real, dlerror());
  free(real);
  return s;
}

static lapis_status open_any(lapis_ctx *ctx, void **out)
{
  const char *named = secure_getenv("LAPIS_ONNXRUNTIME");
  *out = NULL;
  if (named != NULL && *named != '\0') return open_named(ctx, named, out);
  for (int i = 0; i < USUAL && *out == NULL; i++) *out = dlopen(usual[i], HOW);
  if (*out != NULL) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ENOTBUILT,
                    "onnx: ONNX Runtime is not here (libonnxruntime.so.1); "
                    "install it (Debian 13: libonnxruntime1.21, npm: "
                    "onnxruntime-node) and name the file by LAPIS_ONNXRUNTIME");
}

/* NOLINTBEGIN(bugprone-macro-parentheses): a type */
#define ORT_TAKE(slot, type, name, args) .name = (type(*) args)table[slot],
/* NOLINTEND(bugprone-macro-parentheses) */
lapis_status onnx_library(lapis_ctx *ctx, ort *out)
{
  void *library;
  const ort_base *(*base)(void) = NULL;
  TRY(open_any(ctx, &library));
  void *found = dlsym(library, "OrtGetApiBase");
  memcpy(&base, &found, sizeof base);
  const ort_slot *table = base == NULL ? NULL : base()->GetApi(ORT_VERSION);
  if (table == NULL)
    return lapis_fail(ctx, LAPIS_ENOTBUILT,
                      "onnx: the library that was found is not ONNX Runtime, "
                      "or older than 1.1");
  *out = (ort){ORT_FUNCTIONS(ORT_TAKE)};
  return LAPIS_OK;
}
