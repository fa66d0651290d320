/* delimit - turns a message that is a list into a stream of records.
 *
 *     protoc --encode=event_list ... < events.txtpb | delimit [varint|u32|u64] > ntrace.pb
 *
 * Standard input is a protobuf message whose only field is a repeated message, number 1. Each of
 * them is written to standard output behind its length: the form in which the runtime leaves its
 * events. protoc cannot write it. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* False at the end of input; a cut number ends the program. */
static bool read_varint(uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        int c = getchar();
        if (c == EOF && shift == 0)
            return false;
        if (c == EOF)
            break;
        *out |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80)
            return true;
    }
    fprintf(stderr, "delimit: malformed number\n");
    exit(1);
}

static void write_length(uint64_t len, int fixed_bytes)
{
    if (fixed_bytes > 0) {
        for (int i = 0; i < fixed_bytes; i++)
            putchar((int)(len >> 8 * i & 0xff));
        return;
    }
    for (; len >= 0x80; len >>= 7)
        putchar((int)(len & 0x7f) | 0x80);
    putchar((int)len);
}

int main(int argc, char **argv)
{
    const char *form = argc > 1 ? argv[1] : "varint";
    int fixed_bytes = strcmp(form, "u32") == 0 ? 4 : strcmp(form, "u64") == 0 ? 8 : 0;
    if (fixed_bytes == 0 && strcmp(form, "varint") != 0) {
        fprintf(stderr, "usage: delimit [varint|u32|u64] < MESSAGE > STREAM\n");
        return 2;
    }
    uint64_t tag, len;
    while (read_varint(&tag)) {
        if (tag != (1 << 3 | 2) || !read_varint(&len)) {
            fprintf(stderr, "delimit: not a list in field 1\n");
            return 1;
        }
        write_length(len, fixed_bytes);
        for (; len > 0; len--) {
            int c = getchar();
            if (c == EOF) {
                fprintf(stderr, "delimit: cut off\n");
                return 1;
            }
            putchar(c);
        }
    }
    if (fflush(stdout) != 0) {
        perror("delimit");
        return 1;
    }
    return 0;
}
