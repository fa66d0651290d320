/* The smaller parts: text made harmless, the grid, keys, statistics, search, rows. */
#include "tests/made.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "tui/doc.h"
#include "tui/keymap.h"
#include "tui/screen.h"
#include "tui/search.h"
#include "tui/stats.h"

#include <gnu/libc-version.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* -- text -------------------------------------------------------------------------------------- */

static const char *shown(const char *p, size_t len)
{
    static char out[512];
    struct tui_text t = tui_text_from(p, len);
    size_t n = 0;
    int w;
    for (uint32_t c; (c = tui_text_next(&t, &w)) != TUI_TEXT_END && n < sizeof out - 8;)
        n += (size_t)tui_utf8_put(out + n, c);
    out[n] = 0;
    return out;
}

/* The lines of a document, joined by bars. */
static const char *wrapped(int cols, const char *text)
{
    static char out[2000];
    struct tui_doc d = {0};
    out[0] = 0;
    tui_doc_wrap(&d, TUI_STYLE_VALUE, cols, text, strlen(text));
    for (size_t i = 0; i < d.lines.n; i++) {
        const struct tui_doc_line *l = &d.lines.v[i];
        TAP_OK(l->val_len == 0 && l->key_style == TUI_STYLE_VALUE);
        TAP_OK(tui_text_cols((const char *)d.text.p + l->key, l->key_len, 1000) <= cols ||
               l->key_len == 3);
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%.*s", i ? "|" : "",
                 (int)l->key_len, (const char *)d.text.p + l->key);
    }
    tui_doc_done(&d);
    return out;
}

TAP_TEST(long_lines_are_wrapped)
{
    TAP_EQ_STR(wrapped(20, ""), "");
    TAP_EQ_STR(wrapped(20, "short"), "short");
    TAP_EQ_STR(wrapped(10, "one two three four"), "one two|  three|  four");
    TAP_EQ_STR(wrapped(9, "one two three"), "one two|  three");
    TAP_EQ_STR(wrapped(8, "abcdefghijklmno"), "abcdefgh|  ijklmn|  o");
    TAP_EQ_STR(wrapped(8, "a  b      c        "), "a  b|  c");
    TAP_EQ_STR(wrapped(6, "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97"),
               "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2|  \xe5\xad\x97");
    TAP_EQ_STR(wrapped(6, "ab\033\033c"), "ab\033\033|  c"); /* shown as ^[ each */
    TAP_EQ_STR(wrapped(3, "abc"), "abc");
    TAP_EQ_STR(wrapped(3, "abcd e"), "abc|  d|  e");
}

TAP_TEST(text_is_made_harmless)
{
    static const struct {
        const char *in;
        size_t len;
        const char *out;
    } table[] = {
        {"plain", 5, "plain"},
        {"\033[31m", 5, "^[[31m"},
        {"a\0b", 3, "a^@b"},
        {"\x7f", 1, "^?"},
        {"\t\n\r", 3, "^I^J^M"},
        {"\xff\xfe", 2, "\\xFF\\xFE"},
        {"\xc0\xaf", 2, "\\xC0\\xAF"},
        {"\xed\xa0\x80", 3, "\\xED\\xA0\\x80"},
        {"\xe6\xbc", 2, "\\xE6\\xBC"},
        {"\xc2\x9b"
         "31m",
         5, "\\u{9B}31m"},
        {"\342\200\256x", 4, "\\u{202E}x"}, /* NOLINT(misc-misleading-bidirectional) */
        {"\xe2\x80\x8b", 3, "\\u{200B}"},
        {"\xef\xbb\xbf", 3, "\\u{FEFF}"},
        {"\xf3\xa0\x80\x81", 4, "\\u{E0001}"},
        {"\xe6\xbc\xa2", 3, "\xe6\xbc\xa2"},
        {"e\xcc\x81", 3, "e\xcc\x81"},
    };
    for (size_t i = 0; i < NTFF_ARRAY_LEN(table); i++)
        TAP_EQ_STR(shown(table[i].in, table[i].len), table[i].out);
}

TAP_TEST(widths_agree_with_the_library)
{
    if (!setlocale(LC_ALL, "C.UTF-8"))
        TAP_SKIP("no C.UTF-8 locale");
    /* ours are those of Unicode 15.0; another version of the library has a few others */
    bool same = strcmp(gnu_get_libc_version(), "2.36") == 0;
    int assigned = 0, differ = 0;
    for (uint32_t c = 0x20; c < 0x110000; c++) {
        int w = wcwidth((wchar_t)c);
        if (w < 0 || (c >= 0xd800 && c < 0xe000))
            continue; /* unassigned, control, surrogate */
        assigned++;
        differ += tui_cp_width(c) != w;
        if (!same)
            continue;
        TAP_CONTEXT("U+%04X", c);
        TAP_EQ_I64(tui_cp_width(c), w);
    }
    TAP_CONTEXT("%d of %d widths differ", differ, assigned);
    TAP_OK(assigned > 100000 && differ * 30 < assigned);
}

TAP_TEST(wide_and_combining_on_the_grid)
{
    struct tui_screen s = {0};
    char row[256];
    TAP_OK(tui_screen_resize(&s, 8, 2));
    TAP_EQ_I64(tui_put_str(&s, 0, 0, 8, 1,
                           "a\xe6\xbc\xa2"
                           "b"),
               4);
    TAP_EQ_U64(tui_cell_at(&s, 1, 0)->width, 2);
    TAP_EQ_U64(tui_cell_at(&s, 2, 0)->width, 0);
    tui_put(&s, 2, 0, 0, 'x'); /* the right half: the left one goes too */
    tui_screen_row_text(&s, 0, row, sizeof row);
    TAP_EQ_STR(row, "a xb");
    TAP_EQ_I64(tui_put_str(&s, 0, 1, 2, 1, "a\xe6\xbc\xa2"), 1); /* no room for the wide one */
    tui_put_str(&s, 6, 0, 8, 1, "z\xe6\xbc\xa2");                /* half outside: a blank */
    TAP_EQ_U64(tui_cell_at(&s, 7, 0)->ch, ' ');
    TAP_EQ_I64(tui_put_str(&s, 0, 1, 8, 1, "e\xcc\x81\xcc\x82\xcc\x83o"),
               2); /* two marks are kept */
    TAP_EQ_U64(tui_cell_at(&s, 0, 1)->comb[1], 0x302);
    TAP_EQ_I64(tui_put_cut(&s, 0, 1, 4, 0, "abcdef", 6), 4);
    tui_screen_row_text(&s, 1, row, sizeof row);
    TAP_EQ_STR(row, "abc\xe2\x80\xa6");
    TAP_OK(tui_screen_resize(&s, 12, 2));
    TAP_EQ_I64(tui_put_middle(&s, 0, 0, 12, 0, "process i-0123 pid 42", 21), 12);
    tui_screen_row_text(&s, 0, row, sizeof row);
    TAP_EQ_STR(row, "proces\xe2\x80\xa6id 42");
    TAP_EQ_I64(
        tui_put_middle(&s, 0, 1, 9, 0, "abcd\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 16),
        9);
    tui_screen_row_text(&s, 1, row, sizeof row);
    TAP_EQ_STR(row, "abcd\xe2\x80\xa6\xe6\xbc\xa2\xe6\xbc\xa2");
    TAP_OK(tui_screen_resize(&s, 8, 2));
    s.ascii = true;
    tui_put_str(&s, 0, 0, 8, 0, "\xe6\xbc\xa2\xc3\xa9!");
    tui_screen_row_text(&s, 0, row, sizeof row);
    TAP_OK(strncmp(row, "?\?\?!", 4) == 0);
    tui_put(&s, -1, 0, 0, 'x');
    tui_put(&s, 0, 99, 0, 'x');
    tui_put_str(&s, -3, 0, 8, 0, "abcdef"); /* clipped at the left */
    TAP_EQ_U64(tui_cell_at(&s, 0, 0)->ch, 'd');
    tui_screen_done(&s);
}

/* -- keys -------------------------------------------------------------------------------------- */

TAP_TEST(every_key_has_one_meaning)
{
    size_t n;
    const struct tui_binding *b = tui_bindings(&n);
    for (size_t i = 0; i < n; i++) {
        for (const char *p = b[i].keys; *p;) {
            char name[16];
            size_t len = strcspn(p, " ");
            uint32_t key = tui_key_parse(p, len);
            TAP_CONTEXT("%s", b[i].keys);
            TAP_OK(key != 0);
            TAP_EQ_U64(tui_action_of(key), b[i].action);
            TAP_EQ_U64(tui_key_name(key, name), len);
            TAP_OK(memcmp(name, p, len) == 0);
            p += len + (p[len] == ' ');
        }
        TAP_OK(b[i].help[0] && b[i].keys[0]);
    }
    TAP_EQ_U64(tui_key_parse("F13", 3), 0);
    TAP_EQ_U64(tui_key_parse("nokey", 5), 0);
    TAP_EQ_U64(tui_key_parse("", 0), 0);
    TAP_EQ_U64(tui_key_parse("\xc3\xa9", 2), 0xe9);
}

TAP_TEST(styles)
{
    for (int i = 0; i < TUI_STYLE_COUNT; i++) {
        for (int k = 0; k < i; k++)
            TAP_OK(strcmp(tui_style_name(i), tui_style_name(k)) != 0);
        struct tui_look m = tui_style_look(i, TUI_COLORS_MONO),
                        c = tui_style_look(i, TUI_COLORS_16);
        TAP_OK(m.fg == -1 && m.bg == -1); /* no colour at all */
        TAP_OK(c.fg < 16 && c.bg < 16);
    }
    TAP_EQ_STR(tui_style_name(999), "?");
    /* what must be told apart without colour is */
    TAP_OK(tui_style_look(TUI_STYLE_ERROR, TUI_COLORS_MONO).attrs !=
           tui_style_look(TUI_STYLE_SPAN, TUI_COLORS_MONO).attrs);
    TAP_OK(tui_style_look(TUI_STYLE_SELECTED, TUI_COLORS_MONO).attrs !=
           tui_style_look(TUI_STYLE_SPAN, TUI_COLORS_MONO).attrs);
    TAP_EQ_I64(tui_hue_of("nc_exec_running", 15), tui_hue_of("nc_exec_running /a/b", 20));
    TAP_EQ_I64(tui_hue_of("Tensor pc 12", 12), tui_hue_of("Tensor pc 345", 13));
}

/* -- statistics -------------------------------------------------------------------------------- */

static uint64_t end_of(const struct ntff_event *e)
{
    return e->ts_ns + e->dur_ns;
}

static int by_value(const void *pa, const void *pb)
{
    uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
    return (a > b) - (a < b);
}

/* One line of the table against loops over all events. */
static void check_stat(const struct tui_lod *l, const struct tui_stat *st, uint64_t from,
                       uint64_t to)
{
    const struct ntff_trace *t = l->t;
    uint64_t *durs = calloc(t->n_events + 1, sizeof *durs), count = 0, total = 0, self = 0, sum = 0,
             partial = 0;
    size_t n = 0;
    for (uint32_t i = 0; i < t->n_events; i++) {
        const struct ntff_event *e = &t->events[i];
        if (e->name != st->name || e->ts_ns >= to || (end_of(e) <= from && e->ts_ns < from))
            continue;
        uint64_t b = e->ts_ns > from ? e->ts_ns : from, x = end_of(e) < to ? end_of(e) : to;
        uint64_t mine = x > b ? x - b : 0;
        if (tui_event_partial(e)) { /* not measured */
            partial++;
            continue;
        }
        count++;
        total += mine;
        self += mine;
        uint32_t row, pos; /* children: the row one deeper of the same lane */
        TAP_OK(tui_lod_locate(l, i, &row, &pos));
        const struct tui_row *c = row + 1 < l->n_rows ? &l->rows[row + 1] : NULL;
        if (c && c->track == e->track && c->lane == e->lane && c->depth == l->rows[row].depth + 1)
            for (uint32_t k = 0; k < c->n; k++) {
                const struct ntff_event *ce = &t->events[c->ev[k]];
                if (ce->ts_ns >= e->ts_ns && ce->ts_ns < end_of(e)) {
                    uint64_t cb = ce->ts_ns > from ? ce->ts_ns : from;
                    uint64_t cx = end_of(ce) < to ? end_of(ce) : to;
                    self -= cx > cb ? cx - cb : 0;
                }
            }
        if (!(e->flags & NTFF_EV_INSTANT)) {
            durs[n++] = e->dur_ns;
            sum += e->dur_ns;
        }
    }
    TAP_CONTEXT("%s", ntff_str_of(t, st->name));
    TAP_EQ_U64(st->count, count);
    TAP_EQ_U64(st->n_partial, partial);
    TAP_EQ_U64(st->total_ns, total);
    TAP_EQ_U64(st->self_ns, self);
    TAP_EQ_U64(st->n_spans, n);
    TAP_EQ_U64(st->sum_ns, sum);
    if (n) {
        qsort(durs, n, sizeof *durs, by_value);
        TAP_EQ_U64(st->min_ns, durs[0]);
        TAP_EQ_U64(st->max_ns, durs[n - 1]);
        TAP_EQ_U64(st->p50_ns, durs[(n + 1) / 2 - 1]);
        TAP_EQ_U64(st->p99_ns, durs[(n * 99 + 99) / 100 - 1]);
    }
    free(durs);
}

static void check_stats(const char *recipe, size_t n, uint64_t seed)
{
    struct ntff_error err;
    struct tui_lod l;
    struct tui_rows rows;
    struct tui_stats s = {0};
    uint64_t r = seed;
    struct ntff_trace *t = made_make(recipe, n, seed);
    for (size_t i = 0; i < t->n_events; i++)
        if (random_below(&r, 10) == 0)
            t->events[i].flags |= i % 2 ? NTFF_EV_UNFINISHED : NTFF_EV_START_LOST;
    TAP_OK(tui_lod_build(&l, t, NULL, NULL, &err) == NTFF_OK);
    TAP_OK(tui_rows_init(&rows, &l));
    for (int k = 0; k < 4; k++) {
        uint64_t from = t->begin_ns, to = t->end_ns + 1, sum = 0, partial = 0;
        if (k) {
            from += random_below(&r, (to - from) / 2);
            to = from + 1 + random_below(&r, to - from);
        }
        tui_stats_want(&s, &rows, from, to, NTFF_NONE);
        while (tui_stats_step(
            &s, 1 + random_below(&r, 50))) /* odd steps, so that every stop is tried */
            ;
        TAP_EQ_U64(s.phase, TUI_STATS_DONE);
        for (size_t i = 0; i < s.n; i++) {
            check_stat(&l, &s.v[i], from, to);
            sum += s.v[i].count + s.v[i].n_partial;
            partial += s.v[i].n_partial;
        }
        TAP_EQ_U64(s.n_partial, partial);
        uint64_t want = 0;
        for (size_t i = 0; i < t->n_events; i++)
            want += t->events[i].ts_ns < to &&
                    (end_of(&t->events[i]) > from || t->events[i].ts_ns >= from);
        TAP_EQ_U64(sum, want);
        for (int by = 0; by < TUI_SORT_KINDS; by++)
            tui_stats_sort(&s, (enum tui_sort)by);
    }
    tui_stats_done(&s);
    tui_rows_done(&rows);
    tui_lod_done(&l);
    made_free(t);
}

TAP_TEST(statistics)
{
    check_stats("tour", 0, 1);
    check_stats("deep", 0, 2);
    check_stats("bench", 3000, 3);
    for (uint64_t seed = 1; seed < 15; seed++)
        check_stats("random", 50 * (size_t)seed, seed);
}

/* -- search ------------------------------------------------------------------------------------ */

static bool slow_hit(const struct ntff_trace *t, const struct ntff_event *e, const char *what)
{
    struct ntff_detail d = {0};
    bool hit = strstr(ntff_str_of(t, e->name), what) != NULL;
    made_details(t, e, &d);
    for (size_t i = 0; i < d.n; i++)
        if (d.attrs[i].kind == NTFF_V_TEXT &&
            memmem(d.attrs[i].text.p, d.attrs[i].text.len, what, strlen(what)))
            hit = true;
    ntff_detail_done(&d);
    return hit;
}

static void check_search(const char *recipe, const char *what, uint32_t start)
{
    struct ntff_error err;
    struct tui_lod l;
    struct tui_rows rows;
    struct tui_search s = {0};
    char why[100];
    struct ntff_trace *t = made_make(recipe, 2000, 1);
    TAP_OK(tui_lod_build(&l, t, NULL, NULL, &err) == NTFF_OK);
    TAP_OK(tui_rows_init(&rows, &l));
    TAP_OK(tui_search_start(&s, &rows, made_details, what, start, why, sizeof why));
    while (tui_search_step(&s, 7))
        ;
    size_t n = 0, at;
    uint32_t last = NTFF_NONE, first = NTFF_NONE;
    for (uint32_t i = 0; i < t->n_events; i++) {
        bool hit = slow_hit(t, &t->events[i], what);
        TAP_CONTEXT("event %u of %s", i, recipe);
        TAP_OK(tui_search_is_hit(&s, i) == hit);
        if (!hit)
            continue;
        TAP_EQ_U64(tui_search_at(&s, i), ++n);
        if (last != NTFF_NONE) { /* next and previous */
            TAP_EQ_U64(tui_search_next(&s, last, 1, &at), i);
            TAP_EQ_U64(tui_search_next(&s, i, -1, &at), last);
        }
        first = first == NTFF_NONE ? i : first;
        last = i;
    }
    TAP_EQ_U64(s.n_hits, n);
    TAP_OK(n > 0);
    TAP_EQ_U64(tui_search_next(&s, last, 1, &at), first); /* round the end */
    TAP_OK(!tui_search_start(&s, &rows, made_details, "a(", 0, why, sizeof why));
    TAP_OK(why[0] && s.active); /* the old one stays */
    tui_search_done(&s);
    tui_rows_done(&rows);
    tui_lod_done(&l);
    made_free(t);
}

TAP_TEST(search_finds_names_and_values)
{
    check_search("tour", "kbl", 0);
    check_search("tour", "kbl", 500);
    check_search("tour", "layer_00", 100); /* an attribute only */
    check_search("random", "opc", 1999);
    check_search("hostile", "zero", 3); /* behind a NUL in a value */
}

/* -- rows -------------------------------------------------------------------------------------- */

TAP_TEST(rows_fold_filter_and_come_back)
{
    struct ntff_error err;
    struct tui_lod l;
    struct tui_rows r;
    char why[100];
    struct ntff_trace *t = made_make("tour", 0, 0);
    TAP_OK(tui_lod_build(&l, t, NULL, NULL, &err) == NTFF_OK);
    TAP_OK(tui_rows_init(&r, &l));
    size_t all = r.n_lines;
    for (size_t i = 0; i < r.n_lines; i++) { /* a line is found by what it shows */
        const struct tui_line *line = &r.lines[i];
        if (line->row1 == line->row0 + 1)
            TAP_EQ_U64(tui_rows_line_of(&r, line->track, line->row0), i);
        if (line->head)
            TAP_EQ_U64(tui_rows_line_of(&r, line->track, NTFF_NONE), i);
    }
    TAP_OK(tui_rows_toggle(&r, 0)); /* the process */
    TAP_EQ_U64(r.n_lines, 1);
    TAP_EQ_U64(tui_rows_line_of(&r, (uint32_t)t->n_tracks - 1, NTFF_NONE), 0); /* folded away */
    TAP_OK(tui_rows_toggle(&r, 0));
    TAP_EQ_U64(r.n_lines, all);
    TAP_OK(tui_rows_filter(&r, "NC01/Tensor", why, sizeof why));
    TAP_EQ_U64(r.n_lines, 4); /* process, NeuronCores, NC01, the engine */
    TAP_OK(!tui_rows_filter(&r, "[", why, sizeof why));
    TAP_EQ_U64(r.n_lines, 4);
    TAP_OK(tui_rows_filter(&r, "no such", why, sizeof why));
    TAP_EQ_U64(r.n_lines, 0);
    TAP_OK(tui_rows_filter(&r, "", why, sizeof why));
    TAP_EQ_U64(r.n_lines, all);
    TAP_OK(tui_rows_open_all(&r, false));
    TAP_EQ_U64(r.n_lines, 1);
    TAP_OK(tui_rows_reveal(&r, (uint32_t)t->n_tracks - 1));
    TAP_OK(tui_rows_line_of(&r, (uint32_t)t->n_tracks - 1, NTFF_NONE) < r.n_lines);
    tui_rows_done(&r);
    tui_lod_done(&l);
    made_free(t);
}

TAP_TEST(a_tree_as_deep_as_it_likes)
{
    struct ntff_error err;
    struct tui_lod l;
    struct tui_rows r;
    struct made *m = made_begin();
    uint32_t parent = NTFF_NONE;
    for (int i = 0; i < 100000; i++)
        parent = made_track(m, parent, NTFF_TRACK_PROCESS, "level");
    made_span(m, parent, 0, 0, 5, "x");
    struct ntff_trace *t = made_end(m);
    TAP_OK(tui_lod_build(&l, t, NULL, NULL, &err) == NTFF_OK);
    TAP_OK(tui_rows_init(&r, &l));
    TAP_OK(tui_rows_reveal(&r, parent));
    TAP_EQ_U64(r.n_lines, 100000);
    tui_rows_done(&r);
    tui_lod_done(&l);
    made_free(t);
}

TAP_MAIN()
