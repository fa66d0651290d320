/* rows - see rows.h. A cell is encoded for its format when it is given, so that ending a row only
 * copies. Text inside a JSON cell is encoded twice: for JSON, and for the format around it; what
 * needs neither (nearly all keys and values) is copied as it is. */
#include "conv/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT (UINT64_C(1) << 53)

bool conv_rows_format_set(void *format, const char *value, struct ntff_error *err)
{
    static const char *const names[] = {"csv", "tsv", "jsonl"};
    for (int i = 0; i < (int)NTFF_ARRAY_LEN(names); i++) {
        if (strcmp(value, names[i]) == 0) {
            *(int *)format = i;
            return true;
        }
    }
    return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "-f %s: expected csv, tsv or jsonl",
                     value) == NTFF_OK;
}

const char *conv_rows_suffix(int format)
{
    return format == CONV_CSV ? "csv" : format == CONV_TSV ? "tsv" : "jsonl";
}

/* -- bytes of a cell ------------------------------------------------------------------------------
 */

static inline uint8_t *room(struct conv_rows *r, size_t n)
{
    struct ntff_buf *b = &r->cells;
    if (NTFF_UNLIKELY(b->failed))
        return NULL;
    if (NTFF_UNLIKELY(b->cap - b->len < n) &&
        !ntff_grow(NULL, (void **)&b->p, &b->cap, b->len, n, 1)) {
        b->failed = true;
        return NULL;
    }
    return b->p + b->len;
}

/* Short copies without a call. Returns behind the last byte. */
static inline uint8_t *copy(uint8_t *to, const void *p, size_t n)
{
    const uint8_t *from = p;
    if (n > 32) {
        memcpy(to, p, n);
        return to + n;
    }
    for (; n >= 8; n -= 8, to += 8, from += 8)
        memcpy(to, from, 8);
    while (n--)
        *to++ = *from++;
    return to;
}

static inline void put(struct conv_rows *r, const void *p, size_t n)
{
    uint8_t *to = room(r, n);
    if (to) {
        copy(to, p, n);
        r->cells.len += n;
    }
}

static inline void put_char(struct conv_rows *r, char c)
{
    uint8_t *to = room(r, 1);
    if (to)
        *to = (uint8_t)c, r->cells.len++;
}

static const char pairs[201] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536"
    "37383940414243444546474849505152535455565758596061626364656667686970717273"
    "7475767778798081828384858687888990919293949596979899";

/* Eight digits, leading zeros included. */
static void eight_digits(uint8_t *to, uint32_t v)
{
    uint32_t high = v / 10000, low = v % 10000;
    memcpy(to, pairs + 2 * (high / 100), 2);
    memcpy(to + 2, pairs + 2 * (high % 100), 2);
    memcpy(to + 4, pairs + 2 * (low / 100), 2);
    memcpy(to + 6, pairs + 2 * (low % 100), 2);
}

/* Up to eight digits, without leading zeros; returns how many. */
static size_t few_digits(uint8_t *to, uint32_t v)
{
    size_t n = 1 + (v >= 10) + (v >= 100) + (v >= 1000) + (v >= 10000) + (v >= 100000) +
               (v >= 1000000) + (v >= 10000000);
    uint8_t *p = to + n;
    for (; v >= 100; v /= 100) {
        p -= 2;
        memcpy(p, pairs + 2 * (v % 100), 2);
    }
    if (v >= 10)
        memcpy(p - 2, pairs + 2 * v, 2);
    else
        p[-1] = (uint8_t)('0' + v);
    return n;
}

static void put_u64(struct conv_rows *r, uint64_t v)
{
    const uint64_t e8 = 100000000;
    uint8_t *to = room(r, 24);
    size_t n;
    if (!to)
        return;
    if (v < e8) {
        n = few_digits(to, (uint32_t)v);
    } else if (v < e8 * e8) {
        n = few_digits(to, (uint32_t)(v / e8));
        eight_digits(to + n, (uint32_t)(v % e8));
        n += 8;
    } else {
        n = few_digits(to, (uint32_t)(v / (e8 * e8)));
        eight_digits(to + n, (uint32_t)(v / e8 % e8));
        eight_digits(to + n + 8, (uint32_t)(v % e8));
        n += 16;
    }
    r->cells.len += n;
}

static void put_i64(struct conv_rows *r, int64_t v)
{
    if (v < 0)
        put_char(r, '-');
    put_u64(r, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static void put_double(struct conv_rows *r, double v)
{
    char text[40];
    int n = snprintf(text, sizeof text, "%.15g", v);
    double back = strtod(text, NULL);
    if (back < v || back > v) /* the shorter form only if it reads back the same */
        n = snprintf(text, sizeof text, "%.17g", v);
    put(r, text, (size_t)n);
}

/* -- text -----------------------------------------------------------------------------------------
 */

/* How one character is written. Inside JSON texts the control characters are escapes already. */
static void put_control(struct conv_rows *r, uint8_t c)
{
    char text[8];
    if (c == '\n')
        put(r, "\\n", 2);
    else if (c == '\t')
        put(r, "\\t", 2);
    else if (c == '\r')
        put(r, "\\r", 2);
    else
        put(r, text, (size_t)snprintf(text, sizeof text, "\\u%04x", c));
}

/* Characters [p, p + len) for the format; what is around them is the caller's. */
static void put_encoded(struct conv_rows *r, const char *p, size_t len)
{
    while (len) {
        size_t n = ntff_utf8_len(p, len);
        uint8_t c = (uint8_t)*p;
        if (n == 0) {
            put(r, "\xef\xbf\xbd", 3);
        } else if (c < 0x20 || c == 0x7f || (c == 0xc2 && (uint8_t)p[1] < 0xa0)) {
            put_control(r, n == 2 ? (uint8_t)p[1] : c);
        } else if (r->format == CONV_CSV && c == '"') {
            put(r, "\"\"", 2);
        } else if ((r->format == CONV_JSONL && c == '"') || (r->format != CONV_CSV && c == '\\')) {
            put_char(r, '\\');
            put_char(r, *p);
        } else {
            put(r, p, n);
        }
        p += n ? n : 1;
        len -= n ? n : 1;
    }
}

/* True if all bytes are printable ASCII that no format here changes. */
static bool plain(const char *p, size_t len)
{
    uint64_t w;
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
    for (; len >= 8; p += 8, len -= 8) {
        memcpy(&w, p, 8);
        uint64_t quote = w ^ (ones * '"'), back = w ^ (ones * '\\'), comma = w ^ (ones * ','),
                 del = w ^ (ones * 0x7f);
        if (((w - ones * 0x20) | (quote - ones) | (back - ones) | (comma - ones) | (del - ones) |
             w) &
            high)
            return false;
    }
    for (; len; p++, len--)
        if (*p < 0x20 || *p == '"' || *p == '\\' || *p == ',' || *p == 0x7f)
            return false;
    return true;
}

bool conv_is_plain(const char *p, size_t len)
{
    return plain(p, len);
}

static bool needs_quotes(const char *p, size_t len)
{
    return memchr(p, ',', len) || memchr(p, '"', len) || memchr(p, '\n', len) ||
           memchr(p, '\r', len);
}

/* -- cells ----------------------------------------------------------------------------------------
 */

/* What stands before the first cell of a line. */
static void begin_line(struct conv_rows *r)
{
    r->cells.len = 0;
    if (r->in_order && r->format == CONV_JSONL)
        put(r, r->key[0].p, r->key[0].len);
    r->at = 0;
    r->end[0] = (uint32_t)r->cells.len;
}

/* The cell is complete; in a line that is written as it comes, what stands before the next one. */
static void end_cell(struct conv_rows *r)
{
    size_t next = ++r->at;
    if (r->in_order && r->format != CONV_JSONL)
        put_char(r, r->format == CONV_CSV ? ',' : '\t');
    else if (r->in_order && next < r->n)
        put(r, r->key[next].p, r->key[next].len);
    r->end[next] = (uint32_t)r->cells.len;
}

void conv_row_null(struct conv_rows *r)
{
    if (conv_row_wanted(r) && r->format == CONV_JSONL)
        put(r, "null", 4);
    end_cell(r);
}

void conv_row_u64(struct conv_rows *r, uint64_t v)
{
    if (conv_row_wanted(r))
        put_u64(r, v);
    end_cell(r);
}

void conv_row_i64(struct conv_rows *r, int64_t v)
{
    if (conv_row_wanted(r))
        put_i64(r, v);
    end_cell(r);
}

void conv_row_id(struct conv_rows *r, uint64_t v)
{
    bool quote = r->format == CONV_JSONL && v > EXACT;
    if (conv_row_wanted(r)) {
        if (quote)
            put_char(r, '"');
        put_u64(r, v);
        if (quote)
            put_char(r, '"');
    }
    end_cell(r);
}

void conv_row_double(struct conv_rows *r, double v)
{
    if (!isfinite(v)) {
        conv_row_null(r);
        return;
    }
    if (conv_row_wanted(r))
        put_double(r, v);
    end_cell(r);
}

void conv_row_bool(struct conv_rows *r, bool v)
{
    if (conv_row_wanted(r))
        put(r, v ? "true" : "false", v ? 4 : 5);
    end_cell(r);
}

void conv_row_plain(struct conv_rows *r, const char *p, size_t len)
{
    if (conv_row_wanted(r)) {
        uint8_t *to = room(r, len + 2), *start = to;
        bool quoted = r->format == CONV_JSONL;
        if (to) {
            if (quoted)
                *to++ = '"';
            to = copy(to, p, len);
            if (quoted)
                *to++ = '"';
            r->cells.len += (size_t)(to - start);
        }
    }
    end_cell(r);
}

void conv_row_text(struct conv_rows *r, const char *p, size_t len)
{
    if (plain(p, len)) {
        conv_row_plain(r, p, len);
        return;
    }
    if (conv_row_wanted(r)) {
        bool quoted = r->format == CONV_JSONL || (r->format == CONV_CSV && needs_quotes(p, len));
        if (quoted)
            put_char(r, '"');
        put_encoded(r, p, len);
        if (quoted)
            put_char(r, '"');
    }
    end_cell(r);
}

void conv_row_str(struct conv_rows *r, const char *text)
{
    if (text)
        conv_row_text(r, text, strlen(text));
    else
        conv_row_null(r);
}

/* Cells in the order of the chosen columns. */
static void put_chosen(struct conv_rows *r)
{
    bool json = r->format == CONV_JSONL;
    for (size_t k = 0; k < r->n_order; k++) {
        uint32_t from = r->end[r->order[k]], to = r->end[r->order[k] + 1];
        if (json)
            ntff_put_bytes(&r->w, r->key[k].p, r->key[k].len);
        else if (k)
            ntff_put_bytes(&r->w, r->format == CONV_CSV ? "," : "\t", 1);
        ntff_put_bytes(&r->w, r->cells.p + from, to - from);
    }
    ntff_put_bytes(&r->w, json ? "}\n" : "\n", json ? 2 : 1);
}

void conv_row_end(struct conv_rows *r)
{
    if (r->in_order && r->format == CONV_JSONL)
        put(r, "}\n", 2);
    if (!r->cells.failed && r->in_order) {
        if (r->format != CONV_JSONL && r->cells.len > 0)
            r->cells.p[r->cells.len - 1] = '\n'; /* was a separator */
        ntff_put_bytes(&r->w, r->cells.p, r->cells.len);
    } else if (!r->cells.failed) {
        put_chosen(r);
    }
    ntff_put_done(&r->w);
    begin_line(r);
    r->rows++;
}

/* -- JSON in a cell -------------------------------------------------------------------------------
 */

/* A quote inside a cell: doubled in CSV, escaped in JSONL. */
static inline uint8_t *quote(uint8_t *to, int format)
{
    if (format != CONV_TSV)
        *to++ = format == CONV_CSV ? '"' : '\\';
    *to++ = '"';
    return to;
}

static void put_quote(struct conv_rows *r)
{
    uint8_t *to = room(r, 2);
    if (to)
        r->cells.len += (size_t)(quote(to, r->format) - to);
}

/* A JSON text: escaped for JSON, and the result for the format. */
static void put_json_text(struct conv_rows *r, const char *p, size_t len)
{
    if (plain(p, len)) {
        uint8_t *to = room(r, len + 4), *start = to;
        if (!to)
            return;
        to = quote(to, r->format);
        to = copy(to, p, len);
        to = quote(to, r->format);
        r->cells.len += (size_t)(to - start);
        return;
    }
    put_quote(r);
    for (; len; p++, len--) {
        char escape[8] = {'\\', *p};
        size_t n = ntff_utf8_len(p, len);
        uint8_t c = (uint8_t)*p;
        if (n > 1 && !(c == 0xc2 && (uint8_t)p[1] < 0xa0)) {
            put(r, p, n);
            p += n - 1;
            len -= n - 1;
        } else if (n == 0) {
            put(r, "\xef\xbf\xbd", 3);
        } else if (n == 2 || c < 0x20 || c == 0x7f) { /* a control character */
            snprintf(escape, sizeof escape, "\\u%04x", n == 2 ? (uint8_t)p[1] : c);
            put_encoded(r, escape, 6);
            p += n - 1;
            len -= n - 1;
        } else if (c == '"' || c == '\\') {
            put_encoded(r, escape, 2);
        } else {
            put_char(r, *p);
        }
    }
    put_quote(r);
}

/* What an object in a cell opens and closes with: CSV and JSONL quote it. */
static size_t open_len(const struct conv_rows *r)
{
    return r->format == CONV_TSV ? 1 : 2;
}

static void put_key(struct conv_rows *r, const char *key, size_t len)
{
    if (r->cells.len - r->end[r->at] > open_len(r))
        put_char(r, ',');
    struct ntff_slice name = ntff_keys_take(&r->keys, key, len);
    r->cells.failed |= r->keys.failed;
    put_json_text(r, name.p, name.len);
    put_char(r, ':');
}

void conv_sub_open(struct conv_rows *r)
{
    if (conv_row_wanted(r))
        put(r, r->format == CONV_TSV ? "{" : "\"{", open_len(r));
    ntff_keys_begin(&r->keys);
}

void conv_sub_close(struct conv_rows *r)
{
    if (conv_row_wanted(r)) {
        if (r->cells.len - r->end[r->at] == open_len(r)) {
            r->cells.len = r->end[r->at];
            conv_row_null(r);
            return;
        }
        put(r, "}\"", open_len(r));
    }
    end_cell(r);
}

void conv_sub_u64(struct conv_rows *r, const char *key, size_t key_len, uint64_t v)
{
    put_key(r, key, key_len);
    if (v > EXACT)
        put_quote(r);
    put_u64(r, v);
    if (v > EXACT)
        put_quote(r);
}

void conv_sub_i64(struct conv_rows *r, const char *key, size_t key_len, int64_t v)
{
    put_key(r, key, key_len);
    put_i64(r, v);
}

void conv_sub_double(struct conv_rows *r, const char *key, size_t key_len, double v)
{
    put_key(r, key, key_len);
    if (isfinite(v))
        put_double(r, v);
    else
        put(r, "null", 4);
}

void conv_sub_bool(struct conv_rows *r, const char *key, size_t key_len, bool v)
{
    put_key(r, key, key_len);
    put(r, v ? "true" : "false", v ? 4 : 5);
}

void conv_sub_null(struct conv_rows *r, const char *key, size_t key_len)
{
    put_key(r, key, key_len);
    put(r, "null", 4);
}

void conv_sub_text(struct conv_rows *r, const char *key, size_t key_len, const char *p, size_t len)
{
    put_key(r, key, key_len);
    put_json_text(r, p, len);
}

void conv_row_list(struct conv_rows *r, const uint64_t *v, size_t n)
{
    bool json = r->format == CONV_JSONL;
    if (n == 0) {
        conv_row_null(r);
        return;
    }
    if (conv_row_wanted(r)) {
        if (r->format == CONV_CSV)
            put_char(r, '"');
        for (size_t i = 0; i < n; i++) {
            put_char(r, i ? ',' : '[');
            json ? put_char(r, '"') : put_quote(r);
            put_u64(r, v[i]);
            json ? put_char(r, '"') : put_quote(r);
        }
        put_char(r, ']');
        if (r->format == CONV_CSV)
            put_char(r, '"');
    }
    end_cell(r);
}

/* -- begin and end --------------------------------------------------------------------------------
 */

static bool unknown_column(const struct conv_rows *r, const char *name, size_t len,
                           struct ntff_error *err)
{
    char known[200] = "";
    size_t n = 0;
    for (size_t i = 0; i < r->n && n < sizeof known - 1; i++)
        n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", i ? "," : "", r->columns[i]);
    return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "no column %.*s; there are %s",
                     (int)(len < 30 ? len : 30), name, known) == NTFF_OK;
}

static bool choose(struct conv_rows *r, const char *chosen, struct ntff_error *err)
{
    r->in_order = chosen == NULL;
    for (size_t i = 0; !chosen && i < r->n; i++) {
        r->order[r->n_order++] = (uint8_t)i;
        r->wanted[i] = true;
    }
    for (const char *p = chosen; p && *p;) {
        size_t len = strcspn(p, ","), i = 0;
        while (i < r->n && (strlen(r->columns[i]) != len || strncmp(r->columns[i], p, len) != 0))
            i++;
        if (i == r->n || r->n_order == CONV_MAX_COLUMNS)
            return unknown_column(r, p, len, err);
        r->order[r->n_order++] = (uint8_t)i;
        r->wanted[i] = true;
        p += len + (p[len] == ',');
    }
    return r->n_order > 0 || unknown_column(r, "", 0, err);
}

bool conv_rows_begin(struct conv_rows *r, struct ntff_out *out, int format,
                     const char *const *columns, size_t n, const char *chosen,
                     struct ntff_error *err)
{
    *r = (struct conv_rows){.format = format, .columns = columns, .n = n};
    if (!choose(r, chosen, err))
        return false;
    r->w = ntff_put_begin(out);
    for (size_t k = 0; k < r->n_order; k++) {
        const char *name = columns[r->order[k]];
        ntff_buf_printf(&r->key[k], "%s\"%s\":", k ? "," : "{", name);
        if (r->key[k].failed)
            return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "out of memory") == NTFF_OK;
        if (format == CONV_JSONL)
            continue;
        if (k)
            ntff_put_bytes(&r->w, format == CONV_CSV ? "," : "\t", 1);
        ntff_put_bytes(&r->w, name, strlen(name));
    }
    if (format != CONV_JSONL)
        ntff_put_bytes(&r->w, "\n", 1);
    ntff_put_done(&r->w);
    begin_line(r);
    return true;
}

void conv_rows_done(struct conv_rows *r)
{
    if (r->w.o)
        ntff_put_end(&r->w);
    ntff_buf_free(&r->cells);
    ntff_keys_done(&r->keys);
    for (size_t k = 0; k < r->n_order; k++)
        ntff_buf_free(&r->key[k]);
    r->w.o = NULL;
}
