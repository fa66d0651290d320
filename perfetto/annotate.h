/* annotate - the annotations of events as bytes, made ahead by several threads.
 * Knows: model, details, intern, layout, pbw.   Field numbers: perfetto_subset.proto.
 *
 * A thread that makes annotations may look for iids but give none. A name that is new it leaves to
 * the taker, with the whole event. A text that has no iid it writes inline and notes the place;
 * the taker goes over these places in order (pft_annotations) and puts an iid there if it gives
 * one, so that iids and bytes do not depend on who was how far. */
#ifndef PFT_ANNOTATE_H
#define PFT_ANNOTATE_H

#include "perfetto/intern.h"
#include "perfetto/layout.h"
#include "perfetto/pbw.h"
#include "perfetto/perfetto_sink.h"
#include "proto/details.h"

struct pft_inline_text {  /* an annotation whose text may get an iid */
    size_t at, text, end; /* in .w */
    uint32_t key;         /* its iid */
};

struct pft_annotator { /* one per slot of details.h */
    struct pft_namer names;
    uint8_t common[NTFF_N_COMMON]; /* iids of ntff_common_keys; 0 = not known, or of two bytes */
    struct ntff_put *w;
    NTFF_VEC(struct pft_inline_text) texts;
    size_t next_text;         /* that the taker looks at */
    struct ntff_buf repaired; /* a text that was no UTF-8 */
    uint64_t cut_texts;       /* by the taker: texts too long are left to it */
    bool failed;              /* out of memory */
};

void pft_annotator_begin(struct pft_annotator *a, struct pft_intern *in, bool may_define,
                         struct ntff_put *w);
void pft_annotator_done(struct pft_annotator *a);

/* As ntff_maker.make. */
bool pft_annotate(struct pft_annotator *a, const struct pft_layout *layout,
                  const struct ntff_event *e, const struct ntff_detail *d);
/* As ntff_maker.make_direct. */
bool pft_annotate_direct(struct pft_annotator *a, const struct ntff_trace *t,
                         const struct pft_layout *layout, const struct ntff_event *e, size_t *at);
/* Taker: one more of the event made last; moves made->end. False when memory ran out. */
bool pft_annotate_uint(struct pft_annotator *a, const char *key, uint64_t v,
                       struct ntff_made *made);

/* Taker: the bytes of an event that was made, its texts settled. Events must come in order. */
struct ntff_slice pft_annotations(struct pft_annotator *a, struct pft_intern *in,
                                  const struct ntff_made *made);

#endif
