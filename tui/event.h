/* event - what the viewer reacts to, in our own numbering: neither curses nor a terminal is known
 * here, so a script can make the same events.
 * A key is a code point (0x21..0x10FFFF), or one of TUI_KEY_*; control letters are TUI_CTRL('c').
 */
#ifndef TUI_EVENT_H
#define TUI_EVENT_H

#include "proto/base.h"

enum tui_event_kind {
    TUI_EVENT_NONE, /* nothing happened until the timeout */
    TUI_EVENT_KEY,
    TUI_EVENT_MOUSE,
    TUI_EVENT_RESIZE, /* .w, .h: the new size */
    TUI_EVENT_QUIT    /* asked from outside: SIGTERM, SIGHUP */
};

enum {
    TUI_KEY_UP = 0x110000,
    TUI_KEY_DOWN,
    TUI_KEY_LEFT,
    TUI_KEY_RIGHT,
    TUI_KEY_SLEFT, /* with shift */
    TUI_KEY_SRIGHT,
    TUI_KEY_PGUP,
    TUI_KEY_PGDN,
    TUI_KEY_HOME,
    TUI_KEY_END,
    TUI_KEY_INSERT,
    TUI_KEY_DELETE,
    TUI_KEY_BACKSPACE,
    TUI_KEY_TAB,
    TUI_KEY_BACKTAB,
    TUI_KEY_ENTER,
    TUI_KEY_ESC,
    TUI_KEY_F1, /* F1 .. F12 follow each other */
    TUI_KEY_F12 = TUI_KEY_F1 + 11,
    TUI_KEY_CTRL /* + letter 1..26 */
};
#define TUI_CTRL(letter) (TUI_KEY_CTRL + ((letter)&0x1f))

enum tui_mouse {
    TUI_MOUSE_PRESS,
    TUI_MOUSE_DRAG,
    TUI_MOUSE_RELEASE,
    TUI_MOUSE_DOUBLE,
    TUI_MOUSE_WHEEL_UP,
    TUI_MOUSE_WHEEL_DOWN
};
enum { TUI_MOD_SHIFT = 1, TUI_MOD_CTRL = 2, TUI_MOD_ALT = 4 };

struct tui_event {
    enum tui_event_kind kind;
    uint32_t key;
    enum tui_mouse mouse;
    int mods;
    int x, y; /* MOUSE: cell, from the top left */
    int w, h; /* RESIZE */
};

#endif
