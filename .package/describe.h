/* describe - what the build writes about the programs from their own tables: manual pages and
 * completions. Knows: conv, tui, proto - their tables only. */
#ifndef PACKAGE_DESCRIBE_H
#define PACKAGE_DESCRIBE_H

#include "conv/conv.h"

struct describe_command {
    const char *name, *about, *operands; /* name "" = the program has no commands */
    const char *long_about, *more;       /* NULL = none */
    struct conv_listed options[CONV_MAX_OPTIONS];
    size_t n_options;
};

struct describe_program {
    const char *name;  /* "ntff-conv" */
    const char *ident; /* "ntff_conv" */
    const struct describe_command *commands;
    size_t n_commands;
};

/* What can stand behind an option. */
enum describe_values {
    DESCRIBE_NONE,    /* takes no value */
    DESCRIBE_ANY,     /* nothing can be proposed */
    DESCRIBE_FILE,    /* the name of a file or directory */
    DESCRIBE_DIR,     /* of a directory */
    DESCRIBE_CHOICES, /* one of some words */
    DESCRIBE_LIST     /* several of them, with commas between */
};

#define DESCRIBE_MAX_WORDS 160
struct describe_value {
    enum describe_values kind;
    bool file; /* CHOICES: or a file */
    const char *words[DESCRIBE_MAX_WORDS];
    size_t n_words;
    char room[120]; /* holds words cut from the table */
};
void describe_value_of(const struct conv_listed *o, struct describe_value *v);

/* Names of the vendor's tables that can be written. Returns how many. */
size_t describe_tables(const char *names[DESCRIBE_MAX_WORDS]);

void describe_bash(const struct describe_program *p, FILE *to);
void describe_zsh(const struct describe_program *p, FILE *to);
/* Copies the mdoc source from; its lines @...@ become what they name. False: one names nothing. */
bool describe_page(const struct describe_program *p, FILE *from, FILE *to);

#endif
