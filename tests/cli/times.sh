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
refused "a date before the trace" 2 "before the trace begins; the trace reaches from $begin to" --from $((begin - 1))
refused "--from behind the end" 1 "the trace reaches from $begin to [0-9]+ \(0 to [0-9.]+ m?s\); times are .* with a unit: 20ms, 1.5s\$" --from 1h
refused "both behind the end" 1 "nothing between --from and --to; the trace reaches" --from 1h --to 2h
refused "--from not before --to" 2 'from is not before --to' --from 2ms --to 1ms
refused "--from behind all times" 1 'nothing between --from and --to; the trace reaches' --from 18446744073709551615
refused "--to 0" 2 "--to 0: before the trace begins; the trace reaches from $begin to" --to 0
# device time begins near 0: a small number may be meant, and is told how it was taken
cp "$cases"/e-device/i-EXAMPLE0_pid_1000/*vnc_0.ntff one.ntff
exits "--from 5 of a device profile alone" 0 "$conv" -q -o /dev/null --from 5 one.ntff
says "--from 5 of a device profile alone: how it was taken" '--from 5: taken as 5 ns; did you mean 5s or 5ms\?$'
for program in conv tui; do
    how=(-q -o /dev/null)
    [ $program = conv ] || how=(--print)
    exits "$program --to 0 of a device profile alone" 1 "${!program}" "${how[@]}" --to 0 one.ntff
    says "$program --to 0 of a device profile alone: what there is" 'nothing between --from and --to; the trace reaches from 0 to'
done
exits "--from 5s of a device profile alone" 1 "$conv" -q -o /dev/null --from 5s one.ntff
says "--from 5s of a device profile alone: what there is" 'the trace reaches from 0 to [0-9]+ \(0 to [0-9.]+ [mu]?s\)'

# findings are of everything that was read
cp -r "$in" cut && chmod -R u+w cut && truncate -s 20000 cut/*/ntrace.pb
of_all='counted over all that was read, not only from --from to --to$'
exits "losses, a window" 3 "$conv" -o t.pftrace --summary t.json --to 1ms cut
says "losses, a window: what they are of" "ntff-conv: these are $of_all"
is "losses, a window: the summary says it is one" "$(jq .clipped t.json)" true
exits "losses, no window" 3 "$conv" --force -o t.pftrace --summary t.json --force cut
is "losses, no window: nothing of it" "$(grep -c "all that was read" "$TMP/stderr") $(jq .clipped t.json)" "0 false"
exits "losses, a window: report" 3 "$conv" report -q --to 1ms cut
says "losses, a window: report says what they are of" "^Losses and repairs, $of_all" "$TMP/stdout"
exits "the begin as a date" 0 "$conv" -q -o /dev/null --from "$begin" "$in"
exits "ntff-tui: the begin as a date" 0 "$tui" --print --from "$begin" "$in"
exits "ntff-tui: no time at all" 2 "$tui" --print --from soon "$in"
says "ntff-tui: no time at all: is named" '--from soon: not a time'
exits "ntff-tui: percent" 0 "$tui" --print --from 25% --to 50% "$in"
finish
