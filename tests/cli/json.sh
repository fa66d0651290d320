#!/bin/bash
# ntff-conv json: the runtime's own event JSON back out, from JSON (byte for byte), ntrace.pb and rows.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
data=$SRC/tests/data/json

# -- what came in as such goes out as such
for file in "$data/events.json" "$cases/f-json.events.json"; do
    exits "$(basename "$file"): all written" 0 "$conv" json -q -o out.json "$file"
    same "$(basename "$file"): byte for byte" out.json "$file"
    rm -f out.json
done
for form in two-documents.json behind-log.txt; do
    "$conv" json -q "$data/$form" >out.json 2>/dev/null
    same "$form: one document, the same events" out.json "$data/events.json"
done

# keys in another order, unknown keys, every type of value
cat >odd.json <<'JSON'
{"events":[{"timestamp_ns":1764000000000000001,"new_key":[1,{"a":null}],"event_type":"générique \"x\"\t","data":{"t":"","u":18446744073709551615,"i":-5,"b":true,"f":1.50,"e":1e-7,"n":null,"r":{"k":[1,2.0,"ü"]}},"phase":"instant","flag":false},{"event_type":"generic","phase":"unknown","id":0,"data":{},"timestamp_ns":1764000000000000002},{"event_type":"generic","phase":"paused","timestamp_ns":1764000000000000003}],"data_version":7}
JSON
"$conv" json -q odd.json 2>/dev/null >out.json
echo >>out.json # the file above ends in a newline
same "any order of keys, any type of value" out.json odd.json

gzip -c "$data/events.json" >events.json.gz
"$conv" json -q - <events.json.gz >out.json 2>/dev/null
same "gzip on standard input" out.json "$data/events.json"

# -- from ntrace.pb: the eleven keys in the runtime's order, and the records of the capture
exits "ntrace.pb: all written" 0 "$conv" json -q "$cases/a-delimited" -o a.json
ok "ntrace.pb: keys, types, counts as in the truth" python3 - a.json "$cases/a-delimited.truth.json.gz" <<'PY'
import gzip, json, sys
from collections import Counter
events = json.load(open(sys.argv[1]))
assert events["data_version"] == 2
events = events["events"]
keys = ["event_type", "phase", "id", "nc_idx", "nc_local_id", "tracking_id", "thread_id",
        "worker_gid", "data", "timestamp_ns"]
for e in events:
    assert [k for k in e if k != "nrta_seq_id"] == keys, list(e)
    for k in keys:
        kind = str if k in ("event_type", "phase") else dict if k == "data" else int
        assert type(e[k]) is kind, (k, e[k])
    assert e["nc_local_id"] == e["id"] & ((1 << 50) - 1)
truth = json.load(gzip.open(sys.argv[2]))["spans"]
want, starts = Counter(), Counter()
for s in truth:
    if s["dur"] is None:
        want[s["name"], "instant", s["ts"]] += 1
        continue
    if s["drop"] != "start":
        want[s["name"], "start", s["ts"]] += 1
    if s["drop"] != "stop":
        want[s["name"], "stop", s["ts"] + s["dur"]] += 1
got = Counter((e["event_type"], e["phase"], e["timestamp_ns"]) for e in events
              if e["event_type"] != "timestamp_sync_point")
assert got == want, (got - want, want - got)
runs = [e for e in events if e["event_type"] == "nc_exec_running" and e["phase"] == "start"]
assert all(type(e["data"]["exec_id"]) is int for e in runs)
copies = [e for e in events if e["event_type"] == "dmem_buf_copyin" and e["phase"] == "start"]
assert copies and all(type(e["data"]["mem_type"]) is str for e in copies)
PY

# -- read again, it gives the same spans
"$conv" -q -f chrome --no-args -o first.json "$cases/a-delimited"
"$conv" -q -f chrome --no-args -o second.json a.json
ok "ntrace.pb and its JSON give the same spans" python3 - first.json second.json <<'PY'
import json, sys
def spans(path):
    t = json.load(open(path))
    base = t["baseTimeNanoseconds"]
    return sorted((e["name"], base + round(e["ts"] * 1000), round(e.get("dur", -1) * 1000))
                  for e in t["traceEvents"] if e["ph"] in "Xi" and e["name"] != "timestamp_sync_point")
a, b = (spans(p) for p in sys.argv[1:])
assert len(a) > 100 and a == b, [x for x in zip(a, b) if x[0] != x[1]][:5]
PY

# -- rows are whole spans: a start and a stop each
"$conv" json -q "$data/trace-event.json" >rows.json 2>/dev/null
is "rows: 33 starts, 33 stops, 11 instants" \
    "$(jq -c '[.events[].phase] | group_by(.) | map([.[0], length])' rows.json)" \
    '[["instant",11],["start",33],["stop",33]]'
ok "rows: stops end where the row ends" python3 - rows.json <<'PY'
import json, sys
a, b = [e for e in json.load(open(sys.argv[1]))["events"] if e["event_type"] == "nc_exec_running"][:2]
assert b["timestamp_ns"] - a["timestamp_ns"] == 180000
assert b["data"]["nc_timestamp_ns"] - a["data"]["nc_timestamp_ns"] == 180000
PY

# -- several processes: their records cannot be told apart, which is said
b=$cases/b-bare-raw
exits "two processes" 3 "$conv" json "$b" -o mixed.json
is "two processes: one line says so" "$(grep -c processes "$TMP/stderr")" 1
says "two processes: which, and what to do" 'events of 2 processes cannot be told apart in this JSON: pid 1000, pid 1001; write a file of each with --process N$'
exits "two processes, quiet" 3 "$conv" json -q "$b"
silent "two processes, quiet: nothing said"
for pid in 1000 1001; do
    exits "--process $pid: all written" 0 "$conv" json --process $pid "$b" -o $pid.json
    is "--process $pid: not a word" "$(grep -c 'told apart' "$TMP/stderr")" 0
done
is "the two together are all" "$(jq -s 'map(.events | length) | add' 1000.json 1001.json)" "$(jq '.events | length' mixed.json)"
mkdir -p hosts/i-A_pid_7 hosts/i-B_pid_7
cp "$cases"/a-delimited/*/ntrace.pb hosts/i-A_pid_7
cp -r "$cases"/b-bare-raw/*1000/* hosts/i-B_pid_7
exits "one pid on two instances" 3 "$conv" json hosts -o hosts.json
says "one pid on two instances: --process would not do" 'i-A pid 7, i-B pid 7; write a file of each, from its own directory$'

# -- mistakes
exits "an output that exists is kept" 1 "$conv" json "$data/events.json" -o a.json
says "and --force is offered" 'exists.*--force replaces it'
exits "no events" 1 "$conv" json "$SRC/Makefile"
finish
