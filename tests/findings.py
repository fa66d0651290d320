#!/usr/bin/env python3
"""findings.py - each kind of damage or oddity once: it is counted, named with its file and byte offset, has
the exit status of its grade, and costs nothing else. Prints TAP.
"""
import gzip
import os
import re
import struct

import e2e
from e2e import Tap, convert, delimited, event, run, summary, varint, write

T0 = 1764440000_000_000_000
US = 1000
LOSS, FINE = 3, 0


def span(n, begin, end, kind=3, tid=50, nc=0, attrs=None, stop_attrs=None):
    """Start and stop of one span."""
    common = dict(event_type=kind, thread_id=tid, nc_idx=nc, tracking_id=(nc << 50) + n)
    return [event(phase=1, timestamp=T0 + begin, id=2 * n, attrs=attrs or {}, **common),
            event(phase=2, timestamp=T0 + end, id=2 * n + 1, attrs=stop_attrs or {}, **common)]


def device_span(n, begin, end, core, exec_id=1, kind=7, nc=0, raw=False):
    """A run on a physical core whose clock is 1000 s behind per core number plus one."""
    back = T0 - (core + 1) * 1_000_000_000_000
    a, b = T0 + begin - back, T0 + end - back
    out = []
    for phase, at, nc_at, attrs in ((1, begin, a, {"device_core_idx": core, "exec_id": exec_id}), (2, end, b, {})):
        out.append(event(event_type=kind, phase=phase, timestamp=nc_at if raw else T0 + at, id=1000 + 2 * n + phase,
                         nc_idx=nc, tracking_id=(nc << 50) + 1000 + n, attrs={**attrs, "nc_timestamp_ns": nc_at}))
    return out


def sync(n, at, core, exec_id=1, nc=0, late=0):
    back = T0 - (core + 1) * 1_000_000_000_000
    return event(event_type=25, phase=3, timestamp=T0 + at + 10 * US, id=5000 + n, nc_idx=nc,
                 tracking_id=(nc << 50) + 5000 + n,
                 attrs={"exec_id": exec_id, "nc_timestamp_ns": T0 + at - back, "cpu_timestamp_ns": T0 + at + late})


BASE = span(1, 0, 40 * US) + span(2, 100 * US, 140 * US)  # two good spans, always there


def offsets(messages):
    """Byte offset of each record (its length prefix) in the delimited form, and its first field."""
    at, out = 0, []
    for m in messages:
        head = len(varint(len(m)))
        out.append((at, at + head))
        at += head + len(m)
    return out


class Check:
    def __init__(self, tap, name, path, status, *args):
        self.tap, self.name, self.path = tap, name, path
        self.results = {}
        for form in ("perfetto", "chrome"):
            r = self.results[form] = convert("-v", *args, path, form=form)
            tap.eq(r.status, status, f"{name}, {form}: exit status") or print("#", r.err)
        self.r = self.results["perfetto"]
        s, _, _ = summary(*args, path)
        r = s.get("records", {})
        if r:
            tap.eq(2 * r["pairs"] + r["whole"] + r["unfinished"] + r["start_lost"] + r["instants"] + r["filtered"] +
                   r["dropped"], r["in"], f"{name}: every record is accounted for")

    def says(self, count, pattern, offset=None, file=True):
        """One line 'COUNT PATTERN', with the file, and the offset if one is wanted."""
        lines = [x for x in self.r.err.splitlines() if re.match(rf"ntff-conv: {count} {pattern}", x)]
        good = len(lines) == 1
        if good and offset is not None:
            m = re.search(r"offset (0x[0-9a-f]+)", lines[0])
            good = m is not None and int(m[1], 16) == offset
        if good and file:
            good = os.path.basename(self.path) in lines[0]
        want = f"{count} {pattern}" + (f" at {offset}" if offset is not None else "")
        self.tap.ok(good, f"{self.name}: says '{count} {pattern}'", f"want {want}", self.r.err)
        return self

    def spans(self, n):
        for form, r in self.results.items():
            self.tap.eq(len([s for s in r.spans if not s.name.startswith("timestamp_sync")]), n,
                        f"{self.name}, {form}: {n} spans and instants")
        return self

    def flagged(self, flag, n):
        for form, r in self.results.items():
            self.tap.eq(len([s for s in r.spans if s.args.get(flag)]), n, f"{self.name}, {form}: {n} marked {flag}")
        return self


def records(tap):
    """Single records that are wrong."""
    bad = {  # and the field in it that is wrong
        "a field that ends early": (b"\x10\x80", 0),
        "a length beyond the record": (b"\x38\x03\x62\x7f\x0a\x00", 2),
        "a group": (b"\x38\x03\x13", 2),
        "field number 0": (b"\x38\x03\x00\x01", 2),
    }
    many = BASE + [m for n in range(10, 40) for m in span(n, n * 200 * US, n * 200 * US + 50 * US)]
    for name, (record, field) in bad.items():
        stream = many[:5] + [record] + many[5:]
        at = offsets(stream)[5][1] + field
        Check(tap, name, write(f"record/{name.replace(' ', '_')}.pb", delimited(stream)), LOSS) \
            .says(1, "record could not be decoded", at).spans(32)
    stream = many + [event(event_type=3, phase=3, id=900, tracking_id=900, thread_id=50)]
    Check(tap, "an event without a time", write("record/no_time.pb", delimited(stream)), LOSS) \
        .says(1, "event has an impossible time", file=False).spans(32)
    stream = many + [event(event_type=3, phase=3, timestamp=(1 << 63) + 5, id=900, tracking_id=900, thread_id=50)]
    Check(tap, "an event at 2^63", write("record/far.pb", delimited(stream)), LOSS) \
        .says(1, "event has an impossible time", file=False).spans(32)
    stream = many + [event(event_type=46 + 7, phase=3, timestamp=T0, id=900, tracking_id=900, thread_id=50)]
    c = Check(tap, "a type above 45", write("record/type.pb", delimited(stream)), FINE).spans(33)
    c.says(1, "event has a type outside the known table", file=False)
    tap.ok(any("type 53" in s.name for s in c.r.spans), "a type above 45: is called by its number")
    stream = [m + varint(77 << 3) + b"\x05" for m in many]
    path = write("record/field.pb", delimited(stream))
    Check(tap, "an unknown field", path, FINE).spans(32)
    _, out, _ = run("info", path)
    tap.ok(re.search(rf"{len(many)} unknown fields", out.decode()), "an unknown field: info counts it", out.decode())


def halves(tap):
    lone_start, lone_stop = span(7, 200 * US, 0)[0], span(8, 0, 250 * US)[1]
    Check(tap, "a start without a stop", write("half/start.pb", delimited(BASE + [lone_start])), FINE) \
        .says(1, "start without a stop", file=False).spans(3).flagged("unfinished", 1)
    Check(tap, "a stop without a start", write("half/stop.pb", delimited(BASE + [lone_stop])), FINE) \
        .says(1, "stop without a start", file=False).spans(3).flagged("start_lost", 1)
    again = [span(9, 300 * US, 0)[0], *span(9, 310 * US, 350 * US)]
    Check(tap, "two starts, one stop", write("half/again.pb", delimited(BASE + again)), FINE) \
        .says(1, "start repeats an id", file=False).spans(4).flagged("unfinished", 1)
    backwards = [span(9, 300 * US, 0)[0], span(9, 0, 290 * US)[1]]
    c = Check(tap, "a stop before its start", write("half/backwards.pb", delimited(BASE + backwards)), FINE).spans(3)
    c.says(1, "span stops before it starts", file=False).flagged("negative_duration", 1)
    tap.eq([s.dur for s in c.r.spans if s.args.get("negative_duration")], [0], "a stop before its start: no length")
    twice = span(9, 300 * US, 350 * US) + span(9, 400 * US, 450 * US)
    Check(tap, "an id used twice", write("half/twice.pb", delimited(BASE + twice)), FINE).spans(4) \
        .flagged("unfinished", 0).flagged("start_lost", 0)
    # a stop that is written before its start, as files put together show it
    late = [span(9, 0, 350 * US)[1], span(9, 300 * US, 0)[0]]
    Check(tap, "a stop written before its start", write("half/order.pb", delimited(late + BASE)), FINE).spans(3) \
        .flagged("unfinished", 0).flagged("start_lost", 0)


def texts(tap):
    bad = event(event_type=0, phase=3, timestamp=T0, id=9, tracking_id=9, thread_id=50, attrs={"k": b"\xff\xfe"})
    Check(tap, "a text that is no UTF-8", write("text/utf8.pb", delimited(BASE + [bad])), FINE).spans(3)
    long = event(event_type=0, phase=3, timestamp=T0, id=9, tracking_id=9, thread_id=50, attrs={"k": "x" * 100_000})
    c = Check(tap, "a text of 100 kB", write("text/long.pb", delimited(BASE + [long])), FINE).spans(3)
    tap.eq([len(s.args["k"]) for s in c.r.spans if "k" in s.args], [100_000], "a text of 100 kB: is whole")
    dotted = event(event_type=0, phase=3, timestamp=T0, id=9, tracking_id=9, thread_id=50, attrs={"a.b[0]": "v"})
    c = Check(tap, "a key with dots", write("text/key.pb", delimited(BASE + [dotted])), FINE).spans(3)
    keys = {k for s in c.r.spans for k in s.args}
    tap.ok(not any(ch in k for k in keys for ch in ".[]"), "a key with dots: Perfetto would rewrite them", keys)
    huge = event(event_type=0, phase=3, timestamp=T0, id=9, tracking_id=9, thread_id=50,
                 attrs={"big": (1 << 64) - 1, "bigger": 1 << 64, "zero": "007", "empty": ""})
    for form in ("perfetto", "chrome"):
        s = [s for s in convert(write("text/num.pb", delimited(BASE + [huge])), form=form).spans if "zero" in s.args]
        got = s and [str(s[0].args[k]) for k in ("big", "bigger", "zero")]
        tap.eq(got, [str((1 << 64) - 1), str(1 << 64), "007"], f"numbers around 2^64, {form}: are exact")


def clocks(tap):
    runs = BASE + [m for i in range(6) for c in (0, 1)
                   for m in device_span(2 * i + c, 200 * US + i * 100 * US, 250 * US + i * 100 * US, c, i + 1, raw=True)]
    Check(tap, "raw device times without sync points", write("clock/none.pb", delimited(runs)), FINE) \
        .says(12, "device events have no clock pair", file=False).spans(14).flagged("unaligned", 12)
    pairs = [sync(2 * i + c, 260 * US + i * 100 * US, c, i + 1) for i in range(6) if i != 3 for c in (0, 1)]
    c = Check(tap, "an execution without its sync points", write("clock/one.pb", delimited(runs + pairs)), FINE)
    c.spans(14).flagged("unaligned", 0)
    for form, r in c.results.items():
        got = sorted(s.ts - T0 for s in r.spans if s.name.startswith("nc_exec_running"))
        tap.eq(got, sorted(200 * US + i * 100 * US for i in range(6) for _ in (0, 1)),
               f"an execution without its sync points, {form}: stands where it ran")


def files(tap):
    raw = struct.pack("<I4xQQQQQ40sIIQB7x", 0, 50, 1, 1, 1, T0, b"", 2, 0, 0, 0)
    dump = b"".join(struct.pack("<I4xQQQQQ40sIIQB7x", 0, 50, i, i, i, T0 + i * US, b"", 2, 0, 0, 0) for i in range(20))
    Check(tap, "a dump that ends in mid-record", write("file/cut.bin", dump + raw[:60]), LOSS) \
        .says(1, "file ends in the middle of a record", len(dump)).spans(20)
    Check(tap, "a gzip file that is cut", write("file/cut.gz", gzip.compress(delimited(BASE * 50))[:-9]), LOSS)
    Check(tap, "an empty file beside a good one", os.path.dirname(
        (write("file/empty/a.pb", delimited(BASE)), write("file/empty/b.pb", b""))[0]), FINE) \
        .says(1, "file is empty", file=False).spans(2)
    Check(tap, "a foreign file beside a good one", os.path.dirname(
        (write("file/other/a.pb", delimited(BASE)), write("file/other/b.neff", b"\x7fNEFF" + b"\x01\x02" * 500))[0]),
        FINE).says(1, "file is of another kind", file=False).spans(2)
    status, out, err = run("-o", "-", write("file/good.pb", delimited(BASE)), os.path.join(e2e.TMP, "file/nowhere.pb"))
    tap.ok(status == 1 and not out and "nowhere.pb: No such file" in err,
           "a path that is not there beside a good one", status, err)
    deep = os.path.join(e2e.TMP, "deep")
    os.makedirs(deep)
    os.symlink(deep, os.path.join(deep, "loop"))
    write("deep/a.pb", delimited(BASE))
    Check(tap, "a directory that links to itself", deep, FINE).spans(2)


def lanes(tap):
    # overlapping without nesting, on one thread: lanes, not wrong lengths
    over = [m for i in range(20) for m in span(10 + i, i * 10 * US, i * 10 * US + 105 * US)]
    c = Check(tap, "spans that overlap", write("lane/over.pb", delimited(over)), FINE).spans(20)
    for form, r in c.results.items():
        tap.eq(sorted(s.dur for s in r.spans), [105 * US] * 20, f"spans that overlap, {form}: true lengths")
    many = [m for i in range(300) for m in span(10 + i, i * US, (1000 + i) * US)]
    c = Check(tap, "three hundred that overlap", write("lane/many.pb", delimited(many)), LOSS).spans(300)
    c.says(300 - 256, "spans found no free lane", file=False).flagged("no_lane", 300 - 256)
    same = [m for i in range(600) for m in [event(event_type=0, phase=3, timestamp=T0, id=i + 1, tracking_id=i + 1,
                                                  thread_id=50)]]
    Check(tap, "six hundred instants at one time", write("lane/instants.pb", delimited(same)), FINE).spans(600)
    nested = [m for i in range(200) for m in span(10 + i, i * US, (1000 - i) * US)]
    c = Check(tap, "two hundred levels of nesting", write("lane/nest.pb", delimited(nested)), FINE).spans(200)
    tap.eq(len({s.where for s in c.r.spans}), 1, "two hundred levels of nesting: one row")
    skew = span(10, 0, 100 * US) + span(11, 50 * US, 100 * US + 20)  # the child ends 20 ns after its parent
    c = Check(tap, "a child that ends 20 ns late", write("lane/skew.pb", delimited(skew)), FINE).spans(2)
    tap.eq(sorted(s.dur for s in c.r.spans), [50 * US + 20, 100 * US], "a child that ends 20 ns late: true lengths")


if __name__ == "__main__":
    tap = Tap()
    records(tap)
    halves(tap)
    texts(tap)
    clocks(tap)
    files(tap)
    lanes(tap)
    tap.end()
