/* term - the terminal: curses in and out. The only user of curses; one terminal per process, so its
 * state is static. Knows: event, screen.
 * Whatever ends the program, tui_term_close has restored the terminal before: it is called at exit,
 * and SIGTERM, SIGHUP and SIGINT arrive as events. */
#ifndef TUI_TERM_H
#define TUI_TERM_H

#include "event.h"
#include "proto/error.h"
#include "screen.h"

struct tui_term_options {
    int colors; /* enum tui_colors, -1 = as the terminal can */
    bool no_mouse;
    bool ascii; /* asked for; see tui_term_ascii */
};

/* Errors: INVALID (no terminal, or an unknown one). */
enum ntff_status tui_term_open(const struct tui_term_options *o,
                               struct ntff_error *err) NTFF_MUST_CHECK;
void tui_term_close(void);

/* Whether only ASCII can be shown: asked for, or the locale is not UTF-8. */
bool tui_term_ascii(void);
void tui_term_size(int *w, int *h);
/* Makes the screen as large as the terminal. */
bool tui_term_fit(struct tui_screen *s) NTFF_MUST_CHECK;

/* Sends what differs from the last screen shown. */
void tui_term_show(const struct tui_screen *s);
void tui_term_repaint(void); /* forget what is on the terminal */
void tui_term_bell(void);
void tui_term_mouse(bool on);
/* Stops the process as ctrl-Z does elsewhere; returns when it is continued. */
void tui_term_suspend(void);

/* The next event, waiting up to timeout_ms (-1: for ever). A QUIT event: tui_term_signal tells why.
 */
struct tui_event tui_term_wait(int timeout_ms);
int tui_term_signal(void);

#endif
