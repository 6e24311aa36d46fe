/* map.c - maps of samples that are divided among processes. */
#include "ranks_case.h"

typedef struct mapping {
  const char *spec;
  lapis_status fitted[RANKS_MOST];
  char said[RANKS_MOST][300];
  double *memory[RANKS_MOST];
} mapping;

/* The process's own samples through a map that is fitted to those of all. */
static void map_part(ranks_part *part, void *settings, void *user)
{
  mapping *m = user;
  lapis_map *map;
  lapis_mat own = part->data.X;
  (void)settings;
  assert_int_equal(lapis_map_new(part->ctx, m->spec, &map), LAPIS_OK);
  lapis_status s = lapis_map_fit(part->ctx, map, &own);
  m->fitted[part->rank] = part->made = s;
  snprintf(m->said[part->rank], sizeof m->said[0], "%s",
           lapis_ctx_error(part->ctx));
  if (s >= 0)
    part->made = lapis_map_make(part->ctx, map, &own, &m->memory[part->rank],
                                &part->data.X);
  lapis_map_free(map);
}

static void forget(mapping *m)
{
  for (int r = 0; r < RANKS_MOST; r++) free(m->memory[r]);
  memset(m->memory, 0, sizeof m->memory);
}

static ranks_job job_of(sample_set *s, mapping *m)
{
  return (ranks_job){.method = "rpca",
                     .settings = "max-iters=20;tol=1e-12",
                     .whole = samples_view(s, false),
                     .before = map_part,
                     .user = m};
}

static void maps_are_those_of_one(void **state)
{
  static const char *const specs[] = {"standard", "l2,standard", "standard,l2",
                                      "scale:3,standard", "standard,impute"};
  static const char *const names[] = {"low_rank", "sparse", NULL};
  static const int64_t count[] = {40, 0, 1, 49};
  sample_set *s = samples(12, 90, 0.2, 0.05);
  for (int i = 0; i < 5; i++) {
    mapping m = {.spec = specs[i]}, n = {.spec = specs[i]};
    ranks_run one, many;
    ranks_job job = job_of(s, &m);
    job.size = 1;
    ranks_solve(&job, &one);
    job = job_of(s, &n);
    job.size = 4;
    job.count = count;
    ranks_solve(&job, &many);
    check_same(&many, &one, names, 1e-10);
    ranks_free(&one);
    ranks_free(&many);
    forget(&m);
    forget(&n);
  }
  free(s);
}

/* What one process finds is said by all, and none waits. */
static void refusals(void **state)
{
  static const struct {
    const char *spec, *words;
  } all[] = {{"sqrt,standard", "sqrt takes 0 or more (process 1 of 3)"},
             {"nystrom:auto:20", "kernels draw from all samples"}};
  sample_set *s = samples(12, 90, 0, 0);
  for (int i = 0; i < 2; i++) {
    mapping m = {.spec = all[i].spec};
    ranks_run run;
    ranks_job job = job_of(s, &m);
    for (int k = 0; k < 12 * 90; k++) s->X[k] = fabs(s->X[k]);
    s->X[5] = -1;
    job.size = 3;
    ranks_solve(&job, &run);
    for (int r = 0; r < 3; r++) {
      assert_true(m.fitted[r] < 0);
      if (!check_has(m.said[r], all[i].words))
        fail_msg("'%s', not '%s'", m.said[r], all[i].words);
    }
    ranks_free(&run);
    forget(&m);
  }
  free(s);
}

int test_map(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(maps_are_those_of_one),
      cmocka_unit_test(refusals),
  };
  return run_cases(tests, NULL, NULL);
}
