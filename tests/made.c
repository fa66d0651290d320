/* made - see made.h. A made trace hangs its attributes on the trace's arena; an event finds its
 * own by the number kept in start_ref. */
#include "made.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE_NS UINT64_C(1764440000000000000)

struct attr {
    struct attr *next;
    const char *key;
    struct ntff_slice text;
};

struct made {
    struct ntff_trace *t;
    NTFF_VEC(struct ntff_event) events;
    NTFF_VEC(struct ntff_sample) samples;
    NTFF_VEC(struct ntff_flow) flows;
    NTFF_VEC(struct ntff_track) tracks;
    NTFF_VEC(struct attr *) attrs; /* by event number; shorter than events */
};

static void *must(void *p)
{
    if (!p) {
        fputs("made: out of memory\n", stderr);
        abort();
    }
    return p;
}

/* -- by hand -------------------------------------------------------------------------------- */

static ntff_str text(struct made *s, const char *p)
{
    ntff_str id = ntff_intern(&s->t->strs, p, strlen(p));
    if (id == NTFF_STR_NONE)
        must(NULL);
    return id;
}

struct made *made_begin(void)
{
    struct made *s = must(calloc(1, sizeof *s));
    s->t = must(calloc(1, sizeof *s->t));
    if (!ntff_strtab_init(&s->t->strs, NULL))
        must(NULL);
    return s;
}

uint32_t made_track(struct made *s, uint32_t parent, int kind, const char *name)
{
    struct ntff_track *t = must(NTFF_VEC_PUSH(NULL, &s->tracks));
    *t = (struct ntff_track){.name = text(s, name),
                             .parent = parent,
                             .process = NTFF_NONE,
                             .nc = NTFF_NONE,
                             .core = NTFF_NONE,
                             .n_lanes = 1,
                             .kind = (uint8_t)kind};
    return (uint32_t)s->tracks.n - 1;
}

struct ntff_track *made_track_of(struct made *s, uint32_t track)
{
    return &s->tracks.v[track];
}

static uint32_t add_event(struct made *s, struct ntff_event e)
{
    uint32_t number = (uint32_t)s->events.n;
    struct ntff_track *t = &s->tracks.v[e.track];
    e.start_ref = (struct ntff_ref){number, NTFF_SRC_NONE};
    e.stop_ref = (struct ntff_ref){0, NTFF_SRC_NONE};
    if (e.lane >= t->n_lanes)
        t->n_lanes = (uint16_t)(e.lane + 1);
    *(struct ntff_event *)must(NTFF_VEC_PUSH(NULL, &s->events)) = e;
    return number;
}

uint32_t made_span(struct made *s, uint32_t track, uint32_t lane, uint64_t ts_ns, uint64_t dur_ns,
                   const char *name)
{
    return add_event(s, (struct ntff_event){.ts_ns = BASE_NS + ts_ns,
                                            .dur_ns = dur_ns,
                                            .name = text(s, name),
                                            .track = track,
                                            .lane = lane & 0x3ff,
                                            .cat = NTFF_CAT_HOST});
}

uint32_t made_instant(struct made *s, uint32_t track, uint64_t ts_ns, const char *name)
{
    return add_event(s, (struct ntff_event){.ts_ns = BASE_NS + ts_ns,
                                            .name = text(s, name),
                                            .track = track,
                                            .cat = NTFF_CAT_HOST,
                                            .flags = NTFF_EV_INSTANT});
}

struct ntff_event *made_event_of(struct made *s, uint32_t number)
{
    return &s->events.v[number];
}

void made_attr(struct made *s, uint32_t number, const char *key, const char *p, size_t len)
{
    while (s->attrs.n <= number)
        *(struct attr **)must(NTFF_VEC_PUSH(NULL, &s->attrs)) = NULL;
    struct attr *a = must(ntff_arena_alloc(&s->t->arena, sizeof *a)), **at = &s->attrs.v[number];
    while (*at)
        at = &(*at)->next;
    a->key = must(ntff_arena_text(&s->t->arena, key, strlen(key)));
    a->text.p = must(ntff_arena_text(&s->t->arena, p, len));
    a->text.len = len;
    *at = a;
}

void made_flow(struct made *s, uint32_t from, uint32_t to)
{
    struct ntff_flow *f = must(NTFF_VEC_PUSH(NULL, &s->flows));
    *f = (struct ntff_flow){.from = from, .to = to, .id = (uint32_t)s->flows.n};
    s->events.v[from].flags |= NTFF_EV_FLOW_OUT;
    s->events.v[to].flags |= NTFF_EV_FLOW_IN;
}

void made_sample(struct made *s, uint32_t track, uint64_t ts_ns, int64_t value)
{
    *(struct ntff_sample *)must(NTFF_VEC_PUSH(NULL, &s->samples)) =
        (struct ntff_sample){.ts_ns = BASE_NS + ts_ns, .value.i = value, .track = track};
}

void made_sample_d(struct made *s, uint32_t track, uint64_t ts_ns, double value)
{
    s->tracks.v[track].is_double = true;
    *(struct ntff_sample *)must(NTFF_VEC_PUSH(NULL, &s->samples)) =
        (struct ntff_sample){.ts_ns = BASE_NS + ts_ns, .value.d = value, .track = track};
}

/* The model's order; the number of an event stands for input order. */
static int by_time(const void *pa, const void *pb)
{
    const struct ntff_event *a = pa, *b = pb;
    if (a->ts_ns != b->ts_ns)
        return a->ts_ns < b->ts_ns ? -1 : 1;
    if (a->dur_ns != b->dur_ns)
        return a->dur_ns > b->dur_ns ? -1 : 1;
    int ia = !!(a->flags & NTFF_EV_INSTANT), ib = !!(b->flags & NTFF_EV_INSTANT);
    if (ia != ib)
        return ia - ib;
    return (a->start_ref.off > b->start_ref.off) - (a->start_ref.off < b->start_ref.off);
}

static int sample_by_time(const void *pa, const void *pb)
{
    const struct ntff_sample *a = pa, *b = pb;
    if (a->ts_ns != b->ts_ns)
        return a->ts_ns < b->ts_ns ? -1 : 1;
    return (a->track > b->track) - (a->track < b->track);
}

static int flow_by_ends(const void *pa, const void *pb)
{
    const struct ntff_flow *a = pa, *b = pb;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

static void place_flows(struct made *s)
{
    uint32_t *at = must(malloc((s->events.n + 1) * sizeof *at));
    for (uint32_t i = 0; i < s->events.n; i++)
        at[s->events.v[i].start_ref.off] = i;
    for (size_t i = 0; i < s->flows.n; i++) {
        struct ntff_flow *f = &s->flows.v[i];
        f->from = at[f->from];
        f->to = at[f->to];
        f->reversed = s->events.v[f->to].ts_ns < s->events.v[f->from].ts_ns;
    }
    if (s->flows.n)
        qsort(s->flows.v, s->flows.n, sizeof *s->flows.v, flow_by_ends);
    free(at);
}

static void set_range(struct ntff_trace *t)
{
    uint64_t begin = UINT64_MAX, end = 0;
    for (size_t i = 0; i < t->n_events; i++) {
        const struct ntff_event *e = &t->events[i];
        begin = e->ts_ns < begin ? e->ts_ns : begin;
        end = ntff_event_end(e) > end ? ntff_event_end(e) : end;
    }
    for (size_t i = 0; i < t->n_samples; i++) {
        begin = t->samples[i].ts_ns < begin ? t->samples[i].ts_ns : begin;
        end = t->samples[i].ts_ns > end ? t->samples[i].ts_ns : end;
    }
    t->begin_ns = t->origin_ns = begin == UINT64_MAX ? 0 : begin;
    t->end_ns = end;
}

struct ntff_trace *made_end(struct made *s)
{
    struct ntff_trace *t = s->t;
    if (s->events.n)
        qsort(s->events.v, s->events.n, sizeof *s->events.v, by_time);
    if (s->samples.n)
        qsort(s->samples.v, s->samples.n, sizeof *s->samples.v, sample_by_time);
    place_flows(s);
    t->events = s->events.v;
    t->n_events = s->events.n;
    t->samples = s->samples.v;
    t->n_samples = s->samples.n;
    t->flows = s->flows.v;
    t->n_flows = s->flows.n;
    t->tracks = s->tracks.v;
    t->n_tracks = s->tracks.n;
    /* the table of attributes: a "source" nobody else looks at */
    t->sources = must(calloc(1, sizeof *t->sources));
    t->n_sources = 1;
    struct attr **table = must(ntff_arena_alloc(&t->arena, (s->attrs.n + 1) * sizeof *table));
    if (s->attrs.n)
        memcpy(table, s->attrs.v, s->attrs.n * sizeof *table);
    t->sources[0].extra = table;
    t->sources[0].len = s->attrs.n;
    t->schema = ntff_intern(&t->strs, "built-in", 8);
    set_range(t);
    NTFF_VEC_FREE(NULL, &s->attrs);
    free(s);
    return t;
}

void made_free(struct ntff_trace *t)
{
    ntff_trace_free(t);
}

static void put_attr(struct ntff_detail *d, const char *key, int kind, struct ntff_attr value)
{
    if (!ntff_grow(NULL, (void **)&d->room, &d->cap, d->n, 1, sizeof *d->room))
        must(NULL);
    d->attrs = d->room; /* as ntff_detail leaves it: the facts live in room */
    value.key = (struct ntff_slice){key, strlen(key)};
    value.kind = (uint8_t)kind;
    d->attrs[d->n++] = value;
}

bool made_details(const struct ntff_trace *t, const struct ntff_event *e, struct ntff_detail *d)
{
    d->n = 0;
    put_attr(d, "id", NTFF_V_UINT, (struct ntff_attr){.u = e->start_ref.off});
    put_attr(d, "timestamp_ns", NTFF_V_UINT, (struct ntff_attr){.u = e->ts_ns});
    if (e->flags & NTFF_EV_DEVICE) {
        put_attr(d, "nc_start_timestamp_ns", NTFF_V_UINT,
                 (struct ntff_attr){.u = e->ts_ns % 1000000000});
        put_attr(d, "nc_stop_timestamp_ns", NTFF_V_UINT,
                 (struct ntff_attr){.u = e->ts_ns % 1000000000 + e->dur_ns});
    }
    const struct attr *const *table = t->sources[0].extra;
    if (e->start_ref.off < t->sources[0].len)
        for (const struct attr *a = table[e->start_ref.off]; a; a = a->next)
            put_attr(d, a->key, NTFF_V_TEXT, (struct ntff_attr){.text = a->text});
    return true;
}
