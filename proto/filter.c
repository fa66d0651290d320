/* filter - what the user asks for, names of events, and which of them are wanted. */
#include "proto/builder.h"
#include "proto/near.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* -- what was asked for ---------------------------------------------------------------------------
 */

static enum ntff_status parse_cores(struct ntff_builder *b, const char *text,
                                    struct ntff_error *err)
{
    for (const char *p = text; *p;) {
        char *end;
        p += strspn(p, ", ");
        if (!*p)
            break;
        if (!isdigit((unsigned char)*p))
            return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET,
                             "core filter '%s': expected numbers and ranges such as 0,2,4-7", text);
        unsigned long lo = strtoul(p, &end, 10), hi = lo;
        if (*end == '-' && isdigit((unsigned char)end[1]))
            hi = strtoul(end + 1, &end, 10);
        if ((*end && !strchr(", ", *end)) || hi < lo || hi >= NTFF_NONE)
            return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET,
                             "core filter '%s': expected numbers and ranges such as 0,2,4-7", text);
        struct ntff_interval *x = NTFF_VEC_PUSH(b->budget, &b->filter.cores);
        if (!x)
            return NTFF_NOMEM;
        *x = (struct ntff_interval){(uint32_t)lo, (uint32_t)hi};
        p = end;
    }
    return NTFF_OK;
}

/* Length of the name of a type at p: up to a comma or blank, but "type 47" is one name. */
static size_t type_name_len(const char *p)
{
    size_t n = strcspn(p, ", ");
    if (n != 4 || strncasecmp(p, "type", 4) != 0)
        return n;
    size_t digits = n + strspn(p + n, " "), len = strspn(p + digits, "0123456789");
    return len && strchr(", ", p[digits + len]) ? digits + len : n;
}

/* "type 47", as types outside the table are shown, "type_47" or "47". */
static bool type_number(const char *p, size_t n, uint32_t *type)
{
    size_t at = 0;
    if (n > 4 && strncasecmp(p, "type", 4) == 0 && (p[4] == ' ' || p[4] == '_'))
        for (at = 5; at < n && p[at] == ' ';)
            at++;
    if (at == n || n - at > 9)
        return false;
    for (*type = 0; at < n; at++) {
        if (!isdigit((unsigned char)p[at]))
            return false;
        *type = *type * 10 + (uint32_t)(p[at] - '0');
    }
    return true;
}

/* Switches a named type, or the group "hardware" / "software", on or off. */
static bool switch_type(struct ntff_builder *b, const char *p, size_t n, bool on)
{
    struct ntff_filter *f = &b->filter;
    bool hw = n == 8 && memcmp(p, "hardware", 8) == 0, sw = n == 8 && memcmp(p, "software", 8) == 0;
    if (hw || sw) {
        for (uint32_t i = 0; i < NTFF_N_EVENT_TYPES; i++)
            if (ntff_event_type(i)->hardware == hw)
                f->type_on[i] = on;
        if (sw)
            f->other_on = on;
        return true;
    }
    uint32_t type;
    char shown[24];
    if (!type_number(p, n, &type)) {
        type = ntff_event_type_by_name(p, n);
    } else if (type >= NTFF_N_EVENT_TYPES) {
        n = (size_t)snprintf(shown, sizeof shown, "type %" PRIu32, type);
        p = shown;
    }
    const struct ntff_event_type *et = ntff_event_type(type);
    struct ntff_filter_name *x = NTFF_VEC_PUSH(b->budget, &f->names);
    if (!x)
        return false;
    if (et)
        f->type_on[type] = on;
    *x = (struct ntff_filter_name){.name = et ? ntff_intern(&b->t->strs, et->name, strlen(et->name))
                                              : ntff_intern(&b->t->strs, p, n),
                                   .on = on,
                                   .known = et != NULL};
    return x->name != NTFF_STR_NONE;
}

/* Names as the runtime's own filter takes them: what is listed; with only ^names, all but those. */
static bool parse_types(struct ntff_builder *b, const char *text)
{
    struct ntff_filter *f = &b->filter;
    bool only_excludes = true;
    const char *begin = text + strspn(text, ", ");
    for (const char *p = begin; *p;
         p += type_name_len(p + (*p == '^')) + (*p == '^'), p += strspn(p, ", "))
        only_excludes &= *p == '^';
    for (size_t i = 0; i < NTFF_N_EVENT_TYPES; i++)
        f->type_on[i] = only_excludes;
    f->other_on = only_excludes;
    f->types_given = true;
    for (const char *p = begin; *p; p += strspn(p, ", ")) {
        bool off = *p == '^';
        size_t n = type_name_len(p + off);
        if (!switch_type(b, p + off, n, !off))
            return false;
        p += off + n;
    }
    return true;
}

enum ntff_status ntff_builder_parse_filters(struct ntff_builder *b, struct ntff_error *err)
{
    const struct ntff_load_options *o = b->opt;
    struct ntff_filter *f = &b->filter;
    enum ntff_status s;
    f->process = o->filter_process;
    f->instance = o->filter_instance;
    if (o->filter_core && (s = parse_cores(b, o->filter_core, err)))
        return s;
    if (o->filter_type && !parse_types(b, o->filter_type))
        return NTFF_NOMEM;
    f->active = f->cores.n || f->types_given || f->process || f->instance;
    return NTFF_OK;
}

/* -- records --------------------------------------------------------------------------------------
 */

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

/* Notes that a filter let something through; returns what it was told. */
static bool note(struct ntff_filter *f, enum ntff_filter_by by, bool passes)
{
    f->hit |= (unsigned)passes << by;
    return passes;
}

bool ntff_builder_process_passes(struct ntff_builder *b, uint32_t proc)
{
    struct ntff_filter *f = &b->filter;
    const struct ntff_process *p = &b->processes.v[proc];
    char pid[24];
    bool pass = !f->instance || note(f, NTFF_FILTER_INSTANCE,
                                     in_list(f->instance, ntff_text(&b->t->strs, p->instance)));
    if (!f->process)
        return pass;
    snprintf(pid, sizeof pid, "%" PRIu64, p->pid);
    return note(f, NTFF_FILTER_PROCESS, in_list(f->process, pid)) && pass;
}

/* Core, instance and process. */
static bool place_passes(struct ntff_builder *b, uint32_t proc, uint32_t nc)
{
    struct ntff_filter *f = &b->filter;
    bool hit = f->cores.n == 0;
    for (size_t i = 0; i < f->cores.n; i++)
        hit |= nc >= f->cores.v[i].lo && nc <= f->cores.v[i].hi;
    f->cores_met |= nc < 64 ? UINT64_C(1) << nc : 0;
    note(f, NTFF_FILTER_CORE, hit);
    return ntff_builder_process_passes(b, proc) && hit;
}

#define MANY_NAMES 8 /* as many are remembered, and shown */

static size_t met_at(enum ntff_filter_by by)
{
    return by == NTFF_FILTER_ENGINE ? 0 : by == NTFF_FILTER_QUEUE ? 1 : 2;
}

/* One more name there was to choose from. */
static bool remember(struct ntff_builder *b, enum ntff_filter_by by, ntff_str id)
{
    struct ntff_filter *f = &b->filter;
    size_t at = met_at(by);
    for (size_t i = 0; i < f->names_met[at].n; i++)
        if (f->names_met[at].v[i] == id)
            return true;
    if (f->names_met[at].n > MANY_NAMES)
        return true;
    ntff_str *x = NTFF_VEC_PUSH(b->budget, &f->names_met[at]);
    if (!x)
        return ntff_builder_no_memory(b);
    *x = id;
    return true;
}

bool ntff_builder_passes(struct ntff_builder *b, uint32_t proc, const struct ntff_rec *r,
                         ntff_str name)
{
    struct ntff_filter *f = &b->filter;
    if (!f->active)
        return true;
    bool type = !f->types_given || note(f, NTFF_FILTER_TYPE, type_passes(f, r, name));
    if (!type && (r->name || r->type >= NTFF_N_EVENT_TYPES))
        (void)remember(b, NTFF_FILTER_TYPE, name); /* a lack of memory is noted in b */
    bool pass = place_passes(b, proc, r->nc_idx) && type;
    f->n_asked++;
    f->n_kept += pass;
    return pass;
}

bool ntff_build_wants(struct ntff_builder *b, uint32_t proc, uint32_t nc)
{
    b->filter.device_met = true;
    return !b->filter.active || place_passes(b, proc, nc);
}

bool ntff_build_met(struct ntff_builder *b, enum ntff_filter_by by, const char *name, bool passes)
{
    note(&b->filter, by, passes);
    if (passes || b->filter.names_met[met_at(by)].n > MANY_NAMES)
        return true;
    ntff_str id = ntff_intern(&b->t->strs, name, strlen(name));
    return id == NTFF_STR_NONE ? ntff_builder_no_memory(b) : remember(b, by, id);
}

/* -- filters that met nothing -------------------------------------------------------------------
 */

struct list {
    char text[120];
    size_t len, n;
    bool full, none;
};

/* One more of what there is: "NC0, NC1, ..." */
static void list_add(struct list *l, const char *fmt, ...) NTFF_PRINTF(2, 3);
static void list_add(struct list *l, const char *fmt, ...)
{
    char item[100];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(item, sizeof item, fmt, ap);
    va_end(ap);
    if (l->full)
        return;
    l->full = l->n == MANY_NAMES || l->len + strlen(item) + sizeof ", , ..." > sizeof l->text;
    l->len += (size_t)snprintf(l->text + l->len, sizeof l->text - l->len, "%s%s",
                               l->n++ ? ", " : "", l->full ? "..." : item);
}

static void list_processes(const struct ntff_builder *b, bool instances, struct list *l)
{
    for (size_t i = 0, k; i < b->processes.n; i++) {
        const struct ntff_process *p = &b->processes.v[i];
        for (k = 0; k < i; k++)
            if (instances ? b->processes.v[k].instance == p->instance
                          : b->processes.v[k].pid == p->pid)
                break;
        if (k < i)
            continue;
        if (!instances && p->pid)
            list_add(l, "%" PRIu64, p->pid);
        else if (instances && p->instance)
            list_add(l, "%s", ntff_text(&b->t->strs, p->instance));
    }
}

/* Names that were remembered; those of the table are listed already. */
static void list_met(const struct ntff_builder *b, enum ntff_filter_by by, struct list *l)
{
    size_t at = met_at(by);
    for (size_t i = 0; i < b->filter.names_met[at].n; i++) {
        ntff_str id = b->filter.names_met[at].v[i];
        bool listed = false;
        for (uint32_t k = 0; by == NTFF_FILTER_TYPE && k < NTFF_N_EVENT_TYPES; k++)
            listed |= b->type_names[k] == id;
        if (!listed)
            list_add(l, "%s", ntff_text(&b->t->strs, id));
    }
}

/* What a filter could have been asked for. */
static void list_there_is(const struct ntff_builder *b, enum ntff_filter_by by, struct list *l)
{
    const struct ntff_filter *f = &b->filter;
    switch (by) {
    case NTFF_FILTER_CORE:
        for (unsigned nc = 0; nc < 64; nc++)
            if (f->cores_met >> nc & 1)
                list_add(l, "NC%u", nc);
        break;
    case NTFF_FILTER_TYPE:
        for (uint32_t i = 0; i < NTFF_N_EVENT_TYPES; i++)
            if (b->type_names[i])
                list_add(l, "%s", ntff_event_type(i)->name);
        list_met(b, by, l);
        break;
    case NTFF_FILTER_PROCESS:
    case NTFF_FILTER_INSTANCE:
        list_processes(b, by == NTFF_FILTER_INSTANCE, l);
        break;
    default:
        list_met(b, by, l);
    }
    l->none = l->n == 0;
    if (l->none)
        list_add(l, "none");
}

static enum ntff_status no_such_type(const struct ntff_builder *b, const char *text,
                                     struct ntff_error *err)
{
    struct ntff_near n = ntff_near_begin(text, strlen(text));
    struct list there = {.n = 0};
    for (uint32_t i = 0; i < NTFF_N_EVENT_TYPES; i++)
        ntff_near_try(&n, ntff_event_type(i)->name);
    for (size_t i = 0; i < b->filter.names_met[met_at(NTFF_FILTER_TYPE)].n; i++)
        ntff_near_try(&n,
                      ntff_text(&b->t->strs, b->filter.names_met[met_at(NTFF_FILTER_TYPE)].v[i]));
    list_there_is(b, NTFF_FILTER_TYPE, &there);
    const char *near = ntff_near_found(&n);
    return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET,
                     near ? "event type filter: nothing is called '%.50s' (there is %s); did you "
                            "mean %.40s?"
                          : "event type filter: nothing is called '%.50s' (there is %s)",
                     text, there.text, near);
}

/* Notes each filter that was given and matched nothing, and filters no record passes together. */
static void note_unmatched(struct ntff_builder *b)
{
    const struct ntff_filter *f = &b->filter;
    const struct ntff_load_options *o = b->opt;
    const struct {
        const char *option, *value;
        bool unasked;
    } of[NTFF_FILTERS] = {
        [NTFF_FILTER_CORE] = {"--core", o->filter_core, false},
        [NTFF_FILTER_TYPE] = {"--type", o->filter_type, false},
        [NTFF_FILTER_PROCESS] = {"--process", o->filter_process, false},
        [NTFF_FILTER_INSTANCE] = {"--instance", o->filter_instance, false},
        [NTFF_FILTER_ENGINE] = {"--engine", o->filter_engine, o->no_device},
        [NTFF_FILTER_QUEUE] = {"--queue", o->filter_queue, o->no_device || o->no_dma}};
    char all[sizeof b->diag->of->detail] = "";
    size_t len = 0;
    unsigned n = 0, n_given = 0;
    for (int by = 0; by < NTFF_FILTERS; by++) {
        struct list there = {.n = 0};
        n_given += of[by].value != NULL;
        if (!of[by].value || f->hit >> by & 1 || of[by].unasked)
            continue;
        if (n && by >= NTFF_FILTER_ENGINE) /* not asked about what others left out */
            break;
        list_there_is(b, by, &there);
        if (there.none && of[by].value[strspn(of[by].value, ", ")] == '^')
            continue; /* leaves nothing out of nothing */
        if (len < sizeof all)
            len += (size_t)snprintf(all + len, sizeof all - len, "%s%s %.40s (there is %s)",
                                    n ? ", then " : "", of[by].option, of[by].value, there.text);
        n++;
    }
    if (n)
        ntff_diag_add(b->diag, NTFF_DIAG_FILTERED_ALL, n, NULL, NTFF_NO_OFFSET, "%s", all);
    else if (n_given > 1 && f->n_asked && !f->n_kept)
        ntff_diag_add(b->diag, NTFF_DIAG_FILTERED_ALL, 1, NULL, NTFF_NO_OFFSET,
                      "all of them together, of %" PRIu64 " records", f->n_asked);
}

enum ntff_status ntff_builder_check_filters(struct ntff_builder *b, struct ntff_error *err)
{
    const struct ntff_filter *f = &b->filter;
    if (f->n_asked == 0 && !f->device_met && b->t->counts.samples_in == 0)
        return NTFF_OK;
    for (size_t i = 0; i < f->names.n && f->n_asked; i++)
        if (!f->names.v[i].known && !f->names.v[i].hit)
            return no_such_type(b, ntff_text(&b->t->strs, f->names.v[i].name), err);
    note_unmatched(b);
    return NTFF_OK;
}
