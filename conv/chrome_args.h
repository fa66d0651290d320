/* chrome_args - the arguments of events as JSON, made ahead by several threads: the members of
 * "args", without the braces.
 * Knows: model, details, intern, layout, jsonw.
 * Names are those of the Perfetto output (intern.h). As there, only the taker gives them; all other
 * threads leave events with new ones to it. */
#ifndef CONV_CHROME_ARGS_H
#define CONV_CHROME_ARGS_H

#include "perfetto/intern.h"
#include "perfetto/layout.h"
#include "proto/details.h"

struct conv_args_key {       /* ,"name": - made by the taker, read by all */
    _Atomic(const char *) p; /* NULL = not yet */
    size_t len;
};

struct conv_args_names { /* of one output, for all threads */
    struct pft_intern in;
    struct conv_args_key *keys; /* by iid */
};
bool conv_args_names_init(struct conv_args_names *n) NTFF_MUST_CHECK;
void conv_args_names_done(struct conv_args_names *n);

struct conv_arguer { /* one per slot of details.h */
    struct pft_namer namer;
    struct conv_args_names *names;
    const struct pft_key *common[NTFF_N_COMMON]; /* of ntff_common_keys; NULL = not known */
    struct ntff_put *w;
    bool first;         /* no comma before the next */
    uint64_t cut_texts; /* by the taker: texts too long are left to it */
};
void conv_arguer_begin(struct conv_arguer *a, struct conv_args_names *names, bool may_define,
                       struct ntff_put *w);

/* As ntff_maker.make and .make_direct. */
bool conv_args_make(struct conv_arguer *a, const struct pft_layout *layout,
                    const struct ntff_event *e, const struct ntff_detail *d);
bool conv_args_make_direct(struct conv_arguer *a, const struct ntff_trace *t,
                           const struct pft_layout *layout, const struct ntff_event *e);
/* Taker: one more of the event made last; moves made->end. False when memory ran out. */
bool conv_args_add(struct conv_arguer *a, const char *key, uint64_t v, struct ntff_made *made);

#endif
