/* jsonscan - finds the objects of interest in JSON text that streams by.
 * Source: the JSON grammar (RFC 8259); the forms: runtime events [SERDE] [TAX], exports of the
 *         vendor's tool [AWS:P2], JSON inside log text and several documents in a row [USE].
 * Knows:  base, mem.
 *
 * Memory: one object at most (NTFF_JSON_MAX_OBJECT) and one line, whatever the input's size.
 * Errors: none of its own; what does not fit the grammar ends the document it is in, is told to
 *         .problem, and the scan goes on in the text after it.
 * Units:  offsets are bytes from the first byte fed. */
#ifndef NTFF_JSONSCAN_H
#define NTFF_JSONSCAN_H

#include "mem.h"

#define NTFF_JSON_MAX_OBJECT ((size_t)1 << 20)
#define NTFF_JSON_MAX_DEPTH 64
#define NTFF_JSON_MAX_LINE 1024

/* Where an object stands. */
enum ntff_json_place {
    NTFF_JSON_NOWHERE,     /* in a document, outside any list known here */
    NTFF_JSON_ROOT,        /* a document that is one object, at most NTFF_JSON_MAX_OBJECT long */
    NTFF_JSON_LIST,        /* in an array that is a document, or was left over of a damaged one */
    NTFF_JSON_EVENTS,      /* "events":[...] */
    NTFF_JSON_TRACE_EVENT, /* "trace_event":[...] or "trace_events":[...] */
    NTFF_JSON_CPU_UTIL,    /* "cpu_util":[...] */
    NTFF_JSON_MEM_USAGE,   /* "mem_usage":[...] */
    NTFF_JSON_DEVICE_MEM,  /* "device_mem_usage":[...] */
    NTFF_JSON_METADATA     /* "system_profile_metadata":[...] */
};

/* Texts are not NUL-terminated and live during the call only. Any callback may be NULL; false from
 * one that can return it stops the scan. */
struct ntff_json_events {
    void *user;
    /* A complete object, braces included; balanced, but values in it are not checked yet. */
    bool (*object)(void *user, enum ntff_json_place place, struct ntff_slice text, uint64_t offset);
    /* A scalar member of a document's outermost object. */
    void (*scalar)(void *user, struct ntff_slice key, struct ntff_slice text);
    /* A line, or a part of one, outside any document; the first NTFF_JSON_MAX_LINE bytes of it. */
    void (*line)(void *user, struct ntff_slice text, uint64_t offset);
    /* Something was left out: one list element, or the rest of a document. seen is what was read
     * of the object it is or was in, empty if it was in none; place is that object's. */
    void (*problem)(void *user, enum ntff_json_place place, struct ntff_slice seen, uint64_t offset,
                    const char *why);
    /* The input ended inside a document; offset is where the part that is cut begins. */
    void (*cut)(void *user, enum ntff_json_place place, struct ntff_slice seen, uint64_t offset);
};

struct ntff_jsonscan {
    struct ntff_json_events on;
    uint64_t pos;         /* offset of the next byte */
    uint64_t objects;     /* bit d: the container at depth d is an object */
    unsigned depth;       /* open containers; 0 = outside any document */
    unsigned list_depth;  /* depth inside the known list, 0 = in none */
    unsigned known_lists; /* bit p: a list of enum ntff_json_place p was opened */
    uint8_t state, place;
    bool capturing, stopped;
    unsigned capture_depth;   /* depth that is reached again when the captured object ends */
    uint64_t capture_off;     /* where it begins */
    const uint8_t *from;      /* start of its part in the bytes being fed */
    struct ntff_buf object;   /* its parts from earlier feeds */
    char key[32], scalar[32]; /* cut to size; lengths tell if they were */
    size_t key_len, scalar_len;
    char line[NTFF_JSON_MAX_LINE];
    size_t line_len, line_mark; /* mark: without what may be the begin of a document */
    uint64_t line_off;
};

void ntff_jsonscan_init(struct ntff_jsonscan *s, const struct ntff_json_events *on,
                        struct ntff_budget *budget);
/* Takes the next bytes. False when a callback stopped it or memory ran out (.object.failed). */
bool ntff_jsonscan_feed(struct ntff_jsonscan *s, const void *p, size_t n) NTFF_MUST_CHECK;
/* The input has ended. */
void ntff_jsonscan_end(struct ntff_jsonscan *s);
void ntff_jsonscan_done(struct ntff_jsonscan *s);

#endif
