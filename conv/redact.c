/* redact - a table from texts to what stands for them, filled in a fixed order and then asked.
 *
 * Whole texts come first: what is known to be an instance, a path, a model name is replaced as a
 * whole, whatever it looks like. Any other text is searched for parts that look like one, and the
 * result is kept in the table as well, so that a text repeated a million times is searched once. */
#include "conv/redact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { INSTANCE, HOST, PATH, MODEL, TEXT, KINDS };

struct entry {
    struct ntff_slice from, to;
};

struct redactor {
    struct ntff_rewrite rewrite; /* what the trace points to */
    struct ntff_trace *t;
    struct entry *v; /* open addressing; from.p NULL = free */
    size_t n, n_slots;
    unsigned count[KINDS];
    struct ntff_slice *instances; /* of the processes, each once; others are empty */
    bool failed;
};

/* -- the table ------------------------------------------------------------------------------------
 */

static uint64_t hash(struct ntff_slice s)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (uint8_t)s.p[i]) * 0x100000001b3u;
    return h ^ h >> 32;
}

static struct entry *slot(struct redactor *r, struct ntff_slice from)
{
    size_t at = hash(from) & (r->n_slots - 1);
    while (r->v[at].from.p &&
           (r->v[at].from.len != from.len || memcmp(r->v[at].from.p, from.p, from.len) != 0))
        at = (at + 1) & (r->n_slots - 1);
    return &r->v[at];
}

static bool grow(struct redactor *r)
{
    struct entry *old = r->v;
    size_t n_old = r->n_slots;
    r->n_slots = n_old ? 2 * n_old : 256;
    r->v = ntff_arena_alloc(&r->t->arena, r->n_slots * sizeof *r->v); /* zeroed */
    if (!r->v) {
        r->v = old;
        r->n_slots = n_old;
        return false;
    }
    for (size_t i = 0; i < n_old; i++)
        if (old[i].from.p)
            *slot(r, old[i].from) = old[i];
    return true;
}

static struct ntff_slice keep(struct redactor *r, const char *p, size_t len)
{
    char *text = ntff_arena_text(&r->t->arena, p, len);
    r->failed |= text == NULL;
    return (struct ntff_slice){text ? text : "", text ? len : 0};
}

/* What stands for a text; NULL if it is not in the table. */
static const struct ntff_slice *known(struct redactor *r, struct ntff_slice from)
{
    struct entry *e = r->n_slots ? slot(r, from) : NULL;
    return e && e->from.p ? &e->to : NULL;
}

static struct ntff_slice add(struct redactor *r, struct ntff_slice from, struct ntff_slice to)
{
    if (2 * (r->n + 1) > r->n_slots && !grow(r)) {
        r->failed = true;
        return (struct ntff_slice){"", 0};
    }
    *slot(r, from) = (struct entry){keep(r, from.p, from.len), to};
    r->n++;
    return to;
}

static struct ntff_slice pseudonym(struct redactor *r, enum kind kind, struct ntff_slice text)
{
    static const char *const names[] = {"instance", "host", "path", "model", "text"};
    const struct ntff_slice *old = known(r, text);
    char name[32];
    if (text.len == 0)
        return text;
    if (old)
        return *old;
    int n = snprintf(name, sizeof name, "%s-%u", names[kind], ++r->count[kind]);
    struct ntff_slice to = keep(r, name, (size_t)n);
    add(r, to, to); /* it stands for itself, should it come by again */
    return add(r, text, to);
}

/* -- what parts of a text look like ---------------------------------------------------------------
 */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool starts(const char *p, const char *end, const char *what)
{
    size_t len = strlen(what);
    return (size_t)(end - p) >= len && memcmp(p, what, len) == 0;
}

/* i-0123456789abcdef0, mi-...: at least eight characters; and those of this trace, whatever they
 * are. */
static size_t instance_len(const struct redactor *r, const char *p, const char *end)
{
    for (size_t i = 0; i < r->t->n_processes; i++) {
        const char *text = r->instances[i].p;
        if (r->instances[i].len && starts(p, end, text) &&
            (p + r->instances[i].len == end || !is_word(p[r->instances[i].len])))
            return r->instances[i].len;
    }
    const char *q = p + (starts(p, end, "mi-") ? 3 : starts(p, end, "i-") ? 2 : 0), *first = q;
    while (q < end && is_word(*q))
        q++;
    return first > p && q - first >= 8 ? (size_t)(q - p) : 0;
}

static bool ends_in(const char *p, size_t len, const char *what)
{
    size_t n = strlen(what);
    return len > n && memcmp(p + len - n, what, n) == 0;
}

/* ip-10-0-1-2..., ec2-..., or a name in a domain that is somebody's. */
static size_t host_len(const char *p, const char *end)
{
    static const char *const domains[] = {".internal", ".local", ".amazonaws.com", ".corp", ".lan"};
    const char *q = p;
    while (q < end && (is_word(*q) || *q == '-' || *q == '.'))
        q++;
    while (q > p && q[-1] == '.')
        q--;
    size_t len = (size_t)(q - p);
    if ((starts(p, q, "ip-") && len > 3 && is_digit(p[3])) ||
        (starts(p, q, "ec2-") && len > 4 && is_digit(p[4])))
        return len;
    for (size_t i = 0; i < NTFF_ARRAY_LEN(domains); i++)
        if (ends_in(p, len, domains[i]))
            return len;
    return 0;
}

/* /a..., ~/a..., scheme://...: up to a blank or a mark that ends a path in a sentence. */
static size_t path_len(const char *p, const char *end)
{
    const char *q = p;
    while (q < end && *q >= 'a' && *q <= 'z')
        q++;
    if (q == p || !starts(q, end, "://")) {
        q = p + (p < end && *p == '~');
        if (end - q < 2 || *q != '/' || !(is_word(q[1]) || q[1] == '.' || q[1] == '_'))
            return 0;
    } else {
        q += 3;
    }
    while (q < end && !memchr(" \t\n\r\"',;:()[]{}|<>\\", *q, 18))
        q++;
    return (size_t)(q - p);
}

/* The text with such parts replaced; itself if there is none. */
static struct ntff_slice search(struct redactor *r, struct ntff_slice text)
{
    struct ntff_buf out = {0};
    const char *p = text.p, *end = p + text.len, *copied = p;
    while (p < end) {
        enum kind kind = INSTANCE;
        size_t len = 0;
        if (p == text.p || !is_word(p[-1])) {
            len = instance_len(r, p, end);
            if (len == 0 && (len = path_len(p, end)))
                kind = PATH;
            if (len == 0 && (len = host_len(p, end)))
                kind = HOST;
        }
        if (len == 0) {
            p++;
            continue;
        }
        struct ntff_slice to = pseudonym(r, kind, (struct ntff_slice){p, len});
        ntff_buf_add(&out, copied, (size_t)(p - copied));
        ntff_buf_add(&out, to.p, to.len);
        copied = p += len;
    }
    if (copied > text.p) {
        ntff_buf_add(&out, copied, (size_t)(end - copied));
        r->failed |= out.failed;
        if (!out.failed)
            text = add(r, text, keep(r, (const char *)out.p, out.len));
    }
    ntff_buf_free(&out);
    return text;
}

/* -- by key ---------------------------------------------------------------------------------------
 */

static bool key_is(struct ntff_slice key, const char *what)
{
    return key.len == strlen(what) && memcmp(key.p, what, key.len) == 0;
}

static bool is_model_key(struct ntff_slice key)
{
    return key_is(key, "model_name") || key_is(key, "neff_name") || key_is(key, "neff_path") ||
           key_is(key, "device_profile") || key_is(key, "model");
}

static struct ntff_slice rewrite(void *user, struct ntff_slice key, struct ntff_slice text)
{
    struct redactor *r = user;
    const struct ntff_slice *to = text.len ? known(r, text) : &text;
    if (to)
        return *to;
    if (is_model_key(key))
        return pseudonym(r, MODEL, text);
    if (key_is(key, "instance_id"))
        return pseudonym(r, INSTANCE, text);
    if (key.len >= 4 && memcmp(key.p, "host", 4) == 0)
        return pseudonym(r, HOST, text);
    return search(r, text);
}

struct ntff_slice conv_redacted(const struct ntff_trace *t, struct ntff_slice key,
                                struct ntff_slice text)
{
    return t->rewrite ? t->rewrite->text(t->rewrite->user, key, text) : text;
}

struct ntff_slice conv_redacted_path(const struct ntff_trace *t, const char *path)
{
    struct ntff_slice text = {path, strlen(path)};
    return t->rewrite ? pseudonym(t->rewrite->user, PATH, text) : text;
}

/* -- a trace --------------------------------------------------------------------------------------
 */

static struct ntff_slice str_slice(const struct ntff_trace *t, ntff_str s)
{
    return (struct ntff_slice){ntff_str_of(t, s), ntff_text_len(&t->strs, s)};
}

/* Model names get their numbers in the order of the events. */
static void number_models(struct redactor *r)
{
    struct ntff_detail d = {.n = 0};
    for (size_t i = 0; i < r->t->n_events && !r->failed; i++) {
        unsigned cat = r->t->events[i].cat;
        if (cat == NTFF_CAT_INSTR || cat == NTFF_CAT_DMA || cat == NTFF_CAT_SEM)
            continue; /* their records hold no text */
        if (!ntff_detail(r->t, &r->t->events[i], &d))
            r->failed = true;
        for (size_t k = 0; k < d.n; k++)
            if (d.attrs[k].kind == NTFF_V_TEXT && is_model_key(d.attrs[k].key))
                pseudonym(r, MODEL, d.attrs[k].text);
    }
    ntff_detail_done(&d);
}

/* Facts whose meaning is not known may be anything; those of a node name the compiled model. */
static void number_unknown_facts(struct redactor *r, const struct ntff_file *f)
{
    for (size_t i = 0; i < f->facts.n; i++) {
        struct ntff_slice key = str_slice(r->t, f->facts.v[i].key),
                          value = str_slice(r->t, f->facts.v[i].value);
        bool unknown = (key.len >= 5 && memmem(key.p, key.len, "field", 5)) ||
                       (key.len >= 5 && memcmp(key.p, "node ", 5) == 0);
        bool letters = false;
        for (size_t k = 0; k < value.len; k++)
            letters |= is_word(value.p[k]) && !is_digit(value.p[k]);
        if (unknown && letters)
            pseudonym(r, TEXT, value);
    }
}

/* Names of rows hold the last part of a path where a process has no pid. */
static void redact_tracks(struct redactor *r)
{
    struct ntff_trace *t = r->t;
    for (size_t i = 0; i < t->n_tracks; i++) {
        struct ntff_track *tr = &t->tracks[i];
        if (tr->kind != NTFF_TRACK_PROCESS || tr->process >= t->n_processes ||
            t->processes[tr->process].pid)
            continue;
        struct ntff_slice dir = str_slice(t, t->processes[tr->process].dir), base = dir;
        for (size_t k = 0; k + 1 < dir.len; k++)
            if (dir.p[k] == '/')
                base = (struct ntff_slice){dir.p + k + 1, dir.len - k - 1};
        struct ntff_slice name = str_slice(t, tr->name), to = pseudonym(r, PATH, dir);
        const char *at = base.len ? memmem(name.p, name.len, base.p, base.len) : NULL;
        if (!at)
            continue;
        size_t before = (size_t)(at - name.p);
        ntff_str fresh = ntff_internf(&t->strs, "%.*s%.*s%.*s", (int)before, name.p, (int)to.len,
                                      to.p, (int)(name.len - before - base.len), at + base.len);
        r->failed |= fresh == NTFF_STR_NONE;
        if (fresh != NTFF_STR_NONE)
            tr->name = fresh;
    }
}

/* Strings that name events, rows or facts: outputs know them by their text, so only parts are
 * replaced. */
static uint8_t *mark_names(const struct ntff_trace *t)
{
    uint8_t *mark = calloc(t->strs.items.n, 1);
    if (!mark)
        return NULL;
    for (size_t i = 0; i < t->n_events; i++)
        mark[t->events[i].name] = 1;
    for (size_t i = 0; i < t->n_tracks; i++)
        mark[t->tracks[i].name] = 1;
    for (size_t i = 0; i < t->n_files; i++)
        for (size_t k = 0; k < t->files[i].facts.n; k++)
            mark[t->files[i].facts.v[k].key] = 1;
    return mark;
}

static void redact_strings(struct redactor *r)
{
    struct ntff_strtab *s = &r->t->strs;
    const struct ntff_slice no_key = {"", 0};
    uint8_t *mark = mark_names(r->t);
    r->failed |= mark == NULL;
    for (size_t i = 1; i < s->items.n && !r->failed; i++)
        s->items.v[i] = mark[i] ? search(r, s->items.v[i]) : rewrite(r, no_key, s->items.v[i]);
    free(mark);
}

static void redact_diag(struct redactor *r, struct ntff_diag *d)
{
    const struct ntff_slice no_key = {"", 0};
    for (int k = 0; k < NTFF_DIAG_COUNT; k++) {
        struct ntff_finding *f = &d->of[k];
        if (f->count && f->file)
            f->file = rewrite(r, no_key, (struct ntff_slice){f->file, strlen(f->file)}).p;
        if (f->count == 0 || f->detail[0] == '\0')
            continue;
        struct ntff_slice to =
            rewrite(r, no_key, (struct ntff_slice){f->detail, strlen(f->detail)});
        if (to.p != f->detail)
            snprintf(f->detail, sizeof f->detail, "%.*s", (int)to.len, to.p);
    }
}

static bool list_instances(struct redactor *r)
{
    struct ntff_trace *t = r->t;
    r->instances = ntff_arena_alloc(&t->arena, (t->n_processes + 1) * sizeof *r->instances);
    for (size_t i = 0; r->instances && i < t->n_processes; i++) {
        struct ntff_slice text = str_slice(t, t->processes[i].instance);
        bool seen = known(r, text) != NULL;
        pseudonym(r, INSTANCE, text);
        r->instances[i] = seen ? (struct ntff_slice){"", 0} : keep(r, text.p, text.len);
    }
    return r->instances != NULL;
}

bool conv_redact(struct ntff_trace *t, struct ntff_diag *diag)
{
    struct redactor *r = ntff_arena_alloc(&t->arena, sizeof *r);
    if (!r)
        return false;
    *r = (struct redactor){.t = t, .rewrite = {.user = r, .text = rewrite}};
    if (!list_instances(r))
        return false;
    number_models(r);
    for (size_t i = 0; i < t->n_processes; i++)
        pseudonym(r, PATH, str_slice(t, t->processes[i].dir));
    for (size_t i = 0; i < t->n_files; i++) {
        pseudonym(r, PATH, str_slice(t, t->files[i].path));
        number_unknown_facts(r, &t->files[i]);
    }
    redact_tracks(r);
    redact_strings(r);
    redact_diag(r, diag);
    t->rewrite = &r->rewrite;
    return !r->failed;
}
