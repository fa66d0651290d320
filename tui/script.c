/* script - see script.h. */
#include "script.h"

#include "keymap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
    struct tui_app *a;
    struct tui_screen *s;
    const struct tui_host *host;
    struct ntff_error *err;
    int line_no;
    const char *bad; /* the word that a command does not take */
    bool hasty, quit, starved;
};

/* -- output --------------------------------------------------------------------------------- */

static void put(const struct tui_host *h, const char *text)
{
    h->put(h->user, text, strlen(text));
}

static bool dump_letters(const struct tui_screen *s, const struct tui_host *h)
{
    size_t cap = (size_t)s->w * 12 + 1;
    char *line = malloc(cap);
    for (int y = 0; line && y < s->h; y++) {
        size_t n = tui_screen_row_text(s, y, line, cap);
        put(h, "|");
        h->put(h->user, line, n);
        put(h, "\n");
    }
    bool good = line;
    free(line);
    return good;
}

static void dump_styles(const struct tui_screen *s, const struct tui_host *h)
{
    char text[64];
    for (int y = 0; y < s->h; y++) {
        int x = 0, last = s->w;
        while (last > 0 && tui_cell_at(s, last - 1, y)->style == TUI_STYLE_NORMAL)
            last--;
        snprintf(text, sizeof text, "%d", y);
        put(h, text);
        while (x < last) {
            int style = tui_cell_at(s, x, y)->style, n = 1;
            while (x + n < last && tui_cell_at(s, x + n, y)->style == style)
                n++;
            snprintf(text, sizeof text, n > 1 ? " %s*%d" : " %s", tui_style_name(style), n);
            put(h, text);
            x += n;
        }
        put(h, "\n");
    }
}

bool tui_screen_dump(const struct tui_screen *s, int what, const struct tui_host *host)
{
    char head[64];
    bool good = true;
    snprintf(head, sizeof head, "== %dx%d\n", s->w, s->h);
    put(host, head);
    if (what & 1)
        good = dump_letters(s, host);
    if (s->cursor_x >= 0) {
        snprintf(head, sizeof head, "-- cursor %d,%d\n", s->cursor_x, s->cursor_y);
        put(host, head);
    }
    if (what & 2) {
        put(host, "-- styles\n");
        dump_styles(s, host);
    }
    return good;
}

void tui_settle(struct tui_app *a, struct tui_screen *s)
{
    tui_app_draw(a, s);
    while (tui_app_work(a))
        tui_app_draw(a, s);
    tui_app_draw(a, s);
}

/* -- commands ------------------------------------------------------------------------------- */

static void feed(struct run *r, const struct tui_event *e)
{
    if (r->quit)
        return;
    unsigned flags = tui_app_handle(r->a, e);
    if (flags & TUI_EXPORT) {
        if (r->host->export)
            r->host->export(r->host->user, r->a);
        else
            tui_app_say(r->a, true, "export is not possible here");
    }
    r->quit = flags & TUI_QUIT;
    if (!r->hasty)
        tui_settle(r->a, r->s);
    else
        tui_app_draw(r->a, r->s);
}

static void feed_key(struct run *r, uint32_t key)
{
    feed(r, &(struct tui_event){.kind = TUI_EVENT_KEY, .key = key});
}

static bool do_size(struct run *r, char *args)
{
    char *end;
    long w = strtol(args, &end, 10), h = 0;
    if (end == args || (*end != 'x' && *end != ' '))
        return false;
    h = strtol(end + 1, &end, 10);
    if (*end || w < 1 || w > TUI_MAX_COLS || h < 1 || h > TUI_MAX_LINES)
        return false;
    if (!tui_screen_resize(r->s, (int)w, (int)h))
        return r->starved = true;
    feed(r, &(struct tui_event){.kind = TUI_EVENT_RESIZE, .w = (int)w, .h = (int)h});
    return true;
}

static bool do_key(struct run *r, char *args)
{
    char *save = NULL;
    bool any = false;
    for (char *k = strtok_r(args, " ", &save); k; k = strtok_r(NULL, " ", &save)) {
        uint32_t key = tui_key_parse(k, strlen(k));
        if (!key) {
            r->bad = k;
            return false;
        }
        feed_key(r, key);
        any = true;
    }
    return any;
}

static bool do_type(struct run *r, char *args)
{
    struct tui_text t = tui_text_from(args, strlen(args));
    int w;
    for (uint32_t c; (c = tui_text_next(&t, &w)) != TUI_TEXT_END;)
        feed_key(r, c);
    return true;
}

static bool do_mouse(struct run *r, char *args)
{
    static const char *const names[] = {"press",  "drag",     "release",
                                        "double", "wheel-up", "wheel-down"};
    struct tui_event e = {.kind = TUI_EVENT_MOUSE};
    char *save = NULL, *word = strtok_r(args, " ", &save);
    size_t i = 0;
    while (word && i < NTFF_ARRAY_LEN(names) && strcmp(names[i], word) != 0)
        i++;
    char *x = strtok_r(NULL, " ", &save), *y = strtok_r(NULL, " ", &save);
    if (!word || i == NTFF_ARRAY_LEN(names) || !x || !y) {
        r->bad = word ? word : "";
        return false;
    }
    e.mouse = (enum tui_mouse)i;
    e.x = atoi(x);
    e.y = atoi(y);
    while ((word = strtok_r(NULL, " ", &save)))
        e.mods |= strcmp(word, "shift") == 0  ? TUI_MOD_SHIFT
                  : strcmp(word, "ctrl") == 0 ? TUI_MOD_CTRL
                                              : 0;
    feed(r, &e);
    return true;
}

static bool do_dump(struct run *r, char *args)
{
    int what = strcmp(args, "letters") == 0 ? 1 : strcmp(args, "styles") == 0 ? 2 : *args ? 0 : 3;
    if (!r->hasty)
        tui_settle(r->a, r->s);
    if (what)
        r->starved |= !tui_screen_dump(r->s, what, r->host);
    return what != 0;
}

static bool do_say(struct run *r, char *args)
{
    struct tui_text t = tui_text_from(args, strlen(args));
    char cp[4];
    int w;
    for (uint32_t c; (c = tui_text_next(&t, &w)) != TUI_TEXT_END;)
        r->host->put(r->host->user, cp, (size_t)tui_utf8_put(cp, c));
    put(r->host, "\n");
    return true;
}

static bool do_hasty(struct run *r, char *args)
{
    r->hasty = strcmp(args, "on") == 0;
    return r->hasty || strcmp(args, "off") == 0;
}

static const struct {
    const char *name;
    bool (*run)(struct run *r, char *args);
    const char *takes; /* NULL: the names of keys */
} commands[] = {
    {"size", do_size, "COLUMNSxLINES, up to 1000x500"},
    {"key", do_key, NULL},
    {"type", do_type, "text"},
    {"mouse", do_mouse,
     "press, drag, release, double, wheel-up or wheel-down, column, line [shift] [ctrl]"},
    {"dump", do_dump, "letters, styles, or nothing for both"},
    {"say", do_say, "text"},
    {"hasty", do_hasty, "on or off"},
};

/* What a command was given, and what it takes instead. */
static enum ntff_status refuse(const struct run *r, size_t command, const char *args)
{
    char keys[200];
    const char *takes = commands[command].takes, *bad = r->bad ? r->bad : args;
    if (!takes) {
        tui_key_list(keys, sizeof keys);
        takes = keys;
    }
    return ntff_fail(r->err, NTFF_INVALID, NTFF_NO_OFFSET, "line %d: %s %.40s%sit takes %s",
                     r->line_no, commands[command].name, bad, *bad ? ": " : "nothing: ", takes);
}

static enum ntff_status run_line(struct run *r, char *line)
{
    char *args = line + strcspn(line, " ");
    if (*args)
        *args++ = 0;
    if (!*line || *line == '#')
        return NTFF_OK;
    r->bad = NULL;
    for (size_t i = 0; i < NTFF_ARRAY_LEN(commands); i++)
        if (strcmp(commands[i].name, line) == 0)
            return commands[i].run(r, args) ? NTFF_OK : refuse(r, i, args);
    return ntff_fail(
        r->err, NTFF_INVALID, NTFF_NO_OFFSET,
        "line %d: no such command: %.40s; there are size, key, type, mouse, dump, say, "
        "hasty",
        r->line_no, line);
}

enum ntff_status tui_script_run(struct tui_app *a, struct tui_screen *s, const char *text,
                                size_t len, const struct tui_host *host, struct ntff_error *err)
{
    struct run r = {.a = a, .s = s, .host = host, .err = err};
    char line[1024];
    enum ntff_status st = NTFF_OK;
    while (len && st == NTFF_OK && !r.quit) {
        const char *nl = memchr(text, '\n', len);
        size_t n = nl ? (size_t)(nl - text) : len, k = n < sizeof line ? n : sizeof line - 1;
        memcpy(line, text, k);
        while (k && (line[k - 1] == '\r' || line[k - 1] == ' '))
            k--;
        line[k] = 0;
        r.line_no++;
        if (strlen(line) != k)
            st = ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "line %d: a NUL byte", r.line_no);
        else
            st = run_line(&r, line);
        text += nl ? n + 1 : n;
        len -= nl ? n + 1 : n;
    }
    if (st == NTFF_OK && (r.starved || tui_app_starved(a)))
        st = ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for all of the screens");
    return st;
}
