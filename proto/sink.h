/* sink, walk - one ordered walk over a trace that feeds any output.
 * Knows: model.
 * The walk calls, in time order, begin/end/instant/sample such that per (track, lane) spans are
 * strictly nested: at one time first the ends of older spans (inner before outer), then begins
 * (longer before shorter), zero-length spans as begin and end at once, then instants, then samples.
 */
#ifndef NTFF_SINK_H
#define NTFF_SINK_H

#include "model.h"

struct ntff_flow_list { /* flows touching one event, in flow order */
    const struct ntff_flow *const *out;
    size_t n_out;
    const struct ntff_flow *const *in;
    size_t n_in;
};

struct ntff_sink {
    void *user;
    /* Any may be NULL. Return false to stop the walk (the sink remembers why). */
    bool (*begin)(void *user, uint32_t index, const struct ntff_event *e,
                  const struct ntff_flow_list *f);
    bool (*end)(void *user, uint32_t index, const struct ntff_event *e);
    bool (*instant)(void *user, uint32_t index, const struct ntff_event *e,
                    const struct ntff_flow_list *f);
    bool (*sample)(void *user, const struct ntff_sample *s);
    /* Share 0..1000 done; false stops. */
    bool (*progress)(void *user, int permille);
};

/* Memory: O(open spans + flows). Errors: NOMEM, CANCELLED (a callback said stop). */
enum ntff_status ntff_walk(const struct ntff_trace *t, const struct ntff_sink *sink,
                           struct ntff_error *err) NTFF_MUST_CHECK;

#endif
