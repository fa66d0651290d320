/* cores - which physical cores there are, whose a clock pair or an event is, and one clock for
 * each.
 *
 * With LNC=2 a logical core has two physical ones, whose clocks have unrelated origins; sync points
 * and collectives carry no physical core (FORMAT.md, "Clocks"). Because the origins differ, the
 * device time itself tells the core: a sync point follows the end of its core's run by tens of
 * microseconds, and a collective lies inside its core's run. Where that does not decide, the offset
 * host - device of a pair does: it is nearly constant on one core. */
#include "proto/place.h"

#include "proto/sort.h"
#include "proto/worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How far a sync point may lie behind the end of the run it belongs to. Drains of tens of ms were
 * seen on first runs [AWS:IMG]; origins of two cores that close together are not told apart by
 * this. */
#define SYNC_BEHIND_NS UINT64_C(100000000)

#define CMP(a, b)                                                                                  \
    do {                                                                                           \
        if ((a) != (b))                                                                            \
            return (a) < (b) ? -1 : 1;                                                             \
    } while (0)

int ntff_core_cmp(const void *pa, const void *pb)
{
    const struct ntff_core_key *x = pa, *y = pb;
    CMP(x->proc, y->proc);
    CMP(x->nc, y->nc);
    CMP(x->core, y->core);
    return 0;
}

static int run_cmp(const void *pa, const void *pb)
{
    const struct ntff_run *x = pa, *y = pb;
    CMP(x->at.proc, y->at.proc);
    CMP(x->at.nc, y->at.nc);
    CMP(x->exec_id, y->exec_id);
    CMP(x->at.core, y->at.core);
    CMP(x->start_ns, y->start_ns);
    return 0;
}

static int sync_cmp(const void *pa, const void *pb)
{
    const struct ntff_sync *x = pa, *y = pb;
    CMP(x->proc, y->proc);
    CMP(x->nc, y->nc);
    CMP(x->core, y->core);
    CMP(x->cpu_ns, y->cpu_ns);
    CMP(x->nc_ns, y->nc_ns);
    return 0;
}

/* Pairs by (process, logical core, physical core if asked for, host time); then by cmp. */
static bool sort_syncs(struct ntff_builder *b, bool by_core, int (*cmp)(const void *, const void *))
{
    const struct ntff_sync *s = b->syncs.v;
    size_t n = b->syncs.n;
    uint64_t proc = 0, nc = 0, core = 0, low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < n; i++) {
        proc = s[i].proc > proc ? s[i].proc : proc;
        nc = s[i].nc > nc ? s[i].nc : nc;
        core = s[i].core > core ? s[i].core : core;
        low = s[i].cpu_ns < low ? s[i].cpu_ns : low;
        high = s[i].cpu_ns > high ? s[i].cpu_ns : high;
    }
    unsigned bits[4] = {ntff_sort_bits(proc), ntff_sort_bits(nc),
                        by_core ? ntff_sort_bits(core) : 0,
                        high > low ? ntff_sort_bits(high - low) : 0};
    struct ntff_sort_item *keys = ntff_build_take(b, n, sizeof *keys);
    for (size_t i = 0; keys && i < n; i++) {
        struct ntff_sort_key k = {0};
        ntff_sort_key_add(&k, s[i].proc, bits[0]);
        ntff_sort_key_add(&k, s[i].nc, bits[1]);
        ntff_sort_key_add(&k, by_core ? s[i].core : 0, bits[2]);
        if (k.n_bits <= 64)
            ntff_sort_key_add(&k, s[i].cpu_ns - low, bits[3]);
        keys[i] = (struct ntff_sort_item){ntff_sort_key_done(&k), (uint32_t)i};
    }
    bool good = keys && ntff_sort_keyed(b, b->syncs.v, n, sizeof *b->syncs.v, keys, cmp);
    ntff_build_give(b, keys, n, sizeof *keys);
    return good;
}

/* -- which cores there are ----------------------------------------------------------------------
 */

enum { LATELY = 64 };

/* Adds a core, perhaps again: lately tells those added last, by a few bits of them. */
static bool add_core(struct ntff_placer *p, struct ntff_core_key add,
                     struct ntff_core_key lately[LATELY])
{
    struct ntff_core_key *had = &lately[(add.proc * 7 + add.nc * 4 + add.core) % LATELY];
    if (had->proc == add.proc && had->nc == add.nc && had->core == add.core)
        return true;
    *had = add;
    struct ntff_core_key *k = NTFF_VEC_PUSH(p->b->budget, &p->cores);
    if (!k)
        return ntff_builder_no_memory(p->b);
    *k = add;
    return true;
}

static bool sort_runs(struct ntff_placer *p)
{
    struct ntff_builder *b = p->b;
    const struct ntff_run *r = p->runs.v;
    size_t n = p->runs.n;
    struct ntff_core_key most = {0, 0, 0};
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < n; i++) {
        most.proc = r[i].at.proc > most.proc ? r[i].at.proc : most.proc;
        most.nc = r[i].at.nc > most.nc ? r[i].at.nc : most.nc;
        most.core = r[i].at.core > most.core ? r[i].at.core : most.core;
        low = r[i].exec_id < low ? r[i].exec_id : low;
        high = r[i].exec_id > high ? r[i].exec_id : high;
    }
    unsigned proc_bits = ntff_sort_bits(most.proc), nc_bits = ntff_sort_bits(most.nc),
             core_bits = ntff_sort_bits(most.core),
             exec_bits = high > low ? ntff_sort_bits(high - low) : 0;
    struct ntff_sort_item *keys = ntff_build_take(b, n, sizeof *keys);
    for (size_t i = 0; keys && i < n; i++) {
        struct ntff_sort_key k = {0};
        ntff_sort_key_add(&k, r[i].at.proc, proc_bits);
        ntff_sort_key_add(&k, r[i].at.nc, nc_bits);
        ntff_sort_key_add(&k, r[i].exec_id - low, exec_bits);
        if (k.n_bits <= 96)
            ntff_sort_key_add(&k, r[i].at.core, core_bits);
        keys[i] = (struct ntff_sort_item){ntff_sort_key_done(&k), (uint32_t)i};
    }
    bool good = keys && ntff_sort_keyed(b, p->runs.v, n, sizeof *p->runs.v, keys, run_cmp);
    ntff_build_give(b, keys, n, sizeof *keys);
    return good;
}

bool ntff_placer_cores(struct ntff_placer *p)
{
    struct ntff_builder *b = p->b;
    struct ntff_core_key lately[LATELY];
    memset(lately, 0xff, sizeof lately); /* no core */
    for (size_t i = 0; i < b->devs.n; i++) {
        const struct ntff_dev *d = &b->devs.v[i];
        if (d->core == NTFF_NONE)
            continue;
        if (!add_core(p, (struct ntff_core_key){d->proc, d->nc, d->core}, lately))
            return false;
        if (d->type != NTFF_ET_DEVICE_EXEC || !(d->has & NTFF_DEV_START))
            continue;
        struct ntff_run *r = NTFF_VEC_PUSH(b->budget, &p->runs);
        if (!r)
            return ntff_builder_no_memory(b);
        *r = (struct ntff_run){{d->proc, d->nc, d->core},
                               d->exec_id,
                               d->nc_start_ns,
                               d->has & NTFF_DEV_STOP ? d->nc_stop_ns : d->nc_start_ns};
    }
    ntff_sort(p->cores.v, p->cores.n, sizeof *p->cores.v, ntff_core_cmp);
    size_t n = 0;
    for (size_t i = 0; i < p->cores.n; i++)
        if (n == 0 || ntff_core_cmp(&p->cores.v[i], &p->cores.v[n - 1]) != 0)
            p->cores.v[n++] = p->cores.v[i];
    p->cores.n = n;
    return sort_runs(p);
}

/* Cores of (proc, nc): first one and how many. */
static const struct ntff_core_key *cores_of(struct ntff_placer *p, uint32_t proc, uint32_t nc,
                                            size_t *n)
{
    struct ntff_core_list *near_cores = &p->near_cores[(proc * 7 + nc) % NTFF_PLACER_NEAR];
    if (near_cores->v && near_cores->proc == proc && near_cores->nc == nc) {
        *n = near_cores->n;
        return near_cores->v;
    }
    size_t lo = 0, hi = p->cores.n;
    struct ntff_core_key want = {proc, nc, 0};
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (ntff_core_cmp(&p->cores.v[mid], &want) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    size_t end = lo;
    while (end < p->cores.n && p->cores.v[end].proc == proc && p->cores.v[end].nc == nc)
        end++;
    *n = end - lo;
    if (p->cores.n)
        *near_cores = (struct ntff_core_list){p->cores.v + lo, *n, proc, nc};
    return p->cores.v + lo;
}

static bool run_before(const struct ntff_run *r, uint32_t proc, uint32_t nc, uint64_t exec)
{
    if (r->at.proc != proc)
        return r->at.proc < proc;
    return r->at.nc != nc ? r->at.nc < nc : r->exec_id < exec;
}

/* Runs of one execution on (proc, nc): looked for in steps that double, from those found last. */
static const struct ntff_run *runs_of(struct ntff_placer *p, uint32_t proc, uint32_t nc,
                                      uint64_t exec, size_t *n)
{
    const struct ntff_run *r = p->runs.v;
    size_t *near_run = &p->near_run[(proc * 7 + nc) % NTFF_PLACER_NEAR], step = 1;
    size_t lo = *near_run, hi = lo;
    if (hi < p->runs.n && run_before(&r[hi], proc, nc, exec)) { /* behind r[lo], not behind r[hi] */
        for (; hi < p->runs.n && run_before(&r[hi], proc, nc, exec); step *= 2) {
            lo = hi + 1;
            hi = p->runs.n - hi > step ? hi + step : p->runs.n;
        }
    } else {
        for (; lo > 0 && !run_before(&r[lo - 1], proc, nc, exec); step *= 2) {
            hi = lo - 1;
            lo = hi > step ? hi - step : 0;
        }
    }
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (run_before(&r[mid], proc, nc, exec))
            lo = mid + 1;
        else
            hi = mid;
    }
    *near_run = lo;
    size_t end = lo;
    while (end < p->runs.n && p->runs.v[end].at.proc == proc && p->runs.v[end].at.nc == nc &&
           p->runs.v[end].exec_id == exec)
        end++;
    *n = end - lo;
    return p->runs.v + lo;
}

/* -- giving pairs and events to cores -----------------------------------------------------------
 */

/* Core whose run of this execution a device time fits: inside it, or behind it by at most slack.
 * NTFF_NONE if none or more than one does. */
static uint32_t core_by_run(struct ntff_placer *p, uint32_t proc, uint32_t nc, uint64_t exec,
                            uint64_t nc_ns, uint64_t slack_ns)
{
    size_t n;
    const struct ntff_run *r = runs_of(p, proc, nc, exec, &n);
    uint32_t found = NTFF_NONE;
    for (size_t i = 0; i < n; i++) {
        if (nc_ns < r[i].start_ns || (nc_ns > r[i].stop_ns && nc_ns - r[i].stop_ns > slack_ns))
            continue;
        if (found != NTFF_NONE && found != r[i].at.core)
            return NTFF_NONE;
        found = r[i].at.core;
    }
    return found;
}

/* Last offset (host - device, wrapping) seen per core of one logical core. */
struct offsets {
    uint32_t core[64];
    uint64_t offset[64];
    size_t n;
};

static void note_offset(struct offsets *o, uint32_t core, uint64_t offset)
{
    for (size_t i = 0; i < o->n; i++)
        if (o->core[i] == core) {
            o->offset[i] = offset;
            return;
        }
    if (o->n < NTFF_ARRAY_LEN(o->core)) {
        o->core[o->n] = core;
        o->offset[o->n++] = offset;
    }
}

static uint32_t core_by_offset(const struct offsets *o, uint64_t offset)
{
    uint32_t best = NTFF_NONE;
    uint64_t best_far = UINT64_MAX;
    for (size_t i = 0; i < o->n; i++) {
        int64_t d = (int64_t)(offset - o->offset[i]);
        uint64_t far = d < 0 ? 0 - (uint64_t)d : (uint64_t)d;
        if (far < best_far) {
            best_far = far;
            best = o->core[i];
        }
    }
    return best;
}

/* Pairs of one logical core, sorted by host time. The certain ones go first; the others follow the
 * offset their neighbours in time have, looking back and, for those before the first, ahead. */
static void attribute_syncs(struct ntff_placer *p, struct ntff_sync *s, size_t n)
{
    struct ntff_builder *b = p->b;
    size_t n_cores, guessed = 0;
    const struct ntff_core_key *cores = cores_of(p, s->proc, s->nc, &n_cores);
    for (size_t i = 0; i < n; i++) {
        if (s[i].core != NTFF_NONE)
            continue;
        if (s[i].dev != NTFF_NONE && b->devs.v[s[i].dev].core != NTFF_NONE)
            s[i].core = b->devs.v[s[i].dev].core;
        else if (n_cores == 1)
            s[i].core = cores[0].core;
        else if (n_cores > 1)
            s[i].core = core_by_run(p, s->proc, s->nc, s[i].exec_id, s[i].nc_ns, SYNC_BEHIND_NS);
    }
    for (int back = 0; n_cores > 1 && back < 2; back++) {
        struct offsets o = {.n = 0};
        for (size_t k = 0; k < n; k++) {
            size_t i = back ? n - 1 - k : k;
            uint64_t offset = s[i].cpu_ns - s[i].nc_ns;
            if (s[i].core == NTFF_NONE && (s[i].core = core_by_offset(&o, offset)) != NTFF_NONE)
                guessed++;
            if (s[i].core != NTFF_NONE)
                note_offset(&o, s[i].core, offset);
        }
    }
    if (guessed)
        ntff_diag_add(b->diag, NTFF_DIAG_CORE_ESTIMATED, guessed, NULL, NTFF_NO_OFFSET,
                      "sync points of NC%" PRIu32 " given to a core by their clock offset", s->nc);
}

/* Core of an event without one: by the run it lies in, else by the nearest pair in device time. */
uint32_t ntff_placer_core_of(struct ntff_placer *p, const struct ntff_dev *d, bool *guessed)
{
    size_t n;
    const struct ntff_core_key *cores = cores_of(p, d->proc, d->nc, &n);
    uint64_t nc_ns = d->has & NTFF_DEV_START ? d->nc_start_ns : d->nc_stop_ns;
    *guessed = false;
    if (n <= 1)
        return n ? cores[0].core : NTFF_NONE;
    if (!(d->has & (NTFF_DEV_START | NTFF_DEV_STOP)))
        return NTFF_NONE;
    uint32_t core =
        d->has & NTFF_DEV_EXEC ? core_by_run(p, d->proc, d->nc, d->exec_id, nc_ns, 0) : NTFF_NONE;
    if (core != NTFF_NONE)
        return core;
    uint64_t best = UINT64_MAX;
    *guessed = true;
    for (size_t i = 0; i < p->b->clocks.n; i++) {
        const struct ntff_core_clock *c = &p->b->clocks.v[i];
        const struct ntff_clock_quality *q = c->map ? ntff_clock_quality(c->map) : NULL;
        if (c->process != d->proc || c->nc != d->nc || c->core == NTFF_NONE || !q || !q->n_pairs)
            continue;
        uint64_t far = nc_ns < q->span_begin_nc_ns ? q->span_begin_nc_ns - nc_ns
                       : nc_ns > q->span_end_nc_ns ? nc_ns - q->span_end_nc_ns
                                                   : 0;
        if (far < best) {
            best = far;
            core = c->core;
        }
    }
    return core;
}

/* -- clocks -------------------------------------------------------------------------------------
 */

struct ntff_core_clock *ntff_builder_clock(struct ntff_builder *b, uint32_t proc, uint32_t nc,
                                           uint32_t core)
{
    size_t lo = 0, hi = b->clocks.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const struct ntff_core_clock *c = &b->clocks.v[mid];
        struct ntff_core_key have = {c->process, c->nc, c->core}, want = {proc, nc, core};
        int r = ntff_core_cmp(&have, &want);
        if (r == 0)
            return &b->clocks.v[mid];
        if (r < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

static bool residual_track(struct ntff_builder *b, const struct ntff_core_clock *c, uint32_t *track)
{
    struct ntff_track proto = {.kind = NTFF_TRACK_COUNTER,
                               .unit = NTFF_UNIT_NS,
                               .process = c->process,
                               .nc = c->nc,
                               .core = c->core,
                               .rank = 900};
    char name[64];
    uint32_t group = ntff_build_counters(b, c->process);
    if (group == NTFF_NONE)
        return false;
    proto.share_key = ntff_intern(&b->t->strs, "residual", 8);
    if (c->core == NTFF_NONE)
        snprintf(name, sizeof name, "Clock residual NC%" PRIu32, c->nc);
    else
        snprintf(name, sizeof name, "Clock residual NC%" PRIu32 ":%" PRIu32, c->nc, c->core);
    *track = ntff_build_track(b, group, name, &proto);
    return *track != NTFF_NONE;
}

/* A core's pairs, and the map made of them. */
struct core_pairs {
    const struct ntff_sync *s;
    const struct ntff_clock_pair *pairs;
    size_t n;
    struct ntff_clock_map *map; /* NULL: no memory */
};

struct fits {
    enum ntff_clock_mode mode;
    struct core_pairs *cores;
    size_t n, n_claimed;
    size_t in_slot[NTFF_AHEAD_MAX_SLOTS]; /* index into cores */
};

static bool claim_fit(void *user, unsigned slot)
{
    struct fits *f = user;
    f->in_slot[slot] = f->n_claimed;
    return f->n_claimed < f->n && ++f->n_claimed;
}

static void make_fit(void *user, unsigned slot)
{
    const struct fits *f = user;
    struct core_pairs *c = &f->cores[f->in_slot[slot]];
    if (ntff_clock_build(c->pairs, c->n, f->mode, &c->map, NULL) != NTFF_OK)
        c->map = NULL;
}

/* Takes a core's map over; its residuals become a counter. */
static bool take_clock(struct ntff_builder *b, struct core_pairs *k)
{
    struct ntff_core_clock *c = k->map ? NTFF_VEC_PUSH(b->budget, &b->clocks) : NULL;
    if (!c)
        return ntff_builder_no_memory(b);
    *c = (struct ntff_core_clock){
        .process = k->s->proc, .nc = k->s->nc, .core = k->s->core, .map = k->map};
    k->map = NULL;
    if (!ntff_budget_take(b->budget, ntff_clock_bytes(c->map)))
        return ntff_builder_no_memory(b);
    const struct ntff_clock_quality *q = ntff_clock_quality(c->map);
    if (q->n_resets)
        ntff_diag_add(b->diag, NTFF_DIAG_CLOCK_RESET, q->n_resets, NULL, NTFF_NO_OFFSET,
                      "core %" PRIu32 " of NC%" PRIu32, c->core, c->nc);
    uint32_t track;
    if (k->n < 2)
        return true;
    if (!residual_track(b, c, &track))
        return false;
    for (size_t i = 0; i < k->n; i++) {
        int64_t r;
        if (ntff_clock_residual(c->map, &k->pairs[i], &r) &&
            !ntff_build_sample(b, track, k->pairs[i].cpu_ns, r, 0))
            return false;
        b->t->counts.samples_in -= b->t->counts.samples_in > 0; /* derived, not read */
    }
    return true;
}

/* The cores of the sorted pairs; out may be NULL to count them. */
static size_t split_syncs(const struct ntff_builder *b, const struct ntff_clock_pair *pairs,
                          struct core_pairs *out)
{
    const struct ntff_sync *s = b->syncs.v;
    size_t n = 0, j;
    for (size_t i = 0; i < b->syncs.n; i = j) {
        for (j = i + 1; j < b->syncs.n && s[j].proc == s[i].proc && s[j].nc == s[i].nc &&
                        s[j].core == s[i].core;
             j++)
            ;
        if (out)
            out[n] = (struct core_pairs){.s = s + i, .pairs = pairs + i, .n = j - i};
        n++;
    }
    return n;
}

#define THREADS_FROM_PAIRS 2000

/* One map for each core that has pairs; cores are fitted by several threads. */
static bool fit_clocks(struct ntff_builder *b)
{
    size_t n = b->syncs.n;
    unsigned jobs = n < THREADS_FROM_PAIRS ? 1 : ntff_jobs(b->opt->jobs);
    struct ntff_clock_pair *pairs = ntff_build_take(b, n, sizeof *pairs);
    struct fits f = {.mode = b->opt->clock, .n = split_syncs(b, NULL, NULL)};
    f.cores = pairs ? ntff_build_take(b, f.n, sizeof *f.cores) : NULL;
    struct ntff_ahead_work work = {&f, claim_fit, make_fit, ntff_ahead_slots(jobs)};
    for (size_t i = 0; f.cores && i < n; i++) {
        const struct ntff_sync *s = &b->syncs.v[i];
        pairs[i] = (struct ntff_clock_pair){s->nc_ns, s->cpu_ns, s->exec_id};
    }
    if (f.cores)
        (void)split_syncs(b, pairs, f.cores);
    struct ntff_ahead *ahead = f.cores ? ntff_ahead_start(&work, jobs - 1) : NULL;
    bool good = ahead || ntff_builder_no_memory(b);
    for (int slot; good && (slot = ntff_ahead_take(ahead)) >= 0;)
        good = take_clock(b, &f.cores[f.in_slot[slot]]);
    ntff_ahead_stop(ahead);
    for (size_t i = 0; f.cores && i < f.n; i++)
        ntff_clock_done(f.cores[i].map);
    ntff_build_give(b, f.cores, f.n, sizeof *f.cores);
    ntff_build_give(b, pairs, n, sizeof *pairs);
    return good;
}

static int clock_cmp(const void *pa, const void *pb)
{
    const struct ntff_core_clock *x = pa, *y = pb;
    CMP(x->process, y->process);
    CMP(x->nc, y->nc);
    CMP(x->core, y->core);
    return 0;
}

static int sync_time_cmp(const void *pa, const void *pb)
{
    const struct ntff_sync *x = pa, *y = pb;
    CMP(x->proc, y->proc);
    CMP(x->nc, y->nc);
    CMP(x->cpu_ns, y->cpu_ns);
    CMP(x->nc_ns, y->nc_ns);
    return 0;
}

bool ntff_placer_clocks(struct ntff_placer *p)
{
    struct ntff_builder *b = p->b;
    struct ntff_sync *s = b->syncs.v;
    size_t n = b->syncs.n, j;
    if (!sort_syncs(b, false, sync_time_cmp))
        return false;
    for (size_t i = 0; i < n; i = j) {
        for (j = i + 1; j < n && s[j].proc == s[i].proc && s[j].nc == s[i].nc; j++)
            ;
        attribute_syncs(p, s + i, j - i);
    }
    if (!sort_syncs(b, true, sync_cmp))
        return false;
    if (!fit_clocks(b))
        return false;
    size_t with_pairs = b->clocks.n;
    for (size_t i = 0; i < p->cores.n; i++) { /* cores without a single pair have a clock too */
        const struct ntff_core_key *k = &p->cores.v[i];
        struct ntff_core_clock want = {.process = k->proc, .nc = k->nc, .core = k->core};
        if (with_pairs && bsearch(&want, b->clocks.v, with_pairs, sizeof want, clock_cmp))
            continue;
        struct ntff_core_clock *c = NTFF_VEC_PUSH(b->budget, &b->clocks);
        if (!c)
            return ntff_builder_no_memory(b);
        *c = want;
        if (ntff_clock_build(NULL, 0, b->opt->clock, &c->map, NULL) != NTFF_OK ||
            !ntff_budget_take(b->budget, ntff_clock_bytes(c->map)))
            return ntff_builder_no_memory(b);
    }
    ntff_sort(b->clocks.v, b->clocks.n, sizeof *b->clocks.v, clock_cmp);
    return true;
}
