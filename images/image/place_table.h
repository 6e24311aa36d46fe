/* place_table.h - tables of places in images: a name and numbers a row. */
#ifndef LAPIS_VISION_PLACES_H
#define LAPIS_VISION_PLACES_H
#include "base/base.h"

enum { PLACE_NUMBERS = 5 };

typedef struct place_form { /* what a table holds */
  const char *noun;         /* "box", "boxes": of what its rows are */
  const char *nouns;
  const char *title;                 /* name,x,... as people are told */
  const char *rows;                  /* the same, all that are understood */
  const char *column[PLACE_NUMBERS]; /* names of the numbers */
  bool positive[PLACE_NUMBERS];
  int needed, most; /* of the numbers: those behind `needed` may lack */
  const char *word; /* title of a column of texts, or NULL: only where the first
                       row has titles */
  const char *beside; /* title of a column that is passed over, or NULL */
  bool unnamed;       /* rows may be without the name, all or none */
} place_form;

typedef struct place_row {
  char *name; /* as it is written; empty: unnamed */
  char *word; /* empty where there is none */
  int64_t line;
  double number[PLACE_NUMBERS]; /* NaN where there is none */
} place_row;

typedef struct place_table {
  int64_t count;
  place_row *row;
} place_table;
/* Columns are told by their titles, in any order, where the first row has any:
 * x and y, or words alone; otherwise by their places.  Other columns are named
 * in a warning. */
lapis_status places_read(lapis_ctx *ctx, const char *path,
                         const place_form *form, place_table *out);
void places_free(place_table *t); /* then empty */
/* name is path, its end behind a '/', or that without its ending. */
bool place_names_path(const char *name, const char *path);

#endif
