/* members.c - the members of data, and which of them data has. */
#include "base/base.h"
#include "lapis/tools.h"

static const lapis_member all[] = {
    {LAPIS_READS_X, "X", "features"},
    {LAPIS_READS_Y, "Y", "targets"},
    {LAPIS_READS_P, "P", "privileged features"},
    {LAPIS_READS_GROUP, "group", "groups"},
    {LAPIS_READS_WEIGHT, "weight", "weights of samples"},
    {LAPIS_READS_XY, "xy", "positions"}};

const lapis_member *lapis_member_at(int i)
{
  const int count = sizeof all / sizeof *all;
  return i < 0 || i >= count ? NULL : &all[i];
}

unsigned lapis_data_has(const lapis_data *data)
{
  unsigned has = 0;
  if (data == NULL) return has;
  if (data->X.rows > 0) has |= LAPIS_READS_X;
  if (data->Y.rows > 0) has |= LAPIS_READS_Y;
  if (data->P.rows > 0) has |= LAPIS_READS_P;
  if (data->group != NULL) has |= LAPIS_READS_GROUP;
  if (data->weight != NULL) has |= LAPIS_READS_WEIGHT;
  if (data->xy.rows > 0) has |= LAPIS_READS_XY;
  return has;
}

lapis_data lapis_data_with(const lapis_data *data, unsigned members)
{
  lapis_data kept = {.size = 0};
  if (data == NULL) return kept;
  kept.size = data->size, kept.X = data->X, kept.stored = data->stored;
  kept.feature_names = data->feature_names;
  if ((members & LAPIS_READS_Y) != 0)
    kept.Y = data->Y, kept.words = data->words;
  if ((members & LAPIS_READS_P) != 0) kept.P = data->P;
  if ((members & LAPIS_READS_XY) != 0) kept.xy = data->xy;
  if ((members & LAPIS_READS_GROUP) != 0) kept.group = data->group;
  if ((members & LAPIS_READS_WEIGHT) != 0) kept.weight = data->weight;
  return kept;
}
