/* rows - see rows.h. No recursion: the tree may be as deep as a hostile file likes. */
#include "rows.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY_CHILDREN 8 /* a plain group with more starts folded */
#define MANY_ROWS 8     /* so does a track */
#define MANY_PROCESSES 4

/* -- the tree ------------------------------------------------------------------------------- */

struct child {
    uint32_t parent, track; /* parent + 1, so that roots come first */
    int32_t rank;
};

static int by_parent(const void *pa, const void *pb)
{
    const struct child *a = pa, *b = pb;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->track > b->track) - (a->track < b->track);
}

/* Fills pre, pre_of, pre_end, level from children sorted by parent. */
static bool preorder(struct tui_rows *r, const struct child *kids, const uint32_t *first)
{
    size_t n = r->l->t->n_tracks, depth = 0;
    struct level {
        uint32_t next, end, track;
    } *stack = calloc(n + 1, sizeof *stack);
    if (!stack)
        return false;
    uint32_t at = 0;
    stack[0] = (struct level){first[0], first[1], NTFF_NONE};
    for (;;) {
        struct level *s = &stack[depth];
        if (s->next == s->end) {
            if (s->track != NTFF_NONE)
                r->pre_end[r->pre_of[s->track]] = at;
            if (depth-- == 0)
                break;
            continue;
        }
        uint32_t track = kids[s->next++].track;
        r->level[track] = depth < UINT16_MAX ? (uint16_t)depth : UINT16_MAX;
        r->pre_of[track] = at;
        r->pre[at++] = track;
        stack[++depth] = (struct level){first[track + 1], first[track + 2], track};
    }
    free(stack);
    return true;
}

static bool make_tree(struct tui_rows *r)
{
    const struct ntff_trace *t = r->l->t;
    size_t n = t->n_tracks;
    struct child *kids = calloc(n ? n : 1, sizeof *kids);
    uint32_t *first = calloc(n + 3, sizeof *first);
    bool good = kids && first;
    for (uint32_t i = 0; good && i < n; i++) {
        uint32_t p = t->tracks[i].parent;
        kids[i] = (struct child){p == NTFF_NONE || p >= i ? 0 : p + 1, i, t->tracks[i].rank};
        first[kids[i].parent + 1]++;
    }
    if (good) {
        for (size_t i = 0; i <= n; i++)
            first[i + 1] += first[i];
        first[n + 2] = first[n + 1];
        qsort(kids, n, sizeof *kids, by_parent);
        good = preorder(r, kids, first);
    }
    free(kids);
    free(first);
    return good;
}

static uint32_t n_rows_of(const struct tui_rows *r, uint32_t track)
{
    return r->l->first_row[track + 1] - r->l->first_row[track];
}

static bool has_children(const struct tui_rows *r, uint32_t track)
{
    uint32_t p = r->pre_of[track];
    return r->pre_end[p] > p + 1;
}

static bool is_counter(const struct tui_rows *r, uint32_t track)
{
    return n_rows_of(r, track) == 0 && tui_lod_n_samples(r->l, track) > 0;
}

/* What is open at first: enough to see who works when, without pages of queues. */
static void default_folds(struct tui_rows *r)
{
    const struct ntff_trace *t = r->l->t;
    uint32_t *kids = calloc(t->n_tracks + 1, sizeof *kids);
    uint32_t n_processes = 0;
    for (uint32_t i = 0; i < t->n_tracks; i++) {
        uint32_t p = t->tracks[i].parent;
        if (kids && p != NTFF_NONE && p < i && r->full[i])
            kids[p]++;
    }
    for (uint32_t i = 0; i < t->n_tracks; i++) {
        const struct ntff_track *k = &t->tracks[i];
        if (k->kind == NTFF_TRACK_PROCESS)
            n_processes++;
        if (k->kind == NTFF_TRACK_PROCESS && n_processes > MANY_PROCESSES)
            r->open[i] = false;
        else if (has_children(r, i))
            r->open[i] = k->kind != NTFF_TRACK_GROUP || !kids || kids[i] <= MANY_CHILDREN;
        else
            r->open[i] =
                !k->flat && k->n_lanes <= 1 && !is_counter(r, i) && n_rows_of(r, i) <= MANY_ROWS;
    }
    free(kids);
}

bool tui_rows_init(struct tui_rows *r, const struct tui_lod *l)
{
    size_t n = l->t->n_tracks;
    *r = (struct tui_rows){.l = l};
    r->pre = calloc(n + 1, sizeof *r->pre);
    r->pre_of = calloc(n + 1, sizeof *r->pre_of);
    r->pre_end = calloc(n + 1, sizeof *r->pre_end);
    r->level = calloc(n + 1, sizeof *r->level);
    r->open = calloc(n + 1, sizeof *r->open);
    r->shown = calloc(n + 1, sizeof *r->shown);
    r->full = calloc(n + 1, sizeof *r->full);
    if (!r->pre || !r->pre_of || !r->pre_end || !r->level || !r->open || !r->shown || !r->full ||
        !make_tree(r)) {
        tui_rows_done(r);
        return false;
    }
    for (uint32_t i = (uint32_t)n; i-- > 0;) { /* children come after their parents */
        uint32_t p = l->t->tracks[i].parent;
        r->full[i] = r->full[i] || n_rows_of(r, i) || tui_lod_n_samples(l, i);
        if (r->full[i] && p != NTFF_NONE && p < i)
            r->full[p] = true;
    }
    default_folds(r);
    if (!tui_rows_filter(r, NULL, NULL, 0)) {
        tui_rows_done(r);
        return false;
    }
    return true;
}

void tui_rows_done(struct tui_rows *r)
{
    free(r->pre);
    free(r->pre_of);
    free(r->pre_end);
    free(r->level);
    free(r->open);
    free(r->shown);
    free(r->full);
    free(r->lines);
    *r = (struct tui_rows){0};
}

/* -- lines ---------------------------------------------------------------------------------- */

static struct tui_line *add_line(struct tui_rows *r, uint32_t track)
{
    if (!ntff_grow(NULL, (void **)&r->lines, &r->cap_lines, r->n_lines, 1, sizeof *r->lines)) {
        r->starved = true;
        return NULL;
    }
    struct tui_line *l = &r->lines[r->n_lines++];
    *l = (struct tui_line){.track = track, .level = r->level[track], .parts = 1};
    return l;
}

static bool add_counter(struct tui_rows *r, uint32_t track)
{
    uint8_t parts = r->open[track] ? TUI_TALL : 1;
    for (uint8_t i = 0; i < parts; i++) {
        struct tui_line *l = add_line(r, track);
        if (!l)
            return false;
        l->counter = l->foldable = true;
        l->folded = !r->open[track];
        l->head = i == 0;
        l->part = i;
        l->parts = parts;
    }
    return true;
}

/* The lines of one track without its children. */
static bool add_track(struct tui_rows *r, uint32_t track)
{
    uint32_t row0 = r->l->first_row[track], row1 = r->l->first_row[track + 1];
    bool foldable = has_children(r, track) || row1 - row0 > 1;
    bool folded = foldable && !r->open[track];
    if (is_counter(r, track) && !has_children(r, track))
        return add_counter(r, track);
    uint32_t n = folded || row1 == row0 ? 1 : row1 - row0;
    for (uint32_t i = 0; i < n; i++) {
        struct tui_line *l = add_line(r, track);
        if (!l)
            return false;
        l->head = i == 0;
        l->foldable = foldable && i == 0;
        l->folded = folded;
        l->row0 = folded || row1 == row0 ? row0 : row0 + i;
        l->row1 = folded || row1 == row0 ? row1 : row0 + i + 1;
        if (folded) {
            l->pre0 = r->pre_of[track];
            l->pre1 = r->pre_end[l->pre0];
        }
    }
    return true;
}

static bool make_lines(struct tui_rows *r)
{
    uint32_t n = (uint32_t)r->l->t->n_tracks;
    r->n_lines = 0;
    for (uint32_t p = 0; p < n;) {
        uint32_t track = r->pre[p];
        if (!r->shown[track]) {
            p = r->pre_end[p]; /* what is hidden has nothing shown below */
            continue;
        }
        if (!add_track(r, track))
            return false;
        p = has_children(r, track) && !r->open[track] ? r->pre_end[p] : p + 1;
    }
    return true;
}

bool tui_rows_toggle(struct tui_rows *r, uint32_t track)
{
    r->open[track] = !r->open[track];
    return make_lines(r);
}

bool tui_rows_open_all(struct tui_rows *r, bool open)
{
    for (size_t i = 0; i < r->l->t->n_tracks; i++)
        if (!is_counter(r, (uint32_t)i))
            r->open[i] = open;
    return make_lines(r);
}

bool tui_rows_reveal(struct tui_rows *r, uint32_t track)
{
    const struct ntff_trace *t = r->l->t;
    bool changed = false;
    if (!r->shown[track])
        return false;
    if (n_rows_of(r, track) > 1 && !r->open[track])
        r->open[track] = changed = true;
    for (uint32_t i = track, p = t->tracks[i].parent; p != NTFF_NONE && p < i;
         i = p, p = t->tracks[i].parent)
        if (!r->open[p])
            r->open[p] = changed = true;
    return !changed || make_lines(r);
}

size_t tui_rows_line_of(const struct tui_rows *r, uint32_t track, uint32_t row)
{
    uint32_t pre = r->pre_of[track];
    size_t lo = 0, hi = r->n_lines; /* lines follow the preorder */
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (r->pre_of[r->lines[mid].track] <= pre)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (lo-- > 0) {
        const struct tui_line *l = &r->lines[lo];
        if (l->track == track && (row == NTFF_NONE ? l->head : row >= l->row0 && row < l->row1))
            return lo;
        if (l->track != track)
            return l->folded && pre >= l->pre0 && pre < l->pre1 ? lo : r->n_lines;
        if (l->counter && l->head)
            return lo;
    }
    return r->n_lines;
}

/* -- filter --------------------------------------------------------------------------------- */

size_t tui_track_path(const struct ntff_trace *t, uint32_t track, char *out, size_t cap)
{
    uint32_t up[16];
    size_t n = 0, len = 0;
    for (uint32_t i = track; n < NTFF_ARRAY_LEN(up); i = t->tracks[i].parent) {
        up[n++] = i;
        if (t->tracks[i].parent == NTFF_NONE || t->tracks[i].parent >= i)
            break;
    }
    while (n-- > 0 && len + 1 < cap) {
        const char *name = ntff_str_of(t, t->tracks[up[n]].name);
        size_t k = strnlen(name, cap - len - 1);
        memcpy(out + len, name, k);
        len += k;
        if (n && len + 1 < cap)
            out[len++] = '/';
    }
    if (cap)
        out[len] = 0;
    return len;
}

bool tui_regex(regex_t *re, const char *pattern, char *why, size_t why_cap, bool *starved)
{
    bool upper = false;
    for (const char *p = pattern; *p; p++)
        upper = upper || isupper((unsigned char)*p);
    int rc = regcomp(re, pattern, REG_EXTENDED | REG_NOSUB | (upper ? 0 : REG_ICASE));
    if (rc && why)
        regerror(rc, re, why, why_cap);
    *starved |= rc == REG_ESPACE;
    return rc == 0;
}

bool tui_regex_match(const regex_t *re, const char *p, size_t len, bool *starved)
{
    regmatch_t m = {.rm_so = 0, .rm_eo = (regoff_t)(len < INT32_MAX ? len : INT32_MAX)};
    errno = 0;
    int rc = regexec(re, p, 0, &m, REG_STARTEND);
    *starved |= rc == REG_ESPACE || (rc && errno == ENOMEM); /* glibc may say "no match" for both */
    return rc == 0;
}

bool tui_rows_filter(struct tui_rows *r, const char *pattern, char *why, size_t why_cap)
{
    const struct ntff_trace *t = r->l->t;
    regex_t re;
    bool all = !pattern || !*pattern;
    if (!all && !tui_regex(&re, pattern, why, why_cap, &r->starved))
        return false;
    for (uint32_t i = 0; i < t->n_tracks; i++) {
        char path[512];
        uint32_t p = t->tracks[i].parent;
        size_t len = all ? 0 : tui_track_path(t, i, path, sizeof path);
        bool above = !all && p != NTFF_NONE && p < i && r->shown[p];
        r->shown[i] = r->full[i] && (all || above || tui_regex_match(&re, path, len, &r->starved));
    }
    if (!all) {
        for (uint32_t i = (uint32_t)t->n_tracks; i-- > 0;) {
            uint32_t p = t->tracks[i].parent;
            if (r->shown[i] && p != NTFF_NONE && p < i)
                r->shown[p] = true; /* after the loop above: only upwards */
        }
        regfree(&re);
    }
    r->filtered = !all;
    return make_lines(r);
}
