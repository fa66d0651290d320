/* FORMAT.md says what the tables of the code say: event types with their grades and payloads, kinds
 * of records, names of errors, DMA records and memory usage. */
#include "tests/tap.h"

#include "proto/diag.h"
#include "proto/event_types.h"
#include "proto/notif.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *page;

static void has(const char *row)
{
    TAP_CONTEXT("proto/FORMAT.md lacks:\n%s", row);
    TAP_OK(strstr(page, row) != NULL);
}

static void put_payload(char *out, size_t cap, uint32_t type, uint32_t phase)
{
    static const char *const kinds[] = {"u8", "bool", "u16", "u32", "i32", "u64"};
    size_t n, at = 0;
    const struct ntff_payload_field *f = ntff_event_payload(type, phase, &n);
    snprintf(out, cap, "–");
    for (size_t i = 0; f && i < n; i++)
        at += (size_t)snprintf(out + at, cap - at, "%s%s %u %s", i ? ", " : "", f[i].name,
                               f[i].offset, kinds[f[i].kind]);
}

TAP_TEST(event_types)
{
    page = tap_source_text("proto/FORMAT.md");
    for (uint32_t i = 0; ntff_event_type(i); i++) {
        const struct ntff_event_type *t = ntff_event_type(i);
        char row[900], start[300], stop[300];
        put_payload(start, sizeof start, i, 1);
        put_payload(stop, sizeof stop, i, 2);
        snprintf(row, sizeof row, "| %u | %s | %s | %c%s | %s%s%s |\n", i, t->name, t->c_name,
                 t->grade, t->hardware ? " hw" : "", start, strcmp(start, stop) == 0 ? "" : " / ",
                 strcmp(start, stop) == 0 ? "" : stop);
        has(row);
    }
    free(page);
}

TAP_TEST(usage_classes)
{
    page = tap_source_text("proto/FORMAT.md");
    for (uint32_t i = 0; ntff_usage_name(i); i++) {
        char row[80];
        snprintf(row, sizeof row, "%u %s%s", i, ntff_usage_name(i),
                 ntff_usage_name(i + 1) ? "," : "");
        has(row);
    }
    free(page);
}

TAP_TEST(records)
{
    page = tap_source_text("proto/FORMAT.md");
    for (unsigned i = 0; i < 32; i++) {
        char row[80];
        if (ntff_notif_kinds[i] == NTFF_NK_RESERVED || ntff_notif_has_engine(i))
            continue;
        snprintf(row, sizeof row, "| 0x%02x | %s |", i, ntff_notif_kind_name(ntff_notif_kinds[i]));
        has(row);
    }
    for (unsigned i = 0; ntff_engine_code(i); i++) {
        char row[80];
        snprintf(row, sizeof row, "0x%02x %s", 4 + 4 * i, ntff_engine_code(i));
        has(row);
    }
    for (unsigned i = 0; ntff_notif_error(i); i++) {
        char row[80];
        snprintf(row, sizeof row, "%u %s", i, ntff_notif_error(i));
        has(row);
    }
    for (unsigned i = 0; i < 16; i++) {
        char row[80];
        if (!ntff_dma_name(i))
            continue;
        snprintf(row, sizeof row, "%u %s", i, ntff_dma_name(i));
        has(row);
    }
    free(page);
}

TAP_MAIN()
