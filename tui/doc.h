/* doc - a list of lines to scroll through: details, help, about. Knows: proto/mem, style.
 * Memory: texts are copied into the document, cut to TUI_DOC_TEXT bytes each. */
#ifndef TUI_DOC_H
#define TUI_DOC_H

#include "proto/mem.h"
#include "screen.h"

#define TUI_DOC_TEXT ((size_t)4096)

struct tui_doc_line {
    uint32_t key, key_len; /* into text */
    uint32_t val, val_len;
    uint8_t key_style, val_style;
    bool path;      /* cut at its begin */
    uint32_t event; /* Enter goes there; UINT32_MAX = nowhere */
};

struct tui_doc {
    NTFF_VEC(struct tui_doc_line) lines;
    struct ntff_buf text;
    int key_cols; /* width of the key column */
    int top, at;  /* first line shown, line under the cursor */
    int left;     /* columns scrolled off */
    bool starved; /* memory ran out: text is missing; stays */
};

void tui_doc_clear(struct tui_doc *d);
void tui_doc_done(struct tui_doc *d);
/* A heading. */
void tui_doc_head(struct tui_doc *d, const char *fmt, ...) NTFF_PRINTF(2, 3);
/* key: value. */
struct tui_doc_line *tui_doc_add(struct tui_doc *d, int style, const char *key, const char *fmt,
                                 ...) NTFF_PRINTF(4, 5);
/* Bytes as they are. */
struct tui_doc_line *tui_doc_bytes(struct tui_doc *d, int key_style, const char *key,
                                   size_t key_len, int val_style, const char *val, size_t val_len);

/* A path: if it is too long, its end shows. */
void tui_doc_path(struct tui_doc *d, const char *key, const char *path, size_t len);

/* Text over the full width of cols columns, on as many lines as it takes, the further ones
 * indented; broken at blanks where there are some. */
void tui_doc_wrap(struct tui_doc *d, int style, int cols, const char *text, size_t len);

/* Moves the line under the cursor by n, keeping it on a page of h lines. */
void tui_doc_move(struct tui_doc *d, int n, int h);
/* Paints into r; with focus the line under the cursor is marked. */
void tui_doc_draw(struct tui_doc *d, struct tui_screen *s, struct tui_rect r, bool focus);

#endif
