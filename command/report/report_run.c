/* report_run.c - the settings and figures of a run, and its command, from what
 * it printed with --json. */
#include <stdlib.h>

#include "report.h"

int report_run(cli *c, report_parts *own, lapis_report *r)
{
  const char *path = args_get(&c->args, "run");
  const lapis_array *notes = lapis_arrays_find(&own->all, "notes");
  lapis_status s =
      path == NULL ? LAPIS_OK : lapis_json_read(c->ctx, path, &own->run);
  if (s < 0) return cli_fail_status(c, s);
  own->settings = calloc(1, sizeof *own->settings);
  own->facts = calloc(1, sizeof *own->facts);
  if (own->settings == NULL || own->facts == NULL)
    return cli_fail(EXIT_FAILED, "out of memory");
  if (notes != NULL && notes->mat.dtype == LAPIS_TEXT && notes->mat.rows == 3) {
    page_rows_add(own->settings, NULL, "Remarks");
    page_rows_notes(own->settings, &notes->mat);
  }
  if (path != NULL) {
    page_rows_add(own->settings, NULL, "Settings");
    page_rows_json(own->settings, lapis_json_get(own->run, "settings"), 17);
    page_rows_json(own->facts, lapis_json_get(own->run, "info"), 4);
    r->command = lapis_json_text(own->run, "command", NULL);
  }
  r->setting = own->settings->row;
  r->settings = own->settings->count;
  r->fact = own->facts->row;
  r->facts = own->facts->count;
  return EXIT_DONE;
}
