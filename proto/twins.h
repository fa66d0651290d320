/* twins - inputs that hold the same bytes: a file copied beside itself counts twice, and nobody
 * means that. Private to load. Knows: input, diag, map.
 * Kept are the files of which no two are alike by chance: events and device profiles. */
#ifndef NTFF_TWINS_H
#define NTFF_TWINS_H

#include "diag.h"
#include "input.h"

struct ntff_twin {
    const struct ntff_input *in; /* mapped, as long as this is kept */
    uint8_t kind;                /* enum ntff_file_kind */
    size_t at;                   /* in the order of reading */
    uint64_t key;
};

struct ntff_twins {
    NTFF_VEC(struct ntff_twin) files; /* in the order they were read */
};

/* One more file. False when memory ran out. */
bool ntff_twins_add(struct ntff_twins *t, struct ntff_budget *budget, const struct ntff_input *in,
                    uint8_t kind) NTFF_MUST_CHECK;
/* Counts in diag every file that holds what one before it holds. Sorts the files. */
void ntff_twins_tell(struct ntff_twins *t, struct ntff_diag *diag);

#endif
