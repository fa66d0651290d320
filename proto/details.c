/* details - see details.h. A batch is a run of events; its details keep their memory from one use
 * to the next. */
#include "proto/details.h"

#include "proto/worker.h"

#include <stdlib.h>

enum { BATCH_EVENTS = 64, THREADS_FROM_EVENTS = 4096 };

struct batch {
    size_t first, n;
    bool failed;
    struct ntff_detail detail[BATCH_EVENTS];
};

struct ntff_details {
    const struct ntff_trace *t;
    struct ntff_ahead *ahead;
    size_t n_claimed;
    const struct batch *now; /* NULL = none yet */
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

static void make(void *user, unsigned slot)
{
    struct ntff_details *d = user;
    struct batch *b = &d->batches[slot];
    b->failed = false;
    for (size_t i = 0; i < b->n && !b->failed; i++) {
        ntff_detail_prefetch(d->t, b->first + i + NTFF_DETAIL_AHEAD);
        b->failed = !ntff_detail(d->t, &d->t->events[b->first + i], &b->detail[i]);
    }
}

struct ntff_details *ntff_details_start(const struct ntff_trace *t, unsigned jobs)
{
    /* a rewriter keeps what it has seen: one thread, in order */
    jobs = t->rewrite || t->n_events < THREADS_FROM_EVENTS ? 1 : ntff_jobs(jobs);
    unsigned n = ntff_ahead_slots(jobs);
    struct ntff_details *d = calloc(1, sizeof *d + n * sizeof *d->batches);
    if (!d)
        return NULL;
    d->t = t;
    d->n_batches = n;
    struct ntff_ahead_work work = {d, claim, make, n};
    d->ahead = ntff_ahead_start(&work, jobs - 1);
    if (!d->ahead) {
        ntff_details_stop(d);
        return NULL;
    }
    return d;
}

const struct ntff_detail *ntff_details_of(struct ntff_details *d, size_t index)
{
    while (!d->now || index - d->now->first >= d->now->n) {
        int slot = ntff_ahead_take(d->ahead);
        if (slot < 0)
            return NULL;
        d->now = &d->batches[slot];
    }
    return d->now->failed ? NULL : &d->now->detail[index - d->now->first];
}

void ntff_details_stop(struct ntff_details *d)
{
    if (!d)
        return;
    ntff_ahead_stop(d->ahead);
    for (unsigned i = 0; i < d->n_batches; i++)
        for (size_t k = 0; k < BATCH_EVENTS; k++)
            ntff_detail_done(&d->batches[i].detail[k]);
    free(d);
}
