/* search - finds spans by name or attribute value, in steps. Knows: lod, rows.
 * Every distinct name is matched once; attribute values are decoded for events whose name does not
 * match. The scan starts at an event and goes round the whole trace in the order of events, so the
 * nearest hit comes first. Hidden tracks are passed over. */
#ifndef TUI_SEARCH_H
#define TUI_SEARCH_H

#include "rows.h"

/* Attributes of an event, as ntff_detail gives them; replaceable for tests. */
typedef bool tui_detail_fn(const struct ntff_trace *t, const struct ntff_event *e,
                           struct ntff_detail *d);

struct tui_search {
    const struct ntff_trace *t;
    char pattern[256];
    regex_t re;
    bool active;       /* there is a pattern */
    bool running;      /* the scan has not come round yet */
    bool overflow;     /* more hits than fit (memory) */
    bool starved;      /* memory ran out in this or an earlier search */
    uint8_t *name_hit; /* by string id: bit 0 looked at, bit 1 matches */
    size_t n_names;
    uint32_t start; /* event the scan began with */
    uint32_t done;  /* events looked at */
    uint32_t *hits; /* in scan order */
    size_t n_hits, cap_hits;
    struct ntff_detail detail;
    tui_detail_fn *details;
    const struct tui_rows *rows;
};

/* False: the pattern is no regular expression (why), or no memory; the old search stays. */
bool tui_search_start(struct tui_search *s, const struct tui_rows *rows, tui_detail_fn *details,
                      const char *pattern, uint32_t start, char *why, size_t why_cap);
void tui_search_done(struct tui_search *s);
/* Goes on; cost counts about one per name and 16 per decoded event. True if there is more. */
bool tui_search_step(struct tui_search *s, size_t cost);

/* The hit next after event in trace order (dir > 0) or before (dir < 0), round the end. at = its
 * number from 1, in time order of the hits so far. NTFF_NONE: none (yet). */
uint32_t tui_search_next(const struct tui_search *s, uint32_t event, int dir, size_t *at);
/* Number of a hit from 1, 0 if it is none. */
size_t tui_search_at(const struct tui_search *s, uint32_t event);
bool tui_search_is_hit(const struct tui_search *s, uint32_t event);
/* Whether spans of that name are hits by their name. */
bool tui_search_name(struct tui_search *s, ntff_str name);

#endif
