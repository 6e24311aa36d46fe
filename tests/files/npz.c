/* npz.c - .npz archives: honest ones are read, lying ones refused. */
#include "files.h"
#include "files/io.h"

/* ---- archives by hand, so that they can lie -----------------------------*/
static uint32_t crc_of(const void *data, size_t size)
{
  const unsigned char *s = data;
  uint32_t crc = 0xffffffff;
  for (size_t i = 0; i < size; i++) {
    crc ^= s[i];
    for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

typedef struct entry {
  const char *name;
  bytes data; /* as stored in the archive */
  uint64_t size;
  uint32_t crc;
  int method, flags;
  bool zip64;
  size_t offset; /* set by add_local */
} entry;

static entry stored(const char *name, const bytes *content)
{
  return (entry){.name = name,
                 .data = *content,
                 .size = content->size,
                 .crc = crc_of(content->at, content->size)};
}

/* Deflate's own uncompressed blocks need no compressor. */
static entry deflated(const char *name, const bytes *content)
{
  entry e = stored(name, content);
  e.method = 8;
  e.data.size = 0;
  bytes_number(&e.data, 1, 1);
  bytes_number(&e.data, content->size, 2);
  bytes_number(&e.data, ~content->size, 2);
  bytes_add(&e.data, content->at, content->size);
  return e;
}

static void add_fields(bytes *b, const entry *e)
{
  bytes_number(b, e->zip64 ? 45 : 20, 2);
  bytes_number(b, (uint64_t)e->flags, 2);
  bytes_number(b, (uint64_t)e->method, 2);
  bytes_number(b, 0x00210000, 4);
  bytes_number(b, e->crc, 4);
  bytes_number(b, e->zip64 ? 0xffffffff : e->data.size, 4);
  bytes_number(b, e->zip64 ? 0xffffffff : e->size, 4);
  bytes_number(b, strlen(e->name), 2);
  bytes_number(b, e->zip64 ? 20 : 0, 2);
}

static void add_name(bytes *b, const entry *e)
{
  bytes_add(b, e->name, strlen(e->name));
  if (!e->zip64) return;
  bytes_number(b, 1, 2);
  bytes_number(b, 16, 2);
  bytes_number(b, e->size, 8);
  bytes_number(b, e->data.size, 8);
}

static void add_local(bytes *b, entry *e)
{
  e->offset = b->size;
  bytes_add(b, "PK\x03\x04", 4);
  add_fields(b, e);
  add_name(b, e);
  bytes_add(b, e->data.at, e->data.size);
}

static void add_central(bytes *b, const entry *e)
{
  bytes_add(b, "PK\x01\x02", 4);
  bytes_number(b, 20, 2);
  add_fields(b, e);
  bytes_number(b, 0, 2 + 2 + 2 + 4);
  bytes_number(b, e->offset, 4);
  add_name(b, e);
}

static void add_end(bytes *b, size_t start, int count)
{
  size_t size = b->size - start;
  bytes_add(b, "PK\x05\x06\0\0\0\0", 8);
  bytes_number(b, (uint64_t)count, 2);
  bytes_number(b, (uint64_t)count, 2);
  bytes_number(b, size, 4);
  bytes_number(b, start, 4);
  bytes_number(b, 0, 2);
}

static bytes archive_of(entry *e, int count)
{
  bytes b = {.size = 0};
  for (int i = 0; i < count; i++) add_local(&b, &e[i]);
  size_t start = b.size;
  for (int i = 0; i < count; i++) add_central(&b, &e[i]);
  add_end(&b, start, count);
  return b;
}

static bytes small_array(void)
{
  return bytes_npy(1,
                   "{'descr': '<i2', 'fortran_order': False, "
                   "'shape': (3,), }\n",
                   "\x01\x00\x02\x00\x03\x00", 6);
}

static lapis_status read_bytes(files *f, const bytes *b, lapis_arrays *out)
{
  return lapis_arrays_read(f->ctx, files_put(f, "a.npz", b->at, b->size), out);
}

static void check_small(const lapis_array *a)
{
  assert_int_equal(a->mat.dtype, LAPIS_I64);
  assert_int_equal(a->mat.cols, 3);
  for (int i = 0; i < 3; i++) assert_true(lapis_mat_at(&a->mat, 0, i) == i + 1);
}

static void refuse(files *f, entry *e, int count, const char *words)
{
  lapis_arrays all;
  bytes b = archive_of(e, count);
  CHECK_REFUSED(f, read_bytes(f, &b, &all), LAPIS_EFORMAT, words);
  assert_null(all.item);
}

/* ---- honest -------------------------------------------------------------*/
static void honest_members_are_read(void **state)
{
  files *f = *state;
  lapis_arrays all;
  bytes array = small_array(), note = {.size = 4, .at = "text"};
  entry e[] = {stored("X.npy", &array), deflated("Y.npy", &array),
               stored("notes.txt", &note), stored("Z.npy", &array)};
  e[3].zip64 = true;
  bytes b = archive_of(e, 4);
  CHECK_OK(f, read_bytes(f, &b, &all));
  assert_int_equal(all.count, 3);
  assert_string_equal(all.item[2].name, "Z");
  for (int i = 0; i < 3; i++) check_small(&all.item[i]);
  assert_ptr_equal(lapis_arrays_find(&all, "Y"), &all.item[1]);
  assert_null(lapis_arrays_find(&all, "y"));
  lapis_arrays_free(&all);
}

static void empty_archive_has_no_members(void **state)
{
  files *f = *state;
  lapis_arrays all;
  bytes b = archive_of(NULL, 0);
  CHECK_OK(f, read_bytes(f, &b, &all));
  assert_int_equal(all.count, 0);
  lapis_arrays_free(&all);
}

/* ---- lies ---------------------------------------------------------------*/
static void wrong_checksum_is_refused(void **state)
{
  bytes array = small_array();
  entry e = stored("X.npy", &array);
  e.crc ^= 1;
  refuse(*state, &e, 1, "X");
  e = deflated("X.npy", &array);
  e.crc ^= 1;
  refuse(*state, &e, 1, "X");
}

static void impossible_sizes_are_refused(void **state)
{
  bytes array = small_array();
  entry e = deflated("X.npy", &array);
  e.size = 1032 * (e.data.size + 1) + 1;
  refuse(*state, &e, 1, "");
  e.zip64 = true;
  e.size = (uint64_t)1 << 62;
  refuse(*state, &e, 1, "");
  e.size = UINT64_MAX;
  refuse(*state, &e, 1, "");
  e = stored("X.npy", &array);
  e.size++;
  refuse(*state, &e, 1, "");
}

/* The header believes the size the archive claims; the bytes do not come. */
static void missing_bytes_are_refused(void **state)
{
  bytes array = bytes_npy(1,
                          "{'descr': '|u1', 'fortran_order': False, "
                          "'shape': (1000,), }\n",
                          "12345678", 8);
  entry e = deflated("X.npy", &array);
  e.size += 992;
  refuse(*state, &e, 1, "X");
  array = small_array();
  array.size++;
  e = deflated("X.npy", &array);
  e.size--;
  refuse(*state, &e, 1, "X");
}

static void strange_members_are_refused(void **state)
{
  bytes array = small_array();
  entry e = stored("X.npy", &array);
  e.flags = 1;
  refuse(*state, &e, 1, "");
  e.flags = 0;
  e.method = 14;
  refuse(*state, &e, 1, "14");
  entry twice[] = {stored("X.npy", &array), stored("X.npy", &array)};
  refuse(*state, twice, 2, "X.npy");
  bytes junk = {.size = 8, .at = "no array"};
  e = stored("X.npy", &junk);
  refuse(*state, &e, 1, "X .npy");
}

/* Many members over the same bytes multiply what a small file claims. */
static void shared_bytes_are_refused(void **state)
{
  files *f = *state;
  bytes array = small_array(), b = {.size = 0};
  entry e = stored("X.npy", &array);
  char name[] = "A.npy";
  lapis_arrays all;
  memset(array.at + array.size, 0, 10);
  add_local(&b, &e);
  size_t start = b.size;
  for (int i = 0; i < 20; i++) {
    name[0] = (char)('A' + i);
    e.name = name;
    add_central(&b, &e);
  }
  add_end(&b, start, 20);
  assert_true(read_bytes(f, &b, &all) == LAPIS_EFORMAT);
}

static void every_truncation_is_refused(void **state)
{
  files *f = *state;
  bytes array = small_array();
  entry e[] = {stored("X.npy", &array), deflated("Y.npy", &array)};
  bytes whole = archive_of(e, 2);
  for (size_t size = 0; size < whole.size; size++) {
    lapis_arrays all;
    bytes b = whole;
    b.size = size;
    assert_true(read_bytes(f, &b, &all) == LAPIS_EFORMAT);
  }
}

/* Refused, or read right: a checksum guards the data, but not dates. */
static void flipped_bytes_do_no_harm(void **state)
{
  files *f = *state;
  bytes array = small_array();
  entry e[] = {stored("X.npy", &array), deflated("Y.npy", &array)};
  bytes whole = archive_of(e, 2);
  for (size_t at = 0; at < whole.size; at++)
    for (int bit = 0; bit < 8; bit++) {
      lapis_arrays all;
      bytes b = whole;
      b.at[at] ^= (unsigned char)(1 << bit);
      if (read_bytes(f, &b, &all) != LAPIS_OK) continue;
      for (int i = 0; i < all.count; i++) check_small(&all.item[i]);
      lapis_arrays_free(&all);
    }
}

static void objects_are_never_loaded(void **state)
{
  files *f = *state;
  bytes array = small_array();
  bytes object = bytes_npy(1,
                           "{'descr': '|O', 'fortran_order': False, "
                           "'shape': (1,), }\n",
                           "\x80\x04N.", 4);
  entry e[] = {stored("X.npy", &array), stored("note.npy", &object)};
  refuse(f, e, 2, "");
  /* a dataset does not look at members it does not know */
  lapis_dataset *ds;
  CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
  CHECK_OK(f, lapis_dataset_read(ds, f->path, NULL));
  CHECK_OK(f, lapis_dataset_finish(ds));
  assert_int_equal(lapis_dataset_data(ds)->X.cols, 3);
  lapis_dataset_free(ds);
}

/* ---- writing ------------------------------------------------------------*/
static void what_is_written_is_read(void **state)
{
  files *f = *state;
  lapis_arrays all;
  double x[] = {1.5, NAN, INFINITY, -0.0, 5, 6, 7, 8, 9};
  float y[] = {1, 2};
  const char *names[] = {"one", "zwei", "\xe4\xb8\x89"};
  lapis_named item[] = {
      {.name = "X", .mat = {LAPIS_F64, 2, 3, 3, x, NULL, NULL}},
      {.name = "Y", .mat = {LAPIS_F32, 1, 2, 1, y, NULL, NULL}, .flat = true},
      {.name = "names", .mat = lapis_mat_text(names, 1, 3)}};
  CHECK_OK(f,
           lapis_arrays_write(f->ctx, files_path(f, "a.npz"), "npz", item, 3));
  CHECK_OK(f, lapis_arrays_read(f->ctx, f->path, &all));
  assert_int_equal(all.count, 3);
  assert_memory_equal(all.item[0].mat.val, x, 16);
  assert_memory_equal((double *)all.item[0].mat.val + 2, x + 3, 16);
  assert_int_equal(all.item[0].shape[0], 3);
  assert_int_equal(all.item[1].axes, 1);
  assert_memory_equal(all.item[1].mat.val, y, sizeof y);
  for (int i = 0; i < 3; i++)
    assert_string_equal(((char **)all.item[2].mat.val)[i], names[i]);
  lapis_arrays_free(&all);
  assert_int_equal(files_count(f, false), 1);
}

/* ---- mapped -------------------------------------------------------------*/
enum { WIDE = 500, LONG = 600 }; /* 1.2 MB of floats */

static float *many(void)
{
  float *x = malloc(WIDE * LONG * sizeof *x);
  for (int k = 0; k < WIDE * LONG; k++) x[k] = (float)(k % 977) / 7;
  return x;
}

/* A member's name decides at which byte its values begin. */
static void large_stored_members_are_mapped(void **state)
{
  files *f = *state;
  static const char *const names[] = {"X", "Xy", "Xyz", "some"};
  float *x = many(), small = 1;
  bool aligned = false, any = false;
  for (int k = 0; k < 4; k++) {
    lapis_arrays all;
    lapis_named item[] = {
        {.name = "Y", .mat = lapis_mat_f32(&small, 1, 1)},
        {.name = names[k], .mat = lapis_mat_f32(x, WIDE, LONG)}};
    CHECK_OK(
        f, lapis_arrays_write(f->ctx, files_path(f, "a.npz"), "npz", item, 2));
    CHECK_OK(f, lapis_arrays_read(f->ctx, f->path, &all));
    const lapis_array *a = &all.item[1];
    aligned |= a->kind == IO_MAPPED;
    assert_int_equal(all.item[0].kind, IO_HEAP);
    assert_true((uintptr_t)a->mat.val % sizeof(float) == 0);
    assert_memory_equal(a->mat.val, x, WIDE * LONG * sizeof *x);
    lapis_arrays_free(&all);
    lapis_dataset *ds;
    char spec[600];
    snprintf(spec, sizeof spec, "%s:%s", f->path, names[k]);
    CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
    CHECK_OK(f, lapis_dataset_read_member(ds, "X", spec, NULL));
    lapis_dataset_keep_f32(ds);
    CHECK_OK(f, lapis_dataset_finish(ds));
    const lapis_mat *X = &lapis_dataset_data(ds)->X;
    any |= (uintptr_t)X->val % sizeof(float) != 0; /* only a map can be so */
    assert_int_equal(X->dtype, LAPIS_F32);
    assert_int_equal(lapis_mat_missing(X), 0);
    for (int i = 0; i < WIDE * LONG; i++)
      assert_true(lapis_mat_at(X, i % WIDE, i / WIDE) == (double)x[i]);
    lapis_dataset_free(ds);
  }
  assert_true(aligned && any);
  free(x);
}

/* What says where the values lie may lie itself: then they are copied, or
 * refused, and never others. */
static void a_false_place_is_not_believed(void **state)
{
  files *f = *state;
  float *x = many();
  size_t size;
  lapis_named item = {.name = "some", .mat = lapis_mat_f32(x, WIDE, LONG)};
  CHECK_OK(f,
           lapis_arrays_write(f->ctx, files_path(f, "a.npz"), "npz", &item, 1));
  unsigned char *whole = files_get(f->path, &size);
  int refused = 0, read = 0;
  for (size_t k = 0; k < 240; k++) {
    size_t at = k < 60 ? k : size - 240 + k;
    lapis_arrays all;
    whole[at] ^= 4;
    const char *path = files_put(f, "b.npz", whole, size);
    lapis_status s = lapis_arrays_read(f->ctx, path, &all);
    whole[at] ^= 4;
    refused += s < 0;
    if (s < 0) continue;
    for (int i = 0; i < all.count; i++)
      assert_memory_equal(all.item[i].mat.val, x, WIDE * LONG * sizeof *x);
    read++;
    lapis_arrays_free(&all);
  }
  assert_true(refused > 0 && read > 0);
  whole[size / 2] ^= 1;
  lapis_arrays all;
  CHECK_REFUSED(
      f, lapis_arrays_read(f->ctx, files_put(f, "b.npz", whole, size), &all),
      LAPIS_EFORMAT, "");
  free(whole);
  free(x);
}

static void equal_arrays_give_equal_files(void **state)
{
  files *f = *state;
  double x[] = {1, 2, 3};
  lapis_named item = {.name = "X", .mat = lapis_mat_f64(x, 3, 1)};
  unsigned char *content[2];
  size_t size[2];
  for (int i = 0; i < 2; i++) {
    (void)setenv("TZ", i == 0 ? "UTC" : "Asia/Tokyo", 1);
    CHECK_OK(
        f, lapis_arrays_write(f->ctx, files_path(f, "a.npz"), "npz", &item, 1));
    content[i] = files_get(f->path, &size[i]);
  }
  assert_int_equal(size[0], size[1]);
  assert_memory_equal(content[0], content[1], size[0]);
  free(content[0]);
  free(content[1]);
}

static void bad_names_are_refused(void **state)
{
  files *f = *state;
  double x[] = {1};
  lapis_named item[] = {{.name = "X", .mat = lapis_mat_f64(x, 1, 1)},
                        {.name = "X", .mat = lapis_mat_f64(x, 1, 1)}};
  files_path(f, "a.npz");
  CHECK_REFUSED(f, lapis_arrays_write(f->ctx, f->path, "npz", item, 2),
                LAPIS_EINVAL, "X");
  item[1].name = "";
  CHECK_REFUSED(f, lapis_arrays_write(f->ctx, f->path, "npz", item, 2),
                LAPIS_EINVAL, "2");
  CHECK_REFUSED(f, lapis_arrays_write(f->ctx, f->path, "npz", item, 0),
                LAPIS_EINVAL, "");
  assert_int_equal(files_count(f, false), 0);
}

/* ---- files made by others -----------------------------------------------*/
/* Reads FOLDER/NAME/(*.npz); returns how many. */
static int read_archives(files *f, const char *folder, const char *name)
{
  char path[1024];
  int count = 0;
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  DIR *d = opendir(path);
  if (d == NULL) return 0;
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    lapis_arrays all;
    size_t size = strlen(e->d_name);
    if (size < 4 || strcmp(e->d_name + size - 4, ".npz") != 0) continue;
    (void)snprintf(path, sizeof path, "%s/%s/%s", folder, name, e->d_name);
    CHECK_OK(f, lapis_arrays_read(f->ctx, path, &all));
    /* a case may have no expected arrays, but has data */
    assert_true(all.count > 0 || strcmp(e->d_name, "expected.npz") == 0);
    lapis_arrays_free(&all);
    count++;
  }
  (void)closedir(d);
  return count;
}

static int read_folders(files *f, const char *folder)
{
  int count = 0;
  DIR *d = opendir(folder);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d)) != NULL;)
    if (e->d_name[0] != '.') count += read_archives(f, folder, e->d_name);
  (void)closedir(d);
  return count;
}

static void fixtures_are_read(void **state)
{
  assert_true(read_folders(*state, check_fixtures()) >= 40);
}

static void real_data_is_read(void **state)
{
  assert_true(read_folders(*state, check_data()) >= 10);
}

#define FILES_TEST(t) \
  cmocka_unit_test_setup_teardown(t, files_setup, files_teardown)

int test_npz(void)
{
  const struct CMUnitTest tests[] = {
      FILES_TEST(honest_members_are_read),
      FILES_TEST(empty_archive_has_no_members),
      FILES_TEST(wrong_checksum_is_refused),
      FILES_TEST(impossible_sizes_are_refused),
      FILES_TEST(missing_bytes_are_refused),
      FILES_TEST(strange_members_are_refused),
      FILES_TEST(shared_bytes_are_refused),
      FILES_TEST(every_truncation_is_refused),
      FILES_TEST(flipped_bytes_do_no_harm),
      FILES_TEST(objects_are_never_loaded),
      FILES_TEST(what_is_written_is_read),
      FILES_TEST(large_stored_members_are_mapped),
      FILES_TEST(a_false_place_is_not_believed),
      FILES_TEST(equal_arrays_give_equal_files),
      FILES_TEST(bad_names_are_refused),
      FILES_TEST(fixtures_are_read),
      FILES_TEST(real_data_is_read),
  };
  return run_cases(tests, NULL, NULL);
}
