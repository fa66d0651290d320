/* bash - completions for bash: a function that knows, by command and option, what may follow.
 *
 * It stands alone: bash-completion loads it, but none of its helpers is used, so `source` will do.
 * A value can be the next word or stand behind "=", which bash splits off as a word of its own. */
#include ".package/describe.h"

#include <string.h>

static void put_names(const struct describe_program *p, FILE *to)
{
    const char *sep = "";
    for (size_t i = 0; i < p->n_commands; i++, sep = " ")
        fprintf(to, "%s%s", sep, p->commands[i].name);
}

static void put_options(const struct describe_command *c, FILE *to)
{
    const char *sep = "";
    for (size_t i = 0; i < c->n_options; i++, sep = " ") {
        const struct conv_listed *o = &c->options[i];
        if (o->letter)
            fprintf(to, "%s-%c", sep, o->letter), sep = " ";
        fprintf(to, "%s--%s", sep, o->name);
        if (o->alias)
            fprintf(to, " --%s", o->alias);
    }
}

static void put_words(const struct describe_value *v, FILE *to)
{
    for (size_t i = 0; i < v->n_words; i++)
        fprintf(to, "%s%s", i ? " " : "", v->words[i]);
}

/* The case of one option of one command that takes a value. */
static void put_value(const struct describe_program *p, const struct describe_command *c,
                      const struct conv_listed *o, FILE *to)
{
    struct describe_value v;
    describe_value_of(o, &v);
    if (v.kind == DESCRIBE_NONE)
        return;
    fprintf(to, "    %s:--%s", c->name, o->name);
    if (o->alias)
        fprintf(to, " | %s:--%s", c->name, o->alias);
    if (o->letter)
        fprintf(to, " | %s:-%c", c->name, o->letter);
    fputs(") ", to);
    switch (v.kind) {
    case DESCRIBE_FILE:
        fprintf(to, "_%s_files -f", p->ident);
        break;
    case DESCRIBE_DIR:
        fprintf(to, "_%s_files -d", p->ident);
        break;
    case DESCRIBE_CHOICES:
    case DESCRIBE_LIST:
        fprintf(to, "_%s_%s '", p->ident, v.kind == DESCRIBE_LIST ? "list" : "words");
        put_words(&v, to);
        fputs("'", to);
        if (v.file)
            fprintf(to, "; _%s_files -f", p->ident);
        break;
    default:
        fputs(":", to);
    }
    fputs("; return ;;\n", to);
}

/* What stands before the function: adders to COMPREPLY, "@" is the program. */
static const char helpers[] =
    "_@_words() { # WORDS: those that begin as cur does\n"
    "    local word\n"
    "    for word in $1; do\n"
    "        [[ $word == \"$cur\"* ]] && COMPREPLY+=(\"$word\")\n"
    "    done\n"
    "}\n"
    "_@_list() { # WORDS: the same for what stands behind the last comma\n"
    "    local before='' cur=$cur word\n"
    "    [[ $cur == *,* ]] && before=${cur%,*}, cur=${cur##*,}\n"
    "    for word in $1; do\n"
    "        [[ $word == \"$cur\"* ]] && COMPREPLY+=(\"$before$word\")\n"
    "    done\n"
    "    compopt -o nospace 2>/dev/null\n"
    "}\n"
    "_@_files() { # -f or -d\n"
    "    local name\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    while IFS= read -r name; do\n"
    "        COMPREPLY+=(\"$name\")\n"
    "    done < <(compgen \"$1\" -- \"$cur\")\n"
    "}\n";

static void put_helpers(const struct describe_program *p, FILE *to)
{
    for (const char *c = helpers; *c; c++)
        if (*c == '@')
            fputs(p->ident, to);
        else
            fputc(*c, to);
}

/* Where the command line stands: the word, the one before it, the command. */
static void put_opening(const struct describe_program *p, FILE *to)
{
    fprintf(
        to,
        "_%s() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' w\n"
        "    COMPREPLY=()\n"
        "    if [[ $cur == = ]]; then\n"
        "        cur=''\n"
        "    elif [[ $prev == = && $COMP_CWORD -ge 2 ]]; then\n"
        "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
        "    fi\n",
        p->ident);
    if (p->n_commands == 1)
        return;
    fputs("    case ${COMP_WORDS[1]} in\n    ", to);
    for (size_t i = 0; i < p->n_commands; i++)
        fprintf(to, "%s%s", i ? " | " : "", p->commands[i].name);
    fprintf(to,
            ") [[ $COMP_CWORD -gt 1 ]] && command=${COMP_WORDS[1]} ;;\n    esac\n"
            "    if [[ $COMP_CWORD -eq 1 && $cur != -* ]]; then\n        _%s_words '",
            p->ident);
    put_names(p, to);
    fprintf(to, "'\n    fi\n    [[ $command ]] || command=%s\n", p->commands[0].name);
}

static void put_operands(const struct describe_program *p, FILE *to)
{
    const char *tables[DESCRIBE_MAX_WORDS];
    size_t n = describe_tables(tables);
    fputs("    case $command in\n", to);
    for (size_t i = 0; i < p->n_commands; i++) {
        const struct describe_command *c = &p->commands[i];
        if (!*c->operands)
            fprintf(to, "    %s) return ;;\n", c->name);
        if (strncmp(c->operands, "NAME", 4) != 0)
            continue;
        fprintf(to, "    %s)\n        local tables=' ", c->name);
        for (size_t k = 0; k < n; k++)
            fprintf(to, "%s ", tables[k]);
        fprintf(to,
                "'\n        for w in \"${COMP_WORDS[@]:2:COMP_CWORD-2}\"; do\n"
                "            [[ $w == --all || $tables == *\" $w \"* ]] && tables=''\n"
                "        done\n        [[ $tables ]] && _%s_words \"$tables\" && return\n"
                "        ;;\n",
                p->ident);
    }
    fprintf(to, "    esac\n    _%s_files -f\n}\n", p->ident);
}

void describe_bash(const struct describe_program *p, FILE *to)
{
    fprintf(to, "# bash completion of %s; the build makes this file from the tables of options\n",
            p->name);
    put_helpers(p, to);
    put_opening(p, to);
    fputs("    case $command:$prev in\n", to);
    for (size_t i = 0; i < p->n_commands; i++)
        for (size_t k = 0; k < p->commands[i].n_options; k++)
            put_value(p, &p->commands[i], &p->commands[i].options[k], to);
    fputs("    esac\n    if [[ $cur == -* ]]; then\n        case $command in\n", to);
    for (size_t i = 0; i < p->n_commands; i++) {
        fprintf(to, "        '%s') _%s_words '", p->commands[i].name, p->ident);
        put_options(&p->commands[i], to);
        fputs("' ;;\n", to);
    }
    fputs("        esac\n        return\n    fi\n", to);
    put_operands(p, to);
    fprintf(to, "complete -F _%s %s\n", p->ident, p->name);
}
