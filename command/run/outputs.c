/* outputs.c - before any work is done: what is written can be, and nothing that
 * is read, nor another output, is lost by it. */
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"

static const char *const output_options[] = {
    "output",     "model",      "config",          "result",    "csv",
    "labels-out", "checkpoint", "save-vocabulary", "completed", NULL};

static bool names_output(const char *option)
{
  for (int i = 0; output_options[i] != NULL; i++)
    if (strcmp(option, output_options[i]) == 0) return true;
  return false;
}

/* ---- files --------------------------------------------------------------*/
/* Whether two paths name the same existing file, or folder. */
static bool same_file(const char *a, const char *b)
{
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino && (S_ISREG(x.st_mode) || S_ISDIR(x.st_mode));
}

/* The folder that a path lies in; false: the path is too long. */
static bool folder_of(const char *path, char *folder, size_t size)
{
  const char *slash = strrchr(path, '/');
  size_t length = slash == NULL ? 0 : (size_t)(slash - path);
  if (length >= size) return false;
  snprintf(folder, size, "%.*s", (int)length, path);
  if (length == 0) snprintf(folder, size, slash == NULL ? "." : "/");
  return true;
}

static bool lies_in(const char *path, const char *folder)
{
  char own[4096];
  struct stat x, y;
  return folder_of(path, own, sizeof own) && stat(own, &x) == 0 &&
         stat(folder, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Of files that need not be there yet. */
static bool same_place(const char *a, const char *b)
{
  const char *x = strrchr(a, '/'), *y = strrchr(b, '/');
  char folder[4096];
  if (same_file(a, b)) return true;
  return strcmp(x == NULL ? a : x + 1, y == NULL ? b : y + 1) == 0 &&
         folder_of(b, folder, sizeof folder) && lies_in(a, folder);
}

/* ---- what is read -------------------------------------------------------*/
/* A folder is read for its images, and segments are .npy as well. */
static bool read_from(const cli *c, const char *path, const char *folder)
{
  struct stat x;
  lapis_array list;
  const lapis_format *format = lapis_format_of_name(path);
  if (stat(folder, &x) != 0 || !S_ISDIR(x.st_mode) || access(path, F_OK) != 0)
    return false;
  if (format != NULL && strcmp(format->name, "npy") == 0 &&
      lies_in(path, folder))
    return true;
  if (lapis_image_list(c->ctx, &folder, 1, &list) < 0) return false;
  const char *const *image = list.mat.val;
  bool found = false;
  for (int64_t i = 0; i < list.mat.cols && !found; i++)
    found = same_file(path, image[i]);
  lapis_array_free(&list);
  return found;
}

/* Of FILE, FILE:NAME, table:FILE or FOLDER. */
static bool reads(const cli *c, const char *path, const char *spec)
{
  char file[4096];
  if (strncmp(spec, "table:", 6) == 0) spec += 6;
  const char *colon = strrchr(spec, ':');
  if (same_file(path, spec) || read_from(c, path, spec)) return true;
  if (colon == NULL || (size_t)(colon - spec) >= sizeof file) return false;
  snprintf(file, sizeof file, "%.*s", (int)(colon - spec), spec);
  return same_file(path, file);
}

/* What is read must not be written over: no word, and no value of an option
 * that is not an output itself. */
static int check_not_input(const cli *c, const char *path)
{
  bool found = false;
  for (int i = 0; i < c->args.n_words && !found; i++)
    found = c->args.word[i] != path && reads(c, path, c->args.word[i]);
  for (int i = 0; i < c->args.n_given && !found; i++)
    found = !names_output(c->args.given[i].name) &&
            reads(c, path, c->args.given[i].value);
  if (!found) return EXIT_DONE;
  return cli_fail(EXIT_MISUSE,
                  "%s: is read and would be written over; "
                  "name another file",
                  path);
}

/* ---- what is written ----------------------------------------------------*/
/* One name cannot hold two files. */
static int check_outputs_apart(const cli *c, const char *path)
{
  const char *own = NULL, *other = NULL;
  for (int i = 0; output_options[i] != NULL; i++) {
    const char *value = args_get(&c->args, output_options[i]);
    if (value == NULL || (value != path && !same_place(path, value))) continue;
    other = own;
    own = output_options[i];
  }
  if (other == NULL) return EXIT_DONE;
  bool letter = strcmp(other, "output") == 0; /* the first of the list */
  return cli_fail(EXIT_MISUSE, "%s: %s%s and --%s need a file each", path,
                  letter ? "-" : "--", letter ? "o" : other, own);
}

static bool has_known_ending(const char *path)
{
  return is_page(path) || lapis_format_of_name(path) != NULL;
}

/* "F.csv,F.html" names two files, as no other list does. */
static int check_one_file(const cli *c, const char *path)
{
  char first[4096];
  const char *comma = strchr(path, ',');
  size_t size = comma == NULL ? sizeof first : (size_t)(comma - path);
  if (path != args_get(&c->args, "output") || size >= sizeof first)
    return EXIT_DONE;
  snprintf(first, sizeof first, "%.*s", (int)size, path);
  return has_known_ending(first) && has_known_ending(comma + 1)
             ? args_fail_twice(c, "output", first, comma + 1)
             : EXIT_DONE;
}

static int check_apart(const cli *c, const char *path)
{
  int code = check_one_file(c, path);
  if (code == EXIT_DONE) code = check_outputs_apart(c, path);
  return code == EXIT_DONE ? check_not_input(c, path) : code;
}

int check_writable(cli *c, const char *path)
{
  if (path == NULL || strcmp(path, "-") == 0) return EXIT_DONE;
  int code = check_apart(c, path);
  if (code != EXIT_DONE) return code;
  char folder[4096];
  struct stat at;
  if (stat(path, &at) == 0 && S_ISDIR(at.st_mode))
    return cli_fail(EXIT_INPUT, "%s: is a folder; name a file in it", path);
  if (!folder_of(path, folder, sizeof folder))
    return cli_fail(EXIT_INPUT, "%s: the path is too long; name a shorter one",
                    path);
  if (access(folder, W_OK) == 0) return EXIT_DONE;
  if (errno == ENOENT)
    return cli_fail(EXIT_INPUT, "%s: there is no folder %s", path, folder);
  return cli_fail(EXIT_INPUT, "%s: cannot write there: %s", path,
                  strerror(errno));
}

bool names_folder(const char *path)
{
  size_t length = strlen(path);
  return length > 0 && path[length - 1] == '/';
}

static int check_folder(cli *c, const char *path)
{
  int code = check_apart(c, path);
  if (code != EXIT_DONE) return code;
  lapis_status s = lapis_parts_new(c->ctx, path, &c->folder);
  return s < 0 ? cli_fail_status(c, s) : EXIT_DONE;
}

/* A few letters and digits behind the last dot of a name ask for a format;
 * ".1" and what mktemp makes up, large and small letters mixed, do not. */
static bool has_ending(const char *path)
{
  enum { LONGEST = 8 };
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
  static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  static const char digits[] = "0123456789";
  const char *slash = strrchr(path, '/');
  const char *name = slash == NULL ? path : slash + 1;
  const char *dot = strrchr(name, '.');
  if (dot == NULL || dot == name || strlen(dot + 1) > LONGEST) return false;
  size_t size = strlen(dot + 1), small = 0, large = 0, figures = 0;
  for (const char *at = dot + 1; *at != '\0'; at++) {
    small += strchr(letters, *at) != NULL;
    large += strchr(capitals, *at) != NULL;
    figures += strchr(digits, *at) != NULL;
  }
  return (small > 0) != (large > 0) && small + large + figures == size;
}

/* others: what may be written instead, as a sentence says it, or "". */
static int check_arrays(cli *c, const char *path, const char *others)
{
  if (path != NULL && names_folder(path)) return check_folder(c, path);
  int code = check_writable(c, path);
  if (code != EXIT_DONE || path == NULL) return code;
  const lapis_format *format = lapis_format_of_name(path);
  if (format == NULL ? !has_ending(path) : strcmp(format->name, "npz") == 0)
    return EXIT_DONE;
  return cli_fail(EXIT_MISUSE,
                  "%s: a result is several arrays and goes to a .npz%s", path,
                  others);
}

int check_result(cli *c, const char *path)
{
  if (path != NULL && names_folder(path))
    return cli_fail(EXIT_MISUSE, "%s: is a folder; name a file, F.npz", path);
  return check_arrays(c, path, "");
}

bool is_sheet(const char *path)
{
  const lapis_format *format = path == NULL ? NULL : lapis_format_of_name(path);
  return format != NULL &&
         (strcmp(format->name, "csv") == 0 || strcmp(format->name, "tsv") == 0);
}

/* ".html" at the end, in any case. */
bool is_page(const char *path)
{
  const char *dot = path == NULL ? NULL : strrchr(path, '.');
  return dot != NULL &&
         (strcasecmp(dot, ".html") == 0 || strcasecmp(dot, ".htm") == 0);
}

int check_answers(cli *c, const char *path)
{
  if (!is_sheet(path) && !is_page(path))
    return check_arrays(c, path,
                        ", or in parts to DIR/; its answers also go to a "
                        "table, F.csv or F.tsv, or to a page, F.html");
  if (c->ranks.size > 1)
    return cli_fail(EXIT_MISUSE,
                    "%s: a table or a page is written by one process; several "
                    "write F.npz, or parts to DIR/",
                    path);
  const lapis_method *m =
      c->model != NULL ? lapis_model_method(c->model) : c->method;
  if (is_page(path) && (m->reads & LAPIS_READS_Y) == 0)
    return cli_fail(EXIT_MISUSE,
                    "%s: a page of answers needs targets, which %s does not "
                    "read; write -o F.csv, or -o F.npz for lapis report",
                    path, m->name);
  return check_writable(c, path);
}

int check_page(cli *c, const char *path, bool or_table)
{
  int code = check_writable(c, path);
  if (code != EXIT_DONE || path == NULL || is_page(path) ||
      (or_table && is_sheet(path)) ||
      (!has_ending(path) && lapis_format_of_name(path) == NULL))
    return code;
  return cli_fail(EXIT_MISUSE, "%s: %s", path,
                  or_table ? "-o writes a page, F.html, or a table of answers, "
                             "F.csv or F.tsv; arrays go to --result F.npz"
                           : "-o writes a page: name it F.html");
}

int check_table(cli *c, const char *path)
{
  int code = check_writable(c, path);
  if (code != EXIT_DONE || path == NULL || is_sheet(path) ||
      (!has_ending(path) && lapis_format_of_name(path) == NULL))
    return code;
  return cli_fail(EXIT_MISUSE, "%s: is to be a table: name it F.csv", path);
}

static int check_sure(const cli *c, bool used)
{
  double v;
  const char *text = args_get(&c->args, "sure");
  if (text == NULL) return EXIT_DONE;
  if (!lapis_number_read(text, NULL, &v) || !(v >= 0 && v <= 1))
    return cli_fail(EXIT_MISUSE, "--sure '%s' is not a probability, 0 to 1",
                    text);
  if (used) return EXIT_DONE;
  return cli_fail(EXIT_MISUSE, "--sure goes with --completed F.csv, which "
                               "leaves other answers empty, or with a page, "
                               "-o F.html");
}

int check_completed(cli *c)
{
  const char *to = args_get(&c->args, "completed");
  int bad = check_sure(c, to != NULL || is_page(args_get(&c->args, "output")));
  if (bad != EXIT_DONE) return bad;
  if (to == NULL) return EXIT_DONE;
  if (!is_sheet(to))
    return cli_fail(EXIT_MISUSE, "--completed %s: is a table, .csv or .tsv",
                    to);
  if (c->ranks.size > 1)
    return cli_fail(EXIT_MISUSE, "--completed is for one process; leave out "
                                 "--mpi");
  if (c->args.n_words != 1 || strcmp(c->args.word[0], "-") == 0)
    return cli_fail(EXIT_MISUSE,
                    "--completed fills in the cells of a table; name its file "
                    "(.csv, .tsv, .arff) as the data");
  int code = stream_keep(&c->args.word[0], c->stream); /* read twice */
  return code == EXIT_DONE ? check_writable(c, to) : code;
}

bool print_written(const cli *c, const char *before)
{
  static const char *const option[] = {"output", "completed", "model"};
  bool any = false;
  for (int i = 0; i < 3; i++) {
    const char *path = args_get(&c->args, option[i]);
    if (path != NULL) printf("%s%s", any ? " and " : before, path);
    any = any || path != NULL;
  }
  return any;
}

bool print_predicted(const cli *c, long long n, const char *what)
{
  char before[96];
  snprintf(before, sizeof before, "%lld %s%s predicted, written to ", n, what,
           cli_s(n));
  bool any = print_written(c, before);
  if (any) printf("\n");
  return any;
}
