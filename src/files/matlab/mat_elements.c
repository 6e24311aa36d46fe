/* mat_elements.c - elements of a MATLAB 5 file, and the heads of variables
 * (matlab.c has the form of a file). */
#include <stdio.h>

#include "files/matlab/matlab.h"

static uint32_t word(const mat_bytes *b, const unsigned char *at)
{
  uint32_t v = 0;
  for (int i = 0; i < 4; i++) v |= (uint32_t)at[b->big ? 3 - i : i] << 8 * i;
  return v;
}

static lapis_status fail_short(const mat_bytes *b, int64_t wanted)
{
  return lapis_fail(b->ctx, LAPIS_EFORMAT,
                    "%s: an element claims %" PRId64 " bytes where %td are "
                    "left; the file is cut short or damaged",
                    b->what, wanted, b->end - b->at);
}

/* Small elements have their size in the type's upper half and 4 bytes. */
lapis_status mat_next(mat_bytes *b, mat_element *e)
{
  if (b->end - b->at < 8) return fail_short(b, 8);
  uint32_t first = word(b, b->at), small = first >> 16;
  if (small > 0) {
    if (small > 4) return fail_short(b, small);
    *e = (mat_element){first & 0xffff, b->at + 4, small};
    b->at += 8;
    return LAPIS_OK;
  }
  *e = (mat_element){first, b->at + 8, word(b, b->at + 4)};
  b->at += 8;
  if (e->size > b->end - b->at) return fail_short(b, e->size);
  b->at += e->size;
  int64_t pad = e->type == MI_COMPRESSED ? 0 : -e->size & 7;
  b->at += pad < b->end - b->at ? pad : b->end - b->at;
  return LAPIS_OK;
}

static lapis_status fail_head(const mat_bytes *b, const char *what)
{
  return lapis_fail(b->ctx, LAPIS_EFORMAT,
                    "%s: a variable's head has no %s; the file is damaged",
                    b->what, what);
}

static lapis_status take_shape(mat_bytes *b, mat_variable *v)
{
  mat_element e;
  TRY(mat_next(b, &e));
  if (e.type != MI_INT32 || e.size < 8 || e.size % 4 != 0)
    return fail_head(b, "shape");
  v->axes = (int)(e.size / 4);
  if (v->axes > LAPIS_MAX_AXES)
    return lapis_fail(b->ctx, LAPIS_ESHAPE,
                      "%s: a variable has %d dimensions, at most %d are read",
                      b->what, v->axes, LAPIS_MAX_AXES);
  v->count = 1;
  for (int i = 0; i < v->axes; i++) {
    int64_t n = (int32_t)word(b, e.data + 4 * i);
    if (n < 0 || (n > 0 && v->count > INT64_MAX / 16 / n))
      return fail_head(b, "possible shape");
    v->shape[i] = n;
    v->count *= n;
  }
  return LAPIS_OK;
}

lapis_status mat_head(const mat_bytes *outer, const mat_element *matrix,
                      mat_variable *v)
{
  mat_element e;
  mat_bytes b = *outer;
  b.at = matrix->data;
  b.end = matrix->data + matrix->size;
  *v = (mat_variable){.class = 0};
  TRY(mat_next(&b, &e));
  if (e.type != MI_UINT32 || e.size != 8) return fail_head(&b, "flags");
  uint32_t flags = word(&b, e.data);
  v->class = (int)(flags & 0xff);
  v->logical = (flags & 0x200) != 0;
  v->complex = (flags & 0x800) != 0;
  TRY(take_shape(&b, v));
  TRY(mat_next(&b, &e));
  if ((e.type != MI_INT8 && e.type != MI_UTF8) ||
      e.size >= (int64_t)sizeof v->name)
    return fail_head(&b, "name");
  (void)snprintf(v->name, sizeof v->name, "%.*s", (int)e.size,
                 (const char *)e.data);
  if (utf8_length(v->name) < 0) return fail_head(&b, "readable name");
  v->rest = b;
  return LAPIS_OK;
}
