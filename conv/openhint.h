/* openhint - how to look at a trace that was written. Knows: out.
 * A browser holds a trace and its tables in at most a few GiB; a file that would not fit is read by
 * Perfetto's trace_processor instead, which the page at ui.perfetto.dev then asks. */
#ifndef CONV_OPENHINT_H
#define CONV_OPENHINT_H

#include <stdint.h>
#include <stdio.h>

#define CONV_OPEN_BROWSER_BYTES UINT64_C(200000000) /* unpacked: more is a lot for a browser */

/* Prints what to do to open the file at path, whose contents are bytes long when unpacked. */
void conv_open_hint(FILE *to, const char *path, uint64_t bytes);

#endif
