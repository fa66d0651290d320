/* build - records in, events and tracks out.
 *
 * A START becomes an event at once and is remembered under its pairing key (process, type, nc_idx,
 * tracking_id); the STOP completes it. Whatever finds no partner in reading order - a stop before
 * its start in another file, a repeated id, a half the ring overwrote - is kept as a half and
 * matched once more, sorted by key and time, when everything has been read. Halves that are lonely
 * even then are drawn to the edge of the trace and flagged. */
#include "proto/builder.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ntff_trace *ntff_build_trace(struct ntff_builder *b)
{
    return b->t;
}
struct ntff_diag *ntff_build_diag(struct ntff_builder *b)
{
    return b->diag;
}
const struct ntff_load_options *ntff_build_options(struct ntff_builder *b)
{
    return b->opt;
}
const struct ntff_schema *ntff_build_schema(struct ntff_builder *b)
{
    return b->schema;
}
const char *ntff_build_path(struct ntff_builder *b, uint32_t file)
{
    return file < b->files.n ? ntff_text(&b->t->strs, b->files.v[file].path) : "";
}
struct ntff_file *ntff_build_file(struct ntff_builder *b, uint32_t file)
{
    return &b->files.v[file];
}

static bool no_memory(struct ntff_builder *b)
{
    b->out_of_memory = true;
    return false;
}

void *ntff_build_take(struct ntff_builder *b, size_t n, size_t elem)
{
    size_t bytes;
    void *p = NULL;
    if (ntff_mul_ok(n ? n : 1, elem, &bytes) && ntff_budget_take(b->budget, bytes) &&
        !(p = calloc(1, bytes)))
        ntff_budget_give(b->budget, bytes);
    if (!p)
        no_memory(b);
    return p;
}

void ntff_build_give(struct ntff_builder *b, void *p, size_t n, size_t elem)
{
    if (p)
        ntff_budget_give(b->budget, (n ? n : 1) * elem);
    free(p);
}

bool ntff_build_progress(struct ntff_builder *b, const char *what, uint64_t done, uint64_t all)
{
    if (b->cancelled)
        return false;
    int permille = all ? (int)((done > all ? all : done) / (all / 1000 + 1)) : 0;
    if (b->opt->progress && b->opt->progress(b->opt->progress_user, what, permille))
        b->cancelled = true;
    return !b->cancelled;
}

uint32_t ntff_build_source(struct ntff_builder *b, const struct ntff_source *src)
{
    if (b->sources.n >= NTFF_SRC_NONE)
        return NTFF_NONE;
    struct ntff_source *s = NTFF_VEC_PUSH(b->budget, &b->sources);
    if (!s)
        return no_memory(b), NTFF_NONE;
    *s = *src;
    b->t->sources = b->sources.v;
    b->t->n_sources = b->sources.n;
    return (uint32_t)(b->sources.n - 1);
}

bool ntff_build_fact(struct ntff_builder *b, uint32_t file, const char *key, const char *value,
                     const char *how)
{
    struct ntff_strtab *s = &b->t->strs;
    struct ntff_fact *f = NTFF_VEC_PUSH(b->budget, &b->files.v[file].facts);
    if (!f)
        return no_memory(b);
    f->key = ntff_intern(s, key, strlen(key));
    f->value = ntff_intern(s, value, strlen(value));
    f->how = how ? ntff_intern(s, how, strlen(how)) : 0;
    if (f->key == NTFF_STR_NONE || f->value == NTFF_STR_NONE || f->how == NTFF_STR_NONE) {
        b->files.v[file].facts.n--;
        return no_memory(b);
    }
    return true;
}

/* -- processes and tracks ---------------------------------------------------------------------- */

uint32_t ntff_build_process(struct ntff_builder *b, const char *instance, uint64_t pid,
                            const char *dir)
{
    struct ntff_strtab *s = &b->t->strs;
    ntff_str inst = ntff_intern(s, instance, strlen(instance));
    ntff_str d = ntff_intern(s, dir, strlen(dir));
    if (inst == NTFF_STR_NONE || d == NTFF_STR_NONE)
        return no_memory(b), NTFF_NONE;
    struct ntff_map_slot *m = ntff_map_at(&b->names, (struct ntff_key){inst, pid, d});
    if (!m)
        return no_memory(b), NTFF_NONE;
    if (m->value != NTFF_NONE)
        return m->value;
    struct ntff_process *p = NTFF_VEC_PUSH(b->budget, &b->processes);
    if (!p) {
        b->names.n--;
        return no_memory(b), NTFF_NONE;
    }
    *p = (struct ntff_process){.instance = inst, .dir = d, .pid = pid, .worker_gid = -1};
    b->t->processes = b->processes.v;
    b->t->n_processes = b->processes.n;
    return m->value = (uint32_t)(b->processes.n - 1);
}

uint32_t ntff_build_track(struct ntff_builder *b, uint32_t parent, const char *name,
                          const struct ntff_track *proto)
{
    ntff_str id = ntff_intern(&b->t->strs, name, strlen(name));
    if (id == NTFF_STR_NONE)
        return no_memory(b), NTFF_NONE;
    struct ntff_map_slot *m = ntff_map_at(&b->by_name, (struct ntff_key){parent, proto->kind, id});
    if (!m)
        return no_memory(b), NTFF_NONE;
    if (m->value != NTFF_NONE)
        return m->value;
    struct ntff_track *t = NTFF_VEC_PUSH(b->budget, &b->tracks);
    if (!t) {
        b->by_name.n--;
        return no_memory(b), NTFF_NONE;
    }
    *t = *proto;
    t->name = id;
    t->parent = parent;
    t->n_lanes = 1;
    b->t->tracks = b->tracks.v;
    b->t->n_tracks = b->tracks.n;
    return m->value = (uint32_t)(b->tracks.n - 1);
}

static const struct ntff_track blank_track = {
    .parent = NTFF_NONE, .process = NTFF_NONE, .nc = NTFF_NONE, .core = NTFF_NONE};

/* Name of a process by the fields of the primary group, without blanks at the end. */
static bool primary_name(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint64_t tid,
                         uint32_t twin, struct ntff_buf *out)
{
    const struct ntff_process *p = &b->processes.v[proc];
    int by = b->primary;
    out->len = 0;
    if (by & NTFF_BY_INSTANCE && p->instance)
        ntff_buf_printf(out, "%s ", ntff_text(&b->t->strs, p->instance));
    if (by & NTFF_BY_PROCESS && p->pid) {
        ntff_buf_printf(out, "pid %" PRIu64 " ", p->pid);
    } else if (by & NTFF_BY_PROCESS) {
        const char *dir = ntff_text(&b->t->strs, p->dir), *base = strrchr(dir, '/');
        ntff_buf_printf(out, "%s ", base && base[1] ? base + 1 : dir);
    }
    if (by & NTFF_BY_NC)
        ntff_buf_printf(out, "NC%" PRIu32 " ", nc);
    if (by & NTFF_BY_THREAD)
        ntff_buf_printf(out, "thread %" PRIu64 " ", tid);
    if (out->len == 0)
        ntff_buf_printf(out, "all ");
    if (twin)
        ntff_buf_printf(out, "(%" PRIu32 ") ", twin);
    if (out->failed)
        return no_memory(b);
    out->p[out->len - 1] = '\0';
    return true;
}

/* The Perfetto process an event of (proc, nc, tid) belongs to, by the primary group. Two processes
 * may look alike (same pid in two captures): the later ones get a number. */
static uint32_t make_primary(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint64_t tid)
{
    struct ntff_track proto = blank_track;
    struct ntff_buf name = {.budget = b->budget};
    uint32_t t = NTFF_NONE;
    bool distinct = b->primary & NTFF_BY_PROCESS;
    proto.kind = NTFF_TRACK_PROCESS;
    proto.process = distinct ? proc : NTFF_NONE;
    proto.rank = (int32_t)proc;
    for (uint32_t twin = 0; primary_name(b, proc, nc, tid, twin, &name); twin += twin ? 1 : 2) {
        ntff_str id = ntff_intern(&b->t->strs, (char *)name.p, name.len - 1);
        struct ntff_key key = {NTFF_NONE, proto.kind, id};
        if (id == NTFF_STR_NONE)
            break;
        if (!distinct || !ntff_map_find(&b->by_name, key)) {
            t = ntff_build_track(b, NTFF_NONE, (char *)name.p, &proto);
            break;
        }
    }
    ntff_buf_free(&name);
    return t;
}

static uint32_t primary_track(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint64_t tid)
{
    struct ntff_key key = {UINT64_C(6) << 56 | proc, b->primary & NTFF_BY_NC ? nc : 0,
                           b->primary & NTFF_BY_THREAD ? tid : 0};
    struct ntff_map_slot *m = ntff_map_find(&b->rows, key);
    if (m)
        return m->value;
    uint32_t t = make_primary(b, proc, nc, tid);
    m = t == NTFF_NONE ? NULL : ntff_map_at(&b->rows, key);
    if (!m)
        return no_memory(b), NTFF_NONE;
    return m->value = t;
}

uint32_t ntff_build_process_track(struct ntff_builder *b, uint32_t proc, uint32_t nc)
{
    return primary_track(b, proc, nc, 0);
}

static uint32_t group_track(struct ntff_builder *b, uint32_t proc, uint32_t nc, const char *name,
                            int32_t rank)
{
    struct ntff_track proto = blank_track;
    uint32_t parent = ntff_build_process_track(b, proc, nc == NTFF_NONE ? 0 : nc);
    if (parent == NTFF_NONE)
        return NTFF_NONE;
    proto.kind = NTFF_TRACK_GROUP;
    proto.process = b->tracks.v[parent].process;
    proto.rank = rank;
    return ntff_build_track(b, parent, name, &proto);
}

enum { RANK_COUNTERS = 1 << 20, RANK_CORES, RANK_UNALIGNED };

uint32_t ntff_build_counters(struct ntff_builder *b, uint32_t proc)
{
    return group_track(b, proc, NTFF_NONE, "Counters", RANK_COUNTERS);
}

/* When processes share a group, their cores need telling apart. */
static uint32_t nc_below(struct ntff_builder *b, uint32_t group, uint32_t proc, uint32_t nc)
{
    struct ntff_track proto = blank_track;
    char name[64];
    if (group == NTFF_NONE)
        return NTFF_NONE;
    proto.kind = NTFF_TRACK_NC;
    proto.process = proc;
    proto.nc = nc;
    proto.rank = nc < INT32_MAX ? (int32_t)nc : INT32_MAX;
    if (b->primary & NTFF_BY_PROCESS)
        snprintf(name, sizeof name, "NC%02" PRIu32, nc);
    else
        snprintf(name, sizeof name, "NC%02" PRIu32 " pid %" PRIu64, nc, b->processes.v[proc].pid);
    return ntff_build_track(b, group, name, &proto);
}

uint32_t ntff_build_nc(struct ntff_builder *b, uint32_t proc, uint32_t nc)
{
    return nc_below(b, group_track(b, proc, nc, "NeuronCores", RANK_CORES), proc, nc);
}

/* Rank among an NC's children [perfetto-contract layout]. */
enum { RANK_EXEC = 0, RANK_CC = 4000, RANK_EVENTS = 6000 };

/* core = NTFF_NONE: not known yet (place.c asks again); then a row named "Execution ?". */
uint32_t ntff_build_device_row(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint32_t core,
                               uint32_t type, bool instant)
{
    bool cc = type == NTFF_ET_CC_EXEC || type == NTFF_ET_CC_EXEC_BARRIER;
    uint64_t cls = instant ? 3 : cc ? 2 : 1;
    struct ntff_key key = {cls << 56 | proc, nc, cls == 1 ? core : UINT64_MAX - 1};
    struct ntff_map_slot *m = ntff_map_find(&b->rows, key);
    if (m)
        return m->value;
    struct ntff_track proto = blank_track;
    char name[64];
    uint32_t parent = ntff_build_nc(b, proc, nc);
    if (parent == NTFF_NONE)
        return NTFF_NONE;
    proto.process = proc;
    proto.nc = nc;
    proto.kind = instant ? NTFF_TRACK_EVENTS : cc ? NTFF_TRACK_CC : NTFF_TRACK_EXEC;
    proto.flat = cc;
    if (cls == 1) {
        proto.core = core;
        proto.rank = core < 1000 ? RANK_EXEC + (int32_t)core : RANK_EXEC + 1000;
        if (core == NTFF_NONE)
            snprintf(name, sizeof name, "Execution NC%" PRIu32 ":?", nc);
        else
            snprintf(name, sizeof name, "Execution NC%" PRIu32 ":%" PRIu32, nc, core);
    } else {
        proto.rank = cc ? RANK_CC : RANK_EVENTS;
        snprintf(name, sizeof name, "%s", cc ? "Collectives" : "Events");
    }
    uint32_t t = ntff_build_track(b, parent, name, &proto);
    m = t == NTFF_NONE ? NULL : ntff_map_at(&b->rows, key);
    if (!m)
        return no_memory(b), NTFF_NONE;
    return m->value = t;
}

static uint32_t make_row(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint64_t tid,
                         int32_t gid)
{
    int by = b->secondary;
    struct ntff_track proto = blank_track;
    char name[128] = "neuron_rt";
    size_t n = strlen(name);
    uint32_t parent = primary_track(b, proc, nc, tid);
    if (parent == NTFF_NONE)
        return NTFF_NONE;
    proto.process = by & NTFF_BY_PROCESS || b->primary & NTFF_BY_PROCESS ? proc : NTFF_NONE;
    proto.nc = by & NTFF_BY_NC || b->primary & NTFF_BY_NC ? nc : NTFF_NONE;
    proto.rank = by & NTFF_BY_NC && nc < 1u << 16 ? (int32_t)nc : 1 << 16;
    proto.kind = NTFF_TRACK_ROW;
    if (by & NTFF_BY_GID && gid >= 0)
        n += (size_t)snprintf(name + n, sizeof name - n, " worker %" PRId32, gid);
    if (by & NTFF_BY_PROCESS)
        n += (size_t)snprintf(name + n, sizeof name - n, " pid %" PRIu64, b->processes.v[proc].pid);
    if (by & NTFF_BY_INSTANCE)
        n += (size_t)snprintf(name + n, sizeof name - n, " %.40s",
                              ntff_text(&b->t->strs, b->processes.v[proc].instance));
    if (n >= sizeof name)
        n = sizeof name - 1;
    if (by & NTFF_BY_NC)
        n += (size_t)snprintf(name + n, sizeof name - n, " NC%" PRIu32, nc);
    if (by & NTFF_BY_THREAD) {
        /* the first row of a thread is the thread itself, so that its tid shows as one */
        struct ntff_key key = {UINT64_C(5) << 56 | parent, 0, tid};
        struct ntff_map_slot *m = tid ? ntff_map_find(&b->rows, key) : NULL;
        proto.tid = tid;
        if (tid && !m && b->primary & NTFF_BY_PROCESS) {
            proto.kind = NTFF_TRACK_THREAD;
            if (!(m = ntff_map_at(&b->rows, key)))
                return no_memory(b), NTFF_NONE;
            m->value = 0;
            /* two threads may share a name: the map by name must not merge them */
            struct ntff_track *t = NTFF_VEC_PUSH(b->budget, &b->tracks);
            if (!t)
                return no_memory(b), NTFF_NONE;
            *t = proto;
            t->name = ntff_intern(&b->t->strs, name, strlen(name));
            t->parent = parent;
            t->n_lanes = 1;
            b->t->tracks = b->tracks.v;
            b->t->n_tracks = b->tracks.n;
            return t->name == NTFF_STR_NONE ? (no_memory(b), NTFF_NONE)
                                            : (uint32_t)(b->tracks.n - 1);
        }
        if (n < sizeof name)
            snprintf(name + n, sizeof name - n, tid ? " thread %" PRIu64 : " (no thread id)", tid);
    }
    return ntff_build_track(b, parent, name, &proto);
}

uint32_t ntff_build_row(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint64_t tid,
                        int32_t gid)
{
    int by = b->primary | b->secondary;
    struct ntff_key key = {UINT64_C(4) << 56 | proc,
                           (by & NTFF_BY_NC ? (uint64_t)nc : 0) |
                               (by & NTFF_BY_GID && gid >= 0 ? (uint64_t)(uint32_t)gid + 1 : 0)
                                   << 32,
                           by & NTFF_BY_THREAD ? tid : 0};
    if (b->last_row.value != NTFF_NONE && b->last_row.key.a == key.a &&
        b->last_row.key.b == key.b && b->last_row.key.c == key.c)
        return b->last_row.value;
    struct ntff_map_slot *m = ntff_map_find(&b->rows, key);
    if (!m) {
        uint32_t t = make_row(b, proc, nc, tid, gid);
        m = t == NTFF_NONE ? NULL : ntff_map_at(&b->rows, key);
        if (!m)
            return no_memory(b), NTFF_NONE;
        m->value = t;
    }
    b->last_row = *m;
    return m->value;
}

/* -- names and filters ------------------------------------------------------------------------- */

bool ntff_builder_name(struct ntff_builder *b, const struct ntff_rec *r, ntff_str *name)
{
    const struct ntff_event_type *et;
    if (r->name) {
        *name = r->name;
    } else if (r->is_ring) {
        *name = ntff_internf(&b->t->strs, "ntrace %" PRIu32, r->ring_type);
    } else if ((et = ntff_event_type(r->type)) != NULL) {
        if (!b->type_names[r->type])
            b->type_names[r->type] = ntff_intern(&b->t->strs, et->name, strlen(et->name));
        *name = b->type_names[r->type];
    } else {
        *name = ntff_internf(&b->t->strs, "type %" PRIu32, r->type & ~NTFF_OLD_TYPE);
    }
    return *name != NTFF_STR_NONE || no_memory(b);
}

static bool has_str(const ntff_str *v, size_t n, ntff_str s)
{
    for (size_t i = 0; i < n; i++)
        if (v[i] == s)
            return true;
    return false;
}

/* Is text one of the comma-separated items of list? */
static bool in_list(const char *list, const char *text)
{
    size_t len = strlen(text);
    for (const char *p = list; *p;) {
        p += strspn(p, ", ");
        size_t n = strcspn(p, ", ");
        if (n == len && memcmp(p, text, n) == 0)
            return true;
        p += n;
    }
    return false;
}

static bool type_passes(const struct ntff_filter *f, const struct ntff_rec *r, ntff_str name)
{
    if (has_str(f->names_off.v, f->names_off.n, name))
        return false;
    if (has_str(f->names_on.v, f->names_on.n, name))
        return true;
    return r->type < NTFF_N_EVENT_TYPES ? f->type_on[r->type] : f->other_on;
}

static bool process_passes(const struct ntff_builder *b, uint32_t proc)
{
    const struct ntff_filter *f = &b->filter;
    const struct ntff_process *p = &b->processes.v[proc];
    char pid[24];
    if (f->instance && !in_list(f->instance, ntff_text(&b->t->strs, p->instance)))
        return false;
    snprintf(pid, sizeof pid, "%" PRIu64, p->pid);
    return !f->process || in_list(f->process, pid);
}

/* Core, instance and process. */
static bool place_passes(const struct ntff_builder *b, uint32_t proc, const struct ntff_rec *r)
{
    const struct ntff_filter *f = &b->filter;
    if (f->cores.n) {
        bool hit = false;
        for (size_t i = 0; i < f->cores.n; i++)
            hit |= r->nc_idx >= f->cores.v[i].lo && r->nc_idx <= f->cores.v[i].hi;
        if (!hit)
            return false;
    }
    return process_passes(b, proc);
}

static bool passes(struct ntff_builder *b, uint32_t proc, const struct ntff_rec *r, ntff_str name)
{
    const struct ntff_filter *f = &b->filter;
    return !f->active || ((!f->types_given || type_passes(f, r, name)) && place_passes(b, proc, r));
}

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
        return no_memory(b);
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
        return no_memory(b);
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
            return no_memory(b);
        *l = (struct ntff_link){.id = seq ? r->nrta_seq_id : r->exec_id,
                                .event = event,
                                .proc = proc,
                                .nc = r->nc_idx,
                                .role = (uint8_t)role,
                                .is_seq = seq};
    }
    return true;
}

/* A counter below "Counters" of a process, found by key without making its name first. */
static uint32_t counter_row(struct ntff_builder *b, uint32_t proc, struct ntff_key key,
                            const struct ntff_track *like, const char *share, const char *fmt, ...)
    NTFF_PRINTF(6, 7);
static uint32_t counter_row(struct ntff_builder *b, uint32_t proc, struct ntff_key key,
                            const struct ntff_track *like, const char *share, const char *fmt, ...)
{
    struct ntff_map_slot *m = ntff_map_find(&b->rows, key);
    if (m)
        return m->value;
    struct ntff_track proto = *like;
    char name[128];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    proto.kind = NTFF_TRACK_COUNTER;
    proto.process = proc;
    proto.share_key = ntff_intern(&b->t->strs, share, strlen(share));
    uint32_t group = ntff_build_counters(b, proc);
    uint32_t t = group == NTFF_NONE ? NTFF_NONE : ntff_build_track(b, group, name, &proto);
    m = t == NTFF_NONE ? NULL : ntff_map_at(&b->rows, key);
    if (!m)
        return no_memory(b), NTFF_NONE;
    return m->value = t;
}

/* Running totals of device memory: one counter per HBM and usage class, and their sum. */
static bool memory_samples(struct ntff_builder *b, uint32_t proc, const struct ntff_rec *r,
                           const struct ntff_aux *a)
{
    struct ntff_track proto = blank_track;
    int32_t rank = 100 + (a->hbm < 1000 ? (int32_t)a->hbm * 32 : 32000);
    proto.unit = NTFF_UNIT_BYTES;
    if (r->has & NTFF_HAS_TOTAL) {
        struct ntff_key key = {UINT64_C(8) << 56 | proc, a->hbm, 0};
        proto.rank = rank;
        uint32_t t = counter_row(b, proc, key, &proto, "hbm", "HBM%" PRIu32 " total", a->hbm);
        if (t == NTFF_NONE || !ntff_build_sample(b, t, r->timestamp_ns, (int64_t)r->total_bytes, 0))
            return false;
    }
    if (!(r->has & NTFF_HAS_TYPE_TOTAL))
        return true;
    const char *usage =
        a->usage_name ? ntff_text(&b->t->strs, a->usage_name) : ntff_usage_name(a->usage);
    struct ntff_key key = {UINT64_C(9) << 56 | proc, a->hbm,
                           a->usage_name ? UINT64_C(1) << 32 | a->usage_name : a->usage};
    proto.rank = rank + (a->usage < 30 ? 1 + (int32_t)a->usage : 31);
    uint32_t t =
        usage ? counter_row(b, proc, key, &proto, "hbm", "HBM%" PRIu32 " %.80s", a->hbm, usage)
              : counter_row(b, proc, key, &proto, "hbm", "HBM%" PRIu32 " usage %" PRIu32, a->hbm,
                            a->usage);
    return t != NTFF_NONE &&
           ntff_build_sample(b, t, r->timestamp_ns, (int64_t)r->type_total_bytes, 0);
}

/* Bandwidth of one transfer, as two steps; order.c sums overlapping ones up. */
static bool transfer_rate(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint32_t type,
                          uint64_t ts_ns, uint64_t dur_ns, uint64_t size_bytes)
{
    bool out = type == NTFF_ET_DMEM_COPYOUT || type == NTFF_ET_DMEM_COPYOUT + 2;
    unsigned __int128 rate = dur_ns ? (unsigned __int128)size_bytes * NTFF_NS_PER_SEC / dur_ns : 0;
    if (rate == 0 || rate > INT64_MAX / 1024)
        return true;
    struct ntff_track proto = blank_track;
    struct ntff_key key = {UINT64_C(7) << 56 | proc, nc, out};
    proto.nc = nc;
    proto.unit = NTFF_UNIT_BYTES_PER_SEC;
    proto.rank = 50 + (nc < 8 ? (int32_t)nc * 2 + out : 18);
    uint32_t t = counter_row(b, proc, key, &proto, "transfer", "NC%" PRIu32 " %s", nc,
                             out ? "device to host" : "host to device");
    for (int end = 0; end < 2; end++) {
        struct ntff_rate *x = t == NTFF_NONE ? NULL : NTFF_VEC_PUSH(b->budget, &b->rates);
        if (!x)
            return no_memory(b);
        *x = (struct ntff_rate){.ts_ns = ts_ns + (end ? dur_ns : 0),
                                .delta = end ? -(int64_t)rate : (int64_t)rate,
                                .track = t};
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
        return no_memory(b);
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
    if (b->filter.active && !passes(b, proc, r, name))
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
            return no_memory(b);
        *a = (struct ntff_aux){r->size_bytes, r->hbm, r->usage, r->usage_name};
        if (r->usage == NTFF_NONE && !r->usage_name && r->usage_text.len) {
            a->usage_name = ntff_intern(&b->t->strs, r->usage_text.p, r->usage_text.len);
            if (a->usage_name == NTFF_STR_NONE)
                return no_memory(b);
        }
        *aux = (uint32_t)(b->auxes.n - 1);
    }
    return add_links(b, proc, r, *index);
}

static bool push_half(struct ntff_builder *b, const struct ntff_half *h)
{
    struct ntff_half *x = NTFF_VEC_PUSH(b->budget, &b->halves);
    if (!x)
        return no_memory(b);
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
        return no_memory(b);
    if (m->value != NTFF_NONE) { /* the id is open already: put the older one aside */
        const struct ntff_event *old = &b->events.v[m->value];
        struct ntff_half h = {.key = m->key, .ts_ns = old->ts_ns, .event = m->value, .aux = m->aux};
        ntff_diag_add(b->diag, NTFF_DIAG_REPEATED_START, 1, NULL, NTFF_NO_OFFSET,
                      "tracking_id %" PRIu64, r->tracking_id);
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
        return memory_samples(b, proc, r, &b->auxes.v[aux]);
    return e->flags & NTFF_EV_HIDDEN || transfer_rate(b, proc, r->nc_idx, r->type, e->ts_ns,
                                                      e->dur_ns, b->auxes.v[aux].size_bytes);
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

bool ntff_build_record(struct ntff_builder *b, uint32_t proc, const struct ntff_rec *r)
{
    uint32_t event, aux;
    struct ntff_counts *c = &b->t->counts;
    c->records_in++;
    if (r->timestamp_ns != r->nc_ns)
        b->last_host_ns = r->timestamp_ns;
    if (r->timestamp_ns == 0 && !(r->has & NTFF_HAS_NC_TS)) {
        c->dropped_records++;
        ntff_diag_add(b->diag, NTFF_DIAG_BAD_TIME, 1, NULL, NTFF_NO_OFFSET,
                      "record without a time");
        return true;
    }
    if (r->type >= NTFF_N_EVENT_TYPES && !r->is_ring)
        ntff_diag_add(b->diag, NTFF_DIAG_UNKNOWN_TYPE, 1, NULL, NTFF_NO_OFFSET, "type %" PRIu32,
                      r->type & ~NTFF_OLD_TYPE);
    if (r->duration_ns) { /* one record for the whole span: the older form, and the vendor's JSON */
        if (!add_event(b, proc, r, false, &event, &aux))
            return false;
        struct ntff_event *e = &b->events.v[event];
        e->dur_ns = r->duration_ns;
        if (aux != NTFF_NONE && e->flags & NTFF_EV_DEVICE)
            b->devs.v[aux].has |= NTFF_DEV_WHOLE;
        c->whole++;
        return !is_transfer(r->type) || aux == NTFF_NONE || e->flags & NTFF_EV_HIDDEN ||
               transfer_rate(b, proc, r->nc_idx, r->type, e->ts_ns, e->dur_ns, r->size_bytes);
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

bool ntff_build_sample(struct ntff_builder *b, uint32_t track, uint64_t ts_ns, int64_t i, double d)
{
    uint32_t proc = b->tracks.v[track].process;
    if (b->filter.active && proc != NTFF_NONE && !process_passes(b, proc)) {
        b->t->counts.samples_in++;
        b->t->counts.samples_filtered++;
        return true;
    }
    struct ntff_sample *s = NTFF_VEC_PUSH(b->budget, &b->samples);
    if (!s)
        return no_memory(b);
    s->ts_ns = ts_ns;
    s->track = track;
    if (b->tracks.v[track].is_double)
        s->value.d = d;
    else
        s->value.i = i;
    b->t->counts.samples_in++;
    return true;
}

/* -- device profiles ----------------------------------------------------------------------------
 */

static struct ntff_range *range_of(struct ntff_builder *b, uint32_t proc, uint32_t nc,
                                   uint32_t core)
{
    struct ntff_range *last = b->ranges.n ? &b->ranges.v[b->ranges.n - 1] : NULL;
    if (last && last->proc == proc && last->nc == nc && last->core == core &&
        last->first_event + last->n_events == b->events.n &&
        last->first_sample + last->n_samples == b->samples.n)
        return last;
    last = NTFF_VEC_PUSH(b->budget, &b->ranges);
    if (last)
        *last = (struct ntff_range){.first_event = (uint32_t)b->events.n,
                                    .proc = proc,
                                    .nc = nc,
                                    .first_sample = (uint32_t)b->samples.n,
                                    .core = core};
    return last;
}

bool ntff_build_event(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint32_t device_core,
                      const struct ntff_event *ev)
{
    struct ntff_range *range = NULL;
    if (device_core != NTFF_NONE && !(range = range_of(b, proc, nc, device_core)))
        return no_memory(b);
    if (b->events.n >= NTFF_NONE - 1)
        return no_memory(b);
    struct ntff_event *e = NTFF_VEC_PUSH(b->budget, &b->events);
    if (!e)
        return no_memory(b);
    *e = *ev;
    if (range)
        range->n_events++;
    return true;
}

struct ntff_event *ntff_build_events(struct ntff_builder *b)
{
    return b->events.v;
}

struct ntff_event *ntff_build_room(struct ntff_builder *b, size_t n, size_t *first)
{
    if (n > NTFF_NONE - 1 - b->events.n ||
        !ntff_grow(b->budget, (void **)&b->events.v, &b->events.cap, b->events.n, n,
                   sizeof *b->events.v))
        return no_memory(b), NULL;
    *first = b->events.n;
    return b->events.v;
}

bool ntff_build_filled(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint32_t device_core,
                       size_t n)
{
    struct ntff_range *range = NULL;
    if (device_core != NTFF_NONE && !(range = range_of(b, proc, nc, device_core)))
        return no_memory(b);
    b->events.n += n;
    if (range)
        range->n_events += (uint32_t)n;
    return true;
}

bool ntff_build_device_sample(struct ntff_builder *b, uint32_t proc, uint32_t nc,
                              uint32_t device_core, uint32_t track, uint64_t nc_ns, int64_t i,
                              double d)
{
    struct ntff_range *range = NULL;
    if (device_core != NTFF_NONE && !(range = range_of(b, proc, nc, device_core)))
        return no_memory(b);
    if (!ntff_build_sample(b, track, nc_ns, i, d))
        return false;
    if (range)
        range->n_samples++;
    return true;
}

size_t ntff_build_core_runs(const struct ntff_builder *b, uint32_t proc, struct ntff_core_run *runs,
                            size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; i < b->devs.n; i++) {
        const struct ntff_dev *d = &b->devs.v[i];
        if (d->proc != proc || d->type != NTFF_ET_DEVICE_EXEC || d->core == NTFF_NONE ||
            !(d->has & NTFF_DEV_START) || !(d->has & NTFF_DEV_STOP))
            continue;
        if (n < cap)
            runs[n] = (struct ntff_core_run){d->nc_start_ns, d->nc_stop_ns, d->nc, d->core};
        n++;
    }
    return n;
}

bool ntff_build_device_zero(struct ntff_builder *b, uint32_t proc, uint32_t nc,
                            uint32_t device_core, uint64_t zero_ns)
{
    for (size_t i = 0; i < b->zeros.n; i++) {
        struct ntff_zero *z = &b->zeros.v[i];
        if (z->proc != proc || z->nc != nc || z->core != device_core)
            continue;
        z->ns = zero_ns < z->ns ? zero_ns : z->ns;
        return true;
    }
    struct ntff_zero *z = NTFF_VEC_PUSH(b->budget, &b->zeros);
    if (!z)
        return no_memory(b);
    *z = (struct ntff_zero){zero_ns, proc, nc, device_core};
    return true;
}

bool ntff_build_wants(struct ntff_builder *b, uint32_t proc, uint32_t nc)
{
    struct ntff_rec r = {.nc_idx = nc, .type = NTFF_ET_DEVICE_EXEC};
    return !b->filter.active || place_passes(b, proc, &r);
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
    ntff_diag_add(b->diag, NTFF_DIAG_UNMATCHED_STOP, 1, NULL, NTFF_NO_OFFSET,
                  "tracking_id %" PRIu64 ", type %" PRIu32, h->key.a, h->type);
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
            return no_memory(b);
        *e = (struct ntff_event){.ts_ns = h->ts_ns, .name = name, .track = t};
        e->cat = (unsigned)category(&r, true) & 15;
        e->flags = NTFF_EV_DEVICE;
        if (b->filter.active && !passes(b, proc, &r, name))
            e->flags |= NTFF_EV_HIDDEN;
        event = (uint32_t)(b->events.n - 1);
        if (!add_dev(b, proc, &r, event, true))
            return false;
    }
    struct ntff_event *e = &b->events.v[event];
    e->flags |= NTFF_EV_START_LOST;
    e->start_ref = (struct ntff_ref){.src = NTFF_SRC_NONE};
    e->stop_ref = h->ref;
    return true;
}

static void lone_start(struct ntff_builder *b, const struct ntff_half *h)
{
    ntff_diag_add(b->diag, NTFF_DIAG_UNMATCHED_START, 1, NULL, NTFF_NO_OFFSET,
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
                ntff_diag_add(b->diag, NTFF_DIAG_NEGATIVE_DURATION, 1, NULL, NTFF_NO_OFFSET,
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
