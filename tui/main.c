/* main - ntff-tui: arguments, loading with progress, then one of three: the terminal, a script, or
 * a printed page. */
#include "app.h"
#include "args.h"
#include "export.h"
#include "print.h"
#include "script.h"
#include "term.h"
#include "timefmt.h"

#include "proto/foreign.h"
#include "proto/guard.h"
#include "proto/input.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_GOOD, EXIT_NOTHING, EXIT_MISTAKE, EXIT_LOSSES };

struct program {
    struct tui_args args;
    struct ntff_trace *t;
    struct tui_lod lod;
    struct ntff_diag diag;
    struct tui_screen screen;
    /* loading: written by its thread */
    struct ntff_error err;
    enum ntff_status loaded;
    _Atomic(const char *) what;
    atomic_int permille, cancel;
    atomic_bool done;
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* One line on standard error, harmless whatever it holds. */
static void complain(const char *text)
{
    struct tui_text t = tui_text_from(text, strlen(text));
    char utf8[4] = "";
    int w;
    fputs("ntff-tui: ", stderr);
    for (uint32_t c; (c = tui_text_next(&t, &w)) != TUI_TEXT_END;) {
        int n = tui_utf8_put(utf8, c);
        fwrite(utf8, 1, (size_t)n, stderr);
    }
    fputc('\n', stderr);
}

/* -- loading -------------------------------------------------------------------------------- */

static int on_progress(void *user, const char *what, int permille)
{
    struct program *p = user;
    atomic_store(&p->what, what);
    atomic_store(&p->permille, permille);
    return atomic_load(&p->cancel);
}

static enum ntff_status load(struct program *p)
{
    struct ntff_load_options *o = &p->args.load.options;
    o->progress = on_progress;
    o->progress_user = p;
    enum ntff_status st = ntff_load_setup_finish(&p->args.load, getenv("NTFF_SCHEMA"), &p->err);
    if (st == NTFF_OK)
        st = ntff_load(p->args.inputs, p->args.n_inputs, o, &p->t, &p->diag, &p->err);
    if (st == NTFF_OK && p->t->n_events + p->t->n_samples == 0)
        st = NTFF_NOTHING;
    if (st == NTFF_OK)
        st = tui_lod_build(&p->lod, p->t, on_progress, p, &p->err);
    return st;
}

static void *load_thread(void *user)
{
    struct program *p = user;
    p->loaded = load(p);
    atomic_store(&p->done, true);
    return NULL;
}

static void draw_progress(struct program *p)
{
    struct tui_screen *s = &p->screen;
    int w = s->w > 44 ? 40 : s->w - 4, x = (s->w - w) / 2, y = s->h / 2;
    int permille = atomic_load(&p->permille);
    const char *what = atomic_load(&p->what);
    tui_screen_clear(s);
    s->ascii = tui_term_ascii();
    tui_putf(s, x, y - 1, w - 6, TUI_STYLE_BOLD, "%.60s", what ? what : "opening");
    tui_putf(s, x + w - 5, y - 1, 5, TUI_STYLE_NORMAL, "%3d %%", permille / 10);
    for (int i = 0; i < w; i++) {
        bool done = i * 1000 < permille * w;
        tui_put(s, x + i, y, done ? TUI_STYLE_METER : TUI_STYLE_GRID,
                s->ascii ? (done ? '#' : '.')
                : done   ? 0x2588
                         : 0x2591);
    }
    tui_put_str(s, x, y + 1, w, TUI_STYLE_DIM, "q or Esc cancels");
    tui_term_show(s);
}

/* True if the event means to stop loading. */
static bool cancels(const struct tui_event *e)
{
    return e->kind == TUI_EVENT_QUIT ||
           (e->kind == TUI_EVENT_KEY &&
            (e->key == 'q' || e->key == TUI_KEY_ESC || e->key == (uint32_t)TUI_CTRL('c')));
}

#define FIRST_MS 150 /* short work shows nothing */
#define PROGRESS_MS 50
#define PATIENCE_MS 500 /* for the loader to notice that it is cancelled */

static int quit_code(void)
{
    return 128 + (tui_term_signal() ? tui_term_signal() : SIGINT);
}

/* Loads beside the terminal, so that keys and signals are heard even while a read hangs. */
static enum ntff_status load_on_terminal(struct program *p)
{
    pthread_t thread;
    int64_t show = now_ms() + FIRST_MS, give_up = INT64_MAX;
    if (pthread_create(&thread, NULL, load_thread, p) != 0)
        return load(p);
    while (!atomic_load(&p->done)) {
        struct tui_event e = tui_term_wait(10);
        if (e.kind == TUI_EVENT_RESIZE && !tui_term_fit(&p->screen))
            e.kind = TUI_EVENT_QUIT;
        if (cancels(&e) && give_up == INT64_MAX) {
            atomic_store(&p->cancel, 1);
            give_up = now_ms() + PATIENCE_MS;
        }
        if (now_ms() >= give_up) { /* stuck in a read: leave it there */
            tui_term_close();
            complain("cancelled");
            _exit(quit_code());
        }
        if (now_ms() >= show) {
            draw_progress(p);
            show = now_ms() + PROGRESS_MS;
        }
    }
    pthread_join(thread, NULL);
    return p->loaded;
}

static bool refuse(struct ntff_error *err, enum ntff_status status, const char *fmt, ...)
    NTFF_PRINTF(3, 4);
static bool refuse(struct ntff_error *err, enum ntff_status status, const char *fmt, ...)
{
    char text[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    (void)!ntff_fail(err, status, NTFF_NO_OFFSET, "%s", text);
    return false;
}

/* What there is to ask for, behind what was wrong. */
static bool refuse_reach(struct ntff_error *err, enum ntff_status status, const char *wrong,
                         const struct tui_time_base *base)
{
    char length[TUI_TIME_CAP];
    tui_fmt_dur(length, base->end - base->begin, "us");
    return refuse(err, status,
                  "%s; the trace reaches from %" PRIu64 " to %" PRIu64
                  " (0 to %s); times are such nanoseconds, or count from the begin with a unit: "
                  "20ms, 1.5s",
                  wrong, base->begin, base->end, length);
}

/* What the user should know of --from and --to besides: a line each, or nothing. */
struct remarks {
    char of[2][160];
};

/* One of --from and --to, unless it is NULL. remark: see struct remarks. */
static bool moment_of(const char *option, const char *text, const struct tui_time_base *base,
                      uint64_t *out, char remark[160], struct ntff_error *err)
{
    char wrong[120];
    if (!text)
        return true;
    if (!tui_parse_moment(text, base, out))
        return refuse(err, NTFF_INVALID, "%s %.80s: not a time; try 1.5s, 20ms, 50%%", option,
                      text);
    bool bare = *out > 0 && text[strspn(text, "0123456789")] == '\0';
    if (*out >= base->begin && bare && *out < 1000) /* device time begins near 0: may be meant */
        snprintf(remark, 160,
                 "%s %" PRIu64 ": taken as %" PRIu64 " ns; did you mean %" PRIu64 "s or %" PRIu64
                 "ms?",
                 option, *out, *out, *out, *out);
    if (*out >= base->begin)
        return true;
    snprintf(wrong, sizeof wrong, "%s %.80s: before the trace begins", option, text);
    if (*out > 0 && *out < NTFF_NS_PER_SEC) /* "5" for "5s" */
        return refuse(err, NTFF_INVALID, "%s; did you mean %.20ss or %.20sms?", wrong, text, text);
    return refuse_reach(err, NTFF_INVALID, wrong, base);
}

/* --from and --to as absolute times within the trace; equal when neither is given. */
static bool range_of(const struct program *p, uint64_t *from, uint64_t *to, struct remarks *said,
                     struct ntff_error *err)
{
    struct tui_time_base base = {p->t->begin_ns, p->t->end_ns, p->t->begin_ns};
    *from = p->t->begin_ns;
    *to = p->t->end_ns;
    *said = (struct remarks){{""}};
    if (!moment_of("--from", p->args.from, &base, from, said->of[0], err) ||
        !moment_of("--to", p->args.to, &base, to, said->of[1], err))
        return false;
    if (p->args.from && p->args.to && *to <= *from)
        return refuse(err, NTFF_INVALID, "--from is not before --to");
    if ((p->args.from && *from >= base.end) || (p->args.to && *to <= base.begin))
        return refuse_reach(err, NTFF_NOTHING, "nothing between --from and --to", &base);
    *to = *to > base.end ? base.end : *to;
    if (!p->args.from && !p->args.to)
        *to = *from;
    return true;
}

/* -- without a terminal --------------------------------------------------------------------- */

static void put_out(void *user, const char *text, size_t len)
{
    (void)user;
    fwrite(text, 1, len, stdout);
}

static void export_now(void *user, struct tui_app *a)
{
    struct program *p = user;
    const struct tui_inputs in = {p->args.inputs, p->args.n_inputs};
    tui_export_for(a, p->t, &p->diag, &in, NULL);
}

static bool ascii_wanted(const struct tui_args *a)
{
    return a->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

static const char *title_of(const struct program *p)
{
    return p->args.n_inputs ? p->args.inputs[0] : "";
}

/* One finding, if there is any of its kind. */
static void say_finding(const struct program *p, enum ntff_diag_kind kind)
{
    char line[1024];
    if (p->diag.of[kind].count == 0)
        return;
    ntff_diag_line(&p->diag, kind, line, sizeof line);
    complain(line);
}

/* Prints findings of grade LOSS, and filters that match nothing; the exit code for them. */
static int say_losses(const struct program *p)
{
    for (int i = 0; i < NTFF_DIAG_COUNT; i++)
        if (ntff_diag_grade((enum ntff_diag_kind)i) == NTFF_LOSS || i == NTFF_DIAG_FILTERED_ALL ||
            i == NTFF_DIAG_SAME_BYTES)
            say_finding(p, (enum ntff_diag_kind)i);
    return ntff_diag_lossy(&p->diag) ? EXIT_LOSSES : EXIT_GOOD;
}

static int out_width(const struct tui_args *a)
{
    struct winsize ws;
    const char *wish = getenv("COLUMNS");
    int columns = wish ? atoi(wish) : 0;
    if (a->width)
        return a->width;
    if (columns >= 40 && columns <= TUI_MAX_COLS)
        return columns;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col >= 40)
        return ws.ws_col;
    return 100;
}

static int finish_output(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    char text[160];
    snprintf(text, sizeof text, "standard output: cannot write: %s", strerror(errno));
    complain(text);
    return EXIT_NOTHING;
}

static int run_print(struct program *p)
{
    struct tui_print o = {title_of(p), out_width(&p->args), 0,
                          0,           p->args.track,       ascii_wanted(&p->args)};
    struct tui_host host = {.put = put_out};
    struct ntff_error err = {0};
    struct remarks said;
    bool good = range_of(p, &o.from, &o.to, &said, &err);
    for (int i = 0; i < 2; i++)
        if (said.of[i][0])
            complain(said.of[i]);
    if (!good) {
        complain(err.text);
        return err.status == NTFF_NOTHING ? EXIT_NOTHING : EXIT_MISTAKE;
    }
    enum ntff_status st = tui_print(&p->lod, &o, &host, &err);
    if (st != NTFF_OK) {
        complain(err.text);
        return st == NTFF_INVALID ? EXIT_MISTAKE : EXIT_NOTHING;
    }
    ntff_load_recheck(p->t, &p->diag);
    return finish_output(say_losses(p));
}

static struct tui_app *new_app(struct program *p, bool ascii, struct ntff_error *err)
{
    struct tui_options o = {.title = title_of(p), .diag = &p->diag, .ascii = ascii};
    struct tui_app *a = tui_app_new(&p->lod, &o);
    uint64_t from, to;
    struct remarks said;
    char why[160] = "";
    if (!a) {
        (void)!ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for the viewer");
        return NULL;
    }
    bool good = range_of(p, &from, &to, &said, err);
    if (good && to > from)
        tui_app_show(a, from, to);
    if (good && p->args.track && !tui_app_filter(a, p->args.track, why, sizeof why)) {
        (void)!ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "--track %.80s: %s", p->args.track,
                         why);
        good = false;
    }
    for (int i = 0; i < 2 && good; i++)
        if (said.of[i][0])
            tui_app_say(a, true, "%s", said.of[i]);
    if (good && p->args.track && tui_app_lines(a) == 0)
        tui_app_say(a, true, "--track %.80s: no track matches; f and Enter shows all",
                    p->args.track);
    if (good)
        return a;
    tui_app_free(a);
    return NULL;
}

static int run_script(struct program *p)
{
    struct ntff_error err = {0};
    struct ntff_input in;
    struct tui_screen s = {0};
    struct tui_host host = {p, put_out, export_now};
    enum ntff_status st = ntff_input_open(&in, p->args.script, NULL, &err);
    if (st == NTFF_OK && (st = ntff_input_map(&in, &err)) != NTFF_OK)
        ntff_input_close(&in);
    if (st != NTFF_OK) {
        complain(err.text);
        return EXIT_NOTHING;
    }
    struct tui_app *a = new_app(p, p->args.ascii, &err);
    if (!a)
        st = err.status;
    else if (!tui_screen_resize(&s, 80, 24))
        st = ntff_fail(&err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for the screen");
    else
        st = tui_script_run(a, &s, (const char *)in.data, (size_t)in.len, &host, &err);
    if (st != NTFF_OK)
        complain(err.text);
    ntff_input_close(&in);
    tui_screen_done(&s);
    tui_app_free(a);
    ntff_load_recheck(p->t, &p->diag);
    return finish_output(st == NTFF_OK        ? say_losses(p)
                         : st == NTFF_INVALID ? EXIT_MISTAKE
                                              : EXIT_NOTHING);
}

/* -- with a terminal ------------------------------------------------------------------------ */

struct exporting {
    struct program *p;
    struct tui_app *a;
    int64_t next_ms; /* when to show how far it is */
};

/* Shows how far an export is, and listens for the wish to stop it. */
static int on_export(void *user, const char *what, int permille)
{
    struct exporting *x = user;
    if (now_ms() < x->next_ms)
        return 0;
    x->next_ms = now_ms() + PROGRESS_MS;
    tui_app_say(x->a, false, "%s: %d %%, q or Esc cancels", what, permille / 10);
    tui_app_draw(x->a, &x->p->screen);
    tui_term_show(&x->p->screen);
    struct tui_event e = tui_term_wait(0);
    if (e.kind == TUI_EVENT_RESIZE) {
        if (!tui_term_fit(&x->p->screen))
            return 1;
        e.w = x->p->screen.w;
        e.h = x->p->screen.h;
        tui_app_handle(x->a, &e);
    }
    return cancels(&e);
}

/* What the viewer asks for; true: it is over. */
static bool serve(struct program *p, struct tui_app *a, unsigned flags, int *code)
{
    if (flags & TUI_EXPORT) {
        struct exporting x = {p, a, 0};
        const struct tui_inputs in = {p->args.inputs, p->args.n_inputs};
        tui_export_for(a, p->t, &p->diag, &in, &(struct tui_export_watch){on_export, &x});
        if (tui_term_signal()) {
            *code = 128 + tui_term_signal();
            return true;
        }
    }
    if (flags & TUI_SUSPEND)
        tui_term_suspend();
    if (flags & TUI_REPAINT)
        tui_term_repaint();
    if (flags & TUI_MOUSE)
        tui_term_mouse(tui_app_mouse(a));
    if (flags & TUI_BELL)
        tui_term_bell();
    if (flags & TUI_INTERRUPTED)
        *code = 130;
    return flags & TUI_QUIT;
}

#define WORK_MS 8 /* of background work between two frames, while no key comes */

/* Background work until it is done, time for a frame, or something happens; *e is that. True: draw
 * before waiting. */
static bool work_a_while(struct tui_app *a, struct tui_event *e)
{
    int64_t until = now_ms() + WORK_MS;
    unsigned work;
    bool any = false;
    do {
        work = tui_app_work(a);
        any = any || work;
        *e = work ? tui_term_wait(0) : (struct tui_event){.kind = TUI_EVENT_NONE};
    } while (e->kind == TUI_EVENT_NONE && (work & TUI_MORE) && !(work & TUI_STALE) &&
             now_ms() < until);
    return any;
}

static int loop(struct program *p, struct tui_app *a)
{
    struct tui_screen *s = &p->screen;
    struct tui_event e = {.kind = TUI_EVENT_RESIZE, .w = s->w, .h = s->h};
    bool quit = false;
    int code = EXIT_GOOD;
    tui_app_handle(a, &e);
    while (!quit) {
        tui_app_draw(a, s);
        tui_term_show(s);
        if (!work_a_while(a, &e))
            e = tui_term_wait(-1);
        /* everything that is waiting already, before the next frame */
        for (int n = 0; e.kind != TUI_EVENT_NONE && n < 64; n++) {
            if (e.kind == TUI_EVENT_RESIZE && !tui_term_fit(s))
                return EXIT_NOTHING;
            e.w = s->w;
            e.h = s->h;
            quit = serve(p, a, tui_app_handle(a, &e), &code);
            if (e.kind == TUI_EVENT_QUIT && tui_term_signal())
                code = 128 + tui_term_signal();
            if (quit)
                break;
            e = tui_term_wait(0);
        }
    }
    return code;
}

static int run_terminal(struct program *p)
{
    struct ntff_error err = {0};
    struct tui_app *a = new_app(p, tui_term_ascii(), &err);
    if (!a) {
        tui_term_close();
        complain(err.text);
        return EXIT_MISTAKE;
    }
    int code = loop(p, a);
    tui_app_free(a);
    tui_term_close();
    return code;
}

/* -- main ----------------------------------------------------------------------------------- */

/* What went wrong while loading; its exit code. */
static int not_loaded(const struct program *p, enum ntff_status st)
{
    bool known = false;
    tui_term_close();
    for (int i = 0; st == NTFF_NOTHING && p->t && i < NTFF_DIAG_COUNT; i++)
        say_finding(p, (enum ntff_diag_kind)i); /* most likely one of them tells why */
    for (size_t i = 0; st == NTFF_NOTHING && i < p->args.n_inputs; i++) {
        const char *what = ntff_foreign(p->args.inputs[i]);
        char text[600];
        snprintf(text, sizeof text, "%.400s: %s", p->args.inputs[i], what ? what : "");
        if (what)
            complain(text);
        known |= what != NULL;
    }
    if (!known)
        complain(p->err.text[0] ? p->err.text : ntff_status_text(st));
    if (st == NTFF_CANCELLED)
        return quit_code();
    return st == NTFF_INVALID ? EXIT_MISTAKE : EXIT_NOTHING;
}

static int run(struct program *p)
{
    struct tui_term_options o = {p->args.colors, p->args.no_mouse, p->args.ascii};
    enum ntff_status st;
    if (p->args.print || p->args.script) {
        ntff_guard_outputs(); /* a terminal's loop looks for signals itself */
        st = load(p);
        if (st != NTFF_OK)
            return not_loaded(p, st);
        return p->args.print ? run_print(p) : run_script(p);
    }
    if (tui_term_open(&o, &p->err) != NTFF_OK || !tui_term_fit(&p->screen)) {
        tui_term_close();
        complain(p->err.text);
        return EXIT_MISTAKE;
    }
    st = load_on_terminal(p);
    return st == NTFF_OK ? run_terminal(p) : not_loaded(p, st);
}

int main(int argc, char **argv)
{
    static struct program p; /* zeroed; the diag alone is large */
    struct ntff_error err = {0};
    setlocale(LC_ALL, "");
    ntff_guard_inputs();
    int code = tui_args_parse(&p.args, argc, argv, &err);
    if (code) {
        complain(err.text);
    } else if (p.args.help) {
        tui_usage(stdout);
        code = finish_output(EXIT_GOOD);
    } else if (p.args.version) {
        printf("ntff-tui %s\n", NTFF_VERSION);
        code = finish_output(EXIT_GOOD);
    } else {
        code = run(&p);
    }
    tui_lod_done(&p.lod);
    ntff_trace_free(p.t);
    ntff_load_setup_done(&p.args.load);
    tui_screen_done(&p.screen);
    return code;
}
