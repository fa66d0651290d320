/* check_trace - see check_trace.h. Written from the comments of model.h alone. */
#include "tests/check_trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static char text[400];

static const char *wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static const char *wrong(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return text;
}

static const char *check_tracks(const struct ntff_trace *t)
{
    for (size_t i = 0; i < t->n_tracks; i++) {
        const struct ntff_track *k = &t->tracks[i];
        if (k->parent != NTFF_NONE && k->parent >= i)
            return wrong("track %zu comes before its parent %u", i, k->parent);
        if (k->process != NTFF_NONE && k->process >= t->n_processes)
            return wrong("track %zu is of process %u of %zu", i, k->process, t->n_processes);
        if (k->n_lanes == 0 || k->n_lanes > NTFF_MAX_LANES)
            return wrong("track %zu has %u lanes", i, k->n_lanes);
    }
    return NULL;
}

/* longer spans, then zero-length spans, then instants */
static int rank_of(const struct ntff_event *e)
{
    return e->flags & NTFF_EV_INSTANT ? 2 : e->dur_ns == 0;
}

static const char *check_order(const struct ntff_trace *t)
{
    for (size_t i = 0; i < t->n_events; i++) {
        const struct ntff_event *e = &t->events[i], *before = e - 1;
        if (e->track >= t->n_tracks)
            return wrong("event %zu is on track %u of %zu", i, e->track, t->n_tracks);
        if (e->lane >= t->tracks[e->track].n_lanes)
            return wrong("event %zu is on lane %u of %u", i, e->lane, t->tracks[e->track].n_lanes);
        if (e->ts_ns + e->dur_ns < e->ts_ns || e->ts_ns < t->begin_ns ||
            ntff_event_end(e) > t->end_ns)
            return wrong("event %zu, %" PRIu64 " + %" PRIu64 ", is outside the trace %" PRIu64
                         "..%" PRIu64,
                         i, e->ts_ns, (uint64_t)e->dur_ns, t->begin_ns, t->end_ns);
        if (e->flags & NTFF_EV_INSTANT && e->dur_ns != 0)
            return wrong("event %zu is an instant of %" PRIu64 " ns", i, (uint64_t)e->dur_ns);
        if (ntff_str_of(t, e->name)[0] == '\0')
            return wrong("event %zu has no name", i);
        if (i == 0)
            continue;
        if (before->ts_ns > e->ts_ns ||
            (before->ts_ns == e->ts_ns &&
             (rank_of(before) > rank_of(e) ||
              (rank_of(e) == 0 && rank_of(before) == 0 && before->dur_ns < e->dur_ns))))
            return wrong("events %zu and %zu are out of order at %" PRIu64, i - 1, i, e->ts_ns);
    }
    return NULL;
}

/* Spans of one (track, lane), in order: each begins after the end of its elder or inside it. */
struct lane {
    uint64_t *ends;
    size_t n, cap;
};

static const char *push(struct lane *l, const struct ntff_event *e, size_t i, bool flat)
{
    uint64_t end = ntff_event_end(e);
    while (l->n > 0 && l->ends[l->n - 1] <= e->ts_ns)
        l->n--;
    if (l->n > 0 && end > l->ends[l->n - 1])
        return wrong("event %zu overlaps its elder on track %u lane %u without nesting", i,
                     e->track, e->lane);
    if (l->n > 0 && flat)
        return wrong("event %zu nests on the flat track %u", i, e->track);
    if (l->n == l->cap) {
        l->cap = l->cap * 2 + 8;
        l->ends = realloc(l->ends, l->cap * sizeof *l->ends);
        if (l->ends == NULL)
            return wrong("no memory");
    }
    l->ends[l->n++] = end;
    return NULL;
}

static const char *check_nesting(const struct ntff_trace *t)
{
    const char *bad = NULL;
    size_t n_lanes = 0;
    size_t *first = malloc((t->n_tracks + 1) * sizeof *first); /* lane of each track */
    for (size_t i = 0; first != NULL && i < t->n_tracks; i++) {
        first[i] = n_lanes;
        n_lanes += t->tracks[i].n_lanes;
    }
    struct lane *lanes = calloc(n_lanes + 1, sizeof *lanes);
    if (lanes == NULL || first == NULL) {
        free(lanes);
        free(first);
        return wrong("no memory");
    }
    for (size_t i = 0; i < t->n_events && bad == NULL; i++) {
        const struct ntff_event *e = &t->events[i];
        if (!(e->flags & NTFF_EV_INSTANT) && e->dur_ns > 0)
            bad = push(&lanes[first[e->track] + e->lane], e, i, t->tracks[e->track].flat);
    }
    for (size_t i = 0; i < n_lanes; i++)
        free(lanes[i].ends);
    free(lanes);
    free(first);
    return bad;
}

static const char *check_links(const struct ntff_trace *t)
{
    uint8_t *ids = calloc(t->n_flows + 2, 1);
    const char *bad = NULL;
    if (ids == NULL)
        return wrong("no memory");
    for (size_t i = 0; i < t->n_flows && bad == NULL; i++) {
        const struct ntff_flow *f = &t->flows[i];
        if (f->from >= t->n_events || f->to >= t->n_events)
            bad =
                wrong("flow %zu leads from event %u to %u of %zu", i, f->from, f->to, t->n_events);
        else if (f->id == 0 || f->id > t->n_flows || ids[f->id]++)
            bad = wrong("flow %zu has id %u, of %zu", i, f->id, t->n_flows);
        else if (!(t->events[f->from].flags & NTFF_EV_FLOW_OUT) ||
                 !(t->events[f->to].flags & NTFF_EV_FLOW_IN))
            bad = wrong("flow %zu: its events are not marked", i);
        else if (f->reversed != (t->events[f->to].ts_ns < t->events[f->from].ts_ns))
            bad = wrong("flow %zu: reversed is %d", i, f->reversed);
    }
    free(ids);
    for (size_t i = 0; i < t->n_samples && bad == NULL; i++) {
        const struct ntff_sample *s = &t->samples[i];
        if (s->track >= t->n_tracks)
            bad = wrong("sample %zu is on track %u", i, s->track);
        else if (i > 0 &&
                 (s[-1].ts_ns > s->ts_ns || (s[-1].ts_ns == s->ts_ns && s[-1].track > s->track)))
            bad = wrong("samples %zu and %zu are out of order", i - 1, i);
    }
    return bad;
}

static const char *check_counts(const struct ntff_trace *t, const struct ntff_diag *diag)
{
    const struct ntff_counts *c = &t->counts;
    uint64_t out = 2 * c->pairs + c->whole + c->unfinished + c->start_lost + c->instants +
                   c->filtered_records + c->dropped_records;
    if (c->records_in != out)
        return wrong("%" PRIu64 " records in, but 2 * %" PRIu64 " pairs + %" PRIu64
                     " whole + %" PRIu64 " unfinished + %" PRIu64 " start lost + %" PRIu64
                     " instants + %" PRIu64 " filtered + %" PRIu64 " dropped = %" PRIu64,
                     c->records_in, c->pairs, c->whole, c->unfinished, c->start_lost, c->instants,
                     c->filtered_records, c->dropped_records, out);
    if (c->dropped_records > 0 && !ntff_diag_lossy(diag))
        return wrong("%" PRIu64 " records dropped without a finding", c->dropped_records);
    uint64_t dropped = 0;
    for (size_t i = 0; i < t->n_files; i++) {
        const struct ntff_file *f = &t->files[i];
        if (f->n_dropped > f->n_records)
            return wrong("file %zu: %" PRIu64 " of %" PRIu64 " records dropped", i, f->n_dropped,
                         f->n_records);
        dropped += f->n_dropped;
    }
    if (dropped > 0 && !ntff_diag_lossy(diag))
        return wrong("%" PRIu64 " records of files dropped without a finding", dropped);
    return NULL;
}

static const char *check_details(const struct ntff_trace *t)
{
    struct ntff_detail d = {0};
    const char *bad = NULL;
    for (size_t i = 0; i < t->n_events && bad == NULL; i++) {
        if (!ntff_detail(t, &t->events[i], &d))
            bad = wrong("no memory");
        for (size_t k = 0; k < d.n && bad == NULL; k++)
            if (d.attrs[k].key.len > 0 && d.attrs[k].key.p == NULL)
                bad = wrong("event %zu, fact %zu has no key", i, k);
    }
    ntff_detail_done(&d);
    return bad;
}

const char *check_trace(const struct ntff_trace *t, const struct ntff_diag *diag)
{
    const char *bad = check_tracks(t);
    if (bad == NULL)
        bad = check_order(t);
    if (bad == NULL)
        bad = check_nesting(t);
    if (bad == NULL)
        bad = check_links(t);
    if (bad == NULL)
        bad = check_counts(t, diag);
    if (bad == NULL)
        bad = check_details(t);
    return bad;
}
