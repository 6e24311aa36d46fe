/* box_words.c - the visual words of an image, checked; boxes, compared. */
#include <math.h>

#include "images/places/places.h"

static lapis_status check_word(lapis_ctx *ctx, const char *what,
                               const lapis_words *words, int64_t j)
{
  double v = lapis_mat_at(&words->word, 0, j);
  double x = lapis_mat_at(&words->xy, 0, j);
  double y = lapis_mat_at(&words->xy, 1, j);
  if (!(v >= 0 && v < (double)words->vocabulary) || v > floor(v))
    return lapis_fail(ctx, LAPIS_EDATA,
                      "%s: word %" PRId64 " is %g; words are whole numbers "
                      "from 0 to %" PRId64,
                      what, j + 1, v, words->vocabulary - 1);
  if (!(x >= 0 && y >= 0 && x <= (double)words->width &&
        y <= (double)words->height))
    return lapis_fail(ctx, LAPIS_EDATA,
                      "%s: word %" PRId64 " lies at (%g, %g), outside the "
                      "image of %" PRId64 " x %" PRId64 " pixels",
                      what, j + 1, x, y, words->width, words->height);
  return LAPIS_OK;
}

lapis_status words_check(lapis_ctx *ctx, const char *what,
                         const lapis_words *words)
{
  const int64_t side = 1 << 20; /* products of sides stay far from overflow */
  if (words->width < 1 || words->height < 1 || words->width > side ||
      words->height > side || words->vocabulary < 1)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: an image of %" PRId64 " x %" PRId64
                      " pixels with %" PRId64 " different words; each must "
                      "be at least 1, and a side at most %" PRId64,
                      what, words->width, words->height, words->vocabulary,
                      side);
  if (words->word.rows != 1 || words->xy.rows < 2 ||
      words->word.cols != words->xy.cols)
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "%s: %" PRId64 " words of %" PRId64
                      " numbers and %" PRId64 " positions of %" PRId64
                      "; a word is one number, a position two or more",
                      what, words->word.cols, words->word.rows, words->xy.cols,
                      words->xy.rows);
  for (int64_t j = 0; j < words->word.cols; j++)
    TRY(check_word(ctx, what, words, j));
  return LAPIS_OK;
}

void words_pixel(const lapis_words *words, int64_t j, int64_t *x, int64_t *y)
{
  *x = (int64_t)lapis_mat_at(&words->xy, 0, j);
  *y = (int64_t)lapis_mat_at(&words->xy, 1, j);
  if (*x == words->width) (*x)--;
  if (*y == words->height) (*y)--;
}

lapis_status vector_take(lapis_ctx *ctx, const char *what,
                         const lapis_mat *from, int64_t d, double *to)
{
  if (from->dtype == LAPIS_TEXT || from->rows * from->cols != d ||
      (from->rows != 1 && from->cols != 1))
    return lapis_fail(ctx, LAPIS_ESHAPE,
                      "%s: %" PRId64 " x %" PRId64
                      " numbers where one for each of the %" PRId64
                      " words is needed",
                      what, from->cols, from->rows, d);
  for (int64_t i = 0; i < d; i++) {
    to[i] =
        from->rows == 1 ? lapis_mat_at(from, 0, i) : lapis_mat_at(from, i, 0);
    if (!isfinite(to[i]))
      return lapis_fail(ctx, LAPIS_EDATA,
                        "%s: the number of word %" PRId64
                        " is %g; it must be finite",
                        what, i, to[i]);
  }
  return LAPIS_OK;
}

double box_overlap(const lapis_box *a, const lapis_box *b)
{
  double w = fmin(a->x + a->width, b->x + b->width) - fmax(a->x, b->x);
  double h = fmin(a->y + a->height, b->y + b->height) - fmax(a->y, b->y);
  double both = fmax(w, 0) * fmax(h, 0);
  double all = a->width * a->height + b->width * b->height - both;
  return all > 0 ? both / all : 0;
}
