/* check.c - whether the parts of a report fit together. */
#include "images/page/page.h"
#include "mat/mat.h"

static lapis_status check_like(lapis_ctx *ctx, const char *name,
                               const lapis_mat *A, const lapis_mat *like)
{
  if (mat_empty(A) || mat_empty(like) ||
      (A->rows == like->rows && A->cols == like->cols))
    return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "report: %s has %" PRId64 " samples of %" PRId64
                    " features, the clean part has %" PRId64 " of %" PRId64,
                    name, A->cols, A->rows, like->cols, like->rows);
}

static lapis_status check_apart(lapis_ctx *ctx, const lapis_report *w)
{
  const lapis_mat *like = &w->clean;
  TRY(check_like(ctx, "the input", &w->input, like));
  TRY(check_like(ctx, "the removed part (sparse)", &w->removed, like));
  TRY(check_like(ctx, "the filled data", &w->filled, like));
  if (w->first < 0 || w->count < 0 ||
      (!mat_empty(like) && w->first >= like->cols))
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "report: sample %" PRId64 " is the first to be drawn, "
                      "there are %" PRId64,
                      w->first + 1, like->cols);
  bool fits = w->height >= 0 && w->width >= 0 && w->height <= 4096 &&
              w->width <= 4096 && w->height * w->width == like->rows;
  if ((w->height == 0 && w->width == 0) || fits) return LAPIS_OK;
  if (mat_empty(like))
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "report: pictures of %" PRId64 " x %" PRId64
                      " are of the clean part (low_rank), which is missing",
                      w->height, w->width);
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "report: pictures of %" PRId64 " x %" PRId64
                    " do not have the %" PRId64 " features of a sample",
                    w->height, w->width, like->rows);
}

static lapis_status check_classes(lapis_ctx *ctx, const lapis_report *w)
{
  const lapis_mat *A = &w->class_features;
  if (mat_empty(&w->clean) || mat_empty(A) || A->rows == w->clean.rows)
    return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "report: class_features are of %" PRId64
                    " features, the clean part is of %" PRId64,
                    A->rows, w->clean.rows);
}

/* ---- labels -------------------------------------------------------------*/
typedef struct expected {
  const char *name;
  const lapis_mat *is;
  lapis_dtype dtype;
  int64_t rows, cols; /* -1: any */
} expected;

static lapis_status check_shape(lapis_ctx *ctx, const expected *e)
{
  const lapis_mat *A = e->is;
  if (mat_empty(A)) return LAPIS_OK;
  if ((A->dtype == LAPIS_TEXT) != (e->dtype == LAPIS_TEXT))
    return lapis_fail(ctx, LAPIS_ESHAPE, "report: %s should be %s", e->name,
                      e->dtype == LAPIS_TEXT ? "text" : "numbers");
  if ((e->rows < 0 || A->rows == e->rows) &&
      (e->cols < 0 || A->cols == e->cols))
    return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_ESHAPE,
                    "report: %s should be of %" PRId64 " samples and %" PRId64
                    " columns, not of %" PRId64 " and %" PRId64,
                    e->name, e->cols < 0 ? A->cols : e->cols,
                    e->rows < 0 ? A->rows : e->rows, A->cols, A->rows);
}

static lapis_status check_index(lapis_ctx *ctx, const char *what, double index,
                                int64_t count)
{
  if (index >= 0 && index < (double)count) return LAPIS_OK;
  return lapis_fail(ctx, LAPIS_EINVAL,
                    "report: %s %.0f is named, there are %" PRId64, what,
                    index + 1, count);
}

/* n: how many samples there are, -1: nothing says so. */
static lapis_status check_labels(lapis_ctx *ctx, const lapis_report *w,
                                 int64_t n)
{
  int64_t k = w->label_names.cols, c = w->scores.rows;
  int64_t truth_rows = w->truth.rows == 1 ? 1 : c;
  int64_t columns = 1 + w->beside_names.cols + k + !mat_empty(&w->checked);
  const expected all[] = {
      {"names", &w->names, LAPIS_TEXT, 1, n},
      {"label_names", &w->label_names, LAPIS_TEXT, 1, -1},
      {"labels", &w->labels, LAPIS_TEXT, k, n},
      {"answers", &w->answers, LAPIS_TEXT, k, n},
      {"class_names", &w->class_names, LAPIS_TEXT, 1, -1},
      {"scores", &w->scores, LAPIS_F64, -1, n},
      {"held_out", &w->held_out, LAPIS_F64, c, w->scores.cols},
      {"truth", &w->truth, LAPIS_F64, truth_rows, w->scores.cols},
      {"points", &w->points, LAPIS_F64, 4, -1},
      {"point_names", &w->point_names, LAPIS_TEXT, 1, -1},
      {"history_columns", &w->history_columns, LAPIS_TEXT, 1, -1},
      {"beside", &w->beside, LAPIS_TEXT, w->beside_names.cols, n},
      {"checked", &w->checked, LAPIS_U8, 1, n},
      {"csv_order", &w->csv_order, LAPIS_I64, 1, columns},
      {"margin", &w->margin, LAPIS_F64, 1, n},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    TRY(check_shape(ctx, &all[i]));
  for (int64_t j = 0; !mat_empty(&w->csv_order) && j < columns; j++)
    TRY(check_index(ctx, "column", lapis_mat_at(&w->csv_order, 0, j), columns));
  return LAPIS_OK;
}

static lapis_status check_places(lapis_ctx *ctx, const lapis_report *w,
                                 int64_t n)
{
  if (w->suspects > 0 && (mat_empty(&w->labels) || mat_empty(&w->names)))
    return lapis_fail(ctx, LAPIS_EMISSING,
                      "report: labels in doubt need names and labels");
  for (int64_t i = 0; i < w->suspects; i++) {
    const lapis_report_suspect *s = &w->suspect[i];
    TRY(check_index(ctx, "sample", (double)s->sample, n));
    TRY(check_index(ctx, "column", (double)s->column, w->label_names.cols));
  }
  for (int64_t i = 0; i < w->pictures && n >= 0; i++)
    TRY(check_index(ctx, "sample", (double)w->picture[i].sample, n));
  for (int64_t j = 0; !mat_empty(&w->points) && j < w->points.cols; j++)
    TRY(check_index(ctx, "picture", lapis_mat_at(&w->points, 0, j),
                    w->pictures));
  return LAPIS_OK;
}

static lapis_status check_columns(lapis_ctx *ctx, const lapis_report *w)
{
  int64_t n = w->columns > 0 ? w->column[0].values.cols : 0;
  for (int64_t k = 0; k < w->columns; k++) {
    const lapis_sheet_column *c = &w->column[k];
    if (c->title == NULL || c->values.rows != 1 || c->values.cols != n)
      return lapis_fail(ctx, LAPIS_ESHAPE,
                        "report: column %" PRId64
                        " of the answers needs a title and a row of %" PRId64
                        " values",
                        k + 1, n);
  }
  const expected marks = {"marks", &w->marks, LAPIS_TEXT, 1, n};
  return check_shape(ctx, &marks);
}

lapis_status page_check(lapis_ctx *ctx, const lapis_report *w)
{
  const lapis_mat *counted[] = {&w->names, &w->scores, &w->labels, &w->answers};
  int64_t n = -1;
  for (int i = 0; i < 4 && n < 0; i++)
    if (!mat_empty(counted[i])) n = counted[i]->cols;
  TRY(check_columns(ctx, w));
  TRY(check_apart(ctx, w));
  TRY(check_classes(ctx, w));
  TRY(check_labels(ctx, w, n));
  return check_places(ctx, w, n);
}
