/* Every k-th allocation fails while images are read, written and described:
 * LAPIS_ENOMEM, nothing half-made, no leak, no crash. */
#include "files.h"
#include "images/image/image.h"
#include "lapis/images.h"
#include "scarce.h"

typedef struct job {
  files *f;
  const char *path; /* of an image */
  const char *kind; /* of features */
  const void *settings;
} job;

static lapis_status read_image(const job *j)
{
  lapis_image m;
  lapis_status s = lapis_image_read(j->f->ctx, j->path, &m);
  assert_int_equal(s < 0, m.pixels == NULL);
  lapis_image_free(&m);
  return s;
}

static lapis_status write_image(const job *j)
{
  float pixels[12] = {0, .5f, 1};
  lapis_image m = {2, 2, 3, pixels};
  unsigned char *made;
  size_t size;
  lapis_status s = image_encode_png(j->f->ctx, &m, &made, &size);
  assert_int_equal(s < 0, made == NULL);
  free(made);
  return s;
}

static lapis_status list_images(const job *j)
{
  lapis_array list;
  const char *words[] = {j->path, j->f->folder};
  lapis_status s = lapis_image_list(j->f->ctx, words, 2, &list);
  lapis_array_free(&list);
  return s;
}

static lapis_status describe_images(const job *j)
{
  lapis_solver *s;
  lapis_mat X;
  const char *path[] = {j->path, "/nowhere.png", j->path};
  lapis_features_options keep = {.size = sizeof keep, .keep_going = true};
  lapis_status status = lapis_features_new(
      j->f->ctx, lapis_feature_find(j->kind), j->settings, path, 3, &keep, &s);
  if (status < 0) {
    assert_null(s);
    return status;
  }
  status = lapis_solve(s);
  lapis_status got = lapis_result_get(s, "X", &X);
  assert_int_equal(status < 0, got < 0);
  lapis_solver_free(s);
  return status;
}

static void sweep(const job *j, lapis_status (*act)(const job *j))
{
  for (long k = 0; k < 100000; k += room_step(k)) {
    scarce.failed = false;
    scarce.countdown = k;
    lapis_status s = act(j);
    scarce.countdown = -1;
    if (!scarce.failed) {
      assert_int_equal(s, LAPIS_OK);
      return;
    }
    if (s != LAPIS_ENOMEM && s != LAPIS_OK)
      fail_msg("allocation %ld: %d: %s", k, (int)s, lapis_ctx_error(j->f->ctx));
  }
  fail();
}

static bool built(void)
{
  return lapis_image_format_at(0)->built;
}

static void images_survive_scarcity(void **state)
{
  files *f = *state;
  float pixels[6 * 5 * 3] = {.5f};
  lapis_image m = {6, 5, 3, pixels};
  lapis_ctx_set(f->ctx, "threads", "1");
  if (built())
    CHECK_OK(f, image_write_png(f->ctx, &m, files_path(f, "a.png")));
  else
    files_put_text(f, "a.ppm", "P3 1 2 9 1 2 3 4 5 6");
  job j = {f, f->path, NULL, NULL};
  sweep(&j, read_image);
  if (built()) sweep(&j, write_image);
  sweep(&j, list_images);
}

static void features_survive_scarcity(void **state)
{
  files *f = *state;
  static const char *const kinds[] = {"pixels", "color-moments", "hog", "gist"};
  lapis_gist_settings small; /* as the defaults, but quick */
  lapis_settings_default(lapis_feature_find("gist"), &small);
  small.side = 16;
  lapis_ctx_set(f->ctx, "threads", "1");
  files_put_text(f, "a.ppm", "P3 2 2 9 1 2 3 4 5 6 9 8 7 6 5 4");
  for (int i = 0; i < 4; i++) {
    job j = {f, f->path, kinds[i], i == 3 ? &small : NULL};
    if (built() || strcmp(kinds[i], "hog") != 0) sweep(&j, describe_images);
  }
}

int test_scarcity_images(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(images_survive_scarcity, files_setup,
                                      files_teardown),
      cmocka_unit_test_setup_teardown(features_survive_scarcity, files_setup,
                                      files_teardown),
  };
  return run_cases(tests, NULL, NULL);
}
