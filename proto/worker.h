/* worker - batches of work done ahead by other threads, taken in order by one.
 * Knows: base; pthreads.   Private to proto/ and conv/figures.c.
 *
 * The user owns n_slots places for batches (numbers 0 .. n_slots - 1) and two functions:
 *
 *   claim(user, slot)   says what the next batch is and notes it in its slot; false = there is no
 *                       more. Called for one batch after the other, never twice at once.
 *   make(user, slot)    does the work; runs for several slots at once.
 *
 * ntff_ahead_take gives the slots back in the order they were claimed. While it waits for one it
 * makes others itself: with no thread at all it simply makes the next, so one program path serves
 * any number of threads, and what is taken is the same whatever their number.
 *
 * Locks are taken a few times a batch, not for what is in it. A batch should take tens of
 * microseconds. */
#ifndef NTFF_WORKER_H
#define NTFF_WORKER_H

#include "base.h"

#define NTFF_AHEAD_MAX_SLOTS 64

struct ntff_ahead;

struct ntff_ahead_work {
    void *user;
    bool (*claim)(void *user, unsigned slot);
    void (*make)(void *user, unsigned slot);
    unsigned n_slots; /* 2 .. NTFF_AHEAD_MAX_SLOTS; several per thread */
};

/* Starts n_threads threads; fewer, down to none, where the system refuses. NULL = out of memory. */
struct ntff_ahead *ntff_ahead_start(const struct ntff_ahead_work *work,
                                    unsigned n_threads) NTFF_MUST_CHECK;
/* Next slot in order, -1 at the end. The one taken before may be overwritten from now on. */
int ntff_ahead_take(struct ntff_ahead *a);
/* Ends the threads, whatever is left undone. NULL allowed. */
void ntff_ahead_stop(struct ntff_ahead *a);

/* Threads for an option --jobs: its value, or for 0 the processors this process may use. */
unsigned ntff_jobs(unsigned asked);
/* Slots that keep so many threads busy, the taker among them. */
unsigned ntff_ahead_slots(unsigned jobs);

#endif
