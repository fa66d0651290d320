/* describe - prints, from the tables that also parse the command line,
 *
 *   describe bash PROGRAM       completions for bash
 *   describe zsh PROGRAM        completions for zsh
 *   describe page PROGRAM FILE  the manual page FILE with the lines @...@ filled in
 *
 * so that an option added to a table is in all of them with the next build. What may stand behind
 * an option is read off the name of its value: FILE and DIR are names, words in small letters
 * between bars stand for themselves; for a few lists the words are those of another table. */
#include ".package/describe.h"

#include "conv/eventrow.h"
#include "conv/metrics.h"
#include "conv/tables.h"
#include "proto/event_types.h"
#include "proto/notif.h"
#include "tui/args.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* -- values --------------------------------------------------------------------------------------
 */

static void add_word(struct describe_value *v, const char *word)
{
    if (word && v->n_words < DESCRIBE_MAX_WORDS)
        v->words[v->n_words++] = word;
}

/* Lists whose words are in another table. */
static bool known_list(const char *name, struct describe_value *v)
{
    if (strcmp(name, "system-trace-filter-event-type") == 0) {
        add_word(v, "hardware");
        add_word(v, "software");
        for (uint32_t i = 0; ntff_event_type(i); i++)
            add_word(v, ntff_event_type(i)->name);
    } else if (strcmp(name, "columns") == 0) {
        for (size_t i = 0; i < CONV_EVENT_COLUMNS; i++)
            add_word(v, conv_event_columns[i]);
    } else if (strcmp(name, "engine") == 0) {
        for (unsigned i = 0; ntff_engine_code(i); i++)
            add_word(v, ntff_engine_code(i));
    }
    v->kind = v->n_words ? DESCRIBE_LIST : v->kind;
    return v->n_words > 0;
}

static bool is_literal(const char *word)
{
    return islower((unsigned char)word[0]) || isdigit((unsigned char)word[0]);
}

void describe_value_of(const struct conv_listed *o, struct describe_value *v)
{
    char *save;
    *v = (struct describe_value){.kind = o->arg ? DESCRIBE_ANY : DESCRIBE_NONE};
    if (!o->arg || known_list(o->name, v))
        return;
    if (strcmp(o->name, "fail-on") == 0) {
        v->kind = DESCRIBE_CHOICES;
        for (size_t i = 0; i < conv_metric_count(); i++)
            add_word(v, conv_metric_name(i));
        return;
    }
    snprintf(v->room, sizeof v->room, "%s", o->arg);
    for (char *w = strtok_r(v->room, "|", &save); w; w = strtok_r(NULL, "|", &save)) {
        if (strcmp(w, "FILE") == 0)
            v->file = true;
        else if (strcmp(w, "DIR") == 0 && v->kind == DESCRIBE_ANY)
            v->kind = DESCRIBE_DIR;
        else if (is_literal(w))
            add_word(v, w);
    }
    if (v->n_words)
        v->kind = DESCRIBE_CHOICES;
    else if (v->file)
        v->kind = DESCRIBE_FILE;
}

size_t describe_tables(const char *names[DESCRIBE_MAX_WORDS])
{
    size_t n = 0;
    for (size_t i = 0; i < conv_table_count() && n < DESCRIBE_MAX_WORDS; i++)
        if (conv_table_at(i)->rows)
            names[n++] = conv_table_at(i)->name;
    return n;
}

/* -- programs ------------------------------------------------------------------------------------
 */

static struct describe_command *room_for(size_t n)
{
    struct describe_command *c = calloc(n, sizeof *c);
    if (!c) {
        fputs("describe: out of memory\n", stderr);
        exit(1);
    }
    return c;
}

static struct describe_program conv_program(void)
{
    size_t n;
    const struct conv_command *list = conv_commands(&n);
    struct describe_command *c = room_for(n);
    for (size_t i = 0; i < n; i++) {
        c[i].name = list[i].name;
        c[i].about = list[i].about;
        c[i].operands = list[i].cli->operands;
        c[i].long_about = list[i].cli->about;
        c[i].more = list[i].cli->more;
        c[i].n_options = conv_cli_list(list[i].cli, c[i].options);
    }
    return (struct describe_program){"ntff-conv", "ntff_conv", c, n};
}

static struct describe_program tui_program(void)
{
    size_t n, n_load;
    const struct tui_option *own = tui_options(&n);
    const struct ntff_load_arg *load = ntff_load_args(&n_load);
    struct describe_command *c = room_for(1);
    c->name = "";
    c->operands = "INPUT...";
    for (size_t i = 0; i < n && c->n_options < CONV_MAX_OPTIONS; i++)
        c->options[c->n_options++] = (struct conv_listed){
            .letter = own[i].letter, .name = own[i].name, .arg = own[i].arg, .help = own[i].help};
    for (size_t i = 0; i < n_load && c->n_options < CONV_MAX_OPTIONS; i++)
        c->options[c->n_options++] = (struct conv_listed){ntff_load_arg_letter_of(&load[i]),
                                                          load[i].name,
                                                          load[i].alias,
                                                          load[i].arg,
                                                          load[i].help,
                                                          true};
    return (struct describe_program){"ntff-tui", "ntff_tui", c, 1};
}

static int page(const struct describe_program *p, const char *path)
{
    FILE *from = fopen(path, "r");
    if (!from) {
        perror(path);
        return 1;
    }
    bool good = describe_page(p, from, stdout);
    fclose(from);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("Usage: describe bash|zsh PROGRAM, describe page PROGRAM FILE\n", stderr);
        return 2;
    }
    struct describe_program p = strcmp(argv[2], "ntff-tui") == 0 ? tui_program() : conv_program();
    int code = 0;
    if (strcmp(argv[1], "bash") == 0)
        describe_bash(&p, stdout);
    else if (strcmp(argv[1], "zsh") == 0)
        describe_zsh(&p, stdout);
    else
        code = argc > 3 ? page(&p, argv[3]) : 2;
    free((void *)p.commands);
    return fflush(stdout) == 0 && !ferror(stdout) ? code : 1;
}
