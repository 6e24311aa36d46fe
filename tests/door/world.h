/* world.h - what the calls that `run` writes are given. */
#ifndef WORLD_H
#define WORLD_H
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lapis/choose.h"
#include "lapis/files.h"
#include "lapis/images.h"
#include "lapis/lapis.h"
#include "lapis/methods.h"
#include "lapis/tools.h"

enum { ROWS = 4, COLS = 24, ROOM = 1 << 16 };

typedef struct world {
  lapis_ctx *ctx;
  lapis_mat mat, labels, other;
  lapis_data data, grouped;
  lapis_solver *solver;
  lapis_model *model;
  lapis_map *map;
  lapis_solver *cv;
  lapis_dataset *dataset;
  lapis_checkpoint *checkpoint;
  lapis_parts *parts;
  lapis_solver *flow;
  lapis_work work;
  lapis_json *json;
  lapis_grid *grid;
  const lapis_method *method, *kinds[2];
  const void *kind_settings[2];
  lapis_image image, read;
  lapis_words words;
  lapis_graph graph;
  lapis_segments segments, made;
  lapis_named named;
  lapis_arrays arrays;
  lapis_table_options table;
  lapis_sheet_column column;
  lapis_comm comm;
  lapis_assignment assignment;
  lapis_report report;
  lapis_cv_options cv_options;
  lapis_features_options features_options;
  void *label, *match, *locate, *settings;
  lapis_mc_settings mc;
  lapis_auto_settings chooser;
  lapis_rpca_settings rpca;
  lapis_rr_settings rr;
  lapis_clean_settings clean;
  lapis_roml_settings roml;
  lapis_svmplus_settings svmplus;
  lapis_misvm_settings misvm;
  lapis_linear_settings linear;
  lapis_trees_settings trees;
  lapis_window_settings window;
  lapis_slic_settings slic;
  lapis_region_settings region;
  lapis_choose_settings choose;
  const char *path, *picture, *text;
  const char *paths[4];
  void *pointer;
  double *numbers;
  int64_t *integers;
  unsigned char *bytes;
  char *room, *big;
} world;
extern world w;

/* What `run` writes. */
extern const char *const world_name[];
extern const int world_count;
void world_call(int k);

/* A failure must have a sentence, and empty what it was to make: w.pointer (1),
 * or a struct in w.big (2), which world_fill filled with rubbish; ends the
 * process where it has not. */
void world_status(lapis_status s, int has_context, int makes);
void world_fill(void);
bool world_progress(const lapis_progress *now, void *user);
void world_message(int level, const char *text, void *user);

/* Matrices that make no sense, in place of a good one. */
void world_short_ld(lapis_mat *m);
void world_no_values(lapis_mat *m);
void world_negative_rows(lapis_mat *m);
void world_negative_cols(lapis_mat *m);
void world_huge(lapis_mat *m);
void world_no_type(lapis_mat *m);
void world_bad_row(lapis_mat *m);
void world_bad_start(lapis_mat *m);
void world_no_rows(lapis_mat *m);
void world_text(lapis_mat *m);
#endif
