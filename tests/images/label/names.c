/* Names of images as other systems write them. */
#include "label_case.h"
#include "room.h"

static void names_from_other_systems_are_found(void **state)
{
  static const char *const tables[] = {
      "file,what\n" /* composed, as most write */
      "v\xc3\xa9lo.pgm,flat\n\xc3\xa5ngstr\xc3\xb6m.pgm,upright\n"
      "\xe1\xbb\x87.pgm,flat\na03.pgm,upright\n",
      "file,what\n" /* decomposed, as the files are */
      "ve\xcc\x81lo.pgm,flat\na\xcc\x8angstro\xcc\x88m.pgm,upright\n"
      "e\xcc\xa3\xcc\x82.pgm,flat\na03.pgm,upright\n",
      "file,what\nC:\\in\\ve\xcc\x81lo.pgm,flat\nin\\a01x.pgm,upright\n"};
  command c;
  begin_stripes(&c, 2);
  char line[512];
  snprintf(line, sizeof line,
           "cd %s/in && mv a00.pgm 've\xcc\x81lo.pgm' && mv a01.pgm "
           "'a\xcc\x8angstro\xcc\x88m.pgm' && mv a02.pgm "
           "'e\xcc\xa3\xcc\x82.pgm'",
           c.folder);
  assert_int_equal(system(line), 0);
  for (int i = 0; i < 2; i++) {
    write_text(&c, "labels.csv", tables[i]);
    command_do(&c, LABEL " -q -o a.csv");
  }
  write_text(&c, "labels.csv",
             "file,what\nin\\a05.pgm,flat\nin\\a06.pgm,upright\n");
  command_do(&c, LABEL " -q -o a.csv");
  write_text(&c, "labels.csv", "file,what\na05.PGM,flat\na06.pgm,upright\n");
  command_run(&c, LABEL " -q -o a.csv");
  command_expect(&c, 4, "a05.PGM a05.pgm 24");
  write_text(&c, "labels.csv", tables[2]);
  command_run(&c, LABEL " -q -o a.csv");
  command_expect(&c, 4, "24");
  command_end(&c);
}

int test_names(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_from_other_systems_are_found)};
  return run_cases(tests, NULL, NULL);
}
