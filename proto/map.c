/* map - open addressing with linear probing and backward-shift deletion; at most 2/3 full. */
#include "proto/builder.h"

#include <stdlib.h>

static size_t home(const struct ntff_map *m, struct ntff_key k)
{
    uint64_t h = k.a * 0x9e3779b97f4a7c15u ^ k.b * 0xc2b2ae3d27d4eb4fu ^ k.c * 0x165667b19e3779f9u;
    h ^= h >> 29;
    h *= 0xff51afd7ed558ccdu;
    return (size_t)(h >> 32) & (m->n_slots - 1);
}

static bool same(struct ntff_key x, struct ntff_key y)
{
    return x.a == y.a && x.b == y.b && x.c == y.c;
}

static bool resize(struct ntff_map *m, size_t n_slots)
{
    size_t bytes;
    if (!ntff_mul_ok(n_slots, sizeof *m->slots, &bytes) || !ntff_budget_take(m->budget, bytes))
        return false;
    struct ntff_map_slot *old = m->slots, *slots = malloc(bytes);
    if (!slots) {
        ntff_budget_give(m->budget, bytes);
        return false;
    }
    size_t n_old = m->n_slots;
    for (size_t i = 0; i < n_slots; i++)
        slots[i].value = NTFF_NONE;
    m->slots = slots;
    m->n_slots = n_slots;
    for (size_t i = 0; i < n_old; i++) {
        if (old[i].value == NTFF_NONE)
            continue;
        size_t s = home(m, old[i].key);
        while (slots[s].value != NTFF_NONE)
            s = (s + 1) & (n_slots - 1);
        slots[s] = old[i];
    }
    free(old);
    ntff_budget_give(m->budget, n_old * sizeof *old);
    return true;
}

struct ntff_map_slot *ntff_map_find(const struct ntff_map *m, struct ntff_key key)
{
    if (m->n_slots == 0)
        return NULL;
    size_t s = home(m, key);
    for (; m->slots[s].value != NTFF_NONE; s = (s + 1) & (m->n_slots - 1))
        if (same(m->slots[s].key, key))
            return &m->slots[s];
    return NULL;
}

struct ntff_map_slot *ntff_map_at(struct ntff_map *m, struct ntff_key key)
{
    if ((m->n + 1) * 3 > m->n_slots * 2 && !resize(m, m->n_slots ? m->n_slots * 2 : 64))
        return NULL;
    size_t s = home(m, key);
    for (; m->slots[s].value != NTFF_NONE; s = (s + 1) & (m->n_slots - 1))
        if (same(m->slots[s].key, key))
            return &m->slots[s];
    m->slots[s].key = key;
    m->slots[s].aux = NTFF_NONE;
    m->n++;
    return &m->slots[s];
}

void ntff_map_remove(struct ntff_map *m, struct ntff_map_slot *slot)
{
    size_t hole = (size_t)(slot - m->slots), mask = m->n_slots - 1;
    for (size_t s = (hole + 1) & mask; m->slots[s].value != NTFF_NONE; s = (s + 1) & mask) {
        size_t h = home(m, m->slots[s].key);
        if (((s - h) & mask) >= ((s - hole) & mask)) { /* may move back to the hole */
            m->slots[hole] = m->slots[s];
            hole = s;
        }
    }
    m->slots[hole].value = NTFF_NONE;
    m->n--;
}

void ntff_map_free(struct ntff_map *m)
{
    free(m->slots);
    ntff_budget_give(m->budget, m->n_slots * sizeof *m->slots);
    m->slots = NULL;
    m->n = m->n_slots = 0;
}
