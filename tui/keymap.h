/* keymap - keys to actions, with their help: one table that the program obeys, the help screen
 * shows and the manual page is checked against. Knows: event. */
#ifndef TUI_KEYMAP_H
#define TUI_KEYMAP_H

#include "event.h"

enum tui_section {
    TUI_SEC_TIME,
    TUI_SEC_TRACKS,
    TUI_SEC_SPANS,
    TUI_SEC_SEARCH,
    TUI_SEC_RANGE,
    TUI_SEC_PANES,
    TUI_SEC_PROGRAM,
    TUI_SEC_COUNT
};

/* action, section, keys, help */
#define TUI_ACTION_TABLE(X)                                                                        \
    X(LEFT, TIME, "Left h", "cursor one column back; the view follows")                            \
    X(RIGHT, TIME, "Right l", "cursor one column on; the view follows")                            \
    X(PAN_LEFT, TIME, "a S-Left", "pan back by an eighth of the view")                             \
    X(PAN_RIGHT, TIME, "d S-Right", "pan on by an eighth of the view")                             \
    X(ZOOM_IN, TIME, "w + =", "zoom in at the cursor")                                             \
    X(ZOOM_OUT, TIME, "s -", "zoom out at the cursor")                                             \
    X(START, TIME, "g", "begin of the trace; in a list: first line")                               \
    X(LAST, TIME, "G", "end of the trace; in a list: last line")                                   \
    X(FIT, TIME, "0", "show all events; again: all counter samples too")                           \
    X(ZOOM_SEL, TIME, "z", "zoom to the marked range, else to the selected span")                  \
    X(BACK, TIME, "Backspace u", "back to the view before")                                        \
    X(GOTO, TIME, "t", "go to a time: 1.5s, 20ms, +3us, 50%, or Unix ns")                          \
    X(CLOCK, TIME, "T", "times since the trace begin, or UTC")                                     \
    X(UP, TRACKS, "Up k", "line above")                                                            \
    X(DOWN, TRACKS, "Down j", "line below")                                                        \
    X(PGUP, TRACKS, "PgUp C-b", "page up")                                                         \
    X(PGDN, TRACKS, "PgDn C-f", "page down")                                                       \
    X(HOME, TRACKS, "Home", "first line")                                                          \
    X(END, TRACKS, "End", "last line")                                                             \
    X(FOLD, TRACKS, "Space", "fold or unfold the track")                                           \
    X(FOLD_ALL, TRACKS, "O", "fold all tracks, or unfold all")                                     \
    X(FILTER, TRACKS, "f", "show only tracks that match a pattern; empty: all")                    \
    X(DETAILS, SPANS, "Enter", "details of the selected span; on a fold mark: unfold")             \
    X(NEXT, SPANS, "> .", "next span on the track")                                                \
    X(PREV, SPANS, "< ,", "previous span on the track")                                            \
    X(LONGEST, SPANS, "L", "next longest span of the track in view or marked, partial last")       \
    X(GAP, SPANS, "p", "next longest gap of the track in view (or marked)")                        \
    X(FLOW_BACK, SPANS, "[", "back along a flow: to what caused this")                             \
    X(FLOW_NEXT, SPANS, "]", "on along a flow: to what this caused")                               \
    X(ERROR_NEXT, SPANS, "x", "next error or lost-event mark")                                     \
    X(ERROR_PREV, SPANS, "X", "previous error or lost-event mark")                                 \
    X(SEARCH, SEARCH, "/", "search on, by regular expression, in names and values")                \
    X(SEARCH_BACK, SEARCH, "?", "search back")                                                     \
    X(AGAIN, SEARCH, "n", "next hit")                                                              \
    X(AGAIN_BACK, SEARCH, "N", "previous hit")                                                     \
    X(ESCAPE, SEARCH, "Esc", "stop the search, leave the list, clear marks and hits")              \
    X(MARK, RANGE, "m", "mark here; the second mark makes a range and measures it")                \
    X(UNMARK, RANGE, "M", "remove the marks")                                                      \
    X(EXPORT, RANGE, "e", "export marked range, else the view, of shown tracks to .pftrace")       \
    X(PANE_NEXT, PANES, "Tab", "next pane")                                                        \
    X(PANE_PREV, PANES, "BackTab", "previous pane")                                                \
    X(SHOW_TREE, PANES, "1", "track names on or off")                                              \
    X(SHOW_DETAILS, PANES, "2", "details on or off")                                               \
    X(SHOW_STATS, PANES, "3", "statistics on or off")                                              \
    X(SHOW_OVERVIEW, PANES, "4", "overview on or off")                                             \
    X(SORT, PANES, "c", "statistics: sort by the next column")                                     \
    X(SCOPE, PANES, "S", "statistics: all shown tracks, or the one under the cursor")              \
    X(ENGINES, PANES, "b", "statistics: names, or busy time of each track")                        \
    X(INFO, PROGRAM, "i", "about this trace: files, losses, clocks")                               \
    X(HELP, PROGRAM, "F1 H", "this help")                                                          \
    X(MOUSE, PROGRAM, "Y", "mouse on or off (off: the terminal selects text)")                     \
    X(REDRAW, PROGRAM, "C-l", "draw the screen anew")                                              \
    X(SUSPEND, PROGRAM, "C-z", "suspend")                                                          \
    X(INTERRUPT, PROGRAM, "C-c", "stop what is running, else quit")                                \
    X(QUIT, PROGRAM, "q", "close this page or pane; on the timeline: quit")

enum tui_action {
    TUI_ACT_NONE,
#define X(id, section, keys, help) TUI_ACT_##id,
    TUI_ACTION_TABLE(X)
#undef X
        TUI_ACT_COUNT
};

struct tui_binding {
    enum tui_action action;
    enum tui_section section;
    const char *keys; /* names, separated by blanks */
    const char *help;
};

/* In help order; *n entries. */
const struct tui_binding *tui_bindings(size_t *n);
const char *tui_section_title(enum tui_section s);

/* Mouse, for the help screen and the manual: gesture and effect. */
struct tui_gesture {
    const char *what, *help;
};
const struct tui_gesture *tui_gestures(size_t *n);

enum tui_action tui_action_of(uint32_t key);

/* "Left", "C-l", "F1", "Space", "a" -> key; 0 if it is none. */
uint32_t tui_key_parse(const char *name, size_t len);
/* All names as one line: "characters, Up, Down, ...". */
void tui_key_list(char *out, size_t cap);
/* The name of a key; returns its length (out holds at least 16 bytes). */
size_t tui_key_name(uint32_t key, char *out);

#endif
