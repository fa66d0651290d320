/* textfmt - protobuf text format, the way protoc --decode writes it. */
#include "proto/textfmt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes the escape of one byte to out (up to 4 chars); returns its length. */
static size_t escape_byte(uint8_t c, char *out)
{
    static const char plain[] = "\n\r\t\"'\\", letter[] = "nrt\"'\\";
    const char *at = c ? strchr(plain, c) : NULL;
    out[0] = '\\';
    if (at) {
        out[1] = letter[at - plain];
        return 2;
    }
    out[1] = (char)('0' + (c >> 6));
    out[2] = (char)('0' + (c >> 3 & 7));
    out[3] = (char)('0' + (c & 7));
    return 4;
}

static bool needs_escape(uint8_t c)
{
    return c < 0x20 || c >= 0x7f || c == '"' || c == '\'' || c == '\\';
}

void ntff_text_escape(struct ntff_buf *b, const void *data, size_t len)
{
    const uint8_t *p = data, *end = p + len;
    while (p < end) {
        const uint8_t *run = p;
        while (p < end && !needs_escape(*p))
            p++;
        ntff_buf_add(b, run, (size_t)(p - run));
        char four[4];
        if (p < end)
            ntff_buf_add(b, four, escape_byte(*p++, four));
    }
}

void ntff_text_u64(struct ntff_buf *b, uint64_t v)
{
    char text[20], *p = text + sizeof text;
    do
        *--p = (char)('0' + v % 10);
    while (v /= 10);
    ntff_buf_add(b, p, (size_t)(text + sizeof text - p));
}

void ntff_text_i64(struct ntff_buf *b, int64_t v)
{
    if (v < 0)
        ntff_buf_add(b, "-", 1);
    ntff_text_u64(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static bool put_special(struct ntff_buf *b, double v)
{
    if (isnan(v))
        ntff_buf_add(b, "nan", 3);
    else if (isinf(v))
        ntff_buf_printf(b, "%s", v < 0 ? "-inf" : "inf");
    else
        return false;
    return true;
}

void ntff_text_float(struct ntff_buf *b, float v)
{
    char text[32];
    if (put_special(b, (double)v))
        return;
    snprintf(text, sizeof text, "%.6g", (double)v);
    if (strtof(text, NULL) != v)
        snprintf(text, sizeof text, "%.9g", (double)v);
    ntff_buf_add(b, text, strlen(text));
}

void ntff_text_double(struct ntff_buf *b, double v)
{
    char text[40];
    if (put_special(b, v))
        return;
    snprintf(text, sizeof text, "%.15g", v);
    if (strtod(text, NULL) != v)
        snprintf(text, sizeof text, "%.17g", v);
    ntff_buf_add(b, text, strlen(text));
}
