/* range - see range.h. */
#include "conv/range.h"

#include "conv/conv.h"

#include <inttypes.h>

int conv_range_clip(const struct conv_range *r, struct ntff_trace *t)
{
    struct ntff_error err;
    if (!r->from.given && !r->to.given)
        return CONV_ALL;
    uint64_t from = r->from.given ? conv_time_resolve(&r->from, t->begin_ns) : 0;
    uint64_t to = r->to.given ? conv_time_resolve(&r->to, t->begin_ns) : UINT64_MAX;
    if (from >= to) {
        conv_say("--from is not before --to");
        return CONV_USAGE;
    }
    char begin[32], end[32];
    snprintf(begin, sizeof begin, "%" PRIu64, t->begin_ns);
    snprintf(end, sizeof end, "%" PRIu64, t->end_ns);
    if (ntff_trace_clip(t, from, to, &err) != NTFF_OK) {
        conv_say("%s", err.text);
        return CONV_NOTHING;
    }
    if (t->n_events + t->n_samples == 0) {
        conv_say("nothing between --from and --to; the trace reaches from %s to %s", begin, end);
        return CONV_NOTHING;
    }
    return CONV_ALL;
}
