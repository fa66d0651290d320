/* ntff-conv - argv to a command, its exit code to the shell. */
#include "conv/conv.h"

#include "proto/guard.h"
#include "proto/near.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int overview(char *program)
{
    puts("Usage: ntff-conv [convert] [OPTIONS] INPUT...\n"
         "       ntff-conv COMMAND [OPTIONS] ...\n"
         "Converts profiles of AWS Neuron devices. An INPUT is a session directory or a file.\n"
         "\nCommands:");
    size_t n;
    const struct conv_command *commands = conv_commands(&n);
    for (size_t i = 0; i < n; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].about);
    puts("\n'ntff-conv COMMAND --help' lists the options of a command; those of convert:\n");
    char help[] = "--help", *args[] = {program, help, NULL};
    return conv_cmd_convert(2, args);
}

/* Scratch arrays come and go by the megabyte while a trace is put in order: their pages stay for
 * the next one instead of being fetched from the kernel, zeroed, each time. */
static void keep_pages(void)
{
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

/* What was printed must also have arrived. */
static int finish(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    conv_say("standard output: cannot write: %s", strerror(errno));
    return CONV_NOTHING;
}

/* A first word that is no file and nearly a command. */
static const char *mistyped_command(const char *word)
{
    size_t n;
    const struct conv_command *commands = conv_commands(&n);
    struct ntff_near near = ntff_near_begin(word, strlen(word));
    if (word[0] == '-' || strpbrk(word, "/.") || access(word, F_OK) == 0)
        return NULL;
    for (size_t i = 0; i < n; i++)
        ntff_near_try(&near, commands[i].name);
    return ntff_near_found(&near);
}

/* "help COMMAND" and "--help COMMAND": what "COMMAND --help" says. */
static int help_of(char *program, char *word)
{
    size_t n;
    const struct conv_command *commands = conv_commands(&n);
    struct ntff_near near = ntff_near_begin(word, strlen(word));
    char help[] = "--help", *args[] = {word, help, NULL};
    if (strcmp(word, "help") == 0)
        return overview(program);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(word, commands[i].name) == 0)
            return commands[i].run(2, args);
        ntff_near_try(&near, commands[i].name);
    }
    const char *meant = ntff_near_found(&near);
    conv_say(meant ? "%s: no such command; did you mean %s?" : "%s: no such command", word, meant);
    return CONV_USAGE;
}

static int run(int argc, char **argv)
{
    bool asks = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0),
         word = argc > 1 && strcmp(argv[1], "help") == 0 && access("help", F_OK) != 0;
    if (argc == 3 && (word || (asks && argv[2][0] != '-')))
        return help_of(argv[0], argv[2]);
    if (argc == 2 && (asks || word))
        return overview(argv[0]);
    size_t n;
    const struct conv_command *commands = conv_commands(&n);
    for (size_t i = 0; argc > 1 && i < n; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    const char *meant = argc > 1 ? mistyped_command(argv[1]) : NULL;
    if (meant) {
        conv_say("%s: no such file and no command; did you mean %s?", argv[1], meant);
        return CONV_USAGE;
    }
    return conv_cmd_convert(argc, argv);
}

int main(int argc, char **argv)
{
    ntff_guard_inputs();
    ntff_guard_outputs();
    keep_pages();
    return finish(run(argc, argv));
}
