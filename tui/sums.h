/* sums - what the lines and the overview show per column, made a piece at a time and kept while the
 * view stays. Knows: lod, rows, view. A line of several rows shows in each column the busiest of
 * them, and the errors of all. Rows are taken in order until the budget of the frame is spent; the
 * next frame goes on, so that no frame takes long whatever is folded and however dense it is. The
 * result does not depend on the steps. Memory: owned; entries die when the view changes. */
#ifndef TUI_SUMS_H
#define TUI_SUMS_H

#include "rows.h"

struct tui_sums_entry {
    uint32_t track, row0;  /* which line; track NTFF_NONE: the overview */
    struct tui_sum *v;     /* per column */
    uint32_t pre, pre_end; /* tracks left, by preorder */
    uint32_t row, row_end; /* rows left of the track */
    uint32_t n_tracks;     /* overview: tracks summed; .busy_ns is their sum */
    bool started, done;
};

struct tui_sums {
    const struct tui_rows *rows;
    struct tui_view view;
    struct tui_sums_entry *v;
    size_t n, cap;
    struct tui_sum *row; /* scratch, view.cols */
    int64_t budget;      /* left in this frame: events, nodes and columns to look at */
    bool pending;        /* some entry is not done */
    bool starved;        /* memory ran out: something is missing; stays */
};

/* New frame with this view: forgets what belongs to another one. False: no memory. */
bool tui_sums_frame(struct tui_sums *s, const struct tui_rows *rows, const struct tui_view *v,
                    int64_t budget) NTFF_MUST_CHECK;
/* Sums of a line so far, per column of the view. NULL: no memory. */
const struct tui_sums_entry *tui_sums_line(struct tui_sums *s, const struct tui_line *line);
/* All shown tracks: .busy_ns added up over n_tracks tracks that have events (outermost rows). */
const struct tui_sums_entry *tui_sums_all(struct tui_sums *s);
void tui_sums_clear(struct tui_sums *s);
void tui_sums_done(struct tui_sums *s);

#endif
