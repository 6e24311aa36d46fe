/* arff.h - between the files that read ARFF: the text (arff.c) and the arrays
 * made of it (arff_data.c). */
#ifndef LAPIS_ARFF_H
#define LAPIS_ARFF_H
#include "files/io.h"

typedef struct arff_word { /* a view of the text, escapes still in it */
  const char *text;        /* of what the header declares a copy without, */
  int64_t size;            /* a NUL behind it */
  char quote;              /* ' or ", or 0 */
} arff_word;

typedef enum arff_kind {
  ARFF_NUMBER,  /* numeric */
  ARFF_NUMBERS, /* nominal, every value a number */
  ARFF_TEXTS,   /* nominal */
  ARFF_STRING   /* string, date */
} arff_kind;
typedef struct arff_attribute {
  arff_word name;
  arff_kind kind;
  bool whole;                    /* integer */
  int64_t first_value, n_values; /* among all values declared */
  int64_t line;
} arff_attribute;

typedef struct arff_place {
  const char *at, *line_start;
  int64_t line;
} arff_place;
typedef struct arff {
  lapis_ctx *ctx;
  const char *path, *at, *end, *line_start;
  int64_t line;
  arff_attribute *attribute;
  int64_t n_attributes;
  arff_word *value;
  int64_t n_values;
  int64_t text_bytes, longest; /* of all that is declared; of a value */
  char *pool, *plain;          /* where that lies; room to compare a word */
  io_text *by_name;            /* the attributes, sorted */
  io_text *by_value; /* the values of each attribute, sorted: by text, or where
                      * they are numbers by the bytes of `number` */
  double *number;
  arff_place data; /* the first row */
  int64_t rows;
  bool all_sparse;
} arff;
/* Everything checked, rows included. */
lapis_status arff_open(lapis_ctx *ctx, const io_file *f, arff *a);
void arff_close(arff *a);

/* Called for each row, then for each of its values: the number it is, or its
 * place among an attribute's texts; NaN where missing or a string. */
typedef struct arff_visit {
  void (*row)(void *user, int64_t row, bool sparse);
  void (*value)(void *user, int64_t attribute, double value,
                const arff_word *word);
  void *user;
} arff_visit;
lapis_status arff_rows(arff *a, const arff_visit *visit);
int64_t arff_copy(const arff_word *w, char *to);
/* The first attribute of that name; -1: none. */
int64_t arff_find(const arff *a, const char *name);
/* The first place of a text, or a number, among an attribute's values; -1. */
int64_t arff_text_at(const arff *a, const arff_attribute *t, const char *text,
                     int64_t size);
int64_t arff_number_at(const arff *a, const arff_attribute *t, double number);
lapis_status arff_fail_word(const arff *a, const arff_word *w,
                            const char *what);

#endif
