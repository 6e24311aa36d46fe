/* expected_text.c - how often answers are expected to be right, in a sentence
 * that remarks and pages share. */
#include <math.h>
#include <stdio.h>

#include "lapis/choose.h"

char *lapis_expected_text(const lapis_mat *figures, int64_t k, char *text,
                          size_t size)
{
  if (text == NULL || size == 0) return text;
  *text = '\0';
  if (figures == NULL || figures->val == NULL ||
      figures->rows <= LAPIS_FIGURE_MOST || k < 0 || k >= figures->cols ||
      isnan(lapis_mat_at(figures, LAPIS_FIGURE_LEAST, k)))
    return text;
  double least = 100 * lapis_mat_at(figures, LAPIS_FIGURE_LEAST, k);
  if (least < 100) least = fmin(least, 99); /* some may be wrong */
  int used =
      snprintf(text, size, "%.0f to %.0f %% are right (a 95 %% interval)",
               least, 100 * lapis_mat_at(figures, LAPIS_FIGURE_MOST, k));
  if (used > 0 && (size_t)used < size && figures->rows > LAPIS_FIGURE_COMMONEST)
    (void)snprintf(
        text + used, size - (size_t)used,
        ", %.0f %% by always giving the commonest answer; %s",
        100 * lapis_mat_at(figures, LAPIS_FIGURE_COMMONEST, k),
        lapis_mat_at(figures, LAPIS_FIGURE_LEARNT, k) > 0
            ? "this holds for samples like those with a label, and takes "
              "these labels as right"
            : "it is not clear that anything was learnt, which labels that are "
              "wrong hide, too: check some answers first");
  return text;
}
