/* pipelines.c - what the verbs that run a pipeline share. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "lapis/images.h"

/* ---- texts of a run -----------------------------------------------------*/
const char *flow_text_at(const lapis_mat *m, int64_t i)
{
  return ((const char *const *)m->val)[i];
}

enum { SHOWN = 16384 }; /* bytes of a path of which each is \xNN */

/* The number of the UTF-8 character that *text begins with, and moves behind
 * it; a stray byte is itself. */
static unsigned next_character(const char **text)
{
  const unsigned char *s = (const unsigned char *)*text;
  unsigned number = *s < 0x80   ? *s
                    : *s < 0xe0 ? *s & 0x1fU
                    : *s < 0xf0 ? *s & 0xfU
                                : *s & 7U;
  for (s++; (*s & 0xc0) == 0x80; s++) number = number << 6 | (*s & 0x3fU);
  *text = (const char *)s;
  return number;
}

/* Columns of a terminal: accents that stand over the letter before take none,
 * the letters of East Asia and little pictures two. */
static int columns_of(const char *text)
{
  static const struct {
    unsigned first, last;
    int columns;
  } rows[] = {{0x300, 0x36f, 0},     {0x1100, 0x115f, 2}, {0x2e80, 0xa4cf, 2},
              {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2}, {0xfe00, 0xfe0f, 0},
              {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2}, {0x1f300, 0x1faff, 2},
              {0x20000, 0x3ffff, 2}, {0, UINT_MAX, 1}};
  int columns = 0;
  while (*text != '\0') {
    unsigned c = next_character(&text);
    int k = 0;
    while (c < rows[k].first || c > rows[k].last) k++;
    columns += rows[k].columns;
  }
  return columns;
}

int flow_longest(const lapis_mat *m, int least)
{
  int most = least;
  char shown[SHOWN];
  for (int64_t i = 0; i < m->cols; i++) {
    int columns =
        columns_of(lapis_text_shown(flow_text_at(m, i), shown, sizeof shown));
    if (columns > most) most = columns;
  }
  return most;
}

void flow_print_text(const char *text, int wide)
{
  char shown[SHOWN];
  int more = wide - columns_of(lapis_text_shown(text, shown, sizeof shown));
  printf("%s%*s", shown, more > 0 ? more : 0, "");
}

void flow_print_refused(const cli *c, const lapis_mat *list)
{
  for (int64_t i = 0; !c->quiet && i < list->cols; i++)
    (void)cli_fail(EXIT_DONE, "left out: %s", flow_text_at(list, i));
}

lapis_json *flow_texts_json(const lapis_mat *m)
{
  lapis_json *list = lapis_json_list();
  for (int64_t i = 0; i < m->cols; i++)
    lapis_json_put_text(list, NULL, flow_text_at(m, i));
  return list;
}

/* ---- what is written
 * -------------------------------------------------------------*/
lapis_status flow_write_output(const cli *c, const lapis_solver *s,
                               const char *path)
{
  char *command = shell_command(c);
  lapis_status status = lapis_flow_write(
      s, is_sheet(path) ? LAPIS_FLOW_SHEET : LAPIS_FLOW_PAGE, path, command);
  free(command);
  return status;
}

lapis_json *flow_json(cli *c, const lapis_solver *s, const void *settings)
{
  lapis_data data;
  const lapis_solver *by = lapis_work_by(s, &data);
  lapis_mat notes = result_of(s, "notes"), refused = result_of(s, "refused");
  lapis_json *to =
      run_json(c, c->verb->name, lapis_result_method(by), by, &data);
  lapis_json_put(to, c->verb->name, settings_json(c, c->method, settings));
  lapis_json_put(to, "notes", notes_json(&notes));
  lapis_json_put(to, "refused", flow_texts_json(&refused));
  return to;
}

/* ---- a run --------------------------------------------------------------*/
const char *flow_kept(const cli *c)
{
  return args_get(&c->args, "no-cache") != NULL
             ? ""
             : "; what the cache holds is not made again";
}

int flow_interrupted(cli *c)
{
  return cli_interrupted(c, flow_kept(c));
}

/* Writes what options name: --result and -o. */
static int write_files(cli *c, const lapis_solver *f)
{
  const char *result = args_get(&c->args, "result");
  const char *page = args_get(&c->args, "output");
  const char *table = args_get(&c->args, "csv");
  lapis_status s = LAPIS_OK;
  if (result != NULL) s = lapis_flow_write(f, LAPIS_FLOW_ARRAYS, result, NULL);
  if (s >= 0 && table != NULL)
    s = lapis_flow_write(f, LAPIS_FLOW_TABLE, table, NULL);
  if (s >= 0 && page != NULL) s = flow_write_output(c, f, page);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

static int print_answer(cli *c, const flow_verb *v, const flow_job *j)
{
  if (!c->json) return v->print(c, j->flow);
  lapis_json *to = flow_json(c, j->flow, j->settings);
  v->put_json(to, j->flow);
  return print_json(to);
}

static int finish(cli *c, const flow_verb *v, const flow_job *j,
                  lapis_status status)
{
  lapis_mat refused = result_of(j->flow, "refused");
  cli_wipe_bar(c);
  flow_print_refused(c, &refused);
  if (result_of(j->flow, "match").cols == 0)
    return cli_fail(EXIT_FAILED,
                    "%s: stopped (%s) before there was an answer; give a "
                    "larger --time-limit",
                    c->verb->name, lapis_status_name(status));
  int code = write_files(c, j->flow);
  if (code == EXIT_DONE) code = print_answer(c, v, j);
  if (code != EXIT_DONE) return code;
  if (refused.cols == 0) return cli_exit_code(c, status);
  return cli_fail(EXIT_INPUT, "%s: %lld of %lld images were left out",
                  c->verb->name, (long long)refused.cols,
                  (long long)j->list.mat.cols);
}

static int work(cli *c, const flow_verb *v, flow_job *j)
{
  lapis_status s =
      lapis_image_list(c->ctx, c->args.word, c->args.n_words, &j->list);
  if (s >= 0)
    s = lapis_flow_new(c->ctx, c->method, j->list.mat.val, j->list.mat.cols,
                       j->settings, &j->flow);
  if (s >= 0) s = lapis_solve(j->flow);
  if (s == LAPIS_CANCELLED || s == LAPIS_ESTOPPED) return flow_interrupted(c);
  if (s < 0) return cli_fail_status(c, s);
  return finish(c, v, j, s);
}

int flow_run(cli *c, const flow_verb *v)
{
  flow_job j = {.settings = NULL};
  if (c->args.n_words == 0)
    return cli_fail(EXIT_MISUSE, "%s: name images, or folders of them",
                    c->verb->name);
  int code = check_result(c, args_get(&c->args, "result"));
  if (code == EXIT_DONE)
    code = check_page(c, args_get(&c->args, "output"), true);
  if (code == EXIT_DONE) code = check_table(c, args_get(&c->args, "csv"));
  if (code == EXIT_DONE) code = settings_from_args(c, &j.settings);
  if (code == EXIT_DONE) code = work(c, v, &j);
  lapis_solver_free(j.flow);
  lapis_array_free(&j.list);
  free(j.settings);
  return code;
}
