/* weights.c - what the slack of each sample counts: C, times the sample's
 * weight, times what the settings say of its kind. */
#include "methods/svmplus/svmplus.h"

bool sv_is_weighted(const svmplus *w)
{
  return w->data.weight != NULL || w->set.balanced;
}

lapis_status sv_weigh(const svmplus *w, int64_t c)
{
  const sv_data *q = &w->q;
  int64_t positive = 0, first, all;
  for (int64_t i = 0; i < q->n; i++) {
    q->y[i] = w->labels.sign[i * w->K + c];
    positive += q->y[i] > 0;
  }
  TRY(base_place(q->ctx, q->n, &first, &all));
  TRY(base_sum_whole(q->ctx, &positive, 1));
  double share = (double)positive / (double)all;
  for (int64_t i = 0; i < q->n; i++) {
    double f = w->data.weight == NULL ? 1 : w->data.weight[i];
    if (w->set.balanced) f /= 2 * (q->y[i] > 0 ? share : 1 - share);
    q->C[i] = w->set.C * f;
  }
  return LAPIS_OK;
}

void sv_say_balanced(lapis_ctx *ctx)
{
  base_say(ctx, -1,
           "svmplus: --balanced decides as if classes were equally frequent; "
           "probabilities keep the shares of the data, so a label may have one "
           "that is below another's");
}
