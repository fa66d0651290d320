/* counters - what can be counted from runtime events: device memory by use, transfer bandwidth. */
#include "proto/builder.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
        return ntff_builder_no_memory(b), NTFF_NONE;
    return m->value = t;
}

/* Running totals of device memory: one counter per HBM and usage class, and their sum. */
bool ntff_build_memory_samples(struct ntff_builder *b, uint32_t proc, const struct ntff_rec *r,
                               const struct ntff_aux *a)
{
    struct ntff_track proto = NTFF_BLANK_TRACK;
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
bool ntff_build_transfer_rate(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint32_t type,
                              uint64_t ts_ns, uint64_t dur_ns, uint64_t size_bytes)
{
    bool out = type == NTFF_ET_DMEM_COPYOUT || type == NTFF_ET_DMEM_COPYOUT + 2;
    unsigned __int128 rate = dur_ns ? (unsigned __int128)size_bytes * NTFF_NS_PER_SEC / dur_ns : 0;
    if (rate == 0 || rate > INT64_MAX / 1024)
        return true;
    struct ntff_track proto = NTFF_BLANK_TRACK;
    struct ntff_key key = {UINT64_C(7) << 56 | proc, nc, out};
    proto.nc = nc;
    proto.unit = NTFF_UNIT_BYTES_PER_SEC;
    proto.rank = 50 + (nc < 8 ? (int32_t)nc * 2 + out : 18);
    uint32_t t = counter_row(b, proc, key, &proto, "transfer", "NC%" PRIu32 " %s", nc,
                             out ? "device to host" : "host to device");
    for (int end = 0; end < 2; end++) {
        struct ntff_rate *x = t == NTFF_NONE ? NULL : NTFF_VEC_PUSH(b->budget, &b->rates);
        if (!x)
            return ntff_builder_no_memory(b);
        *x = (struct ntff_rate){.ts_ns = ts_ns + (end ? dur_ns : 0),
                                .delta = end ? -(int64_t)rate : (int64_t)rate,
                                .track = t};
    }
    return true;
}
