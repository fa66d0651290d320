/* The harness itself: that a failing check, a crash, a hang and a skip each become what they
 * should. The inner program is this one, run again with TAP_INNER set. */
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Runs the inner test of that name in this same program; its output goes to out. */
static int inner(const char *name, char *out, size_t cap)
{
    char exe[4096], cmd[5000];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    TAP_OK(n > 0);
    exe[n] = '\0';
    snprintf(cmd, sizeof cmd, "TAP_INNER=1 TAP_TIMEOUT=1 '%s' inner_%s 2>/dev/null", exe, name);
    FILE *f = popen(cmd, "r");
    TAP_OK(f != NULL);
    size_t len = fread(out, 1, cap - 1, f);
    out[len] = '\0';
    return pclose(f);
}

/* A test that exists in the inner run only. */
#define INNER_TEST(name_)                                                                          \
    static void inner_##name_(void);                                                               \
    __attribute__((constructor)) static void add_##name_(void)                                     \
    {                                                                                              \
        static struct tap_test t = {"inner_" #name_, inner_##name_, NULL};                         \
        if (getenv("TAP_INNER") != NULL)                                                           \
            tap_register(&t);                                                                      \
    }                                                                                              \
    static void inner_##name_(void)

INNER_TEST(passes)
{
    TAP_EQ_U64(UINT64_MAX, UINT64_MAX);
    TAP_EQ_I64(-1, -1);
    TAP_EQ_STR("a", "a");
    TAP_EQ_MEM("ab", 2, "ab", 2);
}
INNER_TEST(unequal)
{
    TAP_CONTEXT("row %d", 7);
    TAP_EQ_U64(1, 2);
}
INNER_TEST(mem)
{
    TAP_EQ_MEM("abcd", 4, "abxd", 4);
}
INNER_TEST(abort)
{
    abort();
}
INNER_TEST(hang)
{
    for (;;)
        pause();
}
INNER_TEST(skip)
{
    TAP_SKIP("no such thing here");
}

TAP_TEST(a_passing_test_is_ok)
{
    char out[4096];
    TAP_EQ_U64(inner("passes", out, sizeof out), 0);
    TAP_EQ_STR(out, "ok 1 - inner_passes\n1..1\n");
}

TAP_TEST(a_failed_check_tells_where_and_why)
{
    char out[4096];
    TAP_OK(inner("unequal", out, sizeof out) != 0);
    TAP_OK(strstr(out, "test_tap.c:") != NULL);
    TAP_OK(strstr(out, "got  1 (0x1)") != NULL);
    TAP_OK(strstr(out, "want 2 (0x2)") != NULL);
    TAP_OK(strstr(out, "# row 7\n") != NULL);
    TAP_OK(strstr(out, "not ok 1 - inner_unequal\n1..1\n") != NULL);
    TAP_OK(inner("mem", out, sizeof out) != 0);
    TAP_OK(strstr(out, "first difference at byte 2") != NULL);
}

TAP_TEST(a_crash_and_a_hang_fail_their_test_alone)
{
    char out[4096];
    TAP_OK(inner("abort", out, sizeof out) != 0);
    TAP_OK(strstr(out, "not ok 1 - inner_abort\n1..1\n") != NULL);
    TAP_OK(inner("hang", out, sizeof out) != 0);
    TAP_OK(strstr(out, "still running after 1 s") != NULL);
}

TAP_TEST(a_skip_carries_its_reason)
{
    char out[4096];
    TAP_EQ_U64(inner("skip", out, sizeof out), 0);
    TAP_EQ_STR(out, "ok 1 - inner_skip # SKIP no such thing here\n1..1\n");
}

TAP_MAIN()
