#!/bin/bash
# Captures rewritten to other field numbers: with their schema, and by the structural tests alone, the events must
# be those of the original. A schema of another numbering must be noticed.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
export NTFF_SCHEMA=
desc=$cases/schema.desc
renumber() { python3 "$SRC/tests/schemas.py" "$@"; }
# events OUT ARGS...: converts to Chrome JSON and keeps the events alone, without what names the schema
events() {
    "$conv" -q -f chrome -o t.json --force "${@:2}" 2>"$TMP/stderr" || [ $? = 3 ] || return 1
    jq -c '.traceEvents[]' t.json >"$1"
}
captures="a-delimited b-bare-raw e-device"
for c in $captures; do
    events "$c.want" --schema "$desc" "$cases/$c"
    ok "$c: there is something to compare" [ "$(wc -l <"$c.want")" -gt 300 ]
done

"$conv" schema --format descriptor >known.desc
renumber shuffle 1 "$desc" s1.desc
for c in $captures; do
    renumber transcode "$desc" s1.desc "$cases/$c" "s1-$c"
    events got --schema s1.desc "s1-$c"
    same "$c, all numbers new, with its schema" got "$c.want"
done

# what is public stays, the rest moves; ntrace_event in each of its three readings
for event in table ser candidate; do
    seed=${#event}
    renumber public "$seed" "$desc" known.desc p.desc $event
    for c in $captures; do
        rm -rf p
        renumber transcode "$desc" p.desc "$cases/$c" p
        events got p
        same "$c, unknown numbers new, events by '$event', no schema" got "$c.want"
        events got --schema p.desc p
        same "$c, unknown numbers new, events by '$event', with its schema" got "$c.want"
    done
done

# types of the same wire kind, fields that are new, gone or renamed
mkdir types
"$conv" schema --from "$desc" -o types/
sed -i -e 's/uint64 timestamp = 2/int64 timestamp = 2/' -e 's/uint32 event_type = 7/uint64 event_type = 7/' \
    -e 's/string hint = 6/bytes hint = 6/' -e 's/ntrace_event_phase_type phase = 14/uint32 phase = 14/' \
    -e '/uint64 parent_id = 11/d' -e 's/uint32 status = 13;/&\n  map<string, uint64> new_one = 77;/' \
    -e 's/uint64 data = 3/uint64 other_name = 3/' types/neuron_trace.proto
sed -i -e 's/uint64 trace_offset = 4/int64 trace_offset = 4/' -e 's/uint32 nc_idx = 3/uint64 nc_idx = 3/' \
    -e 's/repeated notification_buffer_size notification_buffer_sizes/repeated notification_buffer_size buffers/' \
    -e 's/engine_index = 3/which = 3/' types/ntff.proto
protoc -Itypes -otypes.desc ntff.proto neuron_trace.proto
for c in $captures; do
    events got --schema types.desc "$cases/$c"
    same "$c, types changed, fields added, removed and renamed" got "$c.want"
done

# the schema of another version
for c in $captures; do
    exits "$c, a schema that does not fit" 0 "$conv" -v -f chrome -o t.json --force --schema s1.desc "$cases/$c"
    says "$c, a schema that does not fit: is said" 'do not fit the schema given'
    is "$c, a schema that does not fit: no event is lost" "$(jq -c '.traceEvents[] | [.ts, .name]' t.json | md5sum)" \
        "$(jq -c '[.ts, .name]' "$c.want" | md5sum)"
done
"$conv" info --schema s1.desc s1-a-delimited >info.txt
says "info: names the schema that read a file" 's1\.desc' info.txt
finish
