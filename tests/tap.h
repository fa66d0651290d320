/* tap - a small harness for unit tests: every test runs in a process of its own.
 * Knows: libc only.
 *
 *     #include "tests/tap.h"
 *
 *     TAP_TEST(adds)
 *     {
 *         TAP_EQ_U64(1 + 1, 2);
 *     }
 *     TAP_MAIN()
 *
 * The program prints TAP on standard output. The first check of a test that fails says where and
 * why and ends that test; a crash, a sanitizer report, a leak or a hang fails that test alone.
 * Arguments: names (or parts of names) of the tests to run; -l lists them; -n runs without fork,
 * for a debugger. TAP_TIMEOUT in the environment: seconds per test (default 120). */
#ifndef NTFF_TESTS_TAP_H
#define NTFF_TESTS_TAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tap_test {
    const char *name;
    void (*run)(void);
    struct tap_test *next;
};

/* Appends to the list of tests; called before main by TAP_TEST. */
void tap_register(struct tap_test *t);
int tap_main(int argc, char **argv);

#define TAP_TEST(name_)                                                                            \
    static void tap_run_##name_(void);                                                             \
    __attribute__((constructor)) static void tap_add_##name_(void)                                 \
    {                                                                                              \
        static struct tap_test t = {#name_, tap_run_##name_, NULL};                                \
        tap_register(&t);                                                                          \
    }                                                                                              \
    static void tap_run_##name_(void)

#define TAP_MAIN()                                                                                 \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return tap_main(argc, argv);                                                               \
    }

/* Ends the running test as failed. */
_Noreturn void tap_fail(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Ends the running test as skipped. */
_Noreturn void tap_skip(const char *reason);
/* A line shown if a later check of this test fails: which row of a table, which seed. */
void tap_context(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A whole file of the source tree as text, for the test to free; a file that cannot be read, or is
 * empty, fails the test. */
char *tap_source_text(const char *name);

void tap_eq_u64(const char *file, int line, const char *what, uint64_t got, uint64_t want);
void tap_eq_i64(const char *file, int line, const char *what, int64_t got, int64_t want);
void tap_eq_str(const char *file, int line, const char *what, const char *got, const char *want);
void tap_eq_mem(const char *file, int line, const char *what, const void *got, size_t got_len,
                const void *want, size_t want_len);

#define TAP_OK(cond)                                                                               \
    do {                                                                                           \
        if (!(cond))                                                                               \
            tap_fail(__FILE__, __LINE__, "not true: %s", #cond);                                   \
    } while (0)
/* The second argument is what is expected. */
#define TAP_EQ_U64(got, want)                                                                      \
    tap_eq_u64(__FILE__, __LINE__, #got, (uint64_t)(got), (uint64_t)(want))
#define TAP_EQ_I64(got, want) tap_eq_i64(__FILE__, __LINE__, #got, (int64_t)(got), (int64_t)(want))
/* Either may be NULL, which equals only NULL. */
#define TAP_EQ_STR(got, want) tap_eq_str(__FILE__, __LINE__, #got, got, want)
#define TAP_EQ_MEM(got, got_len, want, want_len)                                                   \
    tap_eq_mem(__FILE__, __LINE__, #got, got, got_len, want, want_len)
#define TAP_FAIL(...) tap_fail(__FILE__, __LINE__, __VA_ARGS__)
#define TAP_SKIP(reason) tap_skip(reason)
#define TAP_CONTEXT(...) tap_context(__VA_ARGS__)

#endif
