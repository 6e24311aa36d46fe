/* image.c - pictures: PNM by hand, PNG there and back, what other
 * programs wrote, turned cameras, and files cut short at every byte. */
#include <glob.h>

#include "files.h"
#include "images/image/image.h"
#include "images/image/orientation.h"
#include "lapis/images.h"
#include "python.h"

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
    {"P5 2 -1 255\nab", 0, "byte 5: a number is expected here"},
    {"P5 2", 0, "the file ends where a number is expected"},
    {"P5 2 1 255", 0, "the file ends before its pixels"},
    {"P5 2 1 255ab", 0, "a blank is needed before the pixels"},
    {"P2 2 1 9 1", 0, "is cut short, 1 bytes"},
    {"P2 2 1 9 11 ", 0, "a value is above the largest"},
    {"P2 2 1 9 1  ", 0, "the file ends where a number is expected"},
    {"P1 2 1 12", 0, "0 or 1 is expected here"},
    {"P7\nWIDTH 1\n", 0, "x.img: is a PAM image; PNG, JPEG and PNM"},
    {"GIF89a..........", 0, "is a GIF, which may be animated"},
    {"RIFF....WEBPVP8 ", 0, "is a WebP image, which may be animated"},
    {"MM\0*....", 8, "is a TIFF image"},
    {"a text", 0, "is not an image that LAPIS knows; PNG, JPEG and PNM"},
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
                "/nowhere.png");
  CHECK_REFUSED(f, lapis_image_read(f->ctx, f->folder, &m), LAPIS_EIO, "");
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
    CHECK_OK(f, image_write_png(f->ctx, &m, path));
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
  CHECK_OK(f, image_write_png(f->ctx, &m, path));
  CHECK_OK(f, lapis_image_read(f->ctx, path, &back));
  for (int k = 0; k < 5; k++)
    CHECK_NEAR((double)back.pixels[k], wanted[k], 1e-7);
  lapis_image_free(&back);
  m.channels = 2;
  CHECK_REFUSED(f, image_write_png(f->ctx, &m, path), LAPIS_ESHAPE, "2 1 3");
}

/* ---- JPEG: pixels 10 60 110 / 160 210 250 -------------------------------*/
static const char jpeg_grey[] =
    "ffd8ffe000104a46494600010100000100010000ffdb0043000101010101010101010101"
    "010101010101010101010101010101010101010101010101010101010101010101010101"
    "010101010101010101010101010101010101ffc0000b080002000301011100ffc4001400"
    "010000000000000000000000000000000affc4001f100002020201050000000000000000"
    "0000010203080711060004122131ffda0008010100003f005815429cd458ab8e1f48eabd"
    "708d1786f61e28983f19228dcb393a55e3000d9249d0f6493f4f5fffd9";
/* as four inks; cut after the head, which is all that is looked at */
static const char jpeg_ink[] =
    "ffd8ffee000e41646f626500640000000000ffdb00430001010101010101010101010101"
    "010101010101010101010101010101010101010101010101010101010101010101010101"
    "0101010101010101010101010101010101ffc000140800020003044311004d1100591100"
    "4b1100ffc4001500010100000000000000000000000000000a08ffc40021100002020201"
    "05010100000000000000000102030807110600041221310571ffda000e0443004d005900"
    "4b00003f0026ffd9";

static size_t from_hex(const char *hex, unsigned char *to)
{
  size_t size = strlen(hex) / 2;
  for (size_t k = 0; k < size; k++) {
    char two[3] = {hex[2 * k], hex[2 * k + 1], '\0'};
    to[k] = (unsigned char)strtoul(two, NULL, 16);
  }
  return size;
}

/* jpeg_grey with an APP1 segment behind its first marker. */
static const char *put_turned(files *f, const char *segment, size_t size)
{
  unsigned char grey[512];
  bytes b = {.size = 0};
  size_t n = from_hex(jpeg_grey, grey);
  unsigned char head[4] = {0xff, 0xe1, 0, (unsigned char)(size + 2)};
  bytes_add(&b, grey, 2);
  bytes_add(&b, head, 4);
  bytes_add(&b, segment, size);
  bytes_add(&b, grey + 2, n - 2);
  return files_put(f, "turned.jpg", b.at, b.size);
}

/* What is seen in each orientation, of A B C above D E F. */
static const char *const seen[] = {"ABC/DEF",  "CBA/FED",  "FED/CBA",
                                   "DEF/ABC",  "AD/BE/CF", "DA/EB/FC",
                                   "FC/EB/DA", "CF/BE/AD"};

static void check_seen(const lapis_image *m, const char *rows)
{
  static const double level[] = {10, 60, 110, 160, 210, 250};
  int64_t width = (int64_t)strcspn(rows, "/");
  assert_int_equal(m->width, width);
  assert_int_equal(m->height, 6 / width);
  assert_int_equal(m->channels, 1);
  for (int k = 0; k < 6; k++)
    CHECK_NEAR((double)m->pixels[k], level[rows[k + k / width] - 'A'] / 255,
               1e-6);
}

static void cameras_are_turned_back(void **state)
{
  files *f = *state;
  need("jpeg");
  char little[] = "Exif\0\0II*\0\x08\0\0\0\2\0"
                  "\x0f\1\2\0\1\0\0\0x\0\0\0"
                  "\x12\1\3\0\1\0\0\0\0\0\0\0";
  char big[] = "Exif\0\0MM\0*\0\0\0\x08\0\1"
               "\1\x12\0\3\0\0\0\1\0\0\0\0";
  for (int turn = 0; turn < 16; turn++) {
    lapis_image m;
    little[36] = big[25] = (char)(turn % 8 + 1);
    bool first = turn < 8;
    put_turned(f, first ? little : big,
               first ? sizeof little - 1 : sizeof big - 1);
    CHECK_OK(f, lapis_image_read(f->ctx, f->path, &m));
    check_seen(&m, seen[turn % 8]);
    lapis_image_free(&m);
  }
}

/* Every cut of the segment, and every byte of it changed: no read outside
 * (sanitizers), and an orientation from 1 to 8 or none. */
static void damaged_exif_is_no_orientation(void **state)
{
  const char whole[] = "Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0";
  for (size_t n = 0; n < sizeof whole - 1; n++) {
    unsigned char *cut = malloc(n + 1);
    int out = 0;
    memcpy(cut, whole, n);
    assert_false(exif_orientation(cut, (int64_t)n, &out));
    for (int v = 0; v < 256 && n > 0; v++) {
      cut[n - 1] = (unsigned char)v;
      assert_false(exif_orientation(cut, (int64_t)n, &out));
    }
    free(cut);
  }
  for (size_t k = 0; k < sizeof whole; k++)
    for (int v = 0; v < 256; v++) {
      unsigned char changed[sizeof whole + 1] = {0};
      int out = 1;
      memcpy(changed, whole, sizeof whole);
      changed[k] = (unsigned char)v;
      (void)exif_orientation(changed, sizeof changed, &out);
      assert_in_range(out, 1, 8);
    }
}

static void ink_is_refused(void **state)
{
  files *f = *state;
  unsigned char ink[512];
  lapis_image m;
  need("jpeg");
  size_t n = from_hex(jpeg_ink, ink);
  files_put(f, "ink.jpg", ink, n);
  CHECK_REFUSED(f, lapis_image_read(f->ctx, f->path, &m), LAPIS_EFORMAT,
                "ink.jpg");
}

/* ---- images that another program wrote ----------------------------------*/
static void ending(char *path, const char *with)
{
  strcpy(strrchr(path, '.'), with);
}

static void check_shown(files *f, const char *file)
{
  char path[600];
  lapis_image m;
  lapis_arrays all;
  (void)snprintf(path, sizeof path, "%s", file);
  CHECK_OK(f, lapis_image_read(f->ctx, path, &m));
  ending(path, ".npy");
  CHECK_OK(f, lapis_arrays_read(f->ctx, path, &all));
  const lapis_array *a = &all.item[0];
  const float *wanted = a->mat.val;
  assert_int_equal(a->axes, 3);
  assert_int_equal(m.height, a->shape[0]);
  assert_int_equal(m.width, a->shape[1]);
  if (m.channels != a->shape[2])
    fail_msg("%s: %d channels", file, (int)m.channels);
  for (int64_t k = 0; k < m.width * m.height * m.channels; k++)
    if (!(fabs((double)m.pixels[k] - (double)wanted[k]) <= 2e-7))
      fail_msg("%s: pixel %d is %g, %g wanted", file, (int)k,
               (double)m.pixels[k], (double)wanted[k]);
  lapis_arrays_free(&all);
  lapis_image_free(&m);
}

static void check_bad(files *f, const char *file)
{
  char path[600], words[256] = "";
  lapis_image m;
  (void)snprintf(path, sizeof path, "%s", file);
  ending(path, ".txt");
  FILE *in = fopen(path, "r");
  assert_non_null(in);
  assert_non_null(fgets(words, sizeof words, in));
  (void)fclose(in);
  CHECK_REFUSED(f, lapis_image_read(f->ctx, file, &m), LAPIS_EFORMAT, words);
  CHECK_REFUSED(f, lapis_image_read(f->ctx, file, &m), LAPIS_EFORMAT, file);
}

/* Every file with an ending; returns how many. */
static size_t each(files *f, const char *pattern,
                   void (*check)(files *f, const char *file))
{
  glob_t g;
  char path[600];
  (void)snprintf(path, sizeof path, "%s/%s", f->folder, pattern);
  if (glob(path, 0, NULL, &g) != 0) return 0;
  for (size_t i = 0; i < g.gl_pathc; i++) check(f, g.gl_pathv[i]);
  size_t count = g.gl_pathc;
  globfree(&g);
  return count;
}

static void other_programs_images_are_read(void **state)
{
  files *f = *state;
  need("png");
  python_need("numpy, PIL");
  python_run("write_images.py", f->folder);
  assert_int_equal(each(f, "*.png", check_shown), 50);
  assert_int_equal(each(f, "*.jpg", check_shown), 26);
  assert_int_equal(each(f, "*.bad", check_bad), 7);
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
  CHECK_OK(f, image_encode_png(f->ctx, &m, &whole, &size));
  check_cuts(f, whole, size);
  free(whole);
  unsigned char grey[512];
  check_cuts(f, grey, from_hex(jpeg_grey, grey));
}

int test_image(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(pnm_is_read, files_setup, files_teardown),
      cmocka_unit_test_setup_teardown(bad_files_are_refused, files_setup,
                                      files_teardown),
      cmocka_unit_test_setup_teardown(png_comes_back, files_setup,
                                      files_teardown),
      cmocka_unit_test_setup_teardown(png_levels_are_the_nearest, files_setup,
                                      files_teardown),
      cmocka_unit_test_setup_teardown(cameras_are_turned_back, files_setup,
                                      files_teardown),
      cmocka_unit_test_setup_teardown(ink_is_refused, files_setup,
                                      files_teardown),
      cmocka_unit_test_setup_teardown(other_programs_images_are_read,
                                      files_setup, files_teardown),
      cmocka_unit_test(damaged_exif_is_no_orientation),
      cmocka_unit_test_setup_teardown(cut_files_are_refused, files_setup,
                                      files_teardown),
  };
  return run_cases(tests, NULL, NULL);
}
