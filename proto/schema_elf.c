/* schema_elf - the schema inside a libnrt.so, without running or loading it.
 *
 * protoc stores each .proto file whole, as a serialized FileDescriptorProto, in .rodata [FMT]. Such
 * a blob begins with its file name and package: 0a N "ntff.proto" 12 04 "ntff". Sizes and addresses
 * differ between versions, so they are not used. We look for the part that all of them share,
 * ".proto" 12 04 "ntff", step back over the name, and find the end by walking the fields of a
 * FileDescriptorProto: they are written in rising order, and the last one of a proto3 file is its
 * syntax. The ELF headers are only asked where the section around a hit ends; a file whose headers
 * are missing or broken, or that is no ELF at all, is searched all the same. Neither byte order nor
 * word size of the ELF matters to the blob.
 *
 * A large binary may hold decoys: the same blob twice, another version, a cut one. Every candidate
 * must parse as a schema on its own; of several for one file, the one that comes nearest to the
 * known totals of its messages wins, and a note says that there was a choice. */
#include "proto/schema_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire.h"

#define MAX_TRIES 64 /* hits that are looked at closely */

/* -- ELF -------------------------------------------------------------------------------------- */

struct elf {
    const uint8_t *data;
    size_t len;
    bool wide, big; /* 64 bits, big-endian */
};

bool ntff_is_elf(const uint8_t *data, size_t len)
{
    return len >= 16 && memcmp(data, "\177ELF", 4) == 0;
}

/* An unsigned number of n bytes (2, 4, 8) at off, which the caller has checked. */
static uint64_t elf_get(const struct elf *e, uint64_t off, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++)
        v = v << 8 | e->data[off + (e->big ? i : n - 1 - i)];
    return v;
}

static uint64_t elf_word(const struct elf *e, uint64_t off)
{
    return elf_get(e, off, e->wide ? 8 : 4);
}

/* One header table: entries of at least min_size bytes that lie inside the file. */
struct elf_table {
    uint64_t off, entry, n;
};

static struct elf_table elf_table(const struct elf *e, unsigned off_at, unsigned entry_at,
                                  unsigned min_size)
{
    struct elf_table t = {elf_word(e, off_at), elf_get(e, entry_at, 2),
                          elf_get(e, entry_at + 2, 2)};
    if (t.entry < min_size || t.off >= e->len || t.n * t.entry > e->len - t.off)
        t.n = 0;
    return t;
}

/* If [off, off + size) holds pos, *end is set to its end, at most the file's. */
static bool holds(const struct elf *e, uint64_t off, uint64_t size, uint64_t pos, uint64_t *end)
{
    if (off > pos || pos - off >= size)
        return false;
    *end = size < e->len - off ? off + size : e->len;
    return true;
}

/* Where the section, else the segment, around pos ends; the end of the file if none is. */
static uint64_t elf_bound(const uint8_t *data, size_t len, uint64_t pos)
{
    struct elf e = {data, len, false, false};
    uint64_t end = len;
    if (!ntff_is_elf(data, len) || len < 64)
        return end;
    e.wide = data[4] == 2;
    e.big = data[5] == 2;
    struct elf_table sections =
        elf_table(&e, e.wide ? 0x28 : 0x20, e.wide ? 0x3a : 0x2e, e.wide ? 64 : 40);
    for (uint64_t i = 0; i < sections.n; i++) {
        uint64_t h = sections.off + i * sections.entry;
        uint64_t type = elf_get(&e, h + 4, 4);
        if (type != 0 && type != 8 /* NOBITS */ &&
            holds(&e, elf_word(&e, h + (e.wide ? 0x18 : 0x10)),
                  elf_word(&e, h + (e.wide ? 0x20 : 0x14)), pos, &end))
            return end;
    }
    struct elf_table segments =
        elf_table(&e, e.wide ? 0x20 : 0x1c, e.wide ? 0x36 : 0x2a, e.wide ? 56 : 32);
    for (uint64_t i = 0; i < segments.n; i++) {
        uint64_t h = segments.off + i * segments.entry;
        if (elf_get(&e, h, 4) == 1 /* LOAD */ &&
            holds(&e, elf_word(&e, h + (e.wide ? 8 : 4)), elf_word(&e, h + (e.wide ? 0x20 : 0x10)),
                  pos, &end))
            return end;
    }
    return end;
}

/* -- one candidate ---------------------------------------------------------------------------- */

/* From a hit on ".proto" back to the tag before the file name; NULL if no name ends there. */
static const uint8_t *step_back(const uint8_t *data, const uint8_t *hit)
{
    const uint8_t *name_end = hit + 6;
    for (size_t n = 6; n < 128 && n + 2 <= (size_t)(name_end - data); n++) {
        const uint8_t *name = name_end - n;
        if (*name <= 0x20 || *name >= 0x7f)
            return NULL;
        if (name[-1] == n && name[-2] == 0x0a)
            return name - 2;
    }
    return NULL;
}

/* Wire type a field of FileDescriptorProto has, -1 for a number it does not have. */
static int file_field_type(uint32_t number)
{
    switch (number) {
    case 10:
    case 11:
    case 14:
        return NTFF_WT_VARINT;
    case 13:
        return -1;
    default:
        return number >= 1 && number <= 12 ? NTFF_WT_LEN : -1;
    }
}

/* Length of the FileDescriptorProto at p; 0 if it is cut by end (*why tells). */
static size_t delimit(const uint8_t *p, const uint8_t *end, const char **why)
{
    struct ntff_wire w = ntff_wire_init(p, (size_t)(end - p));
    struct ntff_field f;
    uint32_t last = 0;
    for (;;) {
        const uint8_t *at = w.p;
        /* every tag is one byte; look before reading what may not belong to the blob */
        uint32_t number = at < end ? *at >> 3 : 0;
        if (at == end || *at >= 0x80 || number < last || file_field_type(number) != (*at & 7))
            return (size_t)(at - p);
        if (ntff_wire_next(&w, &f) != 1) {
            *why = w.why;
            return 0;
        }
        if (number == 12 && !(f.value == 8 && memcmp(f.data, "editions", 8) == 0))
            return (size_t)(w.p - p);
        last = number;
    }
}

struct candidate {
    struct ntff_schema_blob blob;
    const char *name; /* in .schema */
    struct ntff_schema *schema;
    uint64_t distance; /* from the known totals */
};

static uint64_t apart(size_t a, size_t b)
{
    return a > b ? a - b : b - a;
}

/* How far a candidate is from the totals of 2.31.24.0 [FMT]; files we know nothing about: the more
 * messages the better. */
static uint64_t distance(const struct ntff_schema *s)
{
    static const struct {
        const char *name;
        size_t messages, enums, fields;
    } known[] = {{"ntff.proto", 31, 9, 155}, {"neuron_trace.proto", 9, 3, 52 + 4}};
    size_t fields = 0;
    for (size_t i = 0; i < s->n_messages; i++)
        fields += s->messages[i].n_fields;
    for (size_t i = 0; i < NTFF_ARRAY_LEN(known); i++)
        if (strcmp(s->files[0].name, known[i].name) == 0)
            return apart(s->n_messages, known[i].messages) + apart(s->n_enums, known[i].enums) +
                   apart(fields, known[i].fields);
    return UINT32_MAX - (s->n_messages < UINT32_MAX ? s->n_messages : UINT32_MAX);
}

/* -- the search ------------------------------------------------------------------------------- */

struct search {
    const uint8_t *data;
    size_t len;
    struct ntff_schema_blobs *list;
    NTFF_VEC(struct candidate) found; /* the best of each file name */
    struct ntff_error why_not;        /* the last candidate that failed */
    unsigned tries;
    bool nomem;
};

static void drop(struct candidate *c)
{
    ntff_schema_free(c->schema);
    c->schema = NULL;
}

/* Puts c among the found ones, or drops the lesser of two for the same file. */
static void settle(struct search *s, struct candidate *c)
{
    for (size_t i = 0; i < s->found.n; i++) {
        struct candidate *have = &s->found.v[i];
        if (strcmp(have->name, c->name) != 0)
            continue;
        if (have->blob.len != c->blob.len || memcmp(have->blob.p, c->blob.p, c->blob.len) != 0) {
            bool swap = c->distance < have->distance;
            const struct candidate *used = swap ? c : have, *other = swap ? have : c;
            s->nomem |= !ntff_schema_blobs_note(
                s->list,
                "several descriptors of %.80s: used the one at 0x%llx, not the one at 0x%llx",
                c->name, (unsigned long long)used->blob.offset,
                (unsigned long long)other->blob.offset);
            if (swap) {
                struct candidate t = *have;
                *have = *c;
                *c = t;
            }
        }
        drop(c);
        return;
    }
    struct candidate *slot = NTFF_VEC_PUSH(NULL, &s->found);
    if (slot) {
        *slot = *c;
    } else {
        drop(c);
        s->nomem = true;
    }
}

/* Looks closely at the bytes from start on; returns where to search on. */
static const uint8_t *try_at(struct search *s, const uint8_t *start, const uint8_t *hit)
{
    uint64_t offset = (uint64_t)(start - s->data);
    const uint8_t *end = s->data + elf_bound(s->data, s->len, offset);
    const char *why = NULL;
    struct candidate c = {.blob = {start, delimit(start, end, &why), offset}};
    struct ntff_schema_blobs one = {0};
    one.blobs.v = &c.blob;
    one.blobs.n = 1;
    enum ntff_status status =
        c.blob.len ? ntff_schema_build(&one, NTFF_SCHEMA_RECOVERED, "", &c.schema, &s->why_not)
                   : ntff_fail(&s->why_not, NTFF_MALFORMED, offset, "%.*s: descriptor is cut (%s)",
                               start[1], (const char *)start + 2, why);
    if (c.schema && c.schema->n_messages + c.schema->n_enums == 0) {
        drop(&c);
        status = ntff_fail(&s->why_not, NTFF_MALFORMED, offset, "%.*s: descriptor is empty",
                           start[1], (const char *)start + 2);
    }
    if (status == NTFF_NOMEM) {
        s->nomem = true;
        return s->data + s->len;
    }
    if (status != NTFF_OK || !c.schema) {
        s->nomem |= !ntff_schema_blobs_note(
            s->list, "skipped what begins like a descriptor at 0x%llx: %.120s",
            (unsigned long long)offset, s->why_not.text);
        return hit + 1;
    }
    c.name = c.schema->files[0].name;
    c.distance = distance(c.schema);
    settle(s, &c);
    return start + c.blob.len;
}

static int by_name_order(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return x->blob.offset < y->blob.offset ? -1 : x->blob.offset > y->blob.offset;
}

/* ntff.proto comes before neuron_trace.proto, which imports it; else in file order. */
static bool collect(struct search *s)
{
    bool ok = !s->nomem;
    if (s->found.n)
        qsort(s->found.v, s->found.n, sizeof *s->found.v, by_name_order);
    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < s->found.n && ok; i++) {
            if ((strcmp(s->found.v[i].name, "ntff.proto") == 0) != (pass == 0))
                continue;
            struct ntff_schema_blob *b = NTFF_VEC_PUSH(NULL, &s->list->blobs);
            if ((ok = b != NULL))
                *b = s->found.v[i].blob;
        }
    for (size_t i = 0; i < s->found.n; i++)
        drop(&s->found.v[i]);
    NTFF_VEC_FREE(NULL, &s->found);
    return ok;
}

/* Searches one run of stored bytes; false = no more places are looked at. */
static bool search_run(struct search *s, const uint8_t *p, const uint8_t *end)
{
    static const char needle[] = ".proto\x12\x04ntff"; /* no zero byte in it: never across a hole */
    const uint8_t *hit;
    while (p < end && (hit = memmem(p, (size_t)(end - p), needle, sizeof needle - 1))) {
        const uint8_t *start = step_back(s->data, hit);
        if (start && ++s->tries > MAX_TRIES) {
            s->nomem |= !ntff_schema_blobs_note(
                s->list, "stopped after %d places that look like descriptors", MAX_TRIES);
            return false;
        }
        p = start ? try_at(s, start, hit) : hit + 1;
    }
    return true;
}

enum ntff_status ntff_schema_find(const struct ntff_bytes *in, struct ntff_schema_blobs *out,
                                  struct ntff_error *err)
{
    struct search s = {.data = in->data, .len = in->len, .list = out};
    const struct ntff_extent all = {0, in->len};
    const struct ntff_extent *runs = in->stored.n ? in->stored.v : &all;
    for (size_t i = 0; i < (in->stored.n ? in->stored.n : 1); i++)
        if (!search_run(&s, in->data + runs[i].begin, in->data + runs[i].end))
            break;
    if (!collect(&s))
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "out of memory");
    if (s.tries && out->blobs.n == 0)
        return ntff_fail(err, s.why_not.status, s.why_not.offset, "%s", s.why_not.text);
    return NTFF_OK;
}
