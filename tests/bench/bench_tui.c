/* bench_tui - what the viewer promises, measured:
 *   bench_tui [EVENTS]           index size and time, the worst frame over random views, keys and
 *                                foldings on a made trace (default 10,000,000 events)
 *   bench_tui --load FILE        time to the first frame as a ratio to loading alone
 *   bench_tui --tty TUI FILE...  bytes sent per scroll step, against a full redraw, on a real
 *                                terminal line (a pty)
 * Time is processor time of this process. Exit status 1: something was missed. */
#include "proto/load.h"
#include "tests/bench/rows.h"
#include "tests/made.h"
#include "tests/random.h"
#include "tui/app.h"
#include "tui/script.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void die(const char *what)
{
    fprintf(stderr, "bench_tui: %s\n", what);
    exit(2);
}

/* -- frames ------------------------------------------------------------------------------------ */

struct worst {
    double frame, sum;
    size_t n;
    char what[80];
};

static void note(struct worst *w, double ms, const char *what, uint64_t span)
{
    w->sum += ms;
    w->n++;
    if (ms <= w->frame)
        return;
    w->frame = ms;
    snprintf(w->what, sizeof w->what, "%s, %" PRIu64 " ns in view", what, span);
}

/* One event handled, one frame drawn, one slice of background work: what happens between two keys.
 */
static void frame(struct tui_app *a, struct tui_screen *s, const struct tui_event *e,
                  struct worst *w, const char *what, uint64_t span)
{
    double t = cpu_ms();
    if (e)
        tui_app_handle(a, e);
    tui_app_draw(a, s);
    tui_app_work(a);
    note(w, cpu_ms() - t, what, span);
}

static void press(struct tui_app *a, struct tui_screen *s, const char *keys, struct worst *w)
{
    for (; *keys; keys++) {
        char what[16] = {'k', 'e', 'y', ' ', *keys, 0};
        struct tui_event e = {.kind = TUI_EVENT_KEY, .key = (uint32_t)(unsigned char)*keys};
        if (*keys == '\n')
            e.key = TUI_KEY_ENTER;
        frame(a, s, &e, w, what, 0);
    }
}

static void random_frames(const struct ntff_trace *t, struct tui_app *a, struct tui_screen *s,
                          int n, struct worst *w, const char *what)
{
    uint64_t r = 42;
    for (int i = 0; i < n; i++) {
        uint64_t whole = t->end_ns - t->begin_ns;
        uint64_t span = (whole >> random_below(&r, 34)) + 1;
        uint64_t from = t->begin_ns + random_below(&r, whole - span + 1);
        tui_app_show(a, from, from + span);
        frame(a, s, NULL, w, what, span);
        for (int k = 0; k < 3; k++) /* the further frames of folded lines */
            frame(a, s, NULL, w, what, span);
    }
}

static void bench_frames(size_t n_events)
{
    struct ntff_error err;
    struct tui_lod l;
    struct tui_screen s = {0};
    struct worst w = {0};
    struct tui_options o = {.title = "bench", .details = made_details};
    struct ntff_trace *t = made_make("bench", n_events, 1);
    double start = cpu_ms();
    if (tui_lod_build(&l, t, NULL, NULL, &err) != NTFF_OK)
        die(err.text);
    printf("== Viewer: made trace of %zu events on %zu tracks, screen 300x100\n", t->n_events,
           t->n_tracks);
    row("index: time", (cpu_ms() - start) / (double)t->n_events * 1e6, "ns/event", -1);
    row("index: size",
        (double)(l.bytes + 4 * (t->n_events + t->n_tracks + 1)) / (double)t->n_events, "B/event",
        12);
    struct tui_app *a = tui_app_new(&l, &o);
    if (!a || !tui_screen_resize(&s, 300, 100))
        die("out of memory");
    tui_app_handle(a, &(struct tui_event){.kind = TUI_EVENT_RESIZE, .w = 300, .h = 100});
    start = cpu_ms();
    tui_app_draw(a, &s);
    row("first frame", cpu_ms() - start, "ms", 16);
    tui_settle(a, &s);
    random_frames(t, a, &s, 300, &w, "random view");
    row("random zooms: worst frame", w.frame, "ms", 16);
    row("random zooms: mean frame", w.sum / (double)w.n, "ms", -1);
    printf("-- worst: %s\n", w.what);
    w = (struct worst){0};
    press(a, &s, "O", &w); /* all folded: every line sums up hundreds of rows */
    random_frames(t, a, &s, 100, &w, "folded");
    press(a, &s, "jO", &w);
    row("all tracks folded: worst frame", w.frame, "ms", 16);
    printf("-- worst: %s\n", w.what);
    w = (struct worst){0};
    tui_app_show(a, t->begin_ns, t->end_ns);
    press(a, &s, "jjjj>>>LLLLLpppp++++----w0sad[]xXgG0mlllllmz0", &w);
    press(a, &s, "/MATMUL_a\n", &w);
    while (tui_app_work(a))
        frame(a, &s, NULL, &w, "searching", 0);
    press(a, &s, "nnnNN", &w);
    press(a, &s, "/no such name\n", &w);
    for (int i = 0; i < 50; i++) /* every value of every event is decoded */
        frame(a, &s, NULL, &w, "searching values", 0);
    press(a, &s, "\x1b", &w);
    row("keys and search: worst frame", w.frame, "ms", 16);
    printf("-- worst: %s\n", w.what);
    w = (struct worst){0};
    tui_app_handle(a, &(struct tui_event){.kind = TUI_EVENT_KEY, .key = TUI_KEY_ESC});
    press(a, &s, "M023", &w);
    start = cpu_ms();
    for (bool more = true; more;) {
        double f = cpu_ms();
        tui_app_draw(a, &s);
        more = tui_app_work(a);
        note(&w, cpu_ms() - f, "statistics", 0);
    }
    row("statistics over everything: worst frame", w.frame, "ms", 16);
    row("statistics over everything: until exact", cpu_ms() - start, "ms", -1);
    tui_app_free(a);
    tui_screen_done(&s);
    tui_lod_done(&l);
    made_free(t);
}

/* -- first frame ------------------------------------------------------------------------------- */

static void bench_load(const char *path)
{
    struct ntff_error err = {0};
    struct ntff_diag diag = {0};
    struct ntff_load_options o = {0};
    struct ntff_trace *t = NULL;
    struct tui_lod l;
    struct tui_screen s = {0};
    double start = cpu_ms();
    if (ntff_load(&path, 1, &o, &t, &diag, &err) != NTFF_OK)
        die(err.text);
    double loaded = cpu_ms() - start;
    if (tui_lod_build(&l, t, NULL, NULL, &err) != NTFF_OK)
        die(err.text);
    struct tui_app *a = tui_app_new(&l, &(struct tui_options){.title = path, .diag = &diag});
    if (!a || !tui_screen_resize(&s, 200, 60))
        die("out of memory");
    tui_app_handle(a, &(struct tui_event){.kind = TUI_EVENT_RESIZE, .w = 200, .h = 60});
    tui_app_draw(a, &s);
    double shown = cpu_ms() - start;
    printf("== Viewer: a file of %zu events\n", t->n_events);
    row("first frame over loading alone", shown / loaded, "", 1.5);
    tui_app_free(a);
    tui_screen_done(&s);
    tui_lod_done(&l);
    ntff_trace_free(t);
}

/* -- bytes on the line ------------------------------------------------------------------------- */

/* Bytes the program sends until it is quiet for 150 ms. */
static size_t drain(int fd)
{
    char buf[65536];
    size_t n = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (poll(&p, 1, 150) > 0) {
        ssize_t k = read(fd, buf, sizeof buf);
        if (k <= 0)
            break;
        n += (size_t)k;
    }
    return n;
}

static size_t send_keys(int fd, const char *keys)
{
    if (write(fd, keys, strlen(keys)) < 0)
        die(strerror(errno));
    return drain(fd);
}

/* Bytes of a step, five times, each beside a full redraw of what it led to. */
static void step_row(int fd, const char *what, const char *keys, double limit)
{
    double step = 0, full = 0;
    char text[80];
    for (int i = 0; i < 5; i++) {
        step += (double)send_keys(fd, keys);
        full += (double)send_keys(fd, "\x0c"); /* ctrl-L */
    }
    snprintf(text, sizeof text, "%s (%.0f B) over full redraw", what, step / 5);
    row(text, step / full, "", limit);
}

static void bench_tty(char **argv)
{
    struct winsize ws = {.ws_col = 120, .ws_row = 40};
    int fd;
    pid_t pid = forkpty(&fd, NULL, NULL, &ws);
    if (pid < 0)
        die(strerror(errno));
    if (pid == 0) {
        setenv("TERM", "xterm-256color", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        execv(argv[0], argv);
        _exit(127);
    }
    usleep(300000);
    for (int i = 0; i < 40 && drain(fd) == 0; i++)
        ;
    for (int i = 0; i < 6; i++)
        send_keys(fd, "+"); /* somewhere inside */
    printf("== Viewer: bytes on the line, 120x40\n");
    row("full redraw", (double)send_keys(fd, "\x0c"), "B", -1);
    step_row(fd, "cursor one column", "l", 0.25);
    step_row(fd, "cursor one line", "j", 0.15);
    step_row(fd, "pan by an eighth", "d", 1.1); /* every column changes */
    step_row(fd, "zoom in", "+", 1.1);
    step_row(fd, "scroll the tracks by a page", "\033[6~", 1);
    if (write(fd, "q", 1) < 0)
        kill(pid, SIGTERM);
    drain(fd);
    waitpid(pid, NULL, 0);
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--load") == 0)
        bench_load(argv[2]);
    else if (argc >= 4 && strcmp(argv[1], "--tty") == 0)
        bench_tty(argv + 2);
    else if (argc <= 2)
        bench_frames(argc == 2 ? strtoul(argv[1], NULL, 10) : 10000000);
    else
        die("usage: bench_tui [EVENTS] | --load FILE | --tty TUI FILE...");
    return missed;
}
