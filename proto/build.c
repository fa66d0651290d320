/* build - records in, events and tracks out.
 *
 * A START becomes an event at once and is remembered under its pairing key (process, type, nc_idx,
 * tracking_id); the STOP completes it. Whatever finds no partner in reading order - a stop before
 * its start in another file, a repeated id, a half the ring overwrote - is kept as a half and
 * matched once more, sorted by key and time, when everything has been read. Halves that are lonely
 * even then are drawn to the edge of the trace and flagged. */
#include "proto/builder.h"

#include <inttypes.h>
#include <stdlib.h>

/* -- records ------------------------------------------------------------------------------------
 */

/* Device events by type [AWS:EV]; others only if they carry device time (nrt_model_switch, new
 * types). */
static bool is_device(const struct ntff_rec *r)
{
    switch (r->type) {
    case NTFF_ET_CC_EXEC_BARRIER:
    case NTFF_ET_DEVICE_EXEC:
    case NTFF_ET_CC_EXEC:
    case NTFF_ET_NUM_ERR:
    case NTFF_ET_HW_NOTIFY:
    case NTFF_ET_NC_MODEL_SWITCH:
        return true;
    case NTFF_ET_TIMESTAMP_SYNC:
        return false;
    default:
        return r->has & NTFF_HAS_NC_TS;
    }
}

static int category(const struct ntff_rec *r, bool device)
{
    switch (r->type) {
    case NTFF_ET_CC_EXEC_BARRIER:
    case NTFF_ET_CC_EXEC:
        return NTFF_CAT_CC;
    case NTFF_ET_NUM_ERR:
        return NTFF_CAT_ERROR;
    case NTFF_ET_HW_NOTIFY:
        return NTFF_CAT_MARK;
    case NTFF_ET_TIMESTAMP_SYNC:
        return NTFF_CAT_SYNC;
    default:
        return device ? NTFF_CAT_EXEC : NTFF_CAT_HOST;
    }
}

static bool is_transfer(uint32_t type)
{
    return type >= NTFF_ET_DMEM_COPYIN && type <= NTFF_ET_DMEM_COPYOUT + 2;
}

static bool is_memory(uint32_t type)
{
    return type == NTFF_ET_DMA_MEM_ALLOC || type == NTFF_ET_DMA_MEM_DEALLOC;
}

static struct ntff_key pair_key(uint32_t proc, const struct ntff_rec *r)
{
    return (struct ntff_key){r->tracking_id, (uint64_t)proc << 32 | r->nc_idx,
                             r->name ? UINT64_C(1) << 32 | r->name : r->type};
}

static bool add_sync(struct ntff_builder *b, uint32_t proc, const struct ntff_rec *r, uint32_t core,
                     uint32_t dev)
{
    if (!(r->has & NTFF_HAS_NC_TS) || !(r->has & NTFF_HAS_CPU_TS) || !r->cpu_ns)
        return true;
    struct ntff_sync *s = NTFF_VEC_PUSH(b->budget, &b->syncs);
    if (!s)
        return ntff_builder_no_memory(b);
    *s = (struct ntff_sync){.nc_ns = r->nc_ns,
                            .cpu_ns = r->cpu_ns,
                            .proc = proc,
                            .nc = r->nc_idx,
                            .core = core,
                            .dev = dev,
                            .exec_id = r->has & NTFF_HAS_EXEC ? r->exec_id : NTFF_NO_EXEC};
    return true;
}

static bool add_dev(struct ntff_builder *b, uint32_t proc, const struct ntff_rec *r, uint32_t event,
                    bool stop_only)
{
    struct ntff_dev *d = NTFF_VEC_PUSH(b->budget, &b->devs);
    if (!d)
        return ntff_builder_no_memory(b);
    *d = (struct ntff_dev){.event = event,
                           .proc = proc,
                           .nc = r->nc_idx,
                           .type = r->type,
                           .near_ns = b->last_host_ns,
                           .core = r->has & NTFF_HAS_CORE ? r->core : NTFF_NONE,
                           .exec_id = r->has & NTFF_HAS_EXEC ? r->exec_id : NTFF_NO_EXEC};
    if (r->has & NTFF_HAS_EXEC)
        d->has |= NTFF_DEV_EXEC;
    bool cpu = r->has & NTFF_HAS_NC_TS && r->has & NTFF_HAS_CPU_TS && r->cpu_ns;
    if (stop_only) {
        d->nc_stop_ns = r->nc_ns, d->rec_stop_ns = r->timestamp_ns, d->cpu_stop_ns = r->cpu_ns;
        d->has |= r->has & NTFF_HAS_NC_TS ? NTFF_DEV_STOP : 0;
        d->has |= cpu ? NTFF_DEV_CPU_STOP : 0;
    } else {
        d->nc_start_ns = r->nc_ns, d->rec_start_ns = r->timestamp_ns, d->cpu_start_ns = r->cpu_ns;
        d->has |= r->has & NTFF_HAS_NC_TS ? NTFF_DEV_START : 0;
        d->has |= cpu ? NTFF_DEV_CPU_START : 0;
    }
    uint32_t self = (uint32_t)(b->devs.n - 1);
    return add_sync(b, proc, r, d->core, self);
}

static bool add_links(struct ntff_builder *b, uint32_t proc, const struct ntff_rec *r,
                      uint32_t event)
{
    int role;
    switch (r->type) {
    case NTFF_ET_DEVICE_EXEC:
        role = NTFF_ROLE_DEVICE;
        break;
    case NTFF_ET_EXEC_WAIT:
        role = NTFF_ROLE_WAIT;
        break;
    case NTFF_ET_EXEC_PRE:
        role = NTFF_ROLE_PRE;
        break;
    case NTFF_ET_POST_REQUEST:
    case NTFF_ET_EXECUTE_API:
    case NTFF_ET_MODEL_SUBMIT:
        role = NTFF_ROLE_SUBMIT;
        break;
    default:
        if (r->type < NTFF_N_EVENT_TYPES || !(r->has & NTFF_HAS_SEQ))
            return true;
        role =
            NTFF_ROLE_SUBMIT; /* newer types with a sequence number, e.g. nrta_execute_schedule */
    }
    for (int seq = 0; seq < 2; seq++) {
        if (!(r->has & (seq ? NTFF_HAS_SEQ : NTFF_HAS_EXEC)))
            continue;
        struct ntff_link *l = NTFF_VEC_PUSH(b->budget, &b->links);
        if (!l)
            return ntff_builder_no_memory(b);
        *l = (struct ntff_link){.id = seq ? r->nrta_seq_id : r->exec_id,
                                .event = event,
                                .proc = proc,
                                .nc = r->nc_idx,
                                .role = (uint8_t)role,
                                .is_seq = seq};
    }
    return true;
}

/* Makes the event of a START, INSTANT or whole record. */
static bool add_event(struct ntff_builder *b, uint32_t proc, const struct ntff_rec *r, bool instant,
                      uint32_t *index, uint32_t *aux)
{
    bool device = is_device(r);
    ntff_str name;
    if (!ntff_builder_name(b, r, &name))
        return false;
    bool on_device_row = device || (r->type == NTFF_ET_TIMESTAMP_SYNC && r->thread_id == 0);
    uint32_t core = r->has & NTFF_HAS_CORE ? r->core : NTFF_NONE;
    uint32_t track = on_device_row
                         ? ntff_build_device_row(b, proc, r->nc_idx, core, r->type, instant)
                         : ntff_build_row(b, proc, r->nc_idx, r->thread_id,
                                          r->has & NTFF_HAS_GID ? r->worker_gid : -1);
    struct ntff_event *e = track == NTFF_NONE ? NULL : NTFF_VEC_PUSH(b->budget, &b->events);
    if (!e)
        return ntff_builder_no_memory(b);
    *e = (struct ntff_event){.ts_ns = r->timestamp_ns,
                             .start_ref = r->ref,
                             .stop_ref = {.src = NTFF_SRC_NONE},
                             .name = name,
                             .track = track};
    e->cat = (unsigned)category(r, device) & 15;
    if (instant)
        e->flags |= NTFF_EV_INSTANT;
    if (device || r->has & NTFF_HAS_NC_TS)
        e->flags |= NTFF_EV_DEVICE;
    if (b->filter.active && !ntff_builder_passes(b, proc, r, name))
        e->flags |= NTFF_EV_HIDDEN;
    *index = (uint32_t)(b->events.n - 1);
    *aux = NTFF_NONE;
    if (r->has & NTFF_HAS_GID && b->processes.v[proc].worker_gid < 0)
        b->processes.v[proc].worker_gid = r->worker_gid;
    if (device) {
        *aux = (uint32_t)b->devs.n;
        if (!add_dev(b, proc, r, *index, false))
            return false;
        b->devs.v[*aux].has |= instant ? NTFF_DEV_INSTANT : 0;
    }
    if ((is_transfer(r->type) || is_memory(r->type)) && !r->name) {
        struct ntff_aux *a = NTFF_VEC_PUSH(b->budget, &b->auxes);
        if (!a)
            return ntff_builder_no_memory(b);
        *a = (struct ntff_aux){r->size_bytes, r->hbm, r->usage, r->usage_name};
        if (r->usage == NTFF_NONE && !r->usage_name && r->usage_text.len) {
            a->usage_name = ntff_intern(&b->t->strs, r->usage_text.p, r->usage_text.len);
            if (a->usage_name == NTFF_STR_NONE)
                return ntff_builder_no_memory(b);
        }
        *aux = (uint32_t)(b->auxes.n - 1);
    }
    return add_links(b, proc, r, *index);
}

static bool push_half(struct ntff_builder *b, const struct ntff_half *h)
{
    struct ntff_half *x = NTFF_VEC_PUSH(b->budget, &b->halves);
    if (!x)
        return ntff_builder_no_memory(b);
    *x = *h;
    return true;
}

static bool start_record(struct ntff_builder *b, uint32_t proc, const struct ntff_rec *r)
{
    uint32_t event, aux;
    if (!add_event(b, proc, r, false, &event, &aux))
        return false;
    b->events.v[event].flags |= NTFF_EV_UNFINISHED;
    struct ntff_map_slot *m = ntff_map_at(&b->open, pair_key(proc, r));
    if (!m)
        return ntff_builder_no_memory(b);
    if (m->value != NTFF_NONE) { /* the id is open already: put the older one aside */
        const struct ntff_event *old = &b->events.v[m->value];
        struct ntff_half h = {.key = m->key, .ts_ns = old->ts_ns, .event = m->value, .aux = m->aux};
        ntff_builder_found(b, NTFF_DIAG_REPEATED_START, r->ref, "tracking_id %" PRIu64,
                           r->tracking_id);
        if (!push_half(b, &h))
            return false;
    }
    m->value = event;
    m->aux = aux;
    return true;
}

/* Ends event with a STOP. The device entry gets its stop; the rest is decided in place.c. */
static bool complete(struct ntff_builder *b, uint32_t proc, uint32_t event, uint32_t aux,
                     const struct ntff_rec *r)
{
    struct ntff_event *e = &b->events.v[event];
    e->stop_ref = r->ref;
    ntff_event_clear(e, NTFF_EV_UNFINISHED);
    e->flags |= r->plain ? NTFF_EV_STOP_PLAIN : 0;
    e->dur_ns = r->timestamp_ns > e->ts_ns ? r->timestamp_ns - e->ts_ns : 0;
    b->t->counts.pairs++;
    if (aux == NTFF_NONE)
        return true;
    if (e->flags & NTFF_EV_DEVICE) {
        struct ntff_dev *d = &b->devs.v[aux];
        d->rec_stop_ns = r->timestamp_ns;
        if (r->has & NTFF_HAS_NC_TS) {
            d->nc_stop_ns = r->nc_ns;
            d->has |= NTFF_DEV_STOP;
            if (r->has & NTFF_HAS_CPU_TS && r->cpu_ns)
                d->cpu_stop_ns = r->cpu_ns, d->has |= NTFF_DEV_CPU_STOP;
        }
        struct ntff_rec pair = *r;
        pair.exec_id = d->exec_id;
        pair.has |= d->has & NTFF_DEV_EXEC ? NTFF_HAS_EXEC : 0;
        return add_sync(b, proc, &pair, d->core, aux);
    }
    if (is_memory(r->type))
        return ntff_build_memory_samples(b, proc, r, &b->auxes.v[aux]);
    return e->flags & NTFF_EV_HIDDEN ||
           ntff_build_transfer_rate(b, proc, r->nc_idx, r->type, e->ts_ns, e->dur_ns,
                                    b->auxes.v[aux].size_bytes);
}

static bool stop_record(struct ntff_builder *b, uint32_t proc, const struct ntff_rec *r)
{
    struct ntff_map_slot *m = ntff_map_find(&b->open, pair_key(proc, r));
    if (m) {
        const struct ntff_event *e = &b->events.v[m->value];
        bool by_device = e->flags & NTFF_EV_DEVICE && m->aux != NTFF_NONE &&
                         b->devs.v[m->aux].has & NTFF_DEV_START && r->has & NTFF_HAS_NC_TS;
        if (by_device ? r->nc_ns >= b->devs.v[m->aux].nc_start_ns : r->timestamp_ns >= e->ts_ns) {
            uint32_t event = m->value, aux = m->aux;
            ntff_map_remove(&b->open, m);
            return complete(b, proc, event, aux, r);
        }
    }
    struct ntff_half h = {.key = pair_key(proc, r),
                          .ts_ns = r->timestamp_ns,
                          .nc_ns = r->nc_ns,
                          .thread_id = r->thread_id,
                          .event = NTFF_NONE,
                          .aux = NTFF_NONE,
                          .ref = r->ref,
                          .nc = r->nc_idx,
                          .type = r->type,
                          .name = r->name,
                          .gid = r->has & NTFF_HAS_GID ? r->worker_gid : -1,
                          .has_nc = r->has & NTFF_HAS_NC_TS,
                          .stop = true};
    return push_half(b, &h);
}

static bool sync_record(struct ntff_builder *b, uint32_t proc, const struct ntff_rec *r,
                        uint32_t event)
{
    struct ntff_event *e = &b->events.v[event];
    /* the event's own time is when it was recorded, and host time - unless it is the raw device
     * time */
    if (r->has & NTFF_HAS_NC_TS && r->has & NTFF_HAS_CPU_TS && r->timestamp_ns == r->nc_ns)
        e->ts_ns = r->cpu_ns;
    return add_sync(b, proc, r, r->has & NTFF_HAS_CORE ? r->core : NTFF_NONE, NTFF_NONE);
}

static void note_unknown_type(struct ntff_builder *b, const struct ntff_rec *r)
{
    if (r->name)
        ntff_builder_found(b, NTFF_DIAG_UNKNOWN_TYPE, r->ref, "%.100s",
                           ntff_text(&b->t->strs, r->name));
    else
        ntff_builder_found(b, NTFF_DIAG_UNKNOWN_TYPE, r->ref, "type %" PRIu32,
                           r->type & ~NTFF_OLD_TYPE);
}

bool ntff_build_record(struct ntff_builder *b, uint32_t proc, const struct ntff_rec *r)
{
    uint32_t event, aux;
    struct ntff_counts *c = &b->t->counts;
    c->records_in++;
    if (r->timestamp_ns != r->nc_ns)
        b->last_host_ns = r->timestamp_ns;
    if (r->timestamp_ns == 0 && !(r->has & NTFF_HAS_NC_TS)) {
        c->dropped_records++;
        ntff_builder_found(b, NTFF_DIAG_BAD_TIME, r->ref, "record without a time");
        return true;
    }
    if (r->type >= NTFF_N_EVENT_TYPES && !r->is_ring)
        note_unknown_type(b, r);
    if (r->duration_ns) { /* one record for the whole span: the older form, and the vendor's JSON */
        if (!add_event(b, proc, r, false, &event, &aux))
            return false;
        struct ntff_event *e = &b->events.v[event];
        e->dur_ns = r->duration_ns;
        if (aux != NTFF_NONE && e->flags & NTFF_EV_DEVICE)
            b->devs.v[aux].has |= NTFF_DEV_WHOLE;
        c->whole++;
        return !is_transfer(r->type) || aux == NTFF_NONE || e->flags & NTFF_EV_HIDDEN ||
               ntff_build_transfer_rate(b, proc, r->nc_idx, r->type, e->ts_ns, e->dur_ns,
                                        r->size_bytes);
    }
    switch (r->phase) {
    case NTFF_PHASE_START:
        return start_record(b, proc, r);
    case NTFF_PHASE_STOP:
        return stop_record(b, proc, r);
    default: /* INSTANT; anything else is shown as a point rather than dropped */
        c->instants++;
        return add_event(b, proc, r, true, &event, &aux) &&
               (r->type != NTFF_ET_TIMESTAMP_SYNC || sync_record(b, proc, r, event));
    }
}

/* -- halves -------------------------------------------------------------------------------------
 */

static int key_cmp(const struct ntff_key *x, const struct ntff_key *y)
{
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    return x->c != y->c ? x->c < y->c ? -1 : 1 : 0;
}

/* By key, then time, starts before stops at one time, then input order. */
static int half_cmp(const void *pa, const void *pb)
{
    const struct ntff_half *x = pa, *y = pb;
    int c = key_cmp(&x->key, &y->key);
    if (c)
        return c;
    if (x->ts_ns != y->ts_ns)
        return x->ts_ns < y->ts_ns ? -1 : 1;
    if (x->stop != y->stop)
        return x->stop ? 1 : -1;
    uint64_t rx = (uint64_t)x->ref.src << 32 | x->ref.off,
             ry = (uint64_t)y->ref.src << 32 | y->ref.off;
    return rx != ry ? rx < ry ? -1 : 1 : x->event < y->event ? -1 : x->event > y->event;
}

static bool open_to_halves(struct ntff_builder *b)
{
    for (size_t i = 0; i < b->open.n_slots; i++) {
        const struct ntff_map_slot *m = &b->open.slots[i];
        if (m->value == NTFF_NONE)
            continue;
        struct ntff_half h = {.key = m->key,
                              .ts_ns = b->events.v[m->value].ts_ns,
                              .event = m->value,
                              .aux = m->aux,
                              .ref = b->events.v[m->value].start_ref};
        if (!push_half(b, &h))
            return false;
    }
    ntff_map_free(&b->open);
    return true;
}

/* A stop up to this much before its start is clock trouble; more, and the two are strangers. */
#define NEGATIVE_LIMIT_NS UINT64_C(1000000)

static bool join(struct ntff_builder *b, const struct ntff_half *start,
                 const struct ntff_half *stop)
{
    struct ntff_rec r = {.timestamp_ns = stop->ts_ns,
                         .nc_ns = stop->nc_ns,
                         .nc_idx = stop->nc,
                         .type = stop->type,
                         .ref = stop->ref,
                         .has = stop->has_nc ? NTFF_HAS_NC_TS : 0};
    uint32_t aux = is_memory(stop->type) ? NTFF_NONE : start->aux;
    return complete(b, (uint32_t)(stop->key.b >> 32), start->event, aux, &r);
}

/* A stop whose start is lost: an event that place.c and order.c draw from the begin of the trace.
 */
static bool lone_stop(struct ntff_builder *b, const struct ntff_half *h)
{
    uint32_t proc = (uint32_t)(h->key.b >> 32);
    struct ntff_rec r = {.timestamp_ns = h->ts_ns,
                         .nc_ns = h->nc_ns,
                         .nc_idx = h->nc,
                         .thread_id = h->thread_id,
                         .type = h->type,
                         .name = h->name,
                         .worker_gid = h->gid,
                         .has =
                             (h->has_nc ? NTFF_HAS_NC_TS : 0u) | (h->gid >= 0 ? NTFF_HAS_GID : 0u)};
    struct ntff_rec plain = r;
    uint32_t event, aux;
    bool device = is_device(&r);
    plain.has &= ~(uint32_t)NTFF_HAS_NC_TS; /* no device entry yet: it needs the stop side */
    b->t->counts.start_lost++;
    if (!device) {
        if (!add_event(b, proc, &plain, false, &event, &aux))
            return false;
    } else {
        uint32_t t = ntff_build_device_row(b, proc, r.nc_idx, NTFF_NONE, r.type, false);
        ntff_str name;
        struct ntff_event *e = NULL;
        if (t == NTFF_NONE || !ntff_builder_name(b, &r, &name) ||
            !(e = NTFF_VEC_PUSH(b->budget, &b->events)))
            return ntff_builder_no_memory(b);
        *e = (struct ntff_event){.ts_ns = h->ts_ns, .name = name, .track = t};
        e->cat = (unsigned)category(&r, true) & 15;
        e->flags = NTFF_EV_DEVICE;
        if (b->filter.active && !ntff_builder_passes(b, proc, &r, name))
            e->flags |= NTFF_EV_HIDDEN;
        event = (uint32_t)(b->events.n - 1);
        if (!add_dev(b, proc, &r, event, true))
            return false;
    }
    struct ntff_event *e = &b->events.v[event];
    ntff_builder_found(b, NTFF_DIAG_UNMATCHED_STOP, h->ref, "tracking_id %" PRIu64 ", %.100s",
                       h->key.a, ntff_text(&b->t->strs, e->name));
    e->flags |= NTFF_EV_START_LOST;
    e->start_ref = (struct ntff_ref){.src = NTFF_SRC_NONE};
    e->stop_ref = h->ref;
    return true;
}

static void lone_start(struct ntff_builder *b, const struct ntff_half *h)
{
    ntff_builder_found(b, NTFF_DIAG_UNMATCHED_START, b->events.v[h->event].start_ref,
                       "tracking_id %" PRIu64 ", %s", h->key.a,
                       ntff_text(&b->t->strs, b->events.v[h->event].name));
    b->t->counts.unfinished++;
}

/* One key's halves in time order: a stop closes the latest start before it. */
static bool match_group(struct ntff_builder *b, struct ntff_half *h, size_t n)
{
    struct ntff_half *start = NULL, *stop = NULL; /* last lonely ones */
    for (size_t i = 0; i < n; i++) {
        if (!h[i].stop) {
            if (start)
                lone_start(b, start);
            start = &h[i];
            if (stop && start->ts_ns - stop->ts_ns <= NEGATIVE_LIMIT_NS) {
                ntff_builder_found(b, NTFF_DIAG_NEGATIVE_DURATION, stop->ref,
                                   "tracking_id %" PRIu64 " stops %" PRIu64 " ns early", h[i].key.a,
                                   start->ts_ns - stop->ts_ns);
                b->events.v[start->event].flags |= NTFF_EV_NEGATIVE;
                if (!join(b, start, stop))
                    return false;
                start = stop = NULL;
            }
            continue;
        }
        if (start) {
            if (!join(b, start, &h[i]))
                return false;
            start = NULL;
            continue;
        }
        if (stop && !lone_stop(b, stop))
            return false;
        stop = &h[i];
    }
    if (start)
        lone_start(b, start);
    return !stop || lone_stop(b, stop);
}

bool ntff_build_finish_pairs(struct ntff_builder *b)
{
    if (!open_to_halves(b))
        return false;
    ntff_sort(b->halves.v, b->halves.n, sizeof *b->halves.v, half_cmp);
    for (size_t i = 0, j; i < b->halves.n; i = j) {
        for (j = i + 1; j < b->halves.n && !key_cmp(&b->halves.v[i].key, &b->halves.v[j].key); j++)
            ;
        if (!match_group(b, b->halves.v + i, j - i))
            return false;
    }
    NTFF_VEC_FREE(b->budget, &b->halves);
    return true;
}
