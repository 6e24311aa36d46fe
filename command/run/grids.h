/* grids.h - grids as typed, and settings chosen for the user. */
#ifndef LAPIS_CHOOSE_H
#define LAPIS_CHOOSE_H
#include "command/command.h"

enum { MAX_GRIDS = 8 };
typedef struct grid_text {
  int count;
  lapis_grid grid[MAX_GRIDS];
  lapis_grid *owned[MAX_GRIDS];
} grid_text;
/* "NAME=V,V,..." or "NAME=LOW:HIGH:COUNT" (log scale). */
int grid_add(cli *c, grid_text *g, const char *text);
void grid_text_free(grid_text *g);

/* Of a cross-validation: the best point, -1: none was judged; a value. */
int64_t cv_best(const lapis_solver *cv);
const char *cv_value(const lapis_solver *cv, int64_t point, int64_t name);
int cv_options_from_args(cli *c, const lapis_data *data, lapis_cv_options *o);
/* --suspects M: the most contradicted known labels, added to what is written:
 * by K x n probabilities that they had while they were hidden, or, where these
 * are NULL, at these settings; *memory is freed by the caller when all is done.
 */
int find_suspects(cli *c, const lapis_data *data, const void *settings,
                  const lapis_mat *held_out, void **memory);
/* What they say, of lapis_doubts_text; or NULL. */
const int64_t *wrong_labels(const cli *c);
/* Before the work: --suspects M, where it is given, is a number, and targets
 * are labels. */
int suspects_check(cli *c, const lapis_dataset *ds);
/* What find_suspects found: doubts are probabilities, where wrong_labels is
 * there, else margins of scores; returns how many of the first are wrong rather
 * than right, -1: nothing was asked. */
int64_t suspects_found(const cli *c, const lapis_mat **index,
                       const lapis_mat **doubt);
/* The value of Y that each of a list rather is, of which the first `wrong` look
 * so, NaN where it does not or Y has several rows; to be freed; NULL: no
 * memory. */
double *labels_rather(const lapis_mat *Y, const lapis_mat *pair, int64_t wrong);
/* Known labels that nobody learnt from (--doubted): samples and classes, and
 * how probably each is wrong; how many. */
int64_t labels_left_out(const lapis_solver *s, lapis_mat *pair,
                        lapis_mat *wrong);
/* Those that find_suspects found: a line each, or a list of objects; none where
 * it was not asked. */
void print_contradicted(cli *c, const lapis_dataset *ds);
/* The first of those that are left out, where --suspects lists none. */
void print_left_out(cli *c, const lapis_solver *s, const lapis_dataset *ds);
/* Known numbers that auto has found far from what all others say. */
void print_far(cli *c, const lapis_solver *s, const lapis_dataset *ds);
/* The name of sample j, or "row N". */
void sample_name(const lapis_dataset *ds, int64_t j, char *to, size_t size);
lapis_json *contradicted_json(const cli *c);
lapis_json *left_out_json(const lapis_solver *s); /* NULL: none is */
lapis_json *wrong_json(const cli *c);             /* of wrong_labels */

/* A value of Y as it was written, for a terminal. */
const char *label_text(cli *c, const lapis_dataset *ds, double v, char *to,
                       size_t size);
#endif
