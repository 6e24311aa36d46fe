/* npz_map.c - where a stored member of an archive lies in its file.
 *
 * libzip reads members and does not say where they are, so the central
 * directory is read here: the end record (of zip64, where one stands before
 * it), the entry of the member, its local header, the bytes behind that.
 * Nothing is believed for it: what does not fit together is no place, and the
 * member is copied as any other; what is mapped is compared with what libzip
 * unpacks (npz.c).
 *
 *   end       50 4b 05 06, ... entries at 10, size 12, start 16, comment 20
 *   end 64    50 4b 06 06, ... entries at 32, size 40, start 48
 *   locator   50 4b 06 07, ... place of end 64 at 8
 *   entry     50 4b 01 02, ... method 10, sizes 20 24, lengths 28 30 32,
 *             local header 42, name at 46
 *   local     50 4b 03 04, ... method 8, lengths 26 28, name at 30 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/io.h"

enum { END = 22, LOCATOR = 20, END64 = 56, ENTRY = 46, LOCAL = 30 };
enum { COMMENT = 65535 };
static const uint64_t ELSEWHERE = 0xffffffff; /* 32 bits: see zip64's field */

typedef struct bytes {
  const unsigned char *at;
  int64_t size;
} bytes;

static uint64_t number(const unsigned char *at, int size)
{
  uint64_t value = 0;
  for (int i = size - 1; i >= 0; i--) value = value << 8 | at[i];
  return value;
}

static bool has(const bytes *b, int64_t at, int64_t size, const char *magic)
{
  return at >= 0 && at <= b->size - size && size >= 4 &&
         memcmp(b->at + at, magic, 4) == 0;
}

/* Below 2^62: sums of two do not overflow; -1: larger. */
static int64_t place(uint64_t value)
{
  return value < UINT64_C(1) << 62 ? (int64_t)value : -1;
}

/* Start of the central directory and how many entries it has; false: none. */
static bool find_directory(const bytes *b, int64_t *start, int64_t *entries)
{
  int64_t at = b->size - END, least = at - COMMENT;
  while (at >= 0 && at >= least && !has(b, at, END, "PK\x05\x06")) at--;
  if (at < 0 || at < least) return false;
  const unsigned char *end = b->at + at;
  if (at + END + (int64_t)number(end + 20, 2) != b->size) return false;
  *entries = (int64_t)number(end + 10, 2);
  *start = (int64_t)number(end + 16, 4);
  if (!has(b, at - LOCATOR, LOCATOR, "PK\x06\x07")) return true;
  int64_t wide = place(number(b->at + at - LOCATOR + 8, 8));
  if (!has(b, wide, END64, "PK\x06\x06")) return false;
  *entries = place(number(b->at + wide + 32, 8));
  *start = place(number(b->at + wide + 48, 8));
  return *entries >= 0 && *start >= 0;
}

/* The entry's local header: in its 32 bits, or in the extra field of zip64,
 * behind the sizes that stand there too. */
static int64_t local_of(const unsigned char *entry, int64_t name, int64_t extra)
{
  uint64_t at = number(entry + 42, 4);
  int64_t skip = 0;
  if (at != ELSEWHERE) return (int64_t)at;
  if (number(entry + 24, 4) == ELSEWHERE) skip += 8;
  if (number(entry + 20, 4) == ELSEWHERE) skip += 8;
  const unsigned char *field = entry + ENTRY + name;
  for (int64_t used = 0; used + 4 <= extra;) {
    int64_t size = (int64_t)number(field + used + 2, 2);
    if (used + 4 + size > extra) return -1;
    if (number(field + used, 2) == 1)
      return skip + 8 <= size ? place(number(field + used + 4 + skip, 8)) : -1;
    used += 4 + size;
  }
  return -1;
}

/* Where the bytes of entry number `index` begin, of that name; -1: unclear. */
static int64_t find_member(const bytes *b, int64_t index, const char *name,
                           int64_t size)
{
  int64_t at, entries, length = (int64_t)strlen(name);
  if (!find_directory(b, &at, &entries) || index >= entries) return -1;
  for (int64_t i = 0;; i++) {
    if (!has(b, at, ENTRY, "PK\x01\x02")) return -1;
    const unsigned char *e = b->at + at;
    int64_t n = (int64_t)number(e + 28, 2), x = (int64_t)number(e + 30, 2);
    int64_t whole = ENTRY + n + x + (int64_t)number(e + 32, 2);
    if (whole > b->size - at) return -1;
    if (i < index) {
      at += whole;
      continue;
    }
    int64_t local = local_of(e, n, x);
    if (!has(b, local, LOCAL + length, "PK\x03\x04")) return -1;
    const unsigned char *l = b->at + local;
    bool same = n == length && memcmp(e + ENTRY, name, (size_t)n) == 0 &&
                (int64_t)number(l + 26, 2) == n &&
                memcmp(l + LOCAL, name, (size_t)n) == 0;
    if (!same || number(e + 10, 2) != 0 || number(l + 8, 2) != 0) return -1;
    int64_t data = local + LOCAL + n + (int64_t)number(l + 28, 2);
    return data <= at && size <= at - data ? data : -1;
  }
}

bool npz_map(const char *path, int64_t index, const char *name, int64_t size,
             npz_place *out)
{
  struct stat st;
  *out = (npz_place){.data = NULL};
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
  void *all = MAP_FAILED;
  if (regular)
    all = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  (void)close(fd);
  if (all == MAP_FAILED) return false;
  bytes b = {all, st.st_size};
  int64_t at = find_member(&b, index, name, size);
  if (at < 0) {
    (void)munmap(all, (size_t)st.st_size);
    return false;
  }
  *out = (npz_place){all, (size_t)st.st_size, b.at + at};
  return true;
}
