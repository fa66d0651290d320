/* measure - runs a command and says what it cost.
 *
 *     measure [-n RUNS] COMMAND [ARG...]  ->  wall seconds, user + system seconds, peak KiB, exit
 * status
 *
 * Of several runs the one with the least wall time is reported, and the greatest peak: time is
 * disturbed upwards only, memory must hold every time. The command's standard output is discarded.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct cost {
    double wall_s, cpu_s;
    long peak_kib;
    int status;
};

static int run(char **argv, struct cost *cost)
{
    struct timespec a, b;
    struct rusage u;
    clock_gettime(CLOCK_MONOTONIC, &a);
    pid_t pid = fork();
    if (pid < 0)
        return -1;
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        if (null >= 0)
            dup2(null, STDOUT_FILENO);
        execvp(argv[0], argv);
        _exit(127);
    }
    int status;
    if (wait4(pid, &status, 0, &u) != pid)
        return -1;
    clock_gettime(CLOCK_MONOTONIC, &b);
    cost->wall_s = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
    cost->cpu_s = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                  (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
    cost->peak_kib = u.ru_maxrss;
    cost->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return 0;
}

int main(int argc, char **argv)
{
    int runs = 1, opt;
    while ((opt = getopt(argc, argv, "+n:")) != -1) {
        if (opt != 'n')
            return 2;
        runs = atoi(optarg);
    }
    if (optind >= argc || runs < 1) {
        fprintf(stderr, "usage: measure [-n RUNS] COMMAND [ARG...]\n");
        return 2;
    }
    struct cost best = {0};
    for (int i = 0; i < runs; i++) {
        struct cost c;
        if (run(argv + optind, &c) != 0) {
            perror("measure");
            return 1;
        }
        long peak = c.peak_kib > best.peak_kib ? c.peak_kib : best.peak_kib;
        int status = best.status != 0 ? best.status : c.status;
        if (i == 0 || c.wall_s < best.wall_s)
            best = c;
        best.peak_kib = peak;
        best.status = status;
    }
    printf("%.4f %.4f %ld %d\n", best.wall_s, best.cpu_s, best.peak_kib, best.status);
    return 0;
}
