/* files.h - a folder of its own for every test that writes, bytes made by
 * hand, and refusals checked by status and sentence. */
#ifndef LAPIS_FILES_H
#define LAPIS_FILES_H
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "lapis/files.h"
#include "lapis/tools.h"

typedef struct files {
  char folder[256];
  char path[512]; /* of the file made last */
  lapis_ctx *ctx;
} files;

static inline int files_setup(void **state)
{
  files *f = calloc(1, sizeof *f);
  if (f == NULL) return -1;
  check_folder(f->folder, sizeof f->folder);
  f->ctx = lapis_ctx_new();
  *state = f;
  return f->ctx == NULL ? -1 : 0;
}

/* Number of files in the folder, removed on the way if asked for. */
static inline int files_count(const files *f, bool and_remove)
{
  DIR *d = opendir(f->folder);
  int count = 0;
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    char path[600];
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    (void)snprintf(path, sizeof path, "%s/%.255s", f->folder, e->d_name);
    if (and_remove) (void)unlink(path);
    count++;
  }
  (void)closedir(d);
  return count;
}

static inline int files_teardown(void **state)
{
  files *f = *state;
  (void)files_count(f, true);
  (void)rmdir(f->folder);
  lapis_ctx_free(f->ctx);
  free(f);
  return 0;
}

static inline const char *files_path(files *f, const char *name)
{
  (void)snprintf(f->path, sizeof f->path, "%s/%s", f->folder, name);
  return f->path;
}

static inline const char *files_put(files *f, const char *name,
                                    const void *bytes, size_t size)
{
  FILE *out = fopen(files_path(f, name), "wb");
  assert_non_null(out);
  assert_int_equal(fwrite(bytes, 1, size, out), size);
  assert_int_equal(fclose(out), 0);
  return f->path;
}

static inline const char *files_put_text(files *f, const char *name,
                                         const char *text)
{
  return files_put(f, name, text, strlen(text));
}

/* All bytes of a file; to be freed. */
static inline unsigned char *files_get(const char *path, size_t *size)
{
  FILE *in = fopen(path, "rb");
  assert_non_null(in);
  assert_int_equal(fseek(in, 0, SEEK_END), 0);
  *size = (size_t)ftell(in);
  rewind(in);
  unsigned char *bytes = malloc(*size + 1);
  assert_non_null(bytes);
  assert_int_equal(fread(bytes, 1, *size, in), *size);
  (void)fclose(in);
  return bytes;
}

#define CHECK_OK(f, call) files_ok((f), (call), #call, __FILE__, __LINE__)
static inline void files_ok(const files *f, lapis_status status,
                            const char *call, const char *file, int line)
{
  if (status == LAPIS_OK) return;
  print_error("%s: %d: %s\n", call, (int)status, lapis_ctx_error(f->ctx));
  _fail(file, line);
}

/* The status is right and the sentence says the words. */
#define CHECK_REFUSED(f, call, status, words) \
  files_refused((f), (call), (status), (words), #call, __FILE__, __LINE__)
static inline void files_refused(const files *f, lapis_status got,
                                 lapis_status wanted, const char *words,
                                 const char *call, const char *file, int line)
{
  const char *sentence = lapis_ctx_error(f->ctx);
  if (got == wanted && check_has(sentence, words) && *sentence != '\0' &&
      strchr(sentence, '\n') == NULL)
    return;
  print_error("%s: %d, wanted %d; \"%s\" should say \"%s\"\n", call, (int)got,
              (int)wanted, sentence, words);
  _fail(file, line);
}

/* ---- bytes by hand ------------------------------------------------------*/
typedef struct bytes {
  size_t size;
  unsigned char at[8192];
} bytes;

static inline void bytes_add(bytes *b, const void *what, size_t size)
{
  assert_true(b->size + size <= sizeof b->at);
  memcpy(b->at + b->size, what, size);
  b->size += size;
}

/* value as size little-endian bytes */
static inline void bytes_number(bytes *b, uint64_t value, int size)
{
  for (int i = 0; i < size; i++) {
    unsigned char c = i < 8 ? (unsigned char)(value >> 8 * i) : 0;
    bytes_add(b, &c, 1);
  }
}

/* A .npy file of this version, dictionary and data. */
static inline bytes bytes_npy(int version, const char *dictionary,
                              const void *data, size_t size)
{
  bytes b = {.size = 0};
  bytes_add(&b, "\x93NUMPY", 6);
  bytes_number(&b, (uint64_t)version, 2);
  bytes_number(&b, strlen(dictionary), version == 1 ? 2 : 4);
  bytes_add(&b, dictionary, strlen(dictionary));
  bytes_add(&b, data, size);
  return b;
}
#endif
