/* report_run.c - the settings and figures of a run, and the command that
 * repeats it, from what it printed with --json. */
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

/* A word as a POSIX shell reads it back. */
static size_t quote(char *to, const char *word)
{
  char *at = to;
  if (word[0] != '\0' &&
      strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                   "0123456789_./:,=@%+-") == strlen(word)) {
    strcpy(to, word);
    return strlen(word);
  }
  *at++ = '\'';
  for (; *word != '\0'; word++) {
    if (*word == '\'') {
      memcpy(at, "'\\''", 4);
      at += 4;
    } else {
      *at++ = *word;
    }
  }
  *at++ = '\'';
  *at = '\0';
  return (size_t)(at - to);
}

/* How the data were read. */
static const char *const reading[] = {"target", "id", "header"};
enum { READING = sizeof reading / sizeof *reading };

static size_t write_options(cli *c, char *to)
{
  char *at = to;
  for (int i = 0; i < READING; i++) {
    const char *value = args_get(&c->args, reading[i]);
    if (value == NULL) continue;
    at += sprintf(at, " --%s ", reading[i]);
    at += quote(at, value);
  }
  return (size_t)(at - to);
}

/* Of two settings for one thing a run says both, and takes one: --mu, for which
 * this is the other name. */
static bool is_alternative(const char *method, const lapis_report *r,
                           const char *name)
{
  const lapis_method *m = lapis_method_find(method);
  if (m == NULL || m->choose == NULL || m->unless == NULL) return false;
  size_t length = strcspn(m->choose, "=");
  if (strlen(name) != length || strncmp(name, m->choose, length) != 0)
    return false;
  for (int64_t i = 0; i < r->settings; i++)
    if (strcmp(r->setting[i].name, m->unless) == 0)
      return strcmp(r->setting[i].value, "auto") != 0;
  return false;
}

/* A setting at its default need not be said, and some may not be: beside others
 * it says nothing. */
static bool is_default(const char *method, const lapis_report_row *row)
{
  const lapis_method *m = lapis_method_find(method);
  void *settings = m == NULL ? NULL : malloc(m->settings_size);
  char text[256];
  if (settings == NULL) return false;
  lapis_settings_default(m, settings);
  bool is = lapis_settings_get(NULL, m, settings, row->name, text,
                               sizeof text) >= 0 &&
            strcmp(text, row->value) == 0;
  free(settings);
  return is;
}

static int write_command(cli *c, report_parts *own, lapis_report *r)
{
  const char *method = lapis_json_text(own->run, "method", NULL);
  const char *data = args_get(&c->args, "data");
  if (method == NULL) return EXIT_DONE;
  size_t room = 64 + 4 * (strlen(method) + (data == NULL ? 4 : strlen(data)));
  for (int i = 0; i < READING; i++)
    if (args_get(&c->args, reading[i]) != NULL)
      room += 16 + 4 * strlen(args_get(&c->args, reading[i]));
  for (int64_t i = 0; i < r->settings; i++)
    room += 8 + strlen(r->setting[i].name) + 4 * strlen(r->setting[i].value);
  char *at = own->command = malloc(room);
  if (at == NULL) return cli_fail(EXIT_FAILED, "out of memory");
  at += sprintf(at, "lapis fit ");
  at += quote(at, method);
  *at++ = ' ';
  at += data == NULL ? (size_t)sprintf(at, "DATA") : quote(at, data);
  at += write_options(c, at);
  for (int64_t i = 0; i < r->settings; i++) {
    const char *value = r->setting[i].value;
    if (strcmp(value, "false") == 0 || strcmp(value, "auto") == 0 ||
        is_default(method, &r->setting[i]) ||
        is_alternative(method, r, r->setting[i].name))
      continue;
    at += sprintf(at, " --%s", r->setting[i].name);
    if (strcmp(value, "true") == 0) continue;
    *at++ = ' ';
    at += quote(at, value);
  }
  *at = '\0';
  r->command = own->command;
  return EXIT_DONE;
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
  return write_command(c, own, r);
}
