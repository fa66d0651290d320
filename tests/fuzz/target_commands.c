/* The commands of ntff-conv besides convert, as the shell would call them, on one file of any kind.
 * Choice 0 picks the command line. JSON that comes out is JSON. */
#include "tests/fuzz/fuzz.h"

#include "conv/conv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Standard output is a file in memory. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    int fd = memfd_create("stdout", MFD_CLOEXEC);
    FUZZ_OK(fd >= 0 && dup2(fd, STDOUT_FILENO) == STDOUT_FILENO);
    close(fd);
    fuzz_quiet(false);
    return 0;
}

enum { MOST_WORDS = 10 };
enum kind { PLAIN, JSON, LINES };

static const struct {
    int (*run)(int argc, char **argv);
    const char *words; /* @ = input */
    enum kind kind;
} commands[] = {
    {conv_cmd_report, "report -q @", PLAIN},
    {conv_cmd_report, "report -q --json @", JSON},
    {conv_cmd_report, "report -q --redact --json --top 2 @", JSON},
    {conv_cmd_events, "events -q --device -f csv @", PLAIN},
    {conv_cmd_events, "events -q -f jsonl @", LINES},
    {conv_cmd_events, "events -q --device --redact -f jsonl @", LINES},
    {conv_cmd_table, "table -q -f jsonl SystemProfileEvents @", LINES},
    {conv_cmd_table, "table -q -f jsonl Instruction @", LINES},
    {conv_cmd_table, "table -q -f tsv DmaPacket @", PLAIN},
    {conv_cmd_json, "json -q @", JSON},
    {conv_cmd_info, "info @", PLAIN},
    {conv_cmd_dump, "dump @", PLAIN},
    {conv_cmd_dump, "dump --raw @", PLAIN},
    {conv_cmd_dump, "dump --records --offsets @", PLAIN},
    {conv_cmd_diff, "diff --json @ @", JSON},
    {conv_cmd_convert, "convert -q -f chrome --redact -o - @", JSON},
};

/* Texts of traces are shown, never sent: no control characters but line ends and tabs. */
static void check_text(const char *p, size_t len)
{
    FUZZ_OK(ntff_utf8_ok(p, len));
    for (size_t i = 0; i < len; i++)
        FUZZ_OK((uint8_t)p[i] >= 0x20 || p[i] == '\n' || p[i] == '\t' || p[i] == '\r');
}

static void check_lines(const char *p, size_t len, enum kind kind)
{
    for (const char *end = p + len, *nl; p < end; p = nl + 1) {
        nl = kind == LINES ? memchr(p, '\n', (size_t)(end - p)) : NULL;
        nl = nl != NULL ? nl : end;
        const char *bad = fuzz_check_json((struct ntff_slice){p, (size_t)(nl - p)});
        if (bad != NULL)
            FUZZ_FAIL("%s", bad);
    }
}

static void check_output(enum kind kind)
{
    FUZZ_OK(fflush(stdout) == 0);
    off_t len = lseek(STDOUT_FILENO, 0, SEEK_END);
    if (len <= 0)
        return;
    char *text = mmap(NULL, (size_t)len, PROT_READ, MAP_SHARED, STDOUT_FILENO, 0);
    FUZZ_OK(text != MAP_FAILED);
    check_text(text, (size_t)len);
    if (kind != PLAIN)
        check_lines(text, (size_t)len, kind);
    munmap(text, (size_t)len);
    FUZZ_OK(ftruncate(STDOUT_FILENO, 0) == 0 && lseek(STDOUT_FILENO, 0, SEEK_SET) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < FUZZ_CHOICES)
        return 0;
    unsigned which = data[0] % NTFF_ARRAY_LEN(commands);
    const char *in = fuzz_file(0, data + FUZZ_CHOICES, size - FUZZ_CHOICES);
    char words[160], *argv[MOST_WORDS + 4], *save = NULL;
    int argc = 0;
    static char jobs[] = "-j1", memory[] = "--max-memory=256M";
    snprintf(words, sizeof words, "%s", commands[which].words);
    for (char *w = strtok_r(words, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
        argv[argc++] = *w == '@' ? (char *)in : w;
        if (argc == 1 && commands[which].run != conv_cmd_dump) {
            argv[argc++] = jobs;
            argv[argc++] = memory;
        }
    }
    argv[argc] = NULL;
    int code = commands[which].run(argc, argv);
    if (code == CONV_USAGE)
        FUZZ_FAIL("not a command line: %s", commands[which].words);
    FUZZ_OK(code == CONV_ALL || code == CONV_NOTHING || code == CONV_LOSSES);
    check_output(code == CONV_NOTHING ? PLAIN : commands[which].kind);
    return 0;
}
