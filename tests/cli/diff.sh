#!/bin/bash
# ntff-conv diff: two captures side by side.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
data=$SRC/tests/data/json

# b.json: the run of tests/data/json/README.md with executions of NC9 50 us longer, one nrt_execute
# more, and no dmem_buf_copyin
python3 - "$data/events.json" >b.json <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
events, extra = [], []
for e in d["events"]:
    if e["event_type"] == "dmem_buf_copyin":
        continue
    if e["event_type"] == "nc_exec_running" and e["nc_idx"] == 9 and e["phase"] == "stop":
        e["timestamp_ns"] += 50000
        e["data"]["nc_timestamp_ns"] += 50000
    events.append(e)
first = [e for e in events if e["event_type"] == "nrt_execute"][:2]
for e in events:
    if e["event_type"] == "nrt_execute" and e["nc_idx"] == 0 and len(extra) < 2:
        extra.append(dict(e, tracking_id=999, timestamp_ns=e["timestamp_ns"] + 6_000_000))
print(json.dumps({"events": events + extra, "data_version": 2}))
PY
exits "diff --json" 0 "$conv" diff -q --json "$data/events.json" b.json
cp stdout diff.json
ok "counts, totals, means, ratios as computed by hand" python3 - diff.json <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["version"] == 1 and d["engines"] == []
by = {e["name"]: e for e in d["events"]}
x = by["nc_exec_running"] # 6 of 180 and 6 of 180.5 us; half of them 50 us longer in b
assert (x["a"]["count"], x["a"]["total_ns"]) == (12, 6 * 180000 + 6 * 180500)
assert (x["b"]["count"], x["b"]["total_ns"]) == (12, 6 * 180000 + 6 * 180500 + 6 * 50000)
assert x["total_delta_ns"] == x["cost_ns"] == 300000
assert abs(x["mean_ratio"] - (180250 + 25000) / 180250) < 1e-12
assert (x["a"]["min_ns"], x["a"]["max_ns"], x["b"]["max_ns"]) == (180000, 180500, 230500)
x = by["nrt_execute"]
assert (x["a"]["count"], x["b"]["count"], x["cost_ns"], x["mean_ratio"]) == (6, 7, 0, 1)
assert x["total_delta_ns"] == 200000
x = by["dmem_buf_copyin"]
assert x["b"] is None and x["a"]["total_ns"] == 20000 and x["cost_ns"] == -20000 and x["mean_ratio"] == 0
x = by["timestamp_sync_point"]
assert x["a"]["instants"] == x["b"]["instants"] == 10 and x["total_ratio"] is None
x = by["nrt_tensor_write"]
assert x["a"]["partial"] == 1 and x["a"]["count"] == 0
costs = [e["cost_ns"] for e in d["events"]]
assert costs == sorted(costs, reverse=True)
assert d["events"][0]["name"] == "nc_exec_running" and d["events"][-1]["name"] == "dmem_buf_copyin"
PY
exits "diff" 0 "$conv" diff -q "$data/events.json" b.json
sed "s|$data/||" stdout >diff.txt
golden "text: as expected" diff.txt "$SRC/tests/data/golden/diff.txt"

exits "against itself" 0 "$conv" diff -q --json "$cases/e-device" "$cases/e-device"
is "everything is the same, engines too" \
    "$(jq -c '[(.events[].cost_ns, .engines[].active_delta_ns)] | unique' stdout; jq '.engines | length' stdout)" \
    "$(printf '[0]\n5')"
exits "two inputs are needed" 2 "$conv" diff "$data/events.json"
exits "three are too many" 2 "$conv" diff a b c
exits "a missing one" 1 "$conv" diff "$data/events.json" nowhere
exits "losses of either count" 3 "$conv" diff -q "$data/events.json" "$data/cut.json"
says "text: says what the means are of" '^Events: .* of whole spans; partial ones' diff.txt
is "text: total = mean * count, whatever is partial" "$(awk '$1 == "nrt_load" { print $2, $3, $(NF - 1), $NF }' diff.txt)" \
    "0 0 1 1"
is "JSON: both counts" "$("$conv" diff -q --json "$data/events.json" b.json |
    jq -c '.events[] | select(.name == "nrt_load") | [.a.count, .a.partial, .b.count, .b.partial]')" '[0,1,0,1]'

# -- one without a device profile: nothing to compare its engines with
exits "a device profile on one side" 0 "$conv" diff -q --json "$cases/e-device" "$cases/a-delimited"
is "JSON: null" "$(jq -c '[.engines[] | [.a != null, .b, .active_delta_ns, .active_ratio]] | unique' stdout)" \
    '[[true,null,null,null]]'
exits "on the other" 0 "$conv" diff -q "$cases/a-delimited" "$cases/e-device"
is "text: -" "$(sed -n '/^Engines/,$p' stdout | awk 'NR > 2 { print $3, $5, $8, $9, $10 }' | sort -u)" "- - - - -"
says "what cost is without the other" '^  cost: .* Where a count is 0: total B - total A$' stdout

# -- a window, counted from the begin of each
exits "a window" 0 "$conv" diff -q --json --from 7ms --to 9ms "$cases/a-delimited" "$cases/a-delimited"
cp stdout window.json
is "a window: of both" "$(jq -c '[.a.duration_ns, .b.duration_ns, ([.events[].cost_ns] | unique)]' window.json)" \
    '[2000000,2000000,[0]]'
is "a window: counts as report does" \
    "$(jq -c '.events[] | select(.name == "nc_exec_running") | [.b.count, .b.partial]' window.json)" \
    "$("$conv" report -q --json --from 7ms --to 9ms "$cases/a-delimited" |
        jq -c '[(.cores | map(.spans - .partial_spans) | add), (.cores | map(.partial_spans) | add)]')"
exits "a window: text" 0 "$conv" diff -q --from 7ms --to 9ms "$cases/a-delimited" "$cases/a-delimited"
says "a window: where it begins" '^A .*: 2 ms, .*, from 7 ms on$' stdout
exits "a window outside of both" 1 "$conv" diff -q --from 1h "$cases/a-delimited" "$cases/a-delimited"
finish
