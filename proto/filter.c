/* filter - names of events, and which of them the user wants. */
#include "proto/builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
    return *name != NTFF_STR_NONE || ntff_builder_no_memory(b);
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

static bool type_passes(struct ntff_filter *f, const struct ntff_rec *r, ntff_str name)
{
    int verdict = -1;
    for (size_t i = 0; i < f->names.n; i++) {
        if (f->names.v[i].name != name)
            continue;
        f->names.v[i].hit = true;
        verdict = verdict == 0 ? 0 : f->names.v[i].on;
    }
    if (verdict >= 0)
        return verdict;
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
    struct ntff_filter *f = &b->filter;
    if (!f->active)
        return true;
    bool pass = (!f->types_given || type_passes(f, r, name)) && place_passes(b, proc, r);
    f->n_asked++;
    f->n_kept += pass;
    return pass;
}

bool ntff_build_wants(struct ntff_builder *b, uint32_t proc, uint32_t nc)
{
    struct ntff_rec r = {.nc_idx = nc, .type = NTFF_ET_DEVICE_EXEC};
    return !b->filter.active || place_passes(b, proc, &r);
}

/* -- filters that met nothing -------------------------------------------------------------------
 */

/* How many letters two names differ by, roughly: enough to find a slip of the finger. */
static size_t distance(const char *a, const char *b)
{
    size_t row[64], n = strlen(b);
    if (strlen(a) > 60 || n > 60)
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            best = corner + 1 < best ? corner + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
        }
    }
    return row[n];
}

static enum ntff_status no_such_type(const char *text, struct ntff_error *err)
{
    size_t best = SIZE_MAX;
    const char *near = NULL;
    for (uint32_t i = 0; i < NTFF_N_EVENT_TYPES; i++) {
        const char *name = ntff_event_type(i)->name;
        size_t d = distance(text, name);
        if (d < best) {
            best = d;
            near = name;
        }
    }
    if (near && best <= strlen(text) / 3 + 1)
        return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET,
                         "event type filter: nothing is called '%s'; did you mean %s?", text, near);
    return ntff_fail(
        err, NTFF_INVALID, NTFF_NO_OFFSET,
        "event type filter: nothing is called '%s', neither a known type nor an event here", text);
}

/* What could have been asked for: "pid 1000, pid 1001; NC0, NC1". */
static void list_there_is(const struct ntff_builder *b, char *out, size_t cap)
{
    uint64_t seen = 0; /* logical cores below 64 */
    size_t n = 0;
#define PUT(...)                                                                                   \
    do {                                                                                           \
        int k = n < cap ? snprintf(out + n, cap - n, __VA_ARGS__) : 0;                             \
        n += k > 0 ? (size_t)k : 0;                                                                \
    } while (0)
    out[0] = '\0';
    for (size_t i = 0; i < b->processes.n && i < 4; i++) {
        const struct ntff_process *p = &b->processes.v[i];
        PUT("%s%s%spid %" PRIu64, i ? ", " : "", ntff_text(&b->t->strs, p->instance),
            p->instance ? " " : "", p->pid);
    }
    for (size_t i = 0; i < b->tracks.n; i++)
        if (b->tracks.v[i].nc < 64)
            seen |= UINT64_C(1) << b->tracks.v[i].nc;
    for (unsigned nc = 0, first = 1; nc < 64; nc++)
        if (seen >> nc & 1) {
            PUT("%sNC%u", first ? "; " : ", ", nc);
            first = 0;
        }
#undef PUT
}

enum ntff_status ntff_builder_check_filters(struct ntff_builder *b, struct ntff_error *err)
{
    const struct ntff_filter *f = &b->filter;
    char there[120];
    if (f->n_asked == 0)
        return NTFF_OK;
    for (size_t i = 0; i < f->names.n; i++)
        if (!f->names.v[i].known && !f->names.v[i].hit)
            return no_such_type(ntff_text(&b->t->strs, f->names.v[i].name), err);
    if (f->n_kept)
        return NTFF_OK;
    list_there_is(b, there, sizeof there);
    ntff_diag_add(b->diag, NTFF_DIAG_FILTERED_ALL, 1, NULL, NTFF_NO_OFFSET,
                  "%" PRIu64 " records read; there is %s", f->n_asked, there);
    return NTFF_OK;
}
