/* eval.h - whether truth and answers stand in the same order. */
#ifndef LAPIS_EVAL_NAMES_H
#define LAPIS_EVAL_NAMES_H
#include "command/command.h"

/* Member `as` of ds from a file, of an archive from its `member`. */
lapis_status eval_read(lapis_dataset *ds, const char *as, const char *spec,
                       const char *member, const lapis_table_options *opt);
/* The columns of a table of answers, against the classes of the truth. */
int eval_check_columns(const lapis_dataset *ds, const char *scores);

/* ---- what is compared ----------------------------------------------------*/
typedef struct eval_pair {
  lapis_mat truth, answers; /* targets x samples */
  lapis_mat names;          /* of classes; empty: none */
  const char *dialect;      /* of the tables of both, or NULL */
  char stranger[64]; /* a label, where no label is in both files; or "" */
  double *y, *x;     /* its own */
  const char **name;
} eval_pair;

/* ---- eval_sheet.c --------------------------------------------------------*/
enum { EVAL_LIST = 8192, EVAL_TARGETS = 256 };
typedef struct eval_columns { /* of a table of answers, from 1 */
  int count;                  /* of targets */
  int label[EVAL_TARGETS];
  char title[EVAL_TARGETS][64]; /* of these columns, cut where longer */
  char scores[EVAL_LIST];       /* "4,5" */
  bool plain;                   /* labels alone, not what fit writes */
  bool named;                   /* its first column names the samples */
  char decimal;                 /* --decimal, or what its scores have */
} eval_columns;
typedef struct eval_files {
  const char *truth, *scores;
  const lapis_table_options *table;
} eval_files;
/* Whether the scores are a table as 'fit -o F.csv' writes it, or one of labels
 * in the columns that target names (NULL: only scores count).  A table of
 * scores alone has no targets, and scores. */
bool eval_find_columns(cli *c, const eval_files *files, const char *target,
                       eval_columns *out);
/* The column of its names: --id, or the first where fit wrote it; or NULL. */
const char *eval_id(const eval_columns *sheet,
                    const lapis_table_options *table);
/* L of a column's title "score of L" or "probability of L"; else NULL. */
const char *eval_score_of(const char *title);
/* Whether the targets of truth, read into ds, stand in the order of the
 * answers' columns; in another, figures would be of the wrong ones. */
int eval_check_order(const lapis_dataset *ds, const eval_columns *sheet,
                     const char *scores);
/* Truth whose targets are texts, as Y of *out, and the codes of the answers
 * beside them; an error where either is no text. */
lapis_status eval_text_labels(cli *c, const eval_columns *sheet,
                              const char *truth, const char *answers,
                              const lapis_table_options *table,
                              lapis_dataset **out, eval_pair *pair);

/* ---- lists.c --------------------------------------------------------*/
/* Truth and labels, read into ds as Y and names, where either are lists of
 * labels and the other are lists, or a column each; else LAPIS_EINVAL. */
lapis_status eval_list_labels(const lapis_dataset *ds, eval_pair *p);
/* Whether truth, read into ds, has a label that is so called. */
bool eval_has_label(const lapis_dataset *ds, const char *label);
/* Scores in the order of the truth's labels, by the titles of a table or the
 * classes of an archive; truth that is lists becomes 1 and 0 for each label. */
lapis_status eval_list_scores(cli *c, const lapis_dataset *ds,
                              const char *scores, eval_pair *p);
void eval_pair_free(eval_pair *p); /* contents */

/* ---- filled.c -------------------------------------------------------*/
typedef struct eval_answers {
  const char *path, *metric;
  const eval_pair *pair;
  const eval_columns *sheet;
  int64_t classes;
} eval_answers;
typedef struct eval_figures { /* of some of the labels */
  int64_t labels, given; /* how many of known truth; how many were left out;
                          * labels -1: the file does not say what was given */
  double *per_class, mean;
} eval_figures;
/* What a metric is of the labels that were filled in alone; free per_class. */
lapis_status eval_filled(cli *c, const eval_answers *a, eval_figures *out);

#endif
