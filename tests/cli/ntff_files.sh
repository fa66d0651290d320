#!/bin/bash
# Device profiles as files: versions, damage, pipes, filters by name, and what is said about them.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
script() { printf '%s\n' "$@" | "$tools/mkntff" -; }
body=("graph sg00 0 0" "run pe 0x1000 64" "blob 0 0 0"
    "start pe 1 1000000 1 0" "end pe 1 1100000 0 0" "start act 2 1000000 1 0" "end act 2 1100000 0 0")
script "${body[@]}" >good.ntff
spans() { "$conv" -q -f chrome -o - "$@" 2>/dev/null | jq '[.traceEvents[] | select(.cat == "instr")] | length'; }

is "a profile" "$(spans good.ntff)" 2
exits "says nothing if all is well" 0 "$conv" -o good.pftrace good.ntff
says "says nothing if all is well, but what its times are" "^ntff-conv: 2 device events .* are shown in device time"
is "says nothing else" "$(wc -l <"$TMP/stderr")" 1
is "from a pipe" "$("$conv" -q -f chrome -o - - <good.ntff | jq '.metadata.spans')" 2
gzip -k good.ntff
is "gzipped" "$(spans good.ntff.gz)" 2
is "--engine PE" "$(spans --engine PE good.ntff)" 1
is "--engine tensor,scalar" "$(spans --engine tensor,scalar good.ntff)" 2
is "--engine ^ACT" "$(spans --engine ^ACT good.ntff)" 1
exits "--ignore-instruction-trace: nothing is left" 1 "$conv" --ignore-instruction-trace -o none.pftrace good.ntff
exits "--core 1: nothing is left" 1 "$conv" --core 1 -o none.pftrace good.ntff

script "version 7" "${body[@]}" >seven.ntff
exits "a newer version is read" 0 "$conv" -o seven.pftrace seven.ntff
says "a newer version is named, with those supported" 'version 7, supported are 1 to 6'
is "a newer version: its spans" "$(spans seven.ntff)" 2

: >empty.ntff
exits "an empty file alone: nothing written" 1 "$conv" -o empty.pftrace empty.ntff
says "an empty file is no error of its own" 'no events found'
mkdir both && cp good.ntff empty.ntff both/
is "an empty file beside a good one" "$(spans both)" 2

size=$(stat -c %s good.ntff)
head -c $((size - 20)) good.ntff >cut.ntff
exits "a cut file: written with losses" 3 "$conv" -o cut.pftrace cut.ntff
says "a cut file: said, with the offset" 'ends in the middle of a record: cut.ntff offset 0x[0-9a-f]+ \(notifications are 64 bytes, 44 are there\)'
is "a cut file: whole records before the cut" "$(spans cut.ntff)" 1
exits "--strict writes nothing of it" 1 "$conv" --strict -o strict.pftrace cut.ntff

script "${body[@]}" "tail 24" >tail.ntff
exits "bytes behind the end: a loss" 3 "$conv" -o tail.pftrace tail.ntff
says "bytes behind the end: how many" '24 bytes were skipped'
script "${body[@]}" "raw 0x18000000 0 1200000" >reserved.ntff
exits "reserved records: a loss" 3 "$conv" -o reserved.pftrace reserved.ntff
says "reserved records: how many" '1 device record of a reserved type'

"$conv" info good.ntff >info.txt
says "info: what was found by test" 'field number of trace_info.trace_size +5 +\(found by test\)' info.txt
"$conv" --schema "$cases/schema.desc" info good.ntff >info.txt 2>/dev/null ||
    "$conv" info --schema "$cases/schema.desc" good.ntff >info.txt
says "info: or in the schema" 'field number of trace_info.trace_size +5 +\(.*schema.desc\)' info.txt

# a profile that cannot be read twice, beside files that can
mkdir -p once/host
cp "$cases"/e-device/*/*.pb once/host
for one in "$cases"/e-device/*/*_vnc_0.ntff; do cp "$one" once/p.ntff; done
for window in "" "--from 1764440000000000000 --to 1764440000060000000" "--from 1ms --to 6ms"; do
    # shellcheck disable=SC2086 # an option and its value
    {
        "$conv" -q -f chrome $window -o once/file.json --summary once/file.sum once/host once/p.ntff
        "$conv" -q -f chrome $window -o once/in.json --summary once/in.sum once/host - <once/p.ntff
        cat once/p.ntff | "$conv" -q -f chrome $window -o once/pipe.json --summary once/pipe.sum once/host /dev/stdin
    }
    want=$(jq -c '[.spans, .samples, .records.in]' once/file.sum)
    is "on standard input, ${window:-whole}: as many as from the file" \
        "$(jq -c '[.spans, .samples, .records.in]' once/in.sum)" "$want"
    is "through a pipe, ${window:-whole}: as many" "$(jq -c '[.spans, .samples, .records.in]' once/pipe.sum)" "$want"
    ok "and there are some, ${window:-whole}" test "$(jq .spans once/file.sum)" -gt 1
    rm once/*.json once/*.sum
done
finish
