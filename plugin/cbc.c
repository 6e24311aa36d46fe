/* cbc.c - the plug-in lapis-cbc: binary programs by CBC.
 *
 * CBC is free software under the EPL; this file alone includes it, and becomes
 * a shared library that LAPIS opens at run time where it is installed.  One
 * thread and no clock but the limit: the same problem gives the same answer.
 */
#include <coin/Cbc_C_Interface.h>
#include <coin/Clp_C_Interface.h>
#include <stdlib.h>

#include "vision/locate/milp.h"

typedef struct state {
  Clp_Simplex *lp;
  int rows; /* that lp has */
} state;

static void *cbc_open(void)
{
  state *s = calloc(1, sizeof *s);
  if (s != NULL) s->lp = Clp_newModel();
  return s;
}

static void cbc_close(void *self)
{
  state *s = self;
  if (s == NULL) return;
  Clp_deleteModel(s->lp);
  free(s);
}

/* Columns without rows; rows come later. */
static void load_columns(state *s, const milp *p)
{
  Clp_setLogLevel(s->lp, 0);
  Clp_setOptimizationDirection(s->lp, -1);
  Clp_resize(s->lp, 0, p->cols);
  for (int j = 0; j < p->cols; j++) {
    Clp_columnLower(s->lp)[j] = 0;
    Clp_columnUpper(s->lp)[j] = 1;
    Clp_objective(s->lp)[j] = p->gain[j];
  }
}

/* low and start: more - s->rows of them. */
static void load_rows(state *s, const milp *p, double *low, CoinBigIndex *start)
{
  int first = s->rows, more = p->rows - first;
  for (int i = 0; i < more; i++) low[i] = -1e30;
  for (int i = 0; i <= more; i++)
    start[i] = p->start[first + i] - p->start[first];
  Clp_addRows(s->lp, more, low, p->high + first, start,
              p->col + p->start[first], p->value + p->start[first]);
  s->rows = p->rows;
}

static milp_status cbc_relax(void *self, milp *p)
{
  state *s = self;
  if (s->rows == 0) load_columns(s, p);
  size_t more = (size_t)(p->rows - s->rows);
  double *low = malloc((more + 1) * sizeof *low);
  CoinBigIndex *start = malloc((more + 1) * sizeof *start);
  if (low != NULL && start != NULL && more > 0) load_rows(s, p, low, start);
  free(low), free(start);
  if (s->rows < p->rows) return MILP_FAILED;
  Clp_setMaximumSeconds(s->lp, p->seconds);
  Clp_dual(s->lp, 0);
  if (Clp_status(s->lp) != 0)
    return Clp_status(s->lp) == 3 ? MILP_STOPPED : MILP_FAILED;
  const double *x = Clp_primalColumnSolution(s->lp);
  for (int j = 0; j < p->cols; j++) p->x[j] = x[j];
  p->bound = Clp_objectiveValue(s->lp);
  return MILP_SOLVED;
}

static void load(Cbc_Model *m, const milp *p)
{
  Cbc_setObjSense(m, 1);
  for (int j = 0; j < p->cols; j++)
    Cbc_addCol(m, "", 0, 1, -p->gain[j], 1, 0, NULL, NULL);
  for (int i = 0; i < p->rows; i++)
    Cbc_addRow(m, "", p->start[i + 1] - p->start[i], p->col + p->start[i],
               p->value + p->start[i], 'L', p->high[i]);
  Cbc_setLogLevel(m, 0);
  Cbc_setParameter(m, "threads", "0");
  Cbc_setCutoff(m, -p->known);
  Cbc_setAllowableGap(m, 0);
  Cbc_setAllowableFractionGap(m, 0);
  Cbc_setParameter(m, "timeMode", "elapsed");
  Cbc_setMaximumSeconds(m, p->seconds);
}

static milp_status cbc_solve(void *self, milp *p)
{
  (void)self;
  Cbc_Model *m = Cbc_newModel();
  if (m == NULL) return MILP_FAILED;
  load(m, p);
  Cbc_solve(m);
  milp_status status = Cbc_isProvenOptimal(m) ? MILP_SOLVED : MILP_STOPPED;
  if (Cbc_isAbandoned(m)) status = MILP_FAILED;
  const double *x = Cbc_getColSolution(m);
  for (int j = 0; x != NULL && j < p->cols; j++) p->x[j] = x[j];
  p->bound = -Cbc_getBestPossibleObjValue(m);
  if (Cbc_isProvenInfeasible(m)) {
    p->bound = p->known;
    status = MILP_SOLVED;
  }
  Cbc_deleteModel(m);
  return status;
}

__attribute__((visibility("default"))) const milp_api lapis_cbc = {
    MILP_VERSION, "cbc", cbc_open, cbc_close, cbc_relax, cbc_solve};
