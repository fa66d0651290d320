/* details - the details of all events in their order, and what an output makes of them, ahead of
 * who takes it and by other threads.
 * Knows: model, out, worker.
 *
 * An output gives a maker. Its function runs for one event after the other of a batch, but for
 * several batches at once, each in a slot of its own: the maker keeps one state per slot, and what
 * all of them share may only be read there. What cannot be settled by reading it leaves to the
 * taker: its slot is NTFF_TAKER, one event at a time and in order, where the shared may be changed.
 * So the outcome is the same whatever the number of threads. */
#ifndef NTFF_DETAILS_H
#define NTFF_DETAILS_H

#include "model.h"
#include "out.h"

enum { NTFF_TAKER = 0 }; /* its slot; those of batches follow */

/* How many slots there will be, the taker's among them. */
unsigned ntff_details_slots(const struct ntff_trace *t, unsigned jobs);

struct ntff_maker {
    void *user;
    /* A batch begins in this slot: what was made in it before is not needed any more. What is made
     * of it goes through w, to memory; nothing written there is ever done (ntff_put_done). */
    void (*begin)(void *user, unsigned slot, struct ntff_put *w);
    /* Makes one event's part from its details (valid during the call). False leaves the event to
     * the taker; from the taker: out of memory. What was written then is dropped. */
    bool (*make)(void *user, unsigned slot, const struct ntff_event *e,
                 const struct ntff_detail *d);
    /* The same bytes from the records themselves (record.h), for events that need nothing else;
     * false = by make. *at: where they begin, from w->start; is where w stands now. May be NULL. */
    bool (*make_direct)(void *user, unsigned slot, const struct ntff_event *e, size_t *at);
};

/* What was made of one event: bytes at .. end from w->start. */
struct ntff_made {
    struct ntff_put *w;
    size_t at, end;
    unsigned slot;
};

struct ntff_details;

/* jobs: threads to use, the caller's among them; 0 = one per processor. NULL = out of memory. */
struct ntff_details *ntff_details_start(const struct ntff_trace *t, unsigned jobs,
                                        const struct ntff_maker *maker) NTFF_MUST_CHECK;
/* Of t->events[index]; valid until the next call. index must not fall from call to call. again: by
 * the taker, so that more can be added to it. False when memory ran out. */
bool ntff_details_of(struct ntff_details *d, size_t index, bool again,
                     struct ntff_made *made) NTFF_MUST_CHECK;
void ntff_details_stop(struct ntff_details *d); /* NULL allowed */

#endif
