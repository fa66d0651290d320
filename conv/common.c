/* common - messages, progress and loading for the commands; see conv.h. */
#include "conv/conv.h"
#include "conv/redact.h"

#include "proto/foreign.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* -- text for people -----------------------------------------------------------------------------
 */

static uint32_t code_point(const char *p, size_t len)
{
    static const uint8_t lead[5] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t c = (uint8_t)p[0] & lead[len];
    for (size_t i = 1; i < len; i++)
        c = c << 6 | ((uint8_t)p[i] & 0x3F);
    return c;
}

/* Controls, and the marks that reorder or hide the text around them. */
static bool unprintable(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

void conv_put_text(FILE *to, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        size_t n = ntff_utf8_len(text, left);
        uint32_t c = n ? code_point(text, n) : 0;
        if (n == 0)
            fprintf(to, "\\x%02X", (unsigned)(uint8_t)*text);
        else if (unprintable(c))
            fprintf(to, c < 0x100 ? "\\x%02X" : "\\u{%04X}", (unsigned)c);
        else
            fwrite(text, 1, n, to);
        text += n ? n : 1;
        left -= n ? n : 1;
    }
}

void conv_say(const char *fmt, ...)
{
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    conv_progress(NULL, -1);
    fputs("ntff-conv: ", stderr);
    conv_put_text(stderr, line);
    fputc('\n', stderr);
}

/* -- progress ------------------------------------------------------------------------------------
 */

static struct {
    bool known, tty, shown;
    struct timespec next;
} bar;

static bool due(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    bool first = bar.next.tv_sec == 0;
    bool yes = now.tv_sec > bar.next.tv_sec ||
               (now.tv_sec == bar.next.tv_sec && now.tv_nsec >= bar.next.tv_nsec);
    if (!yes)
        return false;
    bar.next = now;
    bar.next.tv_nsec += first ? 400000000 : 100000000; /* short work shows nothing */
    if (bar.next.tv_nsec >= 1000000000) {
        bar.next.tv_nsec -= 1000000000;
        bar.next.tv_sec++;
    }
    return !first;
}

void conv_progress(const char *what, int permille)
{
    if (!bar.known) {
        bar.tty = isatty(STDERR_FILENO);
        bar.known = true;
    }
    if (!bar.tty)
        return;
    if (permille < 0) {
        if (bar.shown)
            fputs("\r\033[K", stderr);
        bar.shown = false;
        return;
    }
    if (!due())
        return;
    fputs("\r\033[K", stderr);
    conv_put_text(stderr, what);
    fprintf(stderr, " %d %%", permille / 10);
    fflush(stderr);
    bar.shown = true;
}

static int on_progress(void *user, const char *what, int permille)
{
    (void)user;
    conv_progress(what, permille);
    return 0;
}

/* -- loading -------------------------------------------------------------------------------------
 */

int conv_load_any(const struct conv_args *args, bool quiet, struct ntff_trace **t,
                  struct ntff_diag *diag, struct ntff_error *err)
{
    struct ntff_load_options options = args->load.options;
    if (!quiet)
        options.progress = on_progress;
    *err = (struct ntff_error){.status = NTFF_OK};
    enum ntff_status s = ntff_load(args->operands, args->n_operands, &options, t, diag, err);
    conv_progress(NULL, -1);
    if (s == NTFF_OK && args->redact && !conv_redact(*t, diag)) {
        ntff_trace_free(*t);
        *t = NULL;
        s = NTFF_NOMEM;
        ntff_fail(err, s, NTFF_NO_OFFSET, "out of memory");
    }
    if (s == NTFF_OK && !quiet && diag->of[NTFF_DIAG_FILTERED_ALL].count) {
        char line[1024];
        ntff_diag_line(diag, NTFF_DIAG_FILTERED_ALL, line, sizeof line);
        conv_say("%s", line);
    }
    if (s == NTFF_OK)
        return CONV_ALL;
    conv_say("%s", err->text);
    return s == NTFF_INVALID ? CONV_USAGE : CONV_NOTHING;
}

void conv_say_nothing(const struct conv_args *args, const struct ntff_error *err)
{
    bool known = false;
    for (size_t i = 0; i < args->n_operands; i++) {
        const char *what = ntff_foreign(args->operands[i]);
        if (what)
            conv_say("%s: %s", args->operands[i], what);
        known |= what != NULL;
    }
    if (!known)
        conv_say("%s", err->text[0] ? err->text : "no events found");
}

int conv_load(const struct conv_args *args, bool quiet, struct ntff_trace **t,
              struct ntff_diag *diag)
{
    struct ntff_error err;
    int code = conv_load_any(args, quiet, t, diag, &err);
    if (code != CONV_ALL || (*t)->n_events + (*t)->n_samples > 0)
        return code;
    conv_print_findings(*t, diag, CONV_VERBOSE);
    conv_say_nothing(args, &err);
    ntff_trace_free(*t);
    *t = NULL;
    return CONV_NOTHING;
}

char *conv_finding_key(enum ntff_diag_kind kind, char out[40])
{
    size_t i = 0;
    for (const char *p = ntff_diag_name(kind); i < 39 && p[i]; i++)
        out[i] = (char)tolower((unsigned char)p[i]);
    out[i] = '\0';
    return out;
}

const char *conv_finding_hint(const struct ntff_trace *t, enum ntff_diag_kind kind)
{
    bool asked = t->clock_mode == NTFF_CLOCK_DEVICE || t->clock_mode == NTFF_CLOCK_RECORDED;
    return kind == NTFF_DIAG_CLOCK_UNALIGNED && !asked
               ? "; the session directory with its ntrace.pb aligns them"
               : "";
}

void conv_print_findings(const struct ntff_trace *t, const struct ntff_diag *diag,
                         enum conv_verbosity verbosity)
{
    bool any = false;
    for (int k = 0; k < NTFF_DIAG_COUNT && verbosity != CONV_QUIET; k++) {
        /* worth a line in any case: of a newer version nobody knows what it says besides, device
         * time is not what a timeline is expected to show, and copies count twice */
        bool always = ntff_diag_grade(k) == NTFF_LOSS || k == NTFF_DIAG_VERSION ||
                      k == NTFF_DIAG_CLOCK_UNALIGNED || k == NTFF_DIAG_SAME_BYTES;
        bool told = k == NTFF_DIAG_FILTERED_ALL; /* when it was loaded */
        if (diag->of[k].count == 0 || told || (!always && verbosity != CONV_VERBOSE))
            continue;
        char line[1024];
        ntff_diag_line(diag, k, line, sizeof line);
        conv_say("%s%s", line, conv_finding_hint(t, k));
        any = true;
    }
    if (any && t->clipped)
        conv_say("these are " CONV_OF_ALL);
}

int conv_exit_code(const struct ntff_diag *diag)
{
    return ntff_diag_lossy(diag) ? CONV_LOSSES : CONV_ALL;
}
