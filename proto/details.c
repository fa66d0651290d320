/* details - see details.h. A batch is a run of events. One memory for details serves all events of
 * a slot, one after the other; only what the maker made of them is kept until it is taken. */
#include "proto/details.h"

#include "proto/record.h"
#include "proto/worker.h"

#include <stdlib.h>

/* Small batches pass from one processor to the other too often: 512 take 8 % less time than 64. */
enum { BATCH_EVENTS = 512, THREADS_FROM_EVENTS = 4096 };

/* Every slot may hold so much, so more is not made ahead: of a batch, of an event's records, of the
 * texts of its details. What goes beyond is left to the taker, who makes one at a time. */
#define BATCH_BYTES ((size_t)256 << 10)
#define TEXT_BYTES ((size_t)16 << 10)

struct room { /* of one slot */
    struct ntff_detail detail;
    struct ntff_out *out; /* in memory */
    struct ntff_put w;
};

struct batch {
    struct room room;
    size_t first, n;
    bool failed;
    struct {
        size_t at, end; /* at NOT_MADE: nothing was */
    } made[BATCH_EVENTS];
};
#define NOT_MADE SIZE_MAX

struct ntff_details {
    const struct ntff_trace *t;
    struct ntff_maker maker;
    struct ntff_ahead *ahead;
    size_t n_claimed;
    bool direct;
    int taken;        /* batch, -1 = none yet */
    struct room room; /* the taker's */
    unsigned n_batches;
    struct batch batches[];
};

static bool claim(void *user, unsigned slot)
{
    struct ntff_details *d = user;
    struct batch *b = &d->batches[slot];
    size_t left = d->t->n_events - d->n_claimed;
    b->first = d->n_claimed;
    b->n = left < BATCH_EVENTS ? left : BATCH_EVENTS;
    d->n_claimed += b->n;
    return b->n > 0;
}

static bool record_is_small(const struct ntff_trace *t, struct ntff_ref ref)
{
    const struct ntff_source *s = ref.src < t->n_sources ? &t->sources[ref.src] : NULL;
    struct ntff_wire w;
    bool has_length = s && (s->kind == NTFF_SOURCE_EVENTS || s->kind == NTFF_SOURCE_STORE);
    return !has_length || !ntff_message_at(s, ref.off, &w) || w.end - w.p <= NTFF_RECORD_SMALL;
}

static bool texts_are_small(const struct ntff_detail *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        n += d->attrs[i].key.len + (d->attrs[i].kind == NTFF_V_TEXT ? d->attrs[i].text.len : 0);
    return n <= TEXT_BYTES;
}

/* Sets *at, where the bytes begin. False if it was not made: what was written is gone; *failed if
 * memory ran out for the details. */
static inline bool make_one(struct ntff_details *d, struct room *r, unsigned slot, size_t index,
                            bool direct, size_t *at, bool *failed)
{
    const struct ntff_event *e = &d->t->events[index];
    size_t before = *at = (size_t)(r->w.p - r->w.start);
    if (NTFF_LIKELY(direct && d->maker.make_direct(d->maker.user, slot, e, at)))
        return true;
    *at = before;
    r->w.p = r->w.start + before;
    bool ahead = slot != NTFF_TAKER;
    *failed = false;
    if (ahead && (!record_is_small(d->t, e->start_ref) || !record_is_small(d->t, e->stop_ref)))
        return false;
    *failed = !ntff_detail(d->t, e, &r->detail);
    if (!*failed && (!ahead || texts_are_small(&r->detail)) &&
        d->maker.make(d->maker.user, slot, e, &r->detail) && !ntff_out_failed(r->out))
        return true;
    r->w.p = r->w.start + before;
    return false;
}

static void begin(struct ntff_details *d, struct room *r, unsigned slot)
{
    r->w.p = r->w.start;
    d->maker.begin(d->maker.user, slot, &r->w);
}

static void make(void *user, unsigned number)
{
    struct ntff_details *d = user;
    struct batch *b = &d->batches[number];
    struct room *r = &b->room;
    unsigned slot = NTFF_TAKER + 1 + number;
    b->failed = false;
    begin(d, r, slot);
    for (size_t i = 0; i < b->n && !b->failed; i++) {
        ntff_detail_prefetch(d->t, b->first + i + NTFF_DETAIL_AHEAD);
        bool room = (size_t)(r->w.p - r->w.start) < BATCH_BYTES;
        if (!room || !make_one(d, r, slot, b->first + i, d->direct, &b->made[i].at, &b->failed))
            b->made[i].at = NOT_MADE;
        b->made[i].end = (size_t)(r->w.p - r->w.start);
    }
    b->failed |= ntff_out_failed(r->out);
}

static bool room_init(struct room *r)
{
    struct ntff_error err;
    if (ntff_out_open(&r->out, NULL, 0, 0, &err) != NTFF_OK)
        return false;
    r->w = ntff_put_begin(r->out);
    return true;
}

static void room_done(struct room *r)
{
    ntff_detail_done(&r->detail);
    ntff_out_close(r->out);
}

/* A rewriter keeps what it has seen: one thread, in order. */
static unsigned threads_for(const struct ntff_trace *t, unsigned jobs)
{
    return t->rewrite || t->n_events < THREADS_FROM_EVENTS ? 1 : ntff_jobs(jobs);
}

unsigned ntff_details_slots(const struct ntff_trace *t, unsigned jobs)
{
    return 1 + ntff_ahead_slots(threads_for(t, jobs));
}

struct ntff_details *ntff_details_start(const struct ntff_trace *t, unsigned jobs,
                                        const struct ntff_maker *maker)
{
    jobs = threads_for(t, jobs);
    unsigned n = ntff_ahead_slots(jobs);
    struct ntff_details *d = calloc(1, sizeof *d + n * sizeof *d->batches);
    if (!d)
        return NULL;
    d->t = t;
    d->maker = *maker;
    d->direct = maker->make_direct && ntff_detail_is_plain(t);
    d->taken = -1;
    d->n_batches = n;
    bool good = room_init(&d->room);
    for (unsigned i = 0; i < n && good; i++)
        good = room_init(&d->batches[i].room);
    struct ntff_ahead_work work = {d, claim, make, n};
    if (!good || !(d->ahead = ntff_ahead_start(&work, jobs - 1))) {
        ntff_details_stop(d);
        return NULL;
    }
    return d;
}

/* The taker makes one itself. */
static bool make_now(struct ntff_details *d, size_t index, struct ntff_made *made)
{
    struct room *r = &d->room;
    bool failed;
    begin(d, r, NTFF_TAKER);
    *made = (struct ntff_made){.w = &r->w, .slot = NTFF_TAKER};
    if (!make_one(d, r, NTFF_TAKER, index, false, &made->at, &failed))
        return false;
    made->end = (size_t)(r->w.p - r->w.start);
    return true;
}

bool ntff_details_of(struct ntff_details *d, size_t index, bool again, struct ntff_made *made)
{
    struct batch *b = d->taken >= 0 ? &d->batches[d->taken] : NULL;
    while (!b || index - b->first >= b->n) {
        d->taken = ntff_ahead_take(d->ahead);
        if (d->taken < 0)
            return false;
        b = &d->batches[d->taken];
    }
    size_t i = index - b->first;
    if (b->failed)
        return false;
    if (NTFF_UNLIKELY(again || b->made[i].at == NOT_MADE))
        return make_now(d, index, made);
    *made = (struct ntff_made){&b->room.w, b->made[i].at, b->made[i].end,
                               NTFF_TAKER + 1 + (unsigned)d->taken};
    return true;
}

void ntff_details_stop(struct ntff_details *d)
{
    if (!d)
        return;
    ntff_ahead_stop(d->ahead);
    for (unsigned i = 0; i < d->n_batches; i++)
        room_done(&d->batches[i].room);
    room_done(&d->room);
    free(d);
}
