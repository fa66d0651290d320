/* figures - one pass over the events in time order. Because they come in time order, unions of
 * overlapping spans need no interval trees: what a span adds to a union is the part of it behind
 * the latest end so far. Runs on several physical cores (LNC=2) are joined by their exec_id.
 *
 * The few kinds of event whose attributes count are only listed by the pass. Each kind is a part of
 * its own, which goes through its list in time order again; parts share nothing they change, so
 * they are done side by side. */
#include "conv/figures.h"

#include "conv/figures_priv.h"
#include "proto/event_types.h"
#include "proto/worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* -- small things ----------------------------------------------------------------------------- */

void conv_lengths_add(struct conv_lengths *l, uint64_t ns)
{
    l->min_ns = l->n == 0 || ns < l->min_ns ? ns : l->min_ns;
    l->max_ns = ns > l->max_ns ? ns : l->max_ns;
    l->sum_ns += ns;
    l->n++;
}

uint64_t conv_union_add(uint64_t *end_ns, uint64_t ts_ns, uint64_t stop_ns)
{
    uint64_t from = ts_ns > *end_ns ? ts_ns : *end_ns;
    if (stop_ns <= from)
        return 0;
    *end_ns = stop_ns;
    return stop_ns - from;
}

uint64_t conv_attr_u64(const struct ntff_detail *d, const char *key, uint64_t otherwise)
{
    const struct ntff_attr *a = ntff_detail_find(d, key);
    return a && a->kind == NTFF_V_UINT ? a->u : otherwise;
}

uint32_t conv_event_core(const struct ntff_trace *t, const struct ntff_event *e,
                         struct ntff_detail *d)
{
    uint32_t core = t->tracks[e->track].core;
    if (core != NTFF_NONE || !ntff_detail(t, e, d))
        return core;
    uint64_t v = conv_attr_u64(d, "device_core_idx", NTFF_NONE);
    return v < NTFF_NONE ? (uint32_t)v : NTFF_NONE;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

double conv_core_utilization(const struct conv_core *c)
{
    return share(c->busy_ns, c->end_ns - c->begin_ns);
}

double conv_core_rest_utilization(const struct conv_core *c)
{
    return c->rest.n ? share(c->rest_busy_ns, c->end_ns - c->rest_begin_ns) : 0;
}

double conv_bandwidth(const struct conv_transfer *t)
{
    return t->active_ns ? (double)t->bytes * 1e9 / (double)t->active_ns : 0;
}

const char *conv_direction_name(int direction)
{
    return direction == CONV_HOST_TO_DEVICE ? "host_to_device" : "device_to_host";
}

/* -- the pass --------------------------------------------------------------------------------- */

enum { TYPE_UNKNOWN = 0xfe, TYPE_NONE = 0xff, THREADS_FROM_EVENTS = 4096 };
enum { EXECUTIONS, COLLECTIVES, TRANSFERS }; /* .lists, and the parts made of them */

/* Type of a name, looked up once per name. */
static unsigned type_of(struct conv_pass *p, ntff_str name)
{
    if (p->types[name] == TYPE_UNKNOWN) {
        const char *text = ntff_str_of(p->f->t, name);
        uint32_t type = ntff_event_type_by_name(text, ntff_text_len(&p->f->t->strs, name));
        p->types[name] = type < NTFF_N_EVENT_TYPES ? (uint8_t)type : TYPE_NONE;
    }
    return p->types[name];
}

static enum conv_shape shape_of(const struct ntff_event *e)
{
    if (e->flags & NTFF_EV_PARTIAL)
        return CONV_PARTIAL;
    return e->flags & NTFF_EV_INSTANT && !(e->flags & NTFF_EV_NO_LANE) ? CONV_INSTANT : CONV_SPAN;
}

static bool count_name(struct conv_pass *p, const struct ntff_event *e, enum conv_shape shape)
{
    uint32_t at = p->name_at[e->name];
    if (at == NTFF_NONE) {
        struct conv_named *n = NTFF_VEC_PUSH(NULL, &p->f->names);
        if (!n)
            return false;
        *n = (struct conv_named){.name = e->name, .category = (uint8_t)e->cat};
        at = p->name_at[e->name] = (uint32_t)(p->f->names.n - 1);
    }
    struct conv_named *n = &p->f->names.v[at];
    if (shape == CONV_INSTANT)
        n->instants++;
    else if (shape == CONV_PARTIAL)
        n->n_partial++;
    else
        conv_lengths_add(&n->lengths, e->dur_ns);
    return true;
}

struct conv_core *conv_core_at(struct conv_pass *p, uint32_t track)
{
    return &p->f->cores.v[p->core_of_track[track]];
}

static int core_cmp(const void *pa, const void *pb)
{
    const struct conv_core *a = pa, *b = pb;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return a->nc < b->nc ? -1 : a->nc > b->nc;
}

/* One entry for each logical core that has a track for executions or collectives, in order. */
static bool list_cores(struct conv_pass *p)
{
    struct conv_figures *f = p->f;
    for (uint32_t i = 0; i < f->t->n_tracks; i++) {
        const struct ntff_track *t = &f->t->tracks[i];
        if (t->kind != NTFF_TRACK_EXEC && t->kind != NTFF_TRACK_CC)
            continue;
        struct conv_core *c = NTFF_VEC_PUSH(NULL, &f->cores);
        if (!c)
            return false;
        *c = (struct conv_core){.process = t->process, .nc = t->nc, .worker_gid = -1};
        if (t->process < f->t->n_processes)
            c->worker_gid = f->t->processes[t->process].worker_gid;
    }
    ntff_sort(f->cores.v, f->cores.n, sizeof *f->cores.v, core_cmp);
    size_t n = 0;
    for (size_t i = 0; i < f->cores.n; i++)
        if (n == 0 || core_cmp(&f->cores.v[n - 1], &f->cores.v[i]) != 0)
            f->cores.v[n++] = f->cores.v[i];
    f->cores.n = n;
    for (uint32_t i = 0; i < f->t->n_tracks; i++) {
        struct conv_core key = {.process = f->t->tracks[i].process, .nc = f->t->tracks[i].nc};
        struct conv_core *c = n ? bsearch(&key, f->cores.v, n, sizeof key, core_cmp) : NULL;
        p->core_of_track[i] = c ? (uint32_t)(c - f->cores.v) : NTFF_NONE;
    }
    p->cores = calloc(n + 1, sizeof *p->cores);
    for (size_t i = 0; p->cores && i < n; i++)
        p->cores[i].latest = p->cores[i].first_exec = NTFF_NONE;
    return p->cores != NULL;
}

/* The physical core of a track as a bit; cores of a logical core are numbered as they come. */
static uint32_t pcore_bit(struct conv_core *c, struct conv_core_pass *cp, uint32_t core)
{
    unsigned i = 0;
    while (i < c->n_pcores && i < 31 && cp->pcores[i] != core)
        i++;
    if (i == c->n_pcores && i < 31)
        cp->pcores[c->n_pcores++] = core;
    return UINT32_C(1) << i;
}

/* The execution a span belongs to: a recent one with its exec_id in which its physical core has no
 * span yet. Without ids: one that overlaps. NTFF_NONE: a new one. */
static uint32_t find_exec(struct conv_pass *p, const struct conv_core_pass *cp, uint64_t exec_id,
                          uint64_t ts_ns, uint32_t bit)
{
    for (unsigned k = 0; k < CONV_RECENT && k < cp->n_recent; k++) {
        uint32_t i = cp->recent[(cp->n_recent - 1 - k) % CONV_RECENT];
        const struct conv_exec *x = &p->f->execs.v[i];
        if (cp->mask[(cp->n_recent - 1 - k) % CONV_RECENT] & bit)
            continue;
        if (x->exec_id == exec_id && (exec_id != UINT64_MAX || ts_ns < x->end_ns))
            return i;
    }
    return NTFF_NONE;
}

static uint32_t new_exec(struct conv_pass *p, struct conv_core_pass *cp, uint32_t core,
                         uint32_t event, uint64_t exec_id)
{
    struct conv_exec *x = NTFF_VEC_PUSH(NULL, &p->f->execs);
    if (!x)
        return NTFF_NONE;
    *x = (struct conv_exec){.ts_ns = p->f->t->events[event].ts_ns,
                            .exec_id = exec_id,
                            .core = core,
                            .event = event,
                            .made = (uint32_t)(p->f->execs.n - 1)};
    uint32_t i = x->made;
    cp->recent[cp->n_recent % CONV_RECENT] = i;
    cp->mask[cp->n_recent % CONV_RECENT] = 0;
    cp->n_recent++;
    return i;
}

static bool add_gap(struct conv_pass *p, struct conv_core *c, struct conv_core_pass *cp,
                    uint64_t ts_ns, uint32_t after)
{
    struct conv_gap *g = NTFF_VEC_PUSH(NULL, &p->f->gaps);
    if (!g)
        return false;
    *g = (struct conv_gap){.ts_ns = cp->busy_end_ns,
                           .dur_ns = ts_ns - cp->busy_end_ns,
                           .core = (uint32_t)(c - p->f->cores.v),
                           .before = cp->latest,
                           .after = after};
    c->n_gaps++;
    c->gap_ns += g->dur_ns;
    c->max_gap_ns = g->dur_ns > c->max_gap_ns ? g->dur_ns : c->max_gap_ns;
    return true;
}

static bool take_exec(struct conv_pass *p, uint32_t index, struct ntff_detail *d)
{
    const struct ntff_event *e = &p->f->t->events[index];
    if (p->core_of_track[e->track] == NTFF_NONE)
        return true; /* a row of another kind has taken it */
    struct conv_core *c = conv_core_at(p, e->track);
    struct conv_core_pass *cp = &p->cores[c - p->f->cores.v];
    uint32_t bit = pcore_bit(c, cp, p->f->t->tracks[e->track].core);
    bool cut = conv_is_cut(e), whole = shape_of(e) == CONV_SPAN;
    c->n_spans++;
    c->n_partial += !whole;
    if (!whole && !cut)
        return true;
    static const struct ntff_slice keys[] = {CONV_KEY("exec_id")};
    if (!ntff_detail_pick(p->f->t, e, keys, NTFF_ARRAY_LEN(keys), d))
        return false;
    uint64_t exec_id = conv_attr_u64(d, "exec_id", UINT64_MAX);
    uint64_t end_ns = ntff_event_end(e);
    uint32_t i = find_exec(p, cp, exec_id, e->ts_ns, bit);
    if (i == NTFF_NONE &&
        (i = new_exec(p, cp, (uint32_t)(c - p->f->cores.v), index, exec_id)) == NTFF_NONE)
        return false;
    for (unsigned k = 0; k < CONV_RECENT && k < cp->n_recent; k++)
        if (cp->recent[k] == i)
            cp->mask[k] |= bit;
    struct conv_exec *x = &p->f->execs.v[i];
    x->n_spans++;
    x->end_ns = end_ns > x->end_ns ? end_ns : x->end_ns;
    x->cut |= cut;

    if (cp->first_exec == NTFF_NONE && !x->cut)
        cp->first_exec = i;
    if (cp->latest != NTFF_NONE && e->ts_ns > cp->busy_end_ns && !add_gap(p, c, cp, e->ts_ns, i))
        return false;
    if (cp->latest == NTFF_NONE || end_ns >= cp->busy_end_ns)
        cp->latest = i;
    c->busy_ns += conv_union_add(&cp->busy_end_ns, e->ts_ns, end_ns);
    if (cp->first_exec != NTFF_NONE && i > cp->first_exec)
        c->rest_busy_ns += conv_union_add(&cp->rest_end_ns, e->ts_ns, end_ns);
    return true;
}

static struct conv_wait *wait_of(struct conv_figures *f, uint32_t process)
{
    for (size_t i = 0; i < f->waits.n; i++)
        if (f->waits.v[i].process == process)
            return &f->waits.v[i];
    struct conv_wait *w = NTFF_VEC_PUSH(NULL, &f->waits);
    if (w)
        *w = (struct conv_wait){.process = process};
    return w;
}

/* nrt_execute and kbl_exec_wait of one row: a call and what it waits inside it. */
static bool take_call(struct conv_pass *p, const struct ntff_event *e, bool is_wait)
{
    struct conv_wait *w = wait_of(p->f, p->f->t->tracks[e->track].process);
    if (!w)
        return false;
    uint64_t end_ns = ntff_event_end(e), *call_end = &p->call_end_ns[e->track];
    if (!is_wait) {
        w->n_executes++;
        w->execute_ns += conv_union_add(call_end, e->ts_ns, end_ns);
        return true;
    }
    uint64_t inside =
        e->ts_ns < *call_end ? (end_ns < *call_end ? end_ns : *call_end) - e->ts_ns : 0;
    w->n_waits += inside > 0;
    w->wait_ns += inside;
    w->other_wait_ns += e->dur_ns - inside;
    return true;
}

static bool take_transfer(struct conv_pass *p, uint32_t index, struct ntff_detail *d)
{
    const struct ntff_event *e = &p->f->t->events[index];
    unsigned type = type_of(p, e->name);
    bool tensor = type == NTFF_ET_TENSOR_READ || type == NTFF_ET_TENSOR_WRITE;
    bool out = type == NTFF_ET_TENSOR_READ || type == NTFF_ET_DMEM_COPYOUT ||
               type == NTFF_ET_DMEM_COPYOUT + 2;
    struct conv_transfer *t = &p->transfers[tensor][out];
    if (shape_of(e) != CONV_SPAN) {
        t->n_partial++;
        return true;
    }
    static const struct ntff_slice keys[] = {CONV_KEY("size"), CONV_KEY("total_size")};
    if (!ntff_detail_pick(p->f->t, e, keys, NTFF_ARRAY_LEN(keys), d))
        return false;
    t->n++;
    t->bytes += conv_attr_u64(d, "size", conv_attr_u64(d, "total_size", 0));
    conv_lengths_add(&t->lengths, e->dur_ns);
    t->active_ns += conv_union_add(&p->transfer_end_ns[tensor][out], e->ts_ns, ntff_event_end(e));
    return true;
}

static bool list(struct conv_list *l, uint32_t index)
{
    uint32_t *x = NTFF_VEC_PUSH(NULL, l);
    if (x)
        *x = index;
    return x;
}

static bool take_event(struct conv_pass *p, uint32_t index)
{
    struct conv_figures *f = p->f;
    const struct ntff_event *e = &f->t->events[index];
    enum conv_shape shape = shape_of(e);
    f->instants += shape == CONV_INSTANT;
    f->spans += shape != CONV_INSTANT;
    if (!count_name(p, e, shape))
        return false;
    if (e->cat == NTFF_CAT_ERROR && !list(&f->errors, index))
        return false;
    if (e->cat == NTFF_CAT_INSTR || e->cat == NTFF_CAT_DMA || e->cat == NTFF_CAT_MARK)
        return conv_device_take(p, e, shape); /* from device profiles */
    switch (type_of(p, e->name)) {
    case NTFF_ET_DEVICE_EXEC:
        return list(&p->lists[EXECUTIONS], index);
    case NTFF_ET_CC_EXEC:
        return shape != CONV_SPAN || list(&p->lists[COLLECTIVES], index);
    case NTFF_ET_EXECUTE_API:
    case NTFF_ET_EXEC_WAIT:
        return (shape != CONV_SPAN && !conv_is_cut(e)) ||
               take_call(p, e, type_of(p, e->name) == NTFF_ET_EXEC_WAIT);
    case NTFF_ET_TENSOR_READ:
    case NTFF_ET_TENSOR_WRITE:
    case NTFF_ET_DMEM_COPYIN:
    case NTFF_ET_DMEM_COPYOUT:
    case NTFF_ET_DMEM_COPYIN + 2:
    case NTFF_ET_DMEM_COPYOUT + 2:
        return list(&p->lists[TRANSFERS], index);
    default:
        return true;
    }
}

/* -- after the pass --------------------------------------------------------------------------- */

static int name_cmp(const void *pa, const void *pb, void *user)
{
    const struct conv_named *a = pa, *b = pb;
    return strcmp(ntff_str_of(user, a->name), ntff_str_of(user, b->name));
}

/* dmem_buf_* are the transfers proper; where a trace lacks them, the tensor calls stand in. */
static void choose_transfers(struct conv_pass *p)
{
    for (int out = 0; out < CONV_DIRECTIONS; out++) {
        const struct conv_transfer *dmem = &p->transfers[0][out], *tensor = &p->transfers[1][out];
        bool stand_in = dmem->n + dmem->n_partial == 0;
        p->f->transfers[out] = stand_in ? *tensor : *dmem;
        p->f->transfers[out].from_tensors = stand_in && tensor->n > 0;
    }
}

/* -- host and device counters ----------------------------------------------------------------- */

static bool take_samples(struct conv_pass *p)
{
    struct conv_figures *f = p->f;
    const struct ntff_trace *t = f->t;
    uint32_t *at = calloc(t->n_tracks + 1, sizeof *at); /* index + 1 into .memory */
    double cpu_sum[2] = {0}, cpu_max[2] = {0};
    uint64_t n_cpu[2] = {0};
    bool good = at != NULL;
    for (size_t i = 0; good && i < t->n_samples; i++) {
        const struct ntff_sample *s = &t->samples[i];
        const struct ntff_track *tr = &t->tracks[s->track];
        const char *name = ntff_str_of(t, tr->name);
        if (tr->unit == NTFF_UNIT_PERCENT && strncmp(name, "CPU ", 4) == 0) {
            bool average = strcmp(name, "CPU average") == 0;
            cpu_sum[average] += s->value.d;
            cpu_max[average] = s->value.d > cpu_max[average] ? s->value.d : cpu_max[average];
            n_cpu[average]++;
        } else if (tr->unit == NTFF_UNIT_BYTES && strcmp(name, "Host memory") == 0) {
            uint64_t v = s->value.i > 0 ? (uint64_t)s->value.i : 0;
            f->host.n_memory++;
            f->host.memory_last_bytes = v;
            f->host.memory_max_bytes = v > f->host.memory_max_bytes ? v : f->host.memory_max_bytes;
        } else if (tr->unit == NTFF_UNIT_BYTES && strncmp(name, "HBM", 3) == 0) {
            uint64_t v = s->value.i > 0 ? (uint64_t)s->value.i : 0;
            struct conv_memory *m = NULL;
            if (at[s->track]) {
                m = &f->memory.v[at[s->track] - 1];
            } else if ((m = NTFF_VEC_PUSH(NULL, &f->memory)) != NULL) {
                *m = (struct conv_memory){.track = s->track, .peak_ts_ns = s->ts_ns};
                at[s->track] = (uint32_t)f->memory.n;
            }
            if (!(good = m != NULL))
                break;
            m->last_bytes = v;
            if (v > m->peak_bytes)
                m->peak_bytes = v, m->peak_ts_ns = s->ts_ns;
        }
    }
    int use = n_cpu[1] > 0;
    f->host.n_cpu = n_cpu[use];
    f->host.cpu_mean_percent = n_cpu[use] ? cpu_sum[use] / (double)n_cpu[use] : 0;
    f->host.cpu_max_percent = cpu_max[use];
    free(at);
    return good;
}

static int memory_cmp(const void *pa, const void *pb, void *user)
{
    const struct ntff_trace *t = user;
    const struct conv_memory *a = pa, *b = pb;
    const struct ntff_track *x = &t->tracks[a->track], *y = &t->tracks[b->track];
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return a->track < b->track ? -1 : a->track > b->track;
}

/* -- flows by their end ----------------------------------------------------------------------- */

static uint64_t flow_end(const void *x)
{
    return ((const struct ntff_flow *)x)->to;
}

static bool sort_flows(struct conv_figures *f)
{
    static const conv_key by_end[] = {flow_end};
    if (f->execs.n == 0 || f->t->n_flows == 0)
        return true;
    f->flows_by_end = conv_order(f->t->flows, f->t->n_flows, sizeof *f->t->flows, by_end, 1);
    return f->flows_by_end != NULL;
}

/* Where the flows that end at an event begin in .flows_by_end. */
static size_t first_flow_to(const struct conv_figures *f, uint32_t event)
{
    size_t lo = 0, hi = f->flows_by_end ? f->t->n_flows : 0;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (f->t->flows[f->flows_by_end[mid]].to < event)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* -- all of it -------------------------------------------------------------------------------- */

/* The events of a list, the details of each brought near before they are asked for. */
static bool take_list(struct conv_pass *p, const struct conv_list *l,
                      bool (*take)(struct conv_pass *, uint32_t, struct ntff_detail *))
{
    struct ntff_detail d = {.n = 0};
    bool good = true;
    for (size_t i = 0; good && i < l->n; i++) {
        if (i + NTFF_DETAIL_AHEAD < l->n)
            ntff_detail_prefetch(p->f->t, l->v[i + NTFF_DETAIL_AHEAD]);
        good = take(p, l->v[i], &d);
    }
    ntff_detail_done(&d);
    return good;
}

struct parts {
    struct conv_pass *p;
    unsigned n_claimed;
    bool good[CONV_PARTS];
};

static bool claim_part(void *user, unsigned slot)
{
    (void)slot; /* as many as parts: it is the number of the part */
    return ((struct parts *)user)->n_claimed++ < CONV_PARTS;
}

static void make_part(void *user, unsigned part)
{
    struct parts *x = user;
    struct conv_pass *p = x->p;
    const struct conv_list *l = &p->lists[part];
    if (part == EXECUTIONS)
        x->good[part] = take_list(p, l, take_exec) && conv_exec_finish(p) && sort_flows(p->f);
    else if (part == COLLECTIVES)
        x->good[part] = take_list(p, l, conv_cc_take) && conv_cc_finish(p);
    else if ((x->good[part] = take_list(p, l, take_transfer) && take_samples(p)))
        choose_transfers(p);
}

static bool make_parts(struct conv_pass *p, unsigned jobs)
{
    struct parts x = {.p = p};
    struct ntff_ahead_work work = {&x, claim_part, make_part, CONV_PARTS};
    /* a rewriter of texts keeps what it has seen */
    bool alone = p->f->t->rewrite || p->f->t->n_events < THREADS_FROM_EVENTS;
    struct ntff_ahead *a = ntff_ahead_start(&work, alone ? 0 : ntff_jobs(jobs) - 1);
    while (a && ntff_ahead_take(a) >= 0)
        ;
    ntff_ahead_stop(a);
    return a && x.good[EXECUTIONS] && x.good[COLLECTIVES] && x.good[TRANSFERS];
}

static bool finish(struct conv_pass *p)
{
    struct conv_figures *f = p->f;
    if (!conv_device_finish(p))
        return false;
    if (f->names.n)
        qsort_r(f->names.v, f->names.n, sizeof *f->names.v, name_cmp, (void *)f->t);
    if (f->memory.n)
        qsort_r(f->memory.v, f->memory.n, sizeof *f->memory.v, memory_cmp, (void *)f->t);
    return true;
}

bool conv_figures_make(struct conv_figures *f, const struct ntff_trace *t, unsigned jobs)
{
    struct conv_pass p = {.f = f};
    size_t n_names = t->strs.items.n, n_tracks = t->n_tracks;
    *f = (struct conv_figures){.t = t};
    p.types = malloc(n_names + 1);
    p.name_at = malloc((n_names + 1) * sizeof *p.name_at);
    p.core_of_track = malloc((n_tracks + 1) * sizeof *p.core_of_track);
    p.call_end_ns = calloc(n_tracks + 1, sizeof *p.call_end_ns);
    bool good = p.types && p.name_at && p.core_of_track && p.call_end_ns;
    if (good) {
        memset(p.types, TYPE_UNKNOWN, n_names);
        memset(p.name_at, 0xff, n_names * sizeof *p.name_at);
        good = list_cores(&p);
    }
    for (uint32_t i = 0; good && i < t->n_events; i++)
        good = take_event(&p, i);
    good = good && make_parts(&p, jobs) && finish(&p);
    for (size_t i = 0; i < CONV_PARTS; i++)
        NTFF_VEC_FREE(NULL, &p.lists[i]);
    free(p.types);
    free(p.name_at);
    free(p.core_of_track);
    free(p.call_end_ns);
    free(p.cores);
    conv_cc_done(&p);
    conv_device_done(&p);
    ntff_detail_done(&p.detail);
    return good;
}

void conv_figures_done(struct conv_figures *f)
{
    NTFF_VEC_FREE(NULL, &f->cores);
    NTFF_VEC_FREE(NULL, &f->execs);
    NTFF_VEC_FREE(NULL, &f->gaps);
    NTFF_VEC_FREE(NULL, &f->waits);
    NTFF_VEC_FREE(NULL, &f->collectives);
    NTFF_VEC_FREE(NULL, &f->memory);
    NTFF_VEC_FREE(NULL, &f->names);
    NTFF_VEC_FREE(NULL, &f->errors);
    NTFF_VEC_FREE(NULL, &f->devices);
    NTFF_VEC_FREE(NULL, &f->engines);
    free(f->longest);
    free(f->flows_by_end);
    f->longest = f->flows_by_end = NULL;
}

/* -- names of models -------------------------------------------------------------------------- */

static const char *model_in(const struct ntff_detail *d, char out[64])
{
    const struct ntff_attr *a = ntff_detail_find(d, "model_name");
    if (a && a->kind == NTFF_V_TEXT && a->text.len) {
        /* the file name says more than the directories before it */
        const char *p = a->text.p, *end = p + a->text.len;
        for (const char *q = p; q + 1 < end; q++)
            if (*q == '/')
                p = q + 1;
        snprintf(out, 64, "%.*s", (int)(end - p), p);
        return out;
    }
    a = ntff_detail_find(d, "model_id");
    if (!a || a->kind != NTFF_V_UINT)
        return NULL;
    snprintf(out, 64, "model %" PRIu64, a->u);
    return out;
}

const char *conv_exec_model(const struct conv_figures *f, const struct conv_exec *e,
                            struct ntff_detail *d, char out[64])
{
    const struct ntff_trace *t = f->t;
    const char *name = ntff_detail(t, &t->events[e->event], d) ? model_in(d, out) : NULL;
    for (size_t i = first_flow_to(f, e->event); !name && f->flows_by_end && i < t->n_flows; i++) {
        const struct ntff_flow *flow = &t->flows[f->flows_by_end[i]];
        if (flow->to != e->event)
            break;
        if (ntff_detail(t, &t->events[flow->from], d))
            name = model_in(d, out);
    }
    return name ? name : "";
}
