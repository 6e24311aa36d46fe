/* left_out.c - images that are left out when their features are known. */
#include <stdio.h>
#include <stdlib.h>

#include "pipeline.h"

enum { SENTENCE = 512 };

static lapis_status make_room(lapis_flow *f, int64_t refused)
{
  left_out *left = &f->left;
  size_t n = (size_t)f->n + 1, all = n + (size_t)refused;
  left->name = calloc(n, sizeof *left->name);
  left->size = calloc(2 * n, sizeof *left->size);
  left->refused = calloc(all, sizeof *left->refused);
  left->text = calloc(n, SENTENCE);
  bool room = left->name && left->size && left->refused && left->text;
  return room ? LAPIS_OK : flow_no_memory(f);
}

lapis_status flow_leave_out(lapis_flow *f, const bool *out, const char *why)
{
  lapis_mat refused = {.cols = 0};
  left_out *left = &f->left;
  int64_t kept = 0, count = 0;
  if (flow_pass_on(f, f->features, "refused"))
    TRY(flow_get(f, "refused", &refused));
  TRY(make_room(f, refused.cols));
  for (; count < refused.cols; count++)
    left->refused[count] = ((const char *const *)refused.val)[count];
  for (int64_t i = 0; i < f->n; i++) {
    const char *name = ((const char *const *)f->names.val)[i];
    if (out[i]) {
      char *text = left->text + i * SENTENCE;
      snprintf(text, SENTENCE, "%.300s: %s", name, why);
      left->refused[count++] = text;
      continue;
    }
    for (int64_t k = 0; k < 2; k++)
      left->size[2 * kept + k] = (int64_t)lapis_mat_at(&f->size, k, i);
    left->name[kept++] = name;
  }
  f->n = kept;
  f->names = lapis_mat_text(left->name, 1, kept);
  f->size = lapis_mat_i64(left->size, 2, kept);
  flow_publish(f, "names", f->names);
  flow_publish(f, "image_size", f->size);
  flow_publish(f, "refused", lapis_mat_text(left->refused, 1, count));
  return LAPIS_OK;
}

void left_out_free(left_out *left)
{
  free((void *)left->name);
  free(left->size);
  free((void *)left->refused);
  free(left->text);
}
