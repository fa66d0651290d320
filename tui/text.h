/* text - text from a trace, made harmless: what a terminal would obey becomes something to read.
 * Knows: proto/base, proto/mem (UTF-8 check).
 *
 * Shown as themselves: printable code points, with combining marks. Made visible: control bytes as
 * ^X, bytes that are not UTF-8 as \xNN, C1 controls, direction marks and other invisible
 * formatting characters, and code points outside the planes in use as \u{NNNN}. So no escape
 * sequence and no reordering of text can come out of a name, and the width is always known. */
#ifndef TUI_TEXT_H
#define TUI_TEXT_H

#include "proto/base.h"

/* Columns of a printable code point: 0 (combining), 1 or 2. Independent of the locale. */
int tui_cp_width(uint32_t c);

#define TUI_TEXT_END UINT32_MAX

struct tui_text {
    const char *p, *end;
    char escape[16]; /* of a byte or code point made visible */
    uint8_t escape_len, escape_at;
};

static inline struct tui_text tui_text_from(const char *p, size_t len)
{
    return (struct tui_text){.p = p, .end = p + len};
}

/* Next code point to show, with its width; TUI_TEXT_END at the end. */
uint32_t tui_text_next(struct tui_text *t, int *width);

/* Code points looked at, at most, to fill so many columns. */
#define TUI_TEXT_EFFORT(cols) (16 * (cols) + 64)

/* Columns the text takes, counted up to max (then max is returned). */
int tui_text_cols(const char *p, size_t len, int max);

/* The longest begin of p[0..len) of at most max bytes that does not end inside a sequence. */
size_t tui_text_begin(const char *p, size_t len, size_t max);

/* Writes the code point as UTF-8; returns its length 1..4. */
int tui_utf8_put(char out[4], uint32_t c);

#endif
