/* Files that change while they are read: what is gone reads as zeros, and is told. */
#include "proto/input.h"
#include "tests/tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void on_bus_error(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if (ntff_input_fault(info->si_addr))
        return;
    signal(sig, SIG_DFL);
    raise(sig);
}

static void catch_bus_errors(void)
{
    struct sigaction bus = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    TAP_EQ_U64(sigaction(SIGBUS, &bus, NULL), 0);
}

/* A file of len bytes, all 'x'. */
static const char *make_file(const char *name, size_t len)
{
    static char path[4096];
    const char *tmp = getenv("TMP");
    snprintf(path, sizeof path, "%s/%s", tmp != NULL ? tmp : "/tmp", name);
    FILE *f = fopen(path, "wb");
    TAP_OK(f != NULL);
    for (size_t i = 0; i < len; i++)
        putc('x', f);
    TAP_EQ_U64(fclose(f), 0);
    return path;
}

static size_t count_x(const struct ntff_input *in)
{
    const volatile uint8_t *p = in->data;
    size_t n = 0;
    for (uint64_t i = 0; i < in->len; i++)
        n += p[i] == 'x';
    return n;
}

TAP_TEST(a_file_left_alone_is_not_changed)
{
    struct ntff_input in;
    struct ntff_error err;
    TAP_EQ_U64(ntff_input_open(&in, make_file("same", 100000), NULL, &err), NTFF_OK);
    TAP_EQ_U64(ntff_input_map(&in, &err), NTFF_OK);
    TAP_EQ_U64(count_x(&in), 100000);
    TAP_OK(!ntff_input_changed(&in));
    TAP_EQ_U64(ntff_input_head(&in).len, 65536);
    ntff_input_close(&in);
}

TAP_TEST(a_file_cut_under_its_reader_reads_as_zeros)
{
    struct ntff_input cut, other;
    struct ntff_error err;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), len = 40 * page + 7;
    catch_bus_errors();
    TAP_EQ_U64(ntff_input_open(&other, make_file("other", len), NULL, &err), NTFF_OK);
    TAP_EQ_U64(ntff_input_map(&other, &err), NTFF_OK);
    const char *path = make_file("cut", len);
    TAP_EQ_U64(ntff_input_open(&cut, path, NULL, &err), NTFF_OK);
    TAP_EQ_U64(ntff_input_map(&cut, &err), NTFF_OK);
    TAP_EQ_U64(truncate(path, (off_t)page + 3), 0);
    TAP_EQ_U64(count_x(&cut), page + 3);
    TAP_OK(ntff_input_changed(&cut));
    TAP_EQ_U64(count_x(&other), len);
    TAP_OK(!ntff_input_changed(&other));
    ntff_input_close(&cut);
    ntff_input_close(&other);
}

TAP_TEST(a_cut_inside_the_last_page_and_growth_are_changes)
{
    for (int grown = 0; grown < 2; grown++) {
        struct ntff_input in;
        struct ntff_error err;
        const char *path = make_file("size", 5000);
        TAP_EQ_U64(ntff_input_open(&in, path, NULL, &err), NTFF_OK);
        TAP_EQ_U64(ntff_input_map(&in, &err), NTFF_OK);
        TAP_EQ_U64(truncate(path, grown ? 6000 : 4990), 0);
        TAP_EQ_U64(count_x(&in), grown ? 5000 : 4990);
        TAP_OK(ntff_input_changed(&in));
        ntff_input_close(&in);
    }
}

TAP_TEST(addresses_elsewhere_are_not_ours)
{
    struct ntff_input in;
    struct ntff_error err;
    int here = 0;
    TAP_OK(!ntff_input_fault(&here) && !ntff_input_fault(NULL));
    TAP_EQ_U64(ntff_input_open(&in, make_file("mine", 5000), NULL, &err), NTFF_OK);
    TAP_EQ_U64(ntff_input_map(&in, &err), NTFF_OK);
    const uint8_t *data = in.data;
    TAP_OK(!ntff_input_fault(&here));
    ntff_input_close(&in);
    TAP_OK(!ntff_input_fault(data));
}

TAP_MAIN()
