/* script - drives the viewer from a text, without a terminal. Knows: app.
 *
 * One command a line; '#' begins a comment:
 *   size 100x30                  resize
 *   key Right C-l / F1 ...       keys by name, one or more
 *   type some text               each character as a key
 *   mouse press 40 5 [shift] [ctrl]    also: drag, release, double, wheel-up, wheel-down
 *   dump [letters|styles]        the screen: letters, styles, or both
 *   say text                     a line into the output
 * After every command the background work is finished, as if somebody waited for it; 'hasty on'
 * leaves that out until 'hasty off'.
 * Output: letters between bars, one line per row; styles as runs, "3 header*40 dim*2". */
#ifndef TUI_SCRIPT_H
#define TUI_SCRIPT_H

#include "app.h"

struct tui_host { /* what the viewer asks of its surroundings */
    void *user;
    void (*put)(void *user, const char *p, size_t len); /* output */
    void (*export)(void *user, struct tui_app *a);      /* NULL = not possible here */
};

/* Runs the commands until the end, or until the viewer quits.
 * Errors: INVALID (a line that is no command; err says which), NOMEM. */
enum ntff_status tui_script_run(struct tui_app *a, struct tui_screen *s, const char *text,
                                size_t len, const struct tui_host *host,
                                struct ntff_error *err) NTFF_MUST_CHECK;

/* Writes the screen as text: what = 1 letters, 2 styles, 3 both. False: no memory. */
bool tui_screen_dump(const struct tui_screen *s, int what, const struct tui_host *host);

/* Works and draws until nothing is left to do. */
void tui_settle(struct tui_app *a, struct tui_screen *s);

#endif
