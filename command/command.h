/* command.h - the command: between its files.  Public headers only. */
#ifndef LAPIS_CLI_H
#define LAPIS_CLI_H
#include <stdatomic.h>
#include <stdio.h>
#include <sys/types.h>

#include "lapis/choose.h"
#include "lapis/files.h"
#include "lapis/images.h"
#include "lapis/lapis.h"
#include "lapis/tools.h"

/* ---- stream.c: what can be read only once --------------------------------*/
/* Standard input, a pipe, goes into a file without a name, which takes its
 * place.  *begin: where it begins. */
int stream_keep_input(off_t *begin);
/* The same of a path that is a pipe: *path becomes another (room), or names the
 * file. */
enum { STREAM_PATH = 32 };
int stream_keep(const char **path, char room[STREAM_PATH]);

/* Exit codes, as the manual states them: 4 is bad input. */
enum {
  EXIT_DONE = 0,
  EXIT_FAILED = 1,
  EXIT_MISUSE = 2,
  EXIT_NOTBUILT = 3,
  EXIT_INPUT = 4,
  EXIT_INTERRUPTED = 130
};

/* ---- arguments ----------------------------------------------------------*/
typedef struct cli_option {
  const char *name; /* long name, without dashes */
  char letter;      /* -o, or 0 */
  const char *arg;  /* how help names the value; NULL: a switch */
  const char *help; /* NULL: a row of the verb's table of this name */
} cli_option;

/* Rows of several verbs: how a table is read, and all of it. */
#define CLI_TABLE_ROWS                                                    \
  {"target", 0, "COL,..", "columns to predict, by title or number"},      \
      {"id", 0, "COL", "the column with the names of the samples"},       \
      {"header", 0, "yes|no",                                             \
       "whether the first row holds titles (default: LAPIS looks)"},      \
      {"missing", 0, "WORD,..",                                           \
       "words and numbers that mean \"unknown\", as empty cells, NA, ?, " \
       "none and the like do ('': empty cells alone)"},                   \
  {                                                                       \
    "decimal", 0, ",|.",                                                  \
        "how numbers are written: 1.234,5 (,) or 1,234.5 (.); without "   \
        "it: 1234.5"                                                      \
  }
#define CLI_UNFOLD_ROW                                                     \
  {                                                                        \
    "max-unfold", 0, "MB",                                                 \
        "refuse what would become larger than this, and a thousand times " \
        "what it is in its file (default 64)"                              \
  }
#define CLI_TABLE_OPTIONS                                                      \
  {"use", 0, "COL,..",                                                         \
   "only these columns are features: titles, numbers or patterns ('px*')"},    \
      {"drop", 0, "COL,..",                                                    \
       "these columns are not read: titles, numbers or patterns"},             \
      {"one-hot", 0, "COL,..",                                                 \
       "columns of texts: each of their values becomes a feature, 1 in the "   \
       "rows that have it"},                                                   \
      CLI_TABLE_ROWS,                                                          \
      {"arff-labels", 0, "K|F.xml",                                            \
       ".arff: the last K columns are targets, or those that F names"},        \
      {"triplets", 0, "1|0",                                                   \
       "a table without titles lists the entries of a sparse X: row, column, " \
       "value; the first row has number 1 or 0"},                              \
      {"feature-count", 0, "D",                                                \
       ".svm, --triplets: X has at least D features"},                         \
      CLI_UNFOLD_ROW

/* Of verbs that read images. */
#define CLI_IMAGE_ROWS                                                \
  {"max-pixels", 0, "N",                                              \
   "refuse images of more pixels, 12 bytes each (default 50000000)"}, \
      CLI_UNFOLD_ROW

/* Of verbs that answer. */
#define CLI_SURE_ROW                                                         \
  {                                                                          \
    "sure", 0, "X",                                                          \
        "answers of a lower probability are left empty by --completed, and " \
        "marked on a page (default 0.6; 0: none)"                            \
  }

/* What stands behind the samples of --ask. */
#define CLI_MARGIN \
  "margin: the probability of the best class less that of the next"

/* Of verbs that do many solves; what: which of them processes share. */
#define CLI_JOBS_ROW(what)                                                   \
  {                                                                          \
    "jobs", 0, "N|auto",                                                     \
        what " by N processes at once, which share the threads (default 1; " \
             "auto: as many as cores)"                                       \
  }

enum { MAX_GIVEN = 64, MAX_WORDS = 4096 };
typedef struct cli_args {
  int n_given;
  struct {
    const char *name, *value; /* value "true" for a switch */
  } given[MAX_GIVEN];
  int n_kept; /* of those given the last, whose values are freed */
  int n_words;
  const char **word;
} cli_args;

/* Kinds of features, side by side: kinds.c. */
enum { MAX_KINDS = 8 };
/* Files of a kind: of vocabularies that are named after it, and of a network
 * that the list names. */
enum { KIND_WORDS, KIND_SAVED_WORDS, KIND_NET, KIND_FILES };
typedef struct cli_kinds {
  int count;
  const lapis_method *kind[MAX_KINDS];
  void *settings[MAX_KINDS]; /* or NULL */
  char *file[MAX_KINDS][KIND_FILES];
} cli_kinds;

typedef struct cli cli;
typedef struct cli_verb {
  const char *name, *synopsis, *help;
  const cli_option *options; /* ended by a NULL name */
  /* What the first word names, a row of a table of methods or of kinds of
   * features, and how it is called; NULL: no such word. */
  const lapis_method *(*first_at)(int i);
  const char *first;    /* "method" */
  const char *no_first; /* a switch behind which there is no such word, but
                         * files; NULL: none */
  bool joins;           /* the first word may be several, "a,b": kinds */
  bool takes_model;     /* as first word */
  bool answers;         /* writes the results of its method */
  /* A pipeline, whose table has the verb's settings, and tables of which it
   * takes the rows, too; NULL: none. */
  const char *pipeline;
  const lapis_method *(*also_at)(int i);
  /* Where rows of options without a word come from, and the results of the
   * verb; NULL: all rows speak for themselves. */
  const lapis_method *(*table)(void);
  bool reads_data;     /* data_options apply */
  const char *repeats; /* an option that may be given often; NULL: none */
  int (*run)(cli *c);
} cli_verb;

struct cli {
  const cli_verb *verb;
  /* Table of the options: of the method named, or of predicting with the
   * model named; NULL where the verb takes neither. */
  const lapis_method *method;
  cli_kinds kinds; /* of a verb that joins; method is the first */
  lapis_model *model;
  const char *model_path;
  cli_args args;
  lapis_ctx *ctx;
  bool quiet, json, strict;
  atomic_bool ending;       /* interrupted, and the run itself says so */
  bool bar;                 /* progress wanted on stderr */
  char step[96];            /* that progress was last of */
  bool step_said;           /* a line tells of it */
  double spoke;             /* when a line last said how far it is */
  double began, least_left; /* seconds; left as shown of this step */
  bool bar_shown;           /* a bar is on the screen and must be wiped */
  const char *doing;        /* what the bar says is done, or NULL */
  uint64_t warned[64];      /* hashes of the warnings of this run */
  int n_warned;
  lapis_checkpoint *checkpoint; /* or NULL */
  lapis_parts *folder;          /* that the answers go to, or NULL */
  lapis_processes ranks;        /* of --mpi; without it one */
  bool joined;                  /* MPI has to be left again */
  char stream[STREAM_PATH];     /* a path of data that came by a pipe */
  char *group, *priv, *weights; /* "TABLE:COL" where -G, -P and --weights name
                                   columns, or NULL */
  char *drop;                   /* --drop with these columns, or NULL */
  const char *decimal; /* --decimal, or that of --again's fit, or NULL */
  lapis_mat known[2];  /* names of a model's features and targets */
  char idle[320];      /* what a file has and the run makes no use of */
  int n_extra;         /* arrays written beside the solver's own */
  lapis_named extra[4];
};

extern const cli_verb verb_assign;
extern const cli_verb verb_features, verb_label, verb_locate, verb_match;
extern const cli_verb verb_fit, verb_predict, verb_cv, verb_convert, verb_eval,
    verb_formats, verb_info, verb_demo, verb_report;
extern const cli_option common_options[];
/* An option of the verb takes a value. */
bool option_takes_value(const cli_verb *v, const cli_option *o);

/* Last value of an option, or NULL. */
const char *args_get(const cli_args *a, const char *name);
/* Refuses an option that has two values. */
int args_fail_twice(const cli *c, const char *option, const char *before,
                    const char *value);
/* The verb's no_first was given. */
bool args_no_first(const cli *c);
/* Splits argv; 0 or an exit code after one sentence on stderr. */
int args_parse(cli *c, int argc, char **argv);

/* The i-th verb, NULL past the end.  What stands below the verbs is given the
 * list: only main.c knows it. */
typedef const cli_verb *verb_list(int i);
const cli_verb *cli_verb_at(int i);
const cli_verb *verb_find(verb_list *verb_at, const char *name);
int help_all(FILE *to, verb_list *verb_at);
/* lapis help [--man [PAGE] | --bash | --zsh] */
int help_print(verb_list *verb_at, int argc, char **argv);
int help_verb(FILE *to, const cli_verb *v, const lapis_method *m);
/* What a method answers with, when it fits and when it predicts. */
void help_results(FILE *to, const lapis_method *m);

/* ---- talking ------------------------------------------------------------*/
/* One sentence on stderr, "lapis: " before it; returns code. */
int cli_fail(int code, const char *format, ...) LAPIS_PRINTF(2, 3);
/* Behind a noun that is counted. */
static inline const char *cli_s(long long n)
{
  return n == 1 ? "" : "s";
}
int print_json(lapis_json *v); /* prints, frees */
/* With --json, at the end: {"error": the sentence, "exit": code} where the
 * answer would stand; nothing after an answer. */
void print_failure(int code);
/* The context's sentence, and the exit code its status stands for. */
int cli_fail_status(cli *c, lapis_status s);
/* After a signal, where nothing is written: says so, and what is kept; the exit
 * code. */
int cli_interrupted(cli *c, const char *kept);
int cli_exit_code(const cli *c, lapis_status s);
void cli_attach(cli *c); /* progress and messages to stderr */
void cli_wipe_bar(cli *c);

/* ---- shell.c: a blank, and what a shell reads back ------------------------*/
void shell_word(FILE *to, const char *word);
void shell_file(FILE *to, const char *path); /* never an option */
void shell_option(FILE *to, const cli *c, const char *name, const char *value);
/* The command line again; to be freed; NULL: no memory. */
char *shell_command(const cli *c);

/* How the fit of a model ended where it was cut short, "time-limit, gap 0.1";
 * false: it was not. */
bool model_stopped(cli *c, const lapis_model *m, char *text, size_t size);

/* ---- shared steps -------------------------------------------------------*/
/* A zeroed settings struct of c->method with options applied; free it. */
int settings_from_args(cli *c, void **out);
/* The same for another table; rows that c->method has as well are its own. */
int settings_beside(cli *c, const lapis_method *m, void **out);
/* The kinds that "a,b" names. */
int kinds_named(cli *c, const char *list, cli_kinds *out);
/* Whether one of them has an option. */
bool kinds_have(const cli_kinds *k, const char *option);
/* The settings of each, from the options it has. */
int kinds_settings(cli *c, cli_kinds *k);
/* Settings by kind, as they ran side by side. */
lapis_json *kinds_json(cli *c, const cli_kinds *k, const lapis_solver *s);
void kinds_free(cli_kinds *k);
/* How tables are read: --target, --id, --header, ... */
int table_from_args(cli *c, lapis_table_options *out);
/* NAME of FILE:NAME, and FILE, unless a file has that whole name; else NULL. */
const char *member_of(const char *path, char file[4096]);
/* A folder that is no result in parts. */
bool is_plain_folder(const char *path);
/* The dataset the command line names. */
int dataset_from_args(cli *c, lapis_dataset **out);
/* K/N of --part, which was given. */
int part_from_args(cli *c, int64_t *part, int64_t *parts);
/* Fits the map that an option asks for to X and applies it: *out borrows
 * *owned, or X where there is no map. */
int map_from_args(cli *c, const char *option, const lapis_mat *X,
                  lapis_map **map, double **owned, lapis_mat *out);
extern const cli_option data_options[];
/* Matrices that options name by file: read, and put into the settings, which
 * borrow them until views_free. */
enum { MAX_VIEWS = 8 };
typedef struct cli_views {
  int count;
  lapis_dataset *ds[MAX_VIEWS];
} cli_views;
int views_read(cli *c, void *settings, cli_views *out);
void views_free(cli_views *v);
/* ---- interrupt.c: ending early -------------------------------------------*/
int interrupt_begin(cli *c);
void interrupt_end(void);
/* --checkpoint F, where it was given: goes on from F where F exists. */
int checkpoint_open(cli *c, const lapis_data *data, const void *settings,
                    const cli_views *views);
/* Writes what was not finished, removes the file of what was; returns code. */
int checkpoint_close(cli *c, int code, bool finished);
double clock_seconds(void);
double time_limit(cli *c, const void *settings); /* infinity: none */
/* ---- group.c: -G, -P, --weights ------------------------------------------*/
/* -G COL, -P COL,..: where they are read from, and that they are no features.
 */
int group_find(cli *c);
/* What is read for an option that names data: FILE, FILE:NAME; or NULL. */
const char *group_spec(const cli *c, const char *option);
/* The columns of the table that -G names; NULL: it names a file, or is not
 * given. */
const char *group_columns(const cli *c);
/* Reading failed; a misspelt file is looked for as a column. */
int group_fail(cli *c, lapis_status s, const char *option);

/* ---- mpi_option.c: --mpi
 * -----------------------------------------------------*/
int spread_begin(cli *c); /* also refuses several processes without it */
void spread_end(cli *c);
/* An exit code that all share: where another failed, with its sentence. */
int spread_agree(cli *c, int code);
/* The same of statuses that processes came to alone. */
lapis_status spread_settle(cli *c, lapis_status own);
/* Counts of one's samples become those of all. */
void spread_count(cli *c, double *counts, int64_t n);
/* Rank 0: all columns of a divided result in *mat, memory in *owned; by all. */
lapis_status spread_join(cli *c, const lapis_solver *s, const char *name,
                         int64_t all, lapis_mat *mat, void **owned);
/* ---- given.c: what is given and not used ---------------------------------*/
/* *out: of what was read the members used (LAPIS_READS_*); others are refused
 * where an option names them, and named on stderr where a file has them. */
int given_members(cli *c, const lapis_dataset *ds, unsigned used,
                  lapis_data *out);
void given_say(cli *c); /* the line, where the work begins */
/* Refuses settings on the command line that say nothing beside the others and
 * the members that there are; tried: names that cv has several values of. */
int given_settings(cli *c, const void *settings, unsigned has,
                   const char *tried);
/* Arrays that fit's settings ask for and that none of its outputs has are
 * refused. */
int given_results(cli *c);
/* ---- config.c: settings in a file ----------------------------------------*/
int config_write(cli *c, const lapis_solver *cv, const void *settings,
                 const char *path);
/* --config F, where it was given: its settings are given, too, where the
 * command line does not say them. */
int config_read(cli *c);
/* Those that say nothing beside the options and the data yield to them. */
void config_settle(const cli *c, void *settings, unsigned has);
void config_free(cli *c);
/* The command that fits with the best of cv, which settings are. */
void config_say(const cli *c, const lapis_solver *cv, const void *settings,
                const lapis_grid *grid, int count);
/* ---- outputs.c: before any work is done ----------------------------------*/
/* EXIT_DONE, or why path cannot be written: not there, or it is read, or two
 * outputs have one name. */
int check_writable(cli *c, const char *path);
/* The same for what is written as .npz, or to "DIR/" in parts. */
int check_result(cli *c, const char *path);
bool names_folder(const char *path); /* "DIR/" */
/* The same for answers, which may also be a table. */
int check_answers(cli *c, const char *path);
/* Whether X, where it is of images, was made as X of c->model was
 * (same_features.c). */
int check_made(cli *c, const lapis_dataset *ds);
bool is_page(const char *path);  /* by its ending: .html, .htm */
bool is_sheet(const char *path); /* by its ending: .csv, .tsv */
/* The same for a page, or for a table of answers where it may be one, by the
 * path's ending; and for a table alone. */
int check_page(cli *c, const char *path, bool or_table);
int check_table(cli *c, const char *path);
/* --completed F, before any work. */
int check_completed(cli *c);
/* ---- results -------------------------------------------------------------*/
/* Writes every result array, and the names that came with the data. */
lapis_status result_write(cli *c, const lapis_solver *s,
                          const lapis_dataset *ds, const char *path);
/* answer_page.c: the answers as a table, or a page where path is one: a row a
 * sample, its label (or what takes its place), whether it was given, and a
 * score for each class.  map: of the features that s was given, or NULL.
 * origins: the data's targets are what was given. */
lapis_status answers_write(cli *c, const lapis_solver *s,
                           const lapis_dataset *ds, const lapis_map *map,
                           bool origins, const char *path);
/* How the table at hand is written, or that which the model was fitted to;
 * NULL: neither is a table (lapis_dialect_for). */
const char *dialect_of(cli *c, const lapis_dataset *ds);
/* Digits behind the point of answers to target k: as the table, or the model's,
 * writes its own; -1: few digits. */
int target_decimals(cli *c, const lapis_dataset *ds, int64_t k);
/* outputs.c: " and " between the files that options name, after before; false:
 * there are none. */
bool print_written(const cli *c, const char *before);
/* "12 samples predicted, written to F", if that holds what would be printed. */
bool print_predicted(const cli *c, long long n, const char *what);
/* The result of that name, or an empty one. */
lapis_mat result_of(const lapis_solver *s, const char *name);
/* match_sheet.c: of roml, and what its models find: a row a feature, with its
 * instance and its point. */
bool has_matches(const lapis_solver *s);
lapis_status matches_write(cli *c, const lapis_solver *s,
                           const lapis_dataset *ds, const char *path);
/* Whether --completed F can have its features back through map (or NULL), which
 * X went through: asked before the work. */
int check_back(cli *c, const lapis_map *map, const lapis_mat *X);
/* --completed F: the table that was read, its empty cells filled with what the
 * result has; map: what was done to its features, or NULL. */
lapis_status completed_write(cli *c, const lapis_solver *s,
                             const lapis_dataset *ds, const lapis_map *map);
/* "column TITLE" of target k, or "Y" where it has no title. */
const char *target_shown(const lapis_dataset *ds, int64_t k, char *to,
                         size_t size);
/* The method is one of numbers, not of classes. */
bool answers_numbers(const cli *c);
/* Refuses targets none of which is known; called by all processes. */
int check_known(cli *c, const lapis_dataset *ds);
/* Texts of the codes of a text target: the data's, or the model's where one
 * is loaded; empty for numbers. */
lapis_mat class_texts(cli *c, const lapis_dataset *ds);
/* The JSON object of a run whose settings table describes; NULL: no memory. */
lapis_json *run_json(cli *c, const char *method, const lapis_method *table,
                     const lapis_solver *s, const lapis_data *data);
lapis_json *notes_json(const lapis_mat *notes);
/* ---- pipelines.c: verbs that run a pipeline
 * -----------------------------------*/
const char *flow_text_at(const lapis_mat *m, int64_t i);
/* Columns of a terminal that the longest of the texts takes. */
int flow_longest(const lapis_mat *m, int least);
void flow_print_text(const char *text, int wide); /* on the left of so many */
void flow_print_refused(const cli *c, const lapis_mat *list);
lapis_json *flow_texts_json(const lapis_mat *m);
/* -o: a table, or a page with the command line again. */
lapis_status flow_write_output(const cli *c, const lapis_solver *s,
                               const char *path);
/* The run's object. */
lapis_json *flow_json(cli *c, const lapis_solver *s, const void *settings);
/* What a run that has no answer leaves to the next, behind a sentence. */
const char *flow_kept(const cli *c);
/* After a signal: says so; the exit code. */
int flow_interrupted(cli *c);
typedef struct flow_job {
  void *settings;
  lapis_array list; /* of images */
  lapis_solver *flow;
} flow_job;
/* A verb whose answer is roml's: match, locate. */
typedef struct flow_verb {
  int (*print)(cli *c, const lapis_solver *f);
  void (*put_json)(lapis_json *to, const lapis_solver *f);
} flow_verb;
int flow_run(cli *c, const flow_verb *v);
/* eval_match.c: match-ratio and iou. */
bool eval_is_match(const char *metric);
int eval_match(cli *c, const char *metric, const char *truth,
               const char *scores);
/* formats.c: the table of formats as a list. */
lapis_json *formats_json(void);
lapis_json *image_formats_json(void);
lapis_json *settings_json(cli *c, const lapis_method *m, const void *settings);

/* Samples, entries of X and of Y that are not observed, with all processes;
 * called by all. */
typedef struct cli_counts {
  int64_t samples, features, targets;
} cli_counts;
cli_counts count_data(cli *c, const lapis_data *data);
/* predict --pairs, in predict_pairs.c */
int predict_pairs(cli *c, const char *path);

#endif
