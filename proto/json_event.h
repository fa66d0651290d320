/* json_event - one parsed JSON object into the model: an event, a host sample, a fact.
 * Source: keys [SERDE] [TAX] (events), [AWS:P2] [USE] (rows of system_profile.json).
 * Knows:  build, store; json-c.   Private to decode_json.c. */
#ifndef NTFF_JSON_EVENT_H
#define NTFF_JSON_EVENT_H

#include "store.h"

#include <json-c/json_types.h>

struct ntff_json_taker {
    struct ntff_builder *b;
    struct ntff_diag *diag;
    const char *path;
    uint32_t file, proc; /* proc: for events that name no process */
    struct ntff_store store;
    struct ntff_slice text; /* of the object being taken */
    uint64_t offset;        /* and where it stands */
    uint32_t n_facts;
    bool stopped; /* out of memory, or cancelled */
    /* the process of the last row: rows of one process come in runs */
    char instance[64];
    uint64_t pid;
    uint32_t row_proc; /* NTFF_NONE at first */
    char scratch[24];
};

/* Counts a record that could not be used. */
void ntff_json_bad_event(struct ntff_json_taker *d, uint64_t offset, const char *why);

/* An event, in either dialect. */
void ntff_json_take_event(struct ntff_json_taker *d, struct json_object *o);
/* An element of cpu_util, mem_usage, device_mem_usage, system_profile_metadata. */
void ntff_json_take_cpu(struct ntff_json_taker *d, struct json_object *o);
void ntff_json_take_memory(struct ntff_json_taker *d, struct json_object *o);
void ntff_json_take_device_memory(struct ntff_json_taker *d, struct json_object *o);
void ntff_json_take_metadata(struct ntff_json_taker *d, struct json_object *o);

#endif
