/* report_run.c - the settings and figures of a run, and its command, from what
 * it printed with --json. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { MOST_ROWS = 256, TEXT_ROOM = 256 };

/* A number in the fewest digits that read back to it, at most so many; a whole
 * number in all of them, for a count of 20 is not 2e+01. */
static void shorten(char *text, int most)
{
  char tried[TEXT_ROOM];
  double v, back;
  if (!lapis_number_read(text, NULL, &v)) return;
  bool whole = fabs(v) < 1e15 && trunc(v) == v;
  if (whole) (void)snprintf(tried, sizeof tried, "%.0f", v);
  for (int digits = 1; !whole && digits <= most; digits++) {
    (void)snprintf(tried, sizeof tried, "%.*g", digits, v);
    if (lapis_number_read(tried, NULL, &back) && back == v) break;
  }
  memcpy(text, tried, sizeof tried);
}

/* Entries of an object that have a value; how many rows were filled. */
static int64_t take_rows(const lapis_json *from, int digits,
                         lapis_report_row *row, char *text, int64_t room)
{
  int64_t count = 0;
  const char *key;
  for (int i = 0; count < room; i++) {
    if (!lapis_json_entry(from, i, &key, text, TEXT_ROOM)) break;
    if (text[0] == '\0' || strcmp(text, "null") == 0) continue;
    shorten(text, digits);
    row[count++] = (lapis_report_row){key, text};
    text += TEXT_ROOM;
  }
  return count;
}

/* What the method remarked, behind the figures. */
static void take_notes(const report_parts *own, lapis_report *r)
{
  const lapis_array *a = lapis_arrays_find(&own->all, "notes");
  if (a == NULL || a->mat.dtype != LAPIS_TEXT || a->mat.rows != 3) return;
  const char *const *text = a->mat.val;
  for (int64_t k = 0; k < a->mat.cols && r->facts < MOST_ROWS; k++)
    own->row[MOST_ROWS + r->facts++] =
        (lapis_report_row){text[3 * k], text[3 * k + 2]};
}

int report_run(cli *c, report_parts *own, lapis_report *r)
{
  const char *path = args_get(&c->args, "run");
  lapis_status s =
      path == NULL ? LAPIS_OK : lapis_json_read(c->ctx, path, &own->run);
  if (s < 0) return cli_fail_status(c, s);
  own->row = malloc(2 * MOST_ROWS * sizeof *own->row);
  own->row_text = malloc((size_t)2 * MOST_ROWS * TEXT_ROOM);
  if (own->row == NULL || own->row_text == NULL)
    return cli_fail(EXIT_FAILED, "out of memory");
  r->setting = own->row;
  r->fact = own->row + MOST_ROWS;
  if (path == NULL) {
    take_notes(own, r);
    return EXIT_DONE;
  }
  r->settings = take_rows(lapis_json_get(own->run, "settings"), 17, own->row,
                          own->row_text, MOST_ROWS);
  r->facts =
      take_rows(lapis_json_get(own->run, "info"), 4, own->row + MOST_ROWS,
                own->row_text + MOST_ROWS * TEXT_ROOM, MOST_ROWS);
  take_notes(own, r);
  r->command = lapis_json_text(own->run, "command", NULL);
  return EXIT_DONE;
}
