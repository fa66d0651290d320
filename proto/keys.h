/* keys - names of the members of a JSON object, each once: readers keep one value per name, so what
 * a capture repeats gets a name of its own, "gid" and "gid_2".
 * Knows: mem.
 * Memory: grows with the number of different names. Errors: when memory runs out .failed is set and
 * names come back as they are. */
#ifndef NTFF_KEYS_H
#define NTFF_KEYS_H

#include "proto/mem.h"

struct ntff_key_use {
    uint32_t object; /* the last one it was in */
    uint32_t last;   /* the number its last double there got; 1 = none yet */
};

struct ntff_keys {
    struct ntff_strtab names;
    NTFF_VEC(struct ntff_key_use) uses; /* by name */
    uint32_t object;                    /* the current one */
    bool failed;
};

/* A new object begins. Zero-initialise before the first. */
void ntff_keys_begin(struct ntff_keys *k);
/* The name to write for this one: valid UTF-8; lives until the end. */
struct ntff_slice ntff_keys_take(struct ntff_keys *k, const char *p, size_t len);
void ntff_keys_done(struct ntff_keys *k);

#endif
