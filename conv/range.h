/* range - --from and --to of the commands that take them.
 * Knows: times, load. */
#ifndef CONV_RANGE_H
#define CONV_RANGE_H

#include "conv/times.h"
#include "proto/load.h"

struct conv_range {
    struct conv_time from, to;
};

/* Clips the trace; nothing happens if neither was given. CONV_ALL, or an exit code after the error
 * was printed: the range is empty, nothing lies in it, or a bare number (a date) lies before the
 * trace: most likely its unit was forgotten. */
int conv_range_clip(const struct conv_range *r, struct ntff_trace *t, struct ntff_diag *diag);
/* Tells the load of the range, so that it need not keep what will be cut off. */
void conv_range_ask(const struct conv_range *r, struct ntff_load_options *o);

#endif
