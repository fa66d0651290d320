/* The viewer driven by keys: any keys, any size, on traces of every shape. The first bytes pick
 * trace and size; then the rest is either a script as it stands, or a byte for each key. Whatever
 * is drawn is valid UTF-8 without control characters. */
#include "tests/fuzz/fuzz.h"

#include "tests/made.h"
#include "tui/keymap.h"
#include "tui/print.h"
#include "tui/script.h"

#include <stdlib.h>
#include <string.h>

static void check_text(void *user, const char *p, size_t len)
{
    (void)user;
    FUZZ_OK(ntff_utf8_ok(p, len));
    for (size_t i = 0; i < len; i++)
        FUZZ_OK(p[i] == '\n' || ((uint8_t)p[i] >= 0x20 && (uint8_t)p[i] != 0x7f));
}

/* Traces and their indices are made once. */
static struct tui_lod *trace(unsigned which)
{
    static const struct {
        const char *recipe;
        size_t n;
        uint64_t seed;
    } recipes[] = {{"tour", 0, 0},    {"hostile", 0, 0},  {"deep", 0, 0},    {"years", 0, 0},
                   {"edge", 0, 0},    {"empty", 0, 0},    {"samples", 0, 0}, {"bench", 400, 1},
                   {"random", 40, 1}, {"random", 600, 2}, {"random", 3, 3}};
    static struct tui_lod lods[NTFF_ARRAY_LEN(recipes)];
    static bool made[NTFF_ARRAY_LEN(recipes)];
    which %= NTFF_ARRAY_LEN(recipes);
    if (!made[which]) {
        struct ntff_error err;
        struct ntff_trace *t =
            made_make(recipes[which].recipe, recipes[which].n, recipes[which].seed);
        FUZZ_OK(t != NULL);
        FUZZ_OK(tui_lod_build(&lods[which], t, NULL, NULL, &err) == NTFF_OK);
        made[which] = true;
    }
    return &lods[which];
}

/* -- a byte for each key --------------------------------------------------------------------------
 */

enum { TYPED = 0x21, FIRST_NAMED = 0x80 };

static void put(struct ntff_buf *b, const char *fmt, unsigned x, unsigned y)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    ntff_buf_printf(b, fmt, x, y);
#pragma GCC diagnostic pop
}

/* Printable bytes are themselves; others are the keys of the table, mouse and commands. */
static void to_script(struct ntff_buf *b, const uint8_t *p, size_t n)
{
    static const char *const others[] = {"size %ux%u\n",
                                         "mouse press %u %u\n",
                                         "mouse drag %u %u\n",
                                         "mouse release %u %u\n",
                                         "mouse double %u %u\n",
                                         "mouse wheel-up %u %u ctrl\n",
                                         "mouse wheel-down %u %u\n",
                                         "mouse press %u %u shift\n",
                                         "dump\n",
                                         "hasty on\n",
                                         "hasty off\n"};
    size_t n_bindings;
    const struct tui_binding *bindings = tui_bindings(&n_bindings);
    for (size_t i = 0; i < n; i++) {
        if (p[i] >= TYPED && p[i] < 0x7f) {
            ntff_buf_printf(b, "type %c\n", p[i]);
        } else if (p[i] >= FIRST_NAMED && p[i] - FIRST_NAMED < (int)n_bindings) {
            const char *keys = bindings[p[i] - FIRST_NAMED].keys;
            ntff_buf_printf(b, "key %.*s\n", (int)strcspn(keys, " "), keys);
        } else if (n - i > 2) {
            const char *what = others[p[i] % NTFF_ARRAY_LEN(others)];
            put(b, what, p[i + 1] + (what[0] == 's'), p[i + 2] / 2 + (what[0] == 's'));
            i += 2;
        }
    }
    ntff_buf_printf(b, "hasty off\ndump\n");
}

static void run(struct tui_lod *lod, const uint8_t *head, const char *text, size_t len)
{
    struct ntff_diag diag = {0};
    struct ntff_error err = {0};
    struct tui_screen s = {0};
    struct tui_host host = {.put = check_text};
    ntff_diag_add(&diag, NTFF_DIAG_UNMATCHED_START, 1, "a\x1b[31m", 4711, NULL);
    struct tui_options o = {.title = "fu\x1bzz",
                            .diag = head[1] & 1 ? &diag : NULL,
                            .details = made_details,
                            .ascii = head[1] >> 1 & 1};
    struct tui_app *a = tui_app_new(lod, &o);
    FUZZ_OK(a != NULL && tui_screen_resize(&s, 1 + head[2] % 150, 1 + head[3] % 50));
    enum ntff_status st = tui_script_run(a, &s, text, len, &host, &err);
    FUZZ_OK(st == NTFF_OK || (st == NTFF_INVALID && err.text[0] != '\0'));
    tui_app_free(a);
    tui_screen_done(&s);
}

/* A page of print with this as the pattern. */
static void print(struct tui_lod *lod, const uint8_t *head, const char *text, size_t len)
{
    char pattern[200];
    struct ntff_error err = {0};
    struct tui_host host = {.put = check_text};
    if (len >= sizeof pattern || memchr(text, 0, len) != NULL)
        return;
    memcpy(pattern, text, len);
    pattern[len] = '\0';
    uint64_t span = lod->t->end_ns - lod->t->begin_ns;
    struct tui_print p = {.title = "fuzz",
                          .width = 40 + head[2],
                          .from = lod->t->begin_ns + span / 256 * head[3],
                          .to = lod->t->end_ns,
                          .track = len > 0 ? pattern : NULL,
                          .ascii = head[1] >> 1 & 1};
    enum ntff_status st = tui_print(lod, &p, &host, &err);
    FUZZ_OK(st == NTFF_OK || err.text[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4 || size > (data[1] & 12 ? 600 : 150))
        return 0;
    struct tui_lod *lod = trace(data[0]);
    const char *text = (const char *)data + 4;
    if (data[1] & 4) {
        run(lod, data, text, size - 4);
    } else if (data[1] & 8) {
        print(lod, data, text, size - 4);
    } else {
        struct ntff_buf b = {0};
        to_script(&b, data + 4, size - 4);
        FUZZ_OK(!b.failed);
        run(lod, data, (const char *)b.p, b.len);
        ntff_buf_free(&b);
    }
    return 0;
}
