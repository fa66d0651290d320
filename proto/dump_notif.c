/* dump_notif - a run of device notifications as text, a line each: place, time of the record's own
 * counter, what it is, what its bits say where the layout held in the whole run (notif.h), and the
 * two words as they are. */
#include "proto/dump_file.h"
#include "proto/notif.h"

#include <inttypes.h>
#include <stdio.h>

enum { TEXT = 96 };

static void explicit_text(struct ntff_notif r, char *out)
{
    const char *custom = NULL;
    if (r.word1 >> 16 == NTFF_STATUS_CUSTOM)
        custom = ntff_notif_custom(r.word1 & 0xffff);
    snprintf(out, TEXT, "pc %" PRIu32 ", hint %u%s%.60s", ntff_notif_pc(r.word0),
             ntff_notif_hint(r.word0), custom ? ", " : "", custom ? custom : "");
}

static void dma_text(struct ntff_notif r, const struct ntff_ring_look *look, char *out)
{
    if (look->dma_layout == NTFF_DMA_UNDECIDED)
        return;
    const char *name = ntff_dma_name(ntff_dma_type(r, look->dma_layout));
    int n = snprintf(out, TEXT, "%s", name ? name : "?");
    if (look->dma_queue_ok)
        snprintf(out + n, TEXT - (size_t)n, ", queue %u", ntff_dma_queue(r, look->dma_layout));
}

/* What the body says; "" where that is not known. */
static void body_text(struct ntff_notif r, int kind, const struct ntff_ring_look *look, char *out)
{
    out[0] = '\0';
    switch (kind) {
    case NTFF_NK_START:
    case NTFF_NK_END:
        snprintf(out, TEXT, "pc %" PRIu32 ", hint %u", ntff_notif_pc(r.word0),
                 ntff_notif_hint(r.word0));
        break;
    case NTFF_NK_EXPLICIT:
        explicit_text(r, out);
        break;
    case NTFF_NK_SEM:
    case NTFF_NK_AXI_SEM:
        if (look->sem_ok)
            snprintf(out, TEXT, "%s %u = %" PRIu32,
                     ntff_notif_is_sem(r.word0) ? "semaphore" : "event", ntff_notif_sem_id(r.word0),
                     r.word1);
        break;
    case NTFF_NK_DMA:
        dma_text(r, look, out);
        break;
    case NTFF_NK_ERROR:
        if (look->interrupt_ok)
            snprintf(out, TEXT, "%s", ntff_notif_is_warning(r.word0) ? "warning" : "interrupt");
        break;
    case NTFF_NK_TPB_ERROR: {
        const char *name = ntff_notif_error(r.word0 & 0xff);
        snprintf(out, TEXT, "error %u%s%.60s", (unsigned)(r.word0 & 0xff), name ? " " : "",
                 name ? name : "");
        break;
    }
    default:
        break;
    }
}

void ntff_dump_notifs(struct ntff_dump *d, const uint8_t *data, uint64_t len, uint64_t off)
{
    struct ntff_ring_look look;
    uint64_t n = len / NTFF_NOTIF_BYTES;
    ntff_ring_look(data, n, &look);
    for (uint64_t i = 0; i < n && !d->stopped; i++) {
        struct ntff_notif r = ntff_notif_at(data + i * NTFF_NOTIF_BYTES);
        unsigned type = ntff_notif_type(r.word0);
        int kind = ntff_notif_kinds[type];
        char body[TEXT];
        body_text(r, kind, &look, body);
        ntff_dump_comment(
            d,
            "    0x%" PRIx64 ": %" PRIu64 " ps, %s%s%s%s%s (0x%08" PRIx32 " 0x%08" PRIx32 ")%s%s",
            off + i * NTFF_NOTIF_BYTES, r.ts_ps,
            ntff_notif_has_engine(type) ? ntff_engine_code(ntff_notif_engine(type)) : "",
            ntff_notif_has_engine(type) ? " " : "", ntff_notif_kind_name(kind), body[0] ? ", " : "",
            body, r.word0, r.word1,
            r.word0 & NTFF_NOTIF_SW_OVERFLOW ? ", records before it were lost" : "",
            r.word0 & NTFF_NOTIF_HW_OVERFLOW ? ", records after it were lost" : "");
    }
    if (len % NTFF_NOTIF_BYTES)
        ntff_dump_comment(d, "    0x%" PRIx64 ": %" PRIu64 " bytes, less than a record",
                          off + n * NTFF_NOTIF_BYTES, len % NTFF_NOTIF_BYTES);
}
