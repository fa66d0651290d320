#!/bin/bash
# ntff-conv events: rows as CSV, TSV and JSON lines, read back by Python's own readers.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
data=$SRC/tests/data/json

exits "csv" 0 "$conv" events -q "$data/events.json"
golden "csv: as expected" stdout "$SRC/tests/data/golden/events.csv"
cp stdout events.csv
exits "tsv" 0 "$conv" events -q -f tsv -o events.tsv "$data/events.json"
exits "jsonl" 0 "$conv" events -q -f jsonl -o events.jsonl "$data/events.json"
ok "three formats, one content" python3 - events.csv events.tsv events.jsonl <<'PY'
import csv, json, sys
a = list(csv.DictReader(open(sys.argv[1], newline="")))
b = []
lines = open(sys.argv[2]).read().split("\n")[:-1]
head = lines[0].split("\t")
for line in lines[1:]:
    cells = line.split("\t")
    assert len(cells) == len(head)
    b.append(dict(zip(head, (c.replace("\\\\", "\0").replace("\\t", "\t").replace("\\n", "\n")
                             .replace("\0", "\\") for c in cells))))
c = [json.loads(line) for line in open(sys.argv[3])]
assert len(a) == len(b) == len(c) == 46 and a == b
for x, y in zip(a, c):
    assert list(x) == list(y)
    for k, v in y.items():
        if k == "flow_id":
            assert (json.loads(x[k]) if x[k] else None) == v
        else:
            assert x[k] == ("" if v is None else str(v)), (k, x[k], v)
        if k in ("id", "start_ts", "end_ts", "duration_ns", "thread_id", "nc_idx"):
            assert type(v) is int
    if y["extra_attributes_json"]:
        extra = json.loads(y["extra_attributes_json"])
        assert "tracking_id" in extra
        # numbers above 2^53 are texts, smaller ones are not
        assert (type(extra["tracking_id"]) is str) == (y["nc_idx"] == 9)
PY

for case in a-delimited b-bare-raw; do
    exits "$case" 0 "$conv" events -q -o "$case.csv" "$cases/$case"
    ok "$case: the events of the truth, in time order" python3 - "$case.csv" "$cases/$case.truth.json.gz" <<'PY'
import csv, gzip, json, sys
from collections import Counter
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
truth = json.load(gzip.open(sys.argv[2]))["spans"]
assert [int(r["id"]) for r in rows] == list(range(1, len(rows) + 1))
starts = [int(r["start_ts"]) for r in rows]
assert starts == sorted(starts)
near = lambda t: round(t / 100) if "b-" in sys.argv[1] else t
def key(name, pid, ts, dur, nc):
    return name, pid, near(ts), near(dur or 0), nc
got = Counter()
for r in rows:
    extra = json.loads(r["extra_attributes_json"])
    assert int(r["end_ts"]) - int(r["start_ts"]) == int(r["duration_ns"])
    assert r["trace_event_source"] == ("neuron_hw" if r["name"] in
        ("nc_exec_running", "cc_running", "cc_exec_barrier", "numerical_err", "hw_notify",
         "timestamp_sync_point", "nc_model_switch") else "neuron_rt"), r
    assert r["instance_id"].startswith("i-EXAMPLE")
    if r["name"] == "timestamp_sync_point" or "unfinished" in extra or "start_lost" in extra:
        continue
    got[key(r["name"], int(r["process_id"]), int(r["start_ts"]), int(r["duration_ns"]), int(r["nc_idx"]))] += 1
want = Counter(key(s["name"], s["pid"], s["ts"], s["dur"], s["nc"]) for s in truth if not s["drop"])
if "b-" not in sys.argv[1]:
    assert got == want, (list((got - want))[:3], list((want - got))[:3])
else:
    assert sum(got.values()) == sum(want.values())
    host = lambda c: Counter({k: n for k, n in c.items() if k[0].startswith(("nrt_", "kbl_", "dmem"))})
    assert host(got) == host(want)
runs = [r for r in rows if r["name"] == "nc_exec_running" and r["flow_id"]]
waits = {f: r for r in rows if r["name"] == "kbl_exec_wait" and r["flow_id"]
         for f in json.loads(r["flow_id"])}
assert runs and all(f in waits for r in runs for f in json.loads(r["flow_id"]))
for r in runs:
    for f in json.loads(r["flow_id"]):
        assert json.loads(waits[f]["extra_attributes_json"])["exec_id"] == \
            json.loads(r["extra_attributes_json"])["exec_id"]
PY
done

# -- columns, device rows, ranges, filters
"$conv" events -q --columns name,id,name "$data/events.json" >columns.csv
is "columns in the order asked for" "$(sed -n 1,2p columns.csv | tr '\n' ' ')" "name,id,name nrt_load,1,nrt_load "
exits "an unknown column" 2 "$conv" events --columns nme "$data/events.json"
says "lists the known ones" 'no column nme; there are id,name,start_ts'
exits "a column of device profiles" 2 "$conv" events --columns name,engine "$data/events.json"
says "a column of device profiles: the option that adds it" 'no column engine without --device' "$TMP/stderr"
"$conv" events -q "$cases/e-device" >without.csv
"$conv" events -q --device "$cases/e-device" >with.csv
ok "--device adds the instructions" python3 - without.csv with.csv "$cases/e-device.truth.json.gz" <<'PY'
import csv, gzip, json, sys
without, with_ = (list(csv.DictReader(open(p, newline=""))) for p in sys.argv[1:3])
truth = json.load(gzip.open(sys.argv[3]))["device"]
instructions = [r for r in with_ if r["opcode"]]
assert len(instructions) == len(truth)
assert sorted(int(r["pc"]) for r in instructions) == sorted(d["pc"] for d in truth)
assert all(r["engine"] for r in instructions)
assert not any(r["name"] == i["name"] for r in without for i in instructions[:1])
assert len(without) < len(with_)
PY
"$conv" events -q --from 1ms --to 2ms --columns name "$data/events.json" >range.csv
# the trace begins at +500 ns, so the first call is cut, and the third one is still in
is "--from and --to" "$(sort range.csv | uniq -c | tr -s ' ' | tr '\n' ';')" \
    " 2 kbl_exec_pre; 2 kbl_exec_wait; 1 name; 4 nc_exec_running; 3 nrt_execute; 4 timestamp_sync_point;"
"$conv" events -q --core 9 --columns nc_idx "$data/events.json" >core.csv
is "filters" "$(sort -u core.csv | tr '\n' ' ')" "9 nc_idx "
"$conv" events -q "$data/events.json" -o packed.csv.gz
gzip -dc packed.csv.gz >unpacked.csv
same ".gz" unpacked.csv events.csv

# -- text that could hurt: quotes, commas, line breaks, escape sequences, bytes that are no UTF-8
printf '{"events":[{"event_type":"a,\\"b\\"\\n\\u001b[31m\\\\ \xff\xc3\xa9","phase":"instant","id":1,"nc_idx":0,"tracking_id":1,"thread_id":1,"data":{"k\\n\\"y":"v,\\"\\t\\u0007\\\\\xfe\xc3\xbc"},"timestamp_ns":1764000000000000000}]}' >odd.json
for form in csv tsv jsonl; do
    "$conv" events -q -f $form odd.json >odd.$form
    # é is c3 a9: 9f and below, and 7f, would be control characters
    ok "$form: no control characters, valid UTF-8" python3 - odd.$form <<'PY'
import sys
text = open(sys.argv[1], "rb").read().decode()
assert not [c for c in text if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160]
assert text.count("\n") == (1 if sys.argv[1].endswith("jsonl") else 2)
PY
done
ok "and they are read back" python3 - odd.csv odd.jsonl <<'PY'
import csv, json, sys
[a] = csv.DictReader(open(sys.argv[1], newline=""))
b = json.loads(open(sys.argv[2]).read())
assert b["name"] == 'a,"b"\n\x1b[31m\\ \ufffdé', ascii(b["name"])
extra = json.loads(a["extra_attributes_json"])
assert extra == json.loads(b["extra_attributes_json"])
assert extra['k\n"y'] == 'v,"\t\x07\\\ufffdü', ascii(extra)
PY

# -- a reader that stops reading
ok "quiet when the reader goes away" bash -c '"$1" events -q "$2" 2>err | head -n 1 >/dev/null; cat err >&2; test ! -s err' \
    - "$conv" "$cases/a-delimited"
exits "an output that exists" 1 "$conv" events -q "$data/events.json" -o events.csv
exits "a bad format" 2 "$conv" events -f xml "$data/events.json"
exits "losses" 3 "$conv" events -q "$data/cut.json"
finish
