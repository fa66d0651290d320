/* flows - arrows from the host call to the device execution it caused.
 *
 * Within one process and core, by exec_id: kbl_exec_wait -> nc_exec_running; without a wait from
 * kbl_exec_pre; by nrta_seq_id: the submitting call -> kbl_exec_wait, and on to the device where no
 * exec_id led there [perfetto-contract, observed section 6]. On the way the two clocks are checked
 * against each other: a device cannot start before its submit nor end after the wait for it. */
#include "proto/builder.h"

#include "proto/sort.h"

#include <stdlib.h>

/* Events are asked for so many steps before they are needed: links jump about among them. */
#define AHEAD 16

static int link_cmp(const void *pa, const void *pb)
{
    const struct ntff_link *x = pa, *y = pb;
#define CMP(f)                                                                                     \
    do {                                                                                           \
        if (x->f != y->f)                                                                          \
            return x->f < y->f ? -1 : 1;                                                           \
    } while (0)
    CMP(is_seq);
    CMP(proc);
    CMP(nc);
    CMP(id);
    CMP(role);
    CMP(event); /* event order is time order */
    return 0;
#undef CMP
}

static bool add_flow(struct ntff_builder *b, uint32_t from, uint32_t to)
{
    struct ntff_event *e = &b->events.v[from], *f = &b->events.v[to];
    struct ntff_flow *x = NTFF_VEC_PUSH(b->budget, &b->flows);
    if (!x)
        return ntff_builder_no_memory(b);
    *x = (struct ntff_flow){.from = from, .to = to, .reversed = f->ts_ns < e->ts_ns};
    return true;
}

/* Of the events v[0..n), ascending, the last that begins no later than at, else the first. */
static const struct ntff_link *latest(const struct ntff_link *v, size_t n, uint32_t at)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (v[mid].event <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return n == 0 ? NULL : lo ? &v[lo - 1] : &v[0];
}

/* Device and host disagree: the device began before its submit, or ended after the wait for it. */
static void check_order(struct ntff_builder *b, const struct ntff_link *host, bool is_wait,
                        const struct ntff_event *dev)
{
    const struct ntff_event *h = &b->events.v[host->event];
    bool early = !is_wait && dev->ts_ns < h->ts_ns;
    bool late = is_wait && !(h->flags & NTFF_EV_UNFINISHED) && !(dev->flags & NTFF_EV_UNFINISHED) &&
                ntff_event_end(dev) > ntff_event_end(h);
    if (!(early || late) || dev->flags & (NTFF_EV_UNALIGNED | NTFF_EV_START_LOST))
        return;
    const struct ntff_track *t = &b->tracks.v[dev->track];
    struct ntff_core_clock *c = ntff_builder_clock(b, t->process, t->nc, t->core);
    if (!c)
        return;
    c->n_before_submit += early;
    c->n_after_wait += late;
    ntff_diag_add(b->diag, NTFF_DIAG_ORDER_VIOLATION, 1, NULL, NTFF_NO_OFFSET,
                  "NC%u core %u: %s by %llu ns", t->nc, t->core,
                  early ? "starts before its submit" : "ends after its wait",
                  (unsigned long long)(early ? h->ts_ns - dev->ts_ns
                                             : ntff_event_end(dev) - ntff_event_end(h)));
}

/* One (process, core, execution) or (process, core, sequence number). */
static bool link_group(struct ntff_builder *b, const struct ntff_link *v, size_t n)
{
    const struct ntff_link *role[4] = {0};
    size_t count[4] = {0};
    for (size_t i = 0; i < n; i++)
        if (count[v[i].role]++ == 0)
            role[v[i].role] = &v[i];
    const struct ntff_link *runs = role[NTFF_ROLE_DEVICE], *waits = role[NTFF_ROLE_WAIT];
    for (size_t i = 0; runs && i < count[NTFF_ROLE_DEVICE]; i++) {
        uint32_t dev = runs[i].event;
        const struct ntff_event *e = &b->events.v[dev];
        const struct ntff_link *from = NULL;
        static const int order[] = {NTFF_ROLE_WAIT, NTFF_ROLE_PRE, NTFF_ROLE_SUBMIT};
        for (size_t k = 0; k < NTFF_ARRAY_LEN(order); k++) {
            const struct ntff_link *l =
                count[order[k]] ? latest(role[order[k]], count[order[k]], dev) : NULL;
            if (l && order[k] != NTFF_ROLE_SUBMIT)
                check_order(b, l, order[k] == NTFF_ROLE_WAIT, e);
            from = from ? from : l;
        }
        /* a sequence number only steps in where the execution id gave no edge */
        if (from && !(v->is_seq && e->flags & NTFF_EV_FLOW_IN)) {
            if (!add_flow(b, from->event, dev))
                return false;
            b->events.v[dev].flags |= NTFF_EV_FLOW_IN;
        }
    }
    const struct ntff_link *submit = role[NTFF_ROLE_SUBMIT];
    for (size_t i = 0; v->is_seq && submit && waits && i < count[NTFF_ROLE_WAIT]; i++)
        if (!add_flow(b, submit->event, waits[i].event))
            return false;
    return true;
}

static int flow_cmp(const void *pa, const void *pb)
{
    const struct ntff_flow *x = pa, *y = pb;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to != y->to ? x->to < y->to ? -1 : 1 : 0;
}

/* By link_cmp; sorted by a key of all but the event first. */
static bool sort_links(struct ntff_builder *b)
{
    const struct ntff_link *v = b->links.v;
    size_t n = b->links.n;
    uint64_t low[2] = {UINT64_MAX, UINT64_MAX}, high[2] = {0, 0}, proc = 0, nc = 0;
    for (size_t i = 0; i < n; i++) {
        low[v[i].is_seq] = v[i].id < low[v[i].is_seq] ? v[i].id : low[v[i].is_seq];
        high[v[i].is_seq] = v[i].id > high[v[i].is_seq] ? v[i].id : high[v[i].is_seq];
        proc = v[i].proc > proc ? v[i].proc : proc;
        nc = v[i].nc > nc ? v[i].nc : nc;
    }
    unsigned proc_bits = ntff_sort_bits(proc), nc_bits = ntff_sort_bits(nc), id_bits = 0;
    for (int seq = 0; seq < 2; seq++)
        if (high[seq] > low[seq] && ntff_sort_bits(high[seq] - low[seq]) > id_bits)
            id_bits = ntff_sort_bits(high[seq] - low[seq]);
    struct ntff_sort_item *keys = ntff_build_take(b, n, sizeof *keys);
    for (size_t i = 0; keys && i < n; i++) {
        struct ntff_sort_key k = {v[i].is_seq, 1};
        ntff_sort_key_add(&k, v[i].proc, proc_bits);
        ntff_sort_key_add(&k, v[i].nc, nc_bits);
        if (proc_bits + nc_bits < 60) { /* hostile numbers: these two order well enough */
            ntff_sort_key_add(&k, v[i].id - low[v[i].is_seq], id_bits);
            ntff_sort_key_add(&k, v[i].role, 2);
        }
        keys[i] = (struct ntff_sort_item){ntff_sort_key_done(&k), (uint32_t)i};
    }
    bool good = keys && ntff_sort_keyed(b, b->links.v, n, sizeof *b->links.v, keys, link_cmp);
    ntff_build_give(b, keys, n, sizeof *keys);
    return good;
}

/* By flow_cmp; few share a beginning. */
static bool sort_flows(struct ntff_builder *b)
{
    size_t n = b->flows.n;
    struct ntff_sort_item *keys = ntff_build_take(b, n, sizeof *keys);
    for (size_t i = 0; keys && i < n; i++)
        keys[i] = (struct ntff_sort_item){b->flows.v[i].from, (uint32_t)i};
    bool good = keys && ntff_sort_keyed(b, b->flows.v, n, sizeof *b->flows.v, keys, flow_cmp);
    ntff_build_give(b, keys, n, sizeof *keys);
    return good;
}

bool ntff_build_flows(struct ntff_builder *b, const uint32_t *map)
{
    size_t n = 0;
    for (size_t i = 0; map && i < b->links.n; i++) {
        struct ntff_link l = b->links.v[i];
        l.event = map[l.event];
        if (l.event != NTFF_NONE)
            b->links.v[n++] = l;
    }
    if (map)
        b->links.n = n;
    if (!sort_links(b))
        return false;
    n = b->links.n;
    for (size_t i = 0, j; i < n; i = j) {
        const struct ntff_link *v = b->links.v;
        if (i + AHEAD < n)
            __builtin_prefetch(&b->events.v[v[i + AHEAD].event]);
        for (j = i + 1; j < n && v[j].is_seq == v[i].is_seq && v[j].proc == v[i].proc &&
                        v[j].nc == v[i].nc && v[j].id == v[i].id;
             j++)
            ;
        if (!link_group(b, v + i, j - i))
            return false;
    }
    if (b->opt->no_flows) {
        for (size_t i = 0; i < b->flows.n; i++)
            ntff_event_clear(&b->events.v[b->flows.v[i].to], NTFF_EV_FLOW_IN);
        b->flows.n = 0;
    }
    if (!sort_flows(b))
        return false;
    for (size_t i = 0; i < b->flows.n; i++) {
        struct ntff_flow *f = &b->flows.v[i];
        if (i + AHEAD < b->flows.n)
            __builtin_prefetch(&b->events.v[b->flows.v[i + AHEAD].to], 1);
        f->id = (uint32_t)i + 1;
        b->events.v[f->from].flags |= NTFF_EV_FLOW_OUT;
        b->events.v[f->to].flags |= NTFF_EV_FLOW_IN;
        if (f->reversed)
            ntff_diag_add(
                b->diag, NTFF_DIAG_FLOW_REVERSED, 1, NULL, NTFF_NO_OFFSET, "by %llu ns",
                (unsigned long long)(b->events.v[f->from].ts_ns - b->events.v[f->to].ts_ns));
    }
    return true;
}
