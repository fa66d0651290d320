/* cut - a window that is known before device profiles are read: which of their times lie outside.
 *
 * The host's files are read first, so the clocks are there when the first notification record is
 * looked at, and the window can be turned into device time. Two things are only known when
 * everything has been read: when the trace begins, from which windows are counted, and how far
 * cores without a clock are moved. Both are foreseen - the trace begins with the host's first event
 * if there is one, such a core with its first record - and compared in the end with what came out.
 * If that shows that something could be missing, the load is done once more, knowing.
 *
 * What is left out is only what ntff_trace_clip takes away later, which stays the judge. */
#include "proto/builder.h"

#include <stdlib.h>

#define SLACK_NS UINT64_C(1000000) /* kept on either side, so that a small misjudgement is none */
#define FAR_NS (UINT64_C(100) * 86400 * NTFF_NS_PER_SEC) /* odd times are not judged here */

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static uint64_t more(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void ntff_cut_foresee(struct ntff_builder *b)
{
    struct ntff_foresight *f = b->foresight;
    if (!f || f->known)
        return;
    f->begin_ns = UINT64_MAX;
    for (size_t i = 0; i < b->events.n; i++) {
        const struct ntff_event *e = &b->events.v[i];
        if (!(e->flags & (NTFF_EV_HIDDEN | NTFF_EV_UNALIGNED)) && e->ts_ns < f->begin_ns)
            f->begin_ns = e->ts_ns;
    }
    for (size_t i = 0; i < b->samples.n; i++)
        if (b->samples.v[i].ts_ns < f->begin_ns)
            f->begin_ns = b->samples.v[i].ts_ns;
}

/* -- a core's window ------------------------------------------------------------------------------
 */

/* How a core without a clock was moved; NULL if it was not. */
static const struct ntff_zero *zero_of(const struct ntff_zero *v, size_t n, uint32_t proc,
                                       uint32_t nc, uint32_t core)
{
    for (size_t i = 0; i < n; i++)
        if (v[i].moved && v[i].proc == proc && v[i].nc == nc && v[i].core == core)
            return &v[i];
    return NULL;
}

/* First device time that a rising map places at host_ns or later. */
static uint64_t first_at(const struct ntff_clock_map *m, uint64_t host_ns)
{
    uint64_t lo = 0, hi = UINT64_MAX, at;
    uint32_t hint = 0;
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (ntff_clock_host(m, mid, NTFF_NO_EXEC, &hint, &at) != NTFF_PLACED_NONE && at < host_ns)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The window in host time, from what is foreseen. False if it is empty. */
static bool host_window(const struct ntff_builder *b, uint64_t begin_ns, uint64_t *from_ns,
                        uint64_t *to_ns)
{
    const struct ntff_load_options *o = b->opt;
    *from_ns = o->from.given ? less(ntff_moment_ns(&o->from, begin_ns), SLACK_NS) : 0;
    *to_ns = o->to.given ? more(ntff_moment_ns(&o->to, begin_ns), SLACK_NS) : UINT64_MAX;
    return *from_ns < *to_ns;
}

static void by_map(struct ntff_core_window *w)
{
    const struct ntff_clock_quality *q = ntff_clock_quality(w->map);
    w->rises = q->used == NTFF_CLOCK_FIT && q->n_resets + q->n_steps == 0;
    w->how = NTFF_PLACED_EXACT;
    w->lo_ns = w->rises ? first_at(w->map, w->from_ns) : 0;
    w->hi_ns = w->rises ? first_at(w->map, w->to_ns) : UINT64_MAX;
    w->sure_lo_ns = w->rises ? less(q->span_begin_nc_ns, q->reach_ns) : 0;
    w->sure_hi_ns = w->rises ? more(q->span_end_nc_ns, q->reach_ns) : 0;
}

/* Device time ns such that ns + shift_ns = host_ns, within the range of a time. */
static uint64_t unshifted(uint64_t host_ns, uint64_t shift_ns)
{
    __int128 ns = (__int128)host_ns - (int64_t)shift_ns;
    return host_ns == UINT64_MAX || ns > UINT64_MAX ? UINT64_MAX : ns < 0 ? 0 : (uint64_t)ns;
}

static void by_shift(struct ntff_core_window *w, uint64_t shift_ns, uint64_t first_ns)
{
    w->rises = true;
    w->how = NTFF_PLACED_NONE;
    w->lo_ns = unshifted(w->from_ns, shift_ns);
    w->hi_ns = unshifted(w->to_ns, shift_ns);
    w->sure_lo_ns = less(first_ns, FAR_NS);
    w->sure_hi_ns = more(first_ns, FAR_NS);
}

bool ntff_build_window(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint32_t core,
                       uint64_t first_ns, struct ntff_core_window *w)
{
    const struct ntff_foresight *f = b->foresight;
    const struct ntff_core_clock *c = ntff_builder_clock(b, proc, nc, core);
    if (!f || !f->on)
        return false;
    bool aligned = c && b->opt->clock != NTFF_CLOCK_DEVICE &&
                   b->opt->clock != NTFF_CLOCK_RECORDED && ntff_clock_quality(c->map)->n_pairs;
    uint64_t begin = f->begin_ns, at;
    uint32_t hint = 0;
    *w = (struct ntff_core_window){.map = aligned ? c->map : NULL};
    if (!f->known && aligned &&
        ntff_clock_host(c->map, first_ns, NTFF_NO_EXEC, &hint, &at) != NTFF_PLACED_NONE)
        begin = at < begin ? at : begin;
    begin = begin == UINT64_MAX ? 0 : begin; /* nothing but device times: they begin at 0 */
    if (!host_window(b, begin, &w->from_ns, &w->to_ns))
        return false;
    struct ntff_cut_note note = {w->from_ns, w->to_ns, proc, nc, core, aligned};
    if (aligned) {
        by_map(w);
    } else {
        const struct ntff_zero *z = zero_of(f->zeros.v, f->zeros.n, proc, nc, core);
        by_shift(w, z ? z->shift_ns : begin - first_ns, first_ns);
        note.from_ns = w->lo_ns;
        note.to_ns = w->hi_ns;
    }
    struct ntff_cut_note *n = NTFF_VEC_PUSH(b->budget, &b->cuts);
    if (n)
        *n = note;
    return n != NULL; /* no memory for a note: keep everything, which will not fit either */
}

/* -- afterwards -----------------------------------------------------------------------------------
 */

/* Which times are impossible is judged by the typical one, and that by what is kept: a trace that
 * spans so much is not cut. (The earliest and the latest of all are kept.) */
static bool spans_too_much(const struct ntff_builder *b)
{
    return b->cuts.n && (b->diag->of[NTFF_DIAG_BAD_TIME].count > 0 ||
                         b->t->end_ns - b->t->begin_ns > NTFF_MAX_APART_NS);
}

bool ntff_cut_good(const struct ntff_builder *b)
{
    const struct ntff_load_options *o = b->opt;
    if (spans_too_much(b))
        return false;
    uint64_t from = o->from.given ? ntff_moment_ns(&o->from, b->t->begin_ns) : 0;
    uint64_t to = o->to.given ? ntff_moment_ns(&o->to, b->t->begin_ns) : UINT64_MAX;
    for (size_t i = 0; i < b->cuts.n; i++) {
        const struct ntff_cut_note *c = &b->cuts.v[i];
        const struct ntff_zero *z =
            c->aligned ? NULL : zero_of(b->zeros.v, b->zeros.n, c->proc, c->nc, c->core);
        if (!c->aligned && !z) /* nothing of this core is in the trace */
            continue;
        uint64_t shift = z ? z->shift_ns : 0;
        if (unshifted(from, shift) < c->from_ns || unshifted(to, shift) > c->to_ns)
            return false;
    }
    return true;
}

bool ntff_cut_learn(const struct ntff_builder *b, struct ntff_foresight *f)
{
    f->zeros.n = 0;
    f->known = true;
    f->begin_ns = b->t->begin_ns;
    if (!ntff_grow(NULL, (void **)&f->zeros.v, &f->zeros.cap, 0, b->zeros.n + 1,
                   sizeof *f->zeros.v))
        return false;
    for (size_t i = 0; i < b->zeros.n; i++)
        f->zeros.v[f->zeros.n++] = b->zeros.v[i];
    return true;
}
