"""e2e - runs ntff-conv and reads back what it wrote, in either format, as one kind of list.

For tests: convert(...) gives a Result whose spans have Unix ns, decoded arguments and the true pid; the
class Tap prints TAP. Uses $BUILD and $TMP.
"""
import gzip
import json
import os
import re
import subprocess
import sys
from decimal import Decimal

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pftrace  # noqa: E402

SRC = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get("BUILD", os.path.join(SRC, "build/release"))
TMP = os.environ.get("TMP", "/tmp")
CASES = os.path.join(SRC, "tests/data/cases")
CONV = os.path.join(BUILD, "ntff-conv")


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def ok(self, good, name, *why):
        self.n += 1
        if not good:
            self.failed = 1
            for line in "\n".join(str(w) for w in why).splitlines()[:40]:
                print("#", line)
        print(f"{'ok' if good else 'not ok'} {self.n} - {name}", flush=True)
        return bool(good)

    def eq(self, got, want, name):
        return self.ok(got == want, name, f"got  {got!r}", f"want {want!r}")

    def skip(self, name, reason):
        self.n += 1
        print(f"ok {self.n} - {name} # SKIP {reason}", flush=True)

    def end(self):
        print(f"1..{self.n}")
        sys.exit(self.failed)


def run(*args, stdin=None, cwd=None):
    """(exit status, standard output, standard error) of ntff-conv."""
    p = subprocess.run([CONV, *args], input=stdin, capture_output=True, cwd=cwd or TMP,
                       stdin=subprocess.DEVNULL if stdin is None else None)
    return p.returncode, p.stdout, p.stderr.decode("utf-8", "replace")


class Span(dict):
    """pid, name, cat, ts, dur (None = instant), args, row (names from the process down)"""
    __getattr__ = dict.__getitem__


class Result:
    def __init__(self, status, err, data, form):
        self.status, self.err, self.spans, self.counters, self.flows = status, err, [], {}, []
        self.data = data
        if data:
            (self._perfetto if form == "perfetto" else self._chrome)(data)

    def _perfetto(self, data):
        t = self.trace = pftrace.Trace(data)
        heads = {}
        for s in t.slices:
            path, pid, uuid = t.path(s["uuid"]), None, s["uuid"]
            while uuid:
                pid = t.tracks[uuid]["pid"] if pid is None else pid
                uuid = t.tracks[uuid]["parent"]
            span = Span(pid=s["args"].get("process_id", pid), name=s["name"], cat=s["cat"], ts=s["ts"],
                        dur=s["dur"], args=s["args"], row=path, where=s["uuid"])
            self.spans.append(span)
            for flow in s["flows"]:
                heads.setdefault(flow, []).append(span)
            for flow in s["ends"]:
                self.flows.append((heads[flow][0], span))
                heads[flow] = None
        for ends in heads.values():
            if ends:
                if len(ends) != 2:
                    raise pftrace.Bad(f"a flow of {len(ends)} ends")
                self.flows.append((ends[0], ends[1]))
        for c in t.counters:
            self.counters.setdefault(tuple(t.path(c["uuid"])), []).append((c["ts"], c["value"]))

    def _chrome(self, data):
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        doc = json.loads(data.decode("utf-8"), parse_float=Decimal)
        base, self.doc = int(doc["baseTimeNanoseconds"]), doc
        names, flows = {}, {}

        def ns(us):
            value = us * 1000
            if value != int(value):
                raise ValueError(f"{us} us is no whole number of ns")
            return int(value)

        for e in doc["traceEvents"]:
            if e["ph"] == "M" and e["name"] in ("process_name", "thread_name"):
                names[e["pid"], e.get("tid") if e["name"] == "thread_name" else None] = e["args"]["name"]
        for e in doc["traceEvents"]:
            if e["ph"] in "Xi":
                args = e.get("args", {})
                row = [names.get((e["pid"], None)), names.get((e["pid"], e["tid"]))]
                self.spans.append(Span(pid=int(args.get("process_id", e["pid"])), name=e["name"],
                                       cat=e["cat"], ts=base + ns(e["ts"]), args=args, row=row,
                                       dur=ns(e["dur"]) if e["ph"] == "X" else None,
                                       where=(e["pid"], e["tid"])))
            elif e["ph"] == "C":
                for key, value in e["args"].items():
                    self.counters.setdefault((names.get((e["pid"], None)), e["name"], key),
                                             []).append((base + ns(e["ts"]), value))
            elif e["ph"] in "stf":
                flows.setdefault((e["id"], e.get("cat"), e["name"]), []).append(e)
            elif e["ph"] != "M":
                raise ValueError(f"event of kind {e['ph']}")
        at = {}
        for s in self.spans:
            at.setdefault((s.where, s.ts), []).append(s)
        for ends in flows.values():
            start = next(e for e in ends if e["ph"] == "s")
            stop = next(e for e in ends if e["ph"] == "f")
            pick = [at[(e["pid"], e["tid"]), base + ns(e["ts"])][0] for e in (start, stop)]
            self.flows.append(tuple(pick))


def convert(*args, form="perfetto", stdin=None):
    """Converts to memory; spans of the result are in file order."""
    status, out, err = run("-f", form, "-o", "-", *args, stdin=stdin)
    return Result(status, err, out, form)


def summary(*args):
    """The --summary of a conversion, as a dict, and its exit status."""
    path = os.path.join(TMP, "summary.json")
    status, _, err = run("-f", "perfetto", "-o", os.path.join(TMP, "summary.pftrace"), "--force", "--summary",
                         path, *args)
    if not os.path.exists(path):
        return {}, status, err
    with open(path, encoding="utf-8") as f:
        return json.load(f), status, err


def truth(case):
    with gzip.open(os.path.join(CASES, f"{case}.truth.json.gz"), "rt", encoding="utf-8") as f:
        return json.load(f)


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def event(**f):
    """One ntrace_event by the default numbering, written by hand; attrs = dict."""
    numbers = dict(type=1, timestamp=2, data=3, nd_idx=4, nc_idx=5, event_type=7, duration=8, thread_id=9,
                   id=10, parent_id=11, status=13, phase=14, tracking_id=15, nrta_seq_id=16)
    out = b""
    for name, value in sorted(f.items(), key=lambda i: numbers.get(i[0], 12)):
        if name == "attrs":
            for key, text in value.items():
                key, text = key.encode(), text if isinstance(text, bytes) else str(text).encode()
                entry = b"\x0a" + varint(len(key)) + key + b"\x12" + varint(len(text)) + text
                out += b"\x62" + varint(len(entry)) + entry
        elif name == "hint":
            out += b"\x32" + varint(len(value)) + value.encode()
        elif value or name == "nrta_seq_id":
            out += varint(numbers[name] << 3) + varint(value)
    return out


def delimited(messages):
    return b"".join(varint(len(m)) + m for m in messages)


def write(name, data):
    """A file below $TMP; returns its path."""
    path = os.path.join(TMP, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    return path


def losses(err):
    """Counts on the lines 'ntff-conv: ... N things ...' of standard error, as a list of lines."""
    return [line for line in err.splitlines() if re.search(r"\d", line)]
