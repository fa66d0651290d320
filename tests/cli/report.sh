#!/bin/bash
# ntff-conv report: text, JSON, checks. Numbers are held against hand-computed ones and against a
# second computation, in Python, over the truth of the simulated captures.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
data=$SRC/tests/data/json
want=$SRC/tests/data/golden

# -- the run of tests/data/json/README.md, by hand: each execution takes from +7 us to +187.75 us, one
#    every millisecond, on two logical cores of two physical cores
exits "report" 0 "$conv" report -q "$data/events.json"
sed -i "s|$SRC/||g" stdout
golden "text: as expected" stdout "$want/report.txt"
exits "report --json" 0 "$conv" report -q --json "$data/events.json"
cp stdout report.json
exits "report -o .json" 0 "$conv" report -q -o named.json "$data/events.json"
same "report -o .json: JSON" named.json report.json
exits "diff -o .json.gz" 0 "$conv" diff -q -o diff.json.gz "$data/events.json" "$data/events.json"
ok "diff -o .json.gz: JSON" bash -c 'gzip -dc diff.json.gz | jq -e .version'
ok "JSON: as computed by hand" python3 - report.json <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
assert r["version"] == 1
B = 1764000000000000000
assert [(c["core"]["nc"], c["pcores"], c["executions"], c["spans"]) for c in r["cores"]] == \
    [(0, 2, 3, 6), (9, 2, 3, 6)]
for c, late in zip(r["cores"], (0, 90000)):
    first, last = B + 1000000 + late + 7000, B + 3000000 + late + 187750
    assert (c["begin_ns"], c["end_ns"]) == (first, last)
    assert c["busy_ns"] == 3 * 180750 and c["first_duration_ns"] == 180750
    assert abs(c["utilization"] - 3 * 180750 / (last - first)) < 1e-12
    rest = c["without_first"]
    assert rest["busy_ns"] == 2 * 180750 and rest["duration_ns"]["count"] == 2
    assert abs(rest["utilization"] - 2 * 180750 / (last - first - 1000000)) < 1e-12
    assert c["gaps"] == {"count": 2, "total_ns": 2 * 819250, "max_ns": 819250}
g = r["gaps"][0]
assert (g["duration_ns"], g["start_ts"], g["before"]["exec_id"], g["after"]["exec_id"]) == \
    (819250, B + 1187750, 1, 2)
[h] = r["host_calls"]
assert h["nrt_execute"] == {"count": 6, "duration_ns": 6 * 200000}
assert h["kbl_exec_wait"] == {"count": 6, "duration_ns": 6 * 190000}
assert h["wait_share"] == 0.95
t = r["transfers"][0]
assert (t["direction"], t["count"], t["bytes"], t["active_ns"]) == \
    ("host_to_device", 2, 131072, 20000)
assert abs(t["bandwidth_bytes_per_sec"] - 131072 / 20e-6) < 1
[e] = r["errors"]
assert e["name"] == "numerical_err" and e["timestamp"] == B + 5060000 and e["core"]["nc"] == 9
PY

# -- the same figures computed from the truth of captures, by other means
for case in a-delimited b-bare-raw e-device; do
    exits "$case: report" 0 "$conv" report -q --json --top 1000 "$cases/$case"
    cp stdout "$case.json"
    ok "$case: figures of the truth" python3 - "$case.json" "$cases/$case.truth.json.gz" <<'PY'
import gzip, json, sys
from collections import defaultdict
r = json.load(open(sys.argv[1]))
truth = json.load(gzip.open(sys.argv[2]))
whole = [s for s in truth["spans"] if s["dur"] is not None and not s["drop"]]
tolerance = 0 if "a-" in sys.argv[1] or "e-" in sys.argv[1] else 5

def union(spans):
    total, end = 0, 0
    for a, b in sorted(spans):
        total += max(0, b - max(a, end))
        end = max(end, b)
    return total

procs = r["processes"]
pid = lambda core: procs[core["process"]]["process_id"]
runs, execs = defaultdict(list), defaultdict(list)
for s in whole:
    if s["name"] == "nc_exec_running":
        span = (s["ts"], s["ts"] + s["dur"])
        runs[s["pid"], s["nc"]].append(span)
        execs[s["pid"], s["nc"], s["attrs"]["exec_id"]].append(span)
near = lambda a, b: abs(a - b) <= tolerance * 20
assert sorted((pid(c["core"]), c["core"]["nc"]) for c in r["cores"]) == sorted(runs)
for c in r["cores"]:
    spans = runs[pid(c["core"]), c["core"]["nc"]]
    assert near(c["busy_ns"], union(spans)), (c["busy_ns"], union(spans))
    assert c["spans"] - c["partial_spans"] == len(spans)
    assert near(c["begin_ns"], min(spans)[0]) and near(c["end_ns"], max(b for _, b in spans))
    mine = [k for k in execs if k[:2] == (pid(c["core"]), c["core"]["nc"])]
    assert c["executions"] == len(mine), (c["executions"], len(mine))
    assert near(c["gaps"]["total_ns"], c["end_ns"] - c["begin_ns"] - c["busy_ns"])
longest = max(max(b for _, b in v) - min(a for a, _ in v) for v in execs.values())
assert near(r["longest_executions"][0]["duration_ns"], longest)
lengths = [e["duration_ns"] for e in r["longest_executions"]]
assert lengths == sorted(lengths, reverse=True) and len(lengths) == len(execs)
for t, name in zip(r["transfers"], ("dmem_buf_copyin", "dmem_buf_copyout")):
    mine = [s for s in whole if s["name"] == name]
    assert t["count"] == len(mine)
    assert t["bytes"] == sum(int(s["attrs"]["size"]) for s in mine)
    assert t["active_ns"] == union([(s["ts"], s["ts"] + s["dur"]) for s in mine])
for h in r["host_calls"]:
    calls = [s for s in whole if s["name"] == "nrt_execute" and s["pid"] == procs[h["process"]]["process_id"]]
    waits = [s for s in whole if s["name"] == "kbl_exec_wait" and s["pid"] == procs[h["process"]]["process_id"]]
    assert h["nrt_execute"]["count"] == len(calls)
    inside = sum(w["dur"] for w in waits if any(
        c["tid"] == w["tid"] and c["ts"] <= w["ts"] and w["ts"] + w["dur"] <= c["ts"] + c["dur"]
        for c in calls))
    assert h["kbl_exec_wait"]["duration_ns"] == inside
cc = [s for s in whole if s["name"] == "cc_running"]
assert sum(c["count"] for c in r["collectives"]) == len(cc)
for c in r["collectives"]:
    mine = [s["dur"] for s in cc if int(s["attrs"]["op_id"]) == c["op_id"]]
    assert near(c["duration_ns"]["sum"], sum(mine))
assert len(r["errors"]) == sum(s["name"] == "numerical_err" for s in truth["spans"])

names = {0: "Tensor", 1: "Scalar", 2: "GpSimd", 3: "Vector", 4: "Sync"}
count, work, active = defaultdict(int), defaultdict(int), defaultdict(list)
for d in truth.get("device", []):
    key = d["core"], names[d["engine"]]
    count[key] += 1
    work[key] += d["dur"]
    active[key].append((d["nc_ns"], d["nc_ns"] + d["dur"]))
if count:
    got = {(e["pcore_idx"], e["engine"].split()[0]): e for e in r["engines"]}
    assert got.keys() == count.keys(), (got.keys(), count.keys())
    for k, e in got.items():
        assert e["instruction_count"] == count[k]
        assert abs(e["instruction_time_ns"] - work[k]) <= count[k], (k, e, work[k])
        assert abs(e["active_time_ns"] - union(active[k])) <= count[k]
        assert 0 < e["active_time_percent"] <= 1
PY
done

# -- collectives over ranks: four ranks, one late by 300 us (the others wait for it)
python3 - >ranks.json <<'PY'
import json
B, events = 1764000000000000000, []
for rank in range(4):
    for k in range(5):
        start = B + k * 10_000_000 + (300_000 if rank == 2 else 0)
        for phase, t in (("start", start), ("stop", B + k * 10_000_000 + 800_000)):
            events.append({"event_type": "cc_running", "phase": phase, "id": 1, "nc_idx": rank,
                "nc_local_id": 1, "tracking_id": 100 * rank + k, "thread_id": 0, "worker_gid": rank,
                # rank 3 ran two executions more before: its numbers are shifted
                "data": {"op_id": 7, "exec_id": k + (2 if rank == 3 else 0), "algorithm": "mesh"}
                        if phase == "start" else {}, "timestamp_ns": t})
print(json.dumps({"events": events, "data_version": 2}))
PY
"$conv" report -q --json ranks.json >ranks.report.json
is "a late rank: ranks, instances, median, spread, skew, slowest is early, latest is rank 2" \
    "$(jq -c '.collectives[0] | [.op_id, .algorithm, .ranks, .count, .instances, .duration_ns.median,
        .spread.max_ns, .start_skew.mean_ns, .slowest.core.nc, .slowest.mean_ns, .latest.core.nc]' \
        ranks.report.json)" \
    '[7,"mesh",4,20,5,800000,300000,300000,0,800000,2]'
is "three ranks are equally slow, one is late" \
    "$(jq -c '.collectives[0] | [.slowest.ranks, .latest.ranks]' ranks.report.json)" '[3,1]'
"$conv" report -q ranks.json >ranks.report.txt
says "three ranks are equally slow, one is late: text" '^  7 mesh .* NC0 and 2 more .* NC2$' ranks.report.txt

# -- errors: the same NaN, told by the runtime and by a device profile
"$SRC/samples/build.sh" sample-session
"$conv" report -q sample-session >sample.txt
says "errors: counted by source" '^Errors: 1 of the runtime, 1 of device profiles$' sample.txt
says "errors: of the runtime, with its core" '^  at 12\.738 ms +runtime +numerical_err +pid 4243 NC1:6$' sample.txt
says "errors: of the device, with its core" '^  at 12\.738 ms +device +error FP_NAN +pid 4243 NC1:6$' sample.txt
is "errors: in the JSON" "$("$conv" report -q --json sample-session | jq -c '[.errors[] | [.source, .name, .physical_core]]')" \
    '[["runtime","numerical_err",6],["device","error FP_NAN",6]]'
is "errors: in the table, both of the same core" \
    "$("$conv" table -q Error -f jsonl sample-session | jq -c '[.description, .pcore_idx, .x_nc_idx, .x_source]' | tr '\n' ' ')" \
    '["numerical_err",0,1,"runtime"] ["error FP_NAN",0,1,"device"] '

# -- checks
exits "a check that holds exits 4" 4 "$conv" report -q --fail-on 'core.utilization < 0.6' "$data/events.json"
says "and says which value" 'core.utilization < 0.6: 24.87 % for process 0 NC0 \(2 of 2\)'
says "also in the report" 'FAILED +core.utilization < 0.6: 24.87 %' stdout
exits "checks that do not hold pass" 0 "$conv" report -q --fail-on 'gap.max_ns > 2ms' \
    --fail-on 'wait.share>96%' --fail-on 'h2d.bytes != 128KiB' --fail-on 'loss.events > 0' "$data/events.json"
is "one of several is enough" "$("$conv" report -q --json --fail-on 'gap.max_ns>1s' \
    --fail-on 'errors.count>=1' "$data/events.json" 2>/dev/null | jq -c '[.checks[].held]'; echo "${PIPESTATUS[0]}")" \
    "$(printf '[0,1]\n4')"
exits "a figure that is not there does not fail" 0 "$conv" report -q --core 99 --fail-on 'core.utilization < 60%' \
    "$data/events.json"
says "but it is named" "core.utilization < 60%: there is no such figure here" "$TMP/stderr"
exits "a fraction as a percentage" 4 "$conv" report -q --fail-on 'core.utilization < 60%' "$data/events.json"
for expr in 'core.utilization < 90' 'engine.active_percent>1.5'; do
    exits "no fraction: $expr" 2 "$conv" report -q --fail-on "$expr" "$data/events.json"
done
says "no fraction: says what to write" 'engine.active_percent is a fraction 0\.\.1; write 0\.015 or 1\.5%'
exits "percentages are no fractions" 0 "$conv" report -q --fail-on 'cpu.mean_percent > 100' "$data/events.json"
exits "losses can be checked" 4 "$conv" report -q --fail-on 'loss.events > 1000' "$data/behind-log.txt"
says "with the number of the warning" 'loss.events > 1000: 1001'
exits "an unknown figure is a usage error" 2 "$conv" report --fail-on 'core.speed > 1' "$data/events.json"
says "that lists the known ones" '^  core.utilization +per core'
exits "a bad operator" 2 "$conv" report --fail-on 'core.utilization ~ 1' "$data/events.json"
says "says what was expected" 'expected <, <=, >, >=, == or !='
exits "a bad unit" 2 "$conv" report --fail-on 'gap.max_ns > 2 parsecs' "$data/events.json"
says "says which units there are" 'expected a number, with ns, us, ms, s, m or h'

# -- a window: what it cuts is partial, and times count from where those of the whole trace do
cat >window.py <<'PY'
import gzip, json, sys
from collections import defaultdict
report, truth = json.load(open(sys.argv[1])), json.load(gzip.open(sys.argv[2]))
lo, hi = map(int, sys.argv[3:5])
procs = report["processes"]
runs, cc = defaultdict(list), []
for s in truth["spans"]:
    if s["dur"] is None or s["drop"] or s["ts"] >= hi or s["ts"] + s["dur"] <= lo:
        continue
    cut = s["ts"] < lo or s["ts"] + s["dur"] > hi
    if s["name"] == "nc_exec_running":
        runs[s["pid"], s["nc"]].append((max(s["ts"], lo), min(s["ts"] + s["dur"], hi), s["attrs"]["exec_id"], cut))
    elif s["name"] == "cc_running" and not cut:
        cc.append(s["dur"])
n_cut, lengths, partial = 0, [], set()
for c in report["cores"]:
    spans = sorted(runs[procs[c["core"]["process"]]["process_id"], c["core"]["nc"]])
    cut = {i for *_, i, is_cut in spans if is_cut}
    n_cut += len(cut)
    assert c["partial_spans"] == sum(s[3] for s in spans) and c["spans"] == len(spans)
    busy, end = 0, 0
    for a, b, *_ in spans: # what is left of a span that is cut counts as busy
        busy, end = busy + max(0, b - max(a, end)), max(end, b)
    assert c["busy_ns"] == busy and abs(c["utilization"] - busy / (end - spans[0][0])) < 1e-12
    whole = defaultdict(list)
    for a, b, i, _ in spans:
        if i not in cut:
            whole[i] += [a, b]
    mine = [max(v) - min(v) for v in sorted(whole.values(), key=min)]
    assert c["executions"] == len(mine) == c["duration_ns"]["count"]
    assert c["duration_ns"]["sum"] == sum(mine) and c["duration_ns"]["min"] == min(mine)
    assert c["first_duration_ns"] == mine[0]
    assert c["without_first"]["duration_ns"]["max"] == max(mine[1:])
    lengths += mine
    partial |= {(c["core"]["process"], c["core"]["nc"], int(i)) for i in cut}
assert n_cut and lengths
assert [e["duration_ns"] for e in report["longest_executions"]] == sorted(lengths, reverse=True)
for g in report["gaps"]:
    for e in g["before"], g["after"]:
        assert e["partial"] == ((e["core"]["process"], e["core"]["nc"], e["exec_id"]) in partial)
assert sum(c["duration_ns"]["sum"] for c in report["collectives"]) == sum(cc)
assert sum(c["count"] for c in report["collectives"]) == len(cc)
PY
a=$cases/a-delimited
begin=$("$conv" report -q --json "$a" | jq .capture.begin_ns)
# the middles of an early and of a late execution of a core
read -r lo hi < <(
    python3 - "$a.truth.json.gz" <<'PY'
import gzip, json, sys
spans = [s for s in json.load(gzip.open(sys.argv[1]))["spans"] if s["name"] == "nc_exec_running" and s["dur"] and not s["drop"]]
mine = sorted(s["ts"] + s["dur"] // 2 for s in spans if (s["pid"], s["nc"]) == (spans[0]["pid"], spans[0]["nc"]))
print(mine[2], mine[-3])
PY
)
exits "a window" 0 "$conv" report -q --json --top 1000 --from "$lo" --to "$hi" "$a"
cp stdout window.json
ok "a window: figures of what is whole in it" python3 window.py window.json "$a.truth.json.gz" "$lo" "$hi"
exits "the same from the begin" 0 "$conv" report -q --json --top 1000 --from $((lo - begin))ns --to $((hi - begin))ns "$a"
same "the same from the begin: JSON" stdout window.json
is "JSON: where the trace and the window begin" \
    "$(grep -Eo '"(trace_)?begin_ns": [0-9]+' window.json | head -2 | xargs)" "begin_ns: $lo trace_begin_ns: $begin"
"$conv" report -q --from 7ms sample-session >windowed.txt
"$conv" report -q sample-session >whole.txt
says "text: where the window begins" '^ +begins 7 ms behind the begin of the trace' windowed.txt
is "errors are where they are in the whole trace" "$(grep -A2 '^Errors' windowed.txt)" "$(grep -A2 '^Errors' whole.txt)"
is "so are executions" \
    "$(sed 's/, the first.*//' windowed.txt | grep -A3 '^Longest' | tail -n +2 | grep -Fxc -f <(sed 's/, the first.*//' whole.txt))" 3
exits "gaps" 0 "$conv" report -q --from 8ms --to 9ms sample-session
says "gaps are where they are in the whole trace" '^ +560 us  at 8\.101 ms  pid 4242 NC0 ' stdout
exits "a fragment is no execution" 0 "$conv" report -q --fail-on 'exec.max_ns > 0' --fail-on 'exec.first_ns > 0' \
    --from 8ms --to 9ms sample-session
says "a fragment is no execution: nothing to check" 'exec.max_ns > 0: there is no such figure here' "$TMP/stderr"
says "but it is busy" '^  pid 4242 NC0 +0 .* % +- +- +- +- .* 4$' stdout
is "nor one of the longest" "$(grep -c '^Longest' stdout)" 0
is "the table marks it" "$("$conv" table -q ExecutionInfo -f jsonl --from 7ms --to 15ms sample-session |
    jq -c 'select(.x_process_id == 4242 and .x_nc_idx == 0) | .x_partial' | xargs)" "true false false true"
"$conv" report -q --json --from 7ms --to 9ms sample-session >windowed.json
is "its engines: instructions that are whole, time that is seen" "$("$conv" table -q Instruction -f jsonl \
    --from 7ms --to 9ms sample-session | jq -sc --argjson r "$(jq -c . windowed.json)" '
    map(select(.engine == "Tensor" and .x_process_id == 4242 and .pcore_idx == 0)) as $v |
    ($r.engines[] | select(.engine == "Tensor (PE)" and .pcore_idx == 0 and .core.process == 0)) as $e |
    ($v | length) == $e.instruction_count + $e.partial and $e.partial > 0 and
    $e.instruction_time_ns < ([$v[].duration_ns] | add) and $e.active_time_ns > 0')" true

# -- shares: of one time, in every output
"$conv" report -q --json sample-session >sample.json
is "engines: share of the time from first to last instruction or packet" "$(
    { "$conv" table -q Instruction -f jsonl sample-session; "$conv" table -q DmaPacket -f jsonl sample-session; } |
    jq -sc --argjson r "$(jq -c . sample.json)" '
    map(select(.x_process_id == 4242 and .x_nc_idx == 0 and .pcore_idx == 0)) |
    ((map(.end_ts - 1764440000000000000) | max) - (map(.start_ts - 1764440000000000000) | min)) as $window |
    [$r.engines[] | select(.core.process == 0 and .core.nc == 0 and .pcore_idx == 0) |
     ((.active_time_percent * $window - .active_time_ns) | fabs) < 300] | unique')" "[true]"
is "info: the times, no other shares" \
    "$("$conv" info -q sample-session | grep -c 'NC0:0 active time .*  [0-9]* ns, 50 instructions$')" 5

# -- a file torn in a record: that one is lost
cp sample-session/*4242/*/ntrace.pb whole.pb
head -c $(($(wc -c <whole.pb) - 5)) whole.pb >torn.pb
exits "a torn record is a lost event" 4 "$conv" report -q --fail-on 'loss.events > 0' torn.pb
says "a torn record is a lost event: one" 'loss.events > 0: 1 ' "$TMP/stderr"
mkdir torn
cp -r sample-session/*4242/* torn
sample=$(echo torn/*/cpu_util.pb)
head -c $(($(wc -c <"$sample") - 5)) "$sample" >cpu && cp cpu "$sample"
exits "a torn sample is none" 3 "$conv" report -q --fail-on 'loss.events > 0' torn

# -- the rest
exits "--from and --to" 0 "$conv" report -q --json --from 1.9ms --to 2.9ms "$data/events.json"
is "one execution a core in the window" "$(jq -c '[.cores[].executions]' stdout)" '[1,1]'
exits "losses: exit 3" 3 "$conv" report -q "$data/cut.json"
says "and the report says so" 'LOST +1 file ends in the middle of a record' stdout
exits "a session directory" 0 "$conv" report -q "$cases/f-json"
"$conv" report -q "$cases/a-delimited" >one && "$conv" report -q "$cases/a-delimited" >two
same "the same bytes again" one two
exits "--top" 0 "$conv" report -q --top 1 "$data/events.json"
is "--top 1 shows one gap" "$(grep -c 'after exec' stdout)" 1
finish
