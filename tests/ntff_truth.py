"""The device profiles of e-device, converted with their session and alone, against the simulation.

In the session every instruction must lie inside its execution, to the nanosecond: the simulated clocks are
exact. Alone, the first execution of each core begins at zero.
"""
import glob
import gzip
import json
import os
import shutil

from e2e import CASES, TMP, Tap, convert, run

ENGINES = ["Tensor (PE)", "Scalar (ACT)", "GpSimd (POOL)", "Vector (DVE)", "Sync (SP)"]
NAMES = ["Tensor", "Scalar", "GpSimd", "Vector", "Sync"]
CASE = os.path.join(CASES, "e-device")


def instructions(result):
    return {(int(s.args["device_core_idx"]), s.args["engine"], int(s.args["pc"]),
             int(s.args["nc_start_timestamp_ns"])): s for s in result.spans if s.cat == "instr"}


def overlaps(result):
    """Pairs of spans that overlap on one lane of an engine's row."""
    lanes, bad = {}, 0
    for s in sorted((s for s in result.spans if s.cat == "instr"), key=lambda s: s.ts):
        bad += lanes.get(s.where, 0) > s.ts
        lanes[s.where] = s.ts + s.dur
    return bad


def check_session(tap, truth, form, *args):
    what = f"session, {form}{' with the schema' if args else ''}"
    r = convert(*args, CASE, form=form)
    tap.eq(r.status, 0, f"{what}: exit status")
    got = instructions(r)
    tap.eq(len(got), sum(s.cat == "instr" for s in r.spans), f"{what}: no instruction twice")
    tap.eq(len(got), len(truth["device"]), f"{what}: every instruction")
    runs = {(int(s.args["device_core_idx"]), s.ts): s for s in r.spans
            if s.name.startswith("nc_exec_running")}
    wrong = {"found": [], "duration": [], "placed": [], "inside its execution": [], "row": []}
    for t in truth["device"]:
        key = t["core"], NAMES[t["engine"]], t["pc"], t["nc_ns"]
        s, run = got.get(key), runs.get((t["core"], t["exec_ts"]))
        if s is None or run is None:
            wrong["found"].append(key)
            continue
        if s.dur != t["dur"]:
            wrong["duration"].append((key, s.dur, t["dur"]))
        if s.ts != run.ts + t["nc_ns"] - int(run.args["nc_start_timestamp_ns"]):
            wrong["placed"].append((key, s.ts))
        if s.ts < run.ts or s.ts + s.dur > run.ts + run.dur:
            wrong["inside its execution"].append((key, s.ts, run.ts, run.dur))
        if not any(ENGINES[t["engine"]] in str(part) for part in s.row):
            wrong["row"].append((key, s.row))
    for name, cases in wrong.items():
        tap.ok(not cases, f"{what}: {name}", len(cases), *cases[:5])
    tap.eq(overlaps(r), 0, f"{what}: no overlap on a lane")


def check_alone(tap, truth, form):
    for path in sorted(glob.glob(os.path.join(CASE, "*", "*.ntff"))):
        what = f"{os.path.basename(path)[-10:-5]} alone, {form}"
        r = convert(path, form=form)
        tap.eq(r.status, 0, f"{what}: exit status")
        got = instructions(r)
        cores = {core for core, *_ in got}
        want = [t for t in truth["device"] if t["core"] in cores]
        tap.eq(len(got), len(want), f"{what}: every instruction")
        zero = {c: min(s.ts - int(s.args["nc_start_timestamp_ns"]) for s in got.values()
                       if int(s.args["device_core_idx"]) == c) for c in cores}
        starts = {c: min(s.ts for s in r.spans if s.name == "run Tensor"
                         and int(s.args["device_core_idx"]) == c) for c in cores}
        tap.eq(len(set(starts.values())), 1, f"{what}: the first executions begin together")
        tap.eq(min(starts.values()), min(s.ts for s in r.spans), f"{what}: and nothing before them")
        bad = [t for t in want
               if (s := got.get((t["core"], NAMES[t["engine"]], t["pc"], t["nc_ns"]))) is None
               or s.dur != t["dur"] or s.ts - t["nc_ns"] != zero[t["core"]]]
        tap.ok(not bad, f"{what}: times and durations", *bad[:5])


def check_wrong_core(tap, truth):
    """Subgraphs that name each other's core, then one no core has: where their instructions ran counts."""
    path = glob.glob(os.path.join(CASE, "*", "*_vnc_1.ntff"))[0]
    here = os.path.join(TMP, os.path.basename(os.path.dirname(path)))
    os.makedirs(here, exist_ok=True)
    shutil.copy(os.path.join(os.path.dirname(path), "ntrace.pb"), here)
    with open(path, "rb") as f:
        good = f.read()
    want = {(t["core"], NAMES[t["engine"]], t["pc"], t["nc_ns"]) for t in truth["device"] if t["core"] >= 2}
    for name, two, three in (("swapped", b"\x18\x03", b"\x18\x02"), ("unknown", b"\x18\x02", b"\x18\x09")):
        head = good[:500].replace(b"\x18\x02", b"??").replace(b"\x18\x03", three).replace(b"??", two)
        with open(os.path.join(here, os.path.basename(path)), "wb") as f:
            f.write(head + good[500:])
        r = convert(here)
        got = instructions(r)
        tap.eq(set(got), want, f"cores {name}: instructions on the core they ran on")
        _, said, _ = run("info", here)
        tap.ok(b"by the nc_exec_running its instructions lie in" in said, f"cores {name}: said how", said)


def main():
    tap = Tap()
    with gzip.open(CASE + ".truth.json.gz", "rt") as f:
        truth = json.load(f)
    for form in ("perfetto", "chrome"):
        check_session(tap, truth, form)
        check_session(tap, truth, form, "--schema", os.path.join(CASES, "schema.desc"))
        check_alone(tap, truth, form)
    check_wrong_core(tap, truth)
    tap.end()


main()
