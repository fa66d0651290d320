/* near - the edit distance between short names: how many letters were left out, added or mistaken.
 * A slip is one, and one more for every four letters. */
#include "proto/near.h"

#include <string.h>

#define LONGEST 60u

struct ntff_near ntff_near_begin(const char *text, size_t len)
{
    return (struct ntff_near){.text = text, .len = len, .best = SIZE_MAX};
}

/* One row of the table of distances at a time. */
static size_t distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    size_t row[LONGEST + 1];
    for (size_t j = 0; j <= n_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            size_t best = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            best = corner + 1 < best ? corner + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
        }
    }
    return row[n_b];
}

void ntff_near_try(struct ntff_near *n, const char *name)
{
    size_t len = strlen(name);
    if (n->len > LONGEST || len > LONGEST)
        return;
    size_t d = distance(n->text, n->len, name, len);
    if (d >= n->best)
        return;
    n->best = d;
    n->name = name;
}

const char *ntff_near_found(const struct ntff_near *n)
{
    return n->best <= n->len / 4 + 1 && n->best < n->len ? n->name : NULL;
}
