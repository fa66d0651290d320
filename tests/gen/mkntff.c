/* mkntff - writes an .ntff from a text script: `mkntff SCRIPT >FILE` (- is standard input).
 *
 * The counterpart of the decoder, and on purpose nothing of it: its own varint writer, its own bit
 * positions, field numbers set by the script. One command a line, # begins a comment, numbers are
 * decimal or 0x. The message is written depth first, so its parts are kept as byte strings.
 *
 * File
 *   version N            byte 0                       base section|message|file   what offsets
 * count from number NAME N        a field number, see below    inline                      blobs go
 * into trace_info tail N [BYTE]        bytes behind everything      cut N file length; -N from the
 * end patch OFFSET HEX     overwrites bytes at last     msglen N                    what the header
 * says split                an unlisted gap of 64 bytes before the next blob ntff_info info NUMBER
 * varint N | text T | hex BYTES         any field ver NUMBER A B C D   a version_info buffer BLOCK
 * TYPE BYTES     a buffer size node NUMBER ...      as info, in neff_node_info Subgraphs graph NAME
 * ND NC     begins one                   field NUMBER ...            as info, in subgraph_info run
 * ENGINE ADDRESS SIZE [inline|cc]               an instruction stream clock WHICH INIT ACTUAL
 * EXPECTED                  WHICH = number in nc_timestamp_info queue ENGINE INDEX TYPE NAME Blobs:
 * records that follow go into it blob BLOCK TYPE ENGINE                            under the graph
 *   session BLOCK TYPE ENGINE                         under ntff_info
 *   twin                 lists the last blob again, under ntff_info
 * Records; TS in ps, +N = after the record before; FLAGS: sw, hw, phase
 *   start|end ENGINE PC TS A B [hint=H] FLAGS         A B = reset counter, wait cycles | crc in,
 * crc out explicit ENGINE PC TS LOW HIGH [hint=H] FLAGS     HIGH = debug_hint_extended dge ENGINE
 * PC TS MAP PACKETS GROUP INFER sem|event ENGINE ID VALUE TS [mode=M]             ENGINE - = over
 * the bus tpb ID LO HI TS      interrupt GROUP BLOCK CAUSE TS       warning GROUP BLOCK M0 M1 M2 TS
 *   dma SUB QUEUE LOW24 HIGH16 TS FLAGS               LOW24 = bytes of an end, HIGH16 = its crc
 *   dma0 SUB QUEUE TS    sub-type and queue in word0  ham M0 M1 M2 TS
 *   raw WORD0 WORD1 TS   bytes HEX                    loose bytes in the blob */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- bytes
 * --------------------------------------------------------------------------------------------- */

struct bytes {
    uint8_t *p;
    size_t len, cap;
};

/* Nothing is given back before the end: the program is short, and every block stays in this list.
 */
static struct block {
    struct block *next;
    uint8_t bytes[];
} * blocks;

static void put(struct bytes *b, const void *p, size_t n)
{
    if (b->len + n > b->cap) {
        b->cap = (b->len + n) * 2;
        struct block *fresh = malloc(sizeof *fresh + b->cap);
        if (!fresh)
            abort();
        fresh->next = blocks;
        blocks = fresh;
        if (b->len)
            memcpy(fresh->bytes, b->p, b->len);
        b->p = fresh->bytes;
    }
    if (n)
        memcpy(b->p + b->len, p, n);
    b->len += n;
}

static void put_le(struct bytes *b, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint8_t c = (uint8_t)(v >> (8 * i));
        put(b, &c, 1);
    }
}

static void put_varint(struct bytes *b, uint64_t v)
{
    do {
        uint8_t c = (uint8_t)((v & 127) | (v > 127 ? 128 : 0));
        put(b, &c, 1);
        v >>= 7;
    } while (v);
}

/* A varint field; zero is left out, as proto3 does. */
static void num(struct bytes *b, unsigned number, uint64_t v)
{
    if (v == 0)
        return;
    put_varint(b, (uint64_t)number << 3);
    put_varint(b, v);
}

static void len(struct bytes *b, unsigned number, const void *p, size_t n)
{
    put_varint(b, (uint64_t)number << 3 | 2);
    put_varint(b, n);
    put(b, p, n);
}

/* -- script state
 * --------------------------------------------------------------------------------------- */

enum { MAX_BLOBS = 4096, MAX_GRAPHS = 64, MAX_PATCHES = 64 };

struct blob {
    unsigned block, type, engine;
    int graph; /* -1 = session */
    int open;  /* records still go into it */
    size_t off, len;
};

struct graph {
    struct bytes head; /* fields 1..5 */
    struct bytes tail; /* fields behind traces */
    struct bytes clocks;
};

static struct {
    unsigned nodes, nd, graphs, session, buffers, block, type, engine, offset, size, bytes;
} number = {3, 4, 1, 18, 14, 1, 2, 3, 4, 5, 6}; /* as in tests/data/cases/schema.desc */

static struct graph graphs[MAX_GRAPHS];
static int n_graphs;
static struct blob blobs[MAX_BLOBS];
static int n_blobs;
static struct bytes info, node, runs, records;
static uint64_t last_ts, line_no;
static unsigned version = 6;
static int base_kind; /* 0 section, 1 message, 2 file */
static int inline_blobs;
static int64_t cut_at = INT64_MAX, msg_len_said = -1;
static struct bytes tail;
static struct {
    size_t off;
    struct bytes with;
} patches[MAX_PATCHES];
static int n_patches;

static void die(const char *what)
{
    fprintf(stderr, "mkntff: line %llu: %s\n", (unsigned long long)line_no, what);
    exit(1);
}

/* -- words
 * ------------------------------------------------------------------------------------------------
 */

static char *words[64];
static int n_words, next_word;

static const char *word(void)
{
    if (next_word >= n_words)
        die("a word is missing");
    return words[next_word++];
}

static uint64_t value(void)
{
    const char *w = word();
    char *end;
    uint64_t v = *w == '-' ? (uint64_t)strtoll(w, &end, 0) : strtoull(w, &end, 0);
    if (*end)
        die("not a number");
    return v;
}

/* name=N among the words left, else other. */
static uint64_t option(const char *name, uint64_t other)
{
    size_t n = strlen(name);
    for (int i = 1; i < n_words; i++)
        if (strncmp(words[i], name, n) == 0 && words[i][n] == '=')
            return strtoull(words[i] + n + 1, NULL, 0);
    return other;
}

static int flag(const char *name)
{
    for (int i = 1; i < n_words; i++)
        if (strcmp(words[i], name) == 0)
            return 1;
    return 0;
}

static uint64_t timestamp(void)
{
    const char *w = word();
    last_ts = *w == '+' ? last_ts + strtoull(w + 1, NULL, 0) : strtoull(w, NULL, 0);
    return last_ts;
}

static unsigned engine(void)
{
    static const char *const names[] = {"pe", "act", "pool", "dve", "sp"};
    const char *w = word();
    for (unsigned i = 0; i < 5; i++)
        if (strcmp(w, names[i]) == 0)
            return i;
    die("expected pe, act, pool, dve or sp");
    return 0;
}

static struct bytes hex(void)
{
    struct bytes b = {0};
    const char *w = word();
    for (; w[0] && w[1]; w += 2) {
        char two[3] = {w[0], w[1], 0};
        uint8_t c = (uint8_t)strtoul(two, NULL, 16);
        put(&b, &c, 1);
    }
    return b;
}

/* NUMBER varint N | text T | hex BYTES */
static void any_field(struct bytes *to)
{
    unsigned n = (unsigned)value();
    const char *kind = word();
    if (strcmp(kind, "varint") == 0) {
        num(to, n, value());
    } else if (strcmp(kind, "text") == 0) {
        const char *t = word();
        len(to, n, t, strlen(t));
    } else if (strcmp(kind, "hex") == 0) {
        struct bytes b = hex();
        len(to, n, b.p, b.len);
    } else {
        die("expected varint, text or hex");
    }
}

/* -- records
 * -----------------------------------------------------------------------------------------------
 */

static void record(uint32_t low24, unsigned type, uint32_t word1, uint64_t ts)
{
    if (n_blobs == 0)
        die("no blob yet");
    uint32_t head =
        type | (flag("sw") ? 0x20u : 0) | (flag("hw") ? 0x40u : 0) | (flag("phase") ? 0x80u : 0);
    put_le(&records, (low24 & 0xffffff) | head << 24, 4);
    put_le(&records, word1, 4);
    put_le(&records, ts, 8);
}

static uint32_t pc_and_hint(void)
{
    return ((uint32_t)value() & 0xfffff) | (uint32_t)option("hint", 0) << 20;
}

/* start, end and explicit differ in the type only: 4 + 4 * engine + kind. */
static void engine_record(unsigned kind)
{
    unsigned e = engine();
    uint32_t low = pc_and_hint();
    uint64_t ts = timestamp();
    uint32_t a = (uint32_t)value(), b = (uint32_t)value();
    record(low, 4 + 4 * e + kind, (a & 0xffff) | b << 16, ts);
}

static void dge_record(void)
{
    unsigned e = engine();
    uint32_t pc = (uint32_t)value() & 0xfffff;
    uint64_t ts = timestamp();
    uint32_t map = (uint32_t)value() & 0xffff, packets = (uint32_t)value() & 0xfff;
    uint32_t dma_group = (uint32_t)value() & 1, infer = (uint32_t)value() & 1;
    record(pc | 1u << 20, 4 + 4 * e + 2, map | packets << 16 | infer << 30 | dma_group << 31, ts);
}

static void sem_record(int is_sem)
{
    unsigned type = 0x1b;
    if (strcmp(words[next_word], "-") == 0)
        word();
    else
        type = 7 + 4 * engine();
    uint32_t id = (uint32_t)value() & 0xff, v = (uint32_t)value();
    uint64_t ts = timestamp();
    record(id | (is_sem ? 0x100u : 0) | (uint32_t)option("mode", 0) << 16, type, v, ts);
}

static void dma_record(int in_word0)
{
    uint32_t sub = (uint32_t)value(), queue = (uint32_t)value();
    uint32_t low = in_word0 ? (sub & 15) | queue << 4 : (uint32_t)value();
    uint32_t high = in_word0 ? 0xdea7 : (uint32_t)value();
    uint64_t ts = timestamp();
    record(low, 2, in_word0 ? high : (sub & 15) | (queue & 15) << 4 | high << 16, ts);
}

static void error_record(const char *what)
{
    uint32_t a = (uint32_t)value(), b = (uint32_t)value(), c = (uint32_t)value();
    if (strcmp(what, "tpb") == 0) {
        record((a & 0xff) | (b & 0xffff) << 8, 0x1f, c, timestamp());
    } else if (strcmp(what, "interrupt") == 0) {
        record((a & 7) | (b & 0x3ff) << 8, 3, c, timestamp());
    } else if (strcmp(what, "ham") == 0) {
        record((a & 0xffff) | (b & 0xff) << 16, 0x1e, c, timestamp());
    } else { /* warning: c, d, e are the metadata */
        uint32_t d = (uint32_t)value(), e = (uint32_t)value();
        record((a & 7) | 8 | (c & 15) << 4 | (b & 0x3ff) << 8 | (d & 63) << 18, 3, e, timestamp());
    }
}

static int record_command(const char *w)
{
    if (strcmp(w, "start") == 0)
        engine_record(0);
    else if (strcmp(w, "end") == 0)
        engine_record(1);
    else if (strcmp(w, "explicit") == 0)
        engine_record(2);
    else if (strcmp(w, "dge") == 0)
        dge_record();
    else if (strcmp(w, "sem") == 0 || strcmp(w, "event") == 0)
        sem_record(w[0] == 's');
    else if (strcmp(w, "dma") == 0 || strcmp(w, "dma0") == 0)
        dma_record(w[3] == '0');
    else if (strcmp(w, "tpb") == 0 || strcmp(w, "interrupt") == 0 || strcmp(w, "warning") == 0 ||
             strcmp(w, "ham") == 0)
        error_record(w);
    else
        return 0;
    return 1;
}

static void raw_record(void)
{
    uint32_t w0 = (uint32_t)value(), w1 = (uint32_t)value();
    put_le(&records, w0, 4);
    put_le(&records, w1, 4);
    put_le(&records, timestamp(), 8);
}

/* -- structure
 * ---------------------------------------------------------------------------------------------- */

static struct graph *graph(void)
{
    if (n_graphs == 0)
        die("no graph yet");
    return &graphs[n_graphs - 1];
}

static void close_blob(void)
{
    if (n_blobs == 0 || !blobs[n_blobs - 1].open)
        return;
    blobs[n_blobs - 1].len = records.len - blobs[n_blobs - 1].off;
    blobs[n_blobs - 1].open = 0;
}

static void begin_blob(int session)
{
    close_blob();
    if (n_blobs == MAX_BLOBS)
        die("too many blobs");
    struct blob *b = &blobs[n_blobs++];
    *b = (struct blob){.block = (unsigned)value(),
                       .type = (unsigned)value(),
                       .engine = (unsigned)value(),
                       .graph = session ? -1 : n_graphs - 1,
                       .open = 1,
                       .off = records.len};
    if (!session)
        graph();
}

static void begin_graph(void)
{
    if (n_graphs == MAX_GRAPHS)
        die("too many graphs");
    struct graph *g = &graphs[n_graphs++];
    const char *name = word();
    len(&g->head, 1, name, strlen(name));
    num(&g->head, 2, value());
    num(&g->head, 3, value());
}

static void add_run(void)
{
    struct bytes m = {0};
    unsigned e = engine();
    uint64_t address = value(), size = value();
    int is_inline = flag("inline"), cc = flag("cc");
    num(&m, 1, e);
    num(&m, 2, address);
    size_t at = runs.len;
    struct bytes body = {0};
    for (uint64_t i = 0; i < size; i++) {
        uint8_t c = (uint8_t)(i * 37 + e);
        put(is_inline ? &body : &runs, &c, 1);
    }
    if (is_inline)
        len(&m, 3, body.p, body.len);
    num(&m, 4, e);
    if (!is_inline) {
        num(&m, 7, at);
        num(&m, 8, size);
    }
    len(cc ? &graph()->tail : &graph()->head, cc ? 13 : 4, m.p, m.len);
}

static void add_clock(void)
{
    struct bytes m = {0};
    unsigned which = (unsigned)value();
    num(&m, 1, value());
    num(&m, 2, value());
    num(&m, 3, value());
    len(&graph()->clocks, which, m.p, m.len);
}

static void add_queue(void)
{
    struct bytes m = {0};
    num(&m, 1, value());
    num(&m, 2, value());
    num(&m, 3, value());
    const char *name = word();
    len(&m, 4, name, strlen(name));
    len(&graph()->tail, 7, m.p, m.len);
}

static void add_message3(struct bytes *to, unsigned at)
{
    struct bytes m = {0};
    for (unsigned i = 1; next_word < n_words; i++)
        num(&m, i, value());
    len(to, at, m.p, m.len);
}

static void set_number(void)
{
    static const struct {
        const char *name;
        unsigned *at;
    } names[] = {
        {"nodes", &number.nodes},     {"nd", &number.nd},           {"graphs", &number.graphs},
        {"session", &number.session}, {"buffers", &number.buffers}, {"block", &number.block},
        {"type", &number.type},       {"engine", &number.engine},   {"offset", &number.offset},
        {"size", &number.size},       {"bytes", &number.bytes}};
    const char *w = word();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(w, names[i].name) == 0) {
            *names[i].at = (unsigned)value();
            return;
        }
    }
    die("number of what?");
}

static void set_base(void)
{
    const char *w = word();
    base_kind = strcmp(w, "message") == 0 ? 1 : strcmp(w, "file") == 0 ? 2 : 0;
}

static void add_patch(void)
{
    if (n_patches == MAX_PATCHES)
        die("too many patches");
    patches[n_patches].off = value();
    patches[n_patches++].with = hex();
}

static void add_tail(void)
{
    uint64_t n = value();
    uint8_t c = next_word < n_words ? (uint8_t)value() : 0xee;
    while (n--)
        put(&tail, &c, 1);
}

static void add_twin(void)
{
    close_blob();
    if (n_blobs == 0 || n_blobs == MAX_BLOBS)
        die("no blob to list again");
    blobs[n_blobs] = blobs[n_blobs - 1];
    blobs[n_blobs].graph = -1;
    n_blobs++;
}

static void command(void)
{
    const char *w = word();
    if (record_command(w))
        return;
    if (strcmp(w, "raw") == 0) {
        raw_record();
    } else if (strcmp(w, "bytes") == 0) {
        struct bytes b = hex();
        put(&records, b.p, b.len);
    } else if (strcmp(w, "split") == 0) {
        static const uint8_t gap[64];
        close_blob();
        put(&records, gap, sizeof gap);
    } else if (strcmp(w, "blob") == 0 || strcmp(w, "session") == 0) {
        begin_blob(w[0] == 's');
    } else if (strcmp(w, "twin") == 0) {
        add_twin();
    } else if (strcmp(w, "graph") == 0) {
        begin_graph();
    } else if (strcmp(w, "run") == 0) {
        add_run();
    } else if (strcmp(w, "clock") == 0) {
        add_clock();
    } else if (strcmp(w, "queue") == 0) {
        add_queue();
    } else if (strcmp(w, "field") == 0) {
        any_field(&graph()->tail);
    } else if (strcmp(w, "info") == 0) {
        any_field(&info);
    } else if (strcmp(w, "node") == 0) {
        any_field(&node);
    } else if (strcmp(w, "ver") == 0) {
        add_message3(&info, (unsigned)value());
    } else if (strcmp(w, "buffer") == 0) {
        add_message3(&info, number.buffers);
    } else if (strcmp(w, "number") == 0) {
        set_number();
    } else if (strcmp(w, "base") == 0) {
        set_base();
    } else if (strcmp(w, "version") == 0) {
        version = (unsigned)value();
    } else if (strcmp(w, "inline") == 0) {
        inline_blobs = 1;
    } else if (strcmp(w, "tail") == 0) {
        add_tail();
    } else if (strcmp(w, "cut") == 0) {
        cut_at = (int64_t)value();
    } else if (strcmp(w, "msglen") == 0) {
        msg_len_said = (int64_t)value();
    } else if (strcmp(w, "patch") == 0) {
        add_patch();
    } else {
        die("unknown command");
    }
}

/* -- output
 * --------------------------------------------------------------------------------------------------
 */

static void trace_info(struct bytes *to, unsigned at, const struct blob *b, uint64_t base)
{
    struct bytes m = {0};
    num(&m, number.block, b->block);
    num(&m, number.type, b->type);
    num(&m, number.engine, b->engine);
    if (inline_blobs) {
        len(&m, number.bytes, records.p + b->off, b->len);
    } else {
        num(&m, number.offset, base + b->off);
        num(&m, number.size, b->len);
    }
    len(to, at, m.p, m.len);
}

/* The message, with blob offsets counted from base before the notification section. */
static struct bytes message(uint64_t base)
{
    struct bytes out = {0}, nd = {0}, n = {0};
    put(&out, info.p, info.len);
    for (int g = 0; g < n_graphs; g++) {
        struct bytes m = {0};
        put(&m, graphs[g].head.p, graphs[g].head.len);
        for (int i = 0; i < n_blobs; i++)
            if (blobs[i].graph == g)
                trace_info(&m, 6, &blobs[i], base);
        put(&m, graphs[g].tail.p, graphs[g].tail.len);
        if (graphs[g].clocks.len)
            len(&m, 10, graphs[g].clocks.p, graphs[g].clocks.len);
        len(&nd, number.graphs, m.p, m.len);
    }
    len(&n, number.nd, nd.p, nd.len);
    put(&n, node.p, node.len);
    len(&out, number.nodes, n.p, n.len);
    for (int i = 0; i < n_blobs; i++)
        if (blobs[i].graph < 0)
            trace_info(&out, number.session, &blobs[i], base);
    return out;
}

static void write_file(void)
{
    struct bytes msg = message(0), out = {0};
    static const uint8_t zeros[128];
    /* other bases: the offsets' own length moves the section, so repeat until it settles */
    for (int i = 0; base_kind && i < 4; i++) {
        uint64_t base = runs.len + (base_kind == 2 ? 128 + msg.len : 0);
        msg = message(base);
    }
    uint8_t v = (uint8_t)version;
    put(&out, &v, 1);
    put_le(&out, msg_len_said >= 0 ? (uint64_t)msg_len_said : msg.len, 8);
    put(&out, zeros, 128 - out.len);
    put(&out, msg.p, msg.len);
    put(&out, runs.p, runs.len);
    if (!inline_blobs)
        put(&out, records.p, records.len);
    put(&out, tail.p, tail.len);
    for (int i = 0; i < n_patches; i++)
        if (patches[i].off + patches[i].with.len <= out.len)
            memcpy(out.p + patches[i].off, patches[i].with.p, patches[i].with.len);
    if (cut_at < 0)
        cut_at += (int64_t)out.len;
    if (cut_at >= 0 && (uint64_t)cut_at < out.len)
        out.len = (size_t)cut_at;
    if (fwrite(out.p, 1, out.len, stdout) != out.len)
        exit(1);
}

int main(int argc, char **argv)
{
    static char text[1 << 16];
    FILE *in = argc == 2 && strcmp(argv[1], "-") != 0 ? fopen(argv[1], "r") : stdin;
    if (!in || argc > 2) {
        fprintf(stderr, "usage: mkntff [SCRIPT] >FILE\n");
        return 2;
    }
    while (fgets(text, sizeof text, in)) {
        line_no++;
        text[strcspn(text, "#\n")] = '\0';
        n_words = next_word = 0;
        for (char *w = strtok(text, " \t"); w && n_words < 64; w = strtok(NULL, " \t"))
            words[n_words++] = w;
        if (n_words)
            command();
    }
    close_blob();
    write_file();
    for (struct block *next; blocks; blocks = next) {
        next = blocks->next;
        free(blocks);
    }
    return 0;
}
