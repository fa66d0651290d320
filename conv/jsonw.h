/* jsonw - streaming JSON that is always valid UTF-8 JSON, whatever bytes come in.
 * Knows: out.
 *
 * Two layers. The structure functions (object, array, key, end and the values) put commas, and line
 * breaks if .pretty. The raw ones (conv_json_raw and conv_json_put_*) only append, for lines
 * written by the million. Bytes that are no UTF-8 become U+FFFD; NUL becomes U+2400, since readers
 * cut at \u0000; characters above ASCII are written as they are (Perfetto refuses surrogate
 * escapes). Numbers: doubles that are none (NaN, infinite) become null. */
#ifndef CONV_JSONW_H
#define CONV_JSONW_H

#include "proto/out.h"

#include <string.h>

#define CONV_JSON_MAX_DEPTH 32
#define CONV_JSON_EXACT                                                                            \
    (UINT64_C(1) << 53) /* larger integers change in readers that use doubles                      \
                         */

struct conv_json {
    struct ntff_put w;
    bool pretty;                    /* line breaks and indentation */
    unsigned depth;                 /* open objects and arrays */
    bool used[CONV_JSON_MAX_DEPTH]; /* a value was written at this depth */
    bool is_array[CONV_JSON_MAX_DEPTH];
    bool after_key;
};

struct conv_json conv_json_begin(struct ntff_out *out, bool pretty);
void conv_json_done(struct conv_json *j); /* ends the document with a newline if pretty */

/* -- structure
 * --------------------------------------------------------------------------------------- */

void conv_json_object(struct conv_json *j);
void conv_json_array(struct conv_json *j);
void conv_json_end(struct conv_json *j); /* closes the innermost object or array */
void conv_json_key(struct conv_json *j, const char *key);

void conv_json_text(struct conv_json *j, const char *text);
void conv_json_text_len(struct conv_json *j, const char *p, size_t len);
void conv_json_u64(struct conv_json *j, uint64_t v); /* a number, whatever its size */
void conv_json_id(struct conv_json *j, uint64_t v);  /* a number, or text above 2^53 */
void conv_json_i64(struct conv_json *j, int64_t v);
void conv_json_double(struct conv_json *j, double v);
void conv_json_bool(struct conv_json *j, bool v);
void conv_json_null(struct conv_json *j);

/* key and value at once */
void conv_json_key_text(struct conv_json *j, const char *key, const char *text);
void conv_json_key_u64(struct conv_json *j, const char *key, uint64_t v);

/* -- raw
 * --------------------------------------------------------------------------------------------- */

void conv_json_put_text(struct ntff_put *w, const char *p, size_t len); /* quoted */
void conv_json_put_u64(struct ntff_put *w, uint64_t v);
void conv_json_put_i64(struct ntff_put *w, int64_t v);
void conv_json_put_double(struct ntff_put *w, double v);
/* ns as microseconds with three decimals: 1234 -> 1.234. Exact. */
void conv_json_put_micros(struct ntff_put *w, uint64_t ns);

/* Decimal digits of v at p, where 24 bytes can be written; returns their end. */
uint8_t *conv_json_decimal(uint8_t *p, uint64_t v);

/* A literal of up to 32 KiB. */
static inline void conv_json_raw(struct ntff_put *w, const char *literal)
{
    ntff_put_bytes(w, literal, strlen(literal));
}

#endif
