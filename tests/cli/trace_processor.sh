#!/bin/bash
# Perfetto's own trace processor loads both outputs of every capture and finds what was written, nothing
# else, and nothing to complain about. Skipped where it is not installed (it is in no distribution).
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
command -v trace_processor_shell >/dev/null || { echo "1..0 # SKIP no trace_processor_shell on PATH"; exit 0; }

check() { # NAME OUTPUT ARGS...
    local name=$1 out=$2 rc=0
    "$conv" -q --force -o "$out" --summary sum.json "${@:3}" || rc=$?
    [ $rc = 0 ] || [ $rc = 3 ] || { fail "$name" "ntff-conv ended with $rc"; return; }
    ok "$name" python3 "$SRC/tests/check_tp.py" "$out" sum.json
}

for case in a-delimited b-bare-raw c-second-numbering d-noisy-clocks e-device f-json f-json.events.json; do
    check "$case: perfetto" t.pftrace "$cases/$case"
    check "$case: chrome" t.json "$cases/$case"
done
check "--compact" t.pftrace --compact "$cases/e-device"
check "--no-args" t.pftrace --no-args "$cases/e-device"
check "gzip" t.pftrace.gz "$cases/b-bare-raw"
check "chrome, gzip" t.json.gz "$cases/b-bare-raw"
check "a window" t.pftrace --from 2ms --to 6ms "$cases/a-delimited"
check "several sessions with equal pids" t.pftrace "$cases/a-delimited" "$cases/b-bare-raw" "$cases/c-second-numbering"
check "several sessions with equal pids, chrome" t.json "$cases/a-delimited" "$cases/b-bare-raw" "$cases/c-second-numbering"
check "device clocks unaligned" t.pftrace --clock device "$cases/e-device"
for group in instance_id lnc_idx thread_id process_id,lnc_idx; do
    check "grouped by $group" t.pftrace --primary-group $group --secondary-group thread_id "$cases/b-bare-raw"
done
finish
