/* rows - tables as CSV, TSV or JSON lines, written by the million.
 * Knows: out, mem.
 *
 *     conv_rows_begin(&r, out, CONV_CSV, columns, n, "name,start_ts" or NULL, &err)
 *     for each row: one conv_row_* for each column, in order; then conv_row_end
 *     conv_rows_done(&r)
 *
 * Cells are collected and written in the order the user chose; cells of columns nobody chose cost
 * nothing.
 *
 * CSV   a header; fields with a comma, quote or line break are quoted (RFC 4180), lines end in \n.
 * TSV   a header; tab, line break and backslash in a field are written \t, \n, \\.
 * JSONL one object a line; a null is written null; integers above 2^53 of columns of ids are text.
 * Absent values are empty fields in CSV and TSV. Text is always valid UTF-8, and other control
 * characters are shown as \u00NN, so that output may go to a terminal. */
#ifndef CONV_ROWS_H
#define CONV_ROWS_H

#include "proto/keys.h"
#include "proto/error.h"
#include "proto/out.h"

enum conv_rows_format { CONV_CSV, CONV_TSV, CONV_JSONL };
/* The setter of options for it: an int at `format` becomes one of them. */
bool conv_rows_format_set(void *format, const char *value, struct ntff_error *err);
const char *conv_rows_suffix(int format);
#define CONV_ROWS_SUFFIXES                                                                         \
    {".csv", CONV_CSV}, {".tsv", CONV_TSV},                                                        \
    {                                                                                              \
        ".jsonl", CONV_JSONL                                                                       \
    }

#define CONV_MAX_COLUMNS 64

struct conv_rows {
    struct ntff_put w;
    int format;
    const char *const *columns;
    size_t n; /* columns */
    bool wanted[CONV_MAX_COLUMNS];
    uint8_t order[CONV_MAX_COLUMNS]; /* chosen columns */
    size_t n_order;
    struct ntff_buf key[CONV_MAX_COLUMNS]; /* JSONL: ,"name": of the k-th chosen column */
    bool in_order;                         /* all columns as they come: .cells is the line itself */
    uint32_t end[CONV_MAX_COLUMNS + 1];    /* in .cells: where the k-th cell begins, k-1st ends */
    size_t at;                             /* column that comes next */
    struct ntff_buf cells;
    struct ntff_keys keys; /* of the object in the cell being made */
    uint64_t rows;
};

/* Writes the header. columns: names, which must live as long as r; chosen: a comma list of them,
 * NULL = all. False: an unknown name (err lists the known ones), or no memory. */
bool conv_rows_begin(struct conv_rows *r, struct ntff_out *out, int format,
                     const char *const *columns, size_t n, const char *chosen,
                     struct ntff_error *err) NTFF_MUST_CHECK;
void conv_rows_done(struct conv_rows *r);

/* Is the next column one that somebody wants? */
static inline bool conv_row_wanted(const struct conv_rows *r)
{
    return r->wanted[r->at];
}

void conv_row_null(struct conv_rows *r);
void conv_row_u64(struct conv_rows *r, uint64_t v);
void conv_row_i64(struct conv_rows *r, int64_t v);
void conv_row_id(struct conv_rows *r, uint64_t v); /* text in JSONL above 2^53 */
void conv_row_double(struct conv_rows *r, double v);
void conv_row_bool(struct conv_rows *r, bool v);
void conv_row_text(struct conv_rows *r, const char *p, size_t len);
void conv_row_str(struct conv_rows *r, const char *text);            /* NULL = null */
void conv_row_plain(struct conv_rows *r, const char *p, size_t len); /* nothing in it to encode */
/* Is that so? */
bool conv_is_plain(const char *p, size_t len);
void conv_row_end(struct conv_rows *r);

/* -- a cell that holds JSON as text
 * ---------------------------------------------------------------- Between open and close:
 * conv_sub_* for the members of one object. Numbers above 2^53 are text. */
void conv_sub_open(struct conv_rows *r); /* { */
void conv_sub_u64(struct conv_rows *r, const char *key, size_t key_len, uint64_t v);
void conv_sub_i64(struct conv_rows *r, const char *key, size_t key_len, int64_t v);
void conv_sub_double(struct conv_rows *r, const char *key, size_t key_len, double v);
void conv_sub_bool(struct conv_rows *r, const char *key, size_t key_len, bool v);
void conv_sub_null(struct conv_rows *r, const char *key, size_t key_len);
void conv_sub_text(struct conv_rows *r, const char *key, size_t key_len, const char *p, size_t len);
void conv_sub_close(struct conv_rows *r); /* } ends the cell; null if there was no member */

/* A cell that holds a list of numbers as texts: ["1","2"], in JSONL as an array. n 0 = null. */
void conv_row_list(struct conv_rows *r, const uint64_t *v, size_t n);

#endif
