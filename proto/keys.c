/* keys - see keys.h. Names are interned, which also makes them what will be written: two that
 * differ only in bytes that are no text are the same name. Each remembers in which object it was
 * last, so that a new object costs nothing. */
#include "proto/keys.h"

#include <stdio.h>
#include <string.h>

#define LONGEST 480 /* of a name that gets a number: what ntff_internf has room for, less that */

void ntff_keys_begin(struct ntff_keys *k)
{
    if (k->names.slots == NULL && !ntff_strtab_init(&k->names, NULL))
        k->failed = true;
    k->object++;
    if (k->object == 0) { /* after 2^32 objects: the numbers start over */
        for (size_t i = 0; i < k->uses.n; i++)
            k->uses.v[i].object = 0;
        k->object = 1;
    }
}

static struct ntff_key_use *use_of(struct ntff_keys *k, ntff_str name)
{
    while (name != NTFF_STR_NONE && k->uses.n <= name) {
        struct ntff_key_use *u = NTFF_VEC_PUSH(NULL, &k->uses);
        if (!u)
            return NULL;
        *u = (struct ntff_key_use){0};
    }
    return name != NTFF_STR_NONE ? &k->uses.v[name] : NULL;
}

struct ntff_slice ntff_keys_take(struct ntff_keys *k, const char *p, size_t len)
{
    ntff_str first = k->failed ? NTFF_STR_NONE : ntff_intern(&k->names, p, len), name = first;
    struct ntff_key_use *u = use_of(k, name);
    while (u && u->object == k->object) {
        uint32_t n = ++k->uses.v[first].last;
        name = ntff_internf(&k->names, "%.*s_%u", LONGEST, ntff_text(&k->names, first), n);
        u = use_of(k, name);
    }
    if (!u) {
        k->failed = true;
        return (struct ntff_slice){p, len};
    }
    *u = (struct ntff_key_use){k->object, 1};
    return (struct ntff_slice){ntff_text(&k->names, name), ntff_text_len(&k->names, name)};
}

void ntff_keys_done(struct ntff_keys *k)
{
    if (k->names.slots)
        ntff_strtab_done(&k->names);
    NTFF_VEC_FREE(NULL, &k->uses);
    *k = (struct ntff_keys){0};
}
