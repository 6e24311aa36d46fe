/* bag_options.c - what bags of words are told in words. */
#include <stdlib.h>
#include <string.h>

#include "files/io.h"
#include "images/words/bag.h"

enum { LEAST_BIN = 2, MOST_BIN = 256 };

lapis_status bag_read_bins(lapis_ctx *ctx, const char *kind, const char *text,
                           bag *b)
{
  const char *at = text;
  for (b->n_bins = 0; b->n_bins < BAG_BINS;) {
    char *end;
    long long v = strtoll(at, &end, 10);
    if (end == at || v < LEAST_BIN || v > MOST_BIN) break;
    b->bin[b->n_bins++] = v;
    if (*end == '\0') return LAPIS_OK;
    if (*end != ',') break;
    at = end + 1;
  }
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "%s: --bins '%s' is not a list of at most %d whole numbers "
                    "from %d to %d, as 2,4,8",
                    kind, text, BAG_BINS, LEAST_BIN, MOST_BIN);
}

/* ---- names of images ----------------------------------------------------*/
/* path is line, ends in "/line", or does so without its ending. */
static bool names(const char *line, size_t size, const char *path)
{
  const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
  size_t length = strlen(path);
  size_t bare = dot != NULL && (slash == NULL || dot > slash + 1)
                    ? (size_t)(dot - path)
                    : length;
  for (int k = 0; k < 2; k++) {
    size_t end = k == 0 ? length : bare;
    if (size > end || memcmp(path + end - size, line, size) != 0) continue;
    if (size == end || path[end - size - 1] == '/') return true;
  }
  return false;
}

static lapis_status take_line(feature_job *j, const char *file, int64_t number,
                              const char *line, size_t size, bool *learns)
{
  bool found = false;
  if (size > 0 && line[size - 1] == '\r') size--;
  if (size == 0) return LAPIS_OK;
  for (int64_t i = 0; i < j->count; i++)
    if (names(line, size, j->path[i])) learns[i] = found = true;
  if (found) return LAPIS_OK;
  int shown = size < 200 ? (int)size : 200;
  return lapis_fail(j->base.ctx, LAPIS_EDATA,
                    "%s:%" PRId64
                    ": '%.*s' is not one of the images; a line is "
                    "an image's name, with its ending or without",
                    file, number, shown, line);
}

static lapis_status take_lines(feature_job *j, const io_file *f, bool *learns)
{
  const char *at = (const char *)f->data, *end = at + f->size;
  int64_t number = 0;
  TRY(io_check_utf8(j->base.ctx, f->path, at, end));
  while (at < end) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (stop == NULL) stop = end;
    TRY(take_line(j, f->path, ++number, at, (size_t)(stop - at), learns));
    at = stop + 1;
  }
  for (int64_t i = 0; i < j->count; i++)
    if (learns[i]) return LAPIS_OK;
  return lapis_fail(j->base.ctx, LAPIS_EDATA, "%s: names no image", f->path);
}

lapis_status bag_read_names(feature_job *j, const char *file, bool *learns)
{
  io_file f;
  TRY(io_file_open(j->base.ctx, file, &f));
  lapis_status s = LAPIS_OK;
  if (f.data == NULL || f.format != IO_CSV)
    s = lapis_fail(j->base.ctx, LAPIS_EFORMAT,
                   "%s: is not a text file of image names, one a line", file);
  else
    s = take_lines(j, &f, learns);
  io_file_close(&f);
  return s;
}

/* ---- what leaves X as it is ----------------------------------------------*/
#define OF_LEARNING "words", "levels", "learn", "restarts"
const char *const bag_aside[] = {OF_LEARNING, NULL};
const char *const bag_aside_and_step[] = {OF_LEARNING, "step", NULL};

/* ---- how a vocabulary was made ------------------------------------------*/
lapis_status bag_say_made(const feature_job *j, int64_t images,
                          int64_t descriptors, char **out)
{
  const bag *b = j->state;
  lapis_ctx *ctx = j->base.ctx;
  const lapis_bag_settings *set = b->set;
  lapis_json *to = lapis_json_object();
  bool fine = to != NULL && lapis_json_put_text(to, "of", b->of) &&
              lapis_json_put_text(to, "lapis", lapis_version()) &&
              lapis_json_put_text(to, "kind", j->kind->shown.name) &&
              lapis_json_put_integer(to, "words", set->words) &&
              lapis_json_put_integer(to, "levels", set->levels) &&
              lapis_json_put_integer(to, "images", images) &&
              lapis_json_put_integer(to, "descriptors", descriptors) &&
              lapis_json_put_integer(to, "restarts", set->restarts) &&
              lapis_json_put_integer(to, "longest", set->longest) &&
              lapis_json_put_integer(to, "enlarge", set->enlarge) &&
              lapis_json_put_integer(to, "seed", (int64_t)base_seed(ctx));
  if (fine && b->n_bins > 0) fine = lapis_json_put_text(to, "bins", set->bins);
  char *text = fine ? lapis_json_print(to) : NULL;
  *out = text == NULL ? NULL : base_strdup(ctx, text);
  free(text);
  lapis_json_free(to);
  return *out == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}
