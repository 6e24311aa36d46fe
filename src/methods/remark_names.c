/* remark_names.c - what values and features are called in remarks. */
#include <stdio.h>

#include "lapis/tools.h"
#include "methods/common_remarks.h"

int64_t remark_word(const lapis_data *data, double value)
{
  int64_t count = data->words.cols;
  if (value == -1 && count == 2) return 0;
  return value >= 0 && value < (double)count ? (int64_t)value : -1;
}

const char *remark_value(const lapis_data *data, double value,
                         char name[REMARK_VALUE])
{
  int64_t k = remark_word(data, value);
  if (k < 0)
    (void)snprintf(name, REMARK_VALUE, "%g", value);
  else
    (void)snprintf(name, REMARK_VALUE, "%s",
                   ((const char *const *)data->words.val)[k]);
  return name;
}

const char *remark_feature(const lapis_data *data, int64_t i,
                           char name[REMARK_VALUE])
{
  const lapis_mat *names = &data->feature_names;
  if (names->rows != 1 || names->cols != data->X.rows)
    (void)snprintf(name, REMARK_VALUE, "feature %" PRId64, i + 1);
  else
    (void)lapis_text_shown(((const char *const *)names->val)[i * names->ld],
                           name, REMARK_VALUE);
  return name;
}
