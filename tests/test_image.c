/* test_image.c - pictures: PNM by hand, PNG there and back, what other
 * programs wrote, turned cameras, and files cut short at every byte. */
#include "files.h"
#include "lapis/lapis_image.h"
#include "vision/turn.h"

static bool built(const char *name)
{
  for (int i = 0; lapis_image_format_at(i) != NULL; i++)
    if (strcmp(lapis_image_format_at(i)->name, name) == 0)
      return lapis_image_format_at(i)->built;
  fail_msg("no format %s", name);
  return false;
}

static void need(const char *name)
{
  if (built(name)) return;
  print_message("skipped: %s is not built in\n", name);
  skip();
}

/* ---- PNM ----------------------------------------------------------------*/
typedef struct sample {
  const char *text;
  size_t size; /* 0: a text */
  int64_t width, height, channels;
  double value[12];
} sample;
static const sample samples[] = {
    {"P1 3 2\n1 0 1\n001", 0, 3, 2, 1, {0, 1, 0, 1, 1, 0}},
    {"P1\n# a\n3#b\n2\n1 0 #c\n1001\n", 0, 3, 2, 1, {0, 1, 0, 1, 1, 0}},
    {"P2\n#c\n3 2\n10\n0 1 2\n3 5 10\n", 0, 3, 2, 1, {0, .1, .2, .3, .5, 1}},
    {"P3 1 2 4  0 1 2  3 4 0", 0, 1, 2, 3, {0, .25, .5, .75, 1, 0}},
    {"P4 9 2\n\x80\x80\x7f\x00", 11, 9, 2, 1, {0, 1, 1, 1, 1, 1, 1, 1, 0, 1}},
    {"P5 2 1 200\n\x00\x64", 13, 2, 1, 1, {0, .5}},
    {"P5 2 1 255 \x20\xff", 13, 2, 1, 1, {32 / 255., 1}},
    {"P5 2 1 1000\n\x00\x64\x03\xe8\n", 17, 2, 1, 1, {.1, 1}},
    {"P6 1 1\n3\n\x00\x01\x03", 12, 1, 1, 3, {0, 1 / 3., 1}},
    {"P6 1 1 65535 \x80\x00\xff\xff\x00\x00",
     19,
     1,
     1,
     3,
     {32768 / 65535., 1, 0}},
};

static const char *put(files *f, const char *name, const sample *s)
{
  size_t size = s->size > 0 ? s->size : strlen(s->text);
  return files_put(f, name, s->text, size);
}

static void pnm_is_read(void **state)
{
  files *f = *state;
  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
    const sample *s = &samples[i];
    lapis_image m;
    CHECK_OK(f, lapis_image_read(f->ctx, put(f, "a.pnm", s), &m));
    assert_int_equal(m.width, s->width);
    assert_int_equal(m.height, s->height);
    assert_int_equal(m.channels, s->channels);
    int64_t count = m.width * m.height * m.channels;
    for (int64_t k = 0; k < count && k < 10; k++)
      CHECK_NEAR((double)m.pixels[k], s->value[k], 1e-7);
    lapis_image_free(&m);
    assert_null(m.pixels);
  }
}

typedef struct refusal {
  const char *bytes;
  size_t size;
  const char *words;
} refusal;
static const refusal refusals[] = {
    {"", 0, "x.img: is empty"},
    {"P5 0 4 255\n", 0, "x.img: has no pixels (0 x 4)"},
    {"P5 50000 1 255\n", 0, "x.img: is too large, 50000 x 1 pixels; at most "},
    {"P5 30000 30000 255\n", 0, "x.img: is too large, 30000 x 30000"},
    {"P5 99999999999999999999 1 255\n", 0, "x.img: is too large"},
    {"P5 2 2 255\nabc", 0, "is cut short, 3 bytes of at least 4 for 2 x 2"},
    {"P5 2 1 65536\nabcdef", 0, "the largest value must be from 1 to 65535"},
    {"P5 2 1 0\nabcdef", 0, "the largest value must be from 1 to 65535"},
    {"P5 2 1 99\nad", 0, "byte 11: a value is above the largest"},
    {"P5 2 1 255\nabP5 2 1 255\nab", 0, "one image a file is read"},
    {"P5 2 -1 255\nab", 0, "byte 5: a number is wanted here"},
    {"P5 2", 0, "the file ends where a number is wanted"},
    {"P5 2 1 255", 0, "the file ends before its pixels"},
    {"P5 2 1 255ab", 0, "a blank is wanted before the pixels"},
    {"P2 2 1 9 1", 0, "is cut short, 1 bytes"},
    {"P2 2 1 9 11 ", 0, "a value is above the largest"},
    {"P2 2 1 9 1  ", 0, "the file ends where a number is wanted"},
    {"P1 2 1 12", 0, "0 or 1 is wanted here"},
    {"P7\nWIDTH 1\n", 0, "x.img: is a PAM image; PNG, JPEG and PNM"},
    {"GIF89a..........", 0, "is a GIF, which may be animated"},
    {"RIFF....WEBPVP8 ", 0, "is a WebP image, which may be animated"},
    {"MM\0*....", 8, "is a TIFF image"},
    {"a text", 0, "is no image that LAPIS knows; PNG, JPEG and PNM"},
};

static void bad_files_are_refused(void **state)
{
  files *f = *state;
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    const refusal *r = &refusals[i];
    lapis_image m;
    files_put(f, "x.img", r->bytes, r->size > 0 ? r->size : strlen(r->bytes));
    CHECK_REFUSED(f, lapis_image_read(f->ctx, f->path, &m), LAPIS_EFORMAT,
                  r->words);
    assert_null(m.pixels);
  }
  lapis_image m;
  CHECK_REFUSED(f, lapis_image_read(f->ctx, "/nowhere.png", &m), LAPIS_EIO,
                "/nowhere.png: cannot be opened");
  CHECK_REFUSED(f, lapis_image_read(f->ctx, f->folder, &m), LAPIS_EIO,
                "is a folder");
}

/* ---- PNG ----------------------------------------------------------------*/
static void png_comes_back(void **state)
{
  files *f = *state;
  uint64_t seed = 3;
  need("png");
  for (int channels = 1; channels <= 3; channels += 2) {
    float pixels[7 * 5 * 3];
    lapis_image m = {7, 5, channels, pixels}, back;
    for (int k = 0; k < 105; k++)
      pixels[k] = (float)(floor(256 * check_uniform(&seed)) / 255);
    const char *path = files_path(f, "a.png");
    CHECK_OK(f, lapis_image_write_png(f->ctx, &m, path));
    CHECK_OK(f, lapis_image_read(f->ctx, path, &back));
    assert_int_equal(back.width, 7);
    assert_int_equal(back.height, 5);
    assert_int_equal(back.channels, channels);
    assert_memory_equal(back.pixels, pixels, sizeof(float) * 35 * channels);
    lapis_image_free(&back);
  }
}

static void png_levels_are_the_nearest(void **state)
{
  files *f = *state;
  need("png");
  float pixels[] = {-1, NAN, 2, .4999f / 255, .5001f / 255};
  const double wanted[] = {0, 0, 1, 0, 1 / 255.};
  lapis_image m = {5, 1, 1, pixels}, back;
  const char *path = files_path(f, "a.png");
  CHECK_OK(f, lapis_image_write_png(f->ctx, &m, path));
  CHECK_OK(f, lapis_image_read(f->ctx, path, &back));
  for (int k = 0; k < 5; k++)
    CHECK_NEAR((double)back.pixels[k], wanted[k], 1e-7);
  lapis_image_free(&back);
  m.channels = 2;
  CHECK_REFUSED(f, lapis_image_write_png(f->ctx, &m, path), LAPIS_ESHAPE,
                "2 channels; some pixels and 1 or 3 channels are wanted");
}

/* ---- cut short at every byte --------------------------------------------*/
static void check_cuts(files *f, const unsigned char *whole, size_t size)
{
  for (size_t n = 0; n < size; n++) {
    lapis_image m;
    files_put(f, "cut", whole, n);
    CHECK_REFUSED(f, lapis_image_read(f->ctx, f->path, &m), LAPIS_EFORMAT,
                  "/cut: ");
    assert_null(m.pixels);
  }
}

static void cut_files_are_refused(void **state)
{
  files *f = *state;
  check_cuts(f, (const unsigned char *)samples[6].text, samples[6].size);
  check_cuts(f, (const unsigned char *)samples[9].text, samples[9].size);
  if (!built("png")) return;
  float pixels[12] = {0, .5f, 1, .25f};
  lapis_image m = {2, 2, 3, pixels};
  size_t size;
  unsigned char *whole;
  CHECK_OK(f, lapis_image_encode_png(f->ctx, &m, &whole, &size));
  check_cuts(f, whole, size);
  free(whole);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(pnm_is_read, files_setup, files_teardown),
      cmocka_unit_test_setup_teardown(bad_files_are_refused, files_setup,
                                      files_teardown),
      cmocka_unit_test_setup_teardown(png_comes_back, files_setup,
                                      files_teardown),
      cmocka_unit_test_setup_teardown(png_levels_are_the_nearest, files_setup,
                                      files_teardown),
      cmocka_unit_test_setup_teardown(cut_files_are_refused, files_setup,
                                      files_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
