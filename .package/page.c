/* page - fills the tables into a manual page in mdoc. The source keeps the prose; a line that is a
 * comment of the form
 *
 *   .\" @commands@        the commands of the program
 *   .\" @command NAME@    what a command does, its options, the end of its help
 *   .\" @reading@         the options about reading, which most commands share
 *   .\" @tables@, @figures@   what can be asked for by name
 *
 * is replaced. Everything else is copied. */
#include ".package/describe.h"

#include "conv/metrics.h"

#include <ctype.h>
#include <string.h>

/* Text as mdoc takes it: dashes are dashes, a line is no macro, a sentence has a line of its own.
 */
static void put_text(const char *text, FILE *to)
{
    bool first = true;
    for (const char *c = text; *c; c++) {
        if (first && (*c == '.' || *c == '\''))
            fputs("\\&", to);
        first = *c == '\n';
        if (*c == '-')
            fputs("\\-", to);
        else if (*c == '\\')
            fputs("\\e", to);
        else if (*c == ' ' && c > text + 1 && strchr(".!", c[-1]) && isupper((unsigned char)c[1]))
            fputc('\n', to), first = true;
        else
            fputc(*c, to);
    }
    fputc('\n', to);
}

static void put_option(const struct conv_listed *o, FILE *to)
{
    fputs(".It", to);
    if (o->letter)
        fprintf(to, " Fl %c ,", o->letter);
    fprintf(to, " Fl Fl %s", o->name);
    if (o->arg && o->alias)
        fprintf(to, " Ar %s", o->arg);
    if (o->alias)
        fprintf(to, " , Fl Fl %s", o->alias);
    if (o->arg)
        fprintf(to, " Ar %s", o->arg);
    fputc('\n', to);
    put_text(o->help, to);
}

static void put_options(const struct describe_command *c, bool reading, FILE *to)
{
    fputs(".Bl -tag -width Ds\n", to);
    for (size_t i = 0; i < c->n_options; i++)
        if (c->options[i].reading == reading)
            put_option(&c->options[i], to);
    fputs(".El\n", to);
}

static bool takes_reading(const struct describe_command *c)
{
    return c->n_options && c->options[c->n_options - 1].reading;
}

/* The end of a help text: indented lines are examples. */
static void put_more(const char *more, FILE *to)
{
    char line[300];
    for (const char *p = more; *p;) {
        size_t len = strcspn(p, "\n"), indent = strspn(p, " ");
        snprintf(line, sizeof line, "%.*s", (int)len, p);
        if (indent)
            fputs(".Dl $ ", to);
        put_text(line + indent, to);
        p += len + (p[len] == '\n');
    }
}

static void put_command(const struct describe_program *p, const struct describe_command *c,
                        FILE *to)
{
    fprintf(to, ".Ss %s\n.Ic %s %s\n", c->name, p->name, c->name);
    if (*c->operands)
        fprintf(to, ".Op Ar options\n.Ar %s\n.Pp\n", c->operands);
    else
        fputs(".Op Ar options\n.Pp\n", to);
    put_text(c->long_about, to);
    put_options(c, false, to);
    if (takes_reading(c) || c->more)
        fputs(".Pp\n", to);
    if (takes_reading(c))
        fputs("Also the options under\n.Sx Reading .\n", to);
    if (c->more)
        put_more(c->more, to);
}

static void put_commands(const struct describe_program *p, FILE *to)
{
    fputs(".Bl -tag -width convert -compact\n", to);
    for (size_t i = 0; i < p->n_commands; i++) {
        fprintf(to, ".It Ic %s\n", p->commands[i].name);
        put_text(p->commands[i].about, to);
    }
    fputs(".El\n", to);
}

static void put_figures(FILE *to)
{
    fputs(".Bl -tag -width Ds -compact\n", to);
    for (size_t i = 0; i < conv_metric_count(); i++) {
        fprintf(to, ".It Cm %s\n", conv_metric_name(i));
        put_text(conv_metric_about(i), to);
    }
    fputs(".El\n", to);
}

static void put_tables(FILE *to)
{
    const char *tables[DESCRIBE_MAX_WORDS];
    size_t n = describe_tables(tables);
    for (size_t i = 0; i < n; i++)
        fprintf(to, ".Cm %s%s\n", tables[i], i + 1 < n ? " ," : " .");
}

/* What stands between the @s of a line, or false. */
static bool placeholder(const char *line, char what[40])
{
    static const char begin[] = ".\\\" @";
    size_t len = strlen(line), head = sizeof begin - 1;
    if (len < head + 3 || strncmp(line, begin, head) != 0 || strcmp(line + len - 2, "@\n") != 0)
        return false;
    snprintf(what, 40, "%.*s", (int)(len - head - 2), line + head);
    return true;
}

static bool fill(const struct describe_program *p, const char *what, FILE *to)
{
    for (size_t i = 0; strncmp(what, "command ", 8) == 0 && i < p->n_commands; i++)
        if (strcmp(what + 8, p->commands[i].name) == 0) {
            put_command(p, &p->commands[i], to);
            return true;
        }
    if (strcmp(what, "commands") == 0)
        put_commands(p, to);
    else if (strcmp(what, "reading") == 0)
        put_options(&p->commands[0], true, to);
    else if (strcmp(what, "figures") == 0)
        put_figures(to);
    else if (strcmp(what, "tables") == 0)
        put_tables(to);
    else
        return false;
    return true;
}

bool describe_page(const struct describe_program *p, FILE *from, FILE *to)
{
    char line[2000], what[40];
    while (fgets(line, sizeof line, from)) {
        if (!placeholder(line, what))
            fputs(line, to);
        else if (!fill(p, what, to)) {
            fprintf(stderr, "describe: %s names nothing\n", what);
            return false;
        }
    }
    return true;
}
