/* verbs.c - the list of verbs, in the order of the help. */
#include "command.h"

static const cli_verb *const verbs[] = {
    &verb_fit,    &verb_predict, &verb_cv,      &verb_eval,   &verb_features,
    &verb_label,  &verb_locate,  &verb_match,   &verb_assign, &verb_convert,
    &verb_report, &verb_info,    &verb_formats, &verb_demo,   NULL};

const cli_verb *cli_verb_at(int i)
{
  return verbs[i];
}
