/* provenance - what an output says about itself: converter, inputs and how they were read, clocks,
 * counts, losses. One list for every format.
 * Knows: model, clock, diag. */
#ifndef PFT_PROVENANCE_H
#define PFT_PROVENANCE_H

#include "proto/model.h"

/* Called once per fact; text NULL = a number. Both die with the call. */
typedef void pft_fact_fn(void *user, const char *key, const char *text, int64_t number);

/* diag may be NULL. Lists at most 64 files, processes and clocks each and says when there are more.
 */
bool pft_provenance(const struct ntff_trace *t, const struct ntff_diag *diag, const char *creator,
                    pft_fact_fn *fact, void *user);

/* Largest residual of any core's clock, 0 if there is none. */
uint64_t pft_worst_residual_ns(const struct ntff_trace *t);

#endif
