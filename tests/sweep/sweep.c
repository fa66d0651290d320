/* sweep - every prefix of a file, every value of every byte of it, in front of the loader.
 *
 *     sweep [-j PROCESSES] [-s STRIDE] DIRECTORY cut:KIND:FILE byte:KIND:FILE ...
 *
 * cut: all lengths; byte: each byte XORed with each of 1..255. KIND (sample.c) says how records lie
 * in the file; what must hold is in subject.c. With -s only every STRIDE-th of these variants is
 * tried; a prime reaches all places and all values. DIRECTORY holds the damaged file.
 *
 * Variants are numbered through. Worker processes take pieces of them, piece by piece, from memory
 * they share, each with a directory of its own; a worker that dies or hangs is replaced, and its
 * variant is a failure. Standard output is TAP, a line for each argument, with the number of
 * variants tried; standard error shows how far it got, if it is a terminal or -v is given. */
#include "tests/sweep/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 128, MOST_WORKERS = 64, VALUES = 255, HANG_S = 120, SHOW_S = 10, BROKEN = 2 };

/* One argument. Shared by all processes. */
struct task {
    struct sample sample;
    const char *name;
    bool bytes;
    size_t n;                         /* variants */
    atomic_size_t next, done, failed; /* variants given out, tried, and of these not right */
    char first[600];                  /* the first failure */
};
struct worker {
    size_t task, variant; /* what it is at */
    pid_t pid;
};
static struct {
    struct task *tasks; /* n, shared */
    struct worker *workers;
    size_t n, stride;
    unsigned n_workers;
    const char *directory;
    bool show;
    double begin_s;
} all = {.stride = 1, .n_workers = 1};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *shared(size_t n)
{
    void *p = mmap(NULL, n + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || p == NULL) {
        perror("sweep");
        exit(BROKEN);
    }
    return p;
}

/* -- variants -------------------------------------------------------------------------------------
 */

/* Variant number v of t as bytes kept, and a byte with its change. */
static void variant(const struct task *t, size_t v, size_t *len, size_t *at, uint8_t *flip)
{
    *len = t->bytes ? t->sample.len : v;
    *at = t->bytes ? v / VALUES : 0;
    *flip = t->bytes ? (uint8_t)(v % VALUES + 1) : 0;
}

static void failed(struct task *t, size_t v, const char *why)
{
    size_t len, at;
    uint8_t flip;
    variant(t, v, &len, &at, &flip);
    if (atomic_fetch_add(&t->failed, 1) > 0)
        return;
    if (t->bytes)
        snprintf(t->first, sizeof t->first, "byte %zu ^ 0x%02x: %s", at, flip, why);
    else
        snprintf(t->first, sizeof t->first, "cut to %zu bytes: %s", len, why);
}

static void try_piece(struct worker *w, size_t from)
{
    struct task *t = &all.tasks[w->task];
    size_t to = from + PIECE * all.stride, len, at, tried = 0;
    uint8_t flip;
    alarm(HANG_S);
    for (size_t v = from; v < to && v < t->n; v += all.stride, tried++) {
        w->variant = v;
        variant(t, v, &len, &at, &flip);
        const char *why = subject_try(len, at, flip);
        if (why != NULL)
            failed(t, v, why);
    }
    alarm(0);
    atomic_fetch_add(&t->done, tried);
}

/* -- workers --------------------------------------------------------------------------------------
 */

/* What the loader says is said by its results; a program's messages are not for here. */
static void be_quiet(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
        _exit(BROKEN);
    close(fd);
}

static void work(struct worker *w)
{
    char directory[4096];
    snprintf(directory, sizeof directory, "%s/worker.%u", all.directory,
             (unsigned)(w - all.workers));
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        _exit(BROKEN);
    be_quiet();
    mallopt(M_MMAP_THRESHOLD, 1 << 26); /* the same blocks again and again: keep them */
    mallopt(M_TRIM_THRESHOLD, 1 << 26);
    for (; w->task < all.n; w->task++) {
        struct task *t = &all.tasks[w->task];
        size_t from;
        bool begun = false;
        while ((from = atomic_fetch_add(&t->next, PIECE * all.stride)) < t->n) {
            if (!begun)
                subject_begin(&t->sample, directory);
            begun = true;
            try_piece(w, from);
        }
    }
    subject_end();
    rmdir(directory);
    /* a leak checker, which speaks at the end, does not see that shared memory leads to these */
    for (size_t i = 0; i < all.n; i++)
        sample_free(&all.tasks[i].sample);
    exit(0);
}

static void start(struct worker *w)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        work(w);
    }
    if (pid < 0) {
        perror("sweep");
        exit(BROKEN);
    }
    w->pid = pid;
}

/* A worker ended. True if another has to go on. */
static bool ended(struct worker *w, int status)
{
    char why[100];
    w->pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return false;
    if (w->task >= all.n) {
        fprintf(stderr,
                "sweep: all done, but a worker ended with status %d: a leak? "
                "ASAN_OPTIONS=log_path=FILE tells\n",
                status);
        exit(BROKEN);
    }
    if (WIFEXITED(status))
        snprintf(why, sizeof why, "ended with exit status %d", WEXITSTATUS(status));
    else if (WTERMSIG(status) == SIGALRM)
        snprintf(why, sizeof why, "still running after %d s", HANG_S);
    else
        snprintf(why, sizeof why, "killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    failed(&all.tasks[w->task], w->variant, why);
    return true;
}

static void show(void)
{
    size_t done = 0, n = 0;
    const char *at = "";
    for (size_t i = all.n; i-- > 0;) {
        struct task *t = &all.tasks[i];
        size_t of = (t->n + all.stride - 1) / all.stride;
        n += of;
        done += t->done;
        if (t->done < of)
            at = t->name;
    }
    double s = now_s() - all.begin_s;
    fprintf(stderr, "# %5.1f %% of %zu variants, %.0f/s, %.0f s: %s\n",
            100.0 * (double)done / (double)n, n, (double)done / s, s, at);
}

static void run(void)
{
    unsigned running = 0;
    double shown = now_s();
    for (; running < all.n_workers; running++)
        start(&all.workers[running]);
    while (running > 0) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid == 0)
            usleep(20000);
        for (unsigned i = 0; pid > 0 && i < all.n_workers; i++)
            if (all.workers[i].pid == pid) {
                running--;
                if (ended(&all.workers[i], status)) {
                    start(&all.workers[i]);
                    running++;
                }
            }
        if (all.show && now_s() - shown > SHOW_S) {
            shown = now_s();
            show();
        }
    }
}

/* -- results --------------------------------------------------------------------------------------
 */

static unsigned report(void)
{
    unsigned bad = 0;
    size_t tried = 0;
    for (size_t i = 0; i < all.n; i++) {
        struct task *t = &all.tasks[i];
        size_t want = (t->n + all.stride - 1) / all.stride;
        bool ok = t->failed == 0 && t->done == want;
        bad += !ok;
        tried += t->done;
        if (t->failed > 0)
            printf("# %zu of them; the first: %s\n", (size_t)t->failed, t->first);
        printf("%s %zu - %s: %zu of %zu variants\n", ok ? "ok" : "not ok", i + 1, t->name,
               (size_t)t->done, t->n);
        sample_free(&t->sample);
    }
    printf("# %zu variants, %.0f s, %u processes\n1..%zu\n", tried, now_s() - all.begin_s,
           all.n_workers, all.n);
    return bad;
}

static bool add_task(const char *argument)
{
    struct task *t = &all.tasks[all.n];
    const char *why = "neither cut: nor byte:";
    t->name = argument; /* NOLINT(clang-analyzer-core.NullDereference): shared() gave it */
    t->bytes = strncmp(argument, "byte:", 5) == 0;
    if (t->bytes || strncmp(argument, "cut:", 4) == 0)
        why = sample_read(&t->sample, strchr(argument, ':') + 1);
    if (why != NULL) {
        fprintf(stderr, "sweep: %s: %s\n", argument, why);
        return false;
    }
    t->n = t->bytes ? t->sample.len * VALUES : t->sample.len + 1;
    all.n++;
    return true;
}

int main(int argc, char **argv)
{
    all.show = isatty(STDERR_FILENO);
    for (int c; (c = getopt(argc, argv, "j:s:v")) != -1;) {
        unsigned long v = optarg != NULL ? strtoul(optarg, NULL, 10) : 1;
        if (v == 0 || (c == 'j' && v > MOST_WORKERS) || c == '?')
            return fprintf(stderr, "usage: sweep [-j N] [-s STRIDE] [-v] DIRECTORY TASK...\n"),
                   BROKEN;
        if (c == 'j')
            all.n_workers = (unsigned)v;
        else if (c == 's')
            all.stride = v;
        else
            all.show = true;
    }
    if (argc - optind < 2)
        return fprintf(stderr, "sweep: DIRECTORY TASK... is missing\n"), BROKEN;
    all.directory = argv[optind++];
    all.tasks = shared((size_t)(argc - optind) * sizeof *all.tasks);
    all.workers = shared(all.n_workers * sizeof *all.workers);
    all.begin_s = now_s();
    for (; optind < argc; optind++)
        if (!add_task(argv[optind]))
            return BROKEN;
    run();
    return report() > 0;
}
