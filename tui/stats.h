/* stats - what happens in a range of time, by name. Knows: lod, rows.
 * The work is cut into steps, so that a range of ten million spans never holds up a key; counts and
 * sums are there after the first pass, exact percentiles after the last.
 *
 * count, mean, min, p50, p99, max: of the spans that touch the range, with their full duration.
 * total, self: only the time inside the range; self is without the spans directly below.
 * Instants count, but have no duration: they are left out of min, mean and percentiles.
 * Partial spans (tui_event_partial) were not measured: they are in none of these, but counted. */
#ifndef TUI_STATS_H
#define TUI_STATS_H

#include "rows.h"

struct tui_stat {
    ntff_str name;
    uint32_t track;          /* NTFF_NONE, or of the row in a list of tracks */
    uint64_t count, n_spans; /* all but the partial ones; those with a duration */
    uint64_t n_partial;
    uint64_t total_ns, self_ns;
    uint64_t sum_ns; /* full durations: mean = sum / n_spans */
    uint64_t min_ns, p50_ns, p99_ns, max_ns;
    size_t at; /* where its durations are kept while counting */
};

enum tui_sort {
    TUI_SORT_TOTAL,
    TUI_SORT_SELF,
    TUI_SORT_COUNT,
    TUI_SORT_MEAN,
    TUI_SORT_MIN,
    TUI_SORT_P50,
    TUI_SORT_P99,
    TUI_SORT_MAX,
    TUI_SORT_NAME,
    TUI_SORT_KINDS
};

enum tui_stats_phase {
    TUI_STATS_IDLE,
    TUI_STATS_COUNT,
    TUI_STATS_FILL,
    TUI_STATS_SELECT,
    TUI_STATS_DONE,
    TUI_STATS_FAILED
};

struct tui_stats {
    const struct tui_lod *l;
    uint64_t from, to;
    uint32_t scope; /* a track, or NTFF_NONE for all shown ones */
    enum tui_stats_phase phase;
    struct tui_stat *v;
    size_t n, cap;
    uint32_t *sorted; /* indices into v */
    size_t cap_sorted;
    enum tui_sort sort;
    uint64_t n_partial; /* of all names */
    uint64_t done, all; /* events, for the progress shown */
    struct tui_stats_work *w;
    bool starved; /* memory ran out; stays */
};

/* Starts anew if anything differs from what is being or was counted. shown: by track; borrowed
 * until done. */
void tui_stats_want(struct tui_stats *s, const struct tui_rows *rows, uint64_t from, uint64_t to,
                    uint32_t scope);
void tui_stats_reset(struct tui_stats *s); /* forget: the shown tracks changed */
void tui_stats_done(struct tui_stats *s);
/* Looks at about budget events; false if there was nothing left to do. */
bool tui_stats_step(struct tui_stats *s, size_t budget);
void tui_stats_sort(struct tui_stats *s, enum tui_sort by);
const char *tui_sort_name(enum tui_sort by);

#endif
