/* figtext - how figures read: labels of cores, sizes, shares. */
#ifndef CONV_FIGTEXT_H
#define CONV_FIGTEXT_H

#include "conv/figures.h"
#include "proto/diag.h"

/* "pid 4242 NC0"; with the instance before it if the trace has several. Returns out. */
char *conv_core_label(const struct ntff_trace *t, uint32_t process, uint32_t nc, char out[96]);
char *conv_process_label(const struct ntff_trace *t, uint32_t process, char out[80]);

/* "3 ring": the number of an operation and its algorithm; "?" if no number is recorded. Returns
 * out. */
char *conv_collective_label(const struct conv_collective *c, char out[96]);

/* "512 B", "1.5 MiB"; powers of 1024, cut to a thousandth. Returns out. */
char *conv_size(uint64_t bytes, char out[32]);
/* "1.5 GiB/s" */
char *conv_rate(double bytes_per_second, char out[32]);
/* What engines and DMA are a share of: struct conv_device .begin_ns to .end_ns. */
#define CONV_SHARE_OF                                                                              \
    "share: of the time from the first instruction or packet of the physical core to its last"
/* 0.613 -> "61.3 %" */
char *conv_share(double share, char out[32]);

/* True if all events are of device profiles and none was aligned: times are device time, not
 * Unix time. */
bool conv_device_time(const struct ntff_trace *t, const struct ntff_diag *diag);
/* When the trace begins: a date, or "device time, begins at 0". Returns out. */
char *conv_begin_text(const struct ntff_trace *t, const struct ntff_diag *diag, char out[80]);

/* "1 span", "2 spans": one is the singular, of which the plural ends in s; at most 40 bytes of it.
 * Returns out. */
char *conv_count(uint64_t n, const char *one, char out[64]);

double conv_part(uint64_t part, uint64_t whole); /* 0 if whole is 0 */

#endif
