/* eventrow - an event as a row of the vendor's table SystemProfileEvents [PQ], for `events` and for
 * `table`. Knows: rows, model, event_types.
 *
 * Columns, in the vendor's order: id, name, start_ts, end_ts, duration_ns, trace_event_source,
 * instance_id, process_id, thread_id, nc_idx, pcore_idx, worker_gid, flow_id, framework_stream_id,
 * extra_attributes_json.
 *   id      number of the event in time order, from 1: unique over processes, which the recorded id
 * is not. Flow.in_id and out_id refer to it. The recorded one is in extra_attributes_json. times
 * Unix ns on the host clock, as placed; extra_attributes_json has timestamp_ns where that was
 *           recorded otherwise, and the raw device times.
 *   trace_event_source  "neuron_hw" for events of the hardware, "neuron_rt" for all others
 *   flow_id ids of the arrows the event is an end of
 *   extra_attributes_json  all other facts, and unfinished, start_lost, estimated, cut, unaligned
 * where true */
#ifndef CONV_EVENTROW_H
#define CONV_EVENTROW_H

#include "conv/rows.h"
#include "proto/model.h"

#define CONV_EVENT_COLUMNS 15
extern const char *const conv_event_columns[CONV_EVENT_COLUMNS];

struct conv_eventrow {
    const struct ntff_trace *t;
    struct ntff_detail detail;
    uint8_t *names;        /* by name: NAME_* bits, 0 = not looked up */
    uint32_t *by_to;       /* flows sorted by their end */
    size_t from_at, to_at; /* where the next events' flows begin */
};

/* False when memory ran out; free with _done in any case. */
bool conv_eventrow_init(struct conv_eventrow *e, const struct ntff_trace *t) NTFF_MUST_CHECK;
void conv_eventrow_done(struct conv_eventrow *e);

/* Is the event from a device profile (instructions, DMA, semaphores), not from the system trace? */
bool conv_event_is_device(const struct ntff_trace *t, const struct ntff_event *e);

/* Gives the cells of event index, which must grow from call to call. False when memory ran out. */
bool conv_eventrow_cells(struct conv_eventrow *e, struct conv_rows *r,
                         uint32_t index) NTFF_MUST_CHECK;

/* The detail of the event whose cells were given last is in .detail if any cell needed it. */

#endif
