/* device_cells - pending count and throughput over all DMA packets of a core.
 *
 * They are kept per cell of time. Up to 65,536 ns a cell is 1 ns, and the counters are exact;
 * longer captures get 8,192 to 16,384 cells of a power of two ns, and a cell holds the average over
 * it. So the memory is bounded however many packets there are, and a packet costs the same however
 * long it is. */
#include "proto/device.h"

#include <math.h>
#include <stdlib.h>

enum { RANK_PENDING = 3100, RANK_THROUGHPUT = 3101 };

bool ntff_device_dma_extent(struct ntff_device *d, uint64_t first_ns, uint64_t last_ns)
{
    struct ntff_cells *c = &d->cells;
    size_t bytes = (NTFF_CELLS + 2) * sizeof *c->cell;
    if (last_ns < first_ns || c->cell)
        return true;
    if (!ntff_budget_take(&ntff_build_trace(d->b)->budget, bytes))
        return false;
    c->begin_ns = first_ns;
    while ((last_ns - first_ns) >> c->shift >= (c->shift ? NTFF_CELLS / 4 : NTFF_CELLS))
        c->shift++;
    c->length_ns = (uint64_t)NTFF_CELLS << c->shift;
    c->cell = calloc(NTFF_CELLS + 2, sizeof *c->cell);
    return c->cell != NULL;
}

/* A rate that changes by delta at a time, which is at_ns after the begin. */
static inline void change(const struct ntff_cells *c, int what, uint64_t at_ns, uint64_t delta)
{
    struct ntff_cell *cell = &c->cell[at_ns >> c->shift];
    cell->of[what].part += delta * ((((at_ns >> c->shift) + 1) << c->shift) - at_ns);
    cell[1].of[what].step += delta;
}

void ntff_cells_spread(const struct ntff_cells *c, int what, uint64_t from, uint64_t to,
                       uint64_t bytes)
{
    /* bytes < 2^24: the quotient is exact enough, and what is added is taken away again */
    uint64_t rate = (uint64_t)((double)(bytes << NTFF_FLOW_BITS) / (double)(to - from) + 0.5);
    change(c, NTFF_PENDING, from, 1);
    change(c, NTFF_PENDING, to, UINT64_MAX);
    change(c, what, from, rate);
    change(c, what, to, 0 - rate);
}

static uint32_t counter(struct ntff_device *d, const char *name, int32_t rank, int unit,
                        bool is_double)
{
    struct ntff_track proto = {.kind = NTFF_TRACK_COUNTER,
                               .rank = rank,
                               .process = d->proc,
                               .nc = d->nc,
                               .core = d->core,
                               .unit = (uint8_t)unit,
                               .is_double = is_double};
    if (unit == NTFF_UNIT_BYTES_PER_SEC)
        proto.share_key = ntff_intern(&ntff_build_trace(d->b)->strs, "dma_throughput", 14);
    return proto.share_key == NTFF_STR_NONE ? NTFF_NONE
                                            : ntff_build_track(d->b, d->parent, name, &proto);
}

static bool sample(struct ntff_device *d, uint32_t track, uint64_t cell, double value)
{
    uint64_t ns = d->cells.begin_ns + (cell << d->cells.shift);
    ntff_build_trace(d->b)->counts.samples_in--; /* derived, not read */
    return ntff_build_device_sample(d->b, d->proc, d->nc, d->core, track, ns, llround(value),
                                    value);
}

bool ntff_device_dma_counters(struct ntff_device *d)
{
    const struct ntff_cells *c = &d->cells;
    if (!c->cell || d->n_packets == 0)
        return true;
    uint64_t width = UINT64_C(1) << c->shift, rate[NTFF_N_FLOWS] = {0};
    double was[NTFF_N_FLOWS] = {0};
    bool steady[NTFF_N_FLOWS] = {false}; /* the cell before held its rate from end to end */
    uint32_t track[NTFF_N_FLOWS] = {
        counter(d, "Pending DMA count", RANK_PENDING, NTFF_UNIT_COUNT, true),
        counter(d, "DMA M2S throughput", RANK_THROUGHPUT, NTFF_UNIT_BYTES_PER_SEC, false),
        counter(d, "DMA S2M throughput", RANK_THROUGHPUT + 1, NTFF_UNIT_BYTES_PER_SEC, false)};
    for (uint64_t i = 0; i < NTFF_CELLS + 2; i++) {
        for (int k = 0; k < NTFF_N_FLOWS; k++) {
            uint64_t step = c->cell[i].of[k].step, part = c->cell[i].of[k].part;
            if (steady[k] && step == 0 && part == 0)
                continue; /* most cells, mostly */
            steady[k] = part == 0;
            rate[k] += step;
            double now = (double)(rate[k] * width + part) / (double)width;
            if (k != NTFF_PENDING) /* bytes per ns, fixed point, to whole bytes per second */
                now = round(ldexp(now, -NTFF_FLOW_BITS) * 1e9);
            if (track[k] == NTFF_NONE || (now != was[k] && !sample(d, track[k], i, now)))
                return false;
            was[k] = now;
        }
    }
    return true;
}
