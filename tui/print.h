/* print - one page of timeline as plain text, for pipes and mails. Knows: app. */
#ifndef TUI_PRINT_H
#define TUI_PRINT_H

#include "script.h"

struct tui_print {
    const char *title;
    int width;         /* columns, 40 .. TUI_MAX_COLS */
    uint64_t from, to; /* equal: the whole trace */
    const char *track; /* pattern, NULL = all */
    bool ascii;
};

#define TUI_PRINT_LINES 2000 /* tracks beyond are counted, not drawn */

/* Errors: INVALID (bad pattern), NOTHING (no track matches), NOMEM. */
enum ntff_status tui_print(const struct tui_lod *l, const struct tui_print *p,
                           const struct tui_host *host, struct ntff_error *err) NTFF_MUST_CHECK;

#endif
