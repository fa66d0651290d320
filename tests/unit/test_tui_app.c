/* The viewer as a whole without a terminal: random keys at random sizes, and what no name may do.
 */
#include "tests/made.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "tui/app.h"
#include "tui/export.h"
#include "tui/keymap.h"
#include "tui/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

struct viewer {
    struct ntff_trace *t;
    struct tui_lod lod;
    struct tui_screen s;
    struct tui_app *a;
};

static void start(struct viewer *v, const char *recipe, size_t n, uint64_t seed, bool ascii)
{
    struct ntff_error err;
    struct tui_options o = {.title = "made/trace", .details = made_details, .ascii = ascii};
    *v = (struct viewer){.t = made_make(recipe, n, seed)};
    TAP_OK(v->t != NULL);
    TAP_OK(tui_lod_build(&v->lod, v->t, NULL, NULL, &err) == NTFF_OK);
    v->a = tui_app_new(&v->lod, &o);
    TAP_OK(v->a != NULL);
    TAP_OK(tui_screen_resize(&v->s, 80, 24));
}

static void end(struct viewer *v)
{
    tui_app_free(v->a);
    tui_screen_done(&v->s);
    tui_lod_done(&v->lod);
    made_free(v->t);
}

/* What must hold for every screen. */
static void check_screen(const struct tui_screen *s, bool ascii)
{
    for (int y = 0; y < s->h; y++) {
        int cols = 0;
        for (int x = 0; x < s->w; x++) {
            const struct tui_cell *c = tui_cell_at(s, x, y);
            TAP_CONTEXT("cell %d,%d of %dx%d: U+%04X width %d", x, y, s->w, s->h, c->ch, c->width);
            TAP_OK(c->style < TUI_STYLE_COUNT);
            TAP_OK(c->ch >= 0x20 && c->ch != 0x7f && !(c->ch >= 0x80 && c->ch < 0xa0));
            TAP_OK(c->ch < 0x110000 && !(c->ch >= 0xd800 && c->ch < 0xe000));
            TAP_OK(!(c->ch >= 0x202a && c->ch <= 0x202e) && !(c->ch >= 0x2066 && c->ch <= 0x2069));
            if (ascii)
                TAP_OK(c->ch < 0x7f && !c->comb[0]);
            if (c->width == 0)
                TAP_OK(x > 0 && tui_cell_at(s, x - 1, y)->width == 2);
            else
                TAP_EQ_I64(tui_cp_width(c->ch), c->width);
            if (c->width == 2)
                TAP_OK(x + 1 < s->w && tui_cell_at(s, x + 1, y)->width == 0);
            for (int i = 0; i < 2; i++)
                TAP_OK(!c->comb[i] || tui_cp_width(c->comb[i]) == 0);
            cols += c->width;
        }
        TAP_EQ_I64(cols, s->w);
    }
}

static uint32_t random_key(uint64_t *r)
{
    static const char *const names[] = {
        "Up",   "Down", "Left", "Right",     "S-Left", "S-Right", "PgUp", "PgDn",
        "Home", "End",  "Tab",  "BackTab",   "Enter",  "Esc",     "F1",   "Space",
        "C-f",  "C-b",  "C-u",  "Backspace", "Delete", "C-w",     "C-l",  "F5",
    };
    static const char plain[] =
        "hjklwsad+-=0gGztTuOf<>,.LpxX[]/?nNmMe1234cSbiHY0123456789 ()*.abcxyz%";
    if (random_below(r, 3))
        return (uint32_t)plain[random_below(r, sizeof plain - 1)];
    const char *n = names[random_below(r, NTFF_ARRAY_LEN(names))];
    return tui_key_parse(n, strlen(n));
}

static struct tui_event random_event(uint64_t *r, struct tui_screen *s)
{
    struct tui_event e = {.kind = TUI_EVENT_KEY};
    switch (random_below(r, 12)) {
    case 0:
        e.kind = TUI_EVENT_RESIZE;
        e.w = 1 + (int)random_below(r, random_below(r, 3) ? 130 : 12);
        e.h = 1 + (int)random_below(r, random_below(r, 3) ? 45 : 8);
        TAP_OK(tui_screen_resize(s, e.w, e.h));
        break;
    case 1:
    case 2:
    case 3:
        e.kind = TUI_EVENT_MOUSE;
        e.mouse = (enum tui_mouse)random_below(r, 6);
        e.mods = (int)random_below(r, 8);
        e.x = (int)random_below(r, (uint64_t)s->w + 4) - 2;
        e.y = (int)random_below(r, (uint64_t)s->h + 4) - 2;
        break;
    default:
        e.key = random_key(r);
        break;
    }
    return e;
}

static void random_walk(const char *recipe, size_t n, uint64_t seed, int steps, bool ascii)
{
    struct viewer v;
    uint64_t r = seed * 77 + 5;
    start(&v, recipe, n, seed, ascii);
    for (int i = 0; i < steps; i++) {
        struct tui_event e = random_event(&r, &v.s);
        TAP_CONTEXT("%s seed %llu step %d", recipe, (unsigned long long)seed, i);
        unsigned flags = tui_app_handle(v.a, &e);
        if (flags & TUI_EXPORT) {
            TAP_OK(tui_app_export(v.a)->path[0]);
            if (random_below(&r, 2))
                tui_app_export_exists(v.a);
        }
        tui_app_draw(v.a, &v.s);
        check_screen(&v.s, ascii);
        if (random_below(&r, 4) == 0)
            tui_app_work(v.a);
        if (random_below(&r, 50) == 0)
            tui_settle(v.a, &v.s);
    }
    end(&v);
}

TAP_TEST(random_keys_on_random_traces)
{
    for (uint64_t seed = 1; seed <= 12; seed++)
        random_walk("random", (size_t)seed * 40, seed, 300, seed % 3 == 0);
}

TAP_TEST(random_keys_on_the_tour)
{
    random_walk("tour", 0, 1, 1500, false);
    random_walk("tour", 0, 2, 700, true);
}

TAP_TEST(random_keys_on_hostile_names)
{
    random_walk("hostile", 0, 3, 500, false);
    random_walk("hostile", 0, 4, 300, true);
}

TAP_TEST(random_keys_on_odd_shapes)
{
    random_walk("deep", 0, 5, 500, false);
    random_walk("years", 0, 6, 700, false);
    random_walk("edge", 0, 9, 900, false);
    random_walk("empty", 0, 7, 200, false);
    random_walk("samples", 0, 8, 300, false);
}

/* Every size from 1x1 on shows something and breaks nothing. */
TAP_TEST(every_size)
{
    struct viewer v;
    start(&v, "tour", 0, 0, false);
    tui_app_handle(v.a, &(struct tui_event){.kind = TUI_EVENT_KEY, .key = '2'});
    tui_app_handle(v.a, &(struct tui_event){.kind = TUI_EVENT_KEY, .key = '3'});
    for (int w = 1; w <= 300; w += w < 50 ? 1 : 25)
        for (int h = 1; h <= 100; h += h < 24 ? 1 : 19) {
            TAP_OK(tui_screen_resize(&v.s, w, h));
            tui_app_handle(v.a, &(struct tui_event){.kind = TUI_EVENT_RESIZE, .w = w, .h = h});
            tui_app_draw(v.a, &v.s);
            check_screen(&v.s, false);
        }
    end(&v);
}

/* -- drawing is what it says ------------------------------------------------------------------- */

static bool on_screen(const struct tui_screen *s, const char *text)
{
    char *line = malloc((size_t)s->w * 12 + 1);
    bool found = false;
    for (int y = 0; y < s->h && !found; y++) {
        tui_screen_row_text(s, y, line, (size_t)s->w * 12 + 1);
        found = strstr(line, text) != NULL;
    }
    free(line);
    return found;
}

static void keys(struct viewer *v, const char *names)
{
    while (*names) {
        size_t n = strcspn(names, " ");
        uint32_t key = tui_key_parse(names, n);
        TAP_OK(key != 0);
        tui_app_handle(v->a, &(struct tui_event){.kind = TUI_EVENT_KEY, .key = key});
        tui_settle(v->a, &v->s);
        names += n + (names[n] == ' ');
    }
}

static int count_style(const struct tui_screen *s, int style)
{
    int n = 0;
    for (int i = 0; i < s->w * s->h; i++)
        n += s->cells[i].style == style;
    return n;
}

/* However far out, and whatever is folded: one error among 100,000 spans stays red. */
TAP_TEST(errors_are_never_hidden)
{
    struct ntff_error err;
    struct made *m = made_begin();
    struct viewer v = {0};
    uint32_t p = made_track(m, NTFF_NONE, NTFF_TRACK_PROCESS, "p");
    for (int k = 0; k < 10; k++) {
        uint32_t track = made_track(m, p, NTFF_TRACK_ENGINE, "engine");
        for (uint64_t i = 0; i < 10000; i++)
            made_span(m, track, 0, i * 100, 90, "op");
    }
    uint32_t e = made_span(m, 7, 0, UINT64_C(1000000), 1, "err");
    made_event_of(m, e)->cat = NTFF_CAT_ERROR;
    v.t = made_end(m);
    struct tui_options o = {.details = made_details};
    TAP_OK(tui_lod_build(&v.lod, v.t, NULL, NULL, &err) == NTFF_OK);
    v.a = tui_app_new(&v.lod, &o);
    TAP_OK(v.a && tui_screen_resize(&v.s, 80, 24));
    tui_settle(v.a, &v.s);
    int expanded = count_style(&v.s, TUI_STYLE_ERROR);
    TAP_OK(expanded >= 2); /* its line, and the overview */
    keys(&v, "Space");     /* fold the process */
    TAP_OK(count_style(&v.s, TUI_STYLE_ERROR) >= 2);
    TAP_OK(on_screen(&v.s, "1 error"));
    keys(&v, "x");
    TAP_OK(on_screen(&v.s, "err 1 ns"));
    end(&v);
}

TAP_TEST(selected_span_and_its_flow_partner_are_marked)
{
    struct viewer v;
    start(&v, "tour", 0, 0, false);
    TAP_OK(tui_screen_resize(&v.s, 120, 40));
    tui_app_handle(v.a, &(struct tui_event){.kind = TUI_EVENT_RESIZE, .w = 120, .h = 40});
    keys(&v, "Down Down Down >");
    TAP_OK(count_style(&v.s, TUI_STYLE_SELECTED) > 0);
    TAP_OK(count_style(&v.s, TUI_STYLE_AFTER) > 0);
    keys(&v, "] 2");
    TAP_OK(on_screen(&v.s, "nc_exec_running"));
    TAP_OK(count_style(&v.s, TUI_STYLE_BEFORE) > 0);
    TAP_OK(on_screen(&v.s, "comes from"));
    end(&v);
}

/* -- background work --------------------------------------------------------------------------- */

/* Result of the folded sums does not depend on how the work is cut up. */
TAP_TEST(settling_is_the_same_in_any_steps)
{
    struct viewer v, w;
    start(&v, "bench", 40000, 1, false);
    start(&w, "bench", 40000, 1, false);
    keys(&v, "O 3");
    for (const char *k = "O3"; *k; k++) {
        tui_app_handle(w.a, &(struct tui_event){.kind = TUI_EVENT_KEY, .key = (uint32_t)*k});
        tui_app_draw(w.a, &w.s); /* no work in between */
    }
    tui_settle(w.a, &w.s);
    TAP_EQ_MEM(w.s.cells, (size_t)(w.s.w * w.s.h) * sizeof *w.s.cells, v.s.cells,
               (size_t)(v.s.w * v.s.h) * sizeof *v.s.cells);
    end(&v);
    end(&w);
}

TAP_TEST(scripts_say_what_is_wrong_with_them)
{
    static const struct {
        const char *script, *error;
    } bad[] = {
        {"size 0x5\n", "line 1: size 0x5: it takes COLUMNSxLINES"},
        {"size 10\n", "line 1: size 10: it takes COLUMNSxLINES"},
        {"size 2000x10\n", "line 1: size 2000x10: it takes COLUMNSxLINES, up to 1000x"},
        {"\n# fine\nkey Nokey\n", "line 3: key Nokey: it takes characters, Up, Down, Left"},
        {"mouse press 1\n", "line 1: mouse press: it takes press, drag"},
        {"key\n", "line 1: key nothing: it takes characters"},
        {"key Left Lft q\n", "line 1: key Lft: it takes"},
        {"dump everything\n",
         "line 1: dump everything: it takes letters, styles, or nothing for both"},
        {"jump\n", "line 1: no such command: jump; there are size"},
    };
    struct viewer v;
    struct ntff_error err;
    struct tui_host host = {0};
    start(&v, "tour", 0, 0, false);
    for (size_t i = 0; i < NTFF_ARRAY_LEN(bad); i++) {
        TAP_EQ_U64(tui_script_run(v.a, &v.s, bad[i].script, strlen(bad[i].script), &host, &err),
                   NTFF_INVALID);
        TAP_OK(strncmp(err.text, bad[i].error, strlen(bad[i].error)) == 0);
    }
    TAP_EQ_U64(tui_script_run(v.a, &v.s, "key a\0b", 7, &host, &err), NTFF_INVALID);
    end(&v);
}

/* -- export --------------------------------------------------------------------------------------
 */

struct watching {
    int calls, last, stop_at;
};

static int watch(void *user, const char *what, int permille)
{
    struct watching *w = user;
    TAP_EQ_STR(what, "writing");
    TAP_OK(permille >= w->last && permille <= 1000);
    w->last = permille;
    w->calls++;
    return w->stop_at && permille >= w->stop_at;
}

TAP_TEST(export_tells_how_far_it_is_and_can_be_stopped)
{
    struct ntff_trace *t = made_make("bench", 400000, 3);
    struct tui_export e = {.from = t->begin_ns, .to = t->end_ns + 1};
    struct watching w = {0};
    struct tui_export_watch by = {watch, &w};
    struct tui_exported done;
    struct ntff_error err;
    bool exists;
    const char *tmp = getenv("TMP");
    snprintf(e.path, sizeof e.path, "%s/export.pftrace", tmp ? tmp : "/tmp");
    w.stop_at = 400;
    TAP_EQ_I64(tui_export_range(t, NULL, &e, &by, &done, &exists, &err), NTFF_CANCELLED);
    TAP_OK(w.last >= 400 && w.last < 600);
    TAP_OK(access(e.path, F_OK) != 0);
    w = (struct watching){0};
    TAP_EQ_I64(tui_export_range(t, NULL, &e, &by, &done, &exists, &err), NTFF_OK);
    TAP_OK(w.calls > 3 && w.last > 600 && access(e.path, F_OK) == 0);
    TAP_EQ_U64(done.spans + done.instants, t->n_events);
    made_free(t);
}

TAP_MAIN()
