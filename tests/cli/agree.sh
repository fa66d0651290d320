#!/bin/bash
# Totals of events, table, report and diff agree with each other, with the Perfetto trace as an independent
# reader sees it, and with SQL over it where trace_processor_shell is installed.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
"$SRC/samples/build.sh" session >build.log 2>&1
processor=$(command -v trace_processor_shell || true)

agree() { # NAME INPUT
    local name=$1 input=$2
    "$conv" events -q --device -f jsonl -o "$name.events" "$input"
    "$conv" table -q SystemProfileEvents -f jsonl -o "$name.table" "$input"
    "$conv" report -q --json -o "$name.report" "$input"
    "$conv" diff -q --json -o "$name.diff" "$input" "$input"
    "$conv" -q -o "$name.pftrace" --summary "$name.summary" "$input"
    ok "$name: events, table, report, diff, trace" python3 - "$name" "$SRC/tests" <<'PY'
import json, sys
from collections import Counter
name = sys.argv[1]
sys.path.insert(0, sys.argv[2])
import pftrace
load = lambda end: json.load(open(f"{name}.{end}"))
lines = lambda end: [json.loads(l) for l in open(f"{name}.{end}")]
def sums(pairs):
    n, total = Counter(), Counter()
    for key, dur in pairs:
        n[key] += 1
        total[key] += dur
    return n, total
events = lines("events")
count, total = sums((e["name"], e["duration_ns"]) for e in events)

trace = pftrace.read(f"{name}.pftrace")
got = sums((s["name"], s["dur"] or 0) for s in trace.slices)
assert got == (count, total), [k for k in count if got[0][k] != count[k] or got[1][k] != total[k]][:5]
starts = Counter((s["name"], s["ts"]) for s in trace.slices)
assert starts == Counter((e["name"], e["start_ts"]) for e in events)

summary, report, diff = load("summary"), load("report"), load("diff")
assert summary["spans"] + summary["instants"] == len(events) == \
    report["capture"]["spans"] + report["capture"]["instants"]

table = lines("table") # events without those of device profiles
system = [e for e in events if e["id"] in {t["id"] for t in table}]
assert [[e[k] for k in t] for e, t in zip(system, table)] == [list(t.values()) for t in table]

def partial(e):
    extra = json.loads(e["extra_attributes_json"] or "{}")
    return "unfinished" in extra or "start_lost" in extra
whole = [e for e in events if not partial(e)]
n, ns = sums((e["name"], e["duration_ns"]) for e in whole)
for d in diff["events"]:
    a = d["a"]
    assert a == d["b"] and d["cost_ns"] == 0
    assert a["count"] + a["instants"] == n[d["name"]], d
    assert a["partial"] == count[d["name"]] - n[d["name"]], d
    assert a["total_ns"] == ns[d["name"]], d

assert sum(c["spans"] - c["partial_spans"] for c in report["cores"]) == n["nc_exec_running"]
assert sum(h["nrt_execute"]["count"] for h in report["host_calls"]) == n["nrt_execute"]
assert sum(c["count"] for c in report["collectives"]) == n["cc_running"]
assert sum(c["duration_ns"]["sum"] for c in report["collectives"]) == ns["cc_running"]
assert sum(e["instruction_count"] for e in report["engines"]) == sum(1 for e in whole if e["opcode"])
assert sum(e["instruction_time_ns"] for e in report["engines"]) == \
    sum(e["duration_ns"] for e in whole if e["opcode"])
assert sum(d["dma_transfer_count"] - d["partial"] for d in report["dma"]) == \
    sum(1 for e in whole if e["queue_idx"] is not None and e["duration_ns"])
assert report["capture"]["flows"] == summary["flows"]["written"]
json.dump({k: [count[k], total[k]] for k in count}, open(f"{name}.totals", "w"))
PY
    if [ -z "$processor" ]; then
        skip "$name: SQL over the trace" "trace_processor_shell is not on PATH"
        return
    fi
    echo "SELECT name, count(*) AS n, sum(dur) AS total FROM slice GROUP BY name;" >query.sql
    "$processor" -q query.sql "$name.pftrace" >"$name.sql" 2>sql.err
    ok "$name: SQL over the trace" python3 - "$name" <<'PY'
import csv, json, sys
want = json.load(open(sys.argv[1] + ".totals"))
got = {r[0]: [int(r[1]), int(r[2])] for r in csv.reader(open(sys.argv[1] + ".sql")) if r and r[0] != "name"}
assert got == want, [(k, got.get(k), want.get(k)) for k in set(got) | set(want) if got.get(k) != want.get(k)][:5]
PY
}

agree session session
agree a "$cases/a-delimited"
agree b "$cases/b-bare-raw"
agree d "$cases/d-noisy-clocks"
agree e "$cases/e-device"
agree events "$SRC/tests/data/json/events.json"
agree rows "$SRC/tests/data/json/trace-event.json"
finish
