/* zsh - completions for zsh: one _arguments call for each command. Texts go into brackets and
 * quotes, so what would end those is escaped; a help text ends where its details begin. */
#include ".package/describe.h"

#include <string.h>

/* In '...[HERE]...': ' and ] end something, \ and : are special. */
static void put_escaped(const char *text, size_t len, FILE *to)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\'')
            fputs("'\\''", to);
        else if (strchr("[]\\:", text[i]))
            fprintf(to, "\\%c", text[i]);
        else
            fputc(text[i], to);
    }
}

/* Up to the first detail: "; ", ": " or " (". */
static void put_gist(const char *help, FILE *to)
{
    size_t len = strlen(help);
    static const char *const ends[] = {"; ", ": ", " ("};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(ends); i++) {
        const char *end = strstr(help, ends[i]);
        if (end && end > help + 8 && (size_t)(end - help) < len)
            len = (size_t)(end - help);
    }
    put_escaped(help, len, to);
}

static void put_words(const struct describe_value *v, const char *sep, FILE *to)
{
    for (size_t i = 0; i < v->n_words; i++)
        fprintf(to, "%s%s", i ? sep : "", v->words[i]);
}

static void put_action(const struct conv_listed *o, FILE *to)
{
    struct describe_value v;
    describe_value_of(o, &v);
    if (!o->arg)
        return;
    const char *message = v.kind == DESCRIBE_CHOICES ? o->name : o->arg;
    fputc(':', to);
    put_escaped(message, strlen(message), to);
    fputc(':', to);
    switch (v.kind) {
    case DESCRIBE_FILE:
        fputs("_files", to);
        break;
    case DESCRIBE_DIR:
        fputs("_files -/", to);
        break;
    case DESCRIBE_CHOICES:
        if (v.file)
            fputs("{_alternative \"words\\:word\\:(", to);
        else
            fputc('(', to);
        put_words(&v, " ", to);
        fputs(v.file ? ")\" \"files\\:file\\:_files\"}" : ")", to);
        break;
    case DESCRIBE_LIST:
        fputs("_values -s , ", to);
        fprintf(to, "%s ", o->name);
        put_words(&v, " ", to);
        break;
    default:
        fputc(' ', to);
    }
}

static void put_spec(const struct conv_listed *o, const char *name, FILE *to)
{
    bool repeats = strcmp(o->name, "fail-on") == 0;
    fputs("        '", to);
    if (repeats)
        fputc('*', to);
    else if (o->letter || o->alias) {
        fputc('(', to);
        if (o->letter)
            fprintf(to, "-%c ", o->letter);
        fprintf(to, "--%s%s%s)", o->name, o->alias ? " --" : "", o->alias ? o->alias : "");
    }
    if (name)
        fprintf(to, "--%s%s[", name, o->arg ? "=" : "");
    else
        fprintf(to, "-%c%s[", o->letter, o->arg ? "+" : "");
    put_gist(o->help, to);
    fputc(']', to);
    put_action(o, to);
    fputs("' \\\n", to);
}

static void put_operands(const struct describe_command *c, FILE *to)
{
    const char *tables[DESCRIBE_MAX_WORDS];
    size_t n = describe_tables(tables);
    if (strncmp(c->operands, "NAME", 4) == 0) {
        fputs("        '1:table:(", to);
        for (size_t i = 0; i < n; i++)
            fprintf(to, "%s%s", i ? " " : "", tables[i]);
        fputs(")' \\\n", to);
    }
    fputs(*c->operands ? "        '*:input:_files'\n" : "        && return\n", to);
}

static void put_command(const struct describe_program *p, const struct describe_command *c,
                        FILE *to)
{
    fprintf(to, "_%s%s%s() {\n    _arguments -s -S \\\n", p->ident, *c->name ? "_" : "", c->name);
    for (size_t i = 0; i < c->n_options; i++) {
        const struct conv_listed *o = &c->options[i];
        put_spec(o, o->name, to);
        if (o->alias)
            put_spec(o, o->alias, to);
        if (o->letter)
            put_spec(o, NULL, to);
    }
    put_operands(c, to);
    fputs("}\n\n", to);
}

void describe_zsh(const struct describe_program *p, FILE *to)
{
    fprintf(to,
            "#compdef %s\n# zsh completion of %s; the build makes this file from the tables of "
            "options\n\n",
            p->name, p->name);
    for (size_t i = 0; i < p->n_commands; i++)
        put_command(p, &p->commands[i], to);
    if (p->n_commands > 1) {
        fprintf(to, "_%s() {\n    local -a commands=(\n", p->ident);
        for (size_t i = 0; i < p->n_commands; i++) {
            fprintf(to, "        '%s:", p->commands[i].name);
            put_escaped(p->commands[i].about, strlen(p->commands[i].about), to);
            fputs("'\n", to);
        }
        fprintf(to,
                "    )\n    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
                "        _describe -t commands command commands\n        _files\n"
                "    elif (( CURRENT > 2 && ${commands[(I)$words[2]:*]} )); then\n"
                "        local command=$words[2]\n        shift words\n        (( CURRENT-- ))\n"
                "        _%s_$command\n    else\n        _%s_%s\n    fi\n}\n\n",
                p->ident, p->ident, p->commands[0].name);
    }
    fprintf(to,
            "if [[ $funcstack[1] == _%s ]]; then\n    _%s \"$@\"\nelse\n    compdef _%s %s\nfi\n",
            p->name, p->ident, p->ident, p->name);
}
