/* fuzz.c - one program that feeds bytes to a reader, for libFuzzer.
 *
 * LAPIS_FUZZ names the reader, a row of the table below.  The bytes become a
 * file in memory (/dev/shm), which is read as a user's would be, and what was
 * read is used.  A container is a zip, whose checksums stop nearly every
 * change; where `members` is set the bytes are the members, one after the other
 *   1 byte: length of the name; name; 4 bytes, little-endian: size; bytes
 * and the zip around them is made here.  tests/fuzz/corpus.py writes both.
 * Where `chunks` is set the bytes are a PNG, whose checksums are put right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lapis/files.h"
#include "lapis/images.h"
#include "lapis/tools.h"

typedef struct reader {
  const char *name, *suffix;
  bool members, chunks;
  void (*read)(lapis_ctx *ctx, const char *path);
} reader;

/* ---- what is done with a file -------------------------------------------*/
static void use_matrix(const lapis_mat *m)
{
  if (m->rows == 0 || m->cols == 0 || m->dtype == LAPIS_TEXT) return;
  (void)lapis_mat_at(m, 0, 0);
  (void)lapis_mat_hash(m); /* reads every entry */
}

static void read_arrays(lapis_ctx *ctx, const char *path)
{
  lapis_arrays all;
  if (lapis_arrays_read(ctx, path, &all) < 0) return;
  for (int i = 0; i < all.count; i++) use_matrix(&all.item[i].mat);
  lapis_arrays_free(&all);
}

static void read_dataset_as(lapis_ctx *ctx, const char *path,
                            const lapis_table_options *table)
{
  lapis_dataset *ds;
  if (lapis_dataset_new(ctx, &ds) < 0) return;
  if (lapis_dataset_read(ds, path, table) >= 0 &&
      lapis_dataset_finish(ds) >= 0) {
    const lapis_data *d = lapis_dataset_data(ds);
    use_matrix(&d->X);
    use_matrix(&d->Y);
    use_matrix(&d->P);
    (void)lapis_dataset_text(ds, "names");
    (void)lapis_dataset_text(ds, "class_names");
  }
  lapis_dataset_free(ds);
}

static void read_dataset(lapis_ctx *ctx, const char *path)
{
  read_dataset_as(ctx, path, NULL);
}

static void read_table(lapis_ctx *ctx, const char *path)
{
  lapis_table_options table = {
      .target = "2", .id = "1", .header = LAPIS_HEADER_AUTO};
  read_dataset_as(ctx, path, NULL);
  read_dataset_as(ctx, path, &table);
}

static void read_json(lapis_ctx *ctx, const char *path)
{
  lapis_json *v;
  const char *key;
  char text[64];
  if (lapis_json_read(ctx, path, &v) < 0) return;
  for (int i = 0; lapis_json_entry(v, i, &key, text, sizeof text); i++)
    (void)lapis_json_number(v, key, 0);
  char *printed = lapis_json_print(v);
  free(printed);
  lapis_json_free(v);
}

/* A model that loads must also answer, or refuse to. */
static void read_model(lapis_ctx *ctx, const char *path)
{
  lapis_model *m;
  lapis_solver *s;
  double x[3 * 4] = {1, 2, 3, 4, 0, -1, 2, .5, .25, 1, 1, 1};
  lapis_data data = {.X = lapis_mat_f64(x, 3, 4)};
  if (lapis_model_load(ctx, path, &m) < 0) return;
  lapis_ctx_limit(ctx, 1);
  if (lapis_predict_new(ctx, &data, m, NULL, &s) >= 0) {
    (void)lapis_solve(s);
    lapis_solver_free(s);
  }
  lapis_model_free(m);
}

static void read_checkpoint(lapis_ctx *ctx, const char *path)
{
  double x[3 * 4] = {1, 2, 3, 4, 0, -1, 2, .5, .25, 1, 1, 1};
  lapis_data data = {.X = lapis_mat_f64(x, 3, 4)};
  lapis_rpca_settings set = lapis_rpca_defaults();
  lapis_checkpoint *c;
  lapis_solver *s;
  set.stop.max_iters = 20;
  const lapis_method *m = lapis_method_find("rpca");
  if (lapis_checkpoint_new(ctx, path, m, &data, &set, NULL, 0, &c) < 0) return;
  if (lapis_rpca_new(ctx, &data, &set, &s) >= 0) {
    (void)lapis_solve(s);
    lapis_solver_free(s);
  }
  lapis_checkpoint_free(c, false);
}

static void read_image(lapis_ctx *ctx, const char *path)
{
  lapis_image m;
  if (lapis_image_read(ctx, path, &m) < 0) return;
  float last = m.pixels[m.width * m.height * m.channels - 1];
  if (!(last >= 0 && last <= 1)) abort();
  lapis_image_free(&m);
}

static const reader readers[] = {
    {"npy", ".npy", false, false, read_arrays},
    {"zip", ".npz", false, false, read_arrays},
    {"npz", ".npz", true, false, read_dataset},
    {"csv", ".csv", false, false, read_table},
    {"tsv", ".tsv", false, false, read_table},
    {"svm", ".svm", false, false, read_dataset},
    {"arff", ".arff", false, false, read_dataset},
    {"mat", ".mat", false, false, read_dataset},
    {"json", ".json", false, false, read_json},
    {"model", ".lapis", true, false, read_model},
    {"checkpoint", ".ck", true, false, read_checkpoint},
    {"png", ".png", false, true, read_image},
    {"jpeg", ".jpg", false, false, read_image},
    {"pnm", ".pnm", false, false, read_image},
    {NULL, NULL, false, false, NULL},
};

/* ---- a zip of stored members --------------------------------------------*/
typedef struct output {
  unsigned char *at;
  size_t size, room;
} output;

static void add(output *o, const void *bytes, size_t size)
{
  if (o->size + size > o->room) {
    o->room = 2 * (o->size + size);
    o->at = realloc(o->at, o->room);
    if (o->at == NULL) abort();
  }
  if (size > 0) memcpy(o->at + o->size, bytes, size);
  o->size += size;
}

static void number(output *o, uint32_t value, int bytes)
{
  for (int i = 0; i < bytes; i++) {
    unsigned char c = (unsigned char)(value >> 8 * i);
    add(o, &c, 1);
  }
}

static uint32_t checksum(const unsigned char *p, size_t n)
{
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < n; i++) {
    crc ^= p[i];
    for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

typedef struct member {
  const unsigned char *name, *bytes;
  uint32_t length, size, at;
} member;

/* What both of a member's headers hold. */
static void describe(output *o, const member *m)
{
  number(o, 20, 2); /* version needed */
  number(o, 0, 2);
  number(o, 0, 2); /* stored */
  number(o, 0x21 << 16, 4);
  number(o, checksum(m->bytes, m->size), 4);
  number(o, m->size, 4);
  number(o, m->size, 4);
  number(o, m->length, 2);
  number(o, 0, 2);
}

static void local_header(output *o, member *m)
{
  m->at = (uint32_t)o->size;
  number(o, 0x04034b50, 4);
  describe(o, m);
  add(o, m->name, m->length);
  add(o, m->bytes, m->size);
}

static void directory_entry(output *o, const member *m)
{
  number(o, 0x02014b50, 4);
  number(o, 20, 2);
  describe(o, m);
  number(o, 0, 2); /* comment */
  number(o, 0, 2); /* disk */
  number(o, 0, 2);
  number(o, 0, 4);
  number(o, m->at, 4);
  add(o, m->name, m->length);
}

enum { MEMBERS = 64 };

static int split(const unsigned char *p, size_t n, member out[MEMBERS])
{
  int count = 0;
  for (size_t at = 0; at < n && count < MEMBERS; count++) {
    member *m = &out[count];
    size_t length = p[at++];
    if (length > n - at) length = n - at;
    m->name = p + at;
    m->length = (uint32_t)length;
    at += length;
    uint32_t size = 0;
    for (int i = 0; i < 4 && at < n; i++) size |= (uint32_t)p[at++] << 8 * i;
    if (size > n - at) size = (uint32_t)(n - at);
    m->bytes = p + at;
    m->size = size;
    at += size;
  }
  return count;
}

static output zip_of(const unsigned char *p, size_t n)
{
  member all[MEMBERS];
  output o = {.at = NULL};
  int count = split(p, n, all);
  for (int i = 0; i < count; i++) local_header(&o, &all[i]);
  uint32_t start = (uint32_t)o.size;
  for (int i = 0; i < count; i++) directory_entry(&o, &all[i]);
  uint32_t size = (uint32_t)o.size - start;
  number(&o, 0x06054b50, 4);
  number(&o, 0, 4);
  number(&o, (uint32_t)count, 2);
  number(&o, (uint32_t)count, 2);
  number(&o, size, 4);
  number(&o, start, 4);
  number(&o, 0, 2);
  return o;
}

/* ---- a PNG with checksums that are right ---------------------------------*/
static output png_of(const unsigned char *p, size_t n)
{
  enum { SIGNATURE = 8, AROUND = 12 }; /* length, type; checksum behind */
  output o = {.at = NULL};
  add(&o, p, n);
  for (size_t at = SIGNATURE; at + AROUND <= n;) {
    unsigned char *c = o.at + at;
    size_t size = (size_t)c[0] << 24 | (size_t)c[1] << 16 | (size_t)c[2] << 8 |
                  (size_t)c[3];
    if (size > n - at - AROUND) break;
    uint32_t crc = checksum(c + 4, size + 4);
    for (int i = 0; i < 4; i++)
      c[8 + size + (size_t)i] = (unsigned char)(crc >> (24 - 8 * i));
    at += size + AROUND;
  }
  return o;
}

/* ---- libFuzzer's side ---------------------------------------------------*/
static const reader *chosen(void)
{
  const char *name = getenv("LAPIS_FUZZ");
  for (const reader *r = readers; name != NULL && r->name != NULL; r++)
    if (strcmp(r->name, name) == 0) return r;
  fprintf(stderr, "LAPIS_FUZZ names one of:");
  for (const reader *r = readers; r->name != NULL; r++)
    fprintf(stderr, " %s", r->name);
  fprintf(stderr, "\n");
  exit(2);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
  FILE *f = fopen(path, "wb");
  if (f == NULL || fwrite(bytes, 1, size, f) != size || fclose(f) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  const reader *r = chosen();
  char path[64];
  snprintf(path, sizeof path, "/dev/shm/lapis-fuzz-%ld%s", (long)getpid(),
           r->suffix);
  if (r->members || r->chunks) {
    output made = r->members ? zip_of(bytes, size) : png_of(bytes, size);
    write_file(path, made.at, made.size);
    free(made.at);
  } else {
    write_file(path, bytes, size);
  }
  lapis_ctx *ctx = lapis_ctx_new();
  (void)lapis_ctx_set(ctx, "threads", "1");
  r->read(ctx, path);
  lapis_ctx_free(ctx);
  (void)unlink(path);
  return 0;
}
