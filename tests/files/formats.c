/* formats.c - the same data through every format and back: equal bits.
 * Damaged files: refused with a sentence or read right, in bounded memory. */
#include <sys/resource.h>

#include "files.h"

enum { D = 5, N = 7 };
static const char *sample_names[N] = {
    "a", "b b", "c,d", "it's", "e\"f", "\xc3\xa9", "\xf0\x9d\x84\x9e"};
static const char *feature_names[D] = {"one", "two words", "f-3", "x'4", "V"};
static const char *classes[3] = {"cat", "dog", "old horse"};

/* Everything a format could lose: signs of 0, NaN, subnormal and huge numbers,
 * integers, an empty sample, an empty last feature. */
static void fill(double *X)
{
  uint64_t seed = 7;
  for (int k = 0; k < D * N; k++) {
    double size = pow(10, floor(600 * check_uniform(&seed)) - 300);
    X[k] = check_uniform(&seed) < .5 ? 0 : check_normal(&seed) * size;
  }
  for (int j = 0; j < N; j++) X[j * D + D - 1] = 0;
  for (int i = 0; i < D; i++) X[3 * D + i] = 0;
  X[0] = -0.0;
  X[1] = NAN;
  X[2] = 5e-324;
  X[D] = 1.7976931348623157e308;
  X[D + 1] = 123456789012345680.0;
  X[D + 2] = -3;
  X[D + 3] = 0.1;
}

static bool same_bits(double a, double b)
{
  return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void check_same(const lapis_mat *A, const lapis_mat *B, const char *what)
{
  if (A->rows != B->rows || A->cols != B->cols)
    fail_msg("%s: %d x %d", what, (int)B->rows, (int)B->cols);
  for (int64_t j = 0; j < A->cols; j++)
    for (int64_t i = 0; i < A->rows; i++)
      if (!same_bits(lapis_mat_at(A, i, j), lapis_mat_at(B, i, j)))
        fail_msg("%s: %d, %d: %.17g, not %.17g", what, (int)i, (int)j,
                 lapis_mat_at(B, i, j), lapis_mat_at(A, i, j));
}

/* X as compressed columns, in memory of the test. */
typedef struct compressed {
  int64_t colptr[N + 1];
  int32_t rowidx[D * N];
  double val[D * N];
} compressed;
static lapis_mat compress(const double *X, compressed *c)
{
  int64_t k = 0;
  for (int j = 0; j < N; j++) {
    for (int i = 0; i < D; i++) {
      if (same_bits(X[j * D + i], 0)) continue;
      c->rowidx[k] = i;
      c->val[k++] = X[j * D + i];
    }
    c->colptr[j + 1] = k;
  }
  return (lapis_mat){.dtype = LAPIS_F64,
                     .rows = D,
                     .cols = N,
                     .ld = D,
                     .val = c->val,
                     .colptr = c->colptr,
                     .rowidx = c->rowidx};
}

typedef struct variant { /* a format, and how what it wrote is read */
  const char *format, *file;
  lapis_table_options opt;
  bool names, sparse;
} variant;
static const variant variants[] = {
    {"npy", "a.npy", {.header = LAPIS_HEADER_AUTO}, false, false},
    {"npz", "a.npz", {.header = LAPIS_HEADER_AUTO}, true, true},
    {"csv",
     "a.csv",
     {.header = LAPIS_HEADER_AUTO, .id = "id", .target = "y1"},
     true,
     false},
    {"tsv",
     "a.tsv",
     {.header = LAPIS_HEADER_AUTO, .id = "id", .target = "y1"},
     true,
     false},
    {"svm", "a.svm", {.header = LAPIS_HEADER_AUTO}, false, true},
    {"mat", "a.mat", {.header = LAPIS_HEADER_AUTO}, true, true},
    {"mat73", "b.mat", {.header = LAPIS_HEADER_AUTO}, false, true},
    {"h5", "a.h5", {.header = LAPIS_HEADER_AUTO}, true, true},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

static bool is_built(const char *name)
{
  for (int i = 0; lapis_format_at(i) != NULL; i++)
    if (strcmp(lapis_format_at(i)->name, name) == 0)
      return lapis_format_at(i)->built;
  fail_msg("no format %s", name);
  return false;
}

static lapis_mat texts(const char **text, int64_t n)
{
  return lapis_mat_text(text, 1, n);
}

/* Members of a dataset, Y as codes of the classes. */
static int collect(lapis_mat X, double *Y, lapis_named *item)
{
  item[0] = (lapis_named){.name = "X", .mat = X};
  item[1] = (lapis_named){.name = "Y", .mat = lapis_mat_f64(Y, 1, N)};
  item[2] = (lapis_named){
      .name = "names", .mat = texts(sample_names, N), .flat = true};
  item[3] = (lapis_named){
      .name = "feature_names", .mat = texts(feature_names, D), .flat = true};
  item[4] = (lapis_named){
      .name = "class_names", .mat = texts(classes, 3), .flat = true};
  return 5;
}

static lapis_dataset *read_dataset(files *f, const char *file,
                                   const lapis_table_options *opt)
{
  lapis_dataset *ds;
  CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
  CHECK_OK(f, lapis_dataset_read(ds, files_path(f, file), opt));
  CHECK_OK(f, lapis_dataset_finish(ds));
  return ds;
}

static void check_names(const lapis_dataset *ds, const char *what,
                        const char **wanted, int64_t n)
{
  lapis_mat got = lapis_dataset_text(ds, what);
  assert_int_equal(got.cols, n);
  for (int64_t i = 0; i < n; i++)
    assert_string_equal(((const char *const *)got.val)[i], wanted[i]);
}

static void check_round_trip(files *f, lapis_mat X, const variant *v)
{
  double Y[N] = {0, 1, 2, 0, 1, 2, 2};
  lapis_named item[5];
  const char *path = files_path(f, v->file);
  int count = collect(X, Y, item);
  CHECK_OK(f, lapis_arrays_write(f->ctx, path, v->format, item, count));
  lapis_dataset *ds = read_dataset(f, v->file, &v->opt);
  const lapis_data *data = lapis_dataset_data(ds);
  check_same(&X, &data->X, v->format);
  bool sparse =
      v->sparse && (X.colptr != NULL || strcmp(v->format, "svm") == 0);
  assert_int_equal(data->X.colptr != NULL, sparse);
  if (strcmp(v->format, "npy") != 0)
    check_same(&item[1].mat, &data->Y, v->format);
  if (v->names) {
    check_names(ds, "names", sample_names, N);
    check_names(ds, "feature_names", feature_names, D);
    check_names(ds, "class_names", classes, 3);
  }
  lapis_dataset_free(ds);
}

static void every_format_gives_back_equal_bits(void **state)
{
  files *f = *state;
  double X[D * N];
  compressed c = {.colptr = {0}};
  fill(X);
  for (int i = 0; i < VARIANTS; i++) {
    if (!is_built(variants[i].format)) continue;
    check_round_trip(f, lapis_mat_f64(X, D, N), &variants[i]);
    check_round_trip(f, compress(X, &c), &variants[i]);
  }
}

/* From each format into each other. */
static void every_pair_of_formats_agrees(void **state)
{
  files *f = *state;
  double X[D * N], Y[N] = {0, 1, 2, 0, 1, 2, 2};
  lapis_named item[5];
  fill(X);
  lapis_mat wanted = lapis_mat_f64(X, D, N);
  for (int a = 0; a < VARIANTS; a++) {
    const variant *from = &variants[a];
    if (!is_built(from->format)) continue;
    int count = collect(wanted, Y, item);
    CHECK_OK(f, lapis_arrays_write(f->ctx, files_path(f, from->file),
                                   from->format, item, count));
    lapis_dataset *ds = read_dataset(f, from->file, &from->opt);
    for (int b = 0; b < VARIANTS; b++) {
      char file[64];
      const variant *to = &variants[b];
      if (!is_built(to->format)) continue;
      snprintf(file, sizeof file, "again-%s", to->file);
      lapis_named one = {.name = "X", .mat = lapis_dataset_data(ds)->X};
      CHECK_OK(f, lapis_arrays_write(f->ctx, files_path(f, file), to->format,
                                     &one, 1));
      lapis_dataset *back = read_dataset(f, file, NULL);
      check_same(&wanted, &lapis_dataset_data(back)->X, to->format);
      lapis_dataset_free(back);
    }
    lapis_dataset_free(ds);
  }
}

static void other_types_keep_their_values(void **state)
{
  static float narrow[] = {1.5f, -0.0f, 3e38f, 1e-45f};
  static int64_t whole[] = {-5, 0, 9007199254740993, 7};
  static uint8_t small[] = {0, 255, 1, 2};
  static const char *const formats[] = {"npz", "mat", "mat73", "h5"};
  files *f = *state;
  lapis_named item[] = {
      {.name = "f", .mat = {LAPIS_F32, 2, 2, 2, narrow, NULL, NULL}},
      {.name = "i", .mat = lapis_mat_i64(whole, 2, 2)},
      {.name = "u", .mat = lapis_mat_u8(small, 2, 2)}};
  for (int i = 0; i < 4; i++) {
    lapis_arrays all;
    if (!is_built(formats[i])) continue;
    const char *path = files_path(f, "types");
    CHECK_OK(f, lapis_arrays_write(f->ctx, path, formats[i], item, 3));
    CHECK_OK(f, lapis_arrays_read(f->ctx, path, &all));
    assert_int_equal(all.count, 3);
    for (int k = 0; k < 3; k++) {
      const lapis_array *a = lapis_arrays_find(&all, item[k].name);
      assert_non_null(a);
      assert_int_equal(a->mat.dtype, item[k].mat.dtype);
      size_t size = k == 0 ? 16 : k == 1 ? 32 : 4;
      assert_memory_equal(a->mat.val, item[k].mat.val, size);
    }
    lapis_arrays_free(&all);
  }
}

/* ---- text formats as people write them -----------------------------------*/
static void check_matrix(const lapis_mat *A, int64_t d, int64_t n,
                         const double *wanted, const char *what)
{
  lapis_mat W = lapis_mat_f64((double *)(uintptr_t)wanted, d, n);
  check_same(&W, A, what);
}

static void svm_is_read(void **state)
{
  files *f = *state;
  files_put_text(f, "a.svm",
                 "# a comment\n+1 1:0.5 3:-2e-3 # more\n\n"
                 "-1 qid:4 2:nan 4:+1\r\n 1:7\n? 4:inf");
  lapis_dataset *ds = read_dataset(f, "a.svm", NULL);
  const double X[] = {.5, 0, -2e-3, 0, 0, NAN, 0, 1,
                      7,  0, 0,     0, 0, 0,   0, INFINITY};
  const double Y[] = {0, 1, 1, 0, 0, 0, NAN, NAN};
  check_matrix(&lapis_dataset_data(ds)->X, 4, 4, X, "X");
  check_matrix(&lapis_dataset_data(ds)->Y, 2, 4, Y, "Y");
  lapis_dataset_free(ds);
  files_put_text(f, "b.svm", "1,3 1:1\n 2:2\n3 1:1\n");
  lapis_table_options opt = {.header = LAPIS_HEADER_AUTO, .features = 3};
  ds = read_dataset(f, "b.svm", &opt);
  const double X2[] = {1, 0, 0, 0, 2, 0, 1, 0, 0};
  const double Y2[] = {1, 1, 0, 0, 0, 1};
  static const char *labels[] = {"1", "3"};
  check_matrix(&lapis_dataset_data(ds)->X, 3, 3, X2, "X");
  check_matrix(&lapis_dataset_data(ds)->Y, 2, 3, Y2, "Y");
  check_names(ds, "class_names", labels, 2);
  lapis_dataset_free(ds);
}

static void keep_message(int level, const char *text, void *user)
{
  if (level == 0) snprintf(user, 300, "%s", text);
}

/* Whether a file was cut short only its last line can tell. */
static void a_cut_svm_is_said(void **state)
{
  files *f = *state;
  static const struct {
    const char *text;
    bool said;
  } all[] = {{"1 1:2\n-1 1:0.5", true},
             {"1 1:2\n-1 1:0.5 ", true},
             {"1 1:2\n-1 1:0.5\n", false},
             {"1 1:2\r\n-1 1:0.5\r\n", false},
             {"1 1:2\n-1 1:0.5\n# the end", false}};
  char said[300];
  lapis_ctx_on_message(f->ctx, keep_message, said);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    said[0] = '\0';
    files_put_text(f, "a.svm", all[i].text);
    lapis_dataset *ds = read_dataset(f, "a.svm", NULL);
    assert_int_equal(lapis_dataset_data(ds)->X.cols, 2);
    lapis_dataset_free(ds);
    assert_int_equal(strstr(said, "a.svm:2: no end of line") != NULL,
                     all[i].said);
    assert_int_equal(said[0] != '\0', all[i].said);
  }
}

static const char mulan[] =
    "% a comment\n@RELATION 'a set'\n\n"
    "@attribute 'x one' REAL\n@attribute flag {no, yes}\n"
    "@attribute note string\n@attribute n {5,7.5}\n"
    "@attribute l1 {0,1}\n@attribute \"l 2\" {0,1}\n@data\n"
    "1.5,yes,'it\\'s, so',5,0,1\n"
    "?, no ,?,7.5,1,? % end\n"
    "-1e3,'no','','5',1,1\n";

static void arff_is_read(void **state)
{
  files *f = *state;
  const double X[] = {1.5, 1, 5, NAN, 0, 7.5, -1e3, 0, 5};
  const double Y[] = {0, 1, 1, NAN, 1, 1};
  static const char *features[] = {"x one", "flag=yes (not no)", "n"};
  static const char *labels[] = {"l1", "l 2"}, *notes[] = {"it's, so", "?", ""};
  files_put_text(f, "a.xml",
                 "<labels><label name=\"l 2\"></label>\n"
                 "<label name='l1'/></labels>");
  char xml[600];
  snprintf(xml, sizeof xml, "%s", f->path);
  const lapis_table_options how[] = {
      {.header = LAPIS_HEADER_AUTO, .labels = "2", .id = "note"},
      {.header = LAPIS_HEADER_AUTO, .labels = xml, .id = "note"},
      {.header = LAPIS_HEADER_AUTO, .target = "l1,6", .id = "3"}};
  files_put_text(f, "a.arff", mulan);
  for (int i = 0; i < 3; i++) {
    lapis_dataset *ds = read_dataset(f, "a.arff", &how[i]);
    check_matrix(&lapis_dataset_data(ds)->X, 3, 3, X, "X");
    check_matrix(&lapis_dataset_data(ds)->Y, 2, 3, Y, "Y");
    check_names(ds, "feature_names", features, 3);
    check_names(ds, "class_names", labels, 2);
    check_names(ds, "names", notes, 3);
    lapis_dataset_free(ds);
  }
}

static void sparse_arff_is_read(void **state)
{
  files *f = *state;
  const double X[] = {1, 0, 0, 0, 0, NAN, 0, 0, 0};
  const double Y[] = {1, 0, 1}; /* blue, red, blue: by name, not by place */
  files_put_text(f, "a.arff",
                 "@relation r\n@attribute a numeric\n@attribute b numeric\n"
                 "@attribute c numeric\n@attribute kind {red, blue}\n@data\n"
                 "{0 1, 3 blue}\n{2 ?, 3 'red'}\n{3 blue}\n");
  lapis_table_options opt = {.header = LAPIS_HEADER_AUTO, .target = "kind"};
  lapis_dataset *ds = read_dataset(f, "a.arff", &opt);
  const lapis_data *d = lapis_dataset_data(ds);
  assert_non_null(d->X.colptr);
  assert_int_equal(d->X.colptr[3], 2);
  check_matrix(&d->X, 3, 3, X, "X");
  /* blue sorts before red */
  for (int j = 0; j < 3; j++) assert_true(((double *)d->Y.val)[j] == 1 - Y[j]);
  lapis_dataset_free(ds);
}

typedef struct refusal {
  const char *file, *text;
  lapis_status status;
  const char *words;
} refusal;
static const refusal refusals[] = {
    {"a.svm", "1 1:2\n1 0:1\n", LAPIS_EFORMAT,
     "a.svm:2:3: \"0:1\" has an index below 1; indices count from 1 (scikit-"
     "learn's dump_svmlight_file: zero_based=False)"},
    {"a.svm", "1 1:2 1:3\n", LAPIS_EFORMAT,
     "a.svm:1:7: \"1:3\" repeats the index before it"},
    {"a.svm", "1 3:2 2:3\n", LAPIS_EFORMAT,
     "1:7: \"2:3\" comes after a larger"},
    {"a.svm", "1 3:2 4:x\n", LAPIS_EFORMAT, "\"4:x\" has no number after"},
    {"a.svm", "1 3:2 4\n1 1:1\n", LAPIS_EFORMAT,
     "1:7: \"4\" is not index:value"},
    {"a.svm", "1 3:2 1.5:4\n", LAPIS_EFORMAT, "has no whole number before"},
    {"a.svm", "1 3:2\n1,a 2:4\n", LAPIS_EFORMAT, "2:1: \"1,a\" is not a label"},
    {"a.svm", "1 3:2\n1 3000000000:4\n", LAPIS_EFORMAT, "above 2147483647"},
    {"a.svm", "1 9:2\n", LAPIS_ESHAPE, "feature 9, more than the 5"},
    {"a.arff", "@relation r\n@attribute a real\n1\n", LAPIS_EFORMAT,
     "a.arff:3:1: \"1\" is not one of @relation, @attribute and @data"},
    {"a.arff", "@relation r\n@attribute a real\n", LAPIS_EFORMAT,
     "ends before @data"},
    {"a.arff", "@relation r\n@data\n1\n", LAPIS_EFORMAT, "no @attribute"},
    {"a.arff", "@relation r\n@attribute a real\n@data\n", LAPIS_EFORMAT,
     "no rows"},
    {"a.arff", "@relation r\n@attribute a {x\n@data\n", LAPIS_EFORMAT,
     "2:14: these values are not closed by }"},
    {"a.arff", "@relation r\n@attribute a {}\n@data\n", LAPIS_EFORMAT,
     "needs values, as in {a, b}"},
    {"a.arff", "@relation r\n@attribute\n@data\n", LAPIS_EFORMAT,
     "2:11: an attribute needs a name"},
    {"a.arff", "@relation r\n@attribute a relational\n@data\n1\n",
     LAPIS_EFORMAT, "2:14: \"relational\" is not a type that is read"},
    {"a.arff", "@relation r\n@attribute 'a real\n@data\n1\n", LAPIS_EFORMAT,
     "2:12: this quote is never closed"},
    {"a.arff", "@relation r\n@attribute a real\n@data\nx\n", LAPIS_EFORMAT,
     "4:1: \"x\" is not a number"},
    {"a.arff", "@relation r\n@attribute a {x,y}\n@data\nz\n", LAPIS_EFORMAT,
     "4:1: \"z\" is not one of the values declared"},
    {"a.arff", "@relation r\n@attribute a real\n@data\n1,2\n", LAPIS_EFORMAT,
     "4:2: the row has more values"},
    {"a.arff", "@relation r\n@attribute a real\n@data\n1 2\n", LAPIS_EFORMAT,
     "4:3: a comma is needed"},
    {"a.arff", "@relation r\n@attribute a real\n@attribute b real\n@data\n1\n",
     LAPIS_ESHAPE, "5:2: this row has 1 values, 2 attributes are declared"},
    {"a.arff", "@relation r\n@attribute a real\n@attribute b real\n@data\n1,\n",
     LAPIS_EFORMAT, "5:3: a value is missing; write ?"},
    {"a.arff", "@relation r\n@attribute a real\n@data\n{1 2}\n", LAPIS_EFORMAT,
     "4:2: \"1\" is the number of no attribute"},
    {"a.arff", "@relation r\n@attribute a real\n@data\n{x 2}\n", LAPIS_EFORMAT,
     "4:2: \"x\" is not an attribute's number"},
    {"a.arff", "@relation r\n@attribute a real\n@data\n{0 2,0 1}\n",
     LAPIS_EFORMAT, "4:6: \"0\" does not come after"},
    {"a.arff", "@relation r\n@attribute a real\n@data\n{0 2\n", LAPIS_EFORMAT,
     "4:5: } is expected here"},
    {"a.arff", "@relation r\n@attribute a real\n@data\n\xff\n", LAPIS_EFORMAT,
     "4:1: is not UTF-8"},
    {"a.mat", "MATLAB 5.0 MAT-file", LAPIS_EFORMAT,
     "cut short within its head"},
};

static void bad_text_is_refused(void **state)
{
  files *f = *state;
  lapis_table_options opt = {.header = LAPIS_HEADER_AUTO, .features = 5};
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    const refusal *r = &refusals[i];
    lapis_dataset *ds;
    CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
    files_put_text(f, r->file, r->text);
    CHECK_REFUSED(f, lapis_dataset_read(ds, f->path, &opt), r->status,
                  r->words);
    lapis_dataset_free(ds);
  }
}

static const refusal arff_options[] = {
    {"labels", "6", LAPIS_EINVAL, "leaves no features"},
    {"labels", "0", LAPIS_EINVAL, "leaves no features"},
    {"labels", "/nowhere.xml", LAPIS_EIO, "cannot be opened"},
    {"target", "l3", LAPIS_EINVAL, "has no attribute \"l3\"; it has 6"},
    {"target", "note", LAPIS_EFORMAT, "\"note\" is text; a target is"},
    {"target", "flag,n", LAPIS_EFORMAT, "is a target of another kind"},
};

static void bad_options_of_arff_are_refused(void **state)
{
  files *f = *state;
  files_put_text(f, "a.arff", mulan);
  for (size_t i = 0; i < sizeof arff_options / sizeof *arff_options; i++) {
    const refusal *r = &arff_options[i];
    bool labels = strcmp(r->file, "labels") == 0;
    lapis_table_options opt = {.header = LAPIS_HEADER_AUTO,
                               .labels = labels ? r->text : NULL,
                               .target = labels ? NULL : r->text};
    lapis_dataset *ds;
    CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
    CHECK_REFUSED(f, lapis_dataset_read(ds, f->path, &opt), r->status,
                  r->words);
    lapis_dataset_free(ds);
  }
}

static void impossible_writes_are_refused(void **state)
{
  files *f = *state;
  double X[] = {1, 2, 3, 4}, Y[] = {0, 1, 0, 1}, Z[] = {1, .5, 1, 1};
  lapis_named item[] = {{.name = "X", .mat = lapis_mat_f64(X, 2, 2)},
                        {.name = "Y", .mat = lapis_mat_f64(Y, 2, 2)}};
  const char *svm = files_path(f, "a.svm");
  CHECK_REFUSED(f, lapis_arrays_write(f->ctx, svm, NULL, item, 2), LAPIS_EDATA,
                "1");
  item[1].mat.val = Z;
  CHECK_REFUSED(f, lapis_arrays_write(f->ctx, svm, NULL, item, 2), LAPIS_EDATA,
                "Y 0.5 1 2");
  CHECK_REFUSED(f, lapis_arrays_write(f->ctx, svm, NULL, item + 1, 1),
                LAPIS_EMISSING, "X");
  CHECK_REFUSED(f, lapis_arrays_write(f->ctx, "a.xls", NULL, item, 2),
                LAPIS_EINVAL, ".npy");
  CHECK_REFUSED(f, lapis_arrays_write(f->ctx, "a.xls", "xls", item, 2),
                LAPIS_EINVAL, "xls");
  assert_int_equal(files_count(f, false), 0);
  int64_t colptr[] = {0, 1};
  int32_t rowidx[] = {2000000000};
  lapis_named wide = {
      .name = "X",
      .mat = {LAPIS_F64, 2147483647, 1, 2147483647, X, colptr, rowidx}};
  CHECK_OK(f, lapis_arrays_write(f->ctx, svm, NULL, &wide, 1));
  CHECK_REFUSED(
      f, lapis_arrays_write(f->ctx, files_path(f, "a.mat"), NULL, &wide, 1),
      LAPIS_ESHAPE, "2");
}

/* What is too large to be made dense is refused, not tried. */
static void large_sparse_is_not_made_dense(void **state)
{
  files *f = *state;
  char line[64 * 256];
  int at = 0;
  for (int j = 0; j < 256; j++)
    at += snprintf(line + at, sizeof line - (size_t)at, "1 2000000000:1\n");
  files_put_text(f, "a.svm", line);
  lapis_dataset *ds = read_dataset(f, "a.svm", NULL);
  lapis_named X = {.name = "X", .mat = lapis_dataset_data(ds)->X};
  assert_int_equal(X.mat.rows, 2000000000);
  CHECK_REFUSED(f,
                lapis_arrays_write(f->ctx, files_path(f, "a.npy"), NULL, &X, 1),
                LAPIS_ENOMEM, "");
  lapis_dataset_free(ds);
}

/* ---- damage --------------------------------------------------------------*/
static void try_to_read(files *f, const char *path)
{
  lapis_arrays all;
  lapis_dataset *ds;
  lapis_table_options opt = {.header = LAPIS_HEADER_AUTO};
  if (lapis_arrays_read(f->ctx, path, &all) == LAPIS_OK) {
    for (int i = 0; i < all.count; i++)
      (void)lapis_mat_missing(&all.item[i].mat);
    lapis_arrays_free(&all);
  } else {
    assert_true(strlen(lapis_ctx_error(f->ctx)) > 10);
  }
  CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
  if (lapis_dataset_read(ds, path, &opt) == LAPIS_OK)
    (void)lapis_dataset_finish(ds);
  lapis_dataset_free(ds);
}

/* A small file of each format, dense and sparse, cut at every byte, and with
 * every byte changed: three ways, or one of them in turn unless all are due. */
static void damage(files *f, lapis_mat X, const variant *v)
{
  static const unsigned char masks[] = {0x01, 0x80, 0xff};
  /* Each read of these starts a process: fewer places, none left out for long.
   */
  bool apart = strcmp(v->format, "h5") == 0 || strcmp(v->format, "mat73") == 0;
  size_t every = !apart ? 1 : room_all() ? 101 : 2401;
  double Y[N] = {0, 1, 2, 0, 1, 2, 2};
  lapis_named item[5];
  size_t size;
  const char *path = files_path(f, v->file);
  int count = collect(X, Y, item);
  CHECK_OK(f, lapis_arrays_write(f->ctx, path, v->format, item, count));
  unsigned char *whole = files_get(path, &size);
  for (size_t k = 0; k < size; k += apart ? 4 * every : 1) {
    files_put(f, "cut", whole, k);
    try_to_read(f, f->path);
  }
  for (size_t k = 0; k < size; k += every)
    for (size_t m = 0; m < 3; m++) {
      if (m != k % 3 && (apart || !room_all())) continue;
      whole[k] ^= masks[m];
      files_put(f, "changed", whole, size);
      try_to_read(f, f->path);
      whole[k] ^= masks[m];
    }
  free(whole);
}

static long peak_kilobytes(int who)
{
  struct rusage usage;
  assert_int_equal(getrusage(who, &usage), 0);
  return usage.ru_maxrss;
}

static void damaged_files_do_no_harm(void **state)
{
  files *f = *state;
  double X[D * N];
  compressed c = {.colptr = {0}};
  fill(X);
  for (int i = 0; i < VARIANTS; i++) {
    if (!is_built(variants[i].format)) continue;
    damage(f, lapis_mat_f64(X, D, N), &variants[i]);
    damage(f, compress(X, &c), &variants[i]);
  }
  CHECK_AT_MOST((double)peak_kilobytes(RUSAGE_SELF), 1e6);
  CHECK_AT_MOST((double)peak_kilobytes(RUSAGE_CHILDREN), 1e6);
}

/* A Y that HDF5 keeps as an enumeration is read by its names: 5 is cat and 9
 * is dog in 32 bits; -1 is no and 1 is yes in 8. */
static void enumerations_are_words(void **state)
{
  static const struct {
    const char *file, *words[2];
  } tried[] = {{"wide", {"cat", "dog"}}, {"signed", {"no", "yes"}}};
  lapis_ctx *ctx = lapis_ctx_new();
  for (int i = 0; i < 2; i++) {
    char path[1200];
    lapis_dataset *ds;
    snprintf(path, sizeof path, "%s/hdf5_enum/%s.h5", check_fixtures(),
             tried[i].file);
    assert_int_equal(lapis_dataset_new(ctx, &ds), 0);
    lapis_status status = lapis_dataset_read(ds, path, NULL);
    if (!is_built("h5")) {
      assert_int_equal(status, LAPIS_ENOTBUILT);
      lapis_dataset_free(ds);
      continue;
    }
    if (status < 0 || lapis_dataset_finish(ds) < 0)
      fail_msg("%s", lapis_ctx_error(ctx));
    const lapis_mat *Y = &lapis_dataset_data(ds)->Y;
    lapis_mat words = lapis_dataset_text(ds, "class_names");
    assert_int_equal(words.cols, 2);
    for (int k = 0; k < 2; k++)
      assert_string_equal(((const char *const *)words.val)[k],
                          tried[i].words[k]);
    for (int j = 0; j < 4; j++) CHECK_NEAR(lapis_mat_at(Y, 0, j), j % 2, 0);
    lapis_dataset_free(ds);
  }
  lapis_ctx_free(ctx);
}

#define FILES_TEST(t) \
  cmocka_unit_test_setup_teardown(t, files_setup, files_teardown)

int test_formats(void)
{
  const struct CMUnitTest tests[] = {
      FILES_TEST(every_format_gives_back_equal_bits),
      FILES_TEST(every_pair_of_formats_agrees),
      FILES_TEST(other_types_keep_their_values),
      FILES_TEST(svm_is_read),
      cmocka_unit_test(enumerations_are_words),
      FILES_TEST(a_cut_svm_is_said),
      FILES_TEST(arff_is_read),
      FILES_TEST(sparse_arff_is_read),
      FILES_TEST(bad_text_is_refused),
      FILES_TEST(bad_options_of_arff_are_refused),
      FILES_TEST(impossible_writes_are_refused),
      FILES_TEST(large_sparse_is_not_made_dense),
      FILES_TEST(damaged_files_do_no_harm),
  };
  return run_cases(tests, NULL, NULL);
}
