#!/bin/bash
# --from and --to as people type them, the same in both programs: what is refused, and with which words.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
need_program "$tui"
in=$cases/a-delimited
begin=$("$conv" info --json "$in" | jq .trace.begin_unix_ns)

# refused NAME STATUS PATTERN ARGS...: by both programs, with the same line
refused() {
    exits "convert $1" "$2" "$conv" -q -o /dev/null "${@:4}" "$in"
    says "convert $1: says why" "$3"
    exits "report $1" "$2" "$conv" report -q "${@:4}" "$in"
    says "report $1: says why" "$3"
    exits "ntff-tui --print $1" "$2" "$tui" --print "${@:4}" "$in"
    says "ntff-tui --print $1: says why" "$3"
}
refused "--from 5" 2 '--from 5: before the trace begins; did you mean 5s or 5ms\?$' --from 5
refused "--to 20" 2 '--to 20: before the trace begins; did you mean 20s or 20ms\?$' --to 20
refused "a date before the trace" 2 "before the trace begins, at $begin\$" --from $((begin - 1))
refused "--from behind the end" 1 "the trace reaches from $begin to [0-9]+ \(0 to [0-9.]+ m?s\)\$" --from 1h
refused "both behind the end" 1 "nothing between --from and --to; the trace reaches" --from 1h --to 2h
refused "--from not before --to" 2 'from is not before --to' --from 2ms --to 1ms
exits "the begin as a date" 0 "$conv" -q -o /dev/null --from "$begin" "$in"
exits "ntff-tui: the begin as a date" 0 "$tui" --print --from "$begin" "$in"
exits "ntff-tui: no time at all" 2 "$tui" --print --from soon "$in"
says "ntff-tui: no time at all: is named" '--from soon: not a time'
exits "ntff-tui: percent" 0 "$tui" --print --from 25% --to 50% "$in"
finish
