#!/bin/bash
# The sample session: its text is what its script prints, it compiles, and both conversions hold all of it.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"

python3 "$SRC/samples/make_session.py" "$TMP/session"
ok "samples/session is what make_session.py prints" diff -r "$TMP/session" "$SRC/samples/session"
ok "it compiles" "$SRC/samples/build.sh" "$TMP/built"
is "its schema and the program's own agree" \
    "$(protoc -I"$SRC" --decode_raw <"$(ls "$TMP"/built/*4242/*/trace_info.pb)" | head -n 1)" \
    '2: "i-0123456789abcdef0"'
cat >check.py <<'PY'
import os, re, sys
sys.path.insert(0, os.path.join(os.environ["SRC"], "tests"))
from e2e import Tap, convert, summary
kind = lambda s: s.name.split(" ")[0]
tap = Tap()
records = halves = 0
for base, _, files in os.walk(os.path.join(os.environ["SRC"], "samples/session")):
    for name in files:
        if name == "ntrace.txtpb":
            with open(os.path.join(base, name)) as f:
                starts, stops, instants = set(), set(), 0
                for line in f:
                    m = re.match(r"event .*event_type: (\d+) phase: \S+_(START|STOP|INSTANT) .*?tracking_id: (\d+)", line)
                    if m:
                        records += 1
                        {"START": starts.add, "STOP": stops.add}.get(m[2], lambda k: None)((m[1], m[3]))
                        instants += m[2] == "INSTANT"
                halves += len(starts | stops) + instants
built = os.path.join(os.environ["TMP"], "built")
results = {form: convert(built, form=form) for form in ("perfetto", "chrome")}
is_device = lambda s: "timestamp_ps" in s.args or "stop_timestamp_ps" in s.args
device = {form: [s for s in r.spans if is_device(s)] for form, r in results.items()}
for r in results.values():
    r.spans = [s for s in r.spans if not is_device(s)]
for form, r in results.items():
    tap.eq(r.status, 0, f"{form}: exit status")
    tap.eq(len(r.spans), halves, f"{form}: every span and instant of {records} records")
    tap.eq({s.pid for s in r.spans}, {4242, 4243}, f"{form}: both processes")
    open_ = [s for s in r.spans if s.args.get("unfinished")]
    tap.eq(sorted({kind(s) for s in open_}),
           ["kbl_exec_core", "kbl_exec_wait", "kmgr_exec_core", "nc_exec_running", "nrt_execute"],
           f"{form}: unfinished spans are marked")
    tap.eq(len([s for s in r.spans if s.args.get("start_lost")]), 2, f"{form}: lost starts are marked")
    # with the clocks aligned, every run lies inside the wait for it
    waits = {(s.pid, s.args["nc_idx"], s.args["exec_id"]): s for s in r.spans
             if kind(s) == "kbl_exec_wait" and "exec_id" in s.args}
    runs = [s for s in r.spans if kind(s) == "nc_exec_running"]
    # The second asynchronous run of a core begins while its waiter still waits for the first one.
    early = [s for s in runs if s.ts < waits[s.pid, s.args["nc_idx"], s.args["exec_id"]].ts]
    tap.eq({int(s.args["exec_id"]) for s in early}, {5}, f"{form}: which runs begin before the wait for them")
    late = [s for s in runs if not s.args.get("unfinished") and s.ts + s.dur >
            (w := waits[s.pid, s.args["nc_idx"], s.args["exec_id"]]).ts + w.dur]
    tap.eq(len(runs), 48, f"{form}: six executions on eight physical cores")
    tap.eq(len(late), 0, f"{form}: every run on a device is over before the wait for it")
    linked = {id(s) for flow in r.flows for s in flow}
    tap.eq(len([1 for s in runs if id(s) in linked]), len(runs), f"{form}: an arrow for every run on a device")
    tap.ok(any("47" in s.name for s in r.spans), f"{form}: the unknown type is kept")
    hbm = [v for path, samples in r.counters.items() if "HBM" in " ".join(map(str, path)).upper()
           for _, v in samples]
    tap.ok(hbm and max(hbm) >= 1 << 30, f"{form}: device memory counters reach 1 GiB", sorted(r.counters))
    tap.ok(any("CPU" in " ".join(map(str, p)).upper() for p in r.counters), f"{form}: processor counters",
           sorted(r.counters))
for form, r in results.items():
    # two cores have a device profile: what their engines did lies inside their runs
    inside = {}
    for s in r.spans:
        if kind(s) == "nc_exec_running" and not s.args.get("unfinished"):
            inside.setdefault((s.pid, int(s.args["device_core_idx"])), []).append((s.ts, s.ts + s.dur))
    instr = [s for s in device[form] if s.cat == "instr"]
    tap.eq({(s.pid, int(s.args["device_core_idx"])) for s in instr}, {(4242, 0), (4242, 1), (4243, 6), (4243, 7)},
           f"{form}: cores with a device profile")
    tap.eq(len(instr), 4 * 5 * 5 * 10, f"{form}: ten instructions an engine and run")
    out = [s for s in instr if not any(a <= s.ts and s.ts + s.dur <= b
                                       for a, b in inside[s.pid, int(s.args["device_core_idx"])])]
    tap.eq(len(out), 0, f"{form}: every instruction lies inside a run of its core")
    tap.eq([s.name for s in device[form] if s.cat == "error"], ["error FP_NAN"], f"{form}: the NaN on the device")
key = lambda s: (s.pid, s.name, s.ts, s.dur or 0, s.args["tracking_id"] if "tracking_id" in s.args else 0)
tap.eq(sorted(map(key, results["perfetto"].spans)), sorted(map(key, results["chrome"].spans)),
       "both formats hold the same spans")
tap.end()
PY
python3 check.py >check.tap || _failed=1
# its results become ours, renumbered
while IFS= read -r line; do
    case $line in
    ok\ *) pass "${line#ok * - }" ;;
    "not ok "*) fail "${line#not ok * - }" ;;
    1..*) ;;
    *) printf '%s\n' "$line" ;;
    esac
done <check.tap
finish
