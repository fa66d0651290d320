/* test_align - offsets of instances from common collectives. */
#include "proto/align.h"
#include "tests/clock_sim.h"
#include "tests/random.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define HOST UINT64_C(1764440000000000000)

/* A program of several instances: executions at about regular intervals, three collectives in each.
 */
enum { OPS = 3 };

struct program {
    size_t n_execs;
    uint64_t step_ns, step_jitter_ns; /* from execution to execution */
    uint64_t end_jitter_ns;           /* of the ends among the ranks */
    uint64_t seed;
};

static uint64_t uniform(uint64_t *state, uint64_t below)
{
    return below ? random_next(state) % below : 0;
}

/* Ends as one instance sees them: its clock is ahead by ahead_ns, and its executions are counted
 * from first_exec on. The caller frees. */
static struct ntff_align_instance watch(const struct program *p, uint32_t n_ranks, int64_t ahead_ns,
                                        uint64_t first_exec, uint64_t seed)
{
    struct ntff_align_end *e = calloc(p->n_execs * OPS * n_ranks + 1, sizeof *e);
    uint64_t common = p->seed, own = seed, t = HOST;
    size_t n = 0;
    TAP_OK(e);
    for (size_t i = 0; i < p->n_execs; i++) {
        t += p->step_ns + uniform(&common, p->step_jitter_ns);
        for (uint64_t op = 0; op < OPS; op++)
            for (uint32_t r = 0; r < n_ranks; r++)
                e[n++] = (struct ntff_align_end){
                    op, first_exec + i,
                    t + op * 700 * US + uniform(&own, p->end_jitter_ns) + (uint64_t)ahead_ns, r};
    }
    return (struct ntff_align_instance){e, n, 0};
}

static void forget(struct ntff_align_instance *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free((void *)(uintptr_t)in[i].ends);
}

static void align(const struct ntff_align_instance *in, size_t n, struct ntff_align_offset *out)
{
    struct ntff_error err;
    TAP_OK(ntff_align(in, n, out, &err) == NTFF_OK);
}

static uint64_t far(int64_t a, int64_t b)
{
    return (uint64_t)llabs(a - b);
}

TAP_TEST(nothing_to_align)
{
    struct ntff_align_offset o[3];
    align(NULL, 0, o);
    align((struct ntff_align_instance[3]){{0}}, 3, o);
    TAP_OK(o[0].how == NTFF_ALIGN_REFERENCE);
    TAP_OK(o[1].how == NTFF_ALIGN_FEW && o[2].how == NTFF_ALIGN_FEW);
    TAP_EQ_I64(o[1].offset_ns, 0);
}

TAP_TEST(offsets_are_found)
{
    static const int64_t ahead[3] = {0, 3000000, -1234567};
    struct program p = {200, 5 * MS, 2 * MS, 10 * US, 1};
    struct ntff_align_instance in[3];
    struct ntff_align_offset o[3];
    char text[200];
    for (size_t i = 0; i < 3; i++)
        in[i] = watch(&p, i == 0 ? 4 : 2, ahead[i], 1, i + 10);
    align(in, 3, o);
    TAP_OK(o[0].how == NTFF_ALIGN_REFERENCE);
    for (size_t i = 1; i < 3; i++) {
        TAP_OK(o[i].how == NTFF_ALIGN_DONE);
        TAP_EQ_U64(o[i].via, 0);
        TAP_EQ_U64(o[i].n_common, 600);
        TAP_EQ_U64(o[i].n_agree, 600);
        TAP_EQ_I64(o[i].lag, 0);
        TAP_OK(!o[i].periodic);
        TAP_OK(o[i].uncertainty_ns < 2000);
        /* ranks end up to 10 us apart, and an instance of two is sooner than one of four */
        TAP_OK(far(o[i].offset_ns, -ahead[i]) < 2000);
    }
    ntff_align_describe(&o[1], "i-0", text, sizeof text);
    TAP_OK(strncmp(text, "shifted by -", 12) == 0);
    TAP_OK(strstr(text, ": 600 of 600 common collectives end together with those of i-0"));
    forget(in, 3);
}

TAP_TEST(exact_ends_give_exact_offsets)
{
    struct program p = {20, 5 * MS, 2 * MS, 0, 1};
    struct ntff_align_instance in[2] = {watch(&p, 1, 0, 1, 1), watch(&p, 1, 77, 1, 2)};
    struct ntff_align_offset o[2];
    align(in, 2, o);
    TAP_OK(o[1].how == NTFF_ALIGN_DONE);
    TAP_EQ_I64(o[1].offset_ns, -77);
    TAP_EQ_U64(o[1].spread_ns, 0);
    TAP_EQ_U64(o[1].uncertainty_ns, 1);
    forget(in, 2);
}

/* How sure the ends are is part of how sure the offset is. */
TAP_TEST(uncertainty_of_the_clocks_is_passed_on)
{
    struct program p = {20, 5 * MS, 2 * MS, 0, 1};
    struct ntff_align_instance in[2] = {watch(&p, 1, 0, 1, 1), watch(&p, 1, 77, 1, 2)};
    struct ntff_align_offset o[2];
    in[0].placed_within_ns = 300;
    in[1].placed_within_ns = 4000;
    align(in, 2, o);
    TAP_EQ_U64(o[1].uncertainty_ns, 4301);
    in[1].placed_within_ns = UINT64_MAX;
    align(in, 2, o);
    TAP_EQ_U64(o[1].uncertainty_ns, UINT64_MAX);
    char text[200];
    ntff_align_describe(&o[1], "i-0", text, sizeof text);
    TAP_EQ_STR(text,
               "shifted by -77 ns: 60 of 60 common collectives end together with those of i-0");
    forget(in, 2);
}

TAP_TEST(some_wrong_ends_do_no_harm)
{
    struct program p = {100, 5 * MS, 2 * MS, 10 * US, 1};
    struct ntff_align_instance in[2] = {watch(&p, 1, 0, 1, 1), watch(&p, 1, 5000000, 1, 2)};
    struct ntff_align_offset o[2];
    struct ntff_align_end *e = (struct ntff_align_end *)(uintptr_t)in[1].ends;
    for (size_t i = 0; i < in[1].n_ends; i += 4)
        e[i].end_ns += 20 * MS;
    align(in, 2, o);
    TAP_OK(o[1].how == NTFF_ALIGN_DONE);
    TAP_EQ_U64(o[1].n_common, 300);
    TAP_EQ_U64(o[1].n_agree, 225);
    TAP_OK(far(o[1].offset_ns, -5000000) < 4000);
    forget(in, 2);
}

TAP_TEST(few_or_no_common_collectives)
{
    struct program p = {2, 5 * MS, 2 * MS, 10 * US, 1};
    struct ntff_align_instance in[2] = {watch(&p, 1, 0, 1, 1), watch(&p, 1, 5000000, 1, 2)};
    struct ntff_align_offset o[2];
    char text[200];
    align(in, 2, o); /* six */
    TAP_OK(o[1].how == NTFF_ALIGN_FEW);
    TAP_EQ_U64(o[1].n_common, 6);
    TAP_EQ_I64(o[1].offset_ns, 0);
    ntff_align_describe(&o[1], "i-0", text, sizeof text);
    TAP_EQ_STR(text, "not synchronised: 6 collectives in common with i-0, 8 are needed");
    struct ntff_align_end *e = (struct ntff_align_end *)(uintptr_t)in[1].ends;
    for (size_t i = 0; i < in[1].n_ends; i++)
        e[i].op += 1000;
    align(in, 2, o);
    TAP_OK(o[1].how == NTFF_ALIGN_FEW);
    TAP_EQ_U64(o[1].n_common, 0);
    forget(in, 2);
}

/* Two programs that have the same numbers and nothing to do with each other. */
TAP_TEST(ends_that_are_not_together_align_nothing)
{
    struct program p = {100, 5 * MS, 2 * MS, 10 * US, 1}, q = {100, 5 * MS, 2 * MS, 10 * US, 2};
    struct ntff_align_instance in[2] = {watch(&p, 1, 0, 1, 1), watch(&q, 1, 0, 1, 2)};
    struct ntff_align_offset o[2];
    char text[200];
    align(in, 2, o);
    TAP_OK(o[1].how == NTFF_ALIGN_DISAGREE);
    TAP_EQ_I64(o[1].offset_ns, 0);
    ntff_align_describe(&o[1], "i-0", text, sizeof text);
    TAP_OK(strncmp(text, "not synchronised: the ends of 300 common", 40) == 0);
    in[0].placed_within_ns = UINT64_MAX; /* not knowing is no reason to believe */
    align(in, 2, o);
    TAP_OK(o[1].how == NTFF_ALIGN_DISAGREE);
    forget(in, 2);
}

/* One instance ran two executions more before the capture. The jitter of the steps tells. */
TAP_TEST(a_lag_of_executions_is_found)
{
    struct program p = {200, 60 * MS, 200 * US, 5 * US, 1};
    struct ntff_align_instance in[2] = {watch(&p, 1, 0, 1, 1), watch(&p, 1, -400000, 3, 2)};
    struct ntff_align_offset o[2];
    char text[240];
    align(in, 2, o);
    TAP_OK(o[1].how == NTFF_ALIGN_DONE);
    TAP_EQ_I64(o[1].lag, -2);
    TAP_OK(far(o[1].offset_ns, 400000) < 2000);
    ntff_align_describe(&o[1], "i-0", text, sizeof text);
    TAP_OK(strstr(text, " if execution n is n-2 there"));
    forget(in, 2);
}

/* Steps without any jitter tell nothing about which execution is which; their numbers do, and it is
 * said. Where not even they match, nothing is. */
TAP_TEST(regular_executions_are_ambiguous)
{
    struct program p = {200, 60 * MS, 0, 5 * US, 1};
    struct ntff_align_instance in[2] = {watch(&p, 1, 0, 1, 1), watch(&p, 1, 900, 1, 2)};
    struct ntff_align_offset o[2];
    char text[240];
    align(in, 2, o);
    TAP_OK(o[1].how == NTFF_ALIGN_DONE);
    TAP_OK(o[1].periodic);
    TAP_EQ_I64(o[1].lag, 0);
    TAP_OK(far(o[1].offset_ns, -900) < 2000);
    ntff_align_describe(&o[1], "i-0", text, sizeof text);
    TAP_OK(strstr(text, "; a shift by whole executions would fit as well"));
    forget(in, 2);

    p.n_execs = 5;
    in[0] = watch(&p, 1, 0, 1, 1);
    in[1] = watch(&p, 1, 900, 6, 2);
    align(in, 2, o);
    TAP_OK(o[1].how == NTFF_ALIGN_AMBIGUOUS);
    TAP_EQ_I64(o[1].offset_ns, 0);
    ntff_align_describe(&o[1], "i-0", text, sizeof text);
    TAP_OK(strstr(text, "at several numbers of executions apart"));
    forget(in, 2);
}

TAP_TEST(a_rank_with_the_same_collective_twice_is_unclear)
{
    struct program p = {10, 5 * MS, 2 * MS, 0, 1};
    struct ntff_align_instance in[2] = {watch(&p, 2, 0, 1, 1), watch(&p, 2, 50, 1, 2)};
    struct ntff_align_offset o[2];
    struct ntff_align_end *e = (struct ntff_align_end *)(uintptr_t)in[1].ends;
    for (size_t i = 0; i < 2 * 5; i++)
        e[i].rank = 0;
    align(in, 2, o);
    TAP_EQ_U64(o[1].n_unclear, 10);
    TAP_EQ_U64(o[1].n_common, 25);
    TAP_EQ_I64(o[1].offset_ns, -50);
    forget(in, 2);
}

/* i-2 shares nothing with the reference, but much with i-1. */
TAP_TEST(instances_align_through_others)
{
    struct program p = {100, 5 * MS, 2 * MS, 0, 1}, q = {20, 7 * MS, 2 * MS, 0, 2};
    struct ntff_align_instance in[3] = {watch(&p, 1, 0, 1, 1), watch(&p, 1, 1000, 1, 2),
                                        watch(&q, 1, -30, 5000, 3)};
    struct ntff_align_instance more = watch(&q, 1, 1000, 5000, 4);
    struct ntff_align_offset o[3];
    struct ntff_align_end *e = calloc(in[1].n_ends + more.n_ends, sizeof *e);
    TAP_OK(e);
    memcpy(e, in[1].ends,
           (in[1].n_ends - 60) * sizeof *e); /* fewer than the reference in the end */
    memcpy(e + in[1].n_ends - 60, more.ends, 59 * sizeof *e);
    in[1].n_ends -= 1;
    free((void *)(uintptr_t)in[1].ends);
    in[1].ends = e;
    align(in, 3, o);
    TAP_OK(o[0].how == NTFF_ALIGN_REFERENCE);
    TAP_OK(o[1].how == NTFF_ALIGN_DONE && o[2].how == NTFF_ALIGN_DONE);
    TAP_EQ_I64(o[1].offset_ns, -1000);
    TAP_EQ_I64(o[2].offset_ns, 30);
    TAP_EQ_U64(o[2].via, 1);
    TAP_EQ_U64(o[2].uncertainty_ns, 2);
    forget(in, 3);
    forget(&more, 1);
}

TAP_TEST(hostile_ends)
{
    static const uint64_t edge[] = {0,         1, 2, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX - 1,
                                    UINT64_MAX};
    uint64_t state = 1;
    for (int round = 0; round < 5000; round++) {
        struct ntff_align_end e[4][40];
        struct ntff_align_instance in[4];
        struct ntff_align_offset o[4];
        char text[60];
        for (size_t i = 0; i < 4; i++) {
            in[i] =
                (struct ntff_align_instance){e[i], uniform(&state, 41), edge[uniform(&state, 7)]};
            for (size_t k = 0; k < in[i].n_ends; k++)
                e[i][k] =
                    (struct ntff_align_end){edge[uniform(&state, 3)], edge[uniform(&state, 7)] + k,
                                            edge[uniform(&state, 7)], (uint32_t)uniform(&state, 4)};
        }
        align(in, 4, o);
        for (size_t i = 0; i < 4; i++) {
            TAP_OK(o[i].via < 4);
            TAP_OK(o[i].n_agree <= o[i].n_common);
            TAP_OK(o[i].how == NTFF_ALIGN_DONE || o[i].offset_ns == 0);
            ntff_align_describe(&o[i], "i-\xff", text, round % 60);
        }
    }
}

TAP_MAIN()
