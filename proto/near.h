/* near - the name somebody meant who mistyped one. Knows: base. */
#ifndef NTFF_NEAR_H
#define NTFF_NEAR_H

#include "base.h"

struct ntff_near {
    const char *text; /* as typed; borrowed, as the names are */
    size_t len, best;
    const char *name;
};

/* Begins to look for what text[0..len) may have meant; then each name there is, then the nearest,
 * or NULL if none is near. Of equally near ones the first is taken. */
struct ntff_near ntff_near_begin(const char *text, size_t len);
void ntff_near_try(struct ntff_near *n, const char *name);
const char *ntff_near_found(const struct ntff_near *n);

#endif
