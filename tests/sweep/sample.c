/* sample - see sweep.h. Finds the records of a file by a few lines of its own, not by the probe or
 * the scanners that are to be tested. */
#include "tests/sweep/sweep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
    const char *name;
    enum sample_kind kind;
} kinds[] = {{"varint:", SAMPLE_VARINT}, {"u32:", SAMPLE_U32},   {"u64:", SAMPLE_U64},
             {"bare:", SAMPLE_BARE},     {"json:", SAMPLE_JSON}, {"gzip:", SAMPLE_GZIP},
             {"other:", SAMPLE_OTHER}};

static void add_record(struct sample *s, size_t begin, size_t end)
{
    static const char pair[] = "cpu_timestamp_ns";
    memset(s->is_frame + begin, 0, end - begin);
    if (memmem(s->p + begin, end - begin, pair, strlen(pair)) != NULL)
        memset(s->is_clock + begin, 1, end - begin);
    s->ends[s->n_records++] = end;
}

/* A varint at *at; false beyond the end. */
static bool varint(const struct sample *s, size_t *at, uint64_t *v)
{
    *v = 0;
    for (unsigned shift = 0; shift < 64 && *at < s->len; shift += 7) {
        uint8_t c = s->p[(*at)++];
        *v |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80)
            return true;
    }
    return false;
}

static bool fixed(const struct sample *s, size_t *at, size_t width, uint64_t *v)
{
    *v = 0;
    if (s->len - *at < width)
        return false;
    for (size_t i = 0; i < width; i++)
        *v |= (uint64_t)s->p[*at + i] << (8 * i);
    *at += width;
    return true;
}

static void find_framed(struct sample *s)
{
    size_t at = 0;
    for (uint64_t len; at < s->len; at += len) {
        bool ok = s->kind == SAMPLE_VARINT ? varint(s, &at, &len)
                                           : fixed(s, &at, s->kind == SAMPLE_U32 ? 4 : 8, &len);
        if (!ok || len > s->len - at)
            return;
        add_record(s, at, at + (size_t)len);
    }
}

/* Fields of the whole as one message: number and the bytes of each that has bytes. */
static bool next_field(const struct sample *s, size_t *at, uint64_t *number, size_t *begin)
{
    uint64_t tag, len = 0;
    if (!varint(s, at, &tag))
        return false;
    *number = tag >> 3;
    bool ok = true;
    switch (tag & 7) {
    case 0:
        ok = varint(s, at, &len);
        len = 0;
        break;
    case 1:
        len = 8;
        break;
    case 2:
        ok = varint(s, at, &len);
        break;
    case 5:
        len = 4;
        break;
    default:
        return false;
    }
    *begin = *at;
    if (!ok || len > s->len - *at)
        return false;
    *at += (size_t)len;
    return true;
}

static void find_fields(struct sample *s)
{
    enum { MOST = 64 };
    size_t of[MOST] = {0}, at = 0, begin;
    uint64_t number, best = 0;
    while (next_field(s, &at, &number, &begin))
        if (number < MOST && ++of[number] > of[best])
            best = number;
    for (at = 0; next_field(s, &at, &number, &begin);)
        if (number == best)
            add_record(s, begin, at);
}

/* Objects of the outermost list of objects. */
static void find_objects(struct sample *s)
{
    size_t depth = 0, list = 0, begin = 0;
    bool in_text = false;
    for (size_t i = 0; i < s->len; i++) {
        char c = (char)s->p[i];
        if (in_text) {
            i += c == '\\';
            in_text = c != '"';
        } else if (c == '"') {
            in_text = true;
        } else if (c == '[' || c == '{') {
            depth++;
            if (c == '[' && list == 0)
                list = depth;
            if (c == '{' && list != 0 && depth == list + 1)
                begin = i;
        } else if (c == ']' || c == '}') {
            if (c == '}' && list != 0 && depth == list + 1)
                add_record(s, begin, i + 1);
            depth -= depth > 0;
        }
    }
}

static const char *read_all(struct sample *s)
{
    struct stat st;
    FILE *f = fopen(s->path, "rb");
    if (f == NULL || fstat(fileno(f), &st) != 0)
        return strerror(errno);
    s->len = (size_t)st.st_size;
    s->p = malloc(s->len + 1);
    s->ends = calloc(s->len + 1, sizeof *s->ends);
    s->is_frame = malloc(s->len + 1);
    s->is_clock = calloc(s->len + 1, sizeof *s->is_clock);
    bool ok = s->p != NULL && s->ends != NULL && s->is_frame != NULL && s->is_clock != NULL &&
              fread(s->p, 1, s->len, f) == s->len;
    fclose(f);
    return ok ? NULL : "cannot be read";
}

const char *sample_read(struct sample *s, const char *argument)
{
    *s = (struct sample){.kind = SAMPLE_OTHER};
    size_t i = 0, n = sizeof kinds / sizeof *kinds;
    while (i < n && strncmp(argument, kinds[i].name, strlen(kinds[i].name)) != 0)
        i++;
    if (i == n)
        return "kind is none of varint, u32, u64, bare, json, gzip, other";
    s->kind = kinds[i].kind;
    s->path = strdup(argument + strlen(kinds[i].name));
    if (s->path == NULL)
        return "no memory";
    s->name = strrchr(s->path, '/') != NULL ? strrchr(s->path, '/') + 1 : s->path;
    const char *bad = read_all(s);
    if (bad != NULL)
        return bad;
    memset(s->is_frame, 1, s->len);
    if (s->kind == SAMPLE_BARE)
        find_fields(s);
    else if (s->kind == SAMPLE_JSON)
        find_objects(s);
    else if (s->kind < SAMPLE_BARE)
        find_framed(s);
    return s->kind <= SAMPLE_JSON && s->n_records == 0 ? "has no record" : NULL;
}

void sample_free(struct sample *s)
{
    free(s->path);
    free(s->p);
    free(s->ends);
    free(s->is_frame);
    free(s->is_clock);
}

size_t sample_whole(const struct sample *s, size_t len)
{
    size_t lo = 0, hi = s->n_records;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->ends[mid] <= len)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

bool sample_between(const struct sample *s, size_t len)
{
    size_t n = sample_whole(s, len);
    return len == 0 || (n > 0 && s->ends[n - 1] == len);
}
