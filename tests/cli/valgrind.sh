#!/bin/bash
# Both programs under valgrind: no read of what is not set or not there, no leak.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
command -v valgrind >/dev/null || { echo "1..0 # SKIP valgrind is not installed"; exit 0; }
case $BUILD in
*asan* | *tsan* | *fuzz* | *cov*) echo "1..0 # SKIP instrumented already"; exit 0 ;;
esac
mkdir session
cp -r "$cases"/a-delimited/* session/
cp "$cases"/e-device/*/*vnc_0.ntff session/*/
"$tools/mkntff" "$SRC/tests/data/ntff/every_kind.txt" >every.ntff
head -c 3001 "$cases"/d-noisy-clocks/*/ntrace.pb >torn.pb
printf 'size 70x20\nkey j j 3 b 2 i\nkey q\ntype /nc\nkey Enter n ]\nkey w w m d m z\ndump\n' >keys
check() { # NAME COMMAND...: any exit status of its own is fine
    exits "$1" "${rc:-0}" valgrind -q --error-exitcode=77 --leak-check=full --show-leak-kinds=definite,indirect \
        --errors-for-leak-kinds=definite,indirect "${@:2}"
    [ ! -s "$TMP/stderr" ] || grep -q '^==' "$TMP/stderr" && sed 's/^/# /' "$TMP/stderr" | head -n 30
    return 0
}
check "convert" "$conv" -q -o t.pftrace session
check "convert, two threads, redacted, in gzip" "$conv" -q -j 2 --redact -o t.json.gz session
rc=3 check "convert, torn" "$conv" -q -o torn.pftrace torn.pb
rc=3 check "convert, every kind of device record" "$conv" -q --from 0s --to 1s -o every.pftrace every.ntff
check "convert, JSON" "$conv" -q -o j.pftrace "$cases/f-json.events.json"
check "report" "$conv" report --json -o r.json session
check "events" "$conv" events -q --device -o e.csv session
check "dump" "$conv" dump -q --records -o d.txt every.ntff
check "schema" "$conv" schema -q --from "$cases/schema.desc" -o s.proto
check "viewer, a page" "$tui" --print --width 90 session
check "viewer, keys" "$tui" --script keys session
finish
