/* made - traces made by a recipe, without files: for the viewer's tests and benches, and for any
 * test that wants a struct ntff_trace of a known shape. Knows: proto/model. Deterministic: the same
 * calls give the same trace, on every machine. Out of memory aborts. */
#ifndef NTFF_TESTS_MADE_H
#define NTFF_TESTS_MADE_H

#include "proto/model.h"

/* -- by hand -------------------------------------------------------------------------------- */

struct made; /* a trace being made */

struct made *made_begin(void);
/* parent NTFF_NONE = root. */
uint32_t made_track(struct made *s, uint32_t parent, int kind, const char *name);
struct ntff_track *made_track_of(struct made *s, uint32_t track); /* to set more of it */
/* Spans and instants in any order; returns a number for made_flow. Text may hold anything UTF-8.
 */
uint32_t made_span(struct made *s, uint32_t track, uint32_t lane, uint64_t ts_ns, uint64_t dur_ns,
                   const char *name);
uint32_t made_instant(struct made *s, uint32_t track, uint64_t ts_ns, const char *name);
struct ntff_event *made_event_of(struct made *s, uint32_t number); /* to set flags, category */
void made_attr(struct made *s, uint32_t number, const char *key, const char *text, size_t len);
void made_flow(struct made *s, uint32_t from, uint32_t to);
void made_sample(struct made *s, uint32_t track, uint64_t ts_ns, int64_t value);
void made_sample_d(struct made *s, uint32_t track, uint64_t ts_ns, double value);
/* Sorts, sets begin and end; frees s. The trace is freed with made_free. */
struct ntff_trace *made_end(struct made *s);
void made_free(struct ntff_trace *t);

/* Attributes given by made_attr (and a few every event has): use in place of ntff_detail. */
bool made_details(const struct ntff_trace *t, const struct ntff_event *e, struct ntff_detail *d);

/* -- by recipe ------------------------------------------------------------------------------ */

/* "tour"     a small session with everything the viewer can show
 * "hostile"  names and values a terminal must be protected from
 * "deep"     40 levels of nesting, and lanes
 * "years"    a span of a nanosecond and a span of three years
 * "edge"     times at either end of what 64 bits can hold
 * "empty"    tracks without events; "samples": counters only
 * "bench"    n events on many tracks, like a device profile: short spans, lanes, some errors
 * "random"   n events by seed, any shape the model allows
 * NULL: no such recipe. */
struct ntff_trace *made_make(const char *recipe, size_t n, uint64_t seed);

#endif
