/* tap - see tap.h.
 *
 * The parent forks once per test and waits. The child reports by its exit status, which is all a
 * crash or a sanitizer leaves anyway: 0 passed, 77 skipped, everything else failed. Explanations
 * are written by the child to standard output as TAP comments before the parent prints the verdict,
 * so a log reads top down. A child that passes leaves through exit(), which lets the leak checker
 * speak; one that fails leaves at once, so that what it had no time to free is not reported too.
 *
 * The child leads its own process group: whatever it started dies with it. */
#include "tests/tap.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_FAILED = 1, EXIT_SKIPPED = 77, DEFAULT_TIMEOUT_S = 120 };

static struct tap_test *first_test;
static struct tap_test **last_link = &first_test;
static char context[512];
static char *skip_reason; /* 256 bytes shared between child and parent */

void tap_register(struct tap_test *t)
{
    *last_link = t;
    last_link = &t->next;
}

void tap_context(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(context, sizeof context, fmt, ap);
    va_end(ap);
}

/* Prints text as TAP comments, one per line of it. */
static void comment(const char *text)
{
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        printf("# %.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

_Noreturn void tap_fail(const char *file, int line, const char *fmt, ...)
{
    char text[4096];
    int n = snprintf(text, sizeof text, "%s:%d: ", file, line);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text + n, sizeof text - (size_t)n, fmt, ap);
    va_end(ap);
    comment(text);
    if (context[0] != '\0')
        comment(context);
    fflush(stdout);
    _exit(EXIT_FAILED);
}

_Noreturn void tap_skip(const char *reason)
{
    snprintf(skip_reason, 256, "%s", reason);
    fflush(stdout);
    _exit(EXIT_SKIPPED);
}

char *tap_source_text(const char *name)
{
    const char *src = getenv("SRC");
    char path[4096], *text = NULL;
    size_t len = 0;
    snprintf(path, sizeof path, "%s/%s", src ? src : ".", name);
    FILE *f = fopen(path, "r");
    ssize_t n = f ? getdelim(&text, &len, '\0', f) : -1;
    if (n <= 0)
        tap_fail(__FILE__, __LINE__, "%s: cannot be read", path);
    fclose(f);
    return text;
}

void tap_eq_u64(const char *file, int line, const char *what, uint64_t got, uint64_t want)
{
    if (got != want)
        tap_fail(file, line,
                 "%s\n    got  %" PRIu64 " (0x%" PRIx64 ")\n    want %" PRIu64 " (0x%" PRIx64 ")",
                 what, got, got, want, want);
}

void tap_eq_i64(const char *file, int line, const char *what, int64_t got, int64_t want)
{
    if (got != want)
        tap_fail(file, line, "%s\n    got  %" PRId64 "\n    want %" PRId64, what, got, want);
}

void tap_eq_str(const char *file, int line, const char *what, const char *got, const char *want)
{
    if (got == NULL && want == NULL)
        return;
    if (got == NULL || want == NULL || strcmp(got, want) != 0)
        tap_fail(file, line, "%s\n    got  %s%s%s\n    want %s%s%s", what, got ? "\"" : "",
                 got ? got : "NULL", got ? "\"" : "", want ? "\"" : "", want ? want : "NULL",
                 want ? "\"" : "");
}

void tap_eq_mem(const char *file, int line, const char *what, const void *got, size_t got_len,
                const void *want, size_t want_len)
{
    const unsigned char *g = got, *w = want;
    size_t n = got_len < want_len ? got_len : want_len, at = 0;
    while (at < n && g[at] == w[at])
        at++;
    if (at == n && got_len == want_len)
        return;
    /* 16 bytes of both from just before the first difference */
    size_t from = at < 4 ? 0 : at - 4;
    char hex[2][16 * 3 + 1] = {"", ""};
    for (size_t i = 0; i < 16; i++) {
        if (from + i < got_len)
            snprintf(hex[0] + i * 3, 4, "%02x ", g[from + i]);
        if (from + i < want_len)
            snprintf(hex[1] + i * 3, 4, "%02x ", w[from + i]);
    }
    tap_fail(file, line,
             "%s: first difference at byte %zu\n    got  %zu bytes, from %zu: %s\n"
             "    want %zu bytes, from %zu: %s",
             what, at, got_len, from, hex[0], want_len, from, hex[1]);
}

static unsigned timeout_s(void)
{
    const char *s = getenv("TAP_TIMEOUT");
    long v = s != NULL ? strtol(s, NULL, 10) : 0;
    return v > 0 && v < 86400 ? (unsigned)v : DEFAULT_TIMEOUT_S;
}

/* Runs one test in a child; returns its wait status, or -1. */
static int run_forked(const struct tap_test *t)
{
    fflush(NULL);
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid < 0)
        return -1;
    if (pid == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(EXIT_FAILED);
        alarm(timeout_s());
        t->run();
        fflush(stdout);
        exit(0);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    kill(-pid, SIGKILL); /* strays of the test; usually there are none */
    return status;
}

/* Prints the verdict; true unless the test failed. */
static bool report(unsigned number, const struct tap_test *t, int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        printf("ok %u - %s\n", number, t->name);
        return true;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED) {
        printf("ok %u - %s # SKIP %s\n", number, t->name, skip_reason);
        return true;
    }
    if (status == -1)
        printf("# could not run the test: %s\n", strerror(errno));
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        printf("# still running after %u s\n", timeout_s());
    else if (WIFSIGNALED(status))
        printf("# killed by signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != EXIT_FAILED)
        printf("# exit status %d\n", WEXITSTATUS(status));
    printf("not ok %u - %s\n", number, t->name);
    return false;
}

static bool wanted(const struct tap_test *t, int n_names, char **names)
{
    for (int i = 0; i < n_names; i++)
        if (strstr(t->name, names[i]) != NULL)
            return true;
    return n_names == 0;
}

int tap_main(int argc, char **argv)
{
    bool list = argc > 1 && strcmp(argv[1], "-l") == 0;
    bool no_fork = argc > 1 && strcmp(argv[1], "-n") == 0;
    int skip_args = 1 + (list || no_fork);
    unsigned n = 0, failed = 0;

    skip_reason = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (skip_reason == MAP_FAILED) {
        printf("Bail out! no memory\n");
        return 1;
    }
    for (struct tap_test *t = first_test; t != NULL; t = t->next) {
        if (!wanted(t, argc - skip_args, argv + skip_args))
            continue;
        n++;
        if (list) {
            printf("%s\n", t->name);
        } else if (no_fork) {
            t->run();
            printf("ok %u - %s\n", n, t->name);
        } else {
            skip_reason[0] = '\0';
            failed += !report(n, t, run_forked(t));
        }
        fflush(stdout);
    }
    if (!list)
        printf("1..%u\n", n);
    munmap(skip_reason, 4096);
    return failed != 0;
}
