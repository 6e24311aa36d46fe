/* label_kinds.c - the kinds of features of a run: those that are named, or the
 * usual ones; the map that gives several of them one weight; and what else auto
 * is given. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/label/label.h"

static const char USUAL[] = "sift-bow", OF_COLOURS[] = "sift-bow,texton-bow";

/* ---- which --------------------------------------------------------------*/
/* A photograph in colours: one pixel in twenty is far from grey. */
static bool is_colourful(const lapis_image *image)
{
  static const float FAR = 0.05F;
  int64_t n = image->width * image->height, far = 0;
  for (int64_t k = 0; image->channels == 3 && k < n; k++) {
    const float *p = image->pixels + 3 * k;
    float high = fmaxf(p[0], fmaxf(p[1], p[2]));
    float low = fminf(p[0], fminf(p[1], p[2]));
    far += high - low > FAR;
  }
  return 20 * far > n;
}

/* A few images tell for all.  What cannot be read is refused later. */
const char *lapis_label_features(lapis_ctx *ctx, const char *const *paths,
                                 int64_t count, bool where)
{
  enum { LOOKS = 9 };
  int64_t looks = count < LOOKS ? count : LOOKS;
  int seen = 0, colourful = 0;
  for (int64_t k = 0; k < looks && !where; k++) {
    lapis_image image;
    const char *path = paths[k * count / looks];
    if (strcmp(path, "-") == 0 || lapis_image_read(ctx, path, &image) < 0)
      continue;
    seen++;
    colourful += is_colourful(&image);
    lapis_image_free(&image);
  }
  return 2 * colourful > seen ? OF_COLOURS : USUAL;
}

static const lapis_method table_kind = {.name = "table"};

/* table:F, which stands alone. */
static lapis_status find_table(label_run *w)
{
  w->table = w->set.features + strlen("table:");
  w->kinds.count = 1;
  w->kinds.kind[0] = &table_kind;
  if (*w->table != '\0') return LAPIS_OK;
  return lapis_fail(w->flow->ctx, LAPIS_EINVAL,
                    "label: --features table:F.npy names the file that holds "
                    "a vector for each image");
}

/* Settings that are usual but for the file that the list names. */
static lapis_status name_net(label_run *w, int k, const char *file, size_t size)
{
  const lapis_method *kind = w->kinds.kind[k];
  char *own = calloc(1, kind->settings_size + size + 1);
  if (own == NULL) return flow_no_memory(w->flow);
  w->kinds.settings[k] = w->own_settings[k] = own;
  lapis_settings_default(kind, own);
  char *name = memcpy(own + kind->settings_size, file, size);
  return lapis_settings_set(w->flow->ctx, kind, own, "net", name);
}

/* The kinds of a list, and their settings in its order. */
static lapis_status parse(label_run *w, const char *list)
{
  for (const char *at = list;; at++) {
    size_t size, file;
    const lapis_method *kind = lapis_feature_named(at, &size, &file);
    if (kind == NULL)
      return lapis_fail(w->flow->ctx, LAPIS_EINVAL,
                        "label: there is no kind of features '%.*s'; 'lapis "
                        "features --help' lists them",
                        size < 63 ? (int)size : 63, at);
    if (w->kinds.count == FLOW_KINDS)
      return lapis_fail(w->flow->ctx, LAPIS_EINVAL,
                        "label: more than %d kinds of features; name fewer",
                        FLOW_KINDS);
    int k = w->kinds.count++;
    w->kinds.kind[k] = kind;
    w->kinds.settings[k] = w->set.kinds == NULL ? NULL : w->set.kinds[k];
    at += size;
    if (file > 0 && w->set.kinds == NULL) TRY(name_net(w, k, at - file, file));
    if (*at == '\0') return LAPIS_OK;
  }
}

lapis_status label_find_kinds(label_run *w)
{
  if (w->set.features == NULL)
    w->set.features = lapis_label_features(w->flow->ctx, w->flow->path,
                                           w->flow->count, w->set.where);
  if (strncmp(w->set.features, "table:", 6) == 0) return find_table(w);
  w->is_auto = label_is_auto(w->set.features);
  if (w->set.names != NULL)
    return lapis_fail(w->flow->ctx, LAPIS_EINVAL,
                      "label: --names goes with --features table:F");
  if (w->is_auto)
    w->colours = strcmp(lapis_label_features(w->flow->ctx, w->flow->path,
                                             w->flow->count, false),
                        USUAL) != 0;
  lapis_status s =
      parse(w, w->is_auto ? LAPIS_LABEL_AUTO_KINDS : w->set.features);
  w->made_kinds = w->kinds;
  return s;
}

static lapis_status features_of(label_run *w, lapis_mat *X)
{
  *X = w->made;
  if (w->made.cols > 0) return LAPIS_OK; /* a table, or those picked */
  TRY(lapis_result_get(w->flow->features, "X", X));
  if (w->kinds.count == 1) return LAPIS_OK;
  lapis_mat start;
  TRY(lapis_result_get(w->flow->features, "block_start", &start));
  for (int k = 0; k <= w->kinds.count; k++)
    w->start[k] = (int64_t)lapis_mat_at(&start, 0, k);
  return LAPIS_OK;
}

/* ---- one weight ---------------------------------------------------------*/
static bool all_count_words(const label_run *w)
{
  for (int k = 0; k < w->kinds.count; k++) {
    char name[96];
    lapis_mat words;
    snprintf(name, sizeof name, "%s.word", w->kinds.kind[k]->name);
    if (lapis_result_get(w->flow->features, name, &words) < 0) return false;
  }
  return true;
}

/* Each kind standardised and divided by the root of its size, so that none
 * drowns the others; counts first become roots of shares, of each kind's own
 * sum. */
static lapis_status join_map(label_run *w, const char *asked)
{
  size_t used = 0;
  char *to = w->joined_map;
  const char *usual =
      all_count_words(w) ? "l1-sqrt,standard,balance" : "standard,balance";
  bool whole = asked != NULL && strncmp(asked, "blocks:", 7) == 0;
  for (int k = 0; k < w->kinds.count && !whole; k++)
    used += (size_t)snprintf(to + used, LABEL_MAP - used, "%s%" PRId64,
                             k == 0 ? "blocks:" : "+",
                             w->start[k + 1] - w->start[k]);
  used += (size_t)snprintf(to + used, LABEL_MAP - used, "%s%s",
                           whole ? "" : ",", asked == NULL ? usual : asked);
  if (used < LABEL_MAP) return LAPIS_OK;
  return lapis_fail(w->flow->ctx, LAPIS_EINVAL, "label: --map is too long");
}

/* ---- what auto is given -------------------------------------------------*/
static bool counts_words(const label_run *w)
{
  char name[96];
  const char *at;
  snprintf(name, sizeof name, "%s.word", w->kinds.kind[0]->name);
  for (int i = 0; w->flow->features != NULL &&
                  (at = lapis_result_name(w->flow->features, i)) != NULL;
       i++)
    if (strcmp(at, "word") == 0 ||
        (w->kinds.count == 1 && strcmp(at, name) == 0))
      return true;
  return false;
}

/* Places are found in what mc repairs of counts, whose map can be undone. */
static const char *map_of(const label_run *w)
{
  if (w->kinds.count > 1) return w->joined_map;
  if (w->set.map != NULL) return w->set.map;
  bool made = w->set.where || w->variant == LAPIS_MC_SIMPLEX;
  if (!made) return NULL;
  if (w->variant == LAPIS_MC_SIMPLEX) return "l1";
  return w->variant == LAPIS_MC_POS ? "none" : "sqrt";
}

lapis_status label_prepare(label_run *w)
{
  lapis_mat *X = &w->flow->data.X;
  TRY(features_of(w, X));
  if (X->cols != w->flow->n)
    return lapis_fail(w->flow->ctx, LAPIS_EINVAL,
                      "label: %s gives many vectors an image; --features takes "
                      "kinds that give one",
                      w->kinds.kind[0]->name);
  if (w->set.variant != LAPIS_LABEL_AUTO)
    w->variant = w->set.variant - 1;
  else
    w->variant = w->set.where && counts_words(w) ? LAPIS_MC_POS : LAPIS_MC_1;
  if (w->kinds.count > 1) TRY(join_map(w, w->set.map));
  w->map = map_of(w);
  return LAPIS_OK;
}

bool label_is_auto(const char *features)
{
  return features != NULL && strcmp(features, "auto") == 0;
}
