/* rows - what the benchmarks print, for show.awk; and if all they want was reached. Each program
 * includes it once. */
#ifndef TESTS_BENCH_ROWS_H
#define TESTS_BENCH_ROWS_H

#include <stdio.h>

static int missed;

/* limit < 0: nothing is wanted. */
static void row(const char *what, double value, const char *unit, double limit)
{
    char want[32] = "";
    if (limit >= 0)
        snprintf(want, sizeof want, "<= %g", limit);
    printf("%s\t%.4f\t%s\t%s\t%s\n", what, value, unit, want,
           limit < 0        ? ""
           : value <= limit ? "yes"
                            : "NO");
    fflush(stdout);
    missed |= limit >= 0 && value > limit;
}

#endif
