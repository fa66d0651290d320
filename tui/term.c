/* term - see term.h.
 *
 * Signals write a byte into a pipe that the wait polls beside the keyboard: no work is done in a
 * handler. The keyboard is raw, so ctrl-C and ctrl-Z are keys; the signals of that name come from
 * other processes only. Output goes through curses, which sends what changed. */
#include "term.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define DOUBLE_CLICK_MS 400

static struct {
    bool open, ascii, mouse, mouse_is_sgr, fresh;
    SCREEN *screen;
    FILE *keyboard; /* not standard input, when that is not a terminal */
    int key_fd;
    int pipe[2];
    int last_signal;
    enum tui_colors colors;
    int n_colors;
    struct tui_cell *shown; /* what curses has been told */
    int w, h;
    /* double click */
    int64_t press_ms;
    int press_x, press_y;
    bool down;
} term = {.pipe = {-1, -1}};

/* -- signals -------------------------------------------------------------------------------- */

static const int caught[] = {SIGTERM, SIGHUP, SIGINT, SIGTSTP, SIGCONT, SIGWINCH};

static void on_signal(int sig)
{
    int saved = errno;
    unsigned char c = (unsigned char)sig;
    (void)!write(term.pipe[1], &c, 1);
    errno = saved;
}

static void catch_signals(bool on)
{
    struct sigaction sa = {.sa_handler = on ? on_signal : SIG_DFL, .sa_flags = SA_RESTART};
    sigemptyset(&sa.sa_mask);
    for (size_t i = 0; i < NTFF_ARRAY_LEN(caught); i++)
        sigaction(caught[i], &sa, NULL);
}

/* -- colours -------------------------------------------------------------------------------- */

static short pair_of[TUI_STYLE_COUNT];

static int limit_color(int c, bool fg)
{
    if (c < 0 || c < term.n_colors)
        return c;
    return c < 16 ? c - 8 : fg ? 7 : 0;
}

static void make_pairs(void)
{
    short n = 0;
    for (int i = 0; i < TUI_STYLE_COUNT; i++) {
        struct tui_look a = tui_style_look(i, term.colors);
        pair_of[i] = 0;
        if (a.fg < 0 && a.bg < 0)
            continue;
        for (int k = 0; k < i && !pair_of[i]; k++) { /* one for each pair of colours */
            struct tui_look b = tui_style_look(k, term.colors);
            if (b.fg == a.fg && b.bg == a.bg)
                pair_of[i] = pair_of[k];
        }
        if (!pair_of[i] && n + 1 < COLOR_PAIRS) {
            init_pair(++n, (short)limit_color(a.fg, true), (short)limit_color(a.bg, false));
            pair_of[i] = n;
        }
    }
}

static void init_colors(int want)
{
    const char *no = getenv("NO_COLOR");
    term.colors = TUI_COLORS_MONO;
    if (want == TUI_COLORS_MONO || (want < 0 && no && *no) || !has_colors() || start_color() == ERR)
        return;
    use_default_colors();
    term.n_colors = COLORS;
    term.colors = COLORS >= 256 ? TUI_COLORS_256 : TUI_COLORS_16;
    if (want == TUI_COLORS_16)
        term.colors = TUI_COLORS_16;
    make_pairs();
}

static attr_t attrs_of(int style, short *pair)
{
    struct tui_look l = tui_style_look(style, term.colors);
    attr_t a = 0;
    *pair = term.colors == TUI_COLORS_MONO ? 0 : pair_of[style];
    if (l.attrs & TUI_ATTR_BOLD)
        a |= A_BOLD;
    if (l.attrs & TUI_ATTR_DIM)
        a |= A_DIM;
    if (l.attrs & TUI_ATTR_REVERSE)
        a |= A_REVERSE;
    if (l.attrs & TUI_ATTR_UNDERLINE)
        a |= A_UNDERLINE;
    if (l.fg >= 8 && l.fg < 16 && term.n_colors < 16)
        a |= A_BOLD; /* eight colours: bright is bold */
    return a;
}

/* -- open and close ------------------------------------------------------------------------- */

static enum ntff_status no_terminal(struct ntff_error *err, const char *what)
{
    return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "%s; --print and --script work without one",
                     what);
}

static bool open_keyboard(void)
{
    term.key_fd = STDIN_FILENO;
    if (isatty(STDIN_FILENO))
        return true;
    term.keyboard = fopen("/dev/tty", "re");
    if (term.keyboard)
        term.key_fd = fileno(term.keyboard);
    return term.keyboard;
}

/* Can text be put anywhere on the screen of this terminal? Not on "dumb", not on paper. */
static bool can_place(void)
{
    const char *cup = tigetstr("cup"), *clear = tigetstr("clear");
    return cup && cup != (char *)-1 && clear && clear != (char *)-1 && tigetflag("hc") <= 0;
}

enum ntff_status tui_term_open(const struct tui_term_options *o, struct ntff_error *err)
{
    const char *type = getenv("TERM");
    if (!isatty(STDOUT_FILENO))
        return no_terminal(err, "standard output is not a terminal");
    if (!open_keyboard())
        return no_terminal(err, "no terminal to read keys from");
    int known;
    if (!type || !*type || setupterm(type, STDOUT_FILENO, &known) == ERR)
        return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "terminal type %.60s is unknown (TERM)",
                         type && *type ? type : "(none)");
    bool places = can_place();
    del_curterm(cur_term); /* only asked what it can do; newterm takes its own */
    if (!places)
        return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET,
                         "terminal type %.60s cannot place a cursor (TERM); --print and --script "
                         "work without",
                         type);
    if (pipe2(term.pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return ntff_fail(err, NTFF_IO, NTFF_NO_OFFSET, "pipe: %s", strerror(errno));
    term.ascii = o->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    term.screen = newterm(NULL, stdout, term.keyboard ? term.keyboard : stdin);
    if (!term.screen)
        return no_terminal(err, "the terminal cannot be opened");
    set_term(term.screen);
    term.open = true;
    atexit(tui_term_close);
    raw();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(25);
    curs_set(0);
    init_colors(o->colors);
    tui_term_mouse(!o->no_mouse);
    catch_signals(true);
    term.fresh = true;
    return NTFF_OK;
}

static void send_text(const char *s)
{
    fputs(s, stdout);
    fflush(stdout);
}

/* Clicks, motion with a button down, in a form without limits. Terminals that have no mouse in
 * their description are not asked. */
void tui_term_mouse(bool on)
{
    const char *kmous = term.open ? tigetstr("kmous") : NULL;
    if (!kmous || kmous == (char *)-1 || on == term.mouse)
        return;
    term.mouse = on;
    term.mouse_is_sgr = strcmp(kmous, "\033[<") == 0;
    send_text(on ? "\033[?1000h\033[?1002h\033[?1006h" : "\033[?1006l\033[?1002l\033[?1000l");
}

void tui_term_close(void)
{
    if (!term.open)
        return;
    tui_term_mouse(false);
    if (tigetstr("rmcup") == NULL) { /* no second screen: leave a free line for the prompt */
        move(LINES - 1, 0);
        clrtoeol();
        refresh();
    }
    endwin();
    delscreen(term.screen);
    catch_signals(false); /* not before: one more signal would leave the screen as it was */
    term.open = false;
    free(term.shown);
    term.shown = NULL;
    if (term.keyboard)
        fclose(term.keyboard);
    term.keyboard = NULL;
    close(term.pipe[0]);
    close(term.pipe[1]);
    term.pipe[0] = term.pipe[1] = -1;
}

bool tui_term_ascii(void)
{
    return term.ascii;
}

int tui_term_signal(void)
{
    return term.last_signal;
}

/* -- output --------------------------------------------------------------------------------- */

void tui_term_size(int *w, int *h)
{
    getmaxyx(stdscr, *h, *w);
}

static int width_of(uint32_t c)
{
    return wcwidth((wchar_t)c);
}

bool tui_term_fit(struct tui_screen *s)
{
    int w, h;
    tui_term_size(&w, &h);
    h = h > TUI_MAX_LINES ? TUI_MAX_LINES : h;
    if (!term.ascii)
        s->width = width_of;
    return tui_screen_resize(s, w, h);
}

static void put_cell(int x, int y, const struct tui_cell *c)
{
    wchar_t text[4] = {(wchar_t)c->ch, (wchar_t)c->comb[0], (wchar_t)c->comb[1], 0};
    cchar_t cc;
    short pair;
    attr_t attrs = attrs_of(c->style, &pair);
    if (setcchar(&cc, text, attrs, pair, NULL) == ERR) {
        text[0] = L'?';
        text[1] = 0;
        setcchar(&cc, text, attrs, pair, NULL);
    }
    mvadd_wch(y, x, &cc);
}

/* Takes a copy of the screen to compare the next one with; false: everything must be sent. */
static bool same_size(const struct tui_screen *s)
{
    if (term.shown && term.w == s->w && term.h == s->h && !term.fresh)
        return true;
    free(term.shown);
    term.shown = calloc((size_t)s->w * (size_t)s->h, sizeof *term.shown);
    term.w = s->w;
    term.h = s->h;
    return false;
}

void tui_term_show(const struct tui_screen *s)
{
    size_t n = (size_t)s->w * (size_t)s->h;
    bool same = same_size(s);
    if (!same)
        erase();
    for (size_t i = 0; i < n; i++) {
        const struct tui_cell *c = &s->cells[i];
        if (c->width == 0 || (same && tui_cell_same(c, &term.shown[i]) && c->width == 1))
            continue;
        put_cell((int)(i % (size_t)s->w), (int)(i / (size_t)s->w), c);
    }
    if (term.shown)
        memcpy(term.shown, s->cells, n * sizeof *term.shown);
    if (term.fresh)
        clearok(stdscr, TRUE);
    term.fresh = false;
    curs_set(s->cursor_x >= 0);
    if (s->cursor_x >= 0)
        move(s->cursor_y, s->cursor_x);
    refresh();
}

void tui_term_repaint(void)
{
    term.fresh = true;
}

void tui_term_bell(void)
{
    beep();
}

void tui_term_suspend(void)
{
    bool mouse = term.mouse;
    tui_term_mouse(false);
    def_prog_mode();
    endwin();
    catch_signals(false);
    raise(SIGTSTP); /* returns when continued */
    catch_signals(true);
    reset_prog_mode();
    tui_term_mouse(mouse);
    term.fresh = true;
    on_signal(SIGWINCH); /* the window may have changed meanwhile */
}

/* -- input ---------------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static struct tui_event resized(void)
{
    struct winsize ws;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_row > 0 && ws.ws_col > 0)
        resizeterm(ws.ws_row, ws.ws_col);
    struct tui_event e = {.kind = TUI_EVENT_RESIZE};
    tui_term_size(&e.w, &e.h);
    term.fresh = true;
    return e;
}

/* What came through the pipe. */
static struct tui_event signalled(void)
{
    unsigned char c;
    while (read(term.pipe[0], &c, 1) == 1) {
        switch (c) {
        case SIGTERM:
        case SIGHUP:
        case SIGINT:
            term.last_signal = c;
            return (struct tui_event){.kind = TUI_EVENT_QUIT};
        case SIGTSTP:
            tui_term_suspend();
            break;
        case SIGCONT: /* after a stop that could not be caught */
            reset_prog_mode();
            return resized();
        default:
            return resized();
        }
    }
    return (struct tui_event){.kind = TUI_EVENT_NONE};
}

/* -- mouse ------------------------------------------------------------------------------------- */

/* Curses merges and drops events that arrive together, so the reports are read here: xterm's SGR
 * form, ESC [ < button ; column ; line and M (down) or m (up), and the old form with three bytes.
 */

enum { /* bits of the button number */
       MOUSE_BUTTON = 3,
       MOUSE_SHIFT = 4,
       MOUSE_ALT = 8,
       MOUSE_CTRL = 16,
       MOUSE_MOTION = 32,
       MOUSE_WHEEL = 64
};

/* The next character of a sequence that has begun; WEOF if it does not come. */
static wint_t next_char(void)
{
    struct pollfd fd = {.fd = term.key_fd, .events = POLLIN};
    wint_t c;
    int rc = get_wch(&c);
    if (rc == ERR && poll(&fd, 1, 25) > 0)
        rc = get_wch(&c);
    return rc == OK ? c : WEOF;
}

static struct tui_event left_button(struct tui_event e, int button, bool up)
{
    if (button & MOUSE_MOTION) {
        e.mouse = TUI_MOUSE_DRAG;
        e.kind = term.down ? TUI_EVENT_MOUSE : TUI_EVENT_NONE;
    } else if (up) {
        e.mouse = TUI_MOUSE_RELEASE;
        term.down = false;
    } else {
        int64_t t = now_ms();
        bool twice =
            t - term.press_ms < DOUBLE_CLICK_MS && e.x == term.press_x && e.y == term.press_y;
        e.mouse = twice ? TUI_MOUSE_DOUBLE : TUI_MOUSE_PRESS;
        term.press_ms = twice ? 0 : t;
        term.press_x = e.x;
        term.press_y = e.y;
        term.down = true;
    }
    return e;
}

/* column and line from 1 */
static struct tui_event mouse_report(int button, int column, int line, bool up)
{
    struct tui_event e = {.kind = TUI_EVENT_MOUSE, .x = column - 1, .y = line - 1};
    e.mods = (button & MOUSE_SHIFT ? TUI_MOD_SHIFT : 0) | (button & MOUSE_ALT ? TUI_MOD_ALT : 0) |
             (button & MOUSE_CTRL ? TUI_MOD_CTRL : 0);
    if (button & MOUSE_WHEEL) {
        int which = button & MOUSE_BUTTON;
        e.mouse = which == 0 ? TUI_MOUSE_WHEEL_UP : TUI_MOUSE_WHEEL_DOWN;
        e.kind = which < 2 ? TUI_EVENT_MOUSE : TUI_EVENT_NONE; /* sideways: none of ours */
        return e;
    }
    if ((button & MOUSE_BUTTON) == 0 || (up && term.down))
        return left_button(e, button, up);
    return (struct tui_event){.kind = TUI_EVENT_NONE};
}

/* Behind "ESC [ <". */
static struct tui_event mouse_sgr(void)
{
    int n[3] = {0}, i = 0;
    for (int left = 24; left > 0; left--) {
        wint_t c = next_char();
        if (c >= '0' && c <= '9' && n[i] < 100000)
            n[i] = n[i] * 10 + (int)(c - '0');
        else if (c == ';' && i < 2)
            i++;
        else if ((c == 'M' || c == 'm') && i == 2)
            return mouse_report(n[0], n[1], n[2], c == 'm');
        else
            break;
    }
    return (struct tui_event){.kind = TUI_EVENT_NONE};
}

/* Behind "ESC [ M": button, column, line, each plus 32. */
static struct tui_event mouse_old(void)
{
    wint_t b = next_char(), x = next_char(), y = next_char();
    if (b == WEOF || x == WEOF || y == WEOF || b < 32 || x < 33 || y < 33 || x > 1000 || y > 1000)
        return (struct tui_event){.kind = TUI_EVENT_NONE};
    int button = (int)b - 32;
    bool up = !(button & MOUSE_WHEEL) && (button & MOUSE_BUTTON) == 3;
    return mouse_report(button, (int)x - 32, (int)y - 32, up);
}

/* Whether ESC, just read, begins a mouse report; then *e is it. Other characters go back. */
static bool mouse_after_esc(struct tui_event *e)
{
    wint_t c;
    if (get_wch(&c) != OK)
        return false; /* ESC alone */
    if (c != '[') {
        unget_wch((wchar_t)c);
        return false;
    }
    c = next_char();
    if (c == '<')
        *e = mouse_sgr();
    else if (c == 'M')
        *e = mouse_old();
    else { /* some other sequence: read over it, up to its last character */
        for (int left = 32; left > 0 && c >= 0x20 && c < 0x40; left--)
            c = next_char();
        *e = (struct tui_event){.kind = TUI_EVENT_NONE};
    }
    return true;
}

static uint32_t curses_key(wint_t c)
{
    static const struct {
        int curses;
        uint32_t key;
    } map[] = {
        {KEY_UP, TUI_KEY_UP},
        {KEY_DOWN, TUI_KEY_DOWN},
        {KEY_LEFT, TUI_KEY_LEFT},
        {KEY_RIGHT, TUI_KEY_RIGHT},
        {KEY_SLEFT, TUI_KEY_SLEFT},
        {KEY_SRIGHT, TUI_KEY_SRIGHT},
        {KEY_PPAGE, TUI_KEY_PGUP},
        {KEY_NPAGE, TUI_KEY_PGDN},
        {KEY_HOME, TUI_KEY_HOME},
        {KEY_END, TUI_KEY_END},
        {KEY_IC, TUI_KEY_INSERT},
        {KEY_DC, TUI_KEY_DELETE},
        {KEY_BACKSPACE, TUI_KEY_BACKSPACE},
        {KEY_BTAB, TUI_KEY_BACKTAB},
        {KEY_ENTER, TUI_KEY_ENTER},
        {KEY_A1, TUI_KEY_HOME},
        {KEY_C1, TUI_KEY_END},
    };
    for (size_t i = 0; i < NTFF_ARRAY_LEN(map); i++)
        if ((wint_t)map[i].curses == c)
            return map[i].key;
    if (c >= (wint_t)KEY_F(1) && c <= (wint_t)KEY_F(12))
        return TUI_KEY_F1 + (uint32_t)(c - (wint_t)KEY_F(1));
    return 0;
}

static uint32_t plain_key(wint_t c)
{
    switch (c) {
    case '\t':
        return TUI_KEY_TAB;
    case '\r':
    case '\n':
        return TUI_KEY_ENTER;
    case 27:
        return TUI_KEY_ESC;
    case 8:
    case 127:
        return TUI_KEY_BACKSPACE;
    default:
        return c < 32 ? TUI_KEY_CTRL + (uint32_t)c : (uint32_t)c;
    }
}

static struct tui_event read_key(void)
{
    wint_t c;
    int rc = get_wch(&c);
    struct tui_event e = {.kind = TUI_EVENT_NONE};
    if (rc == ERR)
        return e;
    if (rc == KEY_CODE_YES && c == KEY_RESIZE)
        return e;                             /* the echo of our own resizeterm */
    if (rc == KEY_CODE_YES && c == KEY_MOUSE) /* the begin of a report, as terminfo has it */
        return term.mouse_is_sgr ? mouse_sgr() : mouse_old();
    if (rc == OK && c == 27 && mouse_after_esc(&e))
        return e;
    e.key = rc == KEY_CODE_YES ? curses_key(c) : plain_key(c);
    e.kind = e.key ? TUI_EVENT_KEY : TUI_EVENT_NONE;
    return e;
}

struct tui_event tui_term_wait(int timeout_ms)
{
    struct pollfd fds[2] = {{.fd = term.key_fd, .events = POLLIN},
                            {.fd = term.pipe[0], .events = POLLIN}};
    struct tui_event e = signalled();
    if (e.kind == TUI_EVENT_NONE)
        e = read_key(); /* curses may hold keys already */
    if (e.kind != TUI_EVENT_NONE)
        return e;
    if (poll(fds, 2, timeout_ms) <= 0)
        return e;
    if (fds[1].revents)
        return signalled();
    if (fds[0].revents & POLLIN)
        e = read_key();
    else if (fds[0].revents) {
        term.last_signal = SIGHUP; /* the terminal is gone */
        e.kind = TUI_EVENT_QUIT;
    }
    return e;
}
