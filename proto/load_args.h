/* load_args - the options about reading, as both programs take them: one table of names and help
 * texts, applied to a struct ntff_load_options.
 * Knows: load.
 * Names follow the vendor's command line where it has the option [AWS:PF]; aliases are short forms.
 * Memory: texts are borrowed (argv outlives the load); the schema belongs to the setup. */
#ifndef NTFF_LOAD_ARGS_H
#define NTFF_LOAD_ARGS_H

#include "load.h"

struct ntff_load_arg {
    const char *name;  /* without dashes */
    const char *alias; /* short form, NULL = none */
    const char *arg;   /* name of the value, NULL = takes none */
    const char *help;  /* one line or two, no newline */
    uint8_t kind;      /* private */
    uint16_t offset;   /* private */
};

struct ntff_load_setup {
    struct ntff_load_options options;
    const char *schema_path;    /* --schema; NULL = none given */
    struct ntff_schema *schema; /* loaded by finish */
    bool memory_given;
};

/* The table. */
const struct ntff_load_arg *ntff_load_args(size_t *n);
/* By name or alias, NULL if there is none. */
const struct ntff_load_arg *ntff_load_arg_find(const char *name);
/* By letter, likewise, for the few that have one; and the letter of an option, 0 = none. */
const struct ntff_load_arg *ntff_load_arg_letter(int letter);
char ntff_load_arg_letter_of(const struct ntff_load_arg *a);

/* Applies one option; value is ignored if a->arg is NULL. 0 = good, -1 = bad value (err says which
 * were possible). */
int ntff_load_args_apply(struct ntff_load_setup *s, const struct ntff_load_arg *a,
                         const char *value, struct ntff_error *err) NTFF_MUST_CHECK;

/* After the last option: loads the schema (env_schema, the value of NTFF_SCHEMA, unless --schema
 * was given; NULL or "" = built-in) and sets the memory limit, half of the machine's memory unless
 * given. Errors: those of ntff_schema_load. */
enum ntff_status ntff_load_setup_finish(struct ntff_load_setup *s, const char *env_schema,
                                        struct ntff_error *err) NTFF_MUST_CHECK;
void ntff_load_setup_done(struct ntff_load_setup *s);

/* What getopt_long means by returning c, '?' or ':', in words: optopt_ is its optopt, word the last
 * argument it took whole: for a mistake in the middle of a word of letters that is another one. A
 * letter that is no printable ASCII is told as -\xC3. Of an ambiguous option the candidates are
 * named, of an unknown one the nearest there is. longs ends with a name of NULL. */
struct option;
void ntff_option_mistake(int c, int optopt_, const char *word, const struct option *longs,
                         char *out, size_t cap);

/* "1500", "64M", "2GiB" (powers of 1024) -> bytes; false if it is none. */
bool ntff_parse_bytes(const char *text, size_t *bytes);

#endif
