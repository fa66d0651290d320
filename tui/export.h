/* export - a range of a trace as a Perfetto trace file. Knows: proto, perfetto. */
#ifndef TUI_EXPORT_H
#define TUI_EXPORT_H

#include "app.h"

struct tui_exported {
    uint64_t spans, instants, samples, bytes;
};

/* Told now and then how much is written, 0..1000; nonzero cancels. */
struct tui_export_watch {
    int (*progress)(void *user, const char *what, int permille);
    void *user;
};

/* Writes [from, to) of the shown tracks; spans are cut at the edges and marked. A name in .gz is
 * compressed. The trace is not changed. watch may be NULL.
 * Errors: INVALID (exists and replace is not set: *exists), NOTHING (no event and no sample is
 * left), IO, NOMEM, CANCELLED. */
enum ntff_status tui_export_range(const struct ntff_trace *t, const struct ntff_diag *diag,
                                  const struct tui_export *e, const struct tui_export_watch *watch,
                                  struct tui_exported *done, bool *exists,
                                  struct ntff_error *err) NTFF_MUST_CHECK;

struct tui_inputs { /* what the trace was read from */
    const char *const *paths;
    size_t n;
};

/* Does what the viewer asked for and tells it how that went. Nothing is written over an input or
 * into a directory that is one, nor under a name that promises another format than Perfetto's. */
void tui_export_for(struct tui_app *a, const struct ntff_trace *t, const struct ntff_diag *diag,
                    const struct tui_inputs *in, const struct tui_export_watch *watch);

#endif
