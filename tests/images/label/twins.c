/* lapis label of identical pictures under two names. */
#include "label_case.h"
#include "lapis/images.h"
#include "remarks.h"

static const char *const two[] = {"flat", "upright"};
#define RUN CHOOSING " --candidates linear --cache kept --threads 1 "
enum { KNOWN = 14 };

/* Copies are told, and where their labels differ that, too. */
static void identical_images_are_told(void **state)
{
  command c;
  begin_stripes(&c, 2);
  write_labels(&c, two, 2, KNOWN);
  command_do(&c, RUN);
  assert_null(strstr(c.err, ARE_IDENTICAL));
  shell(&c, "cp in/a02.pgm in/a20.pgm");
  command_do(&c, RUN);
  check_says(c.err, "2 " ARE_IDENTICAL);
  check_says(c.err, "in/a02.pgm = in/a20.pgm");
  assert_null(strstr(c.err, IDENTICAL_DIFFER));
  shell(&c, "cp in/a03.pgm in/a04.pgm && cp in/a05.pgm in/a07.pgm");
  command_do(&c, RUN);
  check_says(c.err, "6 " ARE_IDENTICAL);
  check_says(c.err, "2 " IDENTICAL_DIFFER ": in/a03.pgm = in/a04.pgm");
  command_end(&c);
}

/* Files of one size are compared, others and what is no file are not alike. */
static void images_of_the_same_bytes_are_found(void **state)
{
  static const char *const name[] = {"a", "b", "c", "d", "e", "gone", "gone"};
  static const char *const text[] = {"abc", "abd", "abc", "", "abc"};
  enum { N = 7 };
  char folder[64], room[N][128];
  const char *path[N];
  int64_t first[N];
  lapis_ctx *ctx = lapis_ctx_new();
  check_folder(folder, sizeof folder);
  for (int i = 0; i < N; i++) {
    snprintf(room[i], sizeof room[i], "%s/%s", folder, name[i]);
    path[i] = room[i];
    if (i < 5)
      assert_int_equal(lapis_file_write(ctx, path[i], text[i], strlen(text[i])),
                       0);
  }
  assert_int_equal(lapis_image_twins(ctx, path, N, first), LAPIS_OK);
  for (int i = 0; i < N; i++)
    assert_int_equal(first[i], i == 2 || i == 4 ? 0 : i);
  for (int i = 0; i < 5; i++) unlink(path[i]);
  rmdir(folder);
  lapis_ctx_free(ctx);
}

int test_twins(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(identical_images_are_told),
      cmocka_unit_test(images_of_the_same_bytes_are_found)};
  return run_cases(tests, NULL, NULL);
}
