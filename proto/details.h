/* details - the details of all events in their order, decoded ahead by other threads.
 * Knows: model, worker. */
#ifndef NTFF_DETAILS_H
#define NTFF_DETAILS_H

#include "model.h"

struct ntff_details;

/* jobs: threads to use, the caller's among them; 0 = one per processor. NULL = out of memory. */
struct ntff_details *ntff_details_start(const struct ntff_trace *t, unsigned jobs) NTFF_MUST_CHECK;
/* Those of t->events[index], as ntff_detail gives them; valid until the next call. index must not
 * fall from call to call. NULL when memory ran out. */
const struct ntff_detail *ntff_details_of(struct ntff_details *d, size_t index);
void ntff_details_stop(struct ntff_details *d); /* NULL allowed */

#endif
