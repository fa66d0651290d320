/* device - one core's tracks, and every record that is not an instruction's start or end.
 *
 * Records are classified one by one by their own type code; what trace_info says about a blob only
 * decides where nothing in the record does: which DMA engine or CC-core it came from, and whether
 * an EXPLICIT record is a collective's status. */
#include "proto/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* Order below a core, after its executions and before its host-side events (perfetto layout). */
enum {
    RANK_STATUS = 2000,
    RANK_ENGINE = 2010,
    RANK_DMA = 3000,
    RANK_CC = 4100,
    RANK_SEM = 5000,
    RANK_EVENTS = 5900
};
static const int8_t engine_rank[NTFF_N_ENGINES] = {0, 2, 3, 1, 4}; /* PE, DVE, ACT, POOL, SP */

const struct ntff_tick *ntff_blob_tick(const struct ntff_blob_ref *r, unsigned type)
{
    const struct ntff_clocks *c = r->clocks;
    if (r->block_type == NTFF_BLOCK_TOPSP)
        return r->engine_index < c->n_topsp ? &c->topsp[r->engine_index] : &c->other;
    if (ntff_notif_has_engine(type))
        return &c->engine[ntff_notif_engine(type)];
    if (ntff_notif_kinds[type] == NTFF_NK_DMA && r->engine_index < c->n_dma)
        return &c->dma[r->engine_index];
    return &c->other;
}

const struct ntff_queue *ntff_blob_queue(const struct ntff_blob_ref *r, uint32_t queue_index)
{
    for (uint32_t i = 0; i < r->n_queues; i++)
        if (r->queues[i].engine_index == r->engine_index && r->queues[i].queue_index == queue_index)
            return &r->queues[i];
    return NULL;
}

/* -- set-up
 * ----------------------------------------------------------------------------------------- */

/* A list of exclusions only wants all others. */
bool ntff_device_listed(const char *list, const char *code, const char *name)
{
    bool hit = false, out = false, only_out = true;
    for (const char *p = list; p && *p;) {
        size_t n = strcspn(p, ",");
        const char *item = p;
        p += n + (p[n] == ',');
        while (n && *item == ' ')
            item++, n--;
        while (n && item[n - 1] == ' ')
            n--;
        bool except = n && *item == '^';
        item += except;
        n -= except;
        if (n == 0)
            continue;
        only_out &= except;
        if ((strlen(code) == n && strncasecmp(item, code, n) == 0) ||
            (strlen(name) == n && strncasecmp(item, name, n) == 0))
            *(except ? &out : &hit) = true;
    }
    return !out && (hit || only_out);
}

static struct ntff_stream *new_stream(struct ntff_device *d, const char *code, const char *name)
{
    if (!ntff_budget_take(&ntff_build_trace(d->b)->budget, sizeof(struct ntff_stream)))
        return NULL;
    struct ntff_stream *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    snprintf(s->label, sizeof s->label, "%s", name);
    s->track = NTFF_NONE;
    for (size_t i = 0; i < NTFF_ARRAY_LEN(s->page); i++)
        s->page[i] = d->no_page;
    s->first_ns = UINT64_MAX;
    s->on = ntff_device_listed(d->opt->filter_engine, code, name);
    return s;
}

enum ntff_status ntff_device_init(struct ntff_device *d)
{
    d->sem_group = d->dma_group = d->cc_group = NTFF_NONE;
    d->events_track = d->status_track = d->cc_status_track = NTFF_NONE;
    memset(d->sem_track, 0xff, sizeof d->sem_track);
    d->first_ns = UINT64_MAX;
    if (!(d->no_page = malloc(NTFF_PC_PAGE * sizeof *d->no_page)))
        return NTFF_NOMEM;
    for (unsigned i = 0; i < NTFF_PC_PAGE; i++)
        d->no_page[i] = (struct ntff_pc){NTFF_STR_NONE, NTFF_NONE, NTFF_NONE, 0};
    for (unsigned e = 0; e < NTFF_N_ENGINES; e++)
        if (!(d->engine[e] = new_stream(d, ntff_engine_code(e), ntff_engine_name(e))))
            return NTFF_NOMEM;
    return NTFF_OK;
}

static void free_stream(struct ntff_device *d, struct ntff_stream *s)
{
    struct ntff_budget *budget = &ntff_build_trace(d->b)->budget;
    if (!s)
        return;
    for (size_t i = 0; i < NTFF_ARRAY_LEN(s->page); i++) {
        if (s->page[i] == d->no_page)
            continue;
        ntff_budget_give(budget, NTFF_PC_PAGE * sizeof *s->page[i]);
        free(s->page[i]);
    }
    ntff_budget_give(budget, sizeof *s);
    free(s);
}

void ntff_device_done(struct ntff_device *d)
{
    struct ntff_budget *budget = &ntff_build_trace(d->b)->budget;
    for (size_t i = 0; i < NTFF_ARRAY_LEN(d->engine); i++)
        free_stream(d, d->engine[i]);
    for (size_t i = 0; i < NTFF_ARRAY_LEN(d->cc_core); i++)
        free_stream(d, d->cc_core[i]);
    free(d->no_page);
    if (d->cells.cell)
        ntff_budget_give(budget, (NTFF_CELLS + 2) * sizeof *d->cells.cell);
    free(d->cells.cell);
    NTFF_VEC_FREE(budget, &d->execs);
    ntff_device_cut_done(d);
    for (size_t i = 0; i < d->dma.n; i++)
        free(d->dma.v[i]);
    NTFF_VEC_FREE(budget, &d->dma);
}

/* -- tracks
 * ----------------------------------------------------------------------------------------- */

static struct ntff_track track_like(const struct ntff_device *d, int kind, int32_t rank)
{
    return (struct ntff_track){
        .kind = (uint8_t)kind, .rank = rank, .process = d->proc, .nc = d->nc, .core = d->core};
}

static uint32_t group(struct ntff_device *d, uint32_t *cache, const char *name, int32_t rank)
{
    struct ntff_track proto = track_like(d, NTFF_TRACK_GROUP, rank);
    if (*cache == NTFF_NONE)
        *cache = ntff_build_track(d->b, d->parent, name, &proto);
    return *cache;
}

uint32_t ntff_device_events(struct ntff_device *d)
{
    struct ntff_track proto = track_like(d, NTFF_TRACK_EVENTS, RANK_EVENTS);
    if (d->events_track == NTFF_NONE)
        d->events_track = ntff_build_track(d->b, d->parent, "Device events", &proto);
    return d->events_track;
}

/* CC-core of a TopSP blob; engines of an NC by their code. NULL: no memory. */
struct ntff_stream *ntff_device_stream(struct ntff_device *d, const struct ntff_blob_ref *r,
                                       unsigned type)
{
    if (r->block_type != NTFF_BLOCK_TOPSP)
        return d->engine[ntff_notif_engine(type)];
    struct ntff_stream **s = &d->cc_core[r->engine_index % NTFF_N_CC_CORES];
    char name[24];
    if (r->engine_index == UINT32_MAX)
        snprintf(name, sizeof name, "CC-core ?");
    else
        snprintf(name, sizeof name, "CC-core %" PRIu32, r->engine_index);
    if (!*s)
        *s = new_stream(d, "CC-core", name);
    return *s;
}

bool ntff_device_stream_track(struct ntff_device *d, struct ntff_stream *s)
{
    if (s->track != NTFF_NONE)
        return true;
    struct ntff_track proto = track_like(d, NTFF_TRACK_ENGINE, RANK_ENGINE);
    proto.flat = true;
    for (unsigned e = 0; e < NTFF_N_ENGINES; e++) {
        if (s != d->engine[e])
            continue;
        proto.rank += engine_rank[e];
        s->track = ntff_build_track(d->b, d->parent, ntff_engine_track(e), &proto);
        return s->track != NTFF_NONE;
    }
    uint32_t parent = group(d, &d->cc_group, "CC-cores", RANK_CC);
    proto.kind = NTFF_TRACK_CC;
    proto.rank = atoi(s->label + strlen("CC-core "));
    if (parent != NTFF_NONE)
        s->track = ntff_build_track(d->b, parent, s->label, &proto);
    return s->track != NTFF_NONE;
}

/* Executions and collectives by their markers: one row each for all engines, lanes where they
 * overlap. */
static uint32_t status_track(struct ntff_device *d, bool cc)
{
    struct ntff_track proto =
        track_like(d, cc ? NTFF_TRACK_CC : NTFF_TRACK_EVENTS, RANK_STATUS + cc);
    uint32_t *cache = cc ? &d->cc_status_track : &d->status_track;
    proto.flat = true;
    if (*cache == NTFF_NONE)
        *cache = ntff_build_track(d->b, d->parent, cc ? "CC by engine" : "Runs by engine", &proto);
    return *cache;
}

static uint32_t sem_track(struct ntff_device *d, bool is_sem, unsigned id)
{
    uint32_t *cache = &d->sem_track[is_sem][id];
    struct ntff_track proto =
        track_like(d, NTFF_TRACK_SEMAPHORE, (int32_t)(id + (is_sem ? 0 : 256)));
    char name[16];
    if (*cache != NTFF_NONE)
        return *cache;
    uint32_t parent = group(d, &d->sem_group, "Semaphores", RANK_SEM);
    proto.unit = NTFF_UNIT_COUNT;
    snprintf(name, sizeof name, "%c[%u]", is_sem ? 'S' : 'E', id);
    if (parent != NTFF_NONE)
        *cache = ntff_build_track(d->b, parent, name, &proto);
    return *cache;
}

/* -- events
 * ----------------------------------------------------------------------------------------- */

bool ntff_device_add(struct ntff_device *d, const struct ntff_event *e)
{
    return ntff_build_event(d->b, d->proc, d->nc, d->core, e);
}

bool ntff_device_instant(struct ntff_device *d, uint32_t track, int category, const char *name,
                         uint64_t ns, struct ntff_ref ref)
{
    ntff_str id = ntff_intern(&ntff_build_trace(d->b)->strs, name, strlen(name));
    struct ntff_event e = {.ts_ns = ns,
                           .start_ref = ref,
                           .stop_ref = {.src = NTFF_SRC_NONE},
                           .name = id,
                           .track = track,
                           .cat = (unsigned)category & 15,
                           .flags = NTFF_EV_INSTANT | NTFF_EV_DEVICE};
    d->counts.instants++;
    return track != NTFF_NONE && id != NTFF_STR_NONE && ntff_device_add(d, &e);
}

static bool status_span(struct ntff_device *d, const struct ntff_stream *s,
                        const struct ntff_open *o, uint64_t stop_ns, struct ntff_ref stop,
                        unsigned flags, bool cc)
{
    uint32_t track = status_track(d, cc);
    ntff_str name = ntff_internf(&ntff_build_trace(d->b)->strs, cc ? "CC %s" : "run %s", s->label);
    struct ntff_event e = {.ts_ns = o->ns,
                           .start_ref = o->ref,
                           .stop_ref = stop,
                           .name = name,
                           .track = track,
                           .cat = cc ? NTFF_CAT_CC : NTFF_CAT_MARK,
                           .flags = (NTFF_EV_DEVICE | flags) & 0x3ffff};
    if (track == NTFF_NONE || name == NTFF_STR_NONE)
        return false;
    if (stop_ns < o->ns) {
        ntff_diag_add(ntff_build_diag(d->b), NTFF_DIAG_NEGATIVE_DURATION, 1,
                      ntff_build_path(d->b, d->file), NTFF_NO_OFFSET, "%s of %s",
                      cc ? "collective" : "execution", s->label);
        e.flags |= NTFF_EV_NEGATIVE;
    } else {
        e.dur_ns = stop_ns - o->ns;
    }
    if (flags & (NTFF_EV_UNFINISHED | NTFF_EV_START_LOST))
        e.flags |= NTFF_EV_EDGES_DRAWN;
    *(flags & NTFF_EV_UNFINISHED   ? &d->counts.unfinished
      : flags & NTFF_EV_START_LOST ? &d->counts.start_lost
                                   : &d->counts.pairs) += 1;
    if (!cc && !(flags & NTFF_EV_UNFINISHED) && d->execs.n < NTFF_LIST_MAX) {
        struct ntff_window *w = NTFF_VEC_PUSH(&ntff_build_trace(d->b)->budget, &d->execs);
        if (!w)
            return false;
        *w = (struct ntff_window){o->ns, o->ns + e.dur_ns};
    }
    return ntff_device_add(d, &e);
}

static const struct ntff_ref no_ref = {.src = NTFF_SRC_NONE};

static bool status_start(struct ntff_device *d, struct ntff_stream *s, struct ntff_open *o,
                         uint64_t ns, struct ntff_ref ref, bool cc)
{
    if (o->there) {
        ntff_diag_add(ntff_build_diag(d->b), NTFF_DIAG_UNMATCHED_START, 1,
                      ntff_build_path(d->b, d->file), NTFF_NO_OFFSET,
                      "%s marker of %s, closed at the next one", cc ? "collective" : "execution",
                      s->label);
        if (!status_span(d, s, o, ns, no_ref, NTFF_EV_UNFINISHED, cc))
            return false;
    }
    *o = (struct ntff_open){ns, ref, true};
    if (!cc)
        s->epoch++; /* a new execution: nothing of the old one is running any more */
    return true;
}

static bool status_stop(struct ntff_device *d, struct ntff_stream *s, struct ntff_open *o,
                        uint64_t ns, struct ntff_ref ref, bool cc)
{
    unsigned flags = 0;
    if (!o->there) {
        ntff_diag_add(ntff_build_diag(d->b), NTFF_DIAG_UNMATCHED_STOP, 1,
                      ntff_build_path(d->b, d->file), NTFF_NO_OFFSET,
                      "%s marker of %s, drawn from its first record",
                      cc ? "collective" : "execution", s->label);
        uint64_t first = s->first_ns < ns ? s->first_ns : ns;
        *o = (struct ntff_open){first, no_ref, true};
        flags = NTFF_EV_START_LOST;
    }
    o->there = false;
    return status_span(d, s, o, ns, ref, flags, cc);
}

bool ntff_device_finish(struct ntff_device *d)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < NTFF_N_ENGINES + NTFF_N_CC_CORES; i++) {
        struct ntff_stream *s = i < NTFF_N_ENGINES ? d->engine[i] : d->cc_core[i - NTFF_N_ENGINES];
        if (!s)
            continue;
        ntff_stream_close(d, s);
        d->counts.pairs += s->n_spans;
        d->counts.unfinished += s->n_unfinished;
        d->counts.start_lost += s->n_start_lost;
        for (int cc = 0; ok && cc < 2; cc++) {
            struct ntff_open *o = cc ? &s->cc : &s->exec;
            if (!o->there)
                continue;
            uint64_t end = s->last_ns > o->ns ? s->last_ns : o->ns;
            ntff_diag_add(ntff_build_diag(d->b), NTFF_DIAG_UNMATCHED_START, 1,
                          ntff_build_path(d->b, d->file), NTFF_NO_OFFSET, "%s marker of %s",
                          cc ? "collective" : "execution", s->label);
            ok = status_span(d, s, o, end, no_ref, NTFF_EV_UNFINISHED, cc);
            o->there = false;
        }
    }
    for (size_t i = 0; i < d->dma.n; i++)
        ntff_device_dma_close(d, d->dma.v[i]);
    return ok && ntff_device_dma_counters(d) && ntff_device_cut_end(d);
}

/* -- records one by one
 * ------------------------------------------------------------------------------ */

struct record {
    struct ntff_notif r;
    struct ntff_ref ref;
    unsigned type;
    uint64_t ns;
};

static bool custom_status(struct ntff_device *d, const struct record *x)
{
    const char *text = ntff_notif_custom(x->r.word1 & 0xffff);
    bool error = ntff_notif_out_of_bounds(x->r.word1 & 0xffff);
    return ntff_device_instant(d, ntff_device_events(d), error ? NTFF_CAT_ERROR : NTFF_CAT_MARK,
                               text ? text : "custom notification", x->ns, x->ref);
}

static bool explicit_record(struct ntff_device *d, const struct ntff_ring *ring,
                            const struct record *x)
{
    struct ntff_stream *s = ntff_device_stream(d, ring->ref, x->type);
    if (!s)
        return false;
    if (!s->on)
        return d->n_filtered++, true;
    unsigned hint = ntff_notif_hint(x->r.word0), status = x->r.word1 >> 16;
    if (s->first_ns == UINT64_MAX)
        s->first_ns = x->ns;
    if (ring->ref->trace_type == NTFF_TRACE_EXPLICIT) /* layout unknown [NOTIF]: kept raw */
        return ntff_device_stream_track(d, s) &&
               ntff_device_instant(d, s->track, NTFF_CAT_CC, "collective status", x->ns, x->ref);
    if (hint == 1 && !ring->ref->status_ring)
        return ntff_device_stream_track(d, s) &&
               ntff_device_instant(d, s->track, NTFF_CAT_DMA, "DGE", x->ns, x->ref);
    if (hint <= 1) {
        s->last_ns = x->ns > s->last_ns ? x->ns : s->last_ns;
        switch (status) {
        case NTFF_STATUS_START:
            return status_start(d, s, &s->exec, x->ns, x->ref, false);
        case NTFF_STATUS_END:
            return status_stop(d, s, &s->exec, x->ns, x->ref, false);
        case NTFF_STATUS_CUSTOM:
            return custom_status(d, x);
        case NTFF_STATUS_CC_START:
            return status_start(d, s, &s->cc, x->ns, x->ref, true);
        case NTFF_STATUS_CC_END:
            return status_stop(d, s, &s->cc, x->ns, x->ref, true);
        }
    }
    return ntff_device_stream_track(d, s) &&
           ntff_device_instant(d, s->track, NTFF_CAT_MARK, "explicit", x->ns, x->ref);
}

static bool semaphore(struct ntff_device *d, const struct ntff_ring *ring, const struct record *x)
{
    if (d->opt->no_semaphores)
        return d->n_filtered++, true;
    if (ntff_notif_has_engine(x->type)) {
        struct ntff_stream *s = ntff_device_stream(d, ring->ref, x->type);
        if (!s)
            return false;
        if (!s->on)
            return d->n_filtered++, true;
    }
    if (!ring->ref->sem_ok) /* the layout does not hold here: shown raw */
        return ntff_device_instant(d, ntff_device_events(d), NTFF_CAT_SEM, "semaphore update (raw)",
                                   x->ns, x->ref);
    uint32_t t = sem_track(d, ntff_notif_is_sem(x->r.word0), ntff_notif_sem_id(x->r.word0));
    d->n_samples++;
    return t != NTFF_NONE && ntff_build_device_sample(d->b, d->proc, d->nc, d->core, t, x->ns,
                                                      x->r.word1, x->r.word1);
}

static bool error_record(struct ntff_device *d, const struct ntff_ring *ring,
                         const struct record *x)
{
    char name[48];
    if (x->type == 0x1f) {
        const char *text = ntff_notif_error(x->r.word0 & 0xff);
        if (text)
            snprintf(name, sizeof name, "error %s", text);
        else
            snprintf(name, sizeof name, "error %u", x->r.word0 & 0xff);
    } else if (ntff_notif_is_warning(x->r.word0)) {
        snprintf(name, sizeof name, "warning group %u", x->r.word0 & 7);
    } else if (ring->ref->interrupt_ok) {
        snprintf(name, sizeof name, "interrupt group %u", x->r.word0 & 7);
    } else {
        snprintf(name, sizeof name, "interrupt (raw)");
    }
    return ntff_device_instant(d, ntff_device_events(d), NTFF_CAT_ERROR, name, x->ns, x->ref);
}

/* One mark each time a ring begins to lose records. */
static bool overflow_marks(struct ntff_device *d, const struct record *x, uint32_t before)
{
    uint32_t fresh = x->r.word0 & ~before;
    for (unsigned e = 0; e < NTFF_N_ENGINES; e++)
        d->engine[e]->epoch += (fresh & (NTFF_NOTIF_SW_OVERFLOW | NTFF_NOTIF_HW_OVERFLOW)) != 0;
    if (fresh & NTFF_NOTIF_SW_OVERFLOW) {
        d->sw_marks++;
        d->counts.records_in++; /* a mark is one more than the record it stands on */
        if (!ntff_device_instant(d, ntff_device_events(d), NTFF_CAT_MARK, "events lost before here",
                                 x->ns, x->ref))
            return false;
    }
    if (fresh & NTFF_NOTIF_HW_OVERFLOW) {
        d->hw_marks++;
        d->counts.records_in++;
        return ntff_device_instant(d, ntff_device_events(d), NTFF_CAT_MARK, "events lost from here",
                                   x->ns, x->ref);
    }
    return true;
}

bool ntff_device_other(struct ntff_device *d, struct ntff_ring *ring, uint64_t index)
{
    uint64_t at = ring->order ? ring->order[index] : index;
    const uint8_t *p = ring->data + at * NTFF_NOTIF_BYTES;
    struct record x = {.r = ntff_notif_at(p), .ref = ntff_ring_ref(d, ring, at)};
    x.type = ntff_notif_type(x.r.word0);
    int kind = ntff_notif_kinds[x.type];
    if (kind == NTFF_NK_RESERVED) {
        d->n_reserved++;
        d->n_dropped++;
        return true;
    }
    /* starts, ends and DMA come here for their overflow marks only: who sent them counts them */
    bool counted = kind == NTFF_NK_START || kind == NTFF_NK_END || kind == NTFF_NK_DMA;
    if (!ntff_tick_ns(ntff_blob_tick(ring->ref, x.type), x.r.ts_ps, &x.ns)) {
        d->n_bad_time += !counted;
        d->n_dropped += !counted;
        return true;
    }
    d->first_ns = x.ns < d->first_ns ? x.ns : d->first_ns;
    if (x.r.word0 & (NTFF_NOTIF_SW_OVERFLOW | NTFF_NOTIF_HW_OVERFLOW)) {
        uint64_t before = ring->order && index ? ring->order[index - 1] : at - 1;
        uint32_t flags = index ? ntff_le32(ring->data + before * NTFF_NOTIF_BYTES) : 0;
        if (!overflow_marks(d, &x, flags))
            return false;
    }
    switch (kind) {
    case NTFF_NK_EXPLICIT:
        return explicit_record(d, ring, &x);
    case NTFF_NK_SEM:
    case NTFF_NK_AXI_SEM:
        return semaphore(d, ring, &x);
    case NTFF_NK_ERROR:
    case NTFF_NK_TPB_ERROR:
        return error_record(d, ring, &x);
    case NTFF_NK_HAM:
        return ntff_device_instant(d, ntff_device_events(d), NTFF_CAT_MARK, "throttle", x.ns,
                                   x.ref);
    default:
        return true;
    }
}

/* Tells which engines a ring has records of, when only some are wanted. */
static bool met_engines(struct ntff_device *d, const struct ntff_ring *ring)
{
    for (unsigned type = 0; type < NTFF_ARRAY_LEN(ring->look.of_type); type++) {
        if (!ring->look.of_type[type] || !ntff_notif_has_engine(type))
            continue;
        const struct ntff_stream *s = ntff_device_stream(d, ring->ref, type);
        if (!s || !ntff_build_met(d->b, NTFF_FILTER_ENGINE, s->label, s->on))
            return false;
    }
    return true;
}

bool ntff_device_ring(struct ntff_device *d, struct ntff_ring *ring)
{
    if (d->opt->filter_engine && !met_engines(d, ring))
        return false;
    d->counts.records_in += ring->n;
    for (int k = 0; k < NTFF_NK_COUNT; k++)
        d->of_kind[k] += ntff_ring_of_kind(&ring->look, k);
    if (ring->look.of_type[2] == ring->n)
        return ntff_device_dma(d, ring, 0, ring->n);
    return ntff_device_instructions(d, ring);
}
