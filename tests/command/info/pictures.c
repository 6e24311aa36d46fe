/* lapis info of pictures, of folders of them, and of tables of their labels. */
#include "command.h"
#include "remarks.h"

static void put(const command *c, const char *name, const char *text)
{
  command_write(c, name, text, strlen(text));
}

static void says(const command *c, const char *words)
{
  if (strstr(c->out, words) == NULL) fail_msg("no '%s' in: %s", words, c->out);
}

static const char colour[] = "P6\n3 2\n255\nabcdefghijklmnopqr";

/* A colour picture of 3 x 2 pixels, a grey one of 2 x 2, one that is none. */
static void put_pictures(command *c)
{
  static const char grey[] = "P5\n2 2\n255\nabcd";
  command_run(c, "formats >/dev/null; (mkdir %s/photos %s/none %s/Photos)",
              c->folder, c->folder, c->folder);
  assert_int_equal(c->code, 0);
  command_write(c, "photos/a.ppm", colour, sizeof colour - 1);
  command_write(c, "photos/b.pgm", grey, sizeof grey - 1);
}

/* A table of labels is all texts: its titles are no class that occurs once. */
static void tables_of_labels(void **state)
{
  command c;
  command_begin(&c);
  put(&c, "labels.csv",
      "name,eyes\na.png,open\nb.png,dark\nc.png,open\n"
      "d.png,dark\ne.png,\n");
  command_do(&c, "info labels.csv");
  says(&c, "2 columns, 5 rows below a header");
  says(&c, "eyes             class          1 missing   open 2, dark 2\n");
  says(&c, "lapis label IMAGE... --labels labels.csv\n");
  assert_null(strstr(c.out, "occurs once"));
  assert_null(strstr(c.out, "cannot be used"));
  command_run(&c, "info labels.csv --header no");
  says(&c, "2 columns, 6 rows, ");
  put(&c, "people.csv",
      "file,eyes,person\na.png,open,7\nb.png,dark,7\nc.png,,9\nd.png,open,9\n"
      "e.png,dark,9\nf.png,open,12\ng.png,,12\n");
  command_do(&c, "info people.csv");
  says(&c, "lapis label IMAGE... --labels people.csv --target eyes\n");
  says(&c, LIKE_A_GROUP "add --groups person");
  put(&c, "whole.csv", /* of two without gaps the one of fewer is asked */
      "file,eyes,person\na.png,open,an\nb.png,dark,an\nc.png,dark,bo\n"
      "d.png,open,bo\ne.png,dark,cy\nf.png,open,cy\n");
  command_do(&c, "info whole.csv");
  says(&c, "lapis label IMAGE... --labels whole.csv --target eyes\n");
  says(&c, LIKE_A_GROUP "add --groups person");
  put(&c, "bare.csv", "a.png,open\nb.png,dark\nc.png,open\nd.png,dark\n");
  command_run(&c, "info bare.csv");
  says(&c, "2 columns, 4 rows, ");
  says(&c, "open 2, dark 2");
  command_end(&c);
}

/* Places in pictures go to what reads them; x and y alone are numbers. */
static void tables_of_places(void **state)
{
  command c;
  command_begin(&c);
  put(&c, "first.csv", "x,y,point\n5,6,eye\n7,8,nose\n");
  command_do(&c, "info first.csv");
  says(&c, "lapis match IMAGE... --first first.csv\n");
  put(&c, "xy.csv", "file,x,y\na.png,5,6\na.png,7,8\nb.png,1,2\n");
  command_do(&c, "info xy.csv");
  says(&c, "lapis match IMAGE... --xy xy.csv\n");
  put(&c, "boxes.csv", "image,x,y,width,height\na.png,5,6,7,8\n");
  command_do(&c, "info boxes.csv");
  says(&c, "lapis locate IMAGE... --boxes boxes.csv\n");
  put(&c, "numbers.csv", "x,y\n5,6\n7,8\n1,2\n");
  command_run(&c, "info numbers.csv");
  assert_null(strstr(c.out, "IMAGE"));
  command_end(&c);
}

static void pictures_and_folders(void **state)
{
  command c;
  command_begin(&c);
  put_pictures(&c);
  command_do(&c, "info photos/a.ppm");
  says(&c, "a picture, 3 x 2 pixels, colour");
  command_do(&c, "info photos/b.pgm --json");
  lapis_json *v = command_json(c.out);
  assert_true(lapis_json_number(v, "width", 0) == 2);
  assert_true(lapis_json_number(v, "channels", 0) == 1);
  lapis_json_free(v);
  put(&c, "photos/c.png", "no picture at all");
  command_do(&c, "info photos");
  says(&c, "a folder of 3 pictures (");
  says(&c, "the first of 3 x 2 pixels, colour");
  says(&c, "lapis label photos --labels F.csv");
  assert_null(strstr(c.out, "--folder-is-class"));
  command_do(&c, "info .");
  says(&c, "lapis label . --folder-is-class");
  assert_null(strstr(c.out, CLASS_OF_ONE));
  put(&c, "Photos/e.ppm", colour);
  command_do(&c, "info .");
  says(&c, "\"Photos\" " CLASS_OF_ONE);
  says(&c, DIFFER_IN_CASE);
  command_do(&c, "formats >/dev/null; rm -r %s/Photos", c.folder);
  command_run(&c, "info photos --json");
  v = command_json(c.out);
  assert_true(lapis_json_number(v, "pictures", 0) == 3);
  lapis_json_free(v);
  command_run(&c, "info none");
  command_expect(&c, 4, "");
  command_run(&c, "info photos/c.png");
  command_expect(&c, 4, "photos/c.png");
  put(&c, "photos/d.ppm", "P6\n3 2\n255\nabc");
  command_run(&c, "info photos/d.ppm");
  command_expect(&c, 4, "photos/d.ppm");
  put(&c, "photos/my photo.pgm", "P5\n2 2\n255\nabcd");
  command_run(&c, "info 'photos/my photo.pgm'");
  says(&c, "lapis features color-moments 'photos/my photo.pgm' -o ");
  command_run(&c, "info photos >/dev/null; (cd %s && mv photos 'my photos')",
              c.folder);
  command_run(&c, "info 'my photos'");
  says(&c, "lapis label 'my photos' --labels F.csv");
  says(&c, "lapis match 'my photos', lapis locate 'my photos'");
  command_end(&c);
}

/* Pictures are no data yet: what makes them so is said, and can be done. */
static void pictures_become_features(void **state)
{
  static const struct {
    const char *line, *said;
  } tried[] = {
      {"fit rpca photos", "then 'lapis fit rpca F.npz'"},
      {"fit mc -X photos/ --mu-rel .1", "then 'lapis fit mc F.npz'"},
      {"cv mc photos --grid mu-rel=.1,.5", "then 'lapis cv mc F.npz'"},
      {"fit roml photos", "first 'lapis features sift photos -o F.npz'"},
      {"predict m.lapis photos", "then 'lapis predict MODEL F.npz'"},
      {"convert photos o.csv", "first 'lapis features pixels photos -o F.npz'"},
  };
  command c;
  command_begin(&c);
  put_pictures(&c);
  put(&c, "oats.tsv",
      "farm\tyield\tsoil\topen\na\t1.5\tclay\tyes\nb\t2.5\tsand\tno\n"
      "c\t3.5\tclay\t\nd\t\tsand\tyes\ne\t5.5\tclay\tno\n");
  command_do(&c, "fit mc oats.tsv --id farm --target open --one-hot soil "
                 "--mu-rel .1 -q --model m.lapis");
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    command_run(&c, "%s", tried[i].line);
    command_expect(&c, 4, "");
    command_expect(&c, 4, tried[i].said);
  }
  command_run(&c, "fit rpca none"); /* as of any other folder */
  command_expect(&c, 4, "index.json");
  command_run(&c, "info photos");
  says(&c, "lapis features pixels photos -o F.npz");
  command_do(&c, "features pixels photos -o F.npz -q");
  command_do(&c, "fit rpca F.npz -q");
  command_end(&c);
}

int test_pictures(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_of_labels),
      cmocka_unit_test(tables_of_places),
      cmocka_unit_test(pictures_and_folders),
      cmocka_unit_test(pictures_become_features),
  };
  return run_cases(tests, NULL, NULL);
}
