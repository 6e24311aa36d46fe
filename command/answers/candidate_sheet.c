/* candidate_sheet.c - what was compared to choose, best first: results
 * candidates and candidate_figures of a solver or a pipeline. */
#include "candidate_sheet.h"

#include <math.h>
#include <string.h>

enum { SHOWN = 5 };

static const char *cell(const cli_candidates *of, int64_t row, int64_t k)
{
  return ((const char *const *)of->names.val)[k * of->names.rows + row];
}

/* Numbers have no accuracy. */
static bool are_numbers(const cli_candidates *of)
{
  return isnan(lapis_mat_at(&of->figures, 3, 0));
}

void candidates_print(const cli_candidates *of)
{
  for (int64_t k = 0; k < of->names.cols; k++) {
    if (k >= SHOWN && k != of->chosen) continue;
    if (are_numbers(of)) {
      fprintf(stderr, "  %2lld  R^2 %.4f +- %.4f  %s %s\n", (long long)k + 1,
              lapis_mat_at(&of->figures, 2, k),
              lapis_mat_at(&of->figures, 1, k), cell(of, 0, k), cell(of, 1, k));
      continue;
    }
    fprintf(stderr,
            "  %2lld  log-loss %.4f +- %.4f  AUROC %.4f  accuracy %.4f  %s "
            "%s\n",
            (long long)k + 1, lapis_mat_at(&of->figures, 0, k),
            lapis_mat_at(&of->figures, 1, k), lapis_mat_at(&of->figures, 2, k),
            lapis_mat_at(&of->figures, 3, k), cell(of, 0, k), cell(of, 1, k));
  }
}

lapis_json *candidates_json(const cli_candidates *of)
{
  static const char *const figure[LAPIS_FIGURES] = {
      [LAPIS_FIGURE_LOSS] = "log_loss",
      [LAPIS_FIGURE_ERROR] = "error",
      [LAPIS_FIGURE_AUROC] = "auroc",
      [LAPIS_FIGURE_ACCURACY] = "accuracy",
      [LAPIS_FIGURE_LEAST] = "accuracy_least",
      [LAPIS_FIGURE_MOST] = "accuracy_most",
      [LAPIS_FIGURE_BEHIND] = "behind",
      [LAPIS_FIGURE_BEHIND_ERROR] = "behind_error",
      [LAPIS_FIGURE_LEARNT] = "learnt",
      [LAPIS_FIGURE_COMMONEST] = "accuracy_commonest"};
  lapis_json *list = lapis_json_list();
  for (int64_t k = 0; k < of->names.cols; k++) {
    lapis_json *to = lapis_json_object();
    lapis_json_put_text(to, "method", cell(of, 0, k));
    lapis_json_put_text(to, "settings", cell(of, 1, k));
    for (int i = 0; i < LAPIS_FIGURES && i < of->figures.rows; i++) {
      double v = lapis_mat_at(&of->figures, i, k);
      bool behind = i == LAPIS_FIGURE_BEHIND || i == LAPIS_FIGURE_BEHIND_ERROR;
      if (i == LAPIS_FIGURE_LEARNT) continue;
      if (are_numbers(of) && !behind && isnan(v)) continue;
      const char *name = figure[i];
      if (are_numbers(of) && i == LAPIS_FIGURE_LOSS) name = "squared_error";
      if (are_numbers(of) && i == LAPIS_FIGURE_AUROC) name = "r2";
      lapis_json_put_number(to, name, v);
    }
    lapis_json_put_bool(to, figure[LAPIS_FIGURE_LEARNT],
                        lapis_mat_at(&of->figures, LAPIS_FIGURE_LEARNT, k) > 0);
    lapis_json_put_bool(to, "answers", k == of->chosen);
    lapis_json_put(list, NULL, to);
  }
  return list;
}
