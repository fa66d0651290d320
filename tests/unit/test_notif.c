/* Device notification records: type codes, places, times, and the look over a run. */
#include "proto/notif.h"

#include "tests/tap.h"

#include <stdlib.h>

/* The 24 codes of the spec and the eight reserved ones, written out. */
TAP_TEST(type_codes)
{
    static const struct {
        int kind, engine; /* engine -1: none */
    } want[32] = {
        {NTFF_NK_RESERVED, -1}, {NTFF_NK_RESERVED, -1},  {NTFF_NK_DMA, -1},
        {NTFF_NK_ERROR, -1},    {NTFF_NK_START, 0},      {NTFF_NK_END, 0},
        {NTFF_NK_EXPLICIT, 0},  {NTFF_NK_SEM, 0},        {NTFF_NK_START, 1},
        {NTFF_NK_END, 1},       {NTFF_NK_EXPLICIT, 1},   {NTFF_NK_SEM, 1},
        {NTFF_NK_START, 2},     {NTFF_NK_END, 2},        {NTFF_NK_EXPLICIT, 2},
        {NTFF_NK_SEM, 2},       {NTFF_NK_START, 3},      {NTFF_NK_END, 3},
        {NTFF_NK_EXPLICIT, 3},  {NTFF_NK_SEM, 3},        {NTFF_NK_START, 4},
        {NTFF_NK_END, 4},       {NTFF_NK_EXPLICIT, 4},   {NTFF_NK_SEM, 4},
        {NTFF_NK_RESERVED, -1}, {NTFF_NK_RESERVED, -1},  {NTFF_NK_RESERVED, -1},
        {NTFF_NK_AXI_SEM, -1},  {NTFF_NK_RESERVED, -1},  {NTFF_NK_RESERVED, -1},
        {NTFF_NK_HAM, -1},      {NTFF_NK_TPB_ERROR, -1},
    };
    for (unsigned t = 0; t < 32; t++) {
        TAP_CONTEXT("type 0x%02x", t);
        TAP_EQ_U64(ntff_notif_kinds[t], want[t].kind);
        TAP_EQ_U64(ntff_notif_has_engine(t), want[t].engine >= 0);
        if (want[t].engine >= 0)
            TAP_EQ_U64(ntff_notif_engine(t), want[t].engine);
        /* overflow and phase bits do not reach the type */
        TAP_EQ_U64(ntff_notif_type((t | 0xe0) << 24 | 0xffffff), t);
    }
    TAP_EQ_STR(ntff_engine_track(2), "GpSimd (POOL)");
    TAP_EQ_STR(ntff_engine_name(5), NULL);
}

/* The notification-type map: nine pairs, two types that are dropped, and EXPLICIT, which never
 * comes from the map but is in files. */
TAP_TEST(notification_places)
{
    static const struct {
        uint32_t trace, block;
    } want[9] = {{0, 0}, {1, 0}, {2, 0}, {0, 0}, {4, 1}, {5, 0}, {0, 2}, {1, 2}, {2, 2}};
    uint32_t trace, block;
    for (unsigned n = 0; n < 9; n++) {
        TAP_CONTEXT("notification type %u", n);
        TAP_OK(ntff_notification_place(n, &trace, &block));
        TAP_EQ_U64(trace, want[n].trace);
        TAP_EQ_U64(block, want[n].block);
        TAP_OK(trace != NTFF_TRACE_EXPLICIT);
        TAP_OK(ntff_trace_pair_ok(trace, block));
    }
    TAP_OK(!ntff_notification_place(9, &trace, &block)); /* TOPSP_CC_STATUS */
    TAP_OK(!ntff_notification_place(10, &trace, &block));
    TAP_OK(ntff_trace_pair_ok(NTFF_TRACE_EXPLICIT, NTFF_BLOCK_NC));
    TAP_OK(ntff_trace_pair_ok(NTFF_TRACE_EXPLICIT, NTFF_BLOCK_TOPSP));
    TAP_OK(!ntff_trace_pair_ok(NTFF_TRACE_EXPLICIT, NTFF_BLOCK_DMA));
    TAP_OK(!ntff_trace_pair_ok(NTFF_TRACE_DMA, NTFF_BLOCK_NC));
    TAP_OK(!ntff_trace_pair_ok(NTFF_TRACE_THROTTLE, NTFF_BLOCK_TOPSP));
    TAP_OK(!ntff_trace_pair_ok(0, 3));
    TAP_OK(!ntff_trace_pair_ok(6, 0));
}

TAP_TEST(texts)
{
    TAP_EQ_STR(ntff_notif_error(0), "FP_UNDERFLOW");
    TAP_EQ_STR(ntff_notif_error(10), "SEQUENCER_FATAL");
    TAP_EQ_STR(ntff_notif_error(11), NULL);
    for (unsigned id = 0; id < 12; id++) {
        TAP_CONTEXT("custom status %u", id);
        TAP_EQ_U64(ntff_notif_out_of_bounds(id), id <= 5 || id == 9 || id == 10);
        TAP_EQ_U64(ntff_notif_custom(id) != NULL, id <= 10);
    }
    TAP_EQ_STR(ntff_notif_custom(7), "output tensor complete");
    TAP_EQ_STR(ntff_dma_name(5), "S2M end");
    TAP_EQ_STR(ntff_dma_name(0), NULL);
    TAP_EQ_STR(ntff_dma_name(7), NULL);
    TAP_EQ_STR(ntff_dma_name(14), NULL);
}

/* -- time
 * -----------------------------------------------------------------------------------------------
 */

static uint64_t ns_of(struct ntff_tick t, uint64_t ps)
{
    uint64_t ns = 12345;
    TAP_OK(ntff_tick_ns(&t, ps, &ns));
    return ns;
}

TAP_TEST(plain_clock)
{
    struct ntff_tick t = ntff_tick_make(0, 0, 0, 0);
    TAP_EQ_U64(ns_of(t, 0), 0);
    TAP_EQ_U64(ns_of(t, 999), 0);
    TAP_EQ_U64(ns_of(t, 1000), 1);
    TAP_EQ_U64(ns_of(t, UINT64_MAX), UINT64_MAX / 1000);
    t = ntff_tick_make(0, 1024, 1024, 1000); /* equal increments change nothing */
    TAP_EQ_U64(ns_of(t, UINT64_MAX), UINT64_MAX / 1000);
    t = ntff_tick_make(0, 1024, 0, 0); /* half a rate is none */
    TAP_EQ_U64(ns_of(t, 5000), 5);
}

TAP_TEST(init_and_rate)
{
    uint64_t ns;
    struct ntff_tick t = ntff_tick_make(5000, 0, 0, 0);
    TAP_EQ_U64(ns_of(t, 5999), 0);
    TAP_EQ_U64(ns_of(t, 6000), 1);
    TAP_OK(!ntff_tick_ns(&t, 4999, &ns)); /* before its own beginning */
    t = ntff_tick_make(1000000, 1020, 1024, 0);
    TAP_EQ_U64(ns_of(t, 1000000 + 1020000), 1024);
    TAP_EQ_U64(ns_of(t, 1000000 + 1020), 1); /* 1.024 */
    t = ntff_tick_make(0, 3, 1, 0);
    TAP_EQ_U64(ns_of(t, 2999), 0);
    TAP_EQ_U64(ns_of(t, 3000), 1);
    t = ntff_tick_make(0, 0, 0, 1200);
    TAP_EQ_U64(ns_of(t, 2400), 2);
}

/* Against long division digit by digit, on numbers whose product needs more than 64 bits. */
TAP_TEST(exact_beyond_64_bits)
{
    struct ntff_tick t = ntff_tick_make(0, UINT64_C(4294967291), UINT64_C(4294967279), 0);
    /* 18446744073709551615 * 4294967279 / 4294967291 / 1000, by bc */
    TAP_EQ_U64(ns_of(t, UINT64_MAX), UINT64_C(18446744022169944));
    t = ntff_tick_make(0, 1, UINT64_C(1) << 40, 1);
    uint64_t ns;
    TAP_OK(!ntff_tick_ns(&t, UINT64_C(1) << 30, &ns)); /* 2^70 does not fit */
    TAP_EQ_U64(ns_of(t, 3), UINT64_C(3) << 40);
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 2000; i++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        uint64_t ps = seed >> (i % 40), actual = (seed >> 20 & 0xffffff) + 1,
                 expected = (seed & 0xffffff) + 1;
        t = ntff_tick_make(0, actual, expected, 0);
        unsigned __int128 want =
            (unsigned __int128)ps * expected / ((unsigned __int128)actual * 1000);
        bool fits = want >> 64 == 0;
        TAP_CONTEXT("round %d", i);
        TAP_EQ_U64(ntff_tick_ns(&t, ps, &ns), fits);
        if (fits)
            TAP_EQ_U64(ns, (uint64_t)want);
    }
}

/* -- the look
 * ------------------------------------------------------------------------------------------- */

static void record(uint8_t *p, uint32_t word0, uint32_t word1, uint64_t ts)
{
    for (int i = 0; i < 4; i++) {
        p[i] = (uint8_t)(word0 >> 8 * i);
        p[4 + i] = (uint8_t)(word1 >> 8 * i);
    }
    for (int i = 0; i < 8; i++)
        p[8 + i] = (uint8_t)(ts >> 8 * i);
}

TAP_TEST(look_counts_and_order)
{
    uint8_t d[6 * 16];
    struct ntff_ring_look l;
    record(d, 0x04000001, 0, 1000);
    record(d + 16, 0x05000001, 0, 2000);
    record(d + 32, 0x28000001, 0, 1500); /* another clock: its own order */
    record(d + 48, 0x49000001, 0, 1600);
    record(d + 64, 0x84000001, 0, 2500);
    record(d + 80, 0x1a000000, 0, 9000); /* reserved */
    ntff_ring_look(d, 6, &l);
    TAP_EQ_U64(l.n, 6);
    TAP_EQ_U64(l.n_descents, 0);
    TAP_EQ_U64(l.of_type[4], 2);
    TAP_EQ_U64(l.sw_marks, 1);
    TAP_EQ_U64(l.hw_marks, 1);
    TAP_EQ_U64(l.min_ps, 1000);
    TAP_EQ_U64(l.max_ps, 9000);
    TAP_EQ_U64(ntff_ring_of_kind(&l, NTFF_NK_RESERVED), 1);
    TAP_EQ_U64(ntff_ring_class(&l), 0);
    record(d + 64, 0x04000001, 0, 1999); /* PE steps back */
    ntff_ring_look(d, 6, &l);
    TAP_EQ_U64(l.n_descents, 1);
    TAP_EQ_U64(l.last_descent, 4);
    ntff_ring_look(d, 0, &l);
    TAP_EQ_U64(l.n, 0);
    TAP_OK(ntff_ring_class(&l) == -1);
}

TAP_TEST(look_judges_layouts)
{
    uint8_t d[4 * 16];
    struct ntff_ring_look l;
    record(d, 0x07000105, 1, 1);
    record(d + 16, 0x03000103, 2, 2); /* interrupt */
    ntff_ring_look(d, 2, &l);
    TAP_OK(l.sem_ok && l.interrupt_ok);
    record(d, 0x07000505, 1, 1);
    ntff_ring_look(d, 2, &l);
    TAP_OK(!l.sem_ok && l.interrupt_ok);
    record(d + 16, 0x03040103, 2, 2); /* an unused bit */
    ntff_ring_look(d, 2, &l);
    TAP_OK(!l.interrupt_ok);
    record(d + 16, 0x0304010b, 2, 2); /* of a warning it is used */
    ntff_ring_look(d, 2, &l);
    TAP_OK(l.interrupt_ok);
}

TAP_TEST(look_finds_the_dma_layout)
{
    uint8_t d[40 * 16];
    struct ntff_ring_look l;
    for (unsigned i = 0; i < 40; i++)
        record(d + 16 * i, 0x02000000 | i << 8, (i & 1 ? 2u : 1u) | (i % 4 / 2) << 4, i);
    ntff_ring_look(d, 40, &l);
    TAP_EQ_U64(l.dma_layout, NTFF_DMA_WORD1);
    TAP_OK(l.dma_queue_ok);
    TAP_EQ_U64(ntff_ring_class(&l), 4);
    record(d + 16 * 7, 0x02000000, 7, 7); /* no such sub-type: the place is wrong */
    ntff_ring_look(d, 40, &l);
    TAP_EQ_U64(l.dma_layout, NTFF_DMA_UNDECIDED);
    for (unsigned i = 0; i < 40; i++)
        record(d + 16 * i, 0x02000000 | (i & 1 ? 5u : 4u), 0xdead0007, i);
    ntff_ring_look(d, 40, &l);
    TAP_EQ_U64(l.dma_layout, NTFF_DMA_WORD0);
    /* starts that all say queue 0 while their ends spread: those bits are no queue */
    for (unsigned i = 0; i < 40; i++)
        record(d + 16 * i, 0x02000000, i & 1 ? 2u | (i / 2 % 10) << 4 : 1u, i);
    ntff_ring_look(d, 40, &l);
    TAP_EQ_U64(l.dma_layout, NTFF_DMA_WORD1);
    TAP_OK(!l.dma_queue_ok);
}

TAP_MAIN()
