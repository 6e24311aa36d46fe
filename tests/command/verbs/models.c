/* The command on tables that come later: what a model, and what cv wrote,
 * knows of them. */
#include "people_case.h"
#include "remarks.h"

/* A model finds its columns by their titles: another order, more columns, texts
 * among them, with or without names and targets, change no answer. */
static void columns_are_found_by_title(void **state)
{
  static const char *const tables[] = {
      "name,height,reach,colour\nann,1.81,,red\nbob,1.62,1.6,blue\n",
      "colour,remark,reach,tall,name,height\nred,so 1,,yes,ann,1.81\n"
      "blue,,1.6,,bob,1.62\n",
      "reach;since;colour;height;name;height of door\n"
      ";2020-01-02;red;1.81;ann;9\n1.6;2020-02-03;blue;1.62;bob;9\n",
      "\"reach\"\t\"colour\"\t\"height\"\t\"name\"\n"
      "\tred\t1.81\tann\n1.6\tblue\t1.62\tbob\n"};
  static const char *const unused[] = {
      NULL, ": \"remark\"\n", ": \"since\", \"height of door\"\n", NULL};
  command c;
  char first[4096] = "", again[4096];
  command_begin(&c);
  put(&c, "p.csv",
      "name,height,colour,reach,tall\nann,1.81,red,1.84,yes\n"
      "bob,1.62,blue,,no\neve,1.85,red,1.88,\nian,1.60,blue,1.61,\n"
      "joe,1.79,green,1.83,yes\nkim,1.58,blue,1.60,no\n");
  command_do(&c, "fit mc p.csv --id name --target tall --one-hot colour "
                 "--map standard --mu-rel .1 -q --model m.lapis");
  for (int k = 0; k < 4; k++) {
    put(&c, "new.csv", tables[k]);
    command_do(&c, "predict m.lapis new.csv -o a.csv --completed full.csv");
    const char *told = strstr(c.err, NOT_USED_BY_MODEL);
    if (unused[k] == NULL) assert_null(told);
    if (unused[k] != NULL) assert_non_null(told);
    if (told != NULL) assert_non_null(strstr(told, unused[k]));
    assert_string_equal(c.out, "2 samples predicted, written to a.csv and "
                               "full.csv\n");
    command_slurp(&c, "a.csv", k == 0 ? first : again, sizeof first);
    for (char *at = again; (at = strchr(at, ';')) != NULL;) *at = ',';
    if (k > 0) assert_string_equal(first, again);
    /* the cell that was empty, wherever its column stands */
    static const int column[] = {2, 2, 0, 0};
    CHECK_NEAR(number(&c, "full.csv", 1, column[k]), 1.84, 0.05);
    if (k == 1) assert_string_equal(cell(&c, "full.csv", 2, 3, ','), "no");
    command_do(&c, "predict m.lapis -X new.csv");
    assert_string_equal(c.out, "ann\tyes\nbob\tno\n");
  }
  static const struct {
    const char *text, *options, *said;
    int code;
  } wrong[] = {
      {"name,reach,colour\nann,1.8,red\n", "",
       "has no column \"height\", a feature of the model", 4},
      {"name,heigth,colour\nann,1.8,red\n", "",
       "has no column \"height\" (did you mean 'heigth'?), a feature of the "
       "model, nor 1 other",
       4},
      {"name,height,reach\nann,1.8,1.8\n", "", "has no column \"colour", 4},
      {"name,height,reach,colour,height\nann,1.8,1.8,red,1.8\n", "",
       "more columns are named \"height\"", 2},
      {"name,height,reach,colour\nann,1.8,1.8,red\n", "--id nom",
       "has no column \"nom\"", 2},
  };
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    put(&c, "new.csv", wrong[k].text);
    command_run(&c, "predict m.lapis new.csv %s", wrong[k].options);
    command_expect(&c, wrong[k].code, wrong[k].said);
  }
  command_end(&c);
}

/* A model of a table with a number and words, and the table itself. */
static void fit_words(command *c)
{
  put(c, "w.arff",
      "@relation w\n@attribute sky {sun, cloud, rain}\n@attribute heat "
      "numeric\n"
      "@attribute wind {no, yes}\n@attribute play {a, b}\n@data\n"
      "sun,30,yes,a\nrain,10,no,b\ncloud,?,no,b\nsun,28,no,a\n"
      "rain,12,?,b\ncloud,21,yes,?\n?,25,yes,a\n");
  command_do(c, "fit mc w.arff --target play --mu-rel .01 -q --model w.lapis");
}

/* The scores of file's samples are those in was.npz, to the bit. */
static void check_same_scores(command *c, const char *file)
{
  command_do(c, "predict w.lapis %s -q -o now.npz", file);
  (void)command_same(c, "was.npz", "now.npz", "scores");
}

/* ARFF says itself what its words stand for, each file in its own order: a
 * model knows them by name, in ARFF and in other tables. */
static void arff_is_read_as_the_model_names_it(void **state)
{
  command c;
  command_begin(&c);
  fit_words(&c);
  command_do(&c, "predict w.lapis w.arff -q -o was.npz");
  put(&c, "other.arff",
      "@relation w\n@attribute wind {yes, no}\n@attribute heat numeric\n"
      "@attribute more string\n@attribute sky {rain, fog, sun, cloud}\n@data\n"
      "yes,30,x,sun\nno,10,x,rain\nno,?,x,cloud\nno,28,x,sun\n"
      "?,12,x,rain\nyes,21,x,cloud\nyes,25,x,?\n");
  put(&c, "other.csv",
      "heat,sky,wind\n30,sun,yes\n10,rain,no\n,cloud,no\n28,sun,no\n"
      "12,rain,\n21,cloud,yes\n25,,yes\n");
  put(&c, "sparse.arff",
      "@relation w\n@attribute wind {yes, no}\n@attribute heat numeric\n"
      "@attribute sky {sun, cloud, rain}\n@data\n{1 30}\n{0 no,1 10,2 rain}\n"
      "{0 no,1 ?,2 cloud}\n{0 no,1 28}\n{0 ?,1 12,2 rain}\n{1 21,2 cloud}\n"
      "{1 25,2 ?}\n");
  check_same_scores(&c, "other.arff");
  check_same_scores(&c, "other.csv");
  check_same_scores(&c, "sparse.arff");
  command_do(&c, "predict w.lapis other.arff -q --completed full.csv");
  assert_string_equal(cell(&c, "full.csv", 2, 0, ','), "no");
  assert_string_equal(cell(&c, "full.csv", 2, 3, ','), "rain");
  command_do(&c, "predict w.lapis w.arff -q --completed was.csv");
  char sky_was[256], wind_was[256];
  snprintf(sky_was, sizeof sky_was, "%s", cell(&c, "was.csv", 7, 0, ','));
  snprintf(wind_was, sizeof wind_was, "%s", cell(&c, "was.csv", 5, 2, ','));
  assert_string_equal(cell(&c, "full.csv", 7, 3, ','), sky_was);
  assert_string_equal(cell(&c, "full.csv", 5, 0, ','), wind_was);
  command_end(&c);
}

/* Words that a model has not met are not taken for those that it has. */
static void other_words_are_not_the_models(void **state)
{
  command c;
  command_begin(&c);
  fit_words(&c);
  put(&c, "words.arff",
      "@relation w\n@attribute heat {hot, warm, cold}\n"
      "@attribute wind {yes, no}\n@attribute sky {sun, cloud, rain}\n@data\n"
      "hot,yes,sun\n");
  command_run(&c, "predict w.lapis words.arff");
  command_expect(&c, 4, "heat words.arff:2");
  command_expect(&c, 4, "");
  put(&c, "two.arff",
      "@relation w\n@attribute heat {hot, cold}\n@attribute wind {yes, no}\n"
      "@attribute sky {sun, cloud, rain}\n@data\nhot,yes,sun\n");
  command_run(&c, "predict w.lapis two.arff");
  command_expect(&c, 4, "heat two.arff:2");
  put(&c, "text.arff",
      "@relation w\n@attribute heat string\n@attribute wind {yes, no}\n"
      "@attribute sky {sun, cloud, rain}\n@data\n3,yes,sun\n");
  command_run(&c, "predict w.lapis text.arff");
  command_expect(&c, 4, "heat text.arff:2");
  put(&c, "text2.arff",
      "@relation w\n@attribute heat numeric\n@attribute wind {yes, no}\n"
      "@attribute sky string\n@data\n3,yes,sun\n");
  command_run(&c, "predict w.lapis text2.arff");
  command_expect(&c, 4, "sky text2.arff:4");
  put(&c, "words2.arff",
      "@relation w\n@attribute heat numeric\n@attribute wind {Yes, No}\n"
      "@attribute sky {sun, cloud, rain}\n@data\n3,No,sun\n");
  command_run(&c, "predict w.lapis words2.arff");
  command_expect(&c, 4, "wind yes no words2.arff:3");
  /* a word that the model has not met is as good as none */
  put(&c, "a.csv", "heat,sky,wind\n20,sun,Yes\n20,fog,no\n");
  put(&c, "a.arff",
      "@relation w\n@attribute heat numeric\n@attribute wind {yes, no, maybe}\n"
      "@attribute sky {sun, cloud, rain, fog}\n@data\n20,maybe,sun\n"
      "20,no,fog\n");
  put(&c, "c.arff",
      "@relation w\n@attribute heat numeric\n@attribute wind {yes, no, maybe}\n"
      "@attribute sky {sun, cloud, rain, fog}\n@data\n20,maybe,sun\n"
      "20,?,sun\n20,no,fog\n20,no,'fog'\n");
  put(&c, "b.arff", /* what is declared, and not there, is nothing */
      "@relation w\n@attribute heat numeric\n@attribute wind {yes, no, maybe}\n"
      "@attribute sky {sun, cloud, rain, fog}\n@data\n20,yes,sun\n");
  put(&c, "b.csv", "heat,sky,wind\n20,sun,\n20,,no\n");
  command_do(&c, "predict w.lapis b.csv -q -o was.npz");
  check_same_scores(&c, "a.csv");
  check_same_scores(&c, "a.arff");
  command_run(&c, "predict w.lapis c.arff");
  command_expect(&c, 0, "c.arff:6:4: \"maybe\" " NO_VALUE_OF);
  check_says(c.err, "fog sky c.arff:8:7 1");
  command_do(&c, "predict w.lapis b.arff");
  assert_null(strstr(c.err, "is not a value of"));
  put(&c, "numbers.arff",
      "@relation w\n@attribute heat numeric\n@attribute wind numeric\n"
      "@attribute sky {sun, cloud, rain}\n@data\n3,1,sun\n");
  command_run(&c, "predict w.lapis numbers.arff");
  command_expect(&c, 4, "wind numbers.arff:3");
  put(&c, "less.arff",
      "@relation w\n@attribute heat numeric\n@attribute wind {yes, no}\n"
      "@data\n3,no\n");
  command_run(&c, "predict w.lapis less.arff");
  command_expect(&c, 4, "sky sky=sun");
  command_end(&c);
}

/* A word that the model has not met is told where it stands, and not once more
 * as a column that is known less often; what nobody wrote is. */
static void what_is_not_met_is_told_once(void **state)
{
  enum { ROWS = 40 };
  static const char *const colour[] = {"red", "blue", "green"};
  uint64_t seed = 5;
  command c;
  char text[4096] = "x,colour,y\n", met[4096] = "x,colour\n",
       gap[4096] = "x,colour\n",
       arff[4096] = "@relation w\n@attribute x numeric\n@attribute colour "
                    "{red, blue, green, pink}\n@data\n";
  command_begin(&c);
  for (int j = 0; j < ROWS; j++) {
    double x = check_normal(&seed);
    const char *word = j % 2 ? "pink" : colour[j / 2 % 3];
    sprintf(text + strlen(text), "%.3f,%s,%s\n", x, colour[j % 3],
            x + (j % 3 == 0) > 0 ? "a" : "b");
    sprintf(met + strlen(met), "%.3f,%s\n", x, word);
    sprintf(gap + strlen(gap), "%.3f,%s\n", x, j % 2 ? "" : word);
    sprintf(arff + strlen(arff), "%.3f,%s\n", x, word);
  }
  put(&c, "t.csv", text);
  put(&c, "met.csv", met);
  put(&c, "met.arff", arff);
  put(&c, "gap.csv", gap);
  command_do(&c, "fit linear t.csv --target y --one-hot colour -q --model "
                 "m.lapis");
  static const char *const file[] = {"met.csv", "met.arff"};
  for (int k = 0; k < 2; k++) {
    command_run(&c, "predict m.lapis %s -o p.csv", file[k]);
    command_expect(&c, 0, "\"pink\" " NO_VALUE_OF);
    assert_null(strstr(c.err, MAY_NOT_HOLD_HERE));
  }
  command_run(&c, "predict m.lapis gap.csv -o p.csv");
  command_expect(&c, 0, "colour 20 40 " MAY_NOT_HOLD_HERE);
  command_end(&c);
}

/* What meant unknown in the fit means it in predict, unless that says else. */
static void words_for_unknown_stay(void **state)
{
  command c;
  char text[4000] = "id,a,b,kind\n", plain[4096];
  uint64_t seed = 3;
  command_begin(&c);
  for (int j = 0; j < 40; j++) {
    double a = check_normal(&seed);
    sprintf(text + strlen(text), "r%d,%.2f,%.2f,%s\n", j, j % 6 ? a : -999.,
            a + .1 * check_normal(&seed), a > 0 ? "yes" : "no");
  }
  put(&c, "t.csv", text);
  put(&c, "coded.csv", "id,a,b\nx,-999,1\ny,1,none\nz,-1,-1\n");
  put(&c, "empty.csv", "id,a,b\nx,,1\ny,1,\nz,-1,-1\n");
  command_run(&c, "fit linear t.csv --id id --target kind --missing none,-999 "
                  "--model m.lapis -q");
  command_expect(&c, 0, "");
  command_run(&c, "predict m.lapis empty.csv -o p.csv");
  command_expect(&c, 0, "");
  command_slurp(&c, "p.csv", plain, sizeof plain);
  command_run(&c, "predict m.lapis coded.csv -o p.csv");
  command_expect(&c, 0, "");
  command_slurp(&c, "p.csv", text, sizeof text);
  assert_string_equal(text, plain);
  command_run(&c, "predict m.lapis coded.csv --missing ,none -o p.csv");
  command_expect(&c, 0, "");
  command_slurp(&c, "p.csv", text, sizeof text);
  assert_string_not_equal(text, plain);
  command_end(&c);
}

/* Another unit, or a lost point, is warned of; samples like those of the fit
 * are not. */
static void values_elsewhere_are_told(void **state)
{
  static char text[8192];
  command c;
  uint64_t seed = 8;
  command_begin(&c);
  strcpy(text, "id,metres,degrees,kind\n");
  for (int j = 0; j < 60; j++) {
    double a = check_normal(&seed);
    sprintf(text + strlen(text), "r%d,%.1f,%.1f,%s\n", j, 500 + 100 * a,
            10 + check_normal(&seed), a > 0 ? "high" : "low");
  }
  put(&c, "t.csv", text);
  put(&c, "like.csv",
      "id,metres,degrees\na,510,10\nb,450,\nc,520,9\nd,480,11\n"
      "e,530,10\n");
  put(&c, "km.csv",
      "id,metres,degrees\na,.51,10\nb,.45,\nc,.52,9\nd,.48,11\n"
      "e,.53,10\n");
  put(&c, "lost.csv", "id,metres,degrees\na,510,104\nb,450,\n");
  command_do(&c, "fit linear t.csv --id id --target kind --model m.lapis -q");
  command_do(&c, "predict m.lapis like.csv -o p.csv");
  assert_null(strstr(c.err, IN_THE_SAME_UNIT));
  command_do(&c, "predict m.lapis km.csv -o p.csv");
  assert_non_null(strstr(c.err, "metres: of 5 values 5 lie outside"));
  assert_null(strstr(c.err, "degrees"));
  command_do(&c, "predict m.lapis lost.csv -o p.csv");
  assert_non_null(strstr(c.err, "degrees: of 1 values 1 lie outside"));
  command_end(&c);
}

/* Of several targets of words the second word is what scores are of. */
static void titles_name_target_and_class(void **state)
{
  static const struct {
    const char *method, *what;
  } tried[] = {{"linear", "probability"}, {"mc --mu-rel .1", "score"}};
  static const char *const words[][2] = {{"ja", "nein"}, {"on", "off"}};
  command c;
  char text[4000], title[80];
  command_begin(&c);
  for (int w = 0; w < 2; w++) { /* the same words in both, or others */
    uint64_t seed = 11;
    strcpy(text, "id,a,b,sick,tall\n");
    for (int j = 0; j < 40; j++) {
      double a = check_normal(&seed), b = check_normal(&seed);
      sprintf(text + strlen(text), "r%d,%.2f,%.2f,%s,%s\n", j, a, b,
              j % 5 == 4 ? "" : words[0][a > 0], words[w][b > 0]);
    }
    put(&c, "two.csv", text);
    for (int k = 0; k < 2; k++) {
      command_run(&c, "fit %s two.csv --id id --target sick,tall -q -o a.csv",
                  tried[k].method);
      command_expect(&c, 0, "");
      snprintf(title, sizeof title, "%s of sick: nein", tried[k].what);
      assert_string_equal(cell(&c, "a.csv", 0, 5, ','), title);
      snprintf(title, sizeof title, "%s of tall: %s", tried[k].what,
               w == 0 ? "nein" : "on");
      assert_string_equal(cell(&c, "a.csv", 0, 6, ','), title);
      command_run(&c, "eval auroc --truth two.csv --id id --target sick,tall "
                      "--scores a.csv");
      command_expect(&c, 0, "");
      double value;
      assert_int_equal(sscanf(c.out, "auroc %lf", &value), 1);
      CHECK_AT_LEAST(value, w == 0 ? .9 : .5);
    }
  }
  command_end(&c);
}

/* Probabilities where the method has any, else scores: the table holds what the
 * .npz does, under the name of the class, and eval reads either. */
static void tables_tell_probabilities(void **state)
{
  static const struct {
    const char *fit, *target, *array, *title[3];
  } tried[] = {
      {"linear", "tall", "probabilities", {"probability of yes"}},
      {"linear --drop tall", "bad", "probabilities", {"probability of bad"}},
      {"trees --drop tall",
       "size",
       "probabilities",
       {"probability of 3", "probability of 5", "probability of 7"}},
      {"mc --drop tall --mu-rel .1",
       "size",
       "scores",
       {"score of 3", "score of 5", "score of 7"}},
      {"svmplus", "tall", "scores", {"score of yes"}}};
  command c;
  char text[4000] = "height,reach,tall,size,bad\n";
  uint64_t seed = 5;
  command_begin(&c);
  for (int j = 0; j < 30; j++) {
    double h = 1.7 + .1 * check_normal(&seed);
    sprintf(text + strlen(text), "%.3f,%.3f,%s,%d,%d\n", h,
            h + .02 * check_normal(&seed), h > 1.7 ? "yes" : "no",
            3 + 2 * (j % 3), h > 1.75);
  }
  put(&c, "p.csv", text);
  for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
    lapis_arrays all;
    static const char *const to[] = {"a.csv", "a.npz"};
    for (int i = 0; i < 2; i++) {
      command_do(&c, "fit %s p.csv --target %s -q -o %s", tried[k].fit,
                 tried[k].target, to[i]);
    }
    command_arrays(&c, "a.npz", &all);
    const lapis_mat *p = &lapis_arrays_find(&all, tried[k].array)->mat;
    int last = (int)p->rows - 1, first = 0; /* of the columns of the sheet */
    while (strncmp(cell(&c, "a.csv", 0, first, ','), tried[k].title[0], 64) !=
           0)
      if (++first > 5)
        fail_msg("%s: no column %s", tried[k].fit, tried[k].title[0]);
    for (int i = 0; i <= last; i++)
      assert_string_equal(cell(&c, "a.csv", 0, first + i, ','),
                          tried[k].title[i]);
    command_slurp(&c, "a.csv", text, sizeof text); /* and no other of them */
    assert_int_equal(strstr(text, "score") == NULL,
                     strcmp(tried[k].array, "scores") != 0);
    assert_int_equal(strstr(text, "probability") == NULL,
                     strcmp(tried[k].array, "scores") == 0);
    for (int j = 0; j < 30; j++)
      for (int i = 0; i <= last; i++)
        CHECK_NEAR(number(&c, "a.csv", j + 1, first + i), lapis_mat_at(p, i, j),
                   1e-5); /* six digits */
    lapis_arrays_free(&all);
    if (k > 0) continue; /* of one line of scores both files rank alike */
    for (int i = 0; i < 2; i++) {
      command_do(&c, "eval auroc --truth p.csv --target tall --scores %s",
                 to[i]);
      c.out[strcspn(c.out, "\n")] = '\0'; /* the table says more */
      if (i == 0) strcpy(text, c.out);
    }
    assert_string_equal(text, c.out);
  }
  command_end(&c);
}

/* What cv found is what fit uses: by the file, and by the line it prints. */
static void fit_reads_what_cv_wrote(void **state)
{
  static const char before[] = "on all samples: lapis ";
  command c;
  char text[4000] = "height,reach,tall\n", line[2048], file[4096], said[4096];
  uint64_t seed = 5;
  command_begin(&c);
  for (int j = 0; j < 30; j++) {
    double h = 1.7 + .1 * check_normal(&seed);
    sprintf(text + strlen(text), "%.3f,%.3f,%s\n", h,
            h + .02 * check_normal(&seed), h > 1.7 ? "yes" : "no");
  }
  put(&c, "my p.csv", text);
  command_run(&c, "cv mc 'my p.csv' --target tall --map standard,scale:2 "
                  "--gamma 2 --grid mu-rel=.5,.02 --grid lambda=.3,3 --folds 3 "
                  "--positive no --config best.json");
  command_expect(&c, 0, before);
  const char *at = strstr(c.err, before) + sizeof before - 1;
  snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
  command_do(&c, "%s -q -o said.csv", line);
  command_do(&c, "fit mc 'my p.csv' --target tall --config best.json -q --json "
                 "-o file.csv");
  lapis_json *v = command_json(c.out);
  const lapis_json *set = lapis_json_get(v, "settings");
  assert_true(lapis_json_number(set, "gamma", 0) == 2);
  assert_true(lapis_json_number(set, "mu-rel", 0) < 1);
  lapis_json_free(v);
  command_slurp(&c, "file.csv", file, sizeof file);
  command_slurp(&c, "said.csv", said, sizeof said);
  assert_string_equal(file, said);
  assert_non_null(strstr(file, "score of no"));
  command_run(&c,
              "fit mc 'my p.csv' --target tall --map standard -q -o said.csv "
              "--config best.json"); /* what is said counts more */
  command_expect(&c, 0, "");
  command_slurp(&c, "said.csv", said, sizeof said);
  assert_string_not_equal(file, said);
  command_do(&c, "fit mc 'my p.csv' --target tall --mu .01 -q --config "
                 "best.json");
  put(&c, "mu.json", "{\"mu\": 0.05}");
  command_run(&c, "fit mc 'my p.csv' --target tall --mu-rel .2 -q --config "
                  "mu.json"); /* the same thing, said otherwise */
  command_expect(&c, 0, "");
  static const struct {
    const char *text, *said;
    int code;
  } wrong[] = {{"{\"gamma\": 1, \"eta\": 2, \"method\": \"rlda\"}",
                "settings of rlda, not of mc; 'lapis fit rlda'", 2},
               {"{\"lamda\": 1}", "mc has no setting 'lamda'", 4},
               {"{\"lambda\": -1}", "lambda", 2},
               {"{}", "holds no settings", 4},
               {"[1]", "holds no settings", 4},
               {"x", "w.json", 4}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    put(&c, "w.json", wrong[k].text);
    command_run(&c,
                "fit mc 'my p.csv' --target tall --config w.json -o no.npz");
    command_expect(&c, wrong[k].code, wrong[k].said);
    assert_false(command_exists(&c, "no.npz"));
  }
  command_end(&c);
}

/* One warning, with the first names that repeat. */
static void names_that_repeat(void **state)
{
  command c;
  begin(&c);
  put(&c, "t.csv",
      "name,h,r,y\nann,1,2,yes\nbob,3,1,no\n,2,2,\nbob,3,2,no\n,1,1,yes\n"
      "ann,2,2,yes\nbob,3,1,no\n");
  command_run(&c, "fit mc t.csv --id name --target y --mu-rel .1");
  command_expect(&c, 0,
                 "lapis: warning: fit: --id name: \"bob\" " NAMES_BOTH
                 " row 2 and row 4, \"ann\" row 1 and row 6");
  char *first = strstr(c.err, NAMES_BOTH);
  assert_null(strstr(first + 1, NAMES_BOTH));
  command_do(&c, "fit mc people.csv --id name --target tall --mu-rel .1");
  assert_null(strstr(c.err, NAMES_BOTH));
  command_end(&c);
}

/* A folder is no model, whether it holds a result in parts or not. */
static void folders_are_no_models(void **state)
{
  command c;
  begin(&c);
  command_do(&c, FIT "-o parts/");
  command_run(&c, "predict parts/ people.csv");
  command_expect(&c, 4, "");
  command_run(&c, "formats >/dev/null; mkdir %s/none", c.folder);
  command_run(&c, "predict none/ people.csv");
  command_expect(&c, 4, "none/ index.json");
  assert_non_null(strstr(c.err, MODEL_FIRST));
  command_end(&c);
}

/* Refused before anything is computed, which -v would tell of. */
static void one_way_maps_are_refused_first(void **state)
{
  static const char *const learn[] = {"mc --mu-rel .1", "rlda --lambda .1",
                                      "rpca"};
  command c;
  begin(&c);
  for (int k = 0; k < 3; k++) {
    command_do(&c,
               "fit %s people.csv --id name --target tall --map "
               "impute,nystrom:2:8 --model m.lapis -q",
               learn[k]);
    command_run(&c, "predict m.lapis people.csv --id name --target tall -v "
                    "-o early.npz --completed full.csv");
    command_expect(&c, 2, "");
    assert_string_equal(c.out, "");
    assert_false(command_exists(&c, "early.npz"));
  }
  command_do(
      &c,
      "fit linear people.csv --id name --target tall --map "
      "impute,nystrom:2:8 --model m.lapis -q --completed full.csv"); /* fills
                                                                        targets
                                                                        alone */
  command_do(&c, "predict m.lapis people.csv --id name --target tall -q "
                 "--sure 0 --completed again.csv");
  assert_string_equal(cell(&c, "again.csv", 2, 2, ','), "");
  assert_true(*cell(&c, "again.csv", 3, 3, ',') != '\0');
  command_end(&c);
}

/* New images are not moved, so a model is of images that were not. */
static void models_of_points_are_of_images_as_they_lie(void **state)
{
  command c;
  command_begin(&c);
  put(&c, "turned.csv",
      "x,y\n0,0\n4,0\n4,1\n2,3\n0,2\n0,1\n5,1\n5,2\n3,4\n1,3\n"
      "0,2\n4,2\n4,3\n2,5\n0,4\n");
  put(&c, "image.csv", "a\na\na\na\na\nb\nb\nb\nb\nb\nc\nc\nc\nc\nc\n");
  command_run(&c, "fit roml turned.csv -G image.csv --inliers 5 --layout "
                  "coordinates --model m.lapis --json");
  command_expect(&c, 0, "--invariance none");
  assert_non_null(strstr(c.out, "\"invariance\": \"none\""));
  command_do(&c, "predict m.lapis turned.csv -G image.csv -q");
  command_run(&c, "fit roml turned.csv -G image.csv --inliers 5 --layout "
                  "coordinates --invariance shift --model n.lapis");
  command_expect(&c, 2, "--invariance --model");
  command_end(&c);
}

int test_models(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_are_found_by_title),
      cmocka_unit_test(models_of_points_are_of_images_as_they_lie),
      cmocka_unit_test(arff_is_read_as_the_model_names_it),
      cmocka_unit_test(other_words_are_not_the_models),
      cmocka_unit_test(values_elsewhere_are_told),
      cmocka_unit_test(titles_name_target_and_class),
      cmocka_unit_test(what_is_not_met_is_told_once),
      cmocka_unit_test(words_for_unknown_stay),
      cmocka_unit_test(tables_tell_probabilities),
      cmocka_unit_test(fit_reads_what_cv_wrote),
      cmocka_unit_test(names_that_repeat),
      cmocka_unit_test(folders_are_no_models),
      cmocka_unit_test(one_way_maps_are_refused_first),
  };
  return run_cases(tests, NULL, NULL);
}
