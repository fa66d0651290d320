/* range - see range.h. */
#include "conv/range.h"

#include "conv/conv.h"

#include <inttypes.h>
#include <stdio.h>

bool conv_range_set(void *time, const char *value, struct ntff_error *err)
{
    return conv_time_parse(value, time, err);
}

/* What there is to ask for, behind what was wrong. */
static void say_reach(const char *wrong, uint64_t begin_ns, uint64_t end_ns)
{
    char length[32];
    conv_say("%s; the trace reaches from %" PRIu64 " to %" PRIu64
             " (0 to %s); times are such nanoseconds, or count from the begin with a unit: "
             "20ms, 1.5s",
             wrong, begin_ns, end_ns, conv_duration(end_ns - begin_ns, length));
}

/* "5" for "5s": a bare number is a date, and one before the trace is hardly meant. */
static bool before_trace(const char *option, const struct conv_time *x, const struct ntff_trace *t)
{
    char wrong[80];
    if (!x->given || x->relative || x->ns >= t->begin_ns)
        return false;
    snprintf(wrong, sizeof wrong, "%s %" PRIu64 ": before the trace begins", option, x->ns);
    if (x->ns > 0 && x->ns < NTFF_NS_PER_SEC)
        conv_say("%s; did you mean %" PRIu64 "s or %" PRIu64 "ms?", wrong, x->ns, x->ns);
    else
        say_reach(wrong, t->begin_ns, t->end_ns);
    return true;
}

/* The same in device time, which begins near 0: it may be meant. */
static void suspect(const char *option, const struct conv_time *x)
{
    if (x->given && !x->relative && x->ns > 0 && x->ns < 1000)
        conv_say("%s %" PRIu64 ": taken as %" PRIu64 " ns; did you mean %" PRIu64 "s or %" PRIu64
                 "ms?",
                 option, x->ns, x->ns, x->ns, x->ns);
}

void conv_range_ask(const struct conv_range *r, struct ntff_load_options *o)
{
    o->from = (struct ntff_moment){r->from.ns, r->from.relative, r->from.given};
    o->to = (struct ntff_moment){r->to.ns, r->to.relative, r->to.given};
}

int conv_range_clip(const struct conv_range *r, struct ntff_trace *t, struct ntff_diag *diag)
{
    struct ntff_error err;
    if (!r->from.given && !r->to.given)
        return CONV_ALL;
    if (before_trace("--from", &r->from, t) || before_trace("--to", &r->to, t))
        return CONV_USAGE;
    suspect("--from", &r->from);
    suspect("--to", &r->to);
    uint64_t from = r->from.given ? conv_time_resolve(&r->from, t->begin_ns) : 0;
    uint64_t to = r->to.given ? conv_time_resolve(&r->to, t->begin_ns) : UINT64_MAX;
    if (r->from.given && r->to.given && from >= to) {
        conv_say("--from is not before --to");
        return CONV_USAGE;
    }
    uint64_t begin = t->begin_ns, end = t->end_ns;
    if (ntff_trace_clip(t, from, to, diag, &err) != NTFF_OK) {
        conv_say("%s", err.text);
        return CONV_NOTHING;
    }
    if (t->n_events + t->n_samples == 0) {
        say_reach("nothing between --from and --to", begin, end);
        return CONV_NOTHING;
    }
    return CONV_ALL;
}
