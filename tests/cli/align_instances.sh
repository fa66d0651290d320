#!/bin/sh
# Two instances with the same collectives, the second host clock 5 ms ahead: alone they keep their clocks
# and say so; with --align-instances the second is shifted back and the trace says by how much.
echo 1..5
mkdir -p "$TMP/in/i-A_pid_1000" "$TMP/in/i-B_pid_1000"
gzip -dc "$SRC/tests/data/cases/f-json.events.json.gz" >"$TMP/a.json" 2>/dev/null ||
    cp "$SRC/tests/data/cases/f-json.events.json" "$TMP/a.json"
cp "$TMP/a.json" "$TMP/in/i-A_pid_1000/events.json"
python3 - "$TMP/a.json" "$TMP/in/i-B_pid_1000/events.json" <<'P'
import json, sys
doc = json.load(open(sys.argv[1]))
for e in doc["events"]:
    e["timestamp_ns"] += 5000000
    if "cpu_timestamp_ns" in e["data"]:
        e["data"]["cpu_timestamp_ns"] += 5000000
json.dump(doc, open(sys.argv[2], "w"))
P
check() { if [ "$2" = "$3" ]; then echo "ok - $1"; else echo "not ok - $1: got $2, expected $3"; fi; }

starts() { # difference of the first nrt_load of both instances in ns
    python3 - "$1" <<'P'
import json, sys
ev = json.load(open(sys.argv[1]))["traceEvents"]
t = {}
for e in ev:
    if e.get("name") == "nrt_load" and e["ph"] == "X":
        t.setdefault(e["pid"], []).append(round(e["ts"] * 1000))
lo = sorted(min(v) for v in t.values())
print(len(lo), lo[-1] - lo[0])
P
}
conv=$BUILD/ntff-conv
"$conv" -v -o "$TMP/plain.json" "$TMP/in" 2>"$TMP/err"
check "without the option both clocks are kept" "$(starts "$TMP/plain.json")" "2 5000000"
check "and a note says so" "$(grep -c 'keep their own host clock' "$TMP/err")" 1
"$conv" -q --align-instances -o "$TMP/aligned.json" "$TMP/in" 2>"$TMP/err"
check "aligned, both begin together" "$(starts "$TMP/aligned.json")" "2 0"
"$conv" info --align-instances "$TMP/in" >"$TMP/info" 2>&1
check "info states the shift" "$(grep -c 'shifted by -5.0 ms' "$TMP/info")" 1
check "and the reference" "$(grep -c 'the clock the others are put on' "$TMP/info")" 1
