/* report - the two forms of a report, from the same figures. */
#ifndef CONV_REPORT_H
#define CONV_REPORT_H

#include "conv/figures.h"
#include "conv/metrics.h"
#include "proto/out.h"

#include <stdio.h>

struct conv_check {
    struct conv_expr expr;
    size_t n_values, n_held;
    double worst;      /* the value that holds and lies farthest from the limit */
    const char *label; /* of it; belongs to the metrics */
};

struct conv_report {
    const struct conv_figures *f;
    const struct ntff_diag *diag;
    size_t top; /* rows of the lists */
    const struct conv_check *checks;
    size_t n_checks;
    bool *out_of_memory; /* set when something could not be made */
};

void conv_report_text(const struct conv_report *r, FILE *to);
/* One JSON document; its structure is described at the top of report_json.c. */
void conv_report_json(const struct conv_report *r, struct ntff_out *out);

#endif
