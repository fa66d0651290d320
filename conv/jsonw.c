/* jsonw - see jsonw.h. */
#include "conv/jsonw.h"

#include "proto/mem.h"

#include <endian.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* -- raw -----------------------------------------------------------------------------------------
 */

/* True if one of sixteen bytes needs a look: below 0x20, '"', '\\', or above ASCII (which is below
 * 0 with a sign). */
typedef int8_t sixteen __attribute__((vector_size(16)));
static inline bool needs_care(sixteen w)
{
    sixteen bad = (w < 0x20) | (w == '"') | (w == '\\');
    uint64_t half[2];
    memcpy(half, &bad, sizeof half);
    return (half[0] | half[1]) != 0;
}

static void put_escape(struct ntff_put *w, uint8_t c)
{
    static const char hex[] = "0123456789abcdef";
    const char *short_form = c == '"'    ? "\\\""
                             : c == '\\' ? "\\\\"
                             : c == '\n' ? "\\n"
                             : c == '\r' ? "\\r"
                             : c == '\t' ? "\\t"
                                         : NULL;
    if (short_form) {
        ntff_put_bytes(w, short_form, 2);
        return;
    }
    char u[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    ntff_put_bytes(w, u, sizeof u);
}

/* Writes the character at `at`, for which there is room, and returns how many bytes it took. */
static size_t put_special(struct ntff_put *w, const char *at, size_t left)
{
    char p[4] = {0}; /* once read it stays what it is: a file may change */
    memcpy(p, at, left < sizeof p ? left : sizeof p);
    uint8_t c = (uint8_t)*p;
    size_t n = ntff_utf8_len(p, left < sizeof p ? left : sizeof p);
    if (n == 0)
        ntff_put_bytes(w, "\xef\xbf\xbd", 3);
    else if (c == 0)
        ntff_put_bytes(w, "\xe2\x90\x80", 3);
    else if (c < 0x20 || c == '"' || c == '\\')
        put_escape(w, c);
    else
        memcpy(w->p, p, sizeof p), w->p += n;
    return n ? n : 1;
}

static inline bool plain(uint8_t c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* Copies what needs no escape, sixteen bytes at a time, and returns how much that was. Sixteen
 * bytes may be written behind it. */
static inline size_t put_plain(uint8_t *to, const char *p, size_t len)
{
    size_t n = 0;
    sixteen word;
    for (; len - n >= sizeof word; n += sizeof word) {
        memcpy(&word, p + n, sizeof word);
        memcpy(to + n, &word, sizeof word);
        if (needs_care(word))
            break;
    }
    for (uint8_t c; n < len && plain(c = (uint8_t)p[n]); n++)
        to[n] = c;
    return n;
}

#define PIECE ((size_t)4096) /* of a text: room for it is asked for once */

void conv_json_put_text(struct ntff_put *w, const char *p, size_t len)
{
    ntff_put_room(w, PIECE + 32);
    *w->p++ = '"';
    while (len > 0) {
        size_t n = put_plain(w->p, p, len < PIECE ? len : PIECE);
        w->p += n;
        if (n < len && n < PIECE)
            n += put_special(w, p + n, len - n);
        p += n;
        len -= n;
        ntff_put_room(w, PIECE + 32);
    }
    *w->p++ = '"';
}

/* The eight decimal digits of v < 10^8, one per byte, the first in the lowest. Three steps halve
 * the numbers, all at once: 2 x 4 digits, 4 x 2, 8 x 1. */
static inline uint64_t eight_digits(uint32_t v)
{
    uint64_t four = v / 10000 | (uint64_t)(v % 10000) << 32;
    uint64_t high = (four * 5243 >> 19) & UINT64_C(0x0000007f0000007f); /* / 100 */
    uint64_t two = high | (four - high * 100) << 16;
    high = (two * 103 >> 10) & UINT64_C(0x000f000f000f000f); /* / 10 */
    return high | (two - high * 10) << 8;
}

static inline uint8_t *put_eight(uint8_t *p, uint32_t v)
{
    uint64_t text = htole64(eight_digits(v) | UINT64_C(0x3030303030303030));
    memcpy(p, &text, 8);
    return p + 8;
}

/* v < 10^8 without leading zeros; 8 bytes may be written. */
static inline uint8_t *put_head(uint8_t *p, uint32_t v)
{
    if (v < 10) {
        *p = (uint8_t)('0' + v);
        return p + 1;
    }
    uint64_t digits = eight_digits(v);
    unsigned zeros = (unsigned)__builtin_ctzll(digits) / 8;
    uint64_t text = htole64((digits | UINT64_C(0x3030303030303030)) >> 8 * zeros);
    memcpy(p, &text, 8);
    return p + 8 - zeros;
}

uint8_t *conv_json_decimal(uint8_t *p, uint64_t v)
{
    const uint64_t e8 = 100000000, e16 = e8 * e8;
    if (v < e8)
        return put_head(p, (uint32_t)v);
    if (v < e16)
        return put_eight(put_head(p, (uint32_t)(v / e8)), (uint32_t)(v % e8));
    p = put_head(p, (uint32_t)(v / e16));
    v %= e16;
    return put_eight(put_eight(p, (uint32_t)(v / e8)), (uint32_t)(v % e8));
}

void conv_json_put_u64(struct ntff_put *w, uint64_t v)
{
    ntff_put_room(w, 24);
    w->p = conv_json_decimal(w->p, v);
}

void conv_json_put_i64(struct ntff_put *w, int64_t v)
{
    if (v < 0)
        ntff_put_bytes(w, "-", 1);
    conv_json_put_u64(w, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void conv_json_put_double(struct ntff_put *w, double v)
{
    char text[40];
    if (!isfinite(v)) {
        conv_json_raw(w, "null");
        return;
    }
    int n =
        snprintf(text, sizeof text, "%.15g", v); /* the shorter form if it reads back the same */
    double back;
    if (sscanf(text, "%lf", &back) != 1 || back < v || back > v)
        n = snprintf(text, sizeof text, "%.17g", v);
    ntff_put_bytes(w, text, (size_t)n);
}

void conv_json_put_micros(struct ntff_put *w, uint64_t ns)
{
    ntff_put_room(w, 32);
    uint8_t *p = conv_json_decimal(w->p, ns / 1000);
    unsigned rest = (unsigned)(ns % 1000);
    p[0] = '.';
    p[1] = (uint8_t)('0' + rest / 100);
    p[2] = (uint8_t)('0' + rest / 10 % 10);
    p[3] = (uint8_t)('0' + rest % 10);
    w->p = p + 4;
}

/* -- structure -----------------------------------------------------------------------------------
 */

struct conv_json conv_json_begin(struct ntff_out *out, bool pretty)
{
    return (struct conv_json){.w = ntff_put_begin(out), .pretty = pretty};
}

static void new_line(struct conv_json *j)
{
    if (!j->pretty)
        return;
    ntff_put_bytes(&j->w, "\n", 1);
    for (unsigned i = 0; i < j->depth; i++)
        ntff_put_bytes(&j->w, "  ", 2);
}

/* Before a value or a key: comma and line break as needed. */
static void separate(struct conv_json *j)
{
    ntff_put_done(&j->w);
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    if (j->depth == 0)
        return;
    if (j->used[j->depth - 1])
        ntff_put_bytes(&j->w, ",", 1);
    j->used[j->depth - 1] = true;
    new_line(j);
}

static void open_level(struct conv_json *j, bool array)
{
    separate(j);
    ntff_put_bytes(&j->w, array ? "[" : "{", 1);
    if (j->depth >= CONV_JSON_MAX_DEPTH)
        __builtin_trap(); /* a bug of ours: no output nests with its input */
    j->used[j->depth] = false;
    j->is_array[j->depth++] = array;
}

void conv_json_object(struct conv_json *j)
{
    open_level(j, false);
}

void conv_json_array(struct conv_json *j)
{
    open_level(j, true);
}

void conv_json_end(struct conv_json *j)
{
    bool used = j->used[--j->depth];
    if (used)
        new_line(j);
    ntff_put_bytes(&j->w, j->is_array[j->depth] ? "]" : "}", 1);
    ntff_put_done(&j->w);
}

void conv_json_done(struct conv_json *j)
{
    if (j->pretty)
        ntff_put_bytes(&j->w, "\n", 1);
    ntff_put_end(&j->w);
}

void conv_json_key(struct conv_json *j, const char *key)
{
    separate(j);
    conv_json_put_text(&j->w, key, strlen(key));
    conv_json_raw(&j->w, j->pretty ? ": " : ":");
    j->after_key = true;
}

void conv_json_text_len(struct conv_json *j, const char *p, size_t len)
{
    separate(j);
    conv_json_put_text(&j->w, p, len);
}

void conv_json_text(struct conv_json *j, const char *text)
{
    conv_json_text_len(j, text, strlen(text));
}

void conv_json_u64(struct conv_json *j, uint64_t v)
{
    separate(j);
    conv_json_put_u64(&j->w, v);
}

void conv_json_id(struct conv_json *j, uint64_t v)
{
    separate(j);
    if (v > CONV_JSON_EXACT)
        ntff_put_bytes(&j->w, "\"", 1);
    conv_json_put_u64(&j->w, v);
    if (v > CONV_JSON_EXACT)
        ntff_put_bytes(&j->w, "\"", 1);
}

void conv_json_i64(struct conv_json *j, int64_t v)
{
    separate(j);
    conv_json_put_i64(&j->w, v);
}

void conv_json_double(struct conv_json *j, double v)
{
    separate(j);
    conv_json_put_double(&j->w, v);
}

void conv_json_bool(struct conv_json *j, bool v)
{
    separate(j);
    conv_json_raw(&j->w, v ? "true" : "false");
}

void conv_json_null(struct conv_json *j)
{
    separate(j);
    conv_json_raw(&j->w, "null");
}

void conv_json_key_text(struct conv_json *j, const char *key, const char *text)
{
    conv_json_key(j, key);
    conv_json_text(j, text);
}

void conv_json_key_u64(struct conv_json *j, const char *key, uint64_t v)
{
    conv_json_key(j, key);
    conv_json_u64(j, v);
}
