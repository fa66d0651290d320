#!/bin/bash
# Captures nobody would record: what breaks viewers, or the program that reads them, must come out whole.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"

# -- more points of one time than a reader stacks in a row
python3 - >points.json <<'PY'
import json
t = 1764440000000000000
print(json.dumps({"events": [dict(event_type="hw_notify", phase="instant", nc_idx=0, tracking_id=i, timestamp_ns=t)
                             for i in range(3000)]}))
PY
exits "3000 points of one time: all written" 0 "$conv" -o points.pftrace --summary points.sum points.json
ok "3000 points of one time: no row holds more than readers keep" \
    python3 "$SRC/tests/check_pftrace.py" points.pftrace points.sum
if command -v trace_processor_shell >/dev/null; then
    is "3000 points of one time: trace_processor keeps all" \
        "$(trace_processor_shell query points.pftrace 'SELECT count(*) AS n FROM slice' 2>/dev/null | tail -n 1)" 3000
else
    skip "3000 points of one time: trace_processor keeps all" "no trace_processor_shell"
fi
finish
