/* mat.c - views and their checks. */
#include "mat/mat.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* An F32 matrix may be mapped from a container, at any byte. */
static float float_at(const void *val, int64_t k)
{
  float v;
  memcpy(&v, (const char *)val + k * (int64_t)sizeof v, sizeof v);
  return v;
}
/* 2^47 bytes of doubles, which no process can address. */
static const double MOST_ENTRIES = 0x1p44;

double mat_stored(const lapis_mat *A, int64_t k)
{
  switch (A->dtype) {
  case LAPIS_F64:
    return ((const double *)A->val)[k];
  case LAPIS_F32:
    return float_at(A->val, k);
  case LAPIS_I64:
    return (double)((const int64_t *)A->val)[k];
  case LAPIS_U8:
    return ((const uint8_t *)A->val)[k];
  case LAPIS_TEXT:
    break;
  }
  return NAN;
}

double lapis_mat_at(const lapis_mat *A, int64_t i, int64_t j)
{
  bool inside = A != NULL && i >= 0 && i < A->rows && j >= 0 && j < A->cols;
  if (!inside || (A->val == NULL && A->colptr == NULL)) return NAN;
  if (A->colptr == NULL) { /* a place beyond int64 is in no memory */
    bool counted = j == 0 || (A->ld > 0 && j <= (INT64_MAX - i) / A->ld);
    return counted ? mat_stored(A, j * A->ld + i) : NAN;
  }
  if (A->val == NULL || A->rowidx == NULL) return 0; /* nothing is stored */
  for (int64_t k = A->colptr[j]; k < A->colptr[j + 1]; k++)
    if (A->rowidx[k] == i) return mat_stored(A, k);
  return 0;
}

/* Calls visit for each stored value in order until it says stop. */
typedef bool (*visit_fn)(void *user, int64_t i, int64_t j, double v);
static void visit_stored(const lapis_mat *A, visit_fn visit, void *user)
{
  for (int64_t j = 0; j < A->cols; j++) {
    bool dense = A->colptr == NULL;
    int64_t first = dense ? j * A->ld : A->colptr[j];
    int64_t last = dense ? first + A->rows : A->colptr[j + 1];
    for (int64_t k = first; k < last; k++)
      if (!visit(user, dense ? k - first : A->rowidx[k], j, mat_stored(A, k)))
        return;
  }
}

static bool count_nan(void *user, int64_t i, int64_t j, double v)
{
  (void)i;
  (void)j;
  *(int64_t *)user += isnan(v) != 0;
  return true;
}

/* Entries of column j that are no numbers of size up to limit: a loop over
 * values in place, since a call for each is most of the time of a pass over
 * data that fills the memory. */
static int64_t odd_f64(const double *v, int64_t count, double limit)
{
  int64_t odd = 0;
  for (int64_t i = 0; i < count; i++) odd += !(fabs(v[i]) <= limit);
  return odd;
}

static int64_t odd_f32(const void *v, int64_t first, int64_t count, float limit)
{
  int64_t odd = 0;
  for (int64_t i = first; i < first + count; i++)
    odd += !(fabsf(float_at(v, i)) <= limit);
  return odd;
}

static int64_t odd_in_column(const lapis_mat *A, int64_t j, double limit)
{
  bool dense = A->colptr == NULL;
  int64_t first = dense ? j * A->ld : A->colptr[j];
  int64_t count = dense ? A->rows : A->colptr[j + 1] - first;
  if (A->dtype == LAPIS_F64)
    return odd_f64((const double *)A->val + first, count, limit);
  if (A->dtype == LAPIS_F32)
    return odd_f32(A->val, first, count,
                   limit > (double)FLT_MAX ? FLT_MAX : (float)limit);
  return 0;
}

lapis_mat mat_columns(const lapis_mat *A, int64_t first, int64_t count)
{
  lapis_mat part = *A;
  part.cols = count;
  if (A->colptr != NULL) {
    part.colptr = A->colptr + first;
    return part;
  }
  size_t size = A->dtype == LAPIS_F64   ? sizeof(double)
                : A->dtype == LAPIS_F32 ? sizeof(float)
                : A->dtype == LAPIS_I64 ? sizeof(int64_t)
                                        : 1;
  part.val = (char *)A->val + first * A->ld * (int64_t)size;
  return part;
}

int64_t lapis_mat_missing(const lapis_mat *A)
{
  if (A == NULL || mat_check_view(NULL, "", "", A) < 0) return 0;
  int64_t missing = 0;
  for (int64_t j = 0; j < A->cols; j++) {
    if (odd_in_column(A, j, DBL_MAX) == 0) continue;
    lapis_mat column = mat_columns(A, j, 1);
    visit_stored(&column, count_nan, &missing);
  }
  return missing;
}

typedef struct dense_target {
  double *out;
  int64_t ld;
} dense_target;

static bool put_dense(void *user, int64_t i, int64_t j, double v)
{
  dense_target *t = user;
  t->out[j * t->ld + i] = v;
  return true;
}

static void widen(const void *from, int64_t first, int64_t count, double *to)
{
  for (int64_t i = 0; i < count; i++) to[i] = float_at(from, first + i);
}

void mat_to_f64(const lapis_mat *A, double *out, int64_t ld)
{
  if (A->rows == 0) return;
  size_t column = (size_t)A->rows * sizeof *out;
  if (A->colptr == NULL && A->dtype == LAPIS_F32) {
    for (int64_t j = 0; j < A->cols; j++)
      widen(A->val, j * A->ld, A->rows, out + j * ld);
    return;
  }
  if (A->colptr == NULL && A->dtype == LAPIS_F64) {
    for (int64_t j = 0; j < A->cols; j++)
      memcpy(out + j * ld, (const double *)A->val + j * A->ld, column);
    return;
  }
  if (A->colptr != NULL)
    for (int64_t j = 0; j < A->cols; j++) memset(out + j * ld, 0, column);
  visit_stored(A, put_dense, &(dense_target){out, ld});
}

void mat_shifted(const lapis_mat *A, const mat_shift *shift, double *out,
                 int64_t ld)
{
  mat_to_f64(A, out, ld);
  for (int64_t j = 0; shift != NULL && j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++)
      out[j * ld + i] = (out[j * ld + i] - shift->off[i]) / shift->by[i];
}

/* Column starts rise from 0, by no more than there are rows, which lie within;
 * -1, or the column that is wrong. */
static int64_t bad_column(const lapis_mat *A)
{
  if (A->colptr[0] != 0) return 0;
  for (int64_t j = 0; j < A->cols; j++) {
    if (A->colptr[j + 1] < A->colptr[j] ||
        A->colptr[j + 1] - A->colptr[j] > A->rows)
      return j;
    for (int64_t k = A->colptr[j]; k < A->colptr[j + 1]; k++)
      if (A->rowidx[k] < 0 || A->rowidx[k] >= A->rows) return j;
  }
  return -1;
}

/* Of a dense matrix of texts. */
static bool has_all_texts(const lapis_mat *A)
{
  const char *const *text = A->val;
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++)
      if (text[j * A->ld + i] == NULL) return false;
  return true;
}

lapis_status mat_check_view(lapis_ctx *ctx, const char *method,
                            const char *what, const lapis_mat *A)
{
  bool sparse = A->colptr != NULL;
  if (A->rows < 0 || A->cols < 0)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "%s: %s is %" PRId64 " x %" PRId64
                      "; no size is below zero",
                      method, what, A->rows, A->cols);
  if (A->rows == 0 || A->cols == 0) return LAPIS_OK;
  if ((int)A->dtype < LAPIS_F64 || (int)A->dtype > LAPIS_TEXT)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: %s is of type %d; types are 0 to %d", method, what,
                      (int)A->dtype, LAPIS_TEXT);
  if (!sparse && (double)A->ld * (double)A->cols > MOST_ENTRIES)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "%s: %s is %" PRId64 " x %" PRId64
                      ", more than any memory holds",
                      method, what, A->rows, A->cols);
  if (!sparse && A->ld < A->rows)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "%s: %s has %" PRId64 " rows and ld %" PRId64
                      ", the distance of two columns; it is as large at least",
                      method, what, A->rows, A->ld);
  if (A->val == NULL ? !sparse || A->colptr[A->cols] != 0
                     : sparse && A->rowidx == NULL)
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "%s: %s is %" PRId64 " x %" PRId64
                      " and its values are NULL",
                      method, what, A->rows, A->cols);
  if (A->dtype == LAPIS_TEXT && (sparse || !has_all_texts(A)))
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "%s: %s is text, and some of it is NULL or sparse",
                      method, what);
  int64_t bad = sparse ? bad_column(A) : -1;
  if (bad < 0) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "%s: %s: sparse column %" PRId64
                    " has a row outside 0 to %" PRId64
                    ", more entries than rows, or begins behind its end",
                    method, what, bad + 1, A->rows - 1);
}

lapis_status mat_check_numbers(lapis_ctx *ctx, const char *method,
                               const char *what, const lapis_mat *A)
{
  TRY(mat_check_view(ctx, method, what, A));
  if (mat_empty(A) || A->dtype != LAPIS_TEXT) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EDATA,
                    "%s: %s is text where numbers are needed; give each class "
                    "a number, and NaN to what is not known",
                    method, what);
}

static bool is_text_row(const lapis_mat *A)
{
  return A->cols == 0 || (A->dtype == LAPIS_TEXT && A->rows == 1);
}

lapis_status mat_check_data(lapis_ctx *ctx, const char *method,
                            const lapis_data *data)
{
  if (data->size != 0 && data->size != sizeof *data)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: the data are of another version of LAPIS (%zu "
                      "bytes; this one knows %zu); begin with lapis_data data "
                      "= {.X = ...}, and build the program with the headers of "
                      "this library",
                      method, data->size, sizeof *data);
  TRY(mat_check_numbers(ctx, method, "X", &data->X));
  TRY(mat_check_numbers(ctx, method, "Y", &data->Y));
  TRY(mat_check_numbers(ctx, method, "P", &data->P));
  TRY(mat_check_numbers(ctx, method, "xy", &data->xy));
  if (!is_text_row(&data->words))
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "%s: words is not one row of texts, which the values 0, "
                      "1, ... of Y are called",
                      method);
  if (!is_text_row(&data->feature_names))
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "%s: feature_names is not one row of texts, which the "
                      "rows of X are called",
                      method);
  return LAPIS_OK;
}

bool lapis_one_column(const lapis_mat *names, int64_t i)
{
  if (names == NULL || names->val == NULL || names->dtype != LAPIS_TEXT ||
      names->rows != 1 || names->ld < 1 || names->colptr != NULL || i < 1 ||
      i >= names->cols)
    return false;
  const char *const *text = names->val;
  const char *a = text[i * names->ld], *b = text[(i - 1) * names->ld];
  size_t length = a == NULL || b == NULL ? 0 : strcspn(a, "=");
  return length > 0 && a[length] == '=' && strncmp(a, b, length + 1) == 0;
}

lapis_status mat_check_beside(lapis_ctx *ctx, const char *method,
                              const char *what, const lapis_mat *A,
                              const lapis_mat *X)
{
  if (A->cols == X->cols) return LAPIS_OK;
  if (A->rows == X->cols)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "%s: %s has %" PRId64 " numbers of %" PRId64
                      " sample(s), X has %" PRId64 " sample(s); %s is turned",
                      method, what, A->rows, A->cols, X->cols, what);
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "%s: %s has %" PRId64 " sample(s), X has %" PRId64, method,
                    what, A->cols, X->cols);
}

lapis_status mat_check_samples(lapis_ctx *ctx, const char *method,
                               const lapis_mat *X)
{
  int64_t first, all;
  TRY(base_place(ctx, X->cols, &first, &all));
  if (X->rows > 0 && all > 0) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "%s: X has %" PRId64 " samples of %" PRId64
                    " features; at least one of each is needed",
                    method, all, X->rows);
}

double mat_stored_bytes(const lapis_mat *A)
{
  if (A->colptr == NULL) return 8.0 * (double)A->rows * (double)A->cols;
  return 12.0 * (double)(A->colptr[A->cols] - A->colptr[0]) +
         8.0 * (double)A->cols;
}

double mat_made_of(const lapis_data *data)
{
  if (data->stored > 0) return data->stored;
  return mat_stored_bytes(&data->X) + mat_stored_bytes(&data->Y) +
         mat_stored_bytes(&data->P);
}

lapis_status mat_check_dense(lapis_ctx *ctx, const char *method,
                             const char *what, const lapis_mat *A)
{
  char text[64];
  if (A->colptr == NULL) return LAPIS_OK;
  (void)snprintf(text, sizeof text, "%s: %s as a dense matrix", method, what);
  return base_unfolds(ctx, text, 8.0 * (double)A->rows * (double)A->cols,
                      mat_stored_bytes(A));
}

typedef struct bad_entry {
  bool nan_ok;
  double limit;
  int64_t i, j;
  double v;
} bad_entry;

/* Beyond it squares overflow. */
static const double LARGEST = 1e150;

static bool find_bad(void *user, int64_t i, int64_t j, double v)
{
  bad_entry *bad = user;
  if (fabs(v) <= bad->limit || (bad->nan_ok && isnan(v))) return true;
  *bad = (bad_entry){bad->nan_ok, bad->limit, i, j, v};
  return false;
}

/* missing: what is said of a NaN, or NULL where it is fine. */
static lapis_status check_entries(lapis_ctx *ctx, const char *method,
                                  const char *what, const lapis_mat *A,
                                  const char *missing, double limit)
{
  bad_entry bad = {missing == NULL, limit, -1, -1, 0};
  for (int64_t j = 0; j < A->cols && bad.i < 0; j++) {
    if (odd_in_column(A, j, limit) == 0) continue;
    lapis_mat column = mat_columns(A, j, 1);
    visit_stored(&column, find_bad, &bad);
    bad.j = j;
  }
  if (bad.i < 0) return LAPIS_OK;
  const char *at = CELL(ctx, base_row(ctx, bad.j, A->cols) - 1,
                        strcmp(what, "Y") == 0 ? "target" : "feature", bad.i);
  if (isnan(bad.v))
    return lapis_fail(ctx, LAPIS_EMISSING, "%s: %s is NaN at %s; %s", method,
                      what, at, missing);
  if (isfinite(bad.v))
    return lapis_fail(ctx, LAPIS_EDATA,
                      "%s: %s is %g at %s, too large to compute with (at most "
                      "%g); scale the data",
                      method, what, bad.v, at, LARGEST);
  return lapis_fail(ctx, LAPIS_EDATA,
                    "%s: %s is infinite at %s; write NaN for a value that was "
                    "not observed",
                    method, what, at);
}

lapis_status mat_check_finite(lapis_ctx *ctx, const char *method,
                              const char *what, const lapis_mat *A, bool nan_ok)
{
  const char *missing = "missing values are not taken here";
  if (strcmp(what, "X") == 0)
    missing =
        "this method takes no missing values; --map impute fills them in, "
        "as mc and rpca do";
  if (strcmp(what, "P") == 0)
    missing =
        "this method takes no missing values; --map-priv impute fills them "
        "in";
  return check_entries(ctx, method, what, A, nan_ok ? NULL : missing, LARGEST);
}

lapis_status mat_check_bounded(lapis_ctx *ctx, const char *method,
                               const char *what, const lapis_mat *A)
{
  return check_entries(ctx, method, what, A, NULL, DBL_MAX);
}

lapis_status mat_check_known(lapis_ctx *ctx, const char *method,
                             const char *what, const lapis_mat *A,
                             const char *missing)
{
  return check_entries(ctx, method, what, A, missing, LARGEST);
}

static bool find_large(void *user, int64_t i, int64_t j, double v)
{
  double *most = user;
  (void)i;
  (void)j;
  *most = fmax(*most, fabs(v)); /* NaN is left out */
  return *most < 1 / LARGEST;
}

lapis_status mat_check_size(lapis_ctx *ctx, const char *method,
                            const char *what, const lapis_mat *A)
{
  double most = 0;
  visit_stored(A, find_large, &most);
  if (!(most > 0) || most >= 1 / LARGEST) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EDATA,
                    "%s: no value of %s is larger than %g, too small to "
                    "compute with (some should reach %g); scale the data",
                    method, what, most, 1 / LARGEST);
}

/* ---- telling matrices apart ---------------------------------------------*/
/* FNV-1a over 64-bit words, with a shift that carries high bits down. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
  hash = (hash ^ word) * 0x100000001b3u;
  return hash ^ (hash >> 29);
}

static bool mix_entry(void *user, int64_t i, int64_t j, double v)
{
  uint64_t word = 0x7ff8u; /* every NaN is one */
  uint64_t hash = mix(*(uint64_t *)user, (uint64_t)(j * INT64_C(31) + i));
  if (!isnan(v)) memcpy(&word, &v, sizeof word);
  *(uint64_t *)user = mix(hash, word);
  return true;
}

uint64_t mat_hash_columns(const lapis_mat *A, int64_t first)
{
  uint64_t sum = 0;
  for (int64_t j = 0; A->dtype != LAPIS_TEXT && j < A->cols; j++) {
    lapis_mat column = mat_columns(A, j, 1);
    uint64_t hash = mix(0xcbf29ce484222325u, (uint64_t)(first + j));
    visit_stored(&column, mix_entry, &hash);
    sum += mix(hash, 0x9e3779b97f4a7c15u);
  }
  return sum;
}

uint64_t lapis_mat_hash(const lapis_mat *A)
{
  if (A == NULL || mat_check_view(NULL, "", "", A) < 0) return 0;
  uint64_t hash = mix(0xcbf29ce484222325u, (uint64_t)A->rows);
  hash = mix(hash, (uint64_t)A->cols);
  if (A->dtype != LAPIS_TEXT) visit_stored(A, mix_entry, &hash);
  return hash;
}

/* ---- samples of which nothing is known -----------------------------------*/
bool mat_is_blank(const lapis_mat *X, int64_t j, bool left_out)
{
  if (left_out) return X->colptr[j + 1] == X->colptr[j];
  if (X->colptr != NULL && X->colptr[j + 1] - X->colptr[j] < X->rows)
    return X->rows == 0; /* zeros are numbers */
  for (int64_t i = 0; i < X->rows; i++)
    if (!isnan(lapis_mat_at(X, i, j))) return false;
  return true;
}

static bool is_known(const lapis_mat *Y, int64_t j)
{
  for (int64_t i = 0; Y != NULL && i < Y->rows; i++)
    if (!isnan(lapis_mat_at(Y, i, j))) return true;
  return false;
}

/* Whoever says it says the same, so that it is heard once. */
void mat_say_blank(lapis_ctx *ctx, const lapis_mat *X, const lapis_mat *Y,
                   bool left_out)
{
  enum { NAMED = 5, ROOM = 160 };
  char rows[ROOM] = "", asked[80] = "";
  int64_t count = 0, unknown = 0;
  size_t used = 0;
  for (int64_t j = 0; j < X->cols; j++) {
    if (!mat_is_blank(X, j, left_out)) continue;
    unknown += !is_known(Y, j);
    if (count++ < NAMED)
      used +=
          (size_t)snprintf(rows + used, sizeof rows - used, "%s%" PRId64,
                           count > 1 ? ", " : "", base_row(ctx, j, X->cols));
  }
  if (unknown == 0) return;
  if (count > NAMED)
    snprintf(rows + used, sizeof rows - used, ", ... (%" PRId64 " rows)",
             count);
  if (unknown < count)
    snprintf(asked, sizeof asked, "%" PRId64 " of them without a label ",
             unknown);
  base_note(ctx, BASE_WARNING, "blank-row",
            "row%s %s of X: no feature is observed; %sanswered as a sample of "
            "which nothing is known",
            count > 1 ? "s" : "", rows, asked);
}

void *mat_packed(lapis_ctx *ctx, const lapis_mat *m, bool turned)
{
  size_t size = m->dtype == LAPIS_U8 ? 1 : m->dtype == LAPIS_F32 ? 4 : 8;
  char *copy = base_alloc_raw(ctx, m->rows * m->cols, size);
  for (int64_t j = 0; copy != NULL && j < m->cols; j++)
    for (int64_t i = 0; i < m->rows; i++) {
      int64_t to = turned ? i * m->cols + j : j * m->rows + i;
      memcpy(copy + (size_t)to * size,
             (const char *)m->val + (size_t)(j * m->ld + i) * size, size);
    }
  return copy;
}
