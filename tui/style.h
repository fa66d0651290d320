/* style - what a cell looks like, by meaning; the colours are a table. Knows: base.
 * A cell carries a style id. term.c turns it into colours and attributes for the terminal at hand:
 * 256 colours, 16, or none (mono: attributes only). Scripts and tests see the ids' names. */
#ifndef TUI_STYLE_H
#define TUI_STYLE_H

#include "proto/base.h"

#define TUI_HUES 14 /* span colours */

/* id, name in dumps, {fg, bg} of 256, {fg, bg} of 16, attributes of both, attributes in mono */
#define TUI_STYLE_TABLE(X)                                                                         \
    X(NORMAL, "normal", -1, -1, -1, -1, 0, 0)                                                      \
    X(DIM, "dim", 244, -1, 8, -1, 0, DIM)                                                          \
    X(BOLD, "bold", -1, -1, -1, -1, BOLD, BOLD)                                                    \
    X(HEADER, "header", 252, 236, 7, 0, 0, REVERSE)                                                \
    X(HEADER_HI, "header-hi", 231, 236, 15, 0, BOLD, REVERSE | BOLD)                               \
    X(HEADER_WARN, "header-warn", 222, 236, 11, 0, BOLD, REVERSE | BOLD)                           \
    X(OVER_IN, "over-in", 117, 237, 14, 8, 0, BOLD)                                                \
    X(OVER_OUT, "over-out", 242, -1, 7, -1, 0, 0)                                                  \
    X(RULER, "ruler", 250, -1, 7, -1, 0, 0)                                                        \
    X(GRID, "grid", 238, -1, 8, -1, 0, DIM)                                                        \
    X(CURSOR, "cursor", 16, 255, 0, 7, BOLD, REVERSE | BOLD)                                       \
    X(CURSOR_LINE, "cursor-line", 250, -1, 7, -1, 0, 0)                                            \
    X(MARKED, "marked", 16, 222, 0, 3, 0, REVERSE)                                                 \
    X(TREE, "tree", -1, -1, -1, -1, 0, 0)                                                          \
    X(TREE_GROUP, "tree-group", -1, -1, -1, -1, BOLD, BOLD)                                        \
    X(TREE_SEL, "tree-sel", 231, 24, 15, 4, BOLD, REVERSE)                                         \
    X(TREE_SEL_OFF, "tree-sel-off", 252, 238, 15, 8, 0, UNDERLINE)                                 \
    X(TREE_NUM, "tree-num", 108, -1, 2, -1, 0, 0)                                                  \
    X(BORDER, "border", 240, -1, 8, -1, 0, 0)                                                      \
    X(TITLE, "title", 250, -1, 7, -1, 0, 0)                                                        \
    X(TITLE_FOCUS, "title-focus", 117, -1, 14, -1, BOLD, BOLD)                                     \
    X(LIST_SEL, "list-sel", 231, 24, 15, 4, 0, REVERSE)                                            \
    X(KEY, "key", 117, -1, 14, -1, BOLD, BOLD)                                                     \
    X(FIELD, "field", 109, -1, 6, -1, 0, 0)                                                        \
    X(VALUE, "value", -1, -1, -1, -1, 0, 0)                                                        \
    X(PROMPT, "prompt", 222, -1, 11, -1, BOLD, BOLD)                                               \
    X(NOTE, "note", 150, -1, 10, -1, 0, 0)                                                         \
    X(WARN, "warn", 222, -1, 11, -1, BOLD, BOLD)                                                   \
    X(ERROR, "error", 231, 160, 15, 1, BOLD, REVERSE | BOLD)                                       \
    X(LOST, "lost", 16, 208, 0, 3, BOLD, REVERSE | BOLD)                                           \
    X(SELECTED, "selected", 16, 255, 0, 15, BOLD, REVERSE | UNDERLINE | BOLD)                      \
    X(BEFORE, "flow-before", 231, 161, 15, 5, BOLD, REVERSE | DIM)                                 \
    X(AFTER, "flow-after", 231, 26, 15, 4, BOLD, REVERSE | DIM)                                    \
    X(HIT, "hit", 16, 226, 0, 11, BOLD, REVERSE | UNDERLINE)                                       \
    X(COUNTER, "counter", 71, -1, 2, -1, 0, 0)                                                     \
    X(METER, "meter", 75, -1, 12, -1, 0, 0)

enum tui_style {
#define X(id, name, f256, b256, f16, b16, attrs, mono) TUI_STYLE_##id,
    TUI_STYLE_TABLE(X)
#undef X
        TUI_STYLE_SPAN,                        /* + hue: text on the colour */
    TUI_STYLE_BAR = TUI_STYLE_SPAN + TUI_HUES, /* + hue: the colour on the background */
    TUI_STYLE_COUNT = TUI_STYLE_BAR + TUI_HUES
};

enum { TUI_ATTR_BOLD = 1, TUI_ATTR_DIM = 2, TUI_ATTR_REVERSE = 4, TUI_ATTR_UNDERLINE = 8 };

enum tui_colors { TUI_COLORS_MONO, TUI_COLORS_16, TUI_COLORS_256 };

struct tui_look {
    int fg, bg;     /* colour number, -1 = the terminal's own */
    unsigned attrs; /* TUI_ATTR_* */
};

struct tui_look tui_style_look(int style, enum tui_colors colors);
/* "header", "span3", ... */
const char *tui_style_name(int style);

/* Hue of a span's name: well-known names have the colour people know from the vendor's viewer, the
 * others one by a hash of the name without its digits, as in Perfetto. */
int tui_hue_of(const char *name, size_t len);

#endif
