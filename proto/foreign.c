/* foreign - see foreign.h. A Perfetto trace is a message whose field 1 are packets; nearly every
 * packet names its sequence. A Chrome trace has "traceEvents", or is a list of objects with "ph".
 * A tar archive begins with a header of 512 bytes that has "ustar" at 257 [POSIX pax], or, from
 * before there was such a mark, a sum of its bytes at 148. */
#include "proto/foreign.h"

#include "proto/input.h"
#include "proto/wire.h"

#include <string.h>

enum { PACKET = 1, TRUSTED_SEQUENCE_ID = 10, LOOK_AT = 4 }; /* fields of Trace and TracePacket */

static bool has_field(const uint8_t *msg, uint64_t len, uint32_t number)
{
    struct ntff_wire w = ntff_wire_init(msg, (size_t)len);
    struct ntff_field f;
    while (ntff_wire_next(&w, &f) == 1)
        if (f.number == number)
            return true;
    return false;
}

static bool is_perfetto(struct ntff_slice head)
{
    struct ntff_wire w = ntff_wire_init(head.p, head.len);
    struct ntff_field f;
    for (int i = 0; i < LOOK_AT && ntff_wire_next(&w, &f) == 1; i++) {
        if (f.number != PACKET || f.type != NTFF_WT_LEN)
            return false;
        if (has_field(f.data, f.value, TRUSTED_SEQUENCE_ID))
            return true;
    }
    return false;
}

static bool holds(struct ntff_slice head, const char *word)
{
    return memmem(head.p, head.len, word, strlen(word)) != NULL;
}

static bool is_chrome(struct ntff_slice head)
{
    const char *p = (const char *)head.p;
    size_t at = 0;
    while (at < head.len && memchr(" \t\r\n", p[at], 4))
        at++;
    if (at == head.len || (p[at] != '{' && p[at] != '['))
        return false;
    return holds(head, p[at] == '{' ? "\"traceEvents\"" : "\"ph\"");
}

enum { TAR_HEADER = 512, TAR_SUM = 148, TAR_SUM_LEN = 8, TAR_MAGIC = 257 };

/* The sum in the header: octal digits, blanks before them, a blank or a zero byte behind. */
static bool tar_sum(const uint8_t *field, uint32_t *sum)
{
    size_t i = 0, digits = 0;
    while (i < TAR_SUM_LEN && field[i] == ' ')
        i++;
    for (*sum = 0; i < TAR_SUM_LEN && field[i] >= '0' && field[i] <= '7'; i++, digits++)
        *sum = *sum * 8 + (uint32_t)(field[i] - '0');
    return digits > 0 && (i == TAR_SUM_LEN || field[i] == ' ' || field[i] == '\0');
}

static bool is_tar(struct ntff_slice head)
{
    const uint8_t *h = (const uint8_t *)head.p;
    uint32_t told, sum = 0;
    if (head.len < TAR_HEADER)
        return false;
    if (memcmp(h + TAR_MAGIC, "ustar", 5) == 0 &&
        (h[TAR_MAGIC + 5] == '\0' || h[TAR_MAGIC + 5] == ' '))
        return true;
    if (h[0] == '\0' || !tar_sum(h + TAR_SUM, &told))
        return false;
    for (size_t i = 0; i < TAR_HEADER; i++) /* the sum counts as blanks */
        sum += i - TAR_SUM < TAR_SUM_LEN ? ' ' : h[i];
    return sum == told;
}

const char *ntff_archive(struct ntff_slice head)
{
    if (is_tar(head))
        return "this is a tar archive; unpack it and give the directory";
    if (head.len >= 4 && (memcmp(head.p, "PK\3\4", 4) == 0 || memcmp(head.p, "PK\5\6", 4) == 0))
        return "this is a zip archive; unpack it and give the directory";
    return NULL;
}

const char *ntff_foreign(const char *path)
{
    struct ntff_input in;
    if (strcmp(path, "-") == 0 || ntff_input_open(&in, path, NULL, NULL) != NTFF_OK)
        return NULL;
    struct ntff_slice head = ntff_input_head(&in);
    const char *what = is_chrome(head)     ? "this is a Chrome trace, not a capture"
                       : is_perfetto(head) ? "this is a Perfetto trace, not a capture"
                                           : ntff_archive(head);
    ntff_input_close(&in);
    return what;
}
