/* packets - see packets.h. */
#include "perfetto/packets.h"

enum { CLOCK_ID_REALTIME = 1, CLOCK_ID_BOOTTIME = 6 };

size_t pft_packet_open(struct ntff_put *w, uint64_t flags)
{
    size_t mark = pbw_open(w, 1);
    pbw_u64(w, PFT_P_SEQUENCE, PFT_SEQUENCE);
    pbw_u64(w, PFT_P_FLAGS, flags);
    return mark;
}

void pft_packet_close(struct ntff_put *w, size_t mark)
{
    pbw_close(w, mark);
    ntff_put_done(w);
}

static void clock_reading(struct ntff_put *w, uint32_t id, uint64_t ns, bool incremental)
{
    size_t clock = pbw_open(w, 1);
    pbw_u64(w, 1, id);
    pbw_u64(w, 2, ns);
    if (incremental)
        pbw_u64(w, 3, 1);
    pbw_close(w, clock);
}

void pft_packet_clock(struct ntff_put *w, uint64_t real_ns, bool compact)
{
    size_t packet = pft_packet_open(w, PFT_FIRST);
    size_t snapshot = pbw_open(w, PFT_P_CLOCK_SNAPSHOT);
    clock_reading(w, CLOCK_ID_BOOTTIME, PFT_ORIGIN_NS, false);
    clock_reading(w, CLOCK_ID_REALTIME, real_ns, false);
    if (compact)
        clock_reading(w, PFT_INCREMENTAL_CLOCK, PFT_ORIGIN_NS, true);
    pbw_u64(w, 2, CLOCK_ID_BOOTTIME);
    pbw_close(w, snapshot);
    pft_packet_close(w, packet);
    if (!compact)
        return;
    packet = pft_packet_open(w, PFT_NEXT);
    size_t defaults = pbw_open(w, PFT_P_DEFAULTS);
    pbw_u64(w, 58, PFT_INCREMENTAL_CLOCK);
    pbw_close(w, defaults);
    pft_packet_close(w, packet);
}

void pft_packet_interned(struct ntff_put *w, const uint8_t *defs, size_t len)
{
    size_t packet = pft_packet_open(w, PFT_NEXT);
    pbw_bytes(w, PFT_P_INTERNED, defs, len);
    pft_packet_close(w, packet);
}

void pft_packet_root(struct ntff_put *w)
{
    size_t packet = pft_packet_open(w, PFT_NEXT);
    size_t track = pbw_open(w, PFT_P_DESCRIPTOR);
    pbw_u64(w, 1, 0);
    pbw_u64(w, 19, 1);
    pbw_u64(w, 20, 1);
    pbw_close(w, track);
    pft_packet_close(w, packet);
}

/* -- tracks --------------------------------------------------------------------------------------
 */

static bool given(const char *text)
{
    return text && *text;
}

static void process_part(struct ntff_put *w, const struct pft_descriptor *d)
{
    size_t m = pbw_open(w, 3);
    pbw_u64(w, 1, (uint64_t)d->pid);
    pbw_text(w, 6, d->name);
    if (given(d->label))
        pbw_text(w, 8, d->label);
    pbw_close(w, m);
}

static void thread_part(struct ntff_put *w, const struct pft_descriptor *d)
{
    size_t m = pbw_open(w, 4);
    pbw_u64(w, 1, (uint64_t)d->pid);
    pbw_i64(w, 2, d->tid);
    pbw_text(w, 5, d->name);
    pbw_close(w, m);
}

static void counter_part(struct ntff_put *w, const struct pft_descriptor *d)
{
    size_t m = pbw_open(w, 8);
    if (d->unit)
        pbw_u64(w, 3, d->unit);
    if (given(d->unit_name))
        pbw_text(w, 6, d->unit_name);
    if (given(d->share_key))
        pbw_text(w, 7, d->share_key);
    pbw_close(w, m);
}

/* Processes and threads carry their name inside and ignore parent and ordering of children. */
void pft_packet_track(struct ntff_put *w, const struct pft_descriptor *d)
{
    bool plain = d->kind == PFT_D_ROW || d->kind == PFT_D_COUNTER;
    size_t packet = pft_packet_open(w, PFT_NEXT);
    size_t track = pbw_open(w, PFT_P_DESCRIPTOR);
    pbw_u64(w, 1, d->uuid);
    if (plain)
        pbw_text(w, 2, d->name);
    else if (d->kind == PFT_D_PROCESS)
        process_part(w, d);
    else
        thread_part(w, d);
    if (plain && d->parent)
        pbw_u64(w, 5, d->parent);
    if (d->kind == PFT_D_COUNTER)
        counter_part(w, d);
    if (plain && d->explicit_children)
        pbw_u64(w, 11, 3);
    pbw_u64(w, 12, d->rank);
    if (given(d->description))
        pbw_text(w, 14, d->description);
    if (plain)
        pbw_u64(w, 15, d->merge_key ? PFT_MERGE_BY_KEY : PFT_MERGE_NONE);
    if (plain && d->merge_key)
        pbw_text(w, 16, d->merge_key);
    pbw_close(w, track);
    pft_packet_close(w, packet);
}

/* -- provenance ----------------------------------------------------------------------------------
 */

struct pft_attributes pft_attributes_open(struct ntff_put *w)
{
    struct pft_attributes a;
    a.packet = pft_packet_open(w, PFT_NEXT);
    a.message = pbw_open(w, PFT_P_ATTRIBUTES);
    return a;
}

void pft_attribute_text(struct ntff_put *w, const char *key, const char *text)
{
    size_t m = pbw_open(w, 1);
    pbw_text(w, 1, key);
    pbw_text(w, 3, text);
    pbw_close(w, m);
}

void pft_attribute_number(struct ntff_put *w, const char *key, int64_t number)
{
    size_t m = pbw_open(w, 1);
    pbw_text(w, 1, key);
    pbw_i64(w, 2, number);
    pbw_close(w, m);
}

void pft_attributes_close(struct ntff_put *w, struct pft_attributes a)
{
    pbw_close(w, a.message);
    pft_packet_close(w, a.packet);
}
