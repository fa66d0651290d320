/* rows - processes and the tree of tracks while it grows: who draws what where.
 *
 * Host events go to rows by the secondary group within a process by the primary group; the first
 * row of a thread is the thread itself, so that its tid shows as one. Device events go to rows of
 * their physical core, collectives and notifications to one row of the logical core
 * [perfetto-contract, section 3]. */
#include "proto/builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint32_t ntff_build_process(struct ntff_builder *b, const char *instance, uint64_t pid,
                            const char *dir)
{
    struct ntff_strtab *s = &b->t->strs;
    ntff_str inst = ntff_intern(s, instance, strlen(instance));
    ntff_str d = ntff_intern(s, dir, strlen(dir));
    if (inst == NTFF_STR_NONE || d == NTFF_STR_NONE)
        return ntff_builder_no_memory(b), NTFF_NONE;
    struct ntff_map_slot *m = ntff_map_at(&b->names, (struct ntff_key){inst, pid, d});
    if (!m)
        return ntff_builder_no_memory(b), NTFF_NONE;
    if (m->value != NTFF_NONE)
        return m->value;
    struct ntff_process *p = NTFF_VEC_PUSH(b->budget, &b->processes);
    if (!p) {
        b->names.n--;
        return ntff_builder_no_memory(b), NTFF_NONE;
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
        return ntff_builder_no_memory(b), NTFF_NONE;
    struct ntff_map_slot *m = ntff_map_at(&b->by_name, (struct ntff_key){parent, proto->kind, id});
    if (!m)
        return ntff_builder_no_memory(b), NTFF_NONE;
    if (m->value != NTFF_NONE)
        return m->value;
    struct ntff_track *t = NTFF_VEC_PUSH(b->budget, &b->tracks);
    if (!t) {
        b->by_name.n--;
        return ntff_builder_no_memory(b), NTFF_NONE;
    }
    *t = *proto;
    t->name = id;
    t->parent = parent;
    t->n_lanes = 1;
    b->t->tracks = b->tracks.v;
    b->t->n_tracks = b->tracks.n;
    return m->value = (uint32_t)(b->tracks.n - 1);
}

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
        return ntff_builder_no_memory(b);
    out->p[out->len - 1] = '\0';
    return true;
}

/* The Perfetto process an event of (proc, nc, tid) belongs to, by the primary group. Two processes
 * may look alike (same pid in two captures): the later ones get a number. */
static uint32_t make_primary(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint64_t tid)
{
    struct ntff_track proto = NTFF_BLANK_TRACK;
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
        return ntff_builder_no_memory(b), NTFF_NONE;
    return m->value = t;
}

uint32_t ntff_build_process_track(struct ntff_builder *b, uint32_t proc, uint32_t nc)
{
    return primary_track(b, proc, nc, 0);
}

static uint32_t group_track(struct ntff_builder *b, uint32_t proc, uint32_t nc, const char *name,
                            int32_t rank)
{
    struct ntff_track proto = NTFF_BLANK_TRACK;
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
    struct ntff_track proto = NTFF_BLANK_TRACK;
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

/* A few rows are asked for over and over: where the last one asked for with such a key stands. */
static struct ntff_map_slot *lately(struct ntff_builder *b, const struct ntff_key *k)
{
    return &b->lately[(k->a >> 56 ^ k->a * 5 ^ k->b * 9 ^ k->c) % NTFF_LATELY];
}

static bool is_row(const struct ntff_map_slot *m, const struct ntff_key *k)
{
    return m->value != NTFF_NONE && m->key.a == k->a && m->key.b == k->b && m->key.c == k->c;
}

/* core = NTFF_NONE: not known yet (place.c asks again); then a row named "Execution ?". */
uint32_t ntff_build_device_row(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint32_t core,
                               uint32_t type, bool instant)
{
    bool cc = type == NTFF_ET_CC_EXEC || type == NTFF_ET_CC_EXEC_BARRIER;
    uint64_t cls = instant ? 3 : cc ? 2 : 1;
    struct ntff_key key = {cls << 56 | proc, nc, cls == 1 ? core : UINT64_MAX - 1};
    struct ntff_map_slot *near_row = lately(b, &key);
    if (is_row(near_row, &key))
        return near_row->value;
    struct ntff_map_slot *m = ntff_map_find(&b->rows, key);
    if (m) {
        *near_row = *m;
        return m->value;
    }
    struct ntff_track proto = NTFF_BLANK_TRACK;
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
        return ntff_builder_no_memory(b), NTFF_NONE;
    return m->value = t;
}

static uint32_t make_row(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint64_t tid,
                         int32_t gid)
{
    int by = b->secondary;
    struct ntff_track proto = NTFF_BLANK_TRACK;
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
                return ntff_builder_no_memory(b), NTFF_NONE;
            m->value = 0;
            /* two threads may share a name: the map by name must not merge them */
            struct ntff_track *t = NTFF_VEC_PUSH(b->budget, &b->tracks);
            if (!t)
                return ntff_builder_no_memory(b), NTFF_NONE;
            *t = proto;
            t->name = ntff_intern(&b->t->strs, name, strlen(name));
            t->parent = parent;
            t->n_lanes = 1;
            b->t->tracks = b->tracks.v;
            b->t->n_tracks = b->tracks.n;
            return t->name == NTFF_STR_NONE ? (ntff_builder_no_memory(b), NTFF_NONE)
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
    struct ntff_map_slot *near_row = lately(b, &key);
    if (is_row(near_row, &key))
        return near_row->value;
    struct ntff_map_slot *m = ntff_map_find(&b->rows, key);
    if (!m) {
        uint32_t t = make_row(b, proc, nc, tid, gid);
        m = t == NTFF_NONE ? NULL : ntff_map_at(&b->rows, key);
        if (!m)
            return ntff_builder_no_memory(b), NTFF_NONE;
        m->value = t;
    }
    *near_row = *m;
    return m->value;
}
