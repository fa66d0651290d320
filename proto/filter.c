/* filter - names of events, and which of them the user wants. */
#include "proto/builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool no_memory(struct ntff_builder *b)
{
    b->out_of_memory = true;
    return false;
}

bool ntff_builder_name(struct ntff_builder *b, const struct ntff_rec *r, ntff_str *name)
{
    const struct ntff_event_type *et;
    if (r->name) {
        *name = r->name;
    } else if (r->is_ring) {
        *name = ntff_internf(&b->t->strs, "ntrace %" PRIu32, r->ring_type);
    } else if ((et = ntff_event_type(r->type)) != NULL) {
        if (!b->type_names[r->type])
            b->type_names[r->type] = ntff_intern(&b->t->strs, et->name, strlen(et->name));
        *name = b->type_names[r->type];
    } else {
        *name = ntff_internf(&b->t->strs, "type %" PRIu32, r->type & ~NTFF_OLD_TYPE);
    }
    return *name != NTFF_STR_NONE || no_memory(b);
}

static bool has_str(const ntff_str *v, size_t n, ntff_str s)
{
    for (size_t i = 0; i < n; i++)
        if (v[i] == s)
            return true;
    return false;
}

/* Is text one of the comma-separated items of list? */
static bool in_list(const char *list, const char *text)
{
    size_t len = strlen(text);
    for (const char *p = list; *p;) {
        p += strspn(p, ", ");
        size_t n = strcspn(p, ", ");
        if (n == len && memcmp(p, text, n) == 0)
            return true;
        p += n;
    }
    return false;
}

static bool type_passes(const struct ntff_filter *f, const struct ntff_rec *r, ntff_str name)
{
    if (has_str(f->names_off.v, f->names_off.n, name))
        return false;
    if (has_str(f->names_on.v, f->names_on.n, name))
        return true;
    return r->type < NTFF_N_EVENT_TYPES ? f->type_on[r->type] : f->other_on;
}

bool ntff_builder_process_passes(const struct ntff_builder *b, uint32_t proc)
{
    const struct ntff_filter *f = &b->filter;
    const struct ntff_process *p = &b->processes.v[proc];
    char pid[24];
    if (f->instance && !in_list(f->instance, ntff_text(&b->t->strs, p->instance)))
        return false;
    snprintf(pid, sizeof pid, "%" PRIu64, p->pid);
    return !f->process || in_list(f->process, pid);
}

/* Core, instance and process. */
static bool place_passes(const struct ntff_builder *b, uint32_t proc, const struct ntff_rec *r)
{
    const struct ntff_filter *f = &b->filter;
    if (f->cores.n) {
        bool hit = false;
        for (size_t i = 0; i < f->cores.n; i++)
            hit |= r->nc_idx >= f->cores.v[i].lo && r->nc_idx <= f->cores.v[i].hi;
        if (!hit)
            return false;
    }
    return ntff_builder_process_passes(b, proc);
}

bool ntff_builder_passes(struct ntff_builder *b, uint32_t proc, const struct ntff_rec *r,
                         ntff_str name)
{
    const struct ntff_filter *f = &b->filter;
    return !f->active || ((!f->types_given || type_passes(f, r, name)) && place_passes(b, proc, r));
}

bool ntff_build_wants(struct ntff_builder *b, uint32_t proc, uint32_t nc)
{
    struct ntff_rec r = {.nc_idx = nc, .type = NTFF_ET_DEVICE_EXEC};
    return !b->filter.active || place_passes(b, proc, &r);
}
