#!/usr/bin/env python3
"""options.py - what the options of a conversion do, against the truth of a simulated capture. Prints TAP."""
import json
import os

import e2e
import pftrace
from e2e import CASES, Tap, convert, run, summary

A = os.path.join(CASES, "a-delimited")
B = os.path.join(CASES, "b-bare-raw")
HARDWARE = {"nc_exec_running", "cc_running", "cc_exec_barrier", "nc_model_switch", "numerical_err", "hw_notify",
            "timestamp_sync_point"}
BOTH = ("perfetto", "chrome")


def kind(span):
    return span.name.split(" ")[0]


def keyed(spans):
    return {(kind(s), int(s.pid), int(s.args["nc_idx"]), int(s.args["tracking_id"])): s for s in spans}


def truth_keyed(case):
    return {(t["name"], t["pid"], t["nc"], t["tracking_id"]): t for t in e2e.truth(case)["spans"]}


def without_sync(spans):
    return {k: s for k, s in keyed(spans).items() if k[0] != "timestamp_sync_point"}


# -- time ---------------------------------------------------------------------------------------------------


def check_window(tap, what, result, truth, lo, hi):
    got, bad = without_sync(result.spans), []
    for key, t in truth.items():
        begin, end = t["ts"], t["ts"] + (t["dur"] or 0)
        inside = lo <= begin < hi if t["dur"] is None else begin < hi and end > lo
        s = got.pop(key, None)
        if (s is not None) != inside:
            bad.append(f"{key}: {begin - lo}..{end - lo} is {'in' if s else 'out'}")
        elif s is not None and t["dur"] is not None:
            want = (max(begin, lo), min(end, hi), begin < lo, end > hi)
            have = (s.ts, s.ts + s.dur, bool(s.args.get("cut_left")), bool(s.args.get("cut_right")))
            if want != have:
                bad.append(f"{key}: {have} want {want}")
    tap.ok(not bad and not got, f"{what}: spans inside, cut at the edges and marked", *bad, *got)


def windows(tap):
    truth = truth_keyed("a-delimited")
    begin = min(t["ts"] for t in truth.values())
    # the edges cut a span each: in the middle of nrt_execute and of the device's runs
    runs = sorted((t["ts"], t["dur"]) for (n, *_), t in truth.items() if n == "nc_exec_running")
    lo, hi = runs[8][0] + 50_000, runs[20][0] + 50_000
    for form in BOTH:
        r = convert("--from", str(lo), "--to", str(hi), A, form=form)
        tap.eq(r.status, 0, f"--from --to, {form}: exit status")
        check_window(tap, f"--from --to, {form}", r, truth, lo, hi)
        inside = all(lo <= t < hi for samples in r.counters.values() for t, _ in samples)
        tap.ok(inside, f"--from --to, {form}: counters too")
    whole = convert(A)
    first = min([s.ts for s in whole.spans] + [t for c in whole.counters.values() for t, _ in c])
    tap.ok(first <= begin, "the trace begins with the first event or sample")
    for text, ns in (("7ms", 7_000_000), ("7000us", 7_000_000), ("0.007s", 7_000_000), ("7000000ns", 7_000_000)):
        r = convert("--from", text, A)
        check_window(tap, f"--from {text}", r, truth, first + ns, 1 << 63)
    r = convert("--to", "7.5ms", A)
    check_window(tap, "--to 7.5ms", r, truth, 0, first + 7_500_000)
    r = convert("--from", "100s", A)
    tap.eq((r.status, r.data), (1, b""), "a window without anything: exit 1, nothing written")


# -- filters ------------------------------------------------------------------------------------------------


def filters(tap):
    truth = truth_keyed("b-bare-raw")

    def expect(what, args, wanted):
        want = {k for k, t in truth.items() if wanted(t)}
        for form in BOTH:
            r = convert(*args, B, form=form)
            tap.eq((r.status, set(without_sync(r.spans)) ^ want), (0, set()), f"{what}, {form}")

    expect("--system-trace-filter-neuron-core 1", ["--system-trace-filter-neuron-core", "1"],
           lambda t: t["nc"] == 1)
    expect("--core 0-1", ["--core", "0-1"], lambda t: True)
    expect("--core with blanks", ["--core", "0, 7"], lambda t: t["nc"] == 0)
    expect("--system-trace-filter-event-type", ["--system-trace-filter-event-type", "nrt_execute,nrt_load"],
           lambda t: t["name"] in ("nrt_execute", "nrt_load"))
    for other, name in (("device_exec", "nc_exec_running"), ("cc_exec", "cc_running"), ("model_load", "nrt_load"),
                        ("tensor_write", "nrt_tensor_write"), ("DEVICE_EXEC", "nc_exec_running"), ("7", "nc_exec_running"), ("type 7", "nc_exec_running"),
                        ("NRT_SYS_TRACE_EVENT_TYPE_DEVICE_EXEC", "nc_exec_running"),
                        ("nrt_sys_trace_event_type_cc_exec", "cc_running")):
        expect(f"--type {other}, the other spelling", ["--type", other], lambda t, name=name: t["name"] == name)
    expect("--type hardware", ["--type", "hardware"], lambda t: t["name"] in HARDWARE)
    expect("--type software", ["--type", "software"], lambda t: t["name"] not in HARDWARE)
    expect("--type ^nrt_execute", ["--type", "^nrt_execute"], lambda t: t["name"] != "nrt_execute")
    expect("--type hardware,^cc_running", ["--type", "hardware,^cc_running"],
           lambda t: t["name"] in HARDWARE - {"cc_running"})
    expect("--process 1001", ["--process", "1001"], lambda t: t["pid"] == 1001)
    expect("--instance i-EXAMPLE0", ["--instance", "i-EXAMPLE0"], lambda t: True)
    expect("two filters", ["--core", "1", "--process", "1000", "--type", "kbl_exec_wait"],
           lambda t: (t["nc"], t["pid"], t["name"]) == (1, 1000, "kbl_exec_wait"))
    # filtering sync points away must not change where events are placed
    placed = {k: s.ts for k, s in keyed(convert("--type", "nc_exec_running", B).spans).items()}
    bad = [k for k, ts in placed.items() if truth[k]["drop"] is None and ts != truth[k]["ts"]]
    tap.ok(placed and not bad, "a filter does not take the clock away", *bad[:5])
    for args in (["--instance", "i-OTHER"], ["--process", "7"]):
        status, out, err = run("-o", "-", *args, B)
        tap.ok(status == 1 and out == b"" and err, f"{' '.join(args)} leaves nothing: exit 1, said", status, err)
    r = convert("--core", "40", B)  # counters of the processes stay
    tap.ok(r.status == 0 and not r.spans and "0 spans" in r.err, "--core 40 leaves no span, said", r.err)
    status, out, err = run("-o", "-", "-v", "--core", "40", B)
    tap.ok("matches nothing: --core 40" in err and "NC0, NC1" in err, "and says which cores there are", err)
    for text, says in (("no_such_type", "nothing is called 'no_such_type'"),
                       ("no_such_type", "(there is "),
                       ("NRT_SYS_TRACE_EVENT_TYPE_nc_exec_running", "nothing is called 'NRT_SYS_TRACE_EVENT_TYPE_nc_exec_running'"),
                       ("type 99", "nothing is called 'type 99'"), ("type", "nothing is called 'type'"),
                       ("nc_exec_runing", "did you mean nc_exec_running?"),
                       ("cc_exec,hardwares", "nothing is called 'hardwares'")):
        status, out, err = run("-o", "-", "--type", text, B)
        tap.ok(status == 2 and out == b"" and says in err, f"--type {text}: exit 2, said", status, err)
    upper, lower = convert("--type", "NC_EXEC_RUNNING", B), convert("--type", "device_exec", B)
    tap.ok(upper.spans and upper.spans == lower.spans, "types in either spelling and any case")
    for args in (["--core", "x"], ["--core", "3-1"], ["--primary-group", "colour"], ["--clock", "sundial"]):
        status, out, err = run("-o", "-", *args, B)
        tap.ok(status == 2 and args[1] in err, f"{' '.join(args)}: usage error that names it", status, err)


# -- grouping -----------------------------------------------------------------------------------------------


def groups(tap):
    def places(*args):
        r = convert(*args, B)
        return ({s.row[0] for s in r.spans}, {tuple(s.row) for s in r.spans if s.cat == "host"}, len(r.spans))

    whole = places()
    tap.eq(len(whole[0]), 2, "default: a process per pid")
    tap.eq(len(whole[1]), 4, "default: a host row per core and thread")
    for args, n in ((["--system-trace-primary-group", "instance_id"], 1), (["--primary-group", "process_id"], 2),
                    (["--primary-group", "lnc_idx"], 2), (["--primary-group", "process_id, lnc_idx"], 4),
                    (["--primary-group", "instance_id,thread_id"], None)):
        p = places(*args)
        if n is not None:
            tap.eq(len(p[0]), n, f"{' '.join(args)}: {n} processes")
        tap.eq(p[2], whole[2], f"{' '.join(args)}: every span")
    p = places("--system-trace-secondary-group", "lnc_idx", "--primary-group", "instance_id")
    tap.eq((len(p[1]), p[2]), (2, whole[2]), "--secondary-group lnc_idx: a host row per core")


# -- the rest -----------------------------------------------------------------------------------------------


def shapes(tap):
    plain = convert(A)
    tap.eq(len(convert("--no-flows", A).flows), 0, "--no-flows: no arrow")
    tap.ok(len(plain.flows) >= 40, "default: an arrow to every run on a device", len(plain.flows))
    bad = [(a.name, b.name) for a, b in plain.flows if kind(a) != "kbl_exec_wait" or kind(b) != "nc_exec_running" or
           a.args["exec_id"] != b.args["exec_id"] or a.args["nc_idx"] != b.args["nc_idx"]]
    tap.eq(bad, [], "arrows lead from kbl_exec_wait to nc_exec_running of the same execution")
    for form in BOTH:
        r = convert("--no-args", A, form=form)
        tap.eq((len(r.spans), [s.args for s in r.spans if s.args][:3]), (len(plain.spans), []),
               f"--no-args, {form}: every span, no annotation")
        every = convert(A, form=form)
        r = convert("--args", "exec_id,tracking_id,no such", A, form=form)
        own = ("unfinished", "start_lost", "estimated", "process_id")  # not of the records
        tap.eq(sorted(str(sorted(s.args.items())) for s in r.spans),
               sorted(str(sorted((k, v) for k, v in s.args.items() if k in ("exec_id", "tracking_id") + own))
                      for s in every.spans), f"--args, {form}: these alone")
    key = lambda s: (s.pid, s.name, s.ts, s.dur or -1, s.args["tracking_id"])
    chrome = convert(A, form="chrome")
    tap.eq(sorted(map(key, chrome.spans)), sorted(map(key, plain.spans)), "both formats: the same spans")
    tap.eq(len(chrome.flows), len(plain.flows), "both formats: the same number of arrows")
    tap.eq(sorted(len(c) for c in chrome.counters.values()), sorted(len(c) for c in plain.counters.values()),
           "both formats: the same counters")
    wrong = []
    for s in plain.spans:
        if kind(s) in HARDWARE - {"timestamp_sync_point"}:
            names = {"nc_start_timestamp_ns", "nc_stop_timestamp_ns"} if s.dur is not None else {"nc_timestamp_ns"}
            if not names <= set(s.args):
                wrong.append((s.name, s.args))
            elif s.dur is not None and s.args["nc_stop_timestamp_ns"] - s.args["nc_start_timestamp_ns"] != s.dur:
                wrong.append((s.name, s.dur, s.args))
        if not {"event_type", "id", "tracking_id", "nc_idx", "thread_id", "timestamp_ns"} <= set(s.args):
            wrong.append((s.name, s.args))
    tap.ok(not wrong, "every span carries its raw facts, device spans their device times", *wrong[:3])


def formats(tap):
    for name, form in (("t.pftrace", "perfetto"), ("t.json", "chrome"), ("t.json.gz", "chrome"),
                       ("t.pftrace.gz", "perfetto"), ("t", "perfetto")):
        path = os.path.join(e2e.TMP, name)
        status, _, err = run("-o", path, A)
        with open(path, "rb") as f:
            data = f.read()
        tap.ok(status == 0 and len(e2e.Result(0, "", data, form).spans) > 280, f"-o {name}: {form} by the suffix", err)
        tap.eq(data[:2] == b"\x1f\x8b", name.endswith(".gz"), f"-o {name}: compressed by the suffix")
    first = (convert(A, form="chrome").data, convert(A).data)
    tap.eq((convert(A, form="chrome").data, convert(A).data), first, "the same bytes every time")
    text = first[0].decode()
    tap.ok("\\ud" not in text and json.loads(text)["displayTimeUnit"] == "ns", "Chrome JSON: valid, no surrogates")
    _, _, err = run("-o", "-", A)
    tap.ok("\r" not in err and "\x1b" not in err, "no progress, no colours when standard error is no terminal", err)
    _, _, err = run("-q", "-o", "-", A)
    tap.eq(err, "", "-q: silent")


def summaries(tap):
    for what, args in (("a", [A]), ("b", [B]), ("a window", ["--from", "7ms", "--to", "7.5ms", A]),
                       ("a filter", ["--core", "1", "--process", "1000", B])):
        s, status, err = summary(*args)
        if not tap.ok(status == 0 and s, f"--summary of {what}: written", status, err):
            continue
        t = pftrace.read(os.path.join(e2e.TMP, "summary.pftrace"))
        got = {}
        for x in t.slices:
            c = got.setdefault(x["cat"], [0, 0, 1 << 64, 0])
            end = x["ts"] + (x["dur"] or 0)
            c[:] = c[0] + 1, c[1] + (x["dur"] or 0), min(c[2], x["ts"]), max(c[3], end)
        base = t.epoch
        told = {name: [c["count"], c["sum"], c["min"] + base, c["max"] + base]
                for name, c in s["categories"].items()}
        tap.eq(got, told, f"--summary of {what}: count, sum, min and max of each category are what was written")
        tap.eq(sum(len(x["ends"]) for x in t.slices) + s["flows"]["reversed"], s["flows"]["written"],
               f"--summary of {what}: arrows")
        tap.eq(len(t.counters), s["samples"], f"--summary of {what}: samples")
        r = s["records"]
        tap.eq(2 * r["pairs"] + r["whole"] + r["unfinished"] + r["start_lost"] + r["instants"] + r["filtered"] +
               r["dropped"], r["in"], f"--summary of {what}: in = out + filtered + dropped")
        flagged = [sum(1 for x in t.slices if x["args"].get(f)) for f in ("unfinished", "start_lost")]
        tap.eq(flagged, [s["closed_unfinished"], s["start_lost"]], f"--summary of {what}: halves")


def memory(tap):
    """A budget either suffices or ends the run cleanly; never a crash, never half a file."""
    ended, good = [], None
    for kib in (1, 4, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096, 8192, 65536):
        status, out, err = run("-q", "-o", "-", "--max-memory", f"{kib}K", B)
        if status == 0:
            good = out if good is None else good
            tap.ok(out == good, f"--max-memory {kib}K: enough, the same output as with more")
        else:
            ended.append(kib)
            tap.ok(status == 1 and out == b"" and "memory" in err.lower() and len(err.splitlines()) <= 2,
                   f"--max-memory {kib}K: ends cleanly", status, err)
    tap.ok(ended and good is not None, "--max-memory: some budgets are too small, some suffice", ended)


def clocks(tap):
    truth = truth_keyed("b-bare-raw")
    for mode in ("fit", "sync-point", "nearest"):
        got = without_sync(convert("--clock", mode, B).spans)
        bad = [(k, got[k].ts - t["ts"]) for k, t in truth.items() if t["drop"] is None and got[k].ts != t["ts"]]
        tap.eq(bad[:5], [], f"--clock {mode}: exact where the clocks are")
    r = convert("--clock", "device", B)
    loose = [s for s in r.spans if s.args.get("unaligned")]
    tap.ok(loose and all("align" in " ".join(s.row) for s in loose), "--clock device: a group of its own",
           {tuple(s.row) for s in loose})
    tap.eq({kind(s) for s in loose} - HARDWARE, set(), "--clock device: host events stay where they are")


if __name__ == "__main__":
    tap = Tap()
    windows(tap)
    filters(tap)
    groups(tap)
    shapes(tap)
    formats(tap)
    summaries(tap)
    clocks(tap)
    memory(tap)
    tap.end()
