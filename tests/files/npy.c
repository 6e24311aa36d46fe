/* npy.c - .npy files: what numpy writes is read, what lies is refused. */
#include "files.h"
#include "files/io.h"

static lapis_status read_bytes(files *f, const bytes *b, lapis_arrays *out)
{
  return lapis_arrays_read(f->ctx, files_put(f, "a.npy", b->at, b->size), out);
}

/* ---- types --------------------------------------------------------------*/
typedef struct type_case {
  const char *descr;
  size_t size;
  unsigned char raw[16]; /* two entries */
  lapis_dtype dtype;
  double first, second;
} type_case;

static const type_case types[] = {
    {"<f2", 4, {0x00, 0x3e, 0x01, 0x80}, LAPIS_F32, 1.5, -0x1p-24},
    {">f2", 4, {0xfc, 0x00, 0x7b, 0xff}, LAPIS_F32, -INFINITY, 65504},
    {"<f4", 8, {0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0}, LAPIS_F32, 1.5, -2},
    {">f4", 8, {0x3f, 0xc0, 0, 0, 0xc0, 0, 0, 0}, LAPIS_F32, 1.5, -2},
    {"<f8",
     16,
     {0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0},
     LAPIS_F64,
     1.5,
     -2},
    {">f8",
     16,
     {0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0},
     LAPIS_F64,
     1.5,
     -2},
    {"|i1", 2, {0x80, 0x7f}, LAPIS_I64, -128, 127},
    {"<i2", 4, {0xfe, 0xff, 0x00, 0x01}, LAPIS_I64, -2, 256},
    {">i2", 4, {0xff, 0xfe, 0x01, 0x00}, LAPIS_I64, -2, 256},
    {"<i4", 8, {0xfe, 0xff, 0xff, 0xff, 1, 0, 0, 0}, LAPIS_I64, -2, 1},
    {">i8",
     16,
     {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 0, 0, 0, 1, 0},
     LAPIS_I64,
     -2,
     256},
    {"|u1", 2, {200, 7}, LAPIS_U8, 200, 7},
    {"<u2", 4, {0xff, 0xff, 1, 0}, LAPIS_I64, 65535, 1},
    {">u4", 8, {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1}, LAPIS_I64, 4294967295., 1},
    {"<u8",
     16,
     {0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0},
     LAPIS_I64,
     4294967296.,
     3},
    {"|b1", 2, {0, 5}, LAPIS_U8, 0, 1},
};

static void every_type_is_read(void **state)
{
  files *f = *state;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    char dictionary[128];
    lapis_arrays all;
    (void)snprintf(dictionary, sizeof dictionary,
                   "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }\n",
                   types[i].descr);
    bytes b =
        bytes_npy(1 + (int)i % 3, dictionary, types[i].raw, types[i].size);
    CHECK_OK(f, read_bytes(f, &b, &all));
    const lapis_mat *m = &all.item[0].mat;
    assert_string_equal(all.item[0].name, "a");
    assert_string_equal(all.item[0].stored, types[i].descr);
    assert_int_equal(m->dtype, types[i].dtype);
    assert_int_equal(m->rows, 1);
    assert_int_equal(m->cols, 2);
    assert_true(lapis_mat_at(m, 0, 0) == types[i].first);
    assert_true(lapis_mat_at(m, 0, 1) == types[i].second);
    lapis_arrays_free(&all);
  }
}

static void text_is_read_as_utf8(void **state)
{
  files *f = *state;
  lapis_arrays all;
  bytes data = {.size = 0};
  const uint32_t points[] = {'a', 0, 0, 0xe9, 0x1d518, 0x65e5};
  for (int i = 0; i < 6; i++) bytes_number(&data, points[i], 4);
  bytes b = bytes_npy(1,
                      "{'descr': '<U3', 'fortran_order': False, "
                      "'shape': (2,), }\n",
                      data.at, data.size);
  CHECK_OK(f, read_bytes(f, &b, &all));
  const char *const *text = all.item[0].mat.val;
  assert_int_equal(all.item[0].mat.dtype, LAPIS_TEXT);
  assert_string_equal(text[0], "a");
  assert_string_equal(text[1], "\xc3\xa9\xf0\x9d\x94\x98\xe6\x97\xa5");
  lapis_arrays_free(&all);
}

/* ---- order --------------------------------------------------------------*/
/* Entry (i, j, k) of a 2 x 3 x 4 array is 100 i + 10 j + k, written with the
 * first axis fastest. */
static void fortran_order_is_turned(void **state)
{
  files *f = *state;
  lapis_arrays all;
  bytes data = {.size = 0};
  for (unsigned k = 0; k < 4; k++)
    for (unsigned j = 0; j < 3; j++)
      for (unsigned i = 0; i < 2; i++)
        bytes_number(&data, 100 * i + 10 * j + k, 2);
  bytes b = bytes_npy(1,
                      "{'descr': '<i2', 'fortran_order': True, "
                      "'shape': (2, 3, 4), }\n",
                      data.at, data.size);
  CHECK_OK(f, read_bytes(f, &b, &all));
  const lapis_array *a = &all.item[0];
  assert_int_equal(a->axes, 3);
  assert_int_equal(a->mat.rows, 12);
  assert_int_equal(a->mat.cols, 2);
  for (int i = 0; i < 2; i++)
    for (int r = 0; r < 12; r++)
      assert_true(lapis_mat_at(&a->mat, r, i) ==
                  100 * i + 10 * (r / 4) + r % 4);
  lapis_arrays_free(&all);
}

static void aligned_doubles_are_mapped(void **state)
{
  files *f = *state;
  double value[12];
  lapis_arrays all;
  for (int i = 0; i < 12; i++) value[i] = i / 7.0;
  lapis_named item = {.name = "a", .mat = lapis_mat_f64(value, 3, 4)};
  CHECK_OK(f,
           lapis_arrays_write(f->ctx, files_path(f, "a.npy"), "npy", &item, 1));
  CHECK_OK(f, lapis_arrays_read(f->ctx, f->path, &all));
  assert_int_equal(all.item[0].kind, IO_MAPPED);
  assert_int_equal((uintptr_t)all.item[0].mat.val % 64, 0);
  assert_memory_equal(all.item[0].mat.val, value, sizeof value);
  assert_int_equal(all.item[0].mat.rows, 3);
  assert_int_equal(all.item[0].mat.cols, 4);
  lapis_arrays_free(&all);
}

/* ---- headers ------------------------------------------------------------*/
static void other_spellings_are_read(void **state)
{
  static const char *const good[] = {
      "{'shape': (2, 1), 'fortran_order': False, 'descr': '<i2'}",
      "{\"descr\":\"<i2\",\"fortran_order\":False,\"shape\":(2,1)}",
      " { 'descr' : '<i2' , 'shape' : ( 2 , 1 , ) , 'fortran_order' : True ,} ",
      "{'descr': '<i2', 'fortran_order': False, 'shape': (2L,)}   \n",
      "{'descr': '<i2', 'fortran_order': False, 'shape': (1, 2), }"};
  files *f = *state;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    lapis_arrays all;
    bytes b = bytes_npy(1, good[i], "\x01\x00\x02\x00", 4);
    CHECK_OK(f, read_bytes(f, &b, &all));
    assert_int_equal(all.item[0].mat.rows * all.item[0].mat.cols, 2);
    lapis_arrays_free(&all);
  }
}

typedef struct bad_case {
  const char *dictionary, *words;
} bad_case;

#define BEFORE "{'descr': '<f8', 'fortran_order': False, 'shape': "
static const bad_case bad[] = {
    {BEFORE "(1, 2)}", "is cut short: its shape needs 16 bytes, 8 are there"},
    {BEFORE "()", "a comma or '}' is needed"},
    {BEFORE "(0,)}", "8 bytes follow the 0 of its shape"},
    {BEFORE "(-1,)}", "negative"},
    {BEFORE "(1)}", "a comma is needed"},
    {BEFORE "(1 1)}", "a comma is needed"},
    {BEFORE "(,)}", "the length of an axis is needed"},
    {BEFORE "(1.0,)}", "a comma is needed"},
    {BEFORE "[1]}", "needs a tuple"},
    {BEFORE "(9223372036854775808,)}", "beyond 2^63 - 1"},
    {BEFORE "(9223372036854775807,)}", "more than 2^63 bytes"},
    {BEFORE "(4294967296, 4294967296)}", "more than 2^63 bytes"},
    {BEFORE "(0, 4294967296, 4294967296)}", "more than 2^63 bytes"},
    {BEFORE "(1, 1, 1, 1, 1, 1, 1, 1, 1)}", "more than 8 axes"},
    {BEFORE "(1,)", "a comma or '}' is needed"},
    {BEFORE "(1,)} 0", "something follows"},
    {BEFORE "(1,", "the length of an axis is needed"},
    {BEFORE, "needs a tuple"},
    {BEFORE "(1,), 'shape': (1,)}", "once each"},
    {BEFORE "(1,), 'more': 1}", "once each"},
    {"", "'{' is needed"},
    {"[]", "'{' is needed"},
    {"{}", "are all needed"},
    {"{'descr': '<f8', 'shape': (1,)}", "are all needed"},
    {"{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}", "True or False"},
    {"{'descr': <f8, 'fortran_order': True, 'shape': (1,)}", "such as '<f8'"},
    {"{'descr': '<f8, 'fortran_order': True, 'shape': (1,)}", "header"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
     "holds Python objects (pickle), which LAPIS never loads; save it with a "
     "numeric dtype"},
    {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}",
     "records of several fields"},
    {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "not read"},
    {"{'descr': '<f16', 'fortran_order': False, 'shape': (1,)}", "not read"},
    {"{'descr': '<i3', 'fortran_order': False, 'shape': (1,)}", "not read"},
    {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,)}", "not read"},
    {"{'descr': 'f8', 'fortran_order': False, 'shape': (1,)}", "not read"},
    {"{'descr': '', 'fortran_order': False, 'shape': (1,)}", "not read"},
    {"{'descr': '<U99999999999', 'fortran_order': False, 'shape': (1,)}",
     "not read"},
};

static void bad_headers_are_refused(void **state)
{
  files *f = *state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    lapis_arrays all;
    bytes b = bytes_npy(1, bad[i].dictionary, "12345678", 8);
    CHECK_REFUSED(f, read_bytes(f, &b, &all), LAPIS_EFORMAT, bad[i].words);
    assert_null(all.item);
  }
}

static void bad_beginnings_are_refused(void **state)
{
  files *f = *state;
  lapis_arrays all;
  bytes b = bytes_npy(1, BEFORE "(1,)}", "12345678", 8);
  b.at[6] = 4;
  CHECK_REFUSED(f, read_bytes(f, &b, &all), LAPIS_EFORMAT, "4.0");
  b.at[6] = 1;
  b.at[8] = 0xff;
  b.at[9] = 0xff;
  CHECK_REFUSED(f, read_bytes(f, &b, &all), LAPIS_EFORMAT, "");
  b.at[6] = 2;
  b.at[11] = 0xff;
  CHECK_REFUSED(f, read_bytes(f, &b, &all), LAPIS_EFORMAT, "");
  b = bytes_npy(1,
                "{'descr': '|S0', 'fortran_order': False, 'shape': "
                "(99999999,)}",
                "", 0);
  CHECK_REFUSED(f, read_bytes(f, &b, &all), LAPIS_EFORMAT, "0");
  b = bytes_npy(1, "{'descr': '<u8', 'fortran_order': False, 'shape': (1,)}",
                "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  CHECK_REFUSED(f, read_bytes(f, &b, &all), LAPIS_EDATA, "2^63 1");
  b = bytes_npy(1, "{'descr': '<U1', 'fortran_order': False, 'shape': (1,)}",
                "\x00\xd8\x00\x00", 4);
  CHECK_REFUSED(f, read_bytes(f, &b, &all), LAPIS_EFORMAT, "");
}

/* A prefix of a file lacks something, whatever is cut off. */
static void every_truncation_is_refused(void **state)
{
  files *f = *state;
  bytes whole =
      bytes_npy(1, BEFORE "(3,), }\n", "123456781234567812345678", 24);
  for (size_t size = 0; size < whole.size; size++) {
    lapis_arrays all;
    bytes b = whole;
    b.size = size;
    lapis_status s = read_bytes(f, &b, &all);
    assert_true(s == LAPIS_EFORMAT);
    assert_true(strlen(lapis_ctx_error(f->ctx)) > 10);
  }
}

/* Any byte of the header may be wrong: refused, or an array as large as the
 * file says. */
static void flipped_bytes_do_no_harm(void **state)
{
  files *f = *state;
  bytes whole =
      bytes_npy(1, BEFORE "(2, 3), }\n",
                "123456781234567812345678123456781234567812345678", 48);
  for (size_t at = 0; at < whole.size - 48; at++)
    for (int bit = 0; bit < 8; bit++) {
      lapis_arrays all;
      bytes b = whole;
      b.at[at] ^= (unsigned char)(1 << bit);
      if (read_bytes(f, &b, &all) != LAPIS_OK) {
        assert_null(all.item);
        continue;
      }
      assert_true(all.item[0].mat.rows * all.item[0].mat.cols <= 48);
      lapis_arrays_free(&all);
    }
}

/* ---- writing ------------------------------------------------------------*/
static void padding_between_columns_is_left_out(void **state)
{
  files *f = *state;
  lapis_arrays all;
  int64_t value[] = {1, 2, -1, 3, 4, -1, 5, 6, -1};
  lapis_named item = {
      .name = "a",
      .mat = {.dtype = LAPIS_I64, .rows = 2, .cols = 3, .ld = 3, .val = value},
      .axes = 3,
      .shape = {3, 1, 2}};
  CHECK_OK(f,
           lapis_arrays_write(f->ctx, files_path(f, "a.npy"), "npy", &item, 1));
  CHECK_OK(f, lapis_arrays_read(f->ctx, f->path, &all));
  const int64_t dense[] = {1, 2, 3, 4, 5, 6};
  assert_int_equal(all.item[0].axes, 3);
  assert_int_equal(all.item[0].shape[2], 2);
  assert_memory_equal(all.item[0].mat.val, dense, sizeof dense);
  lapis_arrays_free(&all);
}

static void text_survives_writing(void **state)
{
  files *f = *state;
  lapis_arrays all;
  const char *text[] = {"", "two", "\xe6\x97\xa5", "\xf0\x9d\x94\x98x", "ld"};
  lapis_named item = {
      .name = "a", .mat = lapis_mat_text(text, 1, 4), .flat = true};
  CHECK_OK(f,
           lapis_arrays_write(f->ctx, files_path(f, "a.npy"), "npy", &item, 1));
  CHECK_OK(f, lapis_arrays_read(f->ctx, f->path, &all));
  assert_string_equal(all.item[0].stored, "<U3");
  assert_int_equal(all.item[0].axes, 1);
  for (int i = 0; i < 4; i++)
    assert_string_equal(((char **)all.item[0].mat.val)[i], text[i]);
  lapis_arrays_free(&all);
}

static void impossible_writes_are_refused(void **state)
{
  files *f = *state;
  double value[4] = {0};
  const char *latin[] = {"\xe9"};
  int64_t colptr[] = {0, 0};
  lapis_named item = {.name = "a", .mat = lapis_mat_f64(value, 2, 2)};
  files_path(f, "a.npy");
  item.axes = 2;
  CHECK_REFUSED(f, lapis_arrays_write(f->ctx, f->path, "npy", &item, 1),
                LAPIS_ESHAPE, "2");
  item.axes = 0;
  item.flat = true;
  CHECK_REFUSED(f, lapis_arrays_write(f->ctx, f->path, "npy", &item, 1),
                LAPIS_ESHAPE, "");
  item.flat = false;
  item.mat.colptr = colptr;
  CHECK_REFUSED(f, lapis_arrays_write(f->ctx, f->path, "npy", &item, 1),
                LAPIS_EMISSING, "");
  item.mat = lapis_mat_text(latin, 1, 1);
  CHECK_REFUSED(f, lapis_arrays_write(f->ctx, f->path, "npy", &item, 1),
                LAPIS_EINVAL, "UTF-8");
  assert_int_equal(files_count(f, false), 0);
}

/* ---- other files --------------------------------------------------------*/
static void strangers_are_named(void **state)
{
  static const struct {
    const char *bytes;
    size_t size;
    lapis_status status;
    const char *words;
  } stranger[] = {
      {"", 0, LAPIS_EFORMAT, "is empty"},
      {"\x1f\x8b\x08\x00", 4, LAPIS_EFORMAT, "gzip"},
      {"\x80\x04\x95\x00", 4, LAPIS_EFORMAT, "pickle"},
      {"\x89PNG\r\n\x1a\n", 8, LAPIS_EFORMAT, "is a picture"},
      {"\x89\x01\x02\x03", 4, LAPIS_EFORMAT, "lapis formats"},
      {"a,b\n1,2\n", 8, LAPIS_EFORMAT, "is text"},
  };
  files *f = *state;
  for (size_t i = 0; i < sizeof stranger / sizeof *stranger; i++) {
    lapis_arrays all;
    files_put(f, "a.npy", stranger[i].bytes, stranger[i].size);
    CHECK_REFUSED(f, lapis_arrays_read(f->ctx, f->path, &all),
                  stranger[i].status, stranger[i].words);
  }
  lapis_arrays all;
  CHECK_REFUSED(f, lapis_arrays_read(f->ctx, f->folder, &all), LAPIS_EIO, "");
  CHECK_REFUSED(f, lapis_arrays_read(f->ctx, "/nowhere/a.npy", &all), LAPIS_EIO,
                "");
}

#define FILES_TEST(t) \
  cmocka_unit_test_setup_teardown(t, files_setup, files_teardown)

int test_npy(void)
{
  const struct CMUnitTest tests[] = {
      FILES_TEST(every_type_is_read),
      FILES_TEST(text_is_read_as_utf8),
      FILES_TEST(fortran_order_is_turned),
      FILES_TEST(aligned_doubles_are_mapped),
      FILES_TEST(other_spellings_are_read),
      FILES_TEST(bad_headers_are_refused),
      FILES_TEST(bad_beginnings_are_refused),
      FILES_TEST(every_truncation_is_refused),
      FILES_TEST(flipped_bytes_do_no_harm),
      FILES_TEST(padding_between_columns_is_left_out),
      FILES_TEST(text_survives_writing),
      FILES_TEST(impossible_writes_are_refused),
      FILES_TEST(strangers_are_named),
  };
  return run_cases(tests, NULL, NULL);
}
