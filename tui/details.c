/* details - all facts of what is selected: of a span its times, what was done to it, its attributes
 * as they are in the file, and where flows lead; of a counter its value; of a column with many
 * spans how many. Made anew only when the selection changes. */
#include "app_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static inline uint64_t end_of(const struct ntff_event *e)
{
    return e->dur_ns > UINT64_MAX - e->ts_ns ? UINT64_MAX : e->ts_ns + e->dur_ns;
}

static void add_time(struct tui_app *a, const char *key, uint64_t t, bool unaligned)
{
    char rel[TUI_TIME_CAP], utc[TUI_TIME_CAP];
    tui_fmt_time(rel, t - a->t->begin_ns, 1, a->g->us);
    tui_fmt_utc(utc, t);
    tui_doc_add(&a->details, TUI_STYLE_VALUE, key, "%s   %" PRIu64 " ns   %s UTC%s", rel, t, utc,
                unaligned ? " (device time, shifted)" : "");
}

/* What was done to the event, in words. */
static void add_flags(struct tui_app *a, const struct ntff_event *e)
{
    static const struct {
        unsigned flag;
        const char *text;
    } words[] = {
        {NTFF_EV_UNFINISHED, "has no stop: closed at the end of the trace"},
        {NTFF_EV_START_LOST, "has no start: drawn from the begin of the trace"},
        {NTFF_EV_ESTIMATED, "its place on the host's clock is estimated"},
        {NTFF_EV_UNALIGNED, "in device time: no clock pair to place it by"},
        {NTFF_EV_CUT_LEFT, "begins before what was loaded"},
        {NTFF_EV_CUT_RIGHT, "ends after what was loaded"},
        {NTFF_EV_NEGATIVE, "stops before it starts in the file"},
        {NTFF_EV_NO_LANE, "a span shown as an instant, for want of a lane"},
    };
    for (size_t i = 0; i < NTFF_ARRAY_LEN(words); i++)
        if (e->flags & words[i].flag)
            tui_doc_add(&a->details, TUI_STYLE_WARN, "note", "%s", words[i].text);
}

static void add_attr(struct tui_app *a, const struct ntff_attr *attr)
{
    char num[64];
    switch (attr->kind) {
    case NTFF_V_TEXT:
        tui_doc_bytes(&a->details, TUI_STYLE_FIELD, attr->key.p, attr->key.len, TUI_STYLE_VALUE,
                      attr->text.len ? attr->text.p : "", attr->text.len);
        return;
    case NTFF_V_UINT:
        snprintf(num, sizeof num, "%" PRIu64, attr->u);
        break;
    case NTFF_V_INT:
        snprintf(num, sizeof num, "%" PRId64, attr->i);
        break;
    case NTFF_V_DOUBLE:
        snprintf(num, sizeof num, "%.17g", attr->d);
        break;
    case NTFF_V_BOOL:
        snprintf(num, sizeof num, "%s", attr->b ? "true" : "false");
        break;
    default:
        snprintf(num, sizeof num, "null");
        break;
    }
    tui_doc_bytes(&a->details, TUI_STYLE_FIELD, attr->key.p, attr->key.len, TUI_STYLE_VALUE, num,
                  strlen(num));
}

static void add_attributes(struct tui_app *a, const struct ntff_event *e)
{
    struct ntff_detail d = {0};
    bool good = a->details_of(a->t, e, &d);
    if (d.n)
        tui_doc_head(&a->details, "Attributes");
    for (size_t i = 0; i < d.n; i++)
        add_attr(a, &d.attrs[i]);
    a->details.starved |= !good;
    if (!good)
        tui_doc_add(&a->details, TUI_STYLE_WARN, "note", "out of memory: attributes are missing");
    ntff_detail_done(&d);
}

static void add_flow(struct tui_app *a, const struct ntff_flow *f, bool out,
                     const struct ntff_event *me)
{
    uint32_t other = out ? f->to : f->from;
    const struct ntff_event *o = &a->t->events[other];
    char text[400], path[160], gap[TUI_TIME_CAP];
    size_t len;
    const char *name = tui_app_name(a, other, &len);
    tui_track_path(a->t, o->track, path, sizeof path);
    bool later = o->ts_ns >= me->ts_ns;
    tui_app_dur(a, gap, later ? o->ts_ns - me->ts_ns : me->ts_ns - o->ts_ns);
    int n = snprintf(text, sizeof text, "%.*s on %s, starts %s %s%s",
                     (int)tui_text_begin(name, len, 120), name, path, gap,
                     later ? "later" : "earlier", f->reversed ? " (points back in time)" : "");
    struct tui_doc_line *l =
        tui_doc_bytes(&a->details, TUI_STYLE_FIELD, out ? "leads to" : "comes from", out ? 8 : 10,
                      f->reversed ? TUI_STYLE_WARN : TUI_STYLE_VALUE, text,
                      n < (int)sizeof text ? (size_t)n : sizeof text - 1);
    if (l)
        l->event = other;
}

#define MAX_FLOWS 64 /* listed each way */

static void add_flows(struct tui_app *a, uint32_t event)
{
    const struct ntff_event *e = &a->t->events[event];
    size_t in0, out0, in = tui_nav_flows(a, event, -1, &in0),
                      out = tui_nav_flows(a, event, 1, &out0);
    if (in + out)
        tui_doc_head(&a->details, "Flows (Enter goes there, [ and ] follow)");
    for (size_t i = 0; i < in && i < MAX_FLOWS; i++)
        add_flow(a, tui_nav_flow_at(a, -1, in0 + i), false, e);
    for (size_t i = 0; i < out && i < MAX_FLOWS; i++)
        add_flow(a, tui_nav_flow_at(a, 1, out0 + i), true, e);
    if (in > MAX_FLOWS || out > MAX_FLOWS)
        tui_doc_add(&a->details, TUI_STYLE_DIM, "", "%zu flows in all", in + out);
}

static void add_event(struct tui_app *a, uint32_t event)
{
    const struct ntff_event *e = &a->t->events[event];
    const struct ntff_track *t = &a->t->tracks[e->track];
    char path[512], dur[TUI_TIME_CAP], ns[TUI_TIME_CAP];
    size_t len, n = tui_track_path(a->t, e->track, path, sizeof path);
    const char *name = tui_app_name(a, event, &len);
    tui_doc_bytes(&a->details, TUI_STYLE_FIELD, "name", 4, TUI_STYLE_BOLD, name, len);
    add_time(a, "start", e->ts_ns, e->flags & NTFF_EV_UNALIGNED);
    if (e->flags & NTFF_EV_INSTANT) {
        tui_doc_add(&a->details, TUI_STYLE_VALUE, "duration", "none: an instant");
    } else {
        tui_app_dur(a, dur, e->dur_ns);
        tui_fmt_ns(ns, e->dur_ns);
        tui_doc_add(&a->details, TUI_STYLE_VALUE, "duration", "%s   %s", dur, ns);
        add_time(a, "end", end_of(e), e->flags & NTFF_EV_UNALIGNED);
    }
    tui_doc_bytes(&a->details, TUI_STYLE_FIELD, "track", 5, TUI_STYLE_VALUE, path, n);
    if (t->n_lanes > 1)
        tui_doc_add(&a->details, TUI_STYLE_VALUE, "lane", "%u of %u", e->lane + 1u, t->n_lanes);
    tui_doc_add(&a->details, TUI_STYLE_VALUE, "category", "%s", ntff_category_name(e->cat));
    add_flags(a, e);
    add_flows(a, event);
    add_attributes(a, e);
}

/* How much else is in the column of the cursor. */
static void add_column(struct tui_app *a, const struct tui_line *l)
{
    char n[TUI_TIME_CAP], w[TUI_TIME_CAP];
    struct tui_sum sum, all = {.event = NTFF_NONE};
    int x = tui_view_col(&a->view, a->now);
    uint64_t from = tui_view_begin(&a->view, x), to = tui_view_end(&a->view, x);
    for (uint32_t r = l->row0; r < l->row1 && r - l->row0 < 256; r++) {
        tui_lod_range(a->l, r, from, to, &sum);
        if (sum.count && (all.event == NTFF_NONE || sum.busy_ns > all.busy_ns)) {
            uint32_t count = all.count;
            all = sum;
            all.count += count;
        } else {
            all.count += sum.count;
        }
    }
    if (all.count < 2)
        return;
    tui_fmt_count(n, all.count);
    tui_app_dur(a, w, to - from);
    tui_doc_add(&a->details, TUI_STYLE_NOTE, "in this column",
                "%s events in %s, %u%% busy, mostly %.100s", n, w,
                (unsigned)((unsigned __int128)all.busy_ns * 100 / (to - from)),
                ntff_str_of(a->t, all.name));
}

static void add_counter(struct tui_app *a, const struct tui_line *l)
{
    struct tui_range r;
    char path[512];
    size_t n = tui_track_path(a->t, l->track, path, sizeof path);
    const struct ntff_sample *v = tui_lod_sample(a->l, l->track, a->now);
    tui_doc_bytes(&a->details, TUI_STYLE_FIELD, "counter", 7, TUI_STYLE_BOLD, path, n);
    if (v && a->t->tracks[l->track].is_double)
        tui_doc_add(&a->details, TUI_STYLE_VALUE, "value", "%.17g", v->value.d);
    else if (v)
        tui_doc_add(&a->details, TUI_STYLE_VALUE, "value", "%" PRId64, v->value.i);
    else
        tui_doc_add(&a->details, TUI_STYLE_DIM, "value", "none yet");
    if (v)
        add_time(a, "since", v->ts_ns, false);
    tui_lod_counter(a->l, l->track, a->view.from, tui_view_to(&a->view), &r);
    if (r.any)
        tui_doc_add(&a->details, TUI_STYLE_VALUE, "in view", "%.17g to %.17g, %" PRIu32 " samples",
                    r.lo, r.hi, r.count);
}

static void add_track(struct tui_app *a, uint32_t track)
{
    const struct ntff_track *t = &a->t->tracks[track];
    char path[512];
    size_t n = tui_track_path(a->t, track, path, sizeof path);
    tui_doc_bytes(&a->details, TUI_STYLE_FIELD, "track", 5, TUI_STYLE_BOLD, path, n);
    if (t->description)
        tui_doc_bytes(&a->details, TUI_STYLE_FIELD, "about", 5, TUI_STYLE_VALUE,
                      ntff_str_of(a->t, t->description),
                      ntff_text_len(&a->t->strs, t->description));
    uint32_t events = a->t->first[track + 1] - a->t->first[track];
    if (events)
        tui_doc_add(&a->details, TUI_STYLE_VALUE, "events", "%" PRIu32, events);
    if (t->unaligned)
        tui_doc_add(&a->details, TUI_STYLE_WARN, "note",
                    "in device time, shifted to the trace begin");
}

void tui_details_make(struct tui_app *a)
{
    const struct tui_line *l = tui_nav_current(a);
    uint32_t track = l ? l->track : NTFF_NONE;
    if (a->doc_event == a->event && a->doc_track == track && a->doc_now == a->now &&
        a->details.lines.n)
        return;
    tui_doc_clear(&a->details);
    a->doc_event = a->event;
    a->doc_track = track;
    a->doc_now = a->now;
    if (l && l->counter) {
        add_counter(a, l);
    } else if (a->event != NTFF_NONE) {
        if (l && a->t->events[a->event].track == track)
            add_column(a, l);
        add_event(a, a->event);
    } else if (a->gap.to > a->gap.from) {
        char d[TUI_TIME_CAP];
        tui_app_dur(a, d, a->gap.to - a->gap.from);
        tui_doc_add(&a->details, TUI_STYLE_BOLD, "gap", "%s, %" PRIu64 " ns", d,
                    a->gap.to - a->gap.from);
        add_time(a, "from", a->gap.from, false);
        add_time(a, "to", a->gap.to, false);
    } else if (l) {
        add_track(a, track);
    }
}
