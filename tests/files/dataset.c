/* dataset.c - members from anywhere become one dataset, or a sentence
 * says why they do not fit. */
#include "files.h"
#include "scarce.h"

static double x[] = {1, 2, 3, 4, 5, 6, 7, 8}; /* 2 x 4 */
static const char *words[] = {"b", "a", "b", "c"};
static int64_t numbers[] = {7, 7, -3, 9};

static lapis_mat text_row(const char **text, int64_t n)
{
  return lapis_mat_text(text, 1, n);
}

static lapis_mat integer_row(int64_t *val, int64_t n)
{
  return lapis_mat_i64(val, 1, n);
}

static lapis_named member(const char *name, lapis_mat mat)
{
  return (lapis_named){.name = name, .mat = mat};
}

static lapis_dataset *new_dataset(files *f)
{
  lapis_dataset *ds;
  CHECK_OK(f, lapis_dataset_new(f->ctx, &ds));
  return ds;
}

static const char *put(files *f, const char *file, const lapis_named *item,
                       int count)
{
  CHECK_OK(f,
           lapis_arrays_write(f->ctx, files_path(f, file), "npz", item, count));
  return f->path;
}

static void container_becomes_a_dataset(void **state)
{
  files *f = *state;
  lapis_named item[] = {member("X", lapis_mat_f64(x, 2, 4)),
                        member("Y", text_row(words, 4)),
                        member("P", integer_row(numbers, 4)),
                        member("group", integer_row(numbers, 4)),
                        member("weight", lapis_mat_f64(x, 1, 4)),
                        member("xy", lapis_mat_f64(x, 2, 4)),
                        member("names", text_row(words, 4)),
                        member("feature_names", text_row(words, 2)),
                        member("other", text_row(words, 3))};
  item[4].flat = true;
  lapis_dataset *ds = new_dataset(f);
  CHECK_OK(f, lapis_dataset_read(ds, put(f, "a.npz", item, 9), NULL));
  CHECK_OK(f, lapis_dataset_finish(ds));
  const lapis_data *data = lapis_dataset_data(ds);
  const double codes[] = {1, 0, 1, 2}, privileged[] = {7, 7, -3, 9};
  assert_memory_equal(data->X.val, x, sizeof x);
  assert_memory_equal(data->Y.val, codes, sizeof codes);
  assert_memory_equal(data->P.val, privileged, sizeof privileged);
  assert_memory_equal(data->group, numbers, sizeof numbers);
  assert_memory_equal(data->weight, x, 4 * sizeof *x);
  assert_int_equal(data->xy.rows, 2);
  lapis_mat classes = lapis_dataset_text(ds, "class_names");
  assert_int_equal(classes.cols, 3);
  assert_string_equal(((char **)classes.val)[2], "c");
  assert_int_equal(lapis_dataset_text(ds, "feature_names").cols, 2);
  assert_int_equal(lapis_dataset_text(ds, "other").cols, 0);
  CHECK_OK(f, lapis_dataset_finish(ds)); /* twice changes nothing */
  assert_memory_equal(data->Y.val, codes, sizeof codes);
  lapis_dataset_free(ds);
}

/* ---- types and shapes ---------------------------------------------------*/
static void group_texts_count_by_appearance(void **state)
{
  files *f = *state;
  lapis_named item[] = {member("X", lapis_mat_f64(x, 2, 4)),
                        member("group", text_row(words, 4))};
  lapis_dataset *ds = new_dataset(f);
  CHECK_OK(f, lapis_dataset_read(ds, put(f, "a.npz", item, 2), NULL));
  CHECK_OK(f, lapis_dataset_finish(ds));
  const int64_t codes[] = {0, 1, 0, 2};
  assert_memory_equal(lapis_dataset_data(ds)->group, codes, sizeof codes);
  lapis_dataset_free(ds);
}

static void narrow_types_are_widened(void **state)
{
  files *f = *state;
  float narrow[] = {0.5f, 1.5f, NAN, 4};
  uint8_t bytes_[] = {0, 1, 1, 0};
  lapis_named item[] = {
      member("X", (lapis_mat){LAPIS_F32, 2, 2, 2, narrow, NULL, NULL}),
      member("Y", lapis_mat_u8(bytes_, 2, 2))};
  lapis_dataset *ds = new_dataset(f);
  CHECK_OK(f, lapis_dataset_read(ds, put(f, "a.npz", item, 2), NULL));
  CHECK_OK(f, lapis_dataset_finish(ds));
  const lapis_data *data = lapis_dataset_data(ds);
  assert_int_equal(data->X.dtype, LAPIS_F64);
  assert_int_equal(data->Y.dtype, LAPIS_F64);
  assert_true(lapis_mat_at(&data->X, 1, 0) == 1.5);
  assert_true(isnan(lapis_mat_at(&data->X, 0, 1)));
  assert_true(lapis_mat_at(&data->Y, 1, 0) == 1);
  lapis_dataset_free(ds);
}

/* (n), (n, 1) for a row; (n, d, e) is (n, d e). */
static void float32_stays_where_it_is_asked_for(void **state)
{
  files *f = *state;
  static float narrow[] = {1, 2, 3, 4, 5, 6, 7, 8};
  lapis_named item = member(
      "X",
      (lapis_mat){
          .dtype = LAPIS_F32, .rows = 2, .cols = 4, .ld = 2, .val = narrow});
  CHECK_OK(f,
           lapis_arrays_write(f->ctx, files_path(f, "x.npy"), "npy", &item, 1));
  for (int keep = 0; keep < 2; keep++) {
    lapis_dataset *ds = new_dataset(f);
    CHECK_OK(f, lapis_dataset_read_member(ds, "X", f->path, NULL));
    if (keep == 1) lapis_dataset_keep_f32(ds);
    CHECK_OK(f, lapis_dataset_finish(ds));
    const lapis_mat *X = &lapis_dataset_data(ds)->X;
    assert_int_equal(X->dtype, keep == 1 ? LAPIS_F32 : LAPIS_F64);
    for (int k = 0; k < 8; k++)
      CHECK_NEAR(lapis_mat_at(X, k % 2, k / 2), x[k], 0);
    lapis_dataset_free(ds);
  }
}

static void other_shapes_mean_the_same(void **state)
{
  files *f = *state;
  lapis_named item[] = {member("X", lapis_mat_f64(x, 2, 4)),
                        member("Y", lapis_mat_f64(x, 1, 2))};
  item[0].axes = 3;
  item[0].shape[0] = item[0].shape[1] = item[0].shape[2] = 2;
  for (int flat = 0; flat < 2; flat++) {
    item[1].flat = flat;
    lapis_dataset *ds = new_dataset(f);
    CHECK_OK(f, lapis_dataset_read(ds, put(f, "a.npz", item, 2), NULL));
    CHECK_OK(f, lapis_dataset_finish(ds));
    assert_int_equal(lapis_dataset_data(ds)->X.rows, 4);
    assert_int_equal(lapis_dataset_data(ds)->X.cols, 2);
    assert_int_equal(lapis_dataset_data(ds)->Y.rows, 1);
    lapis_dataset_free(ds);
  }
}

/* ---- members one by one -------------------------------------------------*/
static void members_come_from_many_files(void **state)
{
  files *f = *state;
  char spec[600];
  lapis_dataset *ds = new_dataset(f);
  lapis_named item[] = {member("features", lapis_mat_f64(x, 2, 4)),
                        member("w", lapis_mat_f64(x, 1, 4))};
  put(f, "a.npz", item, 2);
  (void)snprintf(spec, sizeof spec, "%s:features", f->path);
  CHECK_OK(f, lapis_dataset_read_member(ds, "X", spec, NULL));
  put(f, "w.npz", item + 1, 1); /* the only array needs no name */
  CHECK_OK(f, lapis_dataset_read_member(ds, "weight", f->path, NULL));
  files_put_text(f, "y.csv", "label,rank\n1,5\n0,6\n,7\n1,8\n");
  CHECK_OK(f, lapis_dataset_read_member(ds, "Y", f->path, NULL));
  files_put_text(f, "g.csv", "u\nv\nu\nu\n");
  CHECK_OK(f, lapis_dataset_read_member(ds, "group", f->path, NULL));
  files_put_text(f, "names.csv", "1\n2\nNA\nx\n");
  CHECK_OK(f, lapis_dataset_read_member(ds, "names", f->path, NULL));
  CHECK_OK(f, lapis_dataset_finish(ds));
  const lapis_data *data = lapis_dataset_data(ds);
  assert_memory_equal(data->X.val, x, sizeof x);
  assert_memory_equal(data->weight, x, 4 * sizeof *x);
  assert_int_equal(data->Y.rows, 2);
  assert_true(isnan(lapis_mat_at(&data->Y, 0, 2)));
  assert_int_equal(data->group[3], 0);
  lapis_mat names = lapis_dataset_text(ds, "names");
  assert_string_equal(((char **)names.val)[2], "NA");
  lapis_dataset_free(ds);
}

/* Class names of targets that were replaced would name the wrong thing. */
static void later_members_replace_earlier(void **state)
{
  files *f = *state;
  lapis_named item[] = {member("X", lapis_mat_f64(x, 2, 4)),
                        member("Y", lapis_mat_f64(x, 2, 4)),
                        member("class_names", text_row(words, 2))};
  lapis_dataset *ds = new_dataset(f);
  CHECK_OK(f, lapis_dataset_read(ds, put(f, "a.npz", item, 3), NULL));
  files_put_text(f, "y.csv", "5\n6\n7\n8\n");
  CHECK_OK(f, lapis_dataset_read_member(ds, "Y", f->path, NULL));
  CHECK_OK(f, lapis_dataset_finish(ds));
  assert_int_equal(lapis_dataset_data(ds)->Y.rows, 1);
  assert_int_equal(lapis_dataset_text(ds, "class_names").cols, 0);
  lapis_dataset_free(ds);
}

/* ---- labels that name rows ------------------------------------------------*/
/* The four samples of x, without names, and y.csv as `text` beside them. */
static lapis_status read_labels(files *f, lapis_dataset *ds, const char *text,
                                const lapis_table_options *opt)
{
  lapis_named item[] = {member("X", lapis_mat_f64(x, 2, 4))};
  CHECK_OK(f, lapis_dataset_read(ds, put(f, "a.npz", item, 1), NULL));
  files_put_text(f, "y.csv", text);
  lapis_status status = lapis_dataset_read_member(ds, "Y", f->path, opt);
  return status < 0 ? status : lapis_dataset_finish(ds);
}

static void labels_name_their_rows(void **state)
{
  static const struct {
    const char *text, *target;
    double want[4];
  } all[] = {
      {"row,label\n4,1\n2,0\n", NULL, {NAN, 0, NAN, 1}},
      {"row0,label\n3,1\n1,0\n", NULL, {NAN, 0, NAN, 1}},
      {"row;a;label\n\n4;7;yes\n2;8;no\n1;9;\n", "label", {NAN, 0, NAN, 1}},
      {"\"row\",label\n4,d\n3,c\n2,b\n1,a\n", "label", {0, 1, 2, 3}},
      {"row\n5\n6\n7\n8\n", NULL, {5, 6, 7, 8}},
      {"a,row\n5,4\n6,3\n7,2\n8,1\n", "a", {5, 6, 7, 8}},
      {"row,label\n5,4\n6,4\n7,4\n7,4\n", "row", {5, 6, 7, 7}},
  };
  files *f = *state;
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    lapis_table_options opt = {.target = all[k].target};
    lapis_dataset *ds = new_dataset(f);
    CHECK_OK(f, read_labels(f, ds, all[k].text, &opt));
    const lapis_mat *Y = &lapis_dataset_data(ds)->Y;
    assert_int_equal(Y->rows, 1);
    for (int j = 0; j < 4; j++) {
      double v = lapis_mat_at(Y, 0, j), want = all[k].want[j];
      assert_true(isnan(want) ? isnan(v) : v == want);
    }
    assert_int_equal(lapis_dataset_text(ds, "names").cols, 0);
    lapis_dataset_free(ds);
  }
}

static void rows_that_are_none_are_refused(void **state)
{
  static const char *const all[][2] = {
      {"row,label\n4,1\n5,0\n", "y.csv:3:1 5 1 4 row0"},
      {"row,label\n0,1\n", "y.csv:2:1 0 1 4 row0"},
      {"row0,label\n4,1\n", "y.csv:2:1 4 0 3"},
      {"row,label\n1.5,1\n", "y.csv:2:1 1.5"},
      {"row,label\n,1\n2,0\n", "y.csv:2:1"},
      {"row,label\nann,1\n2,0\n", "y.csv:2:1 ann"},
      {"row,label\n\n 2,\"a\nb\"\n1,b\n2,b\n", "y.csv:6:1 2 3"},
  };
  files *f = *state;
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    lapis_dataset *ds = new_dataset(f);
    CHECK_REFUSED(f, read_labels(f, ds, all[k][0], NULL), LAPIS_EDATA,
                  all[k][1]);
    lapis_dataset_free(ds);
  }
}

/* Two tables that number their rows stand in one order; beside rows that have
 * names numbers are of rows, and a column of those names comes first. */
static void numbers_are_of_rows(void **state)
{
  files *f = *state;
  lapis_dataset *ds = new_dataset(f);
  files_put_text(f, "t.csv", "row,a,b\n4,1,2\n3,1,5\n2,7,1\n1,0,1\n");
  CHECK_OK(f, lapis_dataset_read(ds, f->path, NULL));
  files_put_text(f, "y.csv", "row,y\n4,5\n3,6\n2,7\n1,8\n");
  lapis_table_options opt = {.target = "y"};
  CHECK_OK(f, lapis_dataset_read_member(ds, "Y", f->path, &opt));
  CHECK_OK(f, lapis_dataset_finish(ds));
  CHECK_NEAR(lapis_mat_at(&lapis_dataset_data(ds)->Y, 0, 0), 5, 0);
  lapis_dataset_free(ds);
  lapis_named item[] = {member("X", lapis_mat_f64(x, 2, 4)),
                        member("names", text_row(words, 4))};
  ds = new_dataset(f);
  CHECK_OK(f, lapis_dataset_read(ds, put(f, "a.npz", item, 2), NULL));
  files_put_text(f, "y.csv", "row,y\n4,5\n3,6\n2,7\n1,8\n");
  CHECK_OK(f, lapis_dataset_read_member(ds, "Y", f->path, &opt));
  CHECK_OK(f, lapis_dataset_finish(ds));
  CHECK_NEAR(lapis_mat_at(&lapis_dataset_data(ds)->Y, 0, 0), 8, 0);
  lapis_dataset_free(ds);
}

/* Labels in another order than samples of these names, in a column of any
 * title, are joined as with --id. */
static void a_column_of_names_is_found(void **state)
{
  static const char *const tables[] = {"y,who\n8,s.4\n5,s.1\n7,s.3\n6,s.2\n",
                                       "y,who\n5,s.1\n,s.4\n6,s.2\n"};
  static const char *const called[] = {"f/s.1", "f/s.2", "f/s.3", "f/s.4"};
  files *f = *state;
  lapis_named item[] = {member("X", lapis_mat_f64(x, 2, 4)),
                        member("names", text_row((const char **)called, 4))};
  char a[600];
  (void)snprintf(a, sizeof a, "%s", put(f, "a.npz", item, 2));
  for (int k = 0; k < 8; k++) { /* with --target or without, titled or not */
    lapis_table_options opt = {.target = k & 1 ? "y" : NULL,
                               .id = k & 2 ? "name" : NULL};
    lapis_dataset *ds = new_dataset(f);
    CHECK_OK(f, lapis_dataset_read(ds, a, NULL));
    files_put_text(f, "y.csv", tables[k / 4]);
    CHECK_OK(f, lapis_dataset_read_member(ds, "Y", f->path, &opt));
    CHECK_OK(f, lapis_dataset_finish(ds));
    const lapis_mat *Y = &lapis_dataset_data(ds)->Y;
    assert_int_equal(Y->rows, 1);
    for (int j = 0; j < 4; j++)
      if (k / 4 == 0 || j < 2)
        CHECK_NEAR(lapis_mat_at(Y, 0, j), 5 + j, 0);
      else
        assert_true(isnan(lapis_mat_at(Y, 0, j)));
    lapis_dataset_free(ds);
  }
}

/* What --missing lists is not known in arrays, either: of every type. */
static void arrays_forget_what_is_listed(void **state)
{
  files *f = *state;
  static int64_t labels[] = {3, -1, 0, -1};
  static float single[] = {1, -0.1F, 3, -999, -1, 6, 7, 8};
  static double stored[] = {5, -1};
  static int64_t colptr[] = {0, 1, 1, 2, 2};
  static int32_t rowidx[] = {0, 1};
  lapis_table_options opt = {.missing = "b,-1,-.1,-999"};
  lapis_mat sparse = {.rows = 2, .cols = 4, .val = stored};
  sparse.colptr = colptr;
  sparse.rowidx = rowidx;
  lapis_named item[] = {member("X", lapis_mat_f32(single, 2, 4)),
                        member("Y", integer_row(labels, 4)),
                        member("P", sparse),
                        member("group", integer_row(labels, 4))};
  for (int k = 0; k < 4; k++) { /* whole, or as members; kept in F32 */
    lapis_dataset *ds = new_dataset(f);
    (void)put(f, "a.npz", item, 4);
    if (k & 2) lapis_dataset_keep_f32(ds);
    if (k & 1)
      for (int m = 0; m < 4; m++)
        CHECK_OK(f, lapis_dataset_read_member(ds, item[m].name, f->path, &opt));
    else
      CHECK_OK(f, lapis_dataset_read(ds, f->path, &opt));
    CHECK_OK(f, lapis_dataset_finish(ds));
    const lapis_data *data = lapis_dataset_data(ds);
    assert_int_equal(lapis_mat_missing(&data->X), 3);
    assert_int_equal(lapis_mat_missing(&data->Y), 2);
    assert_true(isnan(lapis_mat_at(&data->Y, 0, 3)));
    assert_true(isnan(lapis_mat_at(&data->P, 1, 2)));
    CHECK_NEAR(lapis_mat_at(&data->X, 0, 1), 3, 0);
    lapis_dataset_free(ds);
  }
  item[1].mat = text_row(words, 4);
  lapis_dataset *ds = new_dataset(f);
  CHECK_OK(f, lapis_dataset_read(ds, put(f, "a.npz", item, 2), &opt));
  CHECK_OK(f, lapis_dataset_finish(ds));
  assert_int_equal(lapis_mat_missing(&lapis_dataset_data(ds)->Y), 2);
  lapis_dataset_free(ds);
  CHECK_OK(f, lapis_arrays_write(f->ctx, files_path(f, "y.npy"), "npy",
                                 &item[3], 1));
  ds = new_dataset(f);
  CHECK_OK(f, lapis_dataset_read_member(ds, "Y", f->path, &opt));
  CHECK_OK(f, lapis_dataset_read_member(ds, "X", f->path, NULL));
  CHECK_OK(f, lapis_dataset_finish(ds));
  assert_int_equal(lapis_mat_missing(&lapis_dataset_data(ds)->Y), 2);
  assert_int_equal(lapis_mat_missing(&lapis_dataset_data(ds)->X), 0);
  lapis_dataset_free(ds);
}

/* ---- refusals -----------------------------------------------------------*/
static void refuse(files *f, const lapis_named *item, int count,
                   lapis_status status, const char *words_)
{
  lapis_dataset *ds = new_dataset(f);
  CHECK_OK(f, lapis_dataset_read(ds, put(f, "a.npz", item, count), NULL));
  CHECK_REFUSED(f, lapis_dataset_finish(ds), status, words_);
  lapis_dataset_free(ds);
}

/* Keypoints: four numbers a place; names of the images, which group counts. */
static void points_in_images_are_a_dataset(void **state)
{
  files *f = *state;
  static double place[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6};
  static int64_t image[] = {0, 0, 1, 1};
  lapis_named item[] = {member("X", lapis_mat_f64(x, 2, 4)),
                        member("group", integer_row(image, 4)),
                        member("xy", lapis_mat_f64(place, 4, 4)),
                        member("names", text_row(words, 2))};
  lapis_dataset *ds = new_dataset(f);
  CHECK_OK(f, lapis_dataset_read(ds, put(f, "a.npz", item, 4), NULL));
  CHECK_OK(f, lapis_dataset_finish(ds));
  const lapis_data *data = lapis_dataset_data(ds);
  assert_int_equal(data->xy.rows, 4);
  CHECK_NEAR(lapis_mat_at(&data->xy, 1, 3), 4, 0);
  assert_int_equal(lapis_dataset_text(ds, "names").cols, 0);
  lapis_dataset_free(ds);
  image[3] = 2; /* of an image without a name */
  refuse(f, item, 4, LAPIS_ESHAPE, "names has 2 samples, X has 4");
}

static void members_that_do_not_fit_are_refused(void **state)
{
  files *f = *state;
  lapis_named item[] = {member("X", lapis_mat_f64(x, 2, 4)),
                        member("Y", lapis_mat_f64(x, 1, 3))};
  refuse(f, item, 2, LAPIS_ESHAPE, "a.npz: Y has 3 samples, X has 4");
  item[1] = member("group", lapis_mat_f64(x, 2, 4));
  refuse(f, item, 2, LAPIS_ESHAPE, "member group: has 2 values for each");
  item[1] = member("xy", lapis_mat_f64(x, 1, 4));
  refuse(f, item, 2, LAPIS_ESHAPE, "member xy: has 1 value for each");
  item[1] = member("feature_names", text_row(words, 3));
  refuse(f, item, 2, LAPIS_ESHAPE, "feature_names has 3 features, X has 2");
  item[1] = member("P", text_row(words, 4));
  refuse(f, item, 2, LAPIS_EFORMAT, "member P: is text");
  refuse(f, item + 1, 1, LAPIS_EMISSING,
         "X is missing; the members found are "
         "P");
  item[0] = member("X", lapis_mat_f64(x, 2, 0));
  refuse(f, item, 1, LAPIS_EMISSING, "has 0 samples");
}

static void odd_groups_are_refused(void **state)
{
  files *f = *state;
  double half[] = {1, 2, 2.5, 3}, none[] = {1, NAN, 2, 3};
  const char *gap[] = {"a", "", "b", "c"};
  lapis_named item[] = {member("X", lapis_mat_f64(x, 2, 4)),
                        member("group", lapis_mat_f64(half, 1, 4))};
  refuse(f, item, 2, LAPIS_EDATA, "the group of sample 3 is 2.5");
  item[1].mat.val = none;
  refuse(f, item, 2, LAPIS_EMISSING, "the group of sample 2 is missing");
  item[1] = member("group", text_row(gap, 4));
  refuse(f, item, 2, LAPIS_EMISSING, "the group of sample 2 is missing");
}

static void files_are_named_where_two_disagree(void **state)
{
  files *f = *state;
  lapis_dataset *ds = new_dataset(f);
  CHECK_REFUSED(f, lapis_dataset_finish(ds), LAPIS_EMISSING, "X");
  files_put_text(f, "x.csv", "1,2\n3,4\n");
  CHECK_OK(f, lapis_dataset_read_member(ds, "X", f->path, NULL));
  files_put_text(f, "y.csv", "1\n2\n3\n");
  CHECK_OK(f, lapis_dataset_read_member(ds, "Y", f->path, NULL));
  CHECK_REFUSED(f, lapis_dataset_finish(ds), LAPIS_ESHAPE, "y.csv Y 3 X 2");
  CHECK_REFUSED(f, lapis_dataset_read_member(ds, "Z", f->path, NULL),
                LAPIS_EINVAL, "Z");
  CHECK_REFUSED(f, lapis_dataset_read_member(ds, "Y", "/no/y.npz:Y", NULL),
                LAPIS_EIO, "/no/y.npz:Y");
  lapis_dataset_free(ds);
}

static void members_of_archives_are_asked_for_exactly(void **state)
{
  files *f = *state;
  char spec[600];
  lapis_named item[] = {member("a", lapis_mat_f64(x, 2, 4)),
                        member("b", lapis_mat_f64(x, 2, 4))};
  lapis_dataset *ds = new_dataset(f);
  put(f, "a.npz", item, 2);
  CHECK_REFUSED(f, lapis_dataset_read_member(ds, "X", f->path, NULL),
                LAPIS_EMISSING, "X");
  (void)snprintf(spec, sizeof spec, "%s:c", f->path);
  CHECK_REFUSED(f, lapis_dataset_read_member(ds, "X", spec, NULL),
                LAPIS_EMISSING, "");
  files_put_text(f, "a.csv", "1,2\n");
  (void)snprintf(spec, sizeof spec, "%s:c", f->path);
  CHECK_REFUSED(f, lapis_dataset_read_member(ds, "X", spec, NULL), LAPIS_EINVAL,
                "");
  lapis_dataset_free(ds);
}

static void single_values_are_refused(void **state)
{
  files *f = *state;
  lapis_arrays all;
  bytes b = bytes_npy(1,
                      "{'descr': '<f8', 'fortran_order': False, "
                      "'shape': (), }\n",
                      "12345678", 8);
  files_put(f, "a.npy", b.at, b.size);
  CHECK_OK(f, lapis_arrays_read(f->ctx, f->path, &all));
  assert_int_equal(all.item[0].axes, 0);
  assert_int_equal(all.item[0].mat.cols, 1);
  lapis_arrays_free(&all);
  lapis_dataset *ds = new_dataset(f);
  CHECK_OK(f, lapis_dataset_read(ds, f->path, NULL));
  CHECK_REFUSED(f, lapis_dataset_finish(ds), LAPIS_ESHAPE, "");
  lapis_dataset_free(ds);
}

/* ---- one order ----------------------------------------------------------*/
/* Names of X in a.npz, those beside Y in y.csv, and Y then; 0: not known. */
static const struct {
  const char *names[4], *table;
  double Y[4];
} orders[] = {
    {{"p", "q", "r", "s"}, "p,1\nq,2\nr,3\ns,4\n", {1, 2, 3, 4}},
    {{"p", "q", "r", "s"}, "p,1\nr,2\nq,3\ns,4\n", {1, 3, 2, 4}},
    {{"p", "q", "r", "s"}, "q,1\nr,2\ns,3\nt,4\n", {0, 1, 2, 3}},
    {{"p", "q", "r", "s"}, "q,1\ns,2\n", {0, 1, 0, 2}},
    /* a list's own folder and ending */
    {{"f/p.png", "f/q.png", "f/r.png", "f/s.png"},
     "p,1\nq,2\nr,3\ns,4\n",
     {1, 2, 3, 4}},
    {{"f/p.png", "f/q.png", "f/r.png", "f/s.png"},
     "g/p.jpg,1\ng/q.jpg,2\ng/r.jpg,3\ng/s.jpg,4\n",
     {1, 2, 3, 4}},
    {{"f/p.png", "f/q.png", "f/r.png", "f/s.png"},
     "p,1\nr,2\nq,3\ns,4\n",
     {1, 3, 2, 4}},
    /* folders and endings that tell names apart, and of one side alone */
    {{"f/1", "g/1", "f/2", "g/2"},
     "f/1,1\ng/1,2\nf/2,3\ng/2,4\n",
     {1, 2, 3, 4}},
    {{"f/1", "g/1", "f/2", "g/2"},
     "g/1,1\nf/1,2\nf/2,3\ng/2,4\n",
     {2, 1, 3, 4}},
    {{"f/p.png", "g/q.jpg", "r", "s"}, "p,1\nq,2\nr,3\ns,4\n", {1, 2, 3, 4}},
    {{"s.1", "s.2", "s.3", "s.4"},
     "s.1,1\ns.3,2\ns.2,3\ns.4,4\n",
     {1, 3, 2, 4}},
    {{"p", "xq", "r", "s"}, "p,1\nq,2\nr,3\ns,4\n", {1, 0, 3, 4}}};

/* X comes first as a member, then by its whole file. */
static void rows_are_joined_by_name(void **state)
{
  files *f = *state;
  char table[128], a[600], spec[620];
  lapis_table_options opt = {
      .target = "y", .id = "id", .header = LAPIS_HEADER_AUTO};
  for (size_t i = 0; i < 2 * (sizeof orders / sizeof *orders); i++) {
    lapis_named item[] = {
        member("X", lapis_mat_f64(x, 2, 4)),
        member("names", text_row((const char **)orders[i / 2].names, 4))};
    (void)snprintf(a, sizeof a, "%s", put(f, "a.npz", item, 2));
    (void)snprintf(spec, sizeof spec, "%s:X", a);
    (void)snprintf(table, sizeof table, "id,y\n%s", orders[i / 2].table);
    files_put_text(f, "y.csv", table);
    lapis_dataset *ds = new_dataset(f);
    if (i % 2 == 0)
      CHECK_OK(f, lapis_dataset_read_member(ds, "X", spec, &opt));
    else
      CHECK_OK(f, lapis_dataset_read(ds, a, &opt));
    CHECK_OK(f, lapis_dataset_read_member(ds, "Y", f->path, &opt));
    CHECK_OK(f, lapis_dataset_finish(ds));
    const lapis_mat *Y = &lapis_dataset_data(ds)->Y;
    for (int j = 0; j < 4; j++) {
      double y = lapis_mat_at(Y, 0, j), is = orders[i / 2].Y[j];
      assert_true(is > 0 ? y == is : isnan(y));
    }
    lapis_dataset_free(ds);
  }
}

/* By its name a sample stands in one line, as by its number, whatever is
 * joined; names of no sample of X do not matter. */
static void a_name_is_given_once(void **state)
{
  static const char *const members[] = {"Y", "P", "group", "weight"};
  static const char *const called[] = {"p", "q", "r", "s"};
  files *f = *state;
  char a[600];
  lapis_table_options opt = {.target = "y", .id = "id"};
  lapis_named item[] = {member("X", lapis_mat_f64(x, 2, 4)),
                        member("names", text_row((const char **)called, 4))};
  (void)snprintf(a, sizeof a, "%s", put(f, "a.npz", item, 2));
  for (int k = 0; k < 4; k++) {
    lapis_dataset *ds = new_dataset(f);
    CHECK_OK(f, lapis_dataset_read(ds, a, NULL));
    files_put_text(f, "y.csv", "id,y\nz,7\nr,3\n\nz,8\nq,2\nr,4\n");
    CHECK_REFUSED(f, lapis_dataset_read_member(ds, members[k], f->path, &opt),
                  LAPIS_EDATA, "y.csv:7:1: r line 3");
    files_put_text(f, "y.csv", "id,y\nz,7\nr,3\nz,8\nq,2\n");
    CHECK_OK(f, lapis_dataset_read_member(ds, members[k], f->path, &opt));
    lapis_dataset_free(ds);
  }
}

static void hear(int level, const char *text, void *user)
{
  char *to = user;
  if (level == 0)
    (void)snprintf(to + strlen(to), 1000 - strlen(to), "%s\n", text);
}

/* Y names its samples and X does not: said, unless the names count the rows. */
static void rows_paired_unnamed_are_told(void **state)
{
  static const struct {
    const char *table, *said;
  } cases[] = {{"id,y\nann,1\nbob,2\neve,3\njoe,4\n", "a.npz y.csv ann npz"},
               {"id,y\n1,1\n2,2\n3,3\n4,4\n", ""},
               {"id,y\n0,1\n1,2\n2,3\n3,4\n", ""},
               {"id,y\n1,1\n3,2\n2,3\n4,4\n", "a.npz y.csv npz"},
               {"y\n1\n2\n3\n4\n", ""}};
  files *f = *state;
  char a[600], said[1000];
  lapis_named item[] = {member("X", lapis_mat_f64(x, 2, 4))};
  lapis_ctx_on_message(f->ctx, hear, said);
  (void)snprintf(a, sizeof a, "%s", put(f, "a.npz", item, 1));
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    lapis_table_options opt = {.target = "y",
                               .id = cases[k].table[0] == 'i' ? "id" : NULL};
    lapis_dataset *ds = new_dataset(f);
    CHECK_OK(f, lapis_dataset_read(ds, a, NULL));
    files_put_text(f, "y.csv", cases[k].table);
    CHECK_OK(f, lapis_dataset_read_member(ds, "Y", f->path, &opt));
    *said = '\0';
    CHECK_OK(f, lapis_dataset_finish(ds));
    CHECK_OK(f, lapis_dataset_finish(ds)); /* once */
    check_says(said, cases[k].said);
    assert_int_equal(*said == '\0', cases[k].said[0] == '\0');
    lapis_dataset_free(ds);
  }
  lapis_ctx_on_message(f->ctx, NULL, NULL);
  lapis_table_options opt = {.target = "y", .id = "id"};
  lapis_dataset *ds = new_dataset(f);
  CHECK_OK(f, lapis_dataset_read(ds, a, NULL));
  files_put_text(f, "y.csv", "id,y\nann,1\nbob,2\n");
  CHECK_OK(f, lapis_dataset_read_member(ds, "Y", f->path, &opt));
  CHECK_REFUSED(f, lapis_dataset_finish(ds), LAPIS_ESHAPE,
                "y.csv Y 2 X 4 a.npz names .npz");
  lapis_dataset_free(ds);
}

/* The column of names is found although one is there twice. */
static void a_slip_hides_no_column(void **state)
{
  files *f = *state;
  enum { N = 24 };
  double X[N] = {0};
  const char *name[N];
  char word[N][16], a[600], table[1024] = "y,who\n";
  for (int j = 0; j < N; j++) {
    (void)snprintf(word[j], sizeof word[j], "s%d", j);
    name[j] = word[j];
  }
  for (int j = N - 1; j >= 0; j--) {
    size_t at = strlen(table);
    (void)snprintf(table + at, sizeof table - at, "%d,s%d\n", j,
                   j == 3 ? 11 : j);
  }
  lapis_named item[] = {member("X", lapis_mat_f64(X, 1, N)),
                        member("names", text_row(name, N))};
  (void)snprintf(a, sizeof a, "%s", put(f, "a.npz", item, 2));
  lapis_dataset *ds = new_dataset(f);
  CHECK_OK(f, lapis_dataset_read(ds, a, NULL));
  files_put_text(f, "y.csv", table);
  CHECK_REFUSED(f, lapis_dataset_read_member(ds, "Y", f->path, NULL),
                LAPIS_EDATA, "y.csv:22:3: s11 line 14");
  lapis_dataset_free(ds);
  const char *twice[] = {"s1", "s2", "s1"};
  lapis_named labels[] = {member("Y", lapis_mat_f64(X, 1, 3)),
                          member("names", text_row(twice, 3))};
  ds = new_dataset(f);
  CHECK_OK(f, lapis_dataset_read(ds, a, NULL));
  CHECK_REFUSED(
      f, lapis_dataset_read_member(ds, "Y", put(f, "y.npz", labels, 2), NULL),
      LAPIS_EDATA, "y.npz 1 3 s1");
  lapis_dataset_free(ds);
}

/* Numbers name samples, too; names of anything else do not matter, and a new X
 * brings its own. */
static void order_is_of_samples(void **state)
{
  files *f = *state;
  lapis_named item[] = {member("X", lapis_mat_f64(x, 2, 4)),
                        member("P", lapis_mat_f64(x, 1, 4)),
                        member("names", integer_row(numbers, 4))};
  lapis_table_options opt = {
      .target = "y", .id = "id", .header = LAPIS_HEADER_AUTO};
  lapis_dataset *ds = new_dataset(f);
  CHECK_OK(f, lapis_dataset_read(ds, put(f, "a.npz", item, 3), NULL));
  files_put_text(f, "y.csv", "id,y\n7,1\n7,2\n-3,3\n9,4\n");
  CHECK_OK(f, lapis_dataset_read_member(ds, "Y", f->path, &opt));
  files_put_text(f, "y.csv", "id,y\n7,1\n-3,3\n7,2\n9,4\n");
  CHECK_REFUSED(f, lapis_dataset_read_member(ds, "Y", f->path, &opt),
                LAPIS_EDATA, "y.csv:4:1: 7 line 2");
  item[2] = member("names", text_row(words, 3)); /* of three images, say */
  CHECK_OK(f, lapis_dataset_read_member(ds, "P", put(f, "p.npz", item + 1, 2),
                                        NULL));
  item[2] = member("names", text_row(words, 4));
  CHECK_REFUSED(
      f, lapis_dataset_read_member(ds, "P", put(f, "p.npz", item + 1, 2), NULL),
      LAPIS_EDATA, "b 7 p.npz");
  CHECK_OK(f, lapis_dataset_read(ds, put(f, "b.npz", item, 3), NULL));
  CHECK_OK(f, lapis_dataset_read_member(ds, "P", put(f, "p.npz", item + 1, 2),
                                        NULL));
  CHECK_OK(f, lapis_dataset_finish(ds));
  lapis_dataset_free(ds);
}

/* ---- scarcity -----------------------------------------------------------*/
static lapis_status write_and_read(files *f, const lapis_named *item, int count)
{
  lapis_dataset *ds;
  lapis_table_options opt = {
      .target = "kind", .id = "id", .header = LAPIS_HEADER_AUTO};
  lapis_status s =
      lapis_arrays_write(f->ctx, files_path(f, "a.npz"), "npz", item, count);
  if (s == LAPIS_OK) s = lapis_dataset_new(f->ctx, &ds);
  if (s < 0) return s;
  s = lapis_dataset_read(ds, f->path, NULL);
  if (s == LAPIS_OK) s = lapis_dataset_read_member(ds, "P", f->path, NULL);
  if (s == LAPIS_OK) s = lapis_dataset_read(ds, files_path(f, "b.csv"), &opt);
  if (s == LAPIS_OK) s = lapis_dataset_read_member(ds, "Y", f->path, &opt);
  files_path(f, "g.csv");
  if (s == LAPIS_OK) s = lapis_dataset_read_member(ds, "group", f->path, NULL);
  if (s == LAPIS_OK) s = lapis_dataset_finish(ds);
  lapis_dataset_free(ds);
  return s;
}

/* Whichever allocation fails, it is said so and nothing is lost. */
static void every_allocation_may_fail(void **state)
{
  files *f = *state;
  lapis_named item[] = {member("X", lapis_mat_f64(x, 2, 4)),
                        member("Y", text_row(words, 4)),
                        member("weight", integer_row(numbers, 4)),
                        member("P", integer_row(numbers, 4)),
                        member("names", text_row(words, 4))};
  files_put_text(f, "b.csv", "id,kind,p\n1,a,1\n2,b,2\n3,a,3\n4,,4\n");
  files_put_text(f, "g.csv", "u\nv\nu\nu\n");
  lapis_status s = LAPIS_ENOMEM;
  long k = 0;
  scarce.once = true;
  for (; s == LAPIS_ENOMEM; k++) {
    scarce.countdown = k;
    s = write_and_read(f, item, 5);
    scarce.countdown = -1;
  }
  scarce.once = false;
  CHECK_OK(f, s);
  CHECK_AT_LEAST((double)k, 40);
  assert_int_equal(files_count(f, false), 3);
}

#define FILES_TEST(t) \
  cmocka_unit_test_setup_teardown(t, files_setup, files_teardown)

int test_dataset(void)
{
  const struct CMUnitTest tests[] = {
      FILES_TEST(container_becomes_a_dataset),
      FILES_TEST(group_texts_count_by_appearance),
      FILES_TEST(narrow_types_are_widened),
      FILES_TEST(float32_stays_where_it_is_asked_for),
      FILES_TEST(other_shapes_mean_the_same),
      FILES_TEST(members_come_from_many_files),
      FILES_TEST(later_members_replace_earlier),
      FILES_TEST(labels_name_their_rows),
      FILES_TEST(rows_that_are_none_are_refused),
      FILES_TEST(numbers_are_of_rows),
      FILES_TEST(a_column_of_names_is_found),
      FILES_TEST(points_in_images_are_a_dataset),
      FILES_TEST(members_that_do_not_fit_are_refused),
      FILES_TEST(odd_groups_are_refused),
      FILES_TEST(files_are_named_where_two_disagree),
      FILES_TEST(members_of_archives_are_asked_for_exactly),
      FILES_TEST(single_values_are_refused),
      FILES_TEST(rows_are_joined_by_name),
      FILES_TEST(a_name_is_given_once),
      FILES_TEST(rows_paired_unnamed_are_told),
      FILES_TEST(arrays_forget_what_is_listed),
      FILES_TEST(a_slip_hides_no_column),
      FILES_TEST(order_is_of_samples),
      FILES_TEST(every_allocation_may_fail),
  };
  return run_cases(tests, NULL, NULL);
}
