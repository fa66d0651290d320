/* metrics - figures by name, for --fail-on and for the list of what can be asked.
 * Knows: figures, figtext.
 *
 * A name may have several values, one for each core, collective, engine...; the label says which.
 * An expression holds if it does for any of them. */
#ifndef CONV_METRICS_H
#define CONV_METRICS_H

#include "conv/figures.h"
#include "proto/diag.h"

/* What a value counts, and which units an expression may give it. */
enum conv_measure { CONV_COUNT, CONV_NS, CONV_BYTES, CONV_RATE, CONV_SHARE, CONV_PERCENT };

struct conv_metric {
    uint16_t name;  /* index, conv_metric_name */
    double value;   /* ns, bytes, bytes per second, fraction, percent 0..100, or a number */
    char label[96]; /* "" = the whole trace */
};
struct conv_metrics {
    NTFF_VEC(struct conv_metric) all;
};

size_t conv_metric_count(void); /* of names */
const char *conv_metric_name(size_t i);
const char *conv_metric_about(size_t i);
enum conv_measure conv_metric_measure(size_t i);

/* False when memory ran out. Free with conv_metrics_done. */
bool conv_metrics_make(struct conv_metrics *m, const struct conv_figures *f,
                       const struct ntff_diag *diag) NTFF_MUST_CHECK;
void conv_metrics_done(struct conv_metrics *m);
/* A value as people read it: "1.5 ms", "61.3 %". Returns out. */
char *conv_metric_text(size_t name, double value, char out[40]);

/* -- expressions: NAME OP VALUE -------------------------------------------------------------------
 */

enum conv_operator { CONV_LT, CONV_LE, CONV_GT, CONV_GE, CONV_EQ, CONV_NE };

struct conv_expr {
    const char *text; /* borrowed */
    uint16_t name;
    enum conv_operator op;
    double value;
};

/* "core.utilization < 0.6", "gap.max_ns > 2ms", "hbm.peak_bytes >= 12GiB", "wait.share > 30%". A
 * fraction is compared with 0..1 or a percentage; 30 without the % is none.
 * false = not one; err says what was expected, and names all metrics if the name is unknown. */
bool conv_expr_parse(const char *text, struct conv_expr *e, struct ntff_error *err) NTFF_MUST_CHECK;
bool conv_expr_holds(const struct conv_expr *e, double value);

#endif
