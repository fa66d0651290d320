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
    renumber transcode "$desc" s1.desc "$cases/$c" s1-$c
    events got --schema s1.desc s1-$c
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
