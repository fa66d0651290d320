/* rows - the track tree as lines of the screen: order, folding, filter. Knows: model, lod.
 *
 * Tracks are listed in preorder, siblings by rank; that order never changes with zoom. A track is
 * one line (folded), or a line for each of its rows, then its children. A folded line sums up the
 * rows of everything below it. Counters are one line, or TUI_TALL when unfolded.
 * Memory: owned by the struct. */
#ifndef TUI_ROWS_H
#define TUI_ROWS_H

#include "lod.h"

#define TUI_TALL 4

struct tui_line {
    uint32_t track;
    uint32_t row0, row1; /* the track's own rows on this line */
    uint32_t pre0, pre1; /* folded: preorder positions of everything below; else empty */
    uint16_t level;      /* in the tree */
    uint8_t part, parts; /* counter: which line of how many, from the top */
    bool head;           /* first line of the track: carries the name */
    bool foldable, folded;
    bool counter;
};

struct tui_rows {
    const struct tui_lod *l;
    uint32_t *pre;     /* tracks in preorder */
    uint32_t *pre_of;  /* position of a track in it */
    uint32_t *pre_end; /* by position: behind the last descendant */
    uint16_t *level;   /* by track */
    bool *open;        /* by track: not folded */
    bool *shown;       /* by track: not hidden by the filter, and not empty */
    bool *full;        /* by track: it or a descendant has something to show */
    struct tui_line *lines;
    size_t n_lines, cap_lines;
    bool filtered;
    bool starved; /* memory ran out: lines are missing; stays */
};

/* Everything shown, folded as reads well at first. False: no memory. */
bool tui_rows_init(struct tui_rows *r, const struct tui_lod *l) NTFF_MUST_CHECK;
void tui_rows_done(struct tui_rows *r);

/* Shows only tracks whose path ("process/NC00/Tensor (PE)") matches the regular expression (POSIX
 * extended, upper case only when it has any), with what is above and below them; NULL or "" shows
 * all. On a bad expression nothing changes and why gets the reason. */
bool tui_rows_filter(struct tui_rows *r, const char *pattern, char *why, size_t why_cap);

/* Folding; lines are made anew. All may fail for want of memory, then the lines stay as they were.
 */
bool tui_rows_toggle(struct tui_rows *r, uint32_t track);
bool tui_rows_open_all(struct tui_rows *r, bool open);
/* Unfolds what hides the track (and the track, if it has several rows); false if it is filtered
 * out. */
bool tui_rows_reveal(struct tui_rows *r, uint32_t track);

/* Line that shows the row, or the folded line that holds it; n_lines if none. */
size_t tui_rows_line_of(const struct tui_rows *r, uint32_t track, uint32_t row);

/* "process/NC00/Tensor (PE)"; returns the length, cut to cap. */
size_t tui_track_path(const struct ntff_trace *t, uint32_t track, char *out, size_t cap);

/* Compiles as all patterns here are: extended, without case unless the pattern has upper case. */
#include <regex.h>
bool tui_regex(regex_t *re, const char *pattern, char *why, size_t why_cap, bool *starved);
/* Matches bytes that need no NUL behind them. */
bool tui_regex_match(const regex_t *re, const char *p, size_t len, bool *starved);

#endif
