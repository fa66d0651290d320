/* search - see search.h. Hits are kept in scan order: a rotation of the trace's order, so looking
 * one up is a binary search by distance from the start. */
#include "search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tui_search_start(struct tui_search *s, const struct tui_rows *rows, tui_detail_fn *details,
                      const char *pattern, uint32_t start, char *why, size_t why_cap)
{
    struct tui_search fresh = {.t = rows->l->t, .rows = rows, .details = details};
    if (!tui_regex(&fresh.re, pattern, why, why_cap, &s->starved))
        return false;
    fresh.n_names = fresh.t->strs.items.n;
    fresh.name_hit = calloc(fresh.n_names ? fresh.n_names : 1, 1);
    if (!fresh.name_hit) {
        regfree(&fresh.re);
        snprintf(why, why_cap, "no memory");
        s->starved = true;
        return false;
    }
    fresh.starved = s->starved;
    tui_search_done(s);
    *s = fresh;
    snprintf(s->pattern, sizeof s->pattern, "%s", pattern);
    s->active = true;
    s->running = s->t->n_events > 0;
    s->start = start < s->t->n_events ? start : 0;
    return true;
}

void tui_search_done(struct tui_search *s)
{
    if (!s->active)
        return;
    regfree(&s->re);
    free(s->name_hit);
    free(s->hits);
    ntff_detail_done(&s->detail);
    *s = (struct tui_search){.starved = s->starved};
}

bool tui_search_name(struct tui_search *s, ntff_str name)
{
    if (!s->active || name >= s->n_names)
        return false;
    if (!(s->name_hit[name] & 1)) {
        bool hit = tui_regex_match(&s->re, ntff_str_of(s->t, name),
                                   ntff_text_len(&s->t->strs, name), &s->starved);
        s->name_hit[name] = (uint8_t)(1 | hit << 1);
    }
    return s->name_hit[name] & 2;
}

static bool value_matches(struct tui_search *s, const struct ntff_attr *a)
{
    char num[40];
    int n;
    switch (a->kind) {
    case NTFF_V_TEXT:
        return tui_regex_match(&s->re, a->text.p, a->text.len, &s->starved);
    case NTFF_V_UINT:
        n = snprintf(num, sizeof num, "%llu", (unsigned long long)a->u);
        break;
    case NTFF_V_INT:
        n = snprintf(num, sizeof num, "%lld", (long long)a->i);
        break;
    case NTFF_V_DOUBLE:
        n = snprintf(num, sizeof num, "%.17g", a->d);
        break;
    case NTFF_V_BOOL:
        n = snprintf(num, sizeof num, "%s", a->b ? "true" : "false");
        break;
    default:
        return false;
    }
    return tui_regex_match(&s->re, num, (size_t)n, &s->starved);
}

static bool attributes_match(struct tui_search *s, const struct ntff_event *e)
{
    if (!s->details(s->t, e, &s->detail)) {
        s->starved = true;
        return false;
    }
    for (size_t i = 0; i < s->detail.n; i++)
        if (value_matches(s, &s->detail.attrs[i]))
            return true;
    return false;
}

bool tui_search_step(struct tui_search *s, size_t cost)
{
    uint32_t n = (uint32_t)s->t->n_events;
    while (s->running && cost > 0) {
        uint32_t i = s->start + s->done;
        i = i >= n || i < s->start ? i - n : i;
        const struct ntff_event *e = &s->t->events[i];
        cost--;
        if (s->rows->shown[e->track]) {
            bool hit = tui_search_name(s, e->name);
            if (!hit) {
                hit = attributes_match(s, e);
                cost -= cost < 16 ? cost : 16;
            }
            if (hit &&
                ntff_grow(NULL, (void **)&s->hits, &s->cap_hits, s->n_hits, 1, sizeof *s->hits))
                s->hits[s->n_hits++] = i;
            else if (hit)
                s->overflow = s->starved = true;
        }
        s->running = ++s->done < n;
    }
    return s->running;
}

static uint32_t distance(const struct tui_search *s, uint32_t event)
{
    return event >= s->start ? event - s->start : event + (uint32_t)s->t->n_events - s->start;
}

/* First hit (index) at or beyond the event, in scan order. */
static size_t lower(const struct tui_search *s, uint32_t event)
{
    size_t lo = 0, hi = s->n_hits;
    uint32_t d = distance(s, event);
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (distance(s, s->hits[mid]) < d)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

bool tui_search_is_hit(const struct tui_search *s, uint32_t event)
{
    size_t i = s->n_hits ? lower(s, event) : 0;
    return i < s->n_hits && s->hits[i] == event;
}

/* Number of a hit in time order: the hits before the start come last in scan order. */
static size_t number(const struct tui_search *s, size_t i)
{
    size_t lo = 0, hi = s->n_hits;
    while (lo < hi) { /* first hit that wrapped */
        size_t mid = (lo + hi) / 2;
        if (s->hits[mid] >= s->start)
            lo = mid + 1;
        else
            hi = mid;
    }
    return i >= lo ? i - lo + 1 : i + (s->n_hits - lo) + 1;
}

size_t tui_search_at(const struct tui_search *s, uint32_t event)
{
    size_t i = s->n_hits ? lower(s, event) : 0;
    return i < s->n_hits && s->hits[i] == event ? number(s, i) : 0;
}

uint32_t tui_search_next(const struct tui_search *s, uint32_t event, int dir, size_t *at)
{
    if (!s->n_hits)
        return NTFF_NONE;
    size_t i = lower(s, event);
    if (dir > 0) {
        if (i < s->n_hits && s->hits[i] == event)
            i++;
        if (i == s->n_hits && s->running)
            return NTFF_NONE; /* perhaps there are more before the end */
        i = i == s->n_hits ? 0 : i;
    } else {
        if (i == 0 && s->running)
            return NTFF_NONE;
        i = i == 0 ? s->n_hits - 1 : i - 1;
    }
    *at = number(s, i);
    return s->hits[i];
}
