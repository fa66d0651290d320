/* walk - see sink.h.
 *
 * Events arrive sorted by start. What is missing for a stream of begins and ends are the ends, in
 * time order over all lanes. Of the open spans those that end next are kept sorted: a span that
 * begins is mostly the innermost, so it goes to the end of the list. What does not fit there waits
 * in a binary heap. Their order is (end, index descending): of two spans that end together the one
 * that began later, or is shorter, is the inner one and has the larger index. Samples are merged in
 * by time, behind everything else of the same instant.
 *
 * Flows are sorted by .from already; a second list sorted by .to is made once, and two cursors move
 * through them as the events pass by in index order. */
#include "sink.h"
#include "sort.h"

#include <stdlib.h>
#include <string.h>

#define PROGRESS_EVERY 65536

struct open_span {
    uint64_t end_ns;
    uint32_t index;
};

enum { MAX_NEXT = 64 };

struct walk {
    const struct ntff_trace *t;
    const struct ntff_sink *sink;
    struct open_span next[MAX_NEXT]; /* end before all in the heap, the first to end last */
    size_t n_next;
    struct open_span *heap;
    size_t n_heap, cap_heap;
    size_t next_sample;
    const struct ntff_flow **out, **in; /* in trace order, by (from, to); and by (to, id) */
    size_t n_flows, next_out, next_in;
    enum ntff_status status;
};

/* -- open spans -------------------------------------------------------------------------------- */

static inline bool ends_before(struct open_span a, struct open_span b)
{
    return a.end_ns != b.end_ns ? a.end_ns < b.end_ns : a.index > b.index;
}

static bool heap_push(struct walk *w, struct open_span s)
{
    if (w->n_heap == w->cap_heap) {
        size_t cap = w->cap_heap ? w->cap_heap * 2 : 256;
        struct open_span *p = realloc(w->heap, cap * sizeof *p);
        if (!p) {
            w->status = NTFF_NOMEM;
            return false;
        }
        w->heap = p;
        w->cap_heap = cap;
    }
    size_t i = w->n_heap++;
    for (size_t up; i > 0 && ends_before(s, w->heap[up = (i - 1) / 2]); i = up)
        w->heap[i] = w->heap[up];
    w->heap[i] = s;
    return true;
}

static struct open_span heap_pop(struct walk *w)
{
    struct open_span top = w->heap[0], last = w->heap[--w->n_heap];
    size_t i = 0;
    for (size_t down; (down = 2 * i + 1) < w->n_heap; i = down) {
        if (down + 1 < w->n_heap && ends_before(w->heap[down + 1], w->heap[down]))
            down++;
        if (!ends_before(w->heap[down], last))
            break;
        w->heap[i] = w->heap[down];
    }
    w->heap[i] = last;
    return top;
}

/* Adds an open span. */
static inline bool open_span(struct walk *w, struct open_span s)
{
    if (w->n_heap > 0 && (w->n_next == 0 || ends_before(w->next[0], s)))
        return heap_push(w, s);
    if (NTFF_UNLIKELY(w->n_next == MAX_NEXT)) {
        if (ends_before(w->next[0], s))
            return heap_push(w, s);
        if (!heap_push(w, w->next[0]))
            return false;
        memmove(w->next, w->next + 1, (MAX_NEXT - 1) * sizeof *w->next);
        w->n_next--;
    }
    size_t i = w->n_next++;
    for (; i > 0 && ends_before(w->next[i - 1], s); i--)
        w->next[i] = w->next[i - 1];
    w->next[i] = s;
    return true;
}

/* Half of the list anew from the heap, so that spans that begin find room in it. */
static __attribute__((noinline)) void refill(struct walk *w)
{
    size_t n = w->n_heap < MAX_NEXT / 2 ? w->n_heap : MAX_NEXT / 2;
    for (size_t i = n; i-- > 0;)
        w->next[i] = heap_pop(w);
    w->n_next = n;
}

/* True if a span is open that ends at ts_ns or before: next[n_next - 1]. */
static inline bool ends_by(struct walk *w, uint64_t ts_ns)
{
    if (NTFF_UNLIKELY(w->n_next == 0) && w->n_heap > 0)
        refill(w);
    return w->n_next > 0 && w->next[w->n_next - 1].end_ns <= ts_ns;
}

/* -- flows ------------------------------------------------------------------------------------- */

/* The list by .to; flows of one .to stay in the order of their ids. */
static bool sort_by_to(struct walk *w, size_t n)
{
    const struct ntff_flow *flows = w->t->flows;
    struct ntff_sort_item *a = calloc(2 * n, sizeof *a);
    if (!a)
        return false;
    for (size_t i = 0; i < n; i++)
        a[i] = (struct ntff_sort_item){flows[i].to, (uint32_t)i};
    ntff_sort_with(a, a + n, n);
    for (size_t i = 0; i < n; i++)
        w->in[i] = &flows[a[i].index];
    free(a);
    return true;
}

static bool prepare_flows(struct walk *w)
{
    size_t n = w->t->n_flows;
    if (n == 0)
        return true;
    w->out = calloc(n, sizeof *w->out);
    w->in = calloc(n, sizeof *w->in);
    if (!w->out || !w->in || !sort_by_to(w, n))
        return false;
    for (size_t i = 0; i < n; i++)
        w->out[i] = &w->t->flows[i];
    w->n_flows = n;
    return true;
}

static inline struct ntff_flow_list flows_of(struct walk *w, uint32_t index)
{
    struct ntff_flow_list f = {NULL, 0, NULL, 0};
    size_t i = w->next_out, j = w->next_in;
    while (i < w->n_flows && w->out[i]->from == index)
        i++;
    while (j < w->n_flows && w->in[j]->to == index)
        j++;
    if (i > w->next_out)
        f.out = w->out + w->next_out;
    if (j > w->next_in)
        f.in = w->in + w->next_in;
    f.n_out = i - w->next_out;
    f.n_in = j - w->next_in;
    w->next_out = i;
    w->next_in = j;
    return f;
}

/* -- the walk ---------------------------------------------------------------------------------- */

static inline bool end_span(struct walk *w)
{
    struct open_span s = w->next[--w->n_next];
    return !w->sink->end || w->sink->end(w->sink->user, s.index, &w->t->events[s.index]);
}

/* Everything before an event at ts_ns: ends up to and at ts_ns, samples before it. */
static bool catch_up(struct walk *w, uint64_t ts_ns)
{
    const struct ntff_trace *t = w->t;
    while (w->next_sample < t->n_samples && t->samples[w->next_sample].ts_ns < ts_ns) {
        const struct ntff_sample *s = &t->samples[w->next_sample++];
        while (ends_by(w, s->ts_ns))
            if (!end_span(w))
                return false;
        if (w->sink->sample && !w->sink->sample(w->sink->user, s))
            return false;
    }
    while (ends_by(w, ts_ns))
        if (!end_span(w))
            return false;
    return true;
}

static bool visit(struct walk *w, uint32_t index)
{
    const struct ntff_sink *sink = w->sink;
    const struct ntff_event *e = &w->t->events[index];
    if (!catch_up(w, e->ts_ns))
        return false;
    struct ntff_flow_list f = flows_of(w, index);
    if (e->flags & NTFF_EV_INSTANT)
        return !sink->instant || sink->instant(sink->user, index, e, &f);
    if (sink->begin && !sink->begin(sink->user, index, e, &f))
        return false;
    if (e->dur_ns == 0)
        return !sink->end || sink->end(sink->user, index, e);
    return open_span(w, (struct open_span){ntff_event_end(e), index});
}

static bool walk_all(struct walk *w)
{
    size_t n = w->t->n_events;
    for (size_t i = 0; i < n; i++) {
        if (!visit(w, (uint32_t)i))
            return false;
        if (i % PROGRESS_EVERY == 0 && w->sink->progress &&
            !w->sink->progress(w->sink->user, (int)(i * 1000 / n)))
            return false;
    }
    return catch_up(w, UINT64_MAX);
}

enum ntff_status ntff_walk(const struct ntff_trace *t, const struct ntff_sink *sink,
                           struct ntff_error *err)
{
    struct walk w = {.t = t, .sink = sink, .status = NTFF_CANCELLED};
    bool ok = prepare_flows(&w);
    if (!ok)
        w.status = NTFF_NOMEM;
    ok = ok && walk_all(&w);
    free(w.heap);
    free(w.out);
    free(w.in);
    if (ok)
        return NTFF_OK;
    return ntff_fail(err, w.status, NTFF_NO_OFFSET,
                     w.status == NTFF_NOMEM ? "no memory to order the events" : "stopped");
}
