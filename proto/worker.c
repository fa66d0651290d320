/* worker - see worker.h.
 *
 * Batches are numbered as they are claimed; batch i lives in slot i % n_slots. Three counters tell
 * all: taken <= made (per slot) <= claimed <= taken + n_slots. One mutex guards them, never for
 * longer than it takes to count: neither claims nor the work are done under it, and a flag keeps
 * claims one after the other. Whoever is about to wait sleeps on one of two conditions: threads on
 * room for a further claim, the taker on its batch being made. */
#include "worker.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_THREADS 64

struct ntff_ahead {
    struct ntff_ahead_work work;
    pthread_mutex_t lock;
    pthread_cond_t room, made;
    uint64_t n_claimed, n_taken; /* of these the last one taken may still be in use */
    bool ready[NTFF_AHEAD_MAX_SLOTS];
    bool claiming;    /* somebody is, */
    bool turned_away; /* and others wanted to meanwhile */
    bool ended, stop; /* nothing left to claim; give up */
    unsigned n_threads;
    pthread_t threads[MAX_THREADS];
};

/* Claims a batch and makes it; the lock is held before and after, not meanwhile. False if there is
 * no room, nothing left, or another is claiming. */
static bool claim_and_make(struct ntff_ahead *a)
{
    /* the slot taken last stays with its taker */
    uint64_t held = a->n_taken ? a->n_taken - 1 : 0;
    if (a->ended || a->n_claimed - held >= a->work.n_slots)
        return false;
    if (a->claiming) {
        a->turned_away = true;
        return false;
    }
    unsigned slot = (unsigned)(a->n_claimed % a->work.n_slots);
    a->ready[slot] = false;
    a->claiming = true;
    pthread_mutex_unlock(&a->lock);
    bool claimed = a->work.claim(a->work.user, slot);
    pthread_mutex_lock(&a->lock);
    a->claiming = false;
    a->n_claimed += claimed;
    a->ended = !claimed;
    if (a->ended || a->turned_away) {
        pthread_cond_broadcast(&a->room);
        pthread_cond_signal(&a->made);
    }
    a->turned_away = false;
    if (!claimed)
        return false;
    pthread_mutex_unlock(&a->lock);
    a->work.make(a->work.user, slot);
    pthread_mutex_lock(&a->lock);
    a->ready[slot] = true;
    pthread_cond_signal(&a->made);
    return true;
}

static void *thread_main(void *user)
{
    struct ntff_ahead *a = user;
    pthread_mutex_lock(&a->lock);
    while (!a->stop && !a->ended)
        if (!claim_and_make(a) && !a->stop && !a->ended)
            pthread_cond_wait(&a->room, &a->lock);
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

struct ntff_ahead *ntff_ahead_start(const struct ntff_ahead_work *work, unsigned n_threads)
{
    struct ntff_ahead *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->work = *work;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->room, NULL);
    pthread_cond_init(&a->made, NULL);
    while (a->n_threads < n_threads && a->n_threads < MAX_THREADS &&
           pthread_create(&a->threads[a->n_threads], NULL, thread_main, a) == 0)
        a->n_threads++;
    return a;
}

static bool is_made(const struct ntff_ahead *a, uint64_t i)
{
    return i < a->n_claimed && a->ready[i % a->work.n_slots];
}

/* Batch i is neither made nor known not to exist. */
static bool is_awaited(const struct ntff_ahead *a, uint64_t i)
{
    return !is_made(a, i) && (!a->ended || i < a->n_claimed);
}

int ntff_ahead_take(struct ntff_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    unsigned slot = (unsigned)(a->n_taken % a->work.n_slots);
    uint64_t want = a->n_taken++; /* with this the one before is free */
    if (a->n_threads && a->n_claimed - want <= a->work.n_slots / 2) /* room worth waking up for */
        pthread_cond_signal(&a->room);
    while (is_awaited(a, want))
        if (!claim_and_make(a) && is_awaited(a, want))
            pthread_cond_wait(&a->made, &a->lock);
    bool there = want < a->n_claimed;
    pthread_mutex_unlock(&a->lock);
    return there ? (int)slot : -1;
}

void ntff_ahead_stop(struct ntff_ahead *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_broadcast(&a->room);
    pthread_mutex_unlock(&a->lock);
    for (unsigned i = 0; i < a->n_threads; i++)
        pthread_join(a->threads[i], NULL);
    pthread_cond_destroy(&a->room);
    pthread_cond_destroy(&a->made);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

unsigned ntff_jobs(unsigned asked)
{
    cpu_set_t set;
    if (asked)
        return asked < MAX_THREADS ? asked : MAX_THREADS;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return ntff_jobs((unsigned)CPU_COUNT(&set));
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? ntff_jobs((unsigned)n) : 1;
}

unsigned ntff_ahead_slots(unsigned jobs)
{
    return jobs > 1 ? jobs < NTFF_AHEAD_MAX_SLOTS / 8 ? 8 * jobs : NTFF_AHEAD_MAX_SLOTS : 2;
}
