/* result_members.c - members of the result that is shown, and what is made of
 * it.
 */

#include "report.h"

lapis_mat report_numbers(const report_parts *own, const char *name)
{
  const lapis_array *a = lapis_arrays_find(&own->all, name);
  bool numbers = a != NULL && a->mat.dtype != LAPIS_TEXT;
  return numbers ? a->mat : (lapis_mat){.cols = 0};
}

lapis_mat report_member(const report_parts *own, const char *name)
{
  lapis_mat m = report_numbers(own, name);
  return m.dtype == LAPIS_F64 ? m : (lapis_mat){.cols = 0};
}
