/* What --open says: the browser for files it can hold, trace_processor for larger ones. */
#include "tests/tap.h"

#include "conv/openhint.h"
#include "proto/base.h"

#include <stdlib.h>
#include <string.h>

static char *hint(const char *path, uint64_t bytes)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    TAP_OK(f != NULL);
    conv_open_hint(f, path, bytes);
    fclose(f);
    return text;
}

TAP_TEST(browser)
{
    char *text = hint("out put.pftrace", 200000000);
    TAP_OK(strstr(text, "https://ui.perfetto.dev") != NULL);
    TAP_OK(strstr(text, "\"Open trace file\", out put.pftrace.\n") != NULL);
    TAP_OK(strstr(text, "trace_processor") == NULL);
    free(text);
}

TAP_TEST(large)
{
    char *text = hint("output.pftrace", 200000001);
    TAP_OK(strstr(text, "\n  trace_processor --httpd output.pftrace\n") != NULL);
    TAP_OK(strstr(text, "200 MB") && strstr(text, "port 9001"));
    TAP_OK(strstr(text, "https://ui.perfetto.dev") != NULL);
    free(text);
}

TAP_TEST(names_for_the_shell)
{
    static const char *const cases[][2] = {
        {"a b.json", " 'a b.json'\n"}, {"it's", " 'it'\\''s'\n"},        {"$(x)", " '$(x)'\n"},
        {"-o.json", " ./-o.json\n"},   {"t\x1b[31m", " 't\\x1B[31m'\n"}, {"é.json", " 'é.json'\n"},
    };
    for (size_t i = 0; i < NTFF_ARRAY_LEN(cases); i++) {
        char *text = hint(cases[i][0], UINT64_C(1) << 40);
        TAP_CONTEXT("%s", text);
        TAP_OK(strstr(text, cases[i][1]) != NULL);
        free(text);
    }
}

TAP_MAIN()
