/* commands - the table of commands: main runs them by it, and the manual page and the completions
 * are made from it. */
#include "conv/conv.h"

static const struct conv_command commands[] = {
    {"convert", conv_cmd_convert, &conv_cli_convert,
     "write one Perfetto or Chrome trace (the default)"},
    {"info", conv_cmd_info, &conv_cli_info, "say what is in the files and how it was read"},
    {"dump", conv_cmd_dump, &conv_cli_dump, "print every field of every message of a file as text"},
    {"report", conv_cmd_report, &conv_cli_report,
     "say on one page what a capture shows; checks for scripts"},
    {"events", conv_cmd_events, &conv_cli_events,
     "write one row per event: CSV, TSV or JSON lines"},
    {"table", conv_cmd_table, &conv_cli_table, "write tables of the vendor's profile schema"},
    {"diff", conv_cmd_diff, &conv_cli_diff, "compare two captures by event name and engine"},
    {"json", conv_cmd_json, &conv_cli_json, "write runtime events as the runtime's own JSON"},
    {"schema", conv_cmd_schema, &conv_cli_schema,
     "show, save or compare the schema files are read with"},
};

const struct conv_command *conv_commands(size_t *n)
{
    *n = NTFF_ARRAY_LEN(commands);
    return commands;
}
