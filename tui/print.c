/* print - see print.h: the viewer itself, on a screen as tall as the tracks need, with glyphs that
 * need no colours. */
#include "print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum ntff_status print_app(struct tui_app *a, const struct tui_print *p,
                                  const struct tui_host *host, struct ntff_error *err)
{
    struct tui_screen s = {0};
    char why[160] = "", more[64];
    if (p->track && !tui_app_filter(a, p->track, why, sizeof why))
        return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "--track %.80s: %s", p->track, why);
    size_t lines = tui_app_lines(a), shown = lines < TUI_PRINT_LINES ? lines : TUI_PRINT_LINES;
    if (lines == 0)
        return ntff_fail(err, NTFF_NOTHING, NTFF_NO_OFFSET,
                         p->track ? "no track matches %.100s" : "no tracks",
                         p->track ? p->track : "");
    int w = p->width < 40 ? 40 : p->width > TUI_MAX_COLS ? TUI_MAX_COLS : p->width;
    size_t cap = (size_t)w * 12 + 1;
    char *line = malloc(cap);
    if (!line || !tui_screen_resize(&s, w, (int)shown + 2)) {
        free(line);
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for the page");
    }
    tui_app_handle(a, &(struct tui_event){.kind = TUI_EVENT_RESIZE, .w = w, .h = (int)shown + 2});
    if (p->to > p->from)
        tui_app_show(a, p->from, p->to);
    tui_settle(a, &s);
    if (tui_app_starved(a)) {
        free(line);
        tui_screen_done(&s);
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for the page");
    }
    for (int y = 0; y < s.h; y++) {
        size_t n = tui_screen_row_text(&s, y, line, cap - 1);
        line[n] = '\n';
        host->put(host->user, line, n + 1);
    }
    if (lines > shown) {
        int n =
            snprintf(more, sizeof more, "(%zu more lines: choose with --track)\n", lines - shown);
        host->put(host->user, more, (size_t)n);
    }
    free(line);
    tui_screen_done(&s);
    return NTFF_OK;
}

enum ntff_status tui_print(const struct tui_lod *l, const struct tui_print *p,
                           const struct tui_host *host, struct ntff_error *err)
{
    struct tui_options o = {.title = p->title, .ascii = p->ascii, .fill = true, .plain = true};
    struct tui_app *a = tui_app_new(l, &o);
    if (!a)
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for the page");
    enum ntff_status st = print_app(a, p, host, err);
    tui_app_free(a);
    return st;
}
