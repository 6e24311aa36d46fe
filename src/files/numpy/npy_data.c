/* npy_data.c - the entries of a .npy array, into our types and our order.
 *
 * Ours is C order: the last axis, a feature, runs fastest, so the file's bytes
 * are the d x n matrix.  A Fortran-ordered file runs through the first axis
 * fastest; its entries are put at their places as they arrive, in one pass. */
#include <string.h>

#include "files/io.h"

enum { BLOCK_BYTES = 1 << 16 };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "big-endian machines are not supported");

/* ---- where the next entry goes ------------------------------------------*/
typedef struct walk {
  int axes;
  bool straight; /* file order is ours */
  int64_t shape[LAPIS_MAX_AXES], stride[LAPIS_MAX_AXES], at[LAPIS_MAX_AXES];
  int64_t place;
} walk;

/* Axes of length 1 do not matter for the order. */
bool npy_is_straight(const npy_header *h)
{
  int longer = 0;
  for (int i = 0; i < h->axes; i++) longer += h->shape[i] != 1;
  return !h->fortran || longer <= 1 || h->count == 0;
}

static walk walk_begin(const npy_header *h)
{
  walk w = {.axes = h->axes, .straight = npy_is_straight(h)};
  int64_t stride = 1;
  for (int i = h->axes - 1; i >= 0; i--) {
    w.shape[i] = h->shape[i];
    w.stride[i] = stride;
    stride *= h->shape[i];
  }
  return w;
}

static void walk_next(walk *w)
{
  if (w->straight) {
    w->place++;
    return;
  }
  for (int i = 0; i < w->axes; i++) {
    w->place += w->stride[i];
    if (++w->at[i] < w->shape[i]) return;
    w->place -= w->stride[i] * w->shape[i];
    w->at[i] = 0;
  }
}

/* ---- one number ---------------------------------------------------------*/
static uint64_t load_bits(const unsigned char *raw, int size, bool big)
{
  uint64_t bits = 0;
  for (int i = 0; i < size; i++)
    bits |= (uint64_t)raw[big ? size - 1 - i : i] << 8 * i;
  return bits;
}

static float float_of_bits(uint32_t bits)
{
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* IEEE binary16: 1 sign, 5 exponent and 10 fraction bits. */
static float half_to_float(uint32_t bits)
{
  uint32_t sign = (bits & 0x8000) << 16, fraction = bits & 0x3ff;
  uint32_t exponent = bits >> 10 & 0x1f;
  if (exponent == 31) return float_of_bits(sign | 0x7f800000 | fraction << 13);
  if (exponent > 0)
    return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
  float small = (float)fraction * 0x1p-24f; /* subnormal: exact */
  return sign != 0 ? -small : small;
}

static int64_t sign_extend(uint64_t bits, int size)
{
  int shift = 64 - 8 * size;
  uint64_t sign = (uint64_t)1 << 63 >> shift;
  return (int64_t)((bits ^ sign) - sign);
}

static lapis_dtype dtype_of(const npy_header *h)
{
  if (h->kind == 'f') return h->item == 8 ? LAPIS_F64 : LAPIS_F32;
  if (h->kind == 'b' || (h->kind == 'u' && h->item == 1)) return LAPIS_U8;
  return h->kind == 'i' || h->kind == 'u' ? LAPIS_I64 : LAPIS_TEXT;
}

static size_t bytes_of(lapis_dtype dtype)
{
  return dtype == LAPIS_U8 ? 1 : dtype == LAPIS_F32 ? 4 : 8;
}

static lapis_status store_integer(io_source *s, const npy_header *h,
                                  uint64_t bits, int64_t *to)
{
  if (h->kind == 'u' && bits > INT64_MAX)
    return lapis_fail(
        s->ctx, LAPIS_EDATA,
        "%s: holds %" PRIu64
        ", and integers above 2^63 - 1 are not read; save it as float64",
        s->what, bits);
  *to = h->kind == 'u' ? (int64_t)bits : sign_extend(bits, h->item);
  return LAPIS_OK;
}

static lapis_status store_number(io_source *s, const npy_header *h,
                                 const unsigned char *raw, lapis_mat *to,
                                 int64_t place)
{
  uint64_t bits = load_bits(raw, h->item, h->big);
  switch (to->dtype) {
  case LAPIS_F64:
    memcpy((double *)to->val + place, &bits, 8);
    break;
  case LAPIS_F32:
    ((float *)to->val)[place] = h->item == 2 ? half_to_float((uint32_t)bits)
                                             : float_of_bits((uint32_t)bits);
    break;
  case LAPIS_U8:
    ((uint8_t *)to->val)[place] = h->kind == 'b' ? bits != 0 : (uint8_t)bits;
    break;
  default:
    return store_integer(s, h, bits, (int64_t *)to->val + place);
  }
  return LAPIS_OK;
}

/* ---- one text -----------------------------------------------------------*/
/* S: bytes of UTF-8, padded by NULs behind. */
static char *store_bytes(const npy_header *h, const unsigned char *raw,
                         char *to)
{
  int size = h->item;
  while (size > 0 && raw[size - 1] == '\0') size--;
  memcpy(to, raw, (size_t)size);
  to[size] = '\0';
  bool fine = memchr(to, '\0', (size_t)size) == NULL && utf8_length(to) >= 0;
  return fine ? to + size + 1 : NULL;
}

/* U: code points of 4 bytes, padded by zeros behind. */
static char *store_points(const npy_header *h, const unsigned char *raw,
                          char *to)
{
  int size = h->item;
  while (size > 0 && load_bits(raw + size - 4, 4, h->big) == 0) size -= 4;
  for (int i = 0; i < size; i += 4) {
    uint64_t code = load_bits(raw + i, 4, h->big);
    int length = code == 0 ? 0 : utf8_encode((uint32_t)code, to);
    if (length == 0) return NULL;
    to += length;
  }
  *to = '\0';
  return to + 1;
}

static lapis_status store_text(io_source *s, const npy_header *h,
                               const unsigned char *raw, char **pool,
                               const char **to)
{
  char *behind =
      h->kind == 'S' ? store_bytes(h, raw, *pool) : store_points(h, raw, *pool);
  if (behind == NULL)
    return lapis_fail(
        s->ctx, LAPIS_EFORMAT, "%s: holds text that is not %s", s->what,
        h->kind == 'S' ? "UTF-8; save it as numpy text (U)" : "Unicode");
  *to = *pool;
  *pool = behind;
  return LAPIS_OK;
}

/* ---- all of them --------------------------------------------------------*/
static lapis_status store_block(io_source *s, const npy_header *h, walk *w,
                                const unsigned char *raw, int64_t count,
                                lapis_array *out, char **pool)
{
  for (int64_t i = 0; i < count; i++, raw += h->item) {
    if (out->mat.dtype == LAPIS_TEXT)
      TRY(store_text(s, h, raw, pool, (const char **)out->mat.val + w->place));
    else
      TRY(store_number(s, h, raw, &out->mat, w->place));
    walk_next(w);
  }
  return LAPIS_OK;
}

static lapis_status convert(io_source *s, const npy_header *h, lapis_array *out,
                            char *pool)
{
  int64_t batch =
      h->item > 0 && h->item < BLOCK_BYTES ? BLOCK_BYTES / h->item : 1;
  unsigned char *raw = base_alloc_raw(s->ctx, batch, (size_t)h->item);
  if (raw == NULL) return LAPIS_ENOMEM;
  walk w = walk_begin(h);
  lapis_status status = LAPIS_OK;
  for (int64_t done = 0; done < h->count && status == LAPIS_OK;) {
    int64_t n = h->count - done < batch ? h->count - done : batch;
    status = io_take(s, raw, n * h->item);
    if (status == LAPIS_OK) status = store_block(s, h, &w, raw, n, out, &pool);
    done += n;
  }
  base_free(raw);
  return status;
}

/* The file's bytes are the matrix.  Not so b1, whose entries may be other
 * than 0 and 1, nor u8, which may exceed I64. */
static bool is_ours(const npy_header *h)
{
  lapis_dtype dtype = dtype_of(h);
  bool any_bits =
      h->kind == 'f' || h->kind == 'i' || (h->kind == 'u' && h->item == 1);
  return any_bits && (size_t)h->item == bytes_of(dtype) && !h->big &&
         npy_is_straight(h);
}

static lapis_status allocate(io_source *s, const npy_header *h,
                             lapis_array *out, char **pool)
{
  lapis_dtype dtype = dtype_of(h);
  out->kind = IO_HEAP;
  if (dtype == LAPIS_TEXT) /* UTF-8 needs no more bytes, and a NUL each */
    return io_text_array(s->ctx, 1, h->count, h->count * (h->item + 1), out,
                         pool);
  out->memory = base_alloc_raw(s->ctx, h->count, bytes_of(dtype));
  out->bytes = (size_t)h->count * bytes_of(dtype);
  return out->memory == NULL ? LAPIS_ENOMEM : LAPIS_OK;
}

/* The two-dimensional reading: the first axis is the sample. */
static void describe(const npy_header *h, lapis_array *out)
{
  int64_t rows = 1;
  for (int i = 1; i < h->axes; i++) rows *= h->shape[i];
  out->mat = (lapis_mat){.dtype = dtype_of(h),
                         .rows = rows,
                         .cols = h->axes == 0 ? 1 : h->shape[0],
                         .ld = rows > 0 ? rows : 1,
                         .val = out->memory};
  out->axes = h->axes;
  memcpy(out->shape, h->shape, sizeof out->shape);
  memcpy(out->stored, h->descr, sizeof out->stored);
}

bool npy_stays(const io_source *s, const npy_header *h)
{
  if (s->at == NULL || !is_ours(h) || h->count == 0) return false;
  if (s->any_place && dtype_of(h) == LAPIS_F32) return true;
  return (uintptr_t)s->at % bytes_of(dtype_of(h)) == 0;
}

lapis_status npy_data_read(io_source *s, const npy_header *h, lapis_array *out)
{
  char *pool = NULL;
  *out = (lapis_array){.kind = IO_BORROWED};
  if (npy_stays(s, h)) {
    out->memory = (void *)(uintptr_t)s->at;
    describe(h, out);
    return LAPIS_OK;
  }
  TRY(allocate(s, h, out, &pool));
  describe(h, out);
  lapis_status status =
      is_ours(h) ? io_take(s, out->memory, s->left) : convert(s, h, out, pool);
  if (status < 0) lapis_array_free(out);
  return status;
}
