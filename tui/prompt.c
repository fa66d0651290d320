/* prompt - the line at the bottom that asks for a pattern, a time or a file name. Text is kept as
 * UTF-8; the cursor is a byte position at the begin of a code point. */
#include "app_priv.h"

#include <stdio.h>
#include <string.h>

const char *tui_ask_label(enum tui_ask what)
{
    switch (what) {
    case TUI_ASK_SEARCH:
        return "/";
    case TUI_ASK_SEARCH_BACK:
        return "?";
    case TUI_ASK_FILTER:
        return "show tracks: ";
    case TUI_ASK_TIME:
        return "go to: ";
    case TUI_ASK_EXPORT:
        return "export to: ";
    case TUI_ASK_REPLACE:
        return "the file exists; replace it? (y/n) ";
    default:
        return "";
    }
}

void tui_ask(struct tui_app *a, enum tui_ask what, const char *text)
{
    a->ask = what;
    a->ask_len = strnlen(text, TUI_ASK_CAP - 1);
    memcpy(a->ask_text, text, a->ask_len);
    a->ask_text[a->ask_len] = 0;
    a->ask_at = a->ask_len;
}

/* -- editing -------------------------------------------------------------------------------- */

static size_t char_before(const struct tui_app *a, size_t at)
{
    if (at)
        at--;
    while (at && ((unsigned char)a->ask_text[at] & 0xC0) == 0x80)
        at--;
    return at;
}

static size_t char_after(const struct tui_app *a, size_t at)
{
    if (at < a->ask_len)
        at++;
    while (at < a->ask_len && ((unsigned char)a->ask_text[at] & 0xC0) == 0x80)
        at++;
    return at;
}

static void cut(struct tui_app *a, size_t from, size_t to)
{
    memmove(a->ask_text + from, a->ask_text + to, a->ask_len - to + 1);
    a->ask_len -= to - from;
    a->ask_at = from;
}

static void insert(struct tui_app *a, uint32_t c)
{
    char utf8[4];
    size_t n = (size_t)tui_utf8_put(utf8, c);
    if (a->ask_len + n >= TUI_ASK_CAP)
        return;
    memmove(a->ask_text + a->ask_at + n, a->ask_text + a->ask_at, a->ask_len - a->ask_at + 1);
    memcpy(a->ask_text + a->ask_at, utf8, n);
    a->ask_at += n;
    a->ask_len += n;
}

static size_t word_before(const struct tui_app *a)
{
    size_t at = a->ask_at;
    while (at && a->ask_text[at - 1] == ' ')
        at--;
    while (at && a->ask_text[at - 1] != ' ')
        at--;
    return at;
}

/* False: the key is none of editing. */
static bool edit(struct tui_app *a, uint32_t key)
{
    switch (key) {
    case TUI_KEY_LEFT:
        a->ask_at = char_before(a, a->ask_at);
        return true;
    case TUI_KEY_RIGHT:
        a->ask_at = char_after(a, a->ask_at);
        return true;
    case TUI_KEY_HOME:
    case TUI_CTRL('a'):
        a->ask_at = 0;
        return true;
    case TUI_KEY_END:
    case TUI_CTRL('e'):
        a->ask_at = a->ask_len;
        return true;
    case TUI_KEY_BACKSPACE:
        cut(a, char_before(a, a->ask_at), a->ask_at);
        return true;
    case TUI_KEY_DELETE:
        cut(a, a->ask_at, char_after(a, a->ask_at));
        return true;
    case TUI_CTRL('u'):
        cut(a, 0, a->ask_at);
        return true;
    case TUI_CTRL('w'):
        cut(a, word_before(a), a->ask_at);
        return true;
    default:
        if (key < 0x20 || key >= 0x110000 || key == 0x7f)
            return false;
        insert(a, key);
        return true;
    }
}

/* -- answers -------------------------------------------------------------------------------- */

static void answer_search(struct tui_app *a, int dir)
{
    char why[128] = "";
    if (!a->ask_len) { /* the same once more */
        tui_nav_hit(a, dir);
        return;
    }
    if (!tui_search_start(&a->search, &a->rows, a->details_of, a->ask_text, tui_nav_here(a), why,
                          sizeof why)) {
        tui_app_say(a, true, "bad pattern: %s", why);
        return;
    }
    a->search_dir = dir;
    a->search_jump = true;
}

static void answer_filter(struct tui_app *a)
{
    char why[128] = "";
    if (!tui_app_filter(a, a->ask_text, why, sizeof why)) {
        tui_app_say(a, true, "bad pattern: %s", why);
        return;
    }
    memcpy(a->filter, a->ask_text, a->ask_len + 1);
    if (a->rows.n_lines == 0)
        tui_app_say(a, true, "no track matches; f and Enter shows all again");
}

static void answer_time(struct tui_app *a)
{
    uint64_t t;
    struct tui_time_base base = {a->t->begin_ns, a->t->end_ns, a->now};
    if (tui_parse_time(a->ask_text, &base, &t))
        tui_nav_time(a, t);
    else if (a->ask_len)
        tui_app_say(a, true, "not a time: try 1.5s, 20ms, +3us, 50%%");
}

static unsigned answer_export(struct tui_app *a, bool replace)
{
    if (!replace)
        snprintf(a->export.path, sizeof a->export.path, "%s", a->ask_text);
    if (!a->export.path[0])
        return TUI_REDRAW;
    tui_nav_range(a, &a->export.from, &a->export.to);
    a->export.replace = replace;
    a->export.shown = a->rows.filtered ? a->rows.shown : NULL;
    return TUI_REDRAW | TUI_EXPORT;
}

static unsigned answer(struct tui_app *a, enum tui_ask what)
{
    switch (what) {
    case TUI_ASK_SEARCH:
        answer_search(a, 1);
        break;
    case TUI_ASK_SEARCH_BACK:
        answer_search(a, -1);
        break;
    case TUI_ASK_FILTER:
        answer_filter(a);
        break;
    case TUI_ASK_TIME:
        answer_time(a);
        break;
    case TUI_ASK_EXPORT:
        return answer_export(a, false);
    default:
        break;
    }
    return TUI_REDRAW;
}

unsigned tui_ask_key(struct tui_app *a, uint32_t key)
{
    enum tui_ask what = a->ask;
    if (what == TUI_ASK_REPLACE) {
        a->ask = TUI_ASK_NONE;
        if (key == 'y' || key == 'Y')
            return answer_export(a, true);
        tui_app_say(a, false, "not exported");
        return TUI_REDRAW;
    }
    if (key == TUI_KEY_ESC || key == TUI_CTRL('c') || key == TUI_CTRL('g') ||
        (key == TUI_KEY_BACKSPACE && a->ask_len == 0)) {
        a->ask = TUI_ASK_NONE;
        return TUI_REDRAW;
    }
    if (key == TUI_KEY_ENTER) {
        a->ask = TUI_ASK_NONE;
        return answer(a, what);
    }
    return edit(a, key) ? TUI_REDRAW : TUI_BELL;
}
