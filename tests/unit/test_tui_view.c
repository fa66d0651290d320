/* Zoom and pan arithmetic, times as text, layout. */
#include "tests/made.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "tui/layout.h"
#include "tui/timefmt.h"
#include "tui/view.h"

#include <string.h>

static struct tui_view random_view(uint64_t *r)
{
    struct tui_view v;
    uint64_t begin = random_next(r) >> random_below(r, 64),
             len = random_next(r) >> random_below(r, 64);
    uint64_t end = begin + len < begin ? UINT64_MAX : begin + len;
    tui_view_init(&v, begin, end, 1 + (int)random_below(r, 300));
    tui_view_fit(&v, begin + random_below(r, len), begin + random_below(r, len));
    return v;
}

TAP_TEST(columns_cover_the_view_without_holes)
{
    uint64_t r = 1;
    for (int i = 0; i < 2000; i++) {
        struct tui_view v = random_view(&r);
        TAP_CONTEXT("round %d: from %llu span %llu cols %d", i, (unsigned long long)v.from,
                    (unsigned long long)v.span, v.cols);
        TAP_EQ_U64(tui_view_begin(&v, 0), v.from);
        TAP_EQ_U64(tui_view_begin(&v, v.cols), tui_view_to(&v));
        for (int x = 0; x < v.cols; x++) {
            uint64_t b = tui_view_begin(&v, x), e = tui_view_end(&v, x);
            TAP_OK(e > b || e == UINT64_MAX);
            TAP_OK(tui_view_begin(&v, x + 1) >= b);
            int c = tui_view_col(&v, b); /* the last column that shows b */
            TAP_OK(c >= x && tui_view_begin(&v, c) == b);
            if (v.span >= (uint64_t)v.cols)
                TAP_EQ_I64(tui_view_col(&v, e - 1), x);
        }
    }
}

TAP_TEST(zoom_keeps_the_anchor_in_its_column)
{
    uint64_t r = 2;
    for (int i = 0; i < 2000; i++) {
        struct tui_view v = random_view(&r);
        uint64_t t = v.from + random_below(&r, v.span);
        uint64_t whole = v.end - v.begin;
        if (v.span * 2 > whole || v.span < 4 * (uint64_t)v.cols || v.from - v.begin < v.span ||
            v.end - tui_view_to(&v) < v.span)
            continue;
        int x = tui_view_col(&v, t);
        tui_view_zoom(&v, 1, 2, t);
        TAP_OK(tui_view_col(&v, t) >= x - 1 && tui_view_col(&v, t) <= x + 1);
        tui_view_zoom(&v, 2, 1, t);
        TAP_OK(tui_view_col(&v, t) >= x - 1 && tui_view_col(&v, t) <= x + 1);
    }
}

TAP_TEST(views_stay_inside_the_whole)
{
    uint64_t r = 3;
    for (int i = 0; i < 300; i++) {
        struct tui_view v = random_view(&r);
        for (int k = 0; k < 200; k++) {
            uint64_t t = v.begin + random_below(&r, v.end - v.begin);
            switch (random_below(&r, 6)) {
            case 0:
                tui_view_zoom(&v, 1, 2, random_next(&r));
                break;
            case 1:
                tui_view_zoom(&v, 2, 1, t);
                break;
            case 2:
                tui_view_pan(&v, random_below(&r, 2) ? 1 : -1, 1 + (int)random_below(&r, 9));
                break;
            case 3:
                tui_view_fit(&v, random_next(&r), random_next(&r));
                break;
            case 4:
                tui_view_reveal(&v, t);
                TAP_OK(t >= v.from && t < tui_view_to(&v));
                break;
            default:
                tui_view_reveal_range(&v, t, t + random_below(&r, v.end - t));
                TAP_OK(t >= v.from && t < tui_view_to(&v));
                break;
            }
            TAP_OK(v.span >= 1 && v.from >= v.begin && tui_view_to(&v) <= v.end);
            TAP_OK(tui_view_to(&v) > v.from);
        }
    }
}

TAP_TEST(zoom_reaches_a_nanosecond_and_back)
{
    struct tui_view v;
    uint64_t year = UINT64_C(31536000000000000);
    tui_view_init(&v, 5, 5 + 3 * year, 100);
    for (int i = 0; i < 200 && v.span > 1; i++)
        tui_view_zoom(&v, 1, 2, 5 + year);
    TAP_EQ_U64(v.span, 1);
    TAP_EQ_U64(v.from, 5 + year);
    for (int i = 0; i < 200; i++)
        tui_view_zoom(&v, 2, 1, 5 + year);
    TAP_EQ_U64(v.span, 3 * year);
}

TAP_TEST(durations)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } table[] = {
        {0, "0 ns"},
        {999, "999 ns"},
        {1000, "1.000 us"},
        {1234567, "1.234 ms"},
        {12345678, "12.34 ms"},
        {999999999, "999.9 ms"},
        {NTFF_NS_PER_SEC, "1.000 s"},
        {59999999999, "59.99 s"},
        {60 * NTFF_NS_PER_SEC, "1m00s"},
        {3599 * NTFF_NS_PER_SEC, "59m59s"},
        {90061 * NTFF_NS_PER_SEC, "1d01h"},
        {UINT64_C(400) * 86400 * NTFF_NS_PER_SEC, "1y035d"},
        {UINT64_MAX, "584y343d"},
    };
    char out[TUI_TIME_CAP];
    for (size_t i = 0; i < NTFF_ARRAY_LEN(table); i++) {
        size_t n = tui_fmt_dur(out, table[i].ns, "us");
        TAP_EQ_STR(out, table[i].text);
        TAP_EQ_U64(n, strlen(out));
    }
}

TAP_TEST(moments_have_the_digits_their_step_needs)
{
    static const struct {
        uint64_t ns, step;
        const char *text;
    } table[] = {
        {0, 1, "0"},
        {1500, 100, "1.5 us"},
        {1500, 1, "1.500 us"},
        {12345678, 1000, "12.345 ms"},
        {12345678, 1000000, "12 ms"},
        {61 * NTFF_NS_PER_SEC + 5, NTFF_NS_PER_SEC, "1m01s"},
        {61 * NTFF_NS_PER_SEC + 5, 1, "1m01.000000005s"},
        {3661 * NTFF_NS_PER_SEC, NTFF_NS_PER_SEC, "1h01m01s"},
        {UINT64_C(86400) * 366 * NTFF_NS_PER_SEC, UINT64_C(86400) * NTFF_NS_PER_SEC, "1y001d00m"},
        {UINT64_MAX, 1, "584y343d23h34m33.709551615s"},
    };
    char out[TUI_TIME_CAP];
    for (size_t i = 0; i < NTFF_ARRAY_LEN(table) - 2; i++) {
        tui_fmt_time(out, table[i].ns, table[i].step, "us");
        TAP_EQ_STR(out, table[i].text);
    }
    tui_fmt_time(out, UINT64_MAX, 1, "us");
    TAP_EQ_STR(out, table[9].text);
}

TAP_TEST(numbers)
{
    char out[TUI_TIME_CAP];
    tui_fmt_count(out, 0);
    TAP_EQ_STR(out, "0");
    tui_fmt_count(out, 1234567);
    TAP_EQ_STR(out, "1,234,567");
    tui_fmt_count(out, UINT64_MAX);
    TAP_EQ_STR(out, "18,446,744,073,709,551,615");
    tui_fmt_short(out, 999);
    TAP_EQ_STR(out, "999");
    tui_fmt_short(out, 1000);
    TAP_EQ_STR(out, "1.0k");
    tui_fmt_short(out, 999999);
    TAP_EQ_STR(out, "999k");
    tui_fmt_short(out, UINT64_MAX);
    TAP_EQ_STR(out, "18.4E");
    tui_fmt_utc(out, UINT64_C(1764440000123456789));
    TAP_EQ_STR(out, "2025-11-29 18:13:20.123456789");
}

TAP_TEST(times_as_people_type_them)
{
    const struct tui_time_base b = {UINT64_C(1764440000000000000), UINT64_C(1764440010000000000),
                                    UINT64_C(1764440001000000000)};
    static const struct {
        const char *text;
        int64_t rel; /* ns from the begin; -1 = not a time */
    } table[] = {
        {"1.5s", 1500000000},
        {"20ms", 20000000},
        {" 20 ms ", 20000000},
        {"300us", 300000},
        {"300 \xC2\xB5s", 300000},
        {"17ns", 17},
        {"17", 17},
        {"1,000", 1000},
        {"1764440000000000005", 5},
        {"+2ms", 1002000000},
        {"-1s", 0},
        {"-5s", 0},
        {"50%", 5000000000},
        {"0.5%", 50000000},
        {"1s500ms", 1500000000},
        {"1m", 10000000000},
        {".5s", 500000000},
        {"", -1},
        {"s", -1},
        {".", -1},
        {"1.5x", -1},
        {"5 5", -1},
        {"5% 3s", -1},
        {"+50%", -1},
        {"99999999999999999999", -1},
        {"18446744073709551615s", -1},
        {"abc", -1},
    };
    for (size_t i = 0; i < NTFF_ARRAY_LEN(table); i++) {
        uint64_t got = 0;
        bool good = tui_parse_time(table[i].text, &b, &got);
        TAP_CONTEXT("\"%s\"", table[i].text);
        TAP_OK(good == (table[i].rel >= 0));
        if (good)
            TAP_EQ_I64((int64_t)(got - b.begin), table[i].rel);
    }
}

TAP_TEST(layout_fits_every_size)
{
    for (int on = 0; on < 32; on++) {
        struct tui_panes p = {on & 1, on & 2, on & 4, on & 8, on & 16, on * 3};
        for (int w = 1; w < 320; w += w < 60 ? 1 : 13)
            for (int h = 1; h < 120; h += h < 30 ? 1 : 7) {
                struct tui_layout l;
                tui_layout_make(&l, w, h, &p);
                const struct tui_rect all[] = {l.header,  l.overview, l.ruler,  l.tree,  l.time,
                                               l.details, l.stats,    l.status, l.corner};
                TAP_CONTEXT("%dx%d, panes %d", w, h, on);
                int area = 0;
                for (size_t i = 0; i < NTFF_ARRAY_LEN(all); i++) {
                    const struct tui_rect *r = &all[i];
                    if (!r->w || !r->h)
                        continue;
                    TAP_OK(r->x >= 0 && r->y >= 0 && r->x + r->w <= w && r->y + r->h <= h);
                    area += r->w * r->h;
                    for (size_t k = 0; k < i; k++) /* no two overlap */
                        if (all[k].w && all[k].h)
                            TAP_OK(r->x >= all[k].x + all[k].w || all[k].x >= r->x + r->w ||
                                   r->y >= all[k].y + all[k].h || all[k].y >= r->y + r->h);
                }
                TAP_EQ_I64(area, w * h);
                TAP_OK(l.time.w >= 1 && l.time.h >= 1);
            }
    }
}

TAP_MAIN()
