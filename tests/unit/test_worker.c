/* Batches made ahead: in order, each once, whatever the number of threads. Run with VARIANT=tsan,
 * this is also the test that nothing is shared by mistake. */
#include "tests/tap.h"

#include "proto/worker.h"

#include <pthread.h>
#include <sched.h>

enum { N_BATCHES = 3000 };

struct batch {
    uint64_t number, result;
    unsigned n_made;
};

struct job {
    struct batch batches[NTFF_AHEAD_MAX_SLOTS];
    uint64_t n, n_claimed; /* not atomic: claims never overlap */
};

static uint64_t answer(uint64_t n)
{
    uint64_t x = n + 1;
    for (int i = 0; i < 200; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    return x;
}

static bool claim(void *user, unsigned slot)
{
    struct job *j = user;
    if (j->n_claimed == j->n)
        return false;
    j->batches[slot] = (struct batch){.number = j->n_claimed++};
    return true;
}

static void make(void *user, unsigned slot)
{
    struct batch *b = &((struct job *)user)->batches[slot];
    b->result = answer(b->number);
    b->n_made++;
}

/* Takes up to n_taken batches, then stops. */
static void run(unsigned n_threads, unsigned n_slots, uint64_t n, uint64_t n_taken)
{
    struct job j = {.n = n};
    struct ntff_ahead_work work = {&j, claim, make, n_slots};
    struct ntff_ahead *a = ntff_ahead_start(&work, n_threads);
    TAP_CONTEXT("%u threads, %u slots, %u batches", n_threads, n_slots, (unsigned)n);
    TAP_OK(a != NULL);
    uint64_t got = 0;
    for (int slot; got < n_taken && (slot = ntff_ahead_take(a)) >= 0; got++) {
        const struct batch *b = &j.batches[slot];
        if (got % 16 == 0)
            sched_yield(); /* what was taken stays as it is until the next take */
        TAP_EQ_U64(b->number, got);
        TAP_EQ_U64(b->result, answer(got));
        TAP_EQ_U64(b->n_made, 1);
    }
    TAP_EQ_U64(got, n < n_taken ? n : n_taken);
    if (got < n_taken) { /* the end stays the end */
        TAP_EQ_I64(ntff_ahead_take(a), -1);
        TAP_EQ_I64(ntff_ahead_take(a), -1);
    }
    ntff_ahead_stop(a);
}

TAP_TEST(batches_come_in_order)
{
    static const unsigned slots[] = {2, 3, 8, NTFF_AHEAD_MAX_SLOTS};
    for (unsigned threads = 0; threads < 4; threads++)
        for (size_t i = 0; i < NTFF_ARRAY_LEN(slots); i++) {
            run(threads, slots[i], N_BATCHES, UINT64_MAX);
            run(threads, slots[i], 1, UINT64_MAX);
            run(threads, slots[i], 0, UINT64_MAX);
        }
}

TAP_TEST(stopping_early_leaves_nothing_behind)
{
    for (unsigned threads = 0; threads < 4; threads++)
        for (uint64_t taken = 0; taken < 40; taken++)
            run(threads, 8, N_BATCHES, taken);
    ntff_ahead_stop(NULL);
}

/* Threads whose stacks find no address space: the work is done without them. */
TAP_TEST(no_thread_to_be_had)
{
    pthread_attr_t attr;
    TAP_EQ_I64(pthread_attr_init(&attr), 0);
    if (pthread_attr_setstacksize(&attr, (size_t)1 << 46) != 0 ||
        pthread_setattr_default_np(&attr) != 0)
        TAP_SKIP("a stack of 64 TiB cannot be asked for");
    run(3, 8, N_BATCHES, UINT64_MAX);
}

TAP_TEST(numbers_of_threads)
{
    TAP_EQ_U64(ntff_jobs(1), 1);
    TAP_EQ_U64(ntff_jobs(7), 7);
    TAP_OK(ntff_jobs(0) >= 1);
    TAP_OK(ntff_jobs(1000000) >= 1 && ntff_jobs(1000000) <= 1000);
    for (unsigned jobs = 1; jobs <= ntff_jobs(1000000); jobs++) {
        TAP_OK(ntff_ahead_slots(jobs) >= 2);
        TAP_OK(ntff_ahead_slots(jobs) <= NTFF_AHEAD_MAX_SLOTS);
    }
}

TAP_MAIN()
