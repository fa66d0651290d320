/* play - replays a key script on a made trace: `play RECIPE[:N[:SEED]] SCRIPT`, output on standard
 * out. With a script, ntff-tui does the same on files; this needs no file and no loader. */
#include "tests/made.h"
#include "tui/export.h"
#include "tui/print.h"
#include "tui/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(void *user, const char *p, size_t len)
{
    (void)user;
    fwrite(p, 1, len, stdout);
}

static char *read_all(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    char *p = malloc(1 << 20);
    *len = f && p ? fread(p, 1, 1 << 20, f) : 0;
    if (!f || !p) {
        perror(path);
        exit(2);
    }
    fclose(f);
    return p;
}

static struct ntff_trace *make(char *spec)
{
    char *n = strchr(spec, ':'), *seed = n ? strchr(n + 1, ':') : NULL;
    if (n)
        *n++ = 0;
    if (seed)
        *seed++ = 0;
    return made_make(spec, n ? strtoul(n, NULL, 10) : 1000, seed ? strtoull(seed, NULL, 10) : 1);
}

int main(int argc, char **argv)
{
    struct ntff_error err = {0};
    struct tui_lod lod;
    struct tui_screen s = {0};
    struct ntff_diag diag = {0};
    struct tui_host host = {.put = put};
    size_t len;
    if (argc != 4) {
        fputs("usage: play --|ascii RECIPE[:N[:SEED]] SCRIPT\n", stderr);
        return 2;
    }
    struct ntff_trace *t = make(argv[2]);
    char *text = read_all(argv[3], &len);
    if (!t || tui_lod_build(&lod, t, NULL, NULL, &err) != NTFF_OK) {
        fprintf(stderr, "play: %s\n", t ? err.text : "no such recipe");
        return 2;
    }
    ntff_diag_add(&diag, NTFF_DIAG_UNMATCHED_START, 1, "session/ntrace.pb", 4711, NULL);
    ntff_diag_add(&diag, NTFF_DIAG_QUEUE_OVERFLOW, 1, "session/core0.ntff", 65536, NULL);
    bool ascii = strcmp(argv[1], "ascii") == 0;
    struct tui_options o = {
        .title = "session", .diag = &diag, .details = made_details, .ascii = ascii};
    struct tui_app *a = tui_app_new(&lod, &o);
    enum ntff_status st = NTFF_NOMEM;
    if (a && tui_screen_resize(&s, 80, 24))
        st = tui_script_run(a, &s, text, len, &host, &err);
    if (st != NTFF_OK)
        fprintf(stderr, "play: %s\n", err.text);
    tui_app_free(a);
    tui_screen_done(&s);
    tui_lod_done(&lod);
    made_free(t);
    free(text);
    return st == NTFF_OK ? 0 : 1;
}
