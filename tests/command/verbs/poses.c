/* poses.c - lapis match --first on pictures of one person whose head is turned
 * or tilted. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "command.h"
#include "room.h"

#define FACES LAPIS_TREE "/data/cmu_faces/images/saavik_"

/* By default they are found where the outline of the head is, alike in all four
 * pictures of a pose, half of the distance between the eyes off or more. */
static void what_a_turned_head_has_elsewhere_is_doubted(void **state)
{
  static char table[32768];
  static const char marks[] =
      "x,y,point\n54.5,48,right eye\n70.5,48,left eye\n62.5,60,nose\n"
      "62,67,mouth\n";
  command c;
  int turned = 0, straight = 0;
  (void)state;
  command_begin(&c);
  command_write(&c, "first.csv", marks, strlen(marks));
  command_do(&c, "match " FACES "straight_neutral_open.png " FACES
                 "straight_[ahs]*_open.png " FACES "left_*_open.png " FACES
                 "right_*_open.png " FACES "up_*_open.png --first first.csv "
                 "--no-cache -q -o points.csv");
  command_slurp(&c, "points.csv", table, sizeof table);
  for (char *row = strtok(table, "\n"); row != NULL; row = strtok(NULL, "\n")) {
    if (strstr(row, ",no,") == NULL) continue;
    *(strstr(row, "_straight_") != NULL ? &straight : &turned) += 1;
  }
  CHECK_AT_MOST(16 - straight, 4);
  CHECK_AT_MOST(turned, 4);
  command_do(&c, "match " FACES "straight_neutral_open.png " FACES
                 "straight_sad_open.png --first first.csv --no-cache -q -o "
                 "page.html && grep -q '>right eye</text>' page.html");
  command_end(&c);
}

int test_poses(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_a_turned_head_has_elsewhere_is_doubted)};
  return run_cases(tests, NULL, NULL);
}
