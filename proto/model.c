/* model - freeing, indexing and clipping a finished trace. */
#include "proto/builder.h"

#include <stdlib.h>
#include <string.h>

static const char *const category_names[NTFF_CAT_COUNT] = {
    "host", "exec", "cc", "instr", "dma", "sem", "error", "sync", "mark", "framework",
};

const char *ntff_category_name(int category)
{
    return category >= 0 && category < NTFF_CAT_COUNT ? category_names[category] : "other";
}

const char *ntff_file_kind_name(int kind)
{
    static const char *const names[] = {
        "unknown",
        "empty file",
        "ntrace events",
        "trace_info",
        "cpu_util",
        "host_mem",
        "ntff device profile",
        "raw sys_trace records",
        "runtime event JSON",
        "system_profile JSON",
        "neff",
        "schema",
    };
    return (size_t)kind < NTFF_ARRAY_LEN(names) ? names[kind] : names[0];
}

static void free_state(struct ntff_load_state *s, struct ntff_budget *b)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->inputs.n; i++) {
        ntff_input_close(s->inputs.v[i]);
        free(s->inputs.v[i]);
    }
    NTFF_VEC_FREE(b, &s->inputs);
    ntff_map_free(&s->names.map);
    free(s);
}

void ntff_trace_free(struct ntff_trace *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n_files; i++)
        NTFF_VEC_FREE(&t->budget, &t->files[i].facts);
    for (size_t i = 0; i < t->n_clocks; i++)
        ntff_clock_done(t->clocks[i].map);
    free_state(t->owned, &t->budget);
    free(t->events);
    free(t->samples);
    free(t->flows);
    free(t->tracks);
    free(t->processes);
    free(t->sources);
    free(t->files);
    free(t->clocks);
    free(t->order);
    free(t->first);
    ntff_arena_free(&t->arena);
    ntff_strtab_done(&t->strs);
    free(t);
}

enum ntff_status ntff_trace_index(struct ntff_trace *t, struct ntff_error *err)
{
    if (t->order)
        return NTFF_OK;
    size_t n_first = t->n_tracks + 1;
    uint32_t *order = malloc((t->n_events + 1) * sizeof *order);
    uint32_t *first = calloc(n_first + 1, sizeof *first);
    if (!order || !first || !ntff_budget_take(&t->budget, (t->n_events + n_first) * 4)) {
        free(order);
        free(first);
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for the track index");
    }
    /* counting sort: first[k + 2] counts, then runs ahead, and ends up as first[k + 1] */
    for (size_t i = 0; i < t->n_events; i++)
        if (t->events[i].track + 2 <= n_first)
            first[t->events[i].track + 2]++;
    for (size_t k = 2; k <= n_first; k++)
        first[k] += first[k - 1];
    for (size_t i = 0; i < t->n_events; i++)
        order[first[t->events[i].track + 1]++] = (uint32_t)i;
    t->order = order;
    t->first = first;
    return NTFF_OK;
}

/* -- clipping -----------------------------------------------------------------------------------
 */

/* Rows of device profiles get lanes for what is left of them: a span's lane there says nothing but
 * what else was going on, and shall not depend on what nobody will see. Before the cut, spans that
 * found no lane are made spans again. */
static void clear_lanes(struct ntff_trace *t, struct ntff_diag *diag)
{
    for (size_t i = 0; i < t->n_events; i++) {
        struct ntff_event *e = &t->events[i];
        if (!t->tracks[e->track].flat || !(e->flags & NTFF_EV_NO_LANE))
            continue;
        ntff_event_clear(e, NTFF_EV_INSTANT | NTFF_EV_NO_LANE);
        if (diag->of[NTFF_DIAG_LANE_OVERFLOW].count)
            diag->of[NTFF_DIAG_LANE_OVERFLOW].count--;
    }
    for (size_t i = 0; i < t->n_tracks; i++)
        if (t->tracks[i].flat)
            t->tracks[i].n_lanes = 1;
}

static bool assign_lanes(struct ntff_trace *t, struct ntff_diag *diag)
{
    struct ntff_lanes_of x = {.budget = &t->budget,
                              .strs = &t->strs,
                              .tracks = t->tracks,
                              .n_tracks = t->n_tracks,
                              .events = t->events,
                              .n_events = t->n_events,
                              .flat_only = true};
    return ntff_lanes_assign(&x, diag);
}

/* Cuts one event to [from, to); false if nothing of it lies inside. */
static bool clip_event(struct ntff_event *e, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t end = ntff_event_end(e);
    bool point = e->flags & NTFF_EV_INSTANT || e->dur_ns == 0;
    if (point)
        return e->ts_ns >= from_ns && e->ts_ns < to_ns;
    if (end <= from_ns || e->ts_ns >= to_ns || to_ns <= from_ns)
        return false;
    if (e->ts_ns < from_ns) {
        e->ts_ns = from_ns;
        e->flags |= NTFF_EV_CUT_LEFT;
    }
    if (end > to_ns) {
        end = to_ns;
        e->flags |= NTFF_EV_CUT_RIGHT;
    }
    e->dur_ns = end - e->ts_ns;
    return true;
}

/* After the cut many spans begin at from_ns: longer ones first again. Stable, since the cut ones
 * come in their old order and only the leading run of equal times is out of order. */
static int leading_cmp(const void *pa, const void *pb, void *user)
{
    const struct ntff_event *ev = user;
    uint32_t i = *(const uint32_t *)pa, j = *(const uint32_t *)pb;
    int pi = ev[i].flags & NTFF_EV_INSTANT, pj = ev[j].flags & NTFF_EV_INSTANT;
    if (pi != pj)
        return pi - pj;
    if (ev[i].dur_ns != ev[j].dur_ns)
        return ev[i].dur_ns > ev[j].dur_ns ? -1 : 1;
    return i < j ? -1 : 1;
}

static bool reorder_leading(struct ntff_trace *t, uint32_t *map, size_t n_map)
{
    size_t n = 0;
    while (n < t->n_events && t->events[n].ts_ns == t->events[0].ts_ns)
        n++;
    uint32_t *idx = malloc((n + 1) * sizeof *idx), *back = malloc((n + 1) * sizeof *back);
    struct ntff_event *copy = malloc((n + 1) * sizeof *copy);
    bool good = idx && back && copy;
    if (good && n) {
        for (size_t i = 0; i < n; i++)
            idx[i] = (uint32_t)i;
        memcpy(copy, t->events, n * sizeof *copy);
        qsort_r(idx, n, sizeof *idx, leading_cmp, copy);
        for (size_t i = 0; i < n; i++) {
            t->events[i] = copy[idx[i]];
            back[idx[i]] = (uint32_t)i;
        }
        for (size_t i = 0; i < n_map; i++)
            if (map[i] < n)
                map[i] = back[map[i]];
    }
    free(idx);
    free(back);
    free(copy);
    return good;
}

static void clip_flows(struct ntff_trace *t, const uint32_t *map)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_events; i++)
        t->events[i].flags =
            t->events[i].flags & ~(unsigned)(NTFF_EV_FLOW_IN | NTFF_EV_FLOW_OUT) & 0x3ffff;
    for (size_t i = 0; i < t->n_flows; i++) {
        struct ntff_flow f = t->flows[i];
        if (map[f.from] == NTFF_NONE || map[f.to] == NTFF_NONE)
            continue;
        f.from = map[f.from];
        f.to = map[f.to];
        f.id = (uint32_t)n + 1;
        f.reversed =
            t->events[f.to].ts_ns < t->events[f.from].ts_ns; /* both may begin at the cut */
        t->events[f.from].flags |= NTFF_EV_FLOW_OUT;
        t->events[f.to].flags |= NTFF_EV_FLOW_IN;
        t->flows[n++] = f;
    }
    t->n_flows = n;
}

static int flow_cmp(const void *pa, const void *pb)
{
    const struct ntff_flow *x = pa, *y = pb;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to != y->to ? x->to < y->to ? -1 : 1 : 0;
}

static int sample_track_cmp(const void *pa, const void *pb)
{
    const struct ntff_sample *x = pa, *y = pb;
    return (x->track > y->track) - (x->track < y->track);
}

/* Cuts the samples; the last value of each counter before from_ns stays, moved to from_ns, unless
 * the counter has one just there or nothing of the trace is left. */
static bool clip_samples(struct ntff_trace *t, uint64_t from_ns, uint64_t to_ns)
{
    size_t i = 0, j, n = 0, at = 0;
    uint32_t *last = malloc((t->n_tracks + 1) * sizeof *last);
    struct ntff_sample *keep = malloc((t->n_tracks + 1) * sizeof *keep);
    bool good = last && keep;
    if (good) {
        memset(last, 0xff, (t->n_tracks + 1) * sizeof *last);
        for (; i < t->n_samples && t->samples[i].ts_ns < from_ns; i++)
            last[t->samples[i].track] = (uint32_t)i;
        for (j = i; j < t->n_samples && t->samples[j].ts_ns == from_ns; j++)
            last[t->samples[j].track] = UINT32_MAX;
        for (size_t k = 0; k < t->n_tracks && from_ns < t->end_ns && to_ns > from_ns; k++)
            if (last[k] != UINT32_MAX) {
                keep[n] = t->samples[last[k]];
                keep[n++].ts_ns = from_ns;
            }
        /* every kept value stood before from_ns, so there is room for it */
        if (n > 0)
            memcpy(t->samples, keep, n * sizeof *keep);
        for (; i < t->n_samples && t->samples[i].ts_ns < to_ns; i++)
            t->samples[n++] = t->samples[i];
        while (at < n && t->samples[at].ts_ns == from_ns)
            at++;
        ntff_sort(t->samples, at, sizeof *t->samples, sample_track_cmp);
        t->n_samples = n;
    }
    free(last);
    free(keep);
    return good;
}

void ntff_event_uncount(struct ntff_counts *c, const struct ntff_event *e)
{
    bool start = e->start_ref.src != NTFF_SRC_NONE, stop = e->stop_ref.src != NTFF_SRC_NONE;
    c->filtered_records += (uint64_t)start + stop;
    if (e->flags & NTFF_EV_INSTANT && !(e->flags & NTFF_EV_NO_LANE))
        c->instants--;
    else if (start && stop)
        c->pairs--;
    else if (stop)
        c->start_lost--;
    else if (e->flags & NTFF_EV_UNFINISHED)
        c->unfinished--;
    else
        c->whole--;
}

enum ntff_status ntff_trace_clip(struct ntff_trace *t, uint64_t from_ns, uint64_t to_ns,
                                 struct ntff_diag *diag, struct ntff_error *err)
{
    size_t n = 0, n_map = t->n_events;
    uint32_t *map = malloc((n_map + 1) * sizeof *map);
    if (!map)
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory to cut the time range");
    t->clipped = true;
    clear_lanes(t, diag);
    for (size_t i = 0; i < n_map; i++) {
        struct ntff_event *e = &t->events[i];
        map[i] = NTFF_NONE;
        if (!clip_event(e, from_ns, to_ns)) {
            ntff_event_uncount(&t->counts, e);
            continue;
        }
        map[i] = (uint32_t)n;
        t->events[n++] = *e;
    }
    t->n_events = n;
    bool good =
        reorder_leading(t, map, n_map) && clip_samples(t, from_ns, to_ns) && assign_lanes(t, diag);
    if (good) {
        clip_flows(t, map);
        if (t->n_flows > 0)
            qsort(t->flows, t->n_flows, sizeof *t->flows, flow_cmp);
        if (t->begin_ns < from_ns)
            t->begin_ns = from_ns;
        if (t->end_ns > to_ns)
            t->end_ns = to_ns;
        if (t->end_ns < t->begin_ns)
            t->end_ns = t->begin_ns;
    }
    free(map);
    return good ? NTFF_OK
                : ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory to cut the time range");
}
