/* columns - a small table of text for people: cells are collected, then printed aligned.
 * Knows: conv (text made visible), mem.
 *
 *     struct conv_columns c = conv_columns_begin("lrr");   left, right, right
 *     conv_cell(&c, "core"); conv_cell(&c, "busy"); conv_cell(&c, "share");
 *     ...
 *     conv_columns_print(&c, stdout, "  ");                and frees
 *
 * Cells hold what conv_put_text makes of them. */
#ifndef CONV_COLUMNS_H
#define CONV_COLUMNS_H

#include "proto/mem.h"

#include <stdio.h>

struct conv_columns {
    const char *align; /* 'l' or 'r' for each column */
    NTFF_VEC(char *) cells;
    bool failed; /* memory ran out */
};

struct conv_columns conv_columns_begin(const char *align);
void conv_cell(struct conv_columns *c, const char *fmt, ...) NTFF_PRINTF(2, 3);
/* Rows in order, each behind indent, two blanks between columns, no blanks at line ends. False, and
 * nothing is printed, if memory ran out. */
bool conv_columns_print(struct conv_columns *c, FILE *to, const char *indent) NTFF_MUST_CHECK;

#endif
