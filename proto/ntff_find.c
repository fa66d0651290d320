/* ntff_find - numbers nobody published, found in the data.
 *
 * A field number is accepted only when it is the one number for which a property holds that the
 * format cannot have by chance: every instance parses as the message expected there; offsets and
 * sizes of the trace_infos add up to a section that ends where the file ends; the type a trace_info
 * states is the type its own records have. When no number or more than one passes, the number stays
 * 0 and whatever hangs on it is left out by the caller, who says so. [FORMAT.md, "Finding unknown
 * numbers"] */
#include "proto/ntff_info.h"

#include "proto/notif.h"
#include "proto/wire.h"

#include <stdlib.h>
#include <string.h>

static struct ntff_wire open_msg(struct ntff_slice s)
{
    return ntff_wire_init(s.p, s.len);
}

static struct ntff_slice field_slice(const struct ntff_field *f)
{
    return (struct ntff_slice){(const char *)f->data, (size_t)f->value};
}

static void found(struct ntff_profile *p, enum ntff_number slot, uint32_t number)
{
    p->number[slot] = number;
    p->how[slot] = NTFF_HOW_TEST;
}

/* -- the path to the subgraphs -------------------------------------------------------------------
 */

/* Every field of a subgraph_info has the wire type its number demands [WIRE]; it has traces or
 * instructions. */
static bool like_graph(struct ntff_slice msg)
{
    static const char wire_of[] = "?2002222022222"
                                  "0222";
    struct ntff_wire w = open_msg(msg);
    struct ntff_field f;
    bool telling = false;
    int r;
    while ((r = ntff_wire_next(&w, &f)) > 0) {
        if (f.number < sizeof wire_of - 1 && f.type != wire_of[f.number] - '0')
            return false;
        if (f.number == 4 || f.number == 6) {
            if (!ntff_wire_plausible(f.data, (size_t)f.value))
                return false;
            telling = true;
        }
    }
    return r == 0 && telling;
}

/* Some LEN field of nd_node_info holds subgraphs. Returns its number, 0 if none, UINT32_MAX if
 * several. */
static uint32_t graphs_in(struct ntff_slice nd_node)
{
    bool seen[16] = {false}, bad[16] = {false};
    struct ntff_wire w = open_msg(nd_node);
    struct ntff_field f;
    uint32_t one = 0;
    int r;
    while ((r = ntff_wire_next(&w, &f)) > 0) {
        if (f.number >= 16 || f.type != NTFF_WT_LEN)
            continue;
        seen[f.number] = true;
        bad[f.number] |= !like_graph(field_slice(&f));
    }
    for (uint32_t n = 1; r == 0 && n < 16; n++)
        if (seen[n] && !bad[n])
            one = one ? UINT32_MAX : n;
    return one;
}

/* neff_node_info: six fields of known wire types, and one of the three node kinds. */
static bool like_node(struct ntff_slice msg, bool *telling)
{
    struct ntff_wire w = open_msg(msg);
    struct ntff_field f;
    int r;
    while ((r = ntff_wire_next(&w, &f)) > 0) {
        bool node = f.number == 3 || f.number == 4 || f.number == 6;
        if (f.number == 2 && f.type != NTFF_WT_I64)
            return false;
        if ((node || f.number == 5) && f.type != NTFF_WT_LEN)
            return false;
        if (f.number > 6 || (node && !ntff_wire_plausible(f.data, (size_t)f.value)))
            return false;
        *telling |= node;
    }
    return r == 0;
}

static void find_nodes(struct ntff_profile *p)
{
    bool seen[8] = {false}, bad[8] = {false}, telling[8] = {false};
    struct ntff_wire w = open_msg(p->msg);
    struct ntff_field f;
    while (ntff_wire_next(&w, &f) > 0) {
        if (f.number >= 8)
            continue;
        seen[f.number] = true;
        bad[f.number] |= f.type != NTFF_WT_LEN || !like_node(field_slice(&f), &telling[f.number]);
    }
    uint32_t one = 0;
    for (uint32_t n = 1; n < 8; n++)
        if (seen[n] && !bad[n] && telling[n])
            one = one ? UINT32_MAX : n;
    if (one && one != UINT32_MAX)
        found(p, NTFF_N_NODES, one);
}

static void find_graph_number(struct ntff_profile *p)
{
    struct ntff_wire w = open_msg(p->msg), node;
    struct ntff_field f;
    uint32_t one = 0;
    while (ntff_wire_next(&w, &f) > 0) {
        if (f.number != p->number[NTFF_N_NODES] || f.type != NTFF_WT_LEN)
            continue;
        node = open_msg(field_slice(&f));
        while (ntff_wire_next(&node, &f) > 0) {
            if (f.number != p->number[NTFF_N_NODE_ND] || f.type != NTFF_WT_LEN || f.value == 0)
                continue;
            uint32_t n = graphs_in(field_slice(&f));
            one = one && one != n ? UINT32_MAX : n;
        }
    }
    if (one && one != UINT32_MAX)
        found(p, NTFF_N_GRAPHS, one);
}

void ntff_find_graphs(struct ntff_profile *p)
{
    if (!p->number[NTFF_N_NODES])
        find_nodes(p);
    if (!p->number[NTFF_N_GRAPHS] && p->number[NTFF_N_NODES])
        find_graph_number(p);
}

/* -- trace_info: offset and size ------------------------------------------------------------------
 */

enum { N_COLUMNS = 16 }; /* trace_info has few fields; numbers 1..15 are looked at */

/* Varints of one trace_info by number, absent = 0. False if it is no message of small numbers. */
static bool columns_of(struct ntff_slice msg, uint64_t v[N_COLUMNS])
{
    struct ntff_wire w = open_msg(msg);
    struct ntff_field f;
    int r;
    memset(v, 0, N_COLUMNS * sizeof v[0]);
    while ((r = ntff_wire_next(&w, &f)) > 0) {
        if (f.number >= N_COLUMNS || (f.type != NTFF_WT_VARINT && f.type != NTFF_WT_LEN))
            return false;
        if (f.type == NTFF_WT_VARINT)
            v[f.number] = f.value;
    }
    return r == 0;
}

/* Columns that hold something other than zero in some row. */
static uint32_t columns_used(const struct ntff_slice *rows, size_t n)
{
    uint32_t used = 0;
    uint64_t v[N_COLUMNS];
    for (size_t i = 0; i < n; i++) {
        if (!columns_of(rows[i], v))
            return 0;
        for (uint32_t c = 1; c < N_COLUMNS; c++)
            used |= v[c] ? 1u << c : 0;
    }
    return used;
}

struct piece {
    uint64_t off, len;
};

static int piece_cmp(const void *pa, const void *pb)
{
    const struct piece *a = pa, *b = pb;
    if (a->off != b->off)
        return a->off < b->off ? -1 : 1;
    return a->len < b->len ? -1 : a->len > b->len;
}

/* End of the instruction section, counted from its own start. */
static uint64_t runs_end(const struct ntff_profile *p)
{
    uint64_t end = 0, e;
    for (size_t i = 0; i < p->runs.n; i++) {
        const struct ntff_run *r = &p->runs.v[i];
        if (!r->bytes.len && !__builtin_add_overflow(r->off, r->len, &e) && e > end)
            end = e;
    }
    return end;
}

/* How well [lo, hi) as the extent of all blobs fits the file: the base it counts from, or UNKNOWN.
 */
static int sum_test(const struct ntff_profile *p, uint64_t lo, uint64_t hi)
{
    uint64_t msg_end, size = p->file.len, runs = runs_end(p);
    if (__builtin_add_overflow(p->msg_len, (uint64_t)NTFF_HEADER_BYTES, &msg_end) || msg_end > size)
        return NTFF_BASE_UNKNOWN;
    if (lo == 0 && hi <= size - msg_end && runs == size - msg_end - hi)
        return NTFF_BASE_SECTION;
    if (lo && hi == size - msg_end && lo >= runs)
        return NTFF_BASE_MESSAGE;
    if (hi == size && lo >= msg_end)
        return NTFF_BASE_FILE;
    return NTFF_BASE_UNKNOWN;
}

enum fit { FIT_NONE, FIT_CONTIGUOUS, FIT_EXACT };

/* Could a lone piece be one? What is there of it must look like records; of a cut file that may be
 * nothing. */
static bool piece_plausible(const struct ntff_profile *p, struct piece piece)
{
    uint64_t at = NTFF_HEADER_BYTES + p->msg_len + runs_end(p) + piece.off;
    uint64_t left = at < p->file.len ? p->file.len - at : 0;
    uint64_t n = (piece.len < left ? piece.len : left) / NTFF_NOTIF_BYTES;
    struct ntff_ring_look look;
    if (n == 0)
        return piece.len > left;
    ntff_ring_look((const uint8_t *)p->file.p + at, n < 256 ? n : 256, &look);
    return ntff_ring_of_kind(&look, NTFF_NK_RESERVED) == 0 && look.n_descents <= 1;
}

/* Do columns (off, len) of these rows describe pieces that follow each other without a gap?
 * *covered is how many bytes they take up. */
static enum fit fit_pair(const struct ntff_profile *p, const struct ntff_slice *rows, size_t n,
                         uint32_t off, uint32_t len, struct piece *pieces, uint64_t *covered)
{
    uint64_t v[N_COLUMNS], end = 0;
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        columns_of(rows[i], v);
        if (v[len] % NTFF_NOTIF_BYTES)
            return FIT_NONE;
        if (v[len])
            pieces[m++] = (struct piece){off ? v[off] : 0, v[len]};
    }
    if (m == 0)
        return FIT_NONE;
    qsort(pieces, m, sizeof *pieces, piece_cmp);
    for (size_t i = 0; i < m; i++) {
        if (__builtin_add_overflow(pieces[i].off, pieces[i].len, &end))
            return FIT_NONE;
        bool twin =
            i + 1 < m && pieces[i + 1].off == pieces[i].off && pieces[i + 1].len == pieces[i].len;
        if (i + 1 < m && !twin && pieces[i + 1].off != end)
            return FIT_NONE;
    }
    *covered = end - pieces[0].off;
    if (sum_test(p, pieces[0].off, end))
        return FIT_EXACT;
    /* one piece alone is always contiguous */
    bool several = pieces[0].off != pieces[m - 1].off;
    return several || piece_plausible(p, pieces[0]) ? FIT_CONTIGUOUS : FIT_NONE;
}

/* The one pair of columns that fits best; of equals the one that explains more of the file. */
static enum fit fit_rows(const struct ntff_profile *p, const struct ntff_slice *rows, size_t n,
                         struct piece *pieces, uint32_t *off, uint32_t *len)
{
    uint32_t used = columns_used(rows, n) | 1; /* column 0: an offset that is zero everywhere */
    enum fit best = FIT_NONE;
    uint64_t most = 0, covered = 0;
    bool tie = false;
    for (uint32_t l = 1; l < N_COLUMNS; l++) {
        for (uint32_t o = 0; o < N_COLUMNS; o++) {
            if (!(used >> l & 1) || !(used >> o & 1) || l == o)
                continue;
            enum fit fit = fit_pair(p, rows, n, o, l, pieces, &covered);
            if (fit == FIT_NONE || fit < best || (fit == best && covered < most))
                continue;
            tie = fit == best && covered == most;
            best = fit;
            most = covered;
            *off = o;
            *len = l;
        }
    }
    return tie ? FIT_NONE : best;
}

/* buffer sizes: {1: block 0..2, 2: type 0..5, 3: size}, in all instances [WIRE]. */
static bool like_buffer(struct ntff_slice msg)
{
    uint64_t v[N_COLUMNS];
    if (!columns_of(msg, v) || v[1] > 2 || v[2] > 5 || v[3] < 256)
        return false;
    for (int c = 4; c < N_COLUMNS; c++)
        if (v[c])
            return false;
    return true;
}

/* LEN fields of ntff_info above 12, with what their instances could be. */
struct top_field {
    uint32_t number, n;
    bool not_buffer, not_trace;
};

static size_t top_fields(const struct ntff_profile *p, struct top_field *tops, size_t cap)
{
    struct ntff_wire w = open_msg(p->msg);
    struct ntff_field f;
    uint64_t v[N_COLUMNS];
    size_t n = 0, i;
    while (ntff_wire_next(&w, &f) > 0) {
        if (f.number <= 12 || f.type != NTFF_WT_LEN)
            continue;
        for (i = 0; i < n && tops[i].number != f.number; i++)
            ;
        if (i == cap)
            continue;
        if (i == n)
            tops[n++] = (struct top_field){.number = f.number};
        tops[i].n++;
        tops[i].not_buffer |= !like_buffer(field_slice(&f));
        tops[i].not_trace |= !columns_of(field_slice(&f), v);
    }
    return n;
}

static bool add_session(struct ntff_profile *p, uint32_t number)
{
    struct ntff_wire w = open_msg(p->msg);
    struct ntff_field f;
    while (ntff_wire_next(&w, &f) > 0)
        if (f.number == number && f.type == NTFF_WT_LEN &&
            !ntff_profile_add_trace(p, field_slice(&f), UINT32_MAX))
            return false;
    return true;
}

/* Tries the rows as they are, then with each candidate for session_notifications. Keeps the first
 * set that fits exactly, else one that is at least contiguous. */
static bool search_rows(struct ntff_profile *p, const struct top_field *tops, size_t n_tops,
                        struct piece *pieces)
{
    size_t own = p->traces.n;
    enum fit best = FIT_NONE;
    uint32_t off = 0, len = 0, session = 0, o = 0, l = 0;
    if (own)
        best = fit_rows(p, p->traces.v, own, pieces, &off, &len);
    for (size_t i = 0; i < n_tops && best < FIT_EXACT && !p->number[NTFF_N_SESSION]; i++) {
        if (tops[i].not_trace)
            continue;
        if (!add_session(p, tops[i].number))
            return false;
        enum fit fit = fit_rows(p, p->traces.v, p->traces.n, pieces, &o, &l);
        p->traces.n = p->trace_graph.n = own;
        if (fit > best)
            best = fit, off = o, len = l, session = tops[i].number;
    }
    if (best == FIT_NONE)
        return true;
    found(p, NTFF_N_TRACE_SIZE, len);
    if (off)
        found(p, NTFF_N_TRACE_OFFSET, off);
    if (!session)
        return true;
    found(p, NTFF_N_SESSION, session);
    return add_session(p, session);
}

bool ntff_find_traces(struct ntff_profile *p)
{
    struct top_field tops[32];
    size_t n_tops = top_fields(p, tops, NTFF_ARRAY_LEN(tops)), rows = p->traces.n;
    for (size_t i = 0; i < n_tops; i++) {
        rows += tops[i].n;
        if (!p->number[NTFF_N_BUFFERS] && !tops[i].not_buffer)
            found(p, NTFF_N_BUFFERS, tops[i].number);
    }
    if (p->number[NTFF_N_TRACE_SIZE] || rows == 0)
        return true;
    struct piece *pieces = NULL;
    size_t cap = 0;
    if (!ntff_grow(p->budget, (void **)&pieces, &cap, 0, rows, sizeof *pieces))
        return false;
    bool ok = search_rows(p, tops, n_tops, pieces);
    ntff_grow_free(p->budget, pieces, cap, sizeof *pieces);
    return ok;
}

/* -- sections -------------------------------------------------------------------------------------
 */

/* Share (permille) of sampled records that look right when offsets count from base. */
static unsigned record_test(const struct ntff_profile *p, uint64_t base)
{
    uint64_t good = 0, all = 0;
    size_t step = p->blobs.n / 32 + 1;
    for (size_t i = 0; i < p->blobs.n; i += step) {
        const struct ntff_blob *b = &p->blobs.v[i];
        if (b->bytes.len || b->len < NTFF_NOTIF_BYTES)
            continue;
        if (b->off > p->file.len || base > p->file.len - b->off)
            continue;
        const uint8_t *data = (const uint8_t *)p->file.p + base + b->off;
        uint64_t left = p->file.len - base - b->off, n = (b->len < left ? b->len : left) / 16;
        struct ntff_ring_look look;
        n = n < 64 ? n : 64;
        ntff_ring_look(data, n, &look);
        uint64_t bad = ntff_ring_of_kind(&look, NTFF_NK_RESERVED) + look.n_descents;
        if (b->trace_type <= NTFF_TRACE_THROTTLE && b->trace_type != NTFF_TRACE_EXPLICIT && n &&
            ntff_ring_class(&look) != (int)b->trace_type)
            bad = n;
        all += n;
        good += n - (bad < n ? bad : n);
    }
    return all ? (unsigned)(good * 1000 / all) : 0;
}

static void set_base(struct ntff_profile *p, int base, uint64_t base_off, const char *how)
{
    p->base = (uint8_t)base;
    p->base_off = base_off;
    p->base_how = how;
}

/* No arithmetic fits (a cut file, bytes appended, a run not listed): let the records speak. */
static void choose_base(struct ntff_profile *p, uint64_t msg_end, uint64_t lo, uint64_t hi)
{
    const struct {
        int base;
        uint64_t off;
        bool possible;
    } tries[] = {
        {NTFF_BASE_SECTION, msg_end + runs_end(p), true},
        {NTFF_BASE_MESSAGE, msg_end, lo >= runs_end(p)},
        {NTFF_BASE_FILE, 0, lo >= msg_end + runs_end(p)},
        {NTFF_BASE_SECTION, p->file.len - hi, /* instructions that no run names lie before it */
         hi < p->file.len && p->file.len - hi > msg_end + runs_end(p)},
    };
    unsigned best = 0;
    for (size_t i = 0; i < NTFF_ARRAY_LEN(tries); i++) {
        unsigned score = tries[i].possible ? record_test(p, tries[i].off) : 0;
        if (score > best && score >= 900) {
            best = score;
            set_base(p, tries[i].base, tries[i].off, "record test");
        }
    }
    if (!best)
        set_base(p, NTFF_BASE_SECTION, tries[0].off, "default");
}

/* Bytes between lo and hi that no blob names; blobs are sorted by offset. */
static uint64_t gaps(const struct ntff_profile *p, uint64_t lo)
{
    uint64_t at = lo, sum = 0;
    for (size_t i = 0; i < p->blobs.n; i++) {
        const struct ntff_blob *b = &p->blobs.v[i];
        if (b->bytes.len)
            continue;
        sum += b->off > at ? b->off - at : 0;
        at = b->off + b->len > at ? b->off + b->len : at;
    }
    return sum;
}

void ntff_find_sections(struct ntff_profile *p)
{
    uint64_t msg_end, size = p->file.len, lo = UINT64_MAX, hi = 0, end;
    if (__builtin_add_overflow(p->msg_len, (uint64_t)NTFF_HEADER_BYTES, &msg_end) || msg_end > size)
        return; /* the message itself is cut: there is nothing behind it */
    size_t kept = 0;
    for (size_t i = 0; i < p->blobs.n; i++) {
        struct ntff_blob *b = &p->blobs.v[i];
        if (__builtin_add_overflow(b->off, b->len, &end) || end > UINT64_MAX / 4) {
            ntff_diag_add(p->diag, NTFF_DIAG_BAD_RECORD, 1, p->path, NTFF_NO_OFFSET,
                          "trace_info with an impossible offset or size");
            continue;
        }
        p->blobs.v[kept++] = *b;
        if (b->bytes.len)
            continue;
        lo = b->off < lo ? b->off : lo;
        hi = end > hi ? end : hi;
    }
    p->blobs.n = kept;
    p->runs_off = msg_end;
    p->runs_want = runs_end(p) < UINT64_MAX / 4 ? runs_end(p) : 0;
    p->runs_len = p->runs_want < size - msg_end ? p->runs_want : size - msg_end;
    if (hi == 0) {
        p->left_over = size - msg_end - p->runs_len;
        return;
    }
    switch (sum_test(p, lo, hi)) {
    case NTFF_BASE_SECTION:
        set_base(p, NTFF_BASE_SECTION, size - hi, "sum test");
        break;
    case NTFF_BASE_MESSAGE:
        set_base(p, NTFF_BASE_MESSAGE, msg_end, "sum test");
        break;
    case NTFF_BASE_FILE:
        set_base(p, NTFF_BASE_FILE, 0, "sum test");
        break;
    default:
        choose_base(p, msg_end, lo, hi);
    }
    p->blobs_off = p->base_off + lo;
    p->blobs_want = hi - lo;
    uint64_t left = p->blobs_off < size ? size - p->blobs_off : 0;
    p->blobs_len = p->blobs_want < left ? p->blobs_want : left;
    p->left_over = left - p->blobs_len;
    p->gap_bytes = gaps(p, lo);
}

/* -- trace_info: type, block, engine ---------------------------------------------------------- */

struct kind_row {
    uint64_t v[N_COLUMNS];
    int class;          /* what the records are, -1 = cannot say */
    bool only_sync;     /* all that have an engine are of SP: may be a TopSP */
    bool only_explicit; /* may be a collective's status */
};

static void look_kind(const struct ntff_profile *p, const struct ntff_blob *b, struct kind_row *row)
{
    uint64_t off, len;
    struct ntff_ring_look look;
    row->class = -1;
    row->only_sync = row->only_explicit = true;
    columns_of(b->msg, row->v);
    if (!ntff_blob_place(p, b, &off, &len))
        return;
    len /= NTFF_NOTIF_BYTES;
    ntff_ring_look((const uint8_t *)p->file.p + off, len < 256 ? len : 256, &look);
    row->class = ntff_ring_class(&look);
    row->only_explicit = ntff_ring_of_kind(&look, NTFF_NK_EXPLICIT) == look.n;
    for (unsigned t = 4; t < 4 + 4 * NTFF_SP; t++)
        row->only_sync &= look.of_type[t] == 0;
}

/* Does every row agree with its records, if its type and block are in these columns? Column 0 is
 * zero in all rows. */
static bool kinds_fit(const struct kind_row *rows, size_t n, uint32_t type, uint32_t block)
{
    for (size_t i = 0; i < n; i++) {
        const struct kind_row *r = &rows[i];
        uint64_t t = type ? r->v[type] : 0, b = block ? r->v[block] : 0;
        bool explicit_status = t == NTFF_TRACE_EXPLICIT && r->only_explicit;
        if (!ntff_trace_pair_ok(t, b) || (b == NTFF_BLOCK_TOPSP && !r->only_sync))
            return false;
        if (r->class >= 0 && t != (uint64_t)r->class && !explicit_status)
            return false;
    }
    return true;
}

static bool same_column(const struct kind_row *rows, size_t n, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < n; i++)
        if ((a ? rows[i].v[a] : 0) != (b ? rows[i].v[b] : 0))
            return false;
    return true;
}

static uint32_t only_bit(uint32_t columns)
{
    return columns ? (uint32_t)__builtin_ctz(columns) : 0;
}

/* The assignment of type and block that leaves the fewest columns unexplained: besides them there
 * is an index, probably only one. What several best ones do not agree on stays unknown. */
static void judge_kinds(struct ntff_profile *p, const struct kind_row *rows, size_t n,
                        uint32_t columns)
{
    uint32_t type = 0, block = 0, rest = 0;
    int fewest = INT32_MAX;
    bool type_open = true, block_open = true, rest_open = true;
    for (uint32_t t = 0; t < N_COLUMNS; t++) {
        for (uint32_t b = 0; b < N_COLUMNS; b++) {
            uint32_t left = columns & ~(1u << t | 1u << b);
            int n_left = __builtin_popcount(left);
            if (!((columns | 1) >> t & 1) || !((columns | 1) >> b & 1) || (t && t == b) ||
                n_left > fewest || !kinds_fit(rows, n, t, b))
                continue;
            bool better = n_left < fewest;
            type_open = !better && (type_open || !same_column(rows, n, t, type));
            block_open = !better && (block_open || !same_column(rows, n, b, block));
            rest_open = !better && (rest_open || n_left > 1 ||
                                    !same_column(rows, n, only_bit(left), only_bit(rest)));
            fewest = n_left;
            type = t, block = b, rest = left;
        }
    }
    for (size_t i = 0; i < p->blobs.n;
         i++) { /* a number that is never there is a zero everywhere */
        struct ntff_blob *b = &p->blobs.v[i];
        b->trace_type = type_open ? UINT32_MAX : 0;
        b->block_type = block_open ? UINT32_MAX : 0;
        b->engine_index = rest_open || rest ? UINT32_MAX : 0;
    }
    if (!type_open && type)
        found(p, NTFF_N_TRACE_TYPE, type);
    if (!block_open && block)
        found(p, NTFF_N_TRACE_BLOCK, block);
    if (!rest_open && fewest == 1)
        found(p, NTFF_N_TRACE_ENGINE, only_bit(rest));
}

bool ntff_find_kinds(struct ntff_profile *p)
{
    enum { MAX_ROWS = 1024 };
    size_t n = p->blobs.n < MAX_ROWS ? p->blobs.n : MAX_ROWS, cap = 0;
    uint32_t columns = 0;
    struct kind_row *rows = NULL;
    if (n == 0 || p->number[NTFF_N_TRACE_TYPE] || p->number[NTFF_N_TRACE_BLOCK] ||
        p->number[NTFF_N_TRACE_ENGINE])
        return true;
    if (!ntff_grow(p->budget, (void **)&rows, &cap, 0, n, sizeof *rows))
        return false;
    for (size_t i = 0; i < n; i++) {
        look_kind(p, &p->blobs.v[i * (p->blobs.n / n)], &rows[i]);
        for (uint32_t c = 1; c < N_COLUMNS; c++)
            columns |= rows[i].v[c] ? 1u << c : 0;
    }
    for (uint32_t c = 1; c < N_COLUMNS; c++)
        if (c == p->number[NTFF_N_TRACE_OFFSET] || c == p->number[NTFF_N_TRACE_SIZE])
            columns &= ~(1u << c);
    judge_kinds(p, rows, n, columns);
    ntff_grow_free(p->budget, rows, cap, sizeof *rows);
    for (size_t i = 0; i < p->blobs.n; i++) {
        struct ntff_blob *b = &p->blobs.v[i], fresh;
        ntff_trace_read(p, b->msg, &fresh);
        b->trace_type = p->number[NTFF_N_TRACE_TYPE] ? fresh.trace_type : b->trace_type;
        b->block_type = p->number[NTFF_N_TRACE_BLOCK] ? fresh.block_type : b->block_type;
        b->engine_index = p->number[NTFF_N_TRACE_ENGINE] ? fresh.engine_index : b->engine_index;
    }
    return true;
}
