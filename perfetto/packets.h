/* packets - one function per kind of packet that stands before the events of a Perfetto trace.
 * Knows: pbw.   Field numbers: perfetto_subset.proto.
 * Each writes whole packets of sequence 1 through a put cursor. */
#ifndef PFT_PACKETS_H
#define PFT_PACKETS_H

#include "perfetto/pbw.h"

#define PFT_SEQUENCE 1u
#define PFT_ORIGIN_NS 1000u       /* trace time of the first moment: positive, small */
#define PFT_INCREMENTAL_CLOCK 64u /* sequence-scoped clock of --compact */

enum { PFT_FIRST = 1, PFT_NEXT = 2 }; /* sequence_flags: state cleared, needs state */

enum { /* fields of TracePacket */
       PFT_P_CLOCK_SNAPSHOT = 6,
       PFT_P_TIMESTAMP = 8,
       PFT_P_SEQUENCE = 10,
       PFT_P_TRACK_EVENT = 11,
       PFT_P_INTERNED = 12,
       PFT_P_FLAGS = 13,
       PFT_P_DEFAULTS = 59,
       PFT_P_DESCRIPTOR = 60,
       PFT_P_ATTRIBUTES = 126
};

/* Opens a packet of our sequence; pbw_close(w, mark) and ntff_put_done(w) end it. */
size_t pft_packet_open(struct ntff_put *w, uint64_t flags);
void pft_packet_close(struct ntff_put *w, size_t mark);

/* The first packet: trace time PFT_ORIGIN_NS is real_ns of Unix time. compact: timestamps of the
 * packets that follow are differences on the incremental clock (a second packet says so). */
void pft_packet_clock(struct ntff_put *w, uint64_t real_ns, bool compact);

/* Interned definitions, already encoded. */
void pft_packet_interned(struct ntff_put *w, const uint8_t *defs, size_t len);

/* The root: processes and threads are ordered by rank. */
void pft_packet_root(struct ntff_put *w);

enum { PFT_MERGE_NONE = 2, PFT_MERGE_BY_KEY = 3 }; /* sibling_merge_behavior */

struct pft_descriptor {
    uint64_t uuid, parent; /* parent 0 = none */
    const char *name;
    const char *description; /* NULL or "" = none */
    uint32_t rank;           /* among its siblings */
    bool explicit_children;  /* children are ordered by rank */
    const char *merge_key;   /* lanes of one row; NULL = never merged */
    enum { PFT_D_ROW, PFT_D_PROCESS, PFT_D_THREAD, PFT_D_COUNTER } kind;
    int32_t pid;           /* PROCESS, THREAD */
    int64_t tid;           /* THREAD */
    const char *label;     /* PROCESS: NULL or "" = none */
    uint32_t unit;         /* COUNTER: 0 none, 1 ns, 2 count, 3 bytes */
    const char *unit_name; /* COUNTER: NULL = by unit */
    const char *share_key; /* COUNTER: NULL or "" = none */
};
void pft_packet_track(struct ntff_put *w, const struct pft_descriptor *d);

/* A packet of provenance: open, any number of attributes, close. */
struct pft_attributes {
    size_t packet, message;
};
struct pft_attributes pft_attributes_open(struct ntff_put *w);
void pft_attribute_text(struct ntff_put *w, const char *key, const char *text);
void pft_attribute_number(struct ntff_put *w, const char *key, int64_t number);
void pft_attributes_close(struct ntff_put *w, struct pft_attributes a);

#endif
