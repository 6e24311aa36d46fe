/* pictures.c - the page of match and locate: pictures, what was found in them,
 * settings. */
#include <stdio.h>
#include <stdlib.h>

#include "pipeline.h"

enum { PAGE_SETTINGS = 64, PAGE_VALUE = 512 };

typedef struct page_work {
  lapis_report_picture *picture;
  lapis_report_row setting[PAGE_SETTINGS];
  char value[PAGE_SETTINGS][PAGE_VALUE];
  char images[32], doubtful[64];
} page_work;

static void add_settings(const lapis_flow *f, const flow_pictures *shown,
                         page_work *w, lapis_report *to)
{
  const lapis_method *m = f->class_->work.table;
  const lapis_param *p;
  for (int i = 0; (p = lapis_method_param(m, i)) != NULL && i < PAGE_SETTINGS;
       i++) {
    (void)lapis_settings_get(NULL, m, shown->settings, p->name, w->value[i],
                             PAGE_VALUE); /* cut where it is longer */
    w->setting[i] = (lapis_report_row){p->name, w->value[i]};
    to->settings = i + 1;
  }
  to->setting = w->setting;
}

static lapis_status add_pictures(lapis_flow *f, page_work *w, lapis_report *to)
{
  lapis_mat size = {.cols = 0};
  w->picture = calloc((size_t)f->n + 1, sizeof *w->picture);
  if (w->picture == NULL) return flow_no_memory(f);
  TRY(flow_get(f, "image_size", &size));
  for (int64_t i = 0; i < f->n; i++)
    w->picture[i] =
        (lapis_report_picture){.sample = i,
                               .path = ((const char *const *)f->names.val)[i],
                               .width = (int64_t)lapis_mat_at(&size, 0, i),
                               .height = (int64_t)lapis_mat_at(&size, 1, i)};
  to->names = f->names;
  to->picture = w->picture;
  to->pictures = f->n;
  return LAPIS_OK;
}

static lapis_status add_doubts(const lapis_flow *f, const flow_pictures *shown,
                               page_work *w)
{
  lapis_mat sure;
  int64_t doubtful = 0;
  TRY(flow_get(f, "inlier", &sure));
  for (int64_t i = 0; i < sure.rows * sure.cols; i++)
    doubtful += lapis_mat_at(&sure, i % sure.rows, i / sure.rows) < 0.5;
  snprintf(w->doubtful, sizeof w->doubtful, "%" PRId64 " of %" PRId64, doubtful,
           sure.rows * sure.cols);
  for (int64_t i = 0; shown->box != NULL && i < sure.cols; i++) {
    w->picture[i].box = &shown->box[i];
    w->picture[i].boxes = 1;
    if (lapis_mat_at(&sure, 0, i) < 0.5) w->picture[i].note = "doubtful";
  }
  for (int64_t i = 0; shown->placed != NULL && i < sure.cols; i++)
    if (!shown->placed[i]) w->picture[i].note = "all points in doubt";
  return LAPIS_OK;
}

lapis_status flow_pictures_page(const lapis_flow *f, const flow_pictures *shown,
                                const char *path, const char *command)
{
  lapis_report report = lapis_report_defaults();
  page_work *w = calloc(1, sizeof *w);
  lapis_flow *own = (lapis_flow *)(uintptr_t)f;
  if (w == NULL) return flow_no_memory(own);
  snprintf(w->images, sizeof w->images, "%" PRId64, f->n);
  lapis_report_row facts[] = {{"images", w->images},
                              {shown->fact.name, shown->fact.value},
                              {shown->doubtful, w->doubtful},
                              {"how often right", shown->measured}};
  report.title = shown->title;
  report.command = command;
  report.fact = facts;
  report.facts = shown->measured == NULL ? 3 : 4;
  report.points = shown->points;
  report.point_names = shown->point_names;
  add_settings(f, shown, w, &report);
  lapis_status s = add_pictures(own, w, &report);
  if (s >= 0) s = add_doubts(f, shown, w);
  if (s >= 0) s = lapis_report_write(f->ctx, &report, path);
  free(w->picture);
  free(w);
  return s;
}
