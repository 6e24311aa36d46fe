/* jpeg.c - JPEG by libjpeg-turbo, the only file that knows it.
 *
 * Grey and colour (YCbCr, RGB) are read; CMYK and YCCK are refused, for what
 * their colours look like depends on a printer.  libjpeg mends a damaged
 * stream with grey and says so in a warning; here that is an error.  Progress
 * is watched only to stop at a stream of endless scans.
 *
 * libjpeg reports an error through a function that must not come back: ours
 * leaves through longjmp to guarded(), and everything that then has to be
 * released is in the job. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
/* after stdio.h, which it needs and does not include */
#include <jpeglib.h>
/* after jpeglib.h */
#include <jerror.h>

#include "images/image/image.h"
#include "images/image/orientation.h"

enum { MEMORY_BYTES = 1 << 29, MAX_SCANS = 200, QUALITY = 85 };

typedef struct job {
  struct jpeg_error_mgr errors;
  jmp_buf escape;
  char message[JMSG_LENGTH_MAX]; /* libjpeg's */
  lapis_status status;           /* ours */
  JSAMPLE *row;
  /* reading */
  struct jpeg_decompress_struct jpeg;
  struct jpeg_progress_mgr progress;
  const image_source *from;
  lapis_image *out;
  int orientation;
  /* writing */
  struct jpeg_compress_struct made;
  struct jpeg_destination_mgr to;
  const lapis_image *image;
  bool full;
} job;

static void on_error(j_common_ptr jpeg)
{
  job *j = jpeg->client_data;
  jpeg->err->format_message(jpeg, j->message);
  longjmp(j->escape, 1);
}

/* What means that pixels were made up; other warnings are about bytes between
 * the segments. */
static bool is_damage(int code)
{
  return code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER ||
         code == JWRN_HUFF_BAD_CODE || code == JWRN_ARITH_BAD_CODE ||
         code == JWRN_BOGUS_PROGRESSION || code == JWRN_MUST_RESYNC;
}

static void on_message(j_common_ptr jpeg, int level)
{
  if (level < 0 && is_damage(jpeg->err->msg_code)) on_error(jpeg);
}

static void on_progress(j_common_ptr jpeg)
{
  job *j = jpeg->client_data;
  j->status = base_branch_on(j->from->ctx, "reading", j->from->path);
  if (j->status < 0) longjmp(j->escape, 1);
  if (j->jpeg.input_scan_number <= MAX_SCANS) return;
  (void)snprintf(j->message, sizeof j->message, "has more than %d scans",
                 MAX_SCANS);
  longjmp(j->escape, 1);
}

/* false: libjpeg gave up, and j->message says why. */
static bool guarded(job *j, void (*steps)(job *))
{
  if (setjmp(j->escape) != 0) return false;
  steps(j);
  return true;
}

static lapis_status check_colours(const job *j)
{
  J_COLOR_SPACE space = j->jpeg.jpeg_color_space;
  if (space == JCS_GRAYSCALE || space == JCS_YCbCr || space == JCS_RGB)
    return LAPIS_OK;
  bool ink = space == JCS_CMYK || space == JCS_YCCK;
  return lapis_fail(j->from->ctx, LAPIS_EFORMAT,
                    "%s: JPEG: is %s; save it as RGB", j->from->path,
                    ink ? "CMYK, made for printing" : "in unknown colours");
}

static void read_exif(job *j)
{
  j->orientation = 1;
  for (jpeg_saved_marker_ptr m = j->jpeg.marker_list; m != NULL; m = m->next)
    if (exif_orientation(m->data, m->data_length, &j->orientation)) return;
}

static void read_rows(job *j)
{
  int64_t width = j->out->width * j->out->channels;
  for (int64_t y = 0; y < j->out->height; y++) {
    float *to = j->out->pixels + y * width;
    (void)jpeg_read_scanlines(&j->jpeg, &j->row, 1);
    for (int64_t k = 0; k < width; k++) to[k] = (float)(j->row[k] / 255.0);
    j->status = base_branch_on(j->from->ctx, "reading", j->from->path);
    if (j->status < 0) return;
  }
  (void)jpeg_finish_decompress(&j->jpeg);
}

static lapis_status begin_image(job *j)
{
  lapis_ctx *ctx = j->from->ctx;
  struct jpeg_decompress_struct *c = &j->jpeg;
  TRY(image_check_size(ctx, j->from->path, c->image_width, c->image_height));
  TRY(check_colours(j));
  read_exif(j);
  int64_t channels = c->jpeg_color_space == JCS_GRAYSCALE ? 1 : 3;
  c->out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  TRY(image_alloc(ctx, c->image_width, c->image_height, channels, j->out));
  j->row = base_alloc(ctx, c->image_width * channels, sizeof *j->row);
  return j->row == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

static void read_image(job *j)
{
  jpeg_create_decompress(&j->jpeg);
  j->jpeg.mem->max_memory_to_use = MEMORY_BYTES;
  j->jpeg.progress = &j->progress;
  jpeg_save_markers(&j->jpeg, JPEG_APP0 + 1, 0xffff);
  jpeg_mem_src(&j->jpeg, j->from->data, (unsigned long)j->from->size);
  (void)jpeg_read_header(&j->jpeg, TRUE);
  j->status = begin_image(j);
  if (j->status < 0) return;
  (void)jpeg_start_decompress(&j->jpeg);
  read_rows(j);
}

static lapis_status read_jpeg(const image_source *from, lapis_image *out)
{
  job j = {.from = from, .out = out};
  j.jpeg.err = jpeg_std_error(&j.errors);
  j.errors.error_exit = on_error;
  j.errors.emit_message = on_message;
  j.progress.progress_monitor = on_progress;
  j.jpeg.client_data = &j;
  if (!guarded(&j, read_image) && j.status >= 0)
    j.status = lapis_fail(from->ctx, LAPIS_EFORMAT, "%s: JPEG: %s", from->path,
                          j.message);
  jpeg_destroy_decompress(&j.jpeg);
  base_free(j.row);
  if (j.status < 0) return j.status;
  return image_turn(from->ctx, out, j.orientation);
}

/* ---- writing ------------------------------------------------------------*/
static void on_begin(j_compress_ptr jpeg)
{
  (void)jpeg; /* the room is set before */
}

static boolean on_full(j_compress_ptr jpeg)
{
  job *j = jpeg->client_data;
  j->full = true;
  longjmp(j->escape, 1);
}

static void write_image(job *j)
{
  struct jpeg_compress_struct *c = &j->made;
  const lapis_image *m = j->image;
  int64_t width = m->width * m->channels;
  jpeg_create_compress(c);
  c->dest = &j->to;
  c->image_width = (JDIMENSION)m->width;
  c->image_height = (JDIMENSION)m->height;
  c->input_components = (int)m->channels;
  c->in_color_space = m->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(c);
  jpeg_set_quality(c, QUALITY, TRUE);
  c->optimize_coding = TRUE;
  jpeg_start_compress(c, TRUE);
  for (int64_t y = 0; y < m->height; y++) {
    const float *from = m->pixels + y * width;
    for (int64_t k = 0; k < width; k++) j->row[k] = image_level(from[k]);
    (void)jpeg_write_scanlines(c, &j->row, 1);
  }
  jpeg_finish_compress(c);
}

lapis_status image_encode_jpeg(lapis_ctx *ctx, const lapis_image *image,
                               unsigned char *to, int64_t room, int64_t *size)
{
  job j = {.image = image};
  *size = 0;
  j.to = (struct jpeg_destination_mgr){.next_output_byte = to,
                                       .free_in_buffer = (size_t)room,
                                       .init_destination = on_begin,
                                       .empty_output_buffer = on_full,
                                       .term_destination = on_begin};
  j.made.err = jpeg_std_error(&j.errors);
  j.errors.error_exit = on_error;
  j.errors.emit_message = on_message;
  j.made.client_data = &j;
  j.row = base_alloc_raw(ctx, image->width * image->channels, 1);
  if (j.row == NULL) return LAPIS_ENOMEM;
  if (guarded(&j, write_image))
    *size = room - (int64_t)j.to.free_in_buffer;
  else if (!j.full)
    j.status = lapis_fail(ctx, LAPIS_ENOMEM, "writing an image as JPEG: %s",
                          j.message);
  jpeg_destroy_compress(&j.made);
  base_free(j.row);
  return j.status;
}

const image_kind image_jpeg = {
    {IMAGE_JPEG_SHOWN, true}, image_is_jpeg, read_jpeg, "\xff\xd9"};
