/* text - see text.h. One code point at a time, so that a name of a megabyte costs as much as the
 * columns it is shown in. */
#include "text.h"

#include "proto/mem.h"

#include <stdio.h>

/* Formatting characters that hide or reorder what follows, and everything no font has. */
static bool is_invisible(uint32_t c)
{
    return (c >= 0x80 && c < 0xA0) || c == 0x061C || c == 0x180E || (c >= 0x200B && c <= 0x200F) ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
           (c >= 0xFFF0 && c <= 0xFFFB) || (c & 0xFFFE) == 0xFFFE || (c >= 0xFDD0 && c <= 0xFDEF) ||
           c >= 0xE0000;
}

static uint32_t decode(const char *p, size_t len)
{
    const unsigned char *u = (const unsigned char *)p;
    switch (len) {
    case 1:
        return u[0];
    case 2:
        return (uint32_t)(u[0] & 0x1f) << 6 | (u[1] & 0x3f);
    case 3:
        return (uint32_t)(u[0] & 0x0f) << 12 | (uint32_t)(u[1] & 0x3f) << 6 | (u[2] & 0x3f);
    default:
        return (uint32_t)(u[0] & 0x07) << 18 | (uint32_t)(u[1] & 0x3f) << 12 |
               (uint32_t)(u[2] & 0x3f) << 6 | (u[3] & 0x3f);
    }
}

static uint32_t from_escape(struct tui_text *t, int *width)
{
    *width = 1;
    return (unsigned char)t->escape[t->escape_at++];
}

uint32_t tui_text_next(struct tui_text *t, int *width)
{
    if (t->escape_at < t->escape_len)
        return from_escape(t, width);
    if (t->p >= t->end)
        return TUI_TEXT_END;
    unsigned char b = (unsigned char)*t->p;
    if (b >= 0x20 && b < 0x7f) {
        t->p++;
        *width = 1;
        return b;
    }
    int n;
    size_t len = ntff_utf8_len(t->p, (size_t)(t->end - t->p));
    if (b < 0x20 || b == 0x7f) {
        n = snprintf(t->escape, sizeof t->escape, "^%c", b ^ 0x40);
        len = 1;
    } else if (len == 0) {
        n = snprintf(t->escape, sizeof t->escape, "\\x%02X", b);
        len = 1;
    } else {
        uint32_t c = decode(t->p, len);
        if (!is_invisible(c)) {
            t->p += len;
            *width = tui_cp_width(c);
            return c;
        }
        n = snprintf(t->escape, sizeof t->escape, "\\u{%X}", c);
    }
    t->p += len;
    t->escape_len = (uint8_t)n;
    t->escape_at = 0;
    return from_escape(t, width);
}

int tui_text_cols(const char *p, size_t len, int max)
{
    struct tui_text t = tui_text_from(p, len);
    int cols = 0, w = 0;
    /* a bound of its own: a text of combining marks never gets wider */
    for (int left = TUI_TEXT_EFFORT(max); left > 0 && cols < max; left--) {
        if (tui_text_next(&t, &w) == TUI_TEXT_END)
            break;
        cols += w;
    }
    return cols < max ? cols : max;
}

size_t tui_text_begin(const char *p, size_t len, size_t max)
{
    if (len <= max)
        return len;
    size_t n = max;
    while (n > 0 && max - n < 4 && ((unsigned char)p[n] & 0xC0) == 0x80)
        n--;
    return n;
}

int tui_utf8_put(char out[4], uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}
