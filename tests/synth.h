/* synth - small traces made by hand, for the tests of the outputs.
 * Knows: model. Everything is on the heap of the test process, which ends soon. */
#ifndef NTFF_TESTS_SYNTH_H
#define NTFF_TESTS_SYNTH_H

#include "proto/model.h"

struct synth {
    struct ntff_trace t; /* arrays point to the ones below */
    struct ntff_event events[4096];
    struct ntff_sample samples[512];
    struct ntff_flow flows[512];
    struct ntff_track tracks[400];
    struct ntff_process processes[16];
};

#define SYNTH_T0 UINT64_C(1764440000000000000)

struct synth *synth_new(void);
uint32_t synth_process(struct synth *s,
                       uint64_t pid); /* a process and its track; returns the track */
uint32_t synth_track(struct synth *s, uint32_t parent, int kind, const char *name);
/* at and dur in ns from SYNTH_T0. Events may come in any order; synth_done sorts. */
struct ntff_event *synth_span(struct synth *s, uint32_t track, const char *name, uint64_t at,
                              uint64_t dur);
struct ntff_event *synth_instant(struct synth *s, uint32_t track, const char *name, uint64_t at);
void synth_sample(struct synth *s, uint32_t track, uint64_t at, int64_t value);
/* Sorts as the model wants it, fills begin and end. Flows are added after it, by event index. */
struct ntff_trace *synth_done(struct synth *s);
void synth_flow(struct synth *s, uint32_t from, uint32_t to);

/* Overlaps, ties, empty spans, 600 instants at once, equal pids, a thread in two processes, samples
 * that are none: 10 spans, 601 instants, 4 good samples and 2 bad ones. */
struct ntff_trace *synth_awkward(void);
/* Four flows, one of them back in time, one at equal times, one to an instant. */
struct ntff_trace *synth_flows(void);
/* Random nested spans, empty ones and instants on 15 lanes. */
struct ntff_trace *synth_random(uint64_t from_seed);

/* Runs tests/NAME.py on a file; true if it finds nothing wrong. Skips the test without python3. */
bool synth_check(const char *script, const char *path);
/* A file in the test's own directory. */
const char *synth_path(const char *name);

#endif
