/* notif_detail - the facts of a device event, decoded from its 16-byte records when somebody asks.
 *
 * Nothing of this is kept at load: an event names its records, the source's table of blobs tells
 * which core's clocks and which layout they have. Positions that did not pass their test are shown
 * as raw words only. Order: what and where, what the records say, then times. */
#include "proto/device.h"

#include <inttypes.h>
#include <stdio.h>

struct half {
    struct ntff_notif r;
    const struct ntff_blob_ref *blob;
    unsigned type;
    int kind;
    uint64_t ns;
    bool has_ns;
};

static const struct ntff_blob_ref *blob_at(const struct ntff_blob_table *t, uint32_t off)
{
    size_t lo = 0, hi = t->n;
    while (lo < hi) { /* last one that begins at or before off */
        size_t mid = lo + (hi - lo) / 2;
        if (t->v[mid].begin <= off)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (lo-- > 0) /* blobs may overlap; one of a core that is filtered out was never read */
        if (off < t->v[lo].end && t->v[lo].clocks)
            return &t->v[lo];
    return NULL;
}

static bool read_half(const struct ntff_trace *t, struct ntff_ref ref, struct half *out)
{
    if (ref.src >= t->n_sources)
        return false;
    const struct ntff_source *s = &t->sources[ref.src];
    if (s->kind != NTFF_SOURCE_NOTIF || s->len < NTFF_NOTIF_BYTES ||
        ref.off > s->len - NTFF_NOTIF_BYTES || !(out->blob = blob_at(s->extra, ref.off)))
        return false;
    out->r = ntff_notif_at(s->data + ref.off);
    out->type = ntff_notif_type(out->r.word0);
    out->kind = ntff_notif_kinds[out->type];
    out->has_ns = ntff_tick_ns(ntff_blob_tick(out->blob, out->type), out->r.ts_ps, &out->ns);
    return true;
}

static bool text(struct ntff_detail *d, const char *key, const char *value)
{
    return ntff_detail_text(d, key, strlen(key), value, strlen(value));
}

/* "0x0602001f" in the scratch buffer; ntff_detail has made room, so that texts in it do not move.
 */
static bool hex(struct ntff_detail *d, const char *key, uint32_t value)
{
    size_t at = d->scratch.len;
    ntff_buf_printf(&d->scratch, "0x%08" PRIx32, value);
    return !d->scratch.failed &&
           ntff_detail_text(d, key, strlen(key), (const char *)d->scratch.p + at, 10);
}

static bool raw_words(struct ntff_detail *d, const struct ntff_notif *r)
{
    return hex(d, "word0", r->word0) && hex(d, "word1", r->word1);
}

/* -- bodies
 * ----------------------------------------------------------------------------------------- */

static bool engine_facts(struct ntff_detail *d, const struct half *h)
{
    if (h->blob->block_type == NTFF_BLOCK_TOPSP) {
        return text(d, "engine", "CC-core") &&
               (h->blob->engine_index == UINT32_MAX ||
                ntff_detail_uint(d, "cc_core", h->blob->engine_index));
    }
    return !ntff_notif_has_engine(h->type) ||
           text(d, "engine", ntff_engine_name(ntff_notif_engine(h->type)));
}

static bool instruction_facts(struct ntff_detail *d, const struct half *start,
                              const struct half *end)
{
    const struct half *any = start ? start : end;
    bool ok = engine_facts(d, any) && ntff_detail_uint(d, "pc", ntff_notif_pc(any->r.word0)) &&
              ntff_detail_uint(d, "debug_hint", ntff_notif_hint(any->r.word0));
    if (start)
        ok = ok && ntff_detail_uint(d, "inference", start->r.word1 & 0xffff) &&
             ntff_detail_uint(d, "wait_cycles", start->r.word1 >> 16);
    if (end)
        ok = ok && ntff_detail_uint(d, "input_data_crc", end->r.word1 & 0xffff) &&
             ntff_detail_uint(d, "output_data_crc", end->r.word1 >> 16);
    return ok;
}

static bool dge_facts(struct ntff_detail *d, const struct ntff_notif *r)
{
    unsigned packets = r->word1 >> 16 & 0xfff;
    return ntff_detail_uint(d, "dma_map", r->word1 & 0xffff) &&
           ntff_detail_uint(d, "num_packets", packets ? packets : 4096) &&
           ntff_detail_bool(d, "infer_program_counter", r->word1 >> 30 & 1) &&
           ntff_detail_uint(d, "dma_group", r->word1 >> 31);
}

static bool explicit_facts(struct ntff_detail *d, const struct half *h)
{
    const struct ntff_notif *r = &h->r;
    if (!engine_facts(d, h))
        return false;
    if (h->blob->trace_type == NTFF_TRACE_EXPLICIT)
        return raw_words(d, r);
    if (!ntff_detail_uint(d, "pc", ntff_notif_pc(r->word0)) ||
        !ntff_detail_uint(d, "debug_hint", ntff_notif_hint(r->word0)))
        return false;
    if (ntff_notif_hint(r->word0) == 1 && !h->blob->status_ring)
        return dge_facts(d, r);
    bool custom = ntff_notif_hint(r->word0) <= 1 && r->word1 >> 16 == NTFF_STATUS_CUSTOM;
    return ntff_detail_uint(d, "debug_hint_extended", r->word1 >> 16) &&
           ntff_detail_uint(d, custom ? "sub_id" : "inference", r->word1 & 0xffff);
}

static bool error_facts(struct ntff_detail *d, const struct half *h)
{
    const struct ntff_notif *r = &h->r;
    if (h->kind == NTFF_NK_ERROR) {
        bool warning = ntff_notif_is_warning(r->word0);
        if (!warning && !h->blob->interrupt_ok)
            return raw_words(d, r);
        return text(d, "notification", warning ? "warning" : "interrupt") &&
               ntff_detail_uint(d, "group", r->word0 & 7) &&
               ntff_detail_uint(d, "block_id", r->word0 >> 8 & 0x3ff) &&
               (!warning || (ntff_detail_uint(d, "metadata_0", r->word0 >> 4 & 15) &&
                             ntff_detail_uint(d, "metadata_1", r->word0 >> 18 & 63))) &&
               hex(d, warning ? "metadata_2" : "cause", r->word1);
    }
    unsigned id = r->word0 & 0xff;
    const char *name = ntff_notif_error(id);
    bool ok = ntff_detail_uint(d, "error_id", id) && (!name || text(d, "error", name)) &&
              ntff_detail_uint(d, "metadata_lo", r->word0 >> 8 & 0xffff);
    if (id == NTFF_ERR_SEQUENCER_NONFATAL || id == NTFF_ERR_SEQUENCER_FATAL)
        ok = ok && ntff_detail_uint(d, "block_id", r->word1 & 15) &&
             ntff_detail_uint(d, "pc", r->word1 >> 4 & 0xfff) &&
             ntff_detail_uint(d, "info", r->word1 >> 16 & 0xff);
    return ok && hex(d, "metadata_hi", r->word1);
}

static bool dma_facts(struct ntff_detail *d, const struct half *start, const struct half *end)
{
    const struct half *any = end ? end : start;
    const struct ntff_blob_ref *blob = any->blob;
    if (blob->engine_index != UINT32_MAX && !ntff_detail_uint(d, "dma_engine", blob->engine_index))
        return false;
    if (blob->dma_layout == NTFF_DMA_UNDECIDED)
        return raw_words(d, &any->r);
    unsigned sub = ntff_dma_type(any->r, blob->dma_layout),
             q = ntff_dma_queue(any->r, blob->dma_layout);
    const struct ntff_queue *queue = ntff_blob_queue(blob, q);
    const char *name = ntff_dma_name(sub);
    if (sub >= NTFF_DMA_AXI_REQ || !name) {
        bool request = sub == NTFF_DMA_AXI_REQ || sub == NTFF_DMA_AXI_REQ + 1;
        bool response = sub == NTFF_DMA_AXI_RSP || sub == NTFF_DMA_AXI_RSP + 1;
        uint64_t address = (any->r.word0 & 0xffffff) | (uint64_t)(any->r.word1 >> 9) << 24;
        return raw_words(d, &any->r) && (!request || ntff_detail_uint(d, "address", address)) &&
               (!(request || response) || ntff_detail_uint(d, "axi_id", any->r.word1 >> 4 & 31));
    }
    bool ok = ntff_detail_uint(d, "queue", q);
    if (queue)
        ok = ok && ntff_detail_text(d, "queue_name", 10, queue->name.p, queue->name.len);
    ok = ok && text(d, "direction", sub >= NTFF_DMA_S2M_START ? "S2M" : "M2S");
    if (end && blob->dma_layout == NTFF_DMA_WORD1)
        ok = ok && ntff_detail_uint(d, "bytes", end->r.word0 & 0xffffff) &&
             ntff_detail_uint(d, "crc", end->r.word1 >> 16);
    if (start) /* what else a start says is not published */
        ok = ok && hex(d, "start_word0", start->r.word0) && hex(d, "start_word1", start->r.word1);
    return ok;
}

static bool semaphore_facts(struct ntff_detail *d, const struct half *h)
{
    const struct ntff_notif *r = &h->r;
    if (!engine_facts(d, h) || !raw_words(d, r))
        return false;
    return !h->blob->sem_ok || (ntff_detail_uint(d, "id", ntff_notif_sem_id(r->word0)) &&
                                ntff_detail_bool(d, "is_semaphore", ntff_notif_is_sem(r->word0)) &&
                                ntff_detail_uint(d, "update_mode", r->word0 >> 16 & 0xff) &&
                                ntff_detail_uint(d, "value", r->word1));
}

static bool body(struct ntff_detail *d, const struct half *start, const struct half *end)
{
    const struct half *any = start ? start : end;
    switch (any->kind) {
    case NTFF_NK_START:
    case NTFF_NK_END:
        return instruction_facts(d, start, end);
    case NTFF_NK_EXPLICIT:
        return explicit_facts(d, any);
    case NTFF_NK_DMA:
        return dma_facts(d, start, end);
    case NTFF_NK_ERROR:
    case NTFF_NK_TPB_ERROR:
        return error_facts(d, any);
    case NTFF_NK_SEM:
    case NTFF_NK_AXI_SEM:
        return semaphore_facts(d, any);
    default:
        return raw_words(d, &any->r);
    }
}

/* -- times
 * ------------------------------------------------------------------------------------------ */

static bool times(struct ntff_detail *d, const struct ntff_event *e, const struct half *start,
                  const struct half *end)
{
    bool ok = true;
    if (start)
        ok = ntff_detail_uint(d, "timestamp_ps", start->r.ts_ps);
    if (end)
        ok = ok && ntff_detail_uint(d, "stop_timestamp_ps", end->r.ts_ps);
    if (e->flags & NTFF_EV_INSTANT && !(e->flags & NTFF_EV_NO_LANE))
        return ok &&
               (!start || !start->has_ns || ntff_detail_uint(d, "nc_timestamp_ns", start->ns));
    if (start && start->has_ns)
        ok = ok && ntff_detail_uint(d, "nc_start_timestamp_ns", start->ns);
    if (end && end->has_ns)
        ok = ok && ntff_detail_uint(d, "nc_stop_timestamp_ns", end->ns);
    return ok;
}

bool ntff_notif_detail(const struct ntff_trace *t, const struct ntff_event *e,
                       struct ntff_detail *d)
{
    struct half start, end;
    bool has_start = read_half(t, e->start_ref, &start), has_end = read_half(t, e->stop_ref, &end);
    const struct half *s = has_start ? &start : NULL, *p = has_end ? &end : NULL;
    const struct ntff_track *track = e->track < t->n_tracks ? &t->tracks[e->track] : NULL;
    if (!s && !p)
        return true;
    if (track && track->core != NTFF_NONE && !ntff_detail_uint(d, "device_core_idx", track->core))
        return false;
    return body(d, s, p) && times(d, e, s, p);
}
