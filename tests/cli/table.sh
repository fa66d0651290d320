#!/bin/bash
# ntff-conv table: columns against the vendor's list, contents against truth, sums against each other.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
vendor=$SRC/tests/data/vendor_columns.txt
"$SRC/samples/build.sh" session >build.log 2>&1

# -- the list
exits "--list" 0 "$conv" table --list
ok "--list has every table of the vendor's, and why not" python3 - stdout "$vendor" <<'PY'
import sys
lines = open(sys.argv[1]).read().splitlines()
have = {}
for line in lines[:-1]:
    name, yes, why = line.split(None, 2)
    have[name] = yes
    assert yes in ("yes", "no") and len(why) > 5
vendor = {l.split()[0] for l in open(sys.argv[2]) if not l.startswith("#")}
new = {"CompilerEnvVars", "CompilerFlags", "DgePhaseGroup", "DtypeSummary", "HostDeviceDmaUsage",
       "TimelineAnnotation"} # all their columns are guesses
assert set(have) == vendor | new, set(have) ^ (vendor | new)
wanted = """SystemProfileEvents SystemProfileMetadata SystemProfileHbmUsage CpuUsage HostMemUsage HbmAllocation
    Flow DeviceProfileList ExecutionInfo Metadata ActiveTime Instruction CcOp CcInstruction DmaPacket
    DmaPacketAggregated PendingDma DmaUsage SemaphoreUpdate Error Throttle ThrottleSummary
    HbmUsageSummaryByType OpcodeSummary Summary Warning SchemaFields""".split()
assert all(have[w] == "yes" for w in wanted)
assert lines[-1] == f"{sum(v == 'yes' for v in have.values())} of {len(have)} tables"
PY

# -- columns: SchemaFields lists what is written, table by table
exits "SchemaFields" 0 "$conv" table -q SchemaFields "$cases/f-json"
cp stdout schema.csv
ok "columns have the vendor's names and order, and none that is required is missing" \
    python3 - schema.csv "$vendor" <<'PY'
import csv, sys
from collections import defaultdict
vendor = defaultdict(list)
for line in open(sys.argv[2]):
    if not line.startswith("#"):
        table, column, req, src = line.split()
        vendor[table].append((column, req))
ours = defaultdict(list)
for row in csv.DictReader(open(sys.argv[1], newline="")):
    ours[row["table_name"]].append(row)
for table, rows in ours.items():
    names = [r["field_name"] for r in rows]
    known = [v for v, _ in vendor[table]]
    plain = [n for n in names if not n.startswith("x_")]
    assert not set(plain) - set(known), (table, set(plain) - set(known))
    assert plain == [k for k in known if k in plain], (table, "order")
    missing = [v for v, req in vendor[table] if req == "y" and v not in plain]
    assert not missing, (table, missing)
    required = {v for v, req in vendor[table] if req == "y"}
    assert all((r["field_required"] == "true") == (r["field_name"] in required)
               for r in rows if r["field_name"] in plain), table
    about = {r["field_name"]: r["field_description"] for r in rows}
    if "pcore_idx" in about:
        assert "physical core" in about["pcore_idx"], table
        assert table == "SystemProfileEvents" or "device_core_idx" in about["x_core_idx"], table
PY

# -- every table of three inputs: headers as in the schema, rows that parse, empty ones make no file
for input in "$cases/e-device" session "$SRC/tests/data/json/trace-event.json"; do
    name=$(basename "$input")
    exits "$name: --all" 0 "$conv" table -q --all -o "$name.csv" "$input"
    exits "$name: --all -f jsonl" 0 "$conv" table -q --all -f jsonl -o "$name.jsonl" "$input"
    ok "$name: files, headers, both formats alike" python3 - "$name" schema.csv <<'PY'
import csv, json, os, sys
from collections import defaultdict
columns = defaultdict(list)
for row in csv.DictReader(open(sys.argv[2], newline="")):
    columns[row["table_name"]].append(row)
files = sorted(os.listdir(sys.argv[1] + ".csv"))
assert [f[:-4] for f in files] == [f[:-6] for f in sorted(os.listdir(sys.argv[1] + ".jsonl"))]
assert {"SystemProfileEvents.csv", "ExecutionInfo.csv", "Metadata.csv", "SchemaFields.csv"} <= set(files)
for f in files:
    table = f[:-4]
    rows = list(csv.DictReader(open(f"{sys.argv[1]}.csv/{f}", newline="")))
    assert rows, f
    assert list(rows[0]) == [c["field_name"] for c in columns[table]], f
    lines = [json.loads(l) for l in open(f"{sys.argv[1]}.jsonl/{table}.jsonl")]
    assert len(lines) == len(rows)
    for a, b in zip(rows, lines):
        for c in columns[table]:
            v, text = b[c["field_name"]], a[c["field_name"]]
            if v is None:
                assert text == ""
                continue
            kind = {"i64": int, "i32": int, "f32": (int, float), "string": str, "bool": bool,
                    "[] of string": list}[c["field_type"]]
            assert isinstance(v, kind) and (kind is bool or not isinstance(v, bool)), (table, c, v)
            if c["field_maximum"]:
                assert float(c["field_minimum"]) <= v <= float(c["field_maximum"]), (table, c, v)
PY
done

# -- device tables against the truth
ok "device tables hold the instructions of the truth" python3 - e-device.csv "$cases/e-device.truth.json.gz" <<'PY'
import csv, gzip, json, sys
from collections import defaultdict
read = lambda t: list(csv.DictReader(open(f"{sys.argv[1]}/{t}.csv", newline="")))
truth = json.load(gzip.open(sys.argv[2]))
def union(spans):
    total, end = 0, 0
    for a, b in sorted(spans):
        total += max(0, b - max(a, end))
        end = max(end, b)
    return total
engines = ["Tensor", "Scalar", "GpSimd", "Vector", "Sync"]
by = defaultdict(list)
for d in truth["device"]:
    by[engines[d["engine"]]].append(d)
rows = read("Instruction")
assert len(rows) == len(truth["device"])
core = lambda r: 2 * int(r["x_nc_idx"]) + int(r["pcore_idx"]) # LNC=2
events = {(r["nc_idx"], r["pcore_idx"]) for r in read("SystemProfileEvents") if r["name"] == "nc_exec_running"}
for table in ("Instruction", "ActiveTime", "Summary"): # the machine's number joins them
    mine = {(r["x_nc_idx"], r["x_core_idx"]) for r in read(table)}
    assert mine and mine <= events, (table, mine, events)
assert all(int(r["x_core_idx"]) == core(r) for r in rows)
for name, ds in by.items():
    mine = [r for r in rows if r["engine"] == name]
    assert sorted((core(r), int(r["pc"])) for r in mine) == sorted((d["core"], d["pc"]) for d in ds)
    assert {r["x_engine_idx"] for r in mine} == {str(engines.index(name))}
    assert abs(sum(int(r["duration_ns"]) for r in mine) - sum(d["dur"] for d in ds)) <= len(ds)
    active = [r for r in read("ActiveTime") if r["engine"] == name]
    want = sum(union([(d["nc_ns"], d["nc_ns"] + d["dur"]) for d in ds if d["core"] == c])
               for c in {d["core"] for d in ds})
    got = sum(int(r["duration_ns"]) for r in active)
    assert abs(got - want) <= len(ds), (name, got, want)
    [summary] = [r for r in read("OpcodeSummary") if r["engine"] == name]
    assert int(summary["instruction_count"]) == len(ds)
    assert int(summary["active_time_ns"]) == got
    column = name.lower() + "_engine_"
    assert sum(int(r[column + "instruction_count"]) for r in read("Summary")) == len(ds)
    assert abs(sum(float(r[column + "active_time"]) for r in read("Summary")) - got / 1e9) < 1e-9
runs = [s for s in truth["spans"] if s["name"] == "nc_exec_running" and not s["drop"]]
execs = {(s["nc"], s["attrs"]["exec_id"]) for s in runs}
rows = read("ExecutionInfo")
assert {(int(r["x_nc_idx"]), r["x_exec_id"]) for r in rows} == execs and len(rows) == len(execs)
for r in rows:
    mine = [s for s in runs if (s["nc"], s["attrs"]["exec_id"]) == (int(r["x_nc_idx"]), r["x_exec_id"])]
    assert int(r["execution_start_ts"]) == min(s["ts"] for s in mine)
    assert int(r["execution_end_ts"]) == max(s["ts"] + s["dur"] for s in mine)
    assert int(r["num_subgraphs"]) == len(mine) == 2
assert [(r["nc_id"], r["process_id"]) for r in read("DeviceProfileList")] == [("0", "1000"), ("1", "1000")]
PY

# -- types outside the table are asked for as they are shown, or by number
for name in "type 47" type_47 47 "nc_exec_running, type 47"; do
    is "--type $name" "$("$conv" events -q --columns name --type "$name" session | grep -c '^type 47$')" 4
done
is "--type ^type 47" "$("$conv" events -q --columns name --type "^type 47" session | grep -c '^type 47$')" 0

# -- memory of the sample session: running totals are the sum of what is allocated
ok "HbmAllocation and SystemProfileHbmUsage agree at every moment" python3 - session.csv <<'PY'
import csv, sys
read = lambda t: list(csv.DictReader(open(f"{sys.argv[1]}/{t}.csv", newline="")))
live = read("HbmAllocation")
usage = read("SystemProfileHbmUsage")
assert len(live) > 20 and len(usage) > 20
kinds = {"WEIGHT": "weights_bytes", "IO": "io_bytes", "TENSOR": "tensors_bytes",
         "SCRATCHPAD": "shared_scratchpad_bytes", "INSTR_PE": "tensor_instructions_bytes",
         "DMA_RING": "dma_rings_runtime_bytes"}
for u in usage:
    t = int(u["timestamp"])
    now = [a for a in live if a["x_process_id"] == u["x_process_id"] and a["x_hbm_idx"] == u["hbm_idx"]
           and int(a["x_start_ts"]) <= t and (int(a["x_end_ts"]) > t or a["x_never_freed"] == "true")]
    size = lambda a: int(a["x_end_address"]) - int(a["start_address"])
    assert sum(map(size, now)) == int(u["total_bytes"]), (u, now)
    for kind, column in kinds.items():
        assert sum(size(a) for a in now if a["x_usage_type"] == kind) == int(u[column]), (kind, u)
peaks = {}
for u in usage:
    for kind, column in kinds.items():
        k = u["x_process_id"], u["hbm_idx"], kind
        peaks[k] = max(peaks.get(k, 0), int(u[column]))
got = {(r["x_process_id"], r["x_hbm_idx"], r["usage_type"]): int(r["usage_bytes"])
       for r in read("HbmUsageSummaryByType")}
assert got == {k: v for k, v in peaks.items() if v}
PY
ok "Flow names rows of SystemProfileEvents; host samples are all there" python3 - session.csv <<'PY'
import csv, sys
read = lambda t: list(csv.DictReader(open(f"{sys.argv[1]}/{t}.csv", newline="")))
events = {int(r["id"]): r for r in read("SystemProfileEvents")}
for f in read("Flow"):
    a, b = events[int(f["in_id"])], events[int(f["out_id"])]
    assert (a["name"], b["name"]) in (("kbl_exec_wait", "nc_exec_running"),
        ("async_post_request", "kbl_exec_wait")), (a["name"], b["name"])
    assert int(f["gap_time"]) == int(b["start_ts"]) - int(a["end_ts"])
    assert a["process_id"] == b["process_id"]
assert len(read("CpuUsage")) == 40 and len(read("HostMemUsage")) == 10
assert {r["cpu_id"] for r in read("CpuUsage")} <= set(map(str, range(200)))
PY
"$conv" events -q session >events.csv
same "SystemProfileEvents is what events writes" session.csv/SystemProfileEvents.csv events.csv

# -- mistakes
exits "an unknown table" 2 "$conv" table Foo session
says "says where to look" 'Foo: no such table; `ntff-conv table --list`'
exits "a table that is not supported" 2 "$conv" table TensorInfo session
says "says why" 'TensorInfo: not supported: needs the compiled model'
exits "no table" 2 "$conv" table
exits "--all without a directory" 2 "$conv" table --all session
exits "files that exist are kept" 1 "$conv" table -q --all -o session.csv session
exits "or replaced" 0 "$conv" table -q --all --force -o session.csv session
exits "names in any case" 0 "$conv" table -q cpuusage session
exits "not into the input" 1 "$conv" table -q --all -o session session
finish
