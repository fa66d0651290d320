/* check_trace - the promises of proto/model.h, checked on a loaded trace. For tests. */
#ifndef NTFF_TESTS_CHECK_TRACE_H
#define NTFF_TESTS_CHECK_TRACE_H

#include "proto/model.h"

/* NULL if all hold, else a text saying which does not (static, overwritten by the next call):
 * events in order and inside the trace, spans of a lane nested, flows and samples well-formed,
 * tracks after their parents, every record accounted for, details of every event readable. */
const char *check_trace(const struct ntff_trace *t, const struct ntff_diag *diag);

#endif
