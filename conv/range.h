/* range - --from and --to of the commands that take them.
 * Knows: cli, times, load. */
#ifndef CONV_RANGE_H
#define CONV_RANGE_H

#include "conv/cli.h"
#include "conv/times.h"
#include "proto/load.h"

struct conv_range {
    struct conv_time from, to;
};

/* The options, for a struct conv_range at this offset of the settings. */
#define CONV_RANGE_TO(at)                                                                          \
    {                                                                                              \
        "to", 0, "TIME", "leave out what begins at TIME or later", CONV_OPT_SET,                   \
            (at) + offsetof(struct conv_range, to), conv_range_set                                 \
    }
#define CONV_RANGE_OPTIONS(at)                                                                     \
    {"from",        0,                                                                             \
     "TIME",        "leave out what ends before TIME (see convert)",                               \
     CONV_OPT_SET,  (at) + offsetof(struct conv_range, from),                                      \
     conv_range_set},                                                                              \
        CONV_RANGE_TO(at)
/* Sets the struct conv_time at `time`. */
bool conv_range_set(void *time, const char *value, struct ntff_error *err);

/* Clips the trace; nothing happens if neither was given. CONV_ALL, or an exit code after the error
 * was printed: the range is empty, nothing lies in it, or a bare number (a date) lies before the
 * trace: most likely its unit was forgotten. */
int conv_range_clip(const struct conv_range *r, struct ntff_trace *t, struct ntff_diag *diag);
/* Tells the load of the range, so that it need not keep what will be cut off. */
void conv_range_ask(const struct conv_range *r, struct ntff_load_options *o);

#endif
