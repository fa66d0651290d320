/* foreign - see foreign.h. A Perfetto trace is a message whose field 1 are packets; nearly every
 * packet names its sequence. A Chrome trace has "traceEvents", or is a list of objects with "ph".
 */
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

const char *ntff_foreign(const char *path)
{
    struct ntff_input in;
    if (strcmp(path, "-") == 0 || ntff_input_open(&in, path, NULL, NULL) != NTFF_OK)
        return NULL;
    struct ntff_slice head = ntff_input_head(&in);
    const char *what = is_chrome(head)     ? "a Chrome trace"
                       : is_perfetto(head) ? "a Perfetto trace"
                                           : NULL;
    ntff_input_close(&in);
    return what;
}
