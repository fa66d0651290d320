/* export - a range of a trace as a Perfetto trace file. Knows: proto, perfetto. */
#ifndef TUI_EXPORT_H
#define TUI_EXPORT_H

#include "app.h"

struct tui_exported {
    uint64_t spans, instants, samples, bytes;
};

/* Writes [from, to) of the shown tracks; spans are cut at the edges and marked. A name in .gz is
 * compressed. The trace is not changed.
 * Errors: INVALID (exists and replace is not set: *exists), IO, NOMEM, CANCELLED. */
enum ntff_status tui_export_range(const struct ntff_trace *t, const struct ntff_diag *diag,
                                  const struct tui_export *e, struct tui_exported *done,
                                  bool *exists, struct ntff_error *err) NTFF_MUST_CHECK;

/* Does what the viewer asked for and tells it how that went. */
void tui_export_for(struct tui_app *a, const struct ntff_trace *t, const struct ntff_diag *diag);

#endif
