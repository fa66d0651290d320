#!/usr/bin/env python3
"""fixtures.py - the small inputs that readers of Neuron profiles stumble over, each with what must come out.

Event JSON with every irregularity at once, the same as system_profile.json in its dialects, directories
that are incomplete or contradict each other, and the forms of ntrace.pb. Prints TAP.
"""
import gzip
import json
import os

import e2e
from e2e import Tap, convert, delimited, event, run, varint, write

T0 = 1764440000_000_000_000
US = 1000


class Story:
    """Live events and, beside them, the spans that must come out."""

    def __init__(self):
        self.events, self.want, self.ids = [], [], {}

    def add(self, kind, phase, nc, tracking, t, tid=0, data=None, **more):
        n = self.ids[nc] = self.ids.get(nc, 0) + 1
        e = dict(event_type=kind, phase=phase, id=(nc << 50) + n, nc_idx=nc, nc_local_id=n,
                 tracking_id=tracking, thread_id=tid, worker_gid=nc, data=data or {}, timestamp_ns=T0 + t)
        e.update(more)
        self.events.append((t, len(self.events), e))

    def span(self, kind, nc, tracking, begin, end, tid=0, data=None, stop=None, halves="both", **more):
        if halves != "stop":
            self.add(kind, "start", nc, tracking, begin, tid, data, **more)
        if halves != "start":
            self.add(kind, "stop", nc, tracking, end, tid, stop)
        self.want.append((kind, nc, tracking, begin, end, halves))

    def instant(self, kind, nc, tracking, t, data=None):
        self.add(kind, "instant", nc, tracking, t, 0, data)
        self.want.append((kind, nc, tracking, t, None, "both"))

    def listed(self):
        return [e for _, _, e in sorted(self.events, key=lambda e: e[:2])]


def story():
    s = Story()
    s.span("kbl_exec_wait", 0, 1, None, 5 * US, 100, halves="stop")  # the ring lost its start
    for nc in (0, 9):  # ids of core 9 are above 2^53
        base, tid = nc << 50, 100 + nc
        for run_no in range(3):
            t = (10 + nc * 3 + run_no * 200) * US
            x = dict(exec_id=run_no + 1, model_id=7)
            s.span("nrt_execute", nc, base + 10 + run_no, t, t + 150 * US, tid, dict(model_id=7),
                   nrta_seq_id=(1 << 48) + run_no)
            s.span("kbl_exec_wait", nc, base + 20 + run_no, t + 5 * US, t + 140 * US, tid, x)
            for core in (2 * nc, 2 * nc + 1):
                offset = 5_000_000_000 * (core + 1)
                b, e = t + 10 * US, t + 110 * US + core
                s.span("nc_exec_running", nc, base + 30 + 2 * run_no + core % 2, b, e, 0,
                       dict(device_core_idx=core, exec_id=run_no + 1, nc_timestamp_ns=offset + b),
                       dict(nc_timestamp_ns=offset + e))
                if not (nc == 9 and run_no == 2):  # one execution has no sync point
                    s.add("timestamp_sync_point", "instant", nc, base + 40 + 2 * run_no + core % 2, e + 9 * US,
                          0, dict(exec_id=run_no + 1, nc_timestamp_ns=offset + e + US,
                                  cpu_timestamp_ns=T0 + e + US))
    for t in (700, 750):  # one tracking_id, twice
        s.span("nrt_tensor_write", 0, 77, t * US, (t + 20) * US, 100, dict(tensor_id=1 << 60, size=4096))
    s.span("nrta_execute_schedule", 0, 80, 800 * US, 810 * US, 100)  # a name that is not among the 46
    s.instant("brand_new_event", 9, (9 << 50) + 81, 820 * US, dict(some_key="text", other=-3))
    s.span("generic", 0, 82, 830 * US, 830 * US, 100)  # no payload, no length
    s.span("nrt_execute", 9, (9 << 50) + 90, 900 * US, None, 109, halves="start")  # still running
    return s


def spans_of(result):
    """{(type, nc, tracking, begin): span}, sync points apart; begin relative to T0."""
    out = {}
    for s in result.spans:
        kind = str(s.args.get("event_type", s.name))
        if kind != "timestamp_sync_point":
            out.setdefault((kind, int(s.args["nc_idx"]), int(s.args["tracking_id"])), []).append(s)
    return out


def check_story(tap, what, result, s):
    tap.ok(result.status == 0, f"{what}: exit status", result.status, result.err)
    got, bad = spans_of(result), []
    for kind, nc, tracking, begin, end, halves in s.want:
        found = got.get((kind, nc, tracking), [])
        if not found:
            bad.append(f"missing {kind} {nc} {tracking}")
            continue
        g = min(found, key=lambda g: abs(g.ts - T0 - (begin or 0)))
        found.remove(g)
        stop = None if g.dur is None else g.ts + g.dur - T0
        if halves == "both" and (g.ts - T0 != begin or stop != end):
            bad.append(f"{kind} {nc} {tracking}: {g.ts - T0}..{stop}, want {begin}..{end}")
        if halves == "start" and (g.ts - T0 != begin or not g.args.get("unfinished")):
            bad.append(f"{kind} {nc} {tracking}: not marked unfinished: {g}")
        if halves == "stop" and (stop != end or not g.args.get("start_lost")):
            bad.append(f"{kind} {nc} {tracking}: not marked start_lost: {g}")
    bad += [f"invented {key}" for key, rest in got.items() if rest]
    tap.ok(not bad, f"{what}: every span is there, at its time", *bad)


def json_events(tap):
    s = story()
    doc = {"events": s.listed(), "data_version": 2}
    text = json.dumps(doc)
    path = write("events.json", text)
    for form in ("perfetto", "chrome"):
        r = convert(path, form=form)
        check_story(tap, f"event JSON, {form}", r, s)
        big = [g for g in r.spans if g.args.get("tracking_id") in ((9 << 50) + 10, str((9 << 50) + 10))]
        tap.eq(len(big), 1, f"event JSON, {form}: ids above 2^53 are exact")
        tensor = [g for g in r.spans if str(g.args.get("tensor_id")) == str(1 << 60)]
        tap.eq(len(tensor), 2, f"event JSON, {form}: a repeated tracking_id makes two spans")
        new = [g for g in r.spans if g.name.startswith("brand_new_event")]
        tap.ok(len(new) == 1 and new[0].args.get("some_key") == "text" and new[0].args.get("other") == -3,
               f"event JSON, {form}: an unknown type is kept with its data", new)
    rows = {}
    for g in convert(path).spans:
        if g.name.startswith("nc_exec_running"):
            rows.setdefault(tuple(g.row), set()).add(int(g.args["device_core_idx"]))
    tap.ok(len(rows) == 4 and all(len(c) == 1 for c in rows.values()),
           "event JSON: one row per physical core", rows)
    r = convert("-", stdin=text.encode())
    check_story(tap, "event JSON on standard input", r, s)
    r = convert(write("events.json.gz", gzip.compress(text.encode())))
    check_story(tap, "event JSON, gzip", r, s)
    r = convert(write("misnamed.pb", text))
    check_story(tap, "event JSON under another name", r, s)
    half = len(doc["events"]) // 2
    two = json.dumps({"events": doc["events"][:half], "data_version": 2}) + "\n" + \
        json.dumps({"events": doc["events"][half:], "data_version": 2})
    check_story(tap, "two documents, one after the other", convert(write("two.json", two)), s)
    log = "2025-11-29 INFO  starting {not json\n[WARN] 3 retries\n" + text + "\ndone\n"
    check_story(tap, "event JSON behind log lines", convert(write("app.log", log)), s)
    check_story(tap, "event JSON, pretty-printed", convert(write("pretty.json", json.dumps(doc, indent=4))), s)
    drop = ("Warning: 1001 trace events were dropped during capture (stored 530560 out of 531561 total "
            "events)\n")
    r = convert(write("drop.log", drop + text))
    tap.ok("1001" in r.err, "a drop warning beside the events is repeated", r.err)
    tap.eq(r.status, 3, "and is a loss")


# -- system_profile.json ---------------------------------------------------------------------------------


def profile_rows(as_text):
    """The vendor tool's rows: whole spans; numbers as text, as some versions write them."""
    def num(v):
        return str(v) if as_text else v
    rows = []
    for i in range(6):
        rows.append(dict(name="nrt_execute" if i % 2 == 0 else "nc_exec_running", timestamp=T0 + i * 1000 * US,
                         duration=400 * US, id=i + 1, parent_id=0, instance_id="i-EXAMPLE0", process_id="111",
                         thread_id=num(200 + i % 2), lnc_idx="0", nc_idx=num(0), worker_gid=num(0),
                         exec_id=num(i), device_core_idx=num(i % 2), tensor_id=num((1 << 60) + i),
                         group="nrt-nc-000", timestamp_unit="ns"))
    return rows


def check_profile(tap, what, path, n=6, status=(0, )):
    for form in ("perfetto", "chrome"):
        r = convert(path, form=form)
        got = sorted((s.ts - T0, s.dur) for s in r.spans)
        tap.ok(r.status in status, f"{what}, {form}: exit status", r.status, r.err)
        tap.eq(got, [(i * 1000 * US, 400 * US) for i in range(n)], f"{what}, {form}: spans")
        tap.ok(all(int(s.pid) == 111 for s in r.spans), f"{what}, {form}: process", [s.pid for s in r.spans])


def system_profile(tap):
    plain, texts = profile_rows(False), profile_rows(True)
    check_profile(tap, "trace_event", write("system_profile.json", json.dumps({"trace_event": plain})))
    check_profile(tap, "trace_events", write("sp2.json", json.dumps({"trace_events": plain})))
    check_profile(tap, "a bare array", write("sp3.json", json.dumps(plain)))
    check_profile(tap, "numbers as texts", write("sp4.json", json.dumps({"trace_event": texts})))
    # NaN is no JSON, but tools before 2.19 wrote it
    nan = json.dumps({"trace_event": [dict(r, rate=float("nan")) for r in plain]})
    assert "NaN" in nan
    check_profile(tap, "NaN in it", write("sp5.json", nan))
    whole = json.dumps({"trace_event": plain})
    cut = whole[:whole.index('"id": 5') + 4]  # in the middle of the fifth row
    check_profile(tap, "cut in the middle", write("sp6.json", cut), n=4, status=(3, ))
    r = convert(write("sp6.json", cut))
    tap.ok("sp6.json" in r.err, "cut in the middle: the file is named", r.err)
    mem = [dict(timestamp=T0 + i * 1000 * US, duration=1, instance_id="i-EXAMPLE0", usage=(1 << 33) + i,
                percent_usage=12.5) for i in range(3)]
    cpu = [dict(timestamp=T0 + i * 1000 * US, duration=1, instance_id="i-EXAMPLE0", cpu_id="7", util=50.5)
           for i in range(3)]
    r = convert(write("sp7.json", json.dumps(dict(trace_event=plain, mem_usage=mem, cpu_util=cpu))))
    values = sorted((v for c in r.counters.values() for _, v in c), key=float)
    tap.eq(values, [50.5] * 3 + [(1 << 33) + i for i in range(3)], "mem_usage and cpu_util are counters")
    tap.eq(len(r.spans), 6, "and make no spans")


# -- directories -------------------------------------------------------------------------------------------


def small_capture(pid_offset=0, seq=1):
    """A handful of delimited events: two spans and an instant."""
    e = []
    for i in range(2):
        t = T0 + pid_offset + i * 100 * US
        e.append(event(event_type=3, phase=1, timestamp=t, thread_id=50, id=2 * i + 1, tracking_id=i + 1,
                       attrs={"model_id": "9"}))
        e.append(event(event_type=3, phase=2, timestamp=t + 40 * US, thread_id=50, id=2 * i + 2,
                       tracking_id=i + 1))
    e.append(event(event_type=0, phase=3, timestamp=T0 + pid_offset + 300 * US, thread_id=50, id=9,
                   tracking_id=9, nrta_seq_id=seq))
    return e


def directories(tap):
    data = delimited(small_capture())
    # flat and nested, with empty and foreign files beside
    for layout in ("flat", "nested"):
        sub = f"{layout}/i-EXAMPLE0_pid_111" + ("/1764440000000000000" if layout == "nested" else "")
        write(f"{sub}/ntrace.pb", data)
        write(f"{sub}/cpu_util.pb", b"")
        write(f"{sub}/host_mem.pb", b"")
        write(f"{sub}/2120860766_instid_0_vnc_1.ntff", b"")
        write(f"{sub}/neff_2120860766.neff", b"\x7fNEFF not for us" * 40)
        write(f"{layout}/notes.txt", b"measured on Friday\n")
        r = convert(os.path.join(e2e.TMP, layout))
        tap.ok(r.status == 0, f"{layout} layout, no trace_info, empty files: exit status", r.status, r.err)
        tap.eq(sorted((s.ts - T0, s.dur) for s in r.spans),
               [(0, 40 * US), (100 * US, 40 * US), (300 * US, None)], f"{layout} layout: spans")
        tap.eq({s.pid for s in r.spans}, {111}, f"{layout} layout: pid from the directory")
    # two instances with equal pid, core and ids: two processes
    for i, inst in enumerate(("i-EXAMPLE0", "i-EXAMPLE1")):
        write(f"twins/{inst}_pid_111/ntrace.pb", delimited(small_capture(i * 7 * US)))
    for form in ("perfetto", "chrome"):
        r = convert(os.path.join(e2e.TMP, "twins"), form=form)
        tap.eq((r.status, len(r.spans)), (0, 6), f"equal pids on two instances, {form}: all spans")
        tap.eq({s.pid for s in r.spans}, {111}, f"equal pids on two instances, {form}: true pid kept")
        homes = {}
        for s in r.spans:
            homes.setdefault(s.row[0], []).append(s.ts - T0)
        tap.eq(sorted(len(h) for h in homes.values()), [3, 3],
               f"equal pids on two instances, {form}: two processes")
    # the same capture given twice, as directory and file: nothing is counted twice as one process
    r = convert(os.path.join(e2e.TMP, "twins/i-EXAMPLE0_pid_111"), os.path.join(e2e.TMP, "twins/i-EXAMPLE1_pid_111"))
    tap.eq(len(r.spans), 6, "several inputs in one command")


# -- forms of ntrace.pb --------------------------------------------------------------------------------------

WANT = [(0, 40 * US), (100 * US, 40 * US), (300 * US, None)]


def check_form(tap, what, data, status=(0, ), want=None):
    r = convert(write("forms/" + what.replace(" ", "_").replace("/", "_") + ".pb", data))
    tap.ok(r.status in status, f"{what}: exit status", r.status, r.err)
    tap.eq(sorted((s.ts - T0, s.dur) for s in r.spans), WANT if want is None else want, f"{what}: spans")
    return r


def forms(tap):
    events = small_capture()
    check_form(tap, "varint lengths", delimited(events))
    check_form(tap, "u32 lengths", b"".join(len(e).to_bytes(4, "little") + e for e in events))
    check_form(tap, "u64 lengths", b"".join(len(e).to_bytes(8, "little") + e for e in events))
    for number in (1, 7, 16, 31):
        tag = varint(number << 3 | 2)
        check_form(tap, f"bare with events as field {number}", b"".join(tag + varint(len(e)) + e for e in events))
    check_form(tap, "gzip", gzip.compress(delimited(events)))
    check_form(tap, "two files one after the other", delimited(events) + delimited(
        [event(event_type=0, phase=3, timestamp=T0 + 400 * US, thread_id=50, id=10, tracking_id=10)]),
        want=WANT + [(400 * US, None)])
    unknown = varint(99 << 3) + varint(5) + varint(100 << 3 | 2) + b"\x03abc"
    check_form(tap, "unknown fields 99 and 100", delimited([e + unknown for e in events]))
    # the number of nrta_seq_id: 16, or 15 in the numbering that has it there
    r = check_form(tap, "nrta_seq_id as field 16", delimited(events))
    tap.eq([s.args.get("nrta_seq_id") for s in r.spans if s.dur is None], [1], "nrta_seq_id as field 16: value")
    ser = []
    for i in range(2):
        t = T0 + i * 100 * US
        for phase, at in ((1, t), (2, t + 40 * US)):
            ser.append(b"\x08" + varint(at) + b"\x28\x03" + b"\x40\x32" + b"\x48" + varint(2 * i + phase) +
                       b"\x68" + varint(phase) + b"\x70" + varint(i + 1))
    ser.append(b"\x08" + varint(T0 + 300 * US) + b"\x40\x32\x48\x09\x68\x03\x70\x09\x78\x2a")
    r = check_form(tap, "the numbering with timestamp 1", delimited(ser))
    tap.eq([s.args.get("nrta_seq_id") for s in r.spans if s.dur is None], [42], "nrta_seq_id as field 15: value")
    # torn in the last record: the others stay, and the loss is named with its offset
    whole = delimited(events)
    torn = whole[:-3]
    r = check_form(tap, "torn last record", torn, status=(3, ), want=WANT[:2])
    offset = len(whole) - len(delimited(events[-1:]))
    tap.ok("torn_last_record.pb" in r.err and (str(offset) in r.err or hex(offset) in r.err),
           f"torn last record: file and offset {offset:#x} are named", r.err)
    r = convert(write("forms/strict.pb", torn), "--strict")
    tap.eq(r.status, 1, "torn last record: --strict makes it exit 1")
    tap.eq(r.data, b"", "and writes nothing")
    # an attribute that is no text
    bad = event(event_type=0, phase=3, timestamp=T0, thread_id=50, id=1, tracking_id=1,
                attrs={"note": b"caf\xe9 \xff\x00\x01\x1b[31m"})
    for form in ("perfetto", "chrome"):
        r = convert(write("forms/text.pb", delimited([bad] + events)), form=form)
        notes = [s.args["note"] for s in r.spans if "note" in s.args]
        tap.ok(len(notes) == 1 and notes[0].startswith("caf") and "\x00" not in notes[0],
               f"bytes that are no UTF-8, {form}: valid text comes out", notes)
    tap.eq(run("-f", "chrome", "-o", "-", write("forms/empty.pb", b""))[0], 1, "an empty file alone: exit 1")


if __name__ == "__main__":
    tap = Tap()
    json_events(tap)
    system_profile(tap)
    directories(tap)
    forms(tap)
    tap.end()
