/* The text dump: byte for byte what protoc prints, on random messages of a whole schema; and what
 * it does where protoc gives up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/dump.h"
#include "proto/wire.h"
#include "tests/tap.h"

static const char *schema_path(void)
{
    static char path[512];
    const char *src = getenv("SRC");
    snprintf(path, sizeof path, "%s/tests/data/cases/schema.desc", src ? src : ".");
    return path;
}

static struct ntff_schema *schema(void)
{
    struct ntff_schema *s = NULL;
    struct ntff_error err = {.text = ""};
    if (ntff_schema_load(schema_path(), &s, &err) != NTFF_OK)
        TAP_FAIL("%s", err.text);
    return s;
}

static bool to_buf(void *user, const char *text, size_t len)
{
    ntff_buf_add(user, text, len);
    return true;
}

/* The dump of one message as a text the caller frees; *d keeps the counts. */
static char *dump(struct ntff_dump *d, const struct ntff_message_def *def, const void *msg,
                  size_t len)
{
    struct ntff_buf out = {0};
    d->write = to_buf;
    d->user = &out;
    d->base = msg;
    TAP_EQ_U64(ntff_dump_message(d, "m", def, msg, len), NTFF_OK);
    TAP_EQ_U64(ntff_dump_flush(d), NTFF_OK);
    ntff_dump_done(d);
    ntff_buf_add(&out, "", 1);
    TAP_OK(!out.failed);
    return (char *)out.p;
}

#define EXPECT(def, bytes, text)                                                                   \
    do {                                                                                           \
        struct ntff_dump d_ = {0};                                                                 \
        char *got_ = dump(&d_, def, bytes, sizeof(bytes) - 1);                                     \
        TAP_EQ_STR(got_, text);                                                                    \
        free(got_);                                                                                \
    } while (0)

TAP_TEST(unknown_fields_by_number)
{
    EXPECT(NULL,
           "\x08\x96\x01\x12\x03"
           "a\"\n"
           "\x1d\x01\x02\x03\x04\x21\x01\0\0\0\0\0\0\0",
           "m {\n  1: 150\n  2: \"a\\\"\\n\"\n  3: 0x04030201\n  4: 0x0000000000000001\n}\n");
    EXPECT(NULL, "\x0a\x04\x08\x01\x10\x02\x12\0",
           "m {\n  1 {\n    1: 1\n    2: 2\n  }\n  2: \"\"\n}\n");
    EXPECT(NULL, "", "m {\n}\n");
}

TAP_TEST(damage_is_a_comment_with_its_offset)
{
    struct ntff_schema *s = schema();
    const struct ntff_message_def *e = ntff_schema_message(s, "ntrace_event");
    struct ntff_dump d = {.base_off = 0x100};
    char *text = dump(&d, e,
                      "\x10\x07\x32\x05"
                      "ab",
                      6);
    TAP_EQ_STR(text, "m {\n  timestamp: 7\n  # damaged at offset 0x102: length goes past the end; "
                     "4 bytes not decoded\n}\n");
    TAP_EQ_U64(d.n_damaged, 1);
    free(text);
    ntff_schema_free(s);
}

TAP_TEST(what_protoc_would_merge_is_shown)
{
    struct ntff_schema *s = schema();
    EXPECT(ntff_schema_message(s, "ntrace_event"), "\x10\x01\x10\x02",
           "m {\n  timestamp: 1\n  timestamp: 2\n}\n");
    /* known by number, but of another wire type: shown by number */
    EXPECT(ntff_schema_message(s, "ntrace_event"), "\x12\x01x", "m {\n  2: \"x\"\n}\n");
    ntff_schema_free(s);
}

TAP_TEST(numbers_wider_than_their_type_say_so)
{
    struct ntff_schema *s = schema();
    EXPECT(ntff_schema_message(s, "ntrace_event"), "\x20\x80\x80\x80\x80\x20",
           "m {\n  nd_idx: 0  # 0x200000000 in the file\n}\n");
    ntff_schema_free(s);
}

TAP_TEST(long_values_are_cut_on_request)
{
    struct ntff_dump d = {.max_bytes = 3};
    char *text = dump(&d, NULL, "\x0a\x05\0\0\0\0\0", 7);
    TAP_EQ_STR(text, "m {\n  1: \"\\000\\000\\000\"  # 5 bytes, 3 shown\n}\n");
    TAP_EQ_U64(d.n_cut, 1);
    free(text);
}

TAP_TEST(depth_is_limited)
{
    /* a message that contains itself, 200 deep, in a schema made for it */
    static const uint8_t file[] = {0x0a, 7,    'x', '.',  'p',  'r',  'o',  't', 'o', 0x22,
                                   18,   0x0a, 1,   'm',  0x12, 13,   0x0a, 1,   'm', 0x18,
                                   1,    0x20, 1,   0x28, 11,   0x32, 2,    '.', 'm'};
    struct ntff_schema *s = NULL;
    struct ntff_error err = {.text = ""};
    if (ntff_schema_parse(file, sizeof file, "x", &s, &err) != NTFF_OK)
        TAP_FAIL("%s", err.text);
    uint8_t deep[1024], *p = deep + sizeof deep;
    size_t len = 0;
    for (int i = 0; i < 200; i++) {
        if (len >= 128)
            *--p = (uint8_t)(len >> 7), *--p = (uint8_t)(len | 0x80);
        else
            *--p = (uint8_t)len;
        *--p = 0x0a;
        len = (size_t)(deep + sizeof deep - p);
    }
    struct ntff_dump d = {0};
    char *text = dump(&d, ntff_schema_message(s, "m"), p, len);
    TAP_OK(strstr(text, "# nested more than 100 deep"));
    TAP_EQ_U64(d.n_damaged, 1);
    free(text);
    ntff_schema_free(s);
}

/* -- against protoc --------------------------------------------------------------------------- */

static uint64_t rng = 88172645463325252u;
static uint64_t rnd(uint64_t n)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return n ? rng % n : rng;
}

static void put_varint(struct ntff_buf *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        ntff_buf_add(b, &(uint8_t){(uint8_t)(v | 0x80)}, 1);
    ntff_buf_add(b, &(uint8_t){(uint8_t)v}, 1);
}

static void put_tag(struct ntff_buf *b, uint32_t number, int wire)
{
    put_varint(b, (uint64_t)number << 3 | (unsigned)wire);
}

/* Never the default of the type: protoc does not print that, we print what is in the file. */
static uint64_t random_number(int type)
{
    uint64_t v = (rnd(3) ? rnd(300) : rnd(0) >> rnd(64)) | 1;
    if (type == NTFF_T_UINT32)
        return (uint32_t)v;
    if (type == NTFF_T_ENUM)
        return 1 + rnd(20);
    if (type == NTFF_T_INT32)
        return (uint64_t)(int64_t)(int32_t)(uint32_t)v;
    return type == NTFF_T_BOOL ? 1 : v;
}

static void random_text(struct ntff_buf *b, bool bytes)
{
    static const char *const pieces[] = {"a",    "nrt_execute", "\"",           "\\", "\n",   "\t",
                                         "\x01", "\xc3\xa9",    "\xe2\x82\xac", "'",  "\x7f", " "};
    for (uint64_t n = 1 + rnd(6); n; n--) {
        const char *t = pieces[rnd(NTFF_ARRAY_LEN(pieces))];
        ntff_buf_add(b, t, strlen(t));
        if (bytes)
            ntff_buf_add(b, &(uint8_t){(uint8_t)rnd(256)}, 1);
    }
}

static void random_message(struct ntff_buf *b, const struct ntff_message_def *m, int depth);

static void random_field(struct ntff_buf *b, const struct ntff_field_def *f, int depth)
{
    struct ntff_buf sub = {0};
    int wire = ntff_type_wire(f->type);
    if (f->packed && rnd(2)) {
        for (uint64_t n = rnd(5); n; n--)
            put_varint(&sub, random_number(f->type));
        wire = NTFF_WT_LEN;
    } else if (f->type == NTFF_T_MESSAGE) {
        random_message(&sub, f->message, depth + 1);
    } else if (wire == NTFF_WT_LEN) {
        random_text(&sub, f->type == NTFF_T_BYTES);
    }
    put_tag(b, f->number, wire);
    uint64_t bits = rnd(0) | 1;
    switch (wire) {
    case NTFF_WT_VARINT:
        put_varint(b, random_number(f->type));
        break;
    case NTFF_WT_I32:
    case NTFF_WT_I64:
        if (rnd(2)) { /* a number people would write */
            double v = (double)(1 + rnd(100000)) / 64.0;
            float w = (float)v;
            uint32_t low;
            memcpy(&low, &w, 4);
            memcpy(&bits, &v, 8);
            if (wire == NTFF_WT_I32)
                bits = low;
        }
        for (int i = 0; i < (wire == NTFF_WT_I64 ? 8 : 4); i++)
            ntff_buf_add(b, &(uint8_t){(uint8_t)(bits >> 8 * i)}, 1);
        break;
    default:
        put_varint(b, sub.len);
        ntff_buf_add(b, sub.p, sub.len);
    }
    ntff_buf_free(&sub);
}

/* Fields in random order; singular ones once, repeated ones often, some unknown. Of a oneof one. */
static void random_message(struct ntff_buf *b, const struct ntff_message_def *m, int depth)
{
    bool shuffle = rnd(4) == 0;
    uint64_t oneofs = 0;
    for (size_t i = 0; i < m->n_fields; i++) {
        const struct ntff_field_def *f = shuffle ? &m->fields[i] : m->by_number[i];
        if (f->type == NTFF_T_MESSAGE && depth > 4)
            continue;
        if (f->oneof >= 0 && (oneofs >> f->oneof & 1))
            continue;
        uint64_t n = f->label == NTFF_L_REPEATED ? rnd(4) : rnd(2);
        if (n && f->oneof >= 0)
            oneofs |= UINT64_C(1) << f->oneof;
        while (n--)
            random_field(b, f, depth);
    }
    if (m->map_entry)
        return;
    if (rnd(6) == 0) {
        put_tag(b, 900, NTFF_WT_VARINT);
        put_varint(b, rnd(0));
    }
    if (rnd(6) == 0) {
        struct ntff_buf sub = {0};
        put_tag(&sub, 3, NTFF_WT_VARINT);
        put_varint(&sub, rnd(1000));
        put_tag(b, 901, NTFF_WT_LEN);
        put_varint(b, sub.len);
        ntff_buf_add(b, sub.p, sub.len);
        ntff_buf_free(&sub);
    }
}

/* What protoc --decode prints, indented and wrapped like ours. NULL = protoc failed. */
static char *protoc_decode(const char *type, const struct ntff_buf *msg)
{
    char path[] = "/tmp/ntff-dump-XXXXXX", command[1400], line[65536];
    int fd = mkstemp(path);
    TAP_OK(fd >= 0 && write(fd, msg->p, msg->len) == (ssize_t)msg->len);
    close(fd);
    snprintf(command, sizeof command, "protoc --descriptor_set_in='%s' --decode=ntff.%s <%s",
             schema_path(), type, path);
    struct ntff_buf out = {0};
    ntff_buf_add(&out, "m {\n", 4);
    FILE *f = popen(command, "r");
    TAP_OK(f != NULL);
    while (fgets(line, sizeof line, f))
        ntff_buf_printf(&out, "  %s", line);
    int rc = pclose(f);
    unlink(path);
    ntff_buf_add(&out, "}\n", 3);
    TAP_OK(!out.failed);
    if (rc != 0) {
        ntff_buf_free(&out);
        return NULL;
    }
    return (char *)out.p;
}

/* protoc keeps the last of equal map keys; messages that have some are not compared. */
static bool has_twin_keys(const char *text)
{
    const char *last = NULL;
    for (const char *p = text; (p = strstr(p, "key: ")); p++) {
        size_t n = strcspn(p, "\n") + 1;
        if (last && strncmp(last, p, n) == 0)
            return true;
        last = p;
    }
    return false;
}

TAP_TEST(same_text_as_protoc)
{
    if (system("protoc --version >/dev/null 2>&1") != 0)
        TAP_SKIP("no protoc");
    struct ntff_schema *s = schema();
    unsigned compared = 0;
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < s->n_messages; i++) {
            const struct ntff_message_def *m = &s->messages[i];
            struct ntff_buf msg = {0};
            if (m->map_entry)
                continue;
            random_message(&msg, m, 0);
            TAP_CONTEXT("%s, round %d", m->name, round);
            struct ntff_dump d = {0};
            char *ours = dump(&d, m, msg.p, msg.len), *theirs = protoc_decode(m->name, &msg);
            TAP_OK(theirs != NULL);
            if (!has_twin_keys(ours)) {
                TAP_EQ_STR(ours, theirs);
                compared++;
            }
            free(ours);
            free(theirs);
            ntff_buf_free(&msg);
        }
    TAP_OK(compared > 80);
    ntff_schema_free(s);
}

TAP_TEST(same_text_as_protoc_without_a_schema)
{
    if (system("protoc --version >/dev/null 2>&1") != 0)
        TAP_SKIP("no protoc");
    struct ntff_schema *s = schema();
    for (int round = 0; round < 20; round++) {
        struct ntff_buf msg = {0}, text = {0};
        random_message(&msg, ntff_schema_message(s, "ntff_info"), 0);
        char path[] = "/tmp/ntff-dump-XXXXXX", command[200], line[65536];
        int fd = mkstemp(path);
        TAP_OK(fd >= 0 && write(fd, msg.p, msg.len) == (ssize_t)msg.len);
        close(fd);
        snprintf(command, sizeof command, "protoc --decode_raw <%s", path);
        FILE *f = popen(command, "r");
        ntff_buf_add(&text, "m {\n", 4);
        while (fgets(line, sizeof line, f))
            ntff_buf_printf(&text, "  %s", line);
        TAP_EQ_I64(pclose(f), 0);
        unlink(path);
        ntff_buf_add(&text, "}\n", 3);
        struct ntff_dump d = {0};
        char *ours = dump(&d, NULL, msg.p, msg.len);
        TAP_EQ_STR(ours, (const char *)text.p);
        free(ours);
        ntff_buf_free(&text);
        ntff_buf_free(&msg);
    }
    ntff_schema_free(s);
}

TAP_TEST(random_bytes_never_hurt)
{
    struct ntff_schema *s = schema();
    for (int round = 0; round < 3000; round++) {
        uint8_t bytes[200];
        size_t n = rnd(sizeof bytes);
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)(rnd(3) ? rnd(32) : rnd(256));
        struct ntff_dump d = {0};
        char *text = dump(&d, &s->messages[rnd(s->n_messages)], bytes, n);
        for (const char *p = text; *p; p++)
            TAP_OK((*p >= 0x20 && *p < 0x7f) || *p == '\n');
        free(text);
    }
    ntff_schema_free(s);
}

TAP_MAIN()
