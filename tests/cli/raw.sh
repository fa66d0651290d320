#!/bin/bash
# Dumps of raw nrt_sys_trace_event records (112 bytes each): the run of a truth file must come out.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
python3 "$SRC/tests/gen/mkraw.py" "$cases/a-delimited.truth.json.gz" >events.bin
cat >check.py <<'PY'
import os, sys
sys.path.insert(0, os.path.join(os.environ["SRC"], "tests"))
import e2e, truth
tap = e2e.Tap()
t = e2e.truth("a-delimited")
# the raw payloads hold numbers only: no model id of device spans, no text of a memory type or algorithm
for s in t["spans"]:
    s["pid"] = 0
    if s["name"] == "nc_exec_running":
        s["attrs"].pop("model_id", None)
    for key in ("mem_type", "algorithm"):
        s["attrs"].pop(key, None)
for form in ("perfetto", "chrome"):
    r = e2e.convert("events.bin", form=form)
    tap.ok(r.status == 0, f"{form}: exit status", r.status, r.err)
    for s in r.spans:
        s["pid"] = 0
    truth.compare(r, t, lambda s: s["ts"]).report(tap, truth.KINDS, form)
with open(os.path.join(e2e.TMP, "events.bin"), "rb") as f:
    data = f.read()
r = e2e.convert(e2e.write("cut.bin", data[:-50]))
lost = data[-112 + 88] == 2  # an instant is gone as a whole, a stop leaves its span unfinished
tap.eq((r.status, len(r.spans)), (3, len(t["spans"]) - lost),
       "cut in the last record: the rest is there, said as a loss")
tap.ok("cut.bin" in r.err and (str(len(data) - 112) in r.err or hex(len(data) - 112) in r.err),
       "cut in the last record: file and offset are named", r.err)
tap.end()
PY
exec python3 check.py
