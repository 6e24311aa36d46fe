/* page_rows.h - names and values as a page lists them. */
#ifndef LAPIS_CLI_PAGE_ROWS_H
#define LAPIS_CLI_PAGE_ROWS_H
#include "command/command.h"
#include "lapis/images.h"

enum { PAGE_ROWS = 384, PAGE_TEXT = 512 };
typedef struct page_rows {
  lapis_report_row row[PAGE_ROWS];
  char text[PAGE_ROWS][PAGE_TEXT];
  int64_t count; /* what does not fit is left out */
} page_rows;
/* name: borrowed; NULL begins another table. */
void page_rows_add(page_rows *to, const char *name, const char *format, ...)
    LAPIS_PRINTF(3, 4);
/* Entries of an object that have a value; numbers in at most so many digits,
 * and in as few as read back. */
void page_rows_json(page_rows *to, const lapis_json *from, int digits);
/* notes: level, name and text of each. */
void page_rows_notes(page_rows *to, const lapis_mat *notes);

#endif
