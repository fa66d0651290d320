#!/usr/bin/env python3
"""check_pftrace TRACE [SUMMARY.json] - proves from the bytes of a Perfetto trace that nothing can be lost.

Perfetto's importer drops or bends much without reporting it. This program reads the bytes with a parser
of its own, shares nothing with the converter, and checks: every field has the number and wire type of the
public format; one sequence, state cleared once and first; one clock snapshot; tracks described once, before
use, parents first, ordered without ties; ids defined once and before use; no packed scalars; times ascending
and in range; spans strictly nested per uuid with ends before begins at equal times; every span closed; nothing
on undeclared tracks; no more instants of one time in a row than readers keep; counters on counter tracks; flows
with one start and one end; texts valid; and, given the converter's summary, the same totals per category.
Prints what is wrong; exit status 1 if anything is.
"""
import gzip
import json
import struct
import sys

VARINT, I64, LEN, I32 = 0, 1, 2, 5
U, F, S, D = "varint", "fixed64", "bytes", "double"


class Message:
    """field number -> (name, type, repeated); type is U, F, D, S, "text" or another Message"""

    def __init__(self, title, /, **fields):
        self.name = title
        self.fields = {}
        for key, (number, kind, *many) in fields.items():
            self.fields[number] = (key, kind, bool(many))


NAMED = Message("named", iid=(1, U), name=(2, "text"))
TEXT = Message("interned text", iid=(1, U), str=(2, "text"))
INTERNED = Message("interned_data", event_categories=(1, NAMED, 1), event_names=(2, NAMED, 1),
                   debug_annotation_names=(3, NAMED, 1), debug_annotation_string_values=(29, TEXT, 1))
ANNOTATION = Message("debug_annotation", name_iid=(1, U), name=(10, "text"), bool_value=(2, U), uint_value=(3, U),
                     int_value=(4, U), double_value=(5, D), string_value=(6, "text"), string_value_iid=(17, U))
EVENT = Message("track_event", category_iids=(3, U, 1), debug_annotations=(4, ANNOTATION, 1), type=(9, U),
                name_iid=(10, U), track_uuid=(11, U), counter_value=(30, U), double_counter_value=(44, D),
                flow_ids=(47, F, 1), terminating_flow_ids=(48, F, 1))
PROCESS = Message("process", pid=(1, U), process_name=(6, "text"), process_labels=(8, "text", 1))
THREAD = Message("thread", pid=(1, U), tid=(2, U), thread_name=(5, "text"))
COUNTER = Message("counter", unit=(3, U), unit_name=(6, "text"), y_axis_share_key=(7, "text"))
TRACK = Message("track_descriptor", uuid=(1, U), name=(2, "text"), process=(3, PROCESS), thread=(4, THREAD),
                parent_uuid=(5, U), counter=(8, COUNTER), child_ordering=(11, U), sibling_order_rank=(12, U),
                description=(14, "text"), sibling_merge_behavior=(15, U), sibling_merge_key=(16, "text"),
                process_ordering=(19, U), thread_ordering=(20, U))
CLOCK = Message("clock", clock_id=(1, U), timestamp=(2, U), is_incremental=(3, U))
SNAPSHOT = Message("clock_snapshot", clocks=(1, CLOCK, 1), primary_trace_clock=(2, U))
ATTRIBUTE = Message("attribute", key=(1, "text"), long_value=(2, U), string_value=(3, "text"))
ATTRIBUTES = Message("trace_attributes", attribute=(1, ATTRIBUTE, 1))
DEFAULTS = Message("trace_packet_defaults", timestamp_clock_id=(58, U))
PACKET = Message("packet", clock_snapshot=(6, SNAPSHOT), timestamp=(8, U), trusted_packet_sequence_id=(10, U),
                 track_event=(11, EVENT), interned_data=(12, INTERNED), sequence_flags=(13, U),
                 timestamp_clock_id=(58, U), trace_packet_defaults=(59, DEFAULTS), track_descriptor=(60, TRACK),
                 trace_attributes=(126, ATTRIBUTES))
WIRE = {U: VARINT, F: I64, D: I64}


def varint(buf, pos, end):
    value = shift = 0
    while True:
        if pos >= end or shift > 63:
            raise ValueError(f"bad varint at byte {pos}")
        byte = buf[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            if byte == 0 and shift > 7:
                raise ValueError(f"varint longer than needed at byte {pos}")
            return value & (2**64 - 1), pos


def parse(kind, buf, pos, end):
    """A message as a dict; unknown fields, wrong wire types and repeats of single fields are errors."""
    out = {}
    while pos < end:
        at = pos
        tag, pos = varint(buf, pos, end)
        number, wire = tag >> 3, tag & 7
        if number not in kind.fields:
            raise ValueError(f"{kind.name} has no field {number} (byte {at})")
        name, sort, many = kind.fields[number]
        if wire != WIRE.get(sort, LEN):
            raise ValueError(f"{kind.name}.{name} with wire type {wire} (byte {at})")
        if wire == VARINT:
            value, pos = varint(buf, pos, end)
        elif wire == I64:
            value = struct.unpack_from("<d" if sort is D else "<Q", buf, pos)[0]
            pos += 8
        else:
            size, pos = varint(buf, pos, end)
            stop = pos + size
            if stop > end:
                raise ValueError(f"{kind.name}.{name} of {size} bytes, {end - pos} left (byte {at})")
            if isinstance(sort, Message):
                value = parse(sort, buf, pos, stop)
            else:
                value = bytes(buf[pos:stop]).decode("utf-8")
                if "\0" in value:
                    raise ValueError(f"NUL in {kind.name}.{name} (byte {at})")
            pos = stop
        if many:
            out.setdefault(name, []).append(value)
        elif name in out:
            raise ValueError(f"{kind.name}.{name} twice (byte {at})")
        else:
            out[name] = value
    if pos != end:
        raise ValueError(f"{kind.name} ends in the middle of a field")
    return out


class Checker:
    def __init__(self):
        self.wrong = []
        self.tracks = {}      # uuid -> descriptor
        self.ranks = set()    # (parent or kind, rank, merge key or uuid)
        self.iids = {f: {} for f in INTERNED.fields}
        self.stacks = {}      # uuid -> [(begin, category, packet, came after an empty one, found no lane)]
        self.last = {}        # uuid -> (time, what): the latest begin or instant
        self.crowds = {}      # merge key or uuid -> (time, instants at it)
        self.flows = {}       # id -> number of ends seen, closed
        self.totals = {}      # category -> [count, sum, min, max]
        self.counts = {"spans": 0, "instants": 0, "samples": 0, "flows": 0}
        self.now, self.incremental = 0, None
        self.pids, self.tids = {}, set()
        self.stacked, self.stacked_at = 0, None
        self.n = 0

    def bad(self, text):
        if len(self.wrong) < 50:
            self.wrong.append(f"packet {self.n}: {text}")

    def need(self, condition, text):
        if not condition:
            self.bad(text)
        return condition

    # -- packets --------------------------------------------------------------------------------------

    def packet(self, p):
        self.need(p.get("trusted_packet_sequence_id") == 1, "not on sequence 1")
        self.need(p.get("sequence_flags") == (1 if self.n == 0 else 2), f"sequence_flags {p.get('sequence_flags')}")
        self.need(("clock_snapshot" in p) == (self.n == 0), "the clock snapshot is the first packet and the only one")
        self.need("timestamp_clock_id" not in p, "timestamp_clock_id on a packet")
        if "clock_snapshot" in p:
            self.snapshot(p["clock_snapshot"])
        if "trace_packet_defaults" in p:
            self.need(p["trace_packet_defaults"] == {"timestamp_clock_id": 64} and self.incremental is not None,
                      "defaults without an incremental clock")
        if "interned_data" in p:
            self.define(p["interned_data"])
        if "track_descriptor" in p:
            self.describe(p["track_descriptor"])
        if "track_event" in p:
            self.event(self.time(p), p["track_event"])
        self.n += 1

    def snapshot(self, s):
        clocks = {c["clock_id"]: c for c in s["clocks"]}
        self.need(s.get("primary_trace_clock") == 6 and 6 in clocks and 1 in clocks, "BOOTTIME and REALTIME wanted")
        self.need(0 < clocks[6]["timestamp"] < 10**9, "trace time does not begin at a small positive origin")
        if 64 in clocks:
            self.need(clocks[64].get("is_incremental") == 1, "clock 64 is not incremental")
            self.incremental = clocks[64]["timestamp"]
        self.now = clocks[6]["timestamp"]

    def time(self, p):
        if not self.need("timestamp" in p, "event without a timestamp"):
            return self.now
        t = p["timestamp"]
        if self.incremental is not None:
            self.incremental += t
            t = self.incremental
        self.need(0 < t < 2**62, f"time {t}")
        self.need(t >= self.now, f"time goes back from {self.now} to {t}")
        self.now = max(t, self.now)
        return t

    def define(self, d):
        for number, (name, _, _) in INTERNED.fields.items():
            for entry in d.get(name, []):
                text = entry.get("name", entry.get("str", ""))
                if self.need(entry.get("iid", 0) > 0, f"{name} with iid 0"):
                    self.need(entry["iid"] not in self.iids[number], f"{name} {entry['iid']} defined again")
                    self.iids[number][entry["iid"]] = text
                self.need(text != "" or number == 29, f"empty text in {name}")
                if number == 3:
                    self.need(not set(".[]") & set(text), f"annotation name {text!r}")
                    names = [v for v in self.iids[3].values() if v == text]
                    self.need(len(names) == 1, f"two annotation names {text!r}")

    # -- tracks ---------------------------------------------------------------------------------------

    def describe(self, d):
        uuid = d.get("uuid", 0)
        if uuid == 0:
            self.need(d.get("process_ordering") == 1 and d.get("thread_ordering") == 1, "root without explicit order")
            return
        self.need(not self.stacks, "a track described after the first event")
        if not self.need(uuid not in self.tracks, f"uuid {uuid} described twice"):
            return
        parent = d.get("parent_uuid", 0)
        self.need(parent == 0 or parent in self.tracks, f"uuid {uuid} before its parent {parent}")
        name = d.get("name") or d.get("process", {}).get("process_name") or d.get("thread", {}).get("thread_name")
        self.need(name, f"uuid {uuid} without a name")
        self.tracks[uuid] = d
        if "process" in d:
            pid = d["process"].get("pid", 0)
            self.need(0 < pid < 2**31 and pid not in self.pids, f"pid {pid}")
            self.pids[pid] = uuid
            self.rank("process", d, uuid)
        elif "thread" in d:
            pid, tid = d["thread"].get("pid", 0), d["thread"].get("tid", 0)
            self.need(pid in self.pids, f"thread of an unknown pid {pid}")
            self.need(0 < tid < 2**63 and (pid, tid) not in self.tids, f"tid {tid} of pid {pid}")
            self.tids.add((pid, tid))
            self.rank(("thread", pid), d, uuid)
        else:
            merge = d.get("sibling_merge_behavior")
            self.need(merge in (2, 3), f"uuid {uuid} may merge with others by name")
            self.need((merge == 3) == ("sibling_merge_key" in d), f"uuid {uuid}: merge key")
            self.rank(parent, d, uuid)
            above = self.tracks.get(parent, {})
            if parent and "process" not in above and "thread" not in above:
                self.need(above.get("child_ordering") == 3, f"uuid {parent} has children in no given order")

    def rank(self, where, d, uuid):
        key = d.get("sibling_merge_key", uuid)
        rank = d.get("sibling_order_rank", 0)
        same = [k for w, r, k in self.ranks if w == where and r == rank] if len(self.ranks) < 20000 else []
        self.need(all(k == key for k in same), f"uuid {uuid} shares rank {rank} with another row")
        self.ranks.add((where, rank, key))

    # -- events ---------------------------------------------------------------------------------------

    def event(self, t, e):
        kind, uuid = e.get("type"), e.get("track_uuid", 0)
        if not self.need(uuid in self.tracks, f"event on uuid {uuid}, which nobody described"):
            return
        is_counter = "counter" in self.tracks[uuid]
        self.need(is_counter == (kind == 4), f"type {kind} on {'a counter' if is_counter else 'no counter'}")
        stack = self.stacks.setdefault(uuid, [])
        if kind == 4:
            self.need(("counter_value" in e) != ("double_counter_value" in e), "counter without one value")
            value = e.get("double_counter_value", 0.0)
            self.need(value == value and abs(value) < 9e18, f"counter value {value}")
            self.counts["samples"] += 1
            return
        if kind == 2:
            self.end(t, uuid, stack)
            return
        if not self.need(kind in (1, 3), f"type {kind}"):
            return
        self.need(e.get("name_iid") in self.iids[2], f"name {e.get('name_iid')} before its definition")
        categories = [self.iids[1].get(c) for c in e.get("category_iids", [])]
        self.need(len(categories) == 1 and categories[0], f"categories {e.get('category_iids')}")
        names = self.annotations(e.get("debug_annotations", []))
        for f in e.get("flow_ids", []):
            self.need(f not in self.flows, f"flow {f} begins again")
            self.flows[f] = False
        for f in e.get("terminating_flow_ids", []):
            if self.need(self.flows.get(f) is False, f"flow {f} ends without a begin"):
                self.flows[f] = True
                self.counts["flows"] += 1
        self.begin(t, uuid, stack, kind, categories[0] if categories else None, "no_lane" in names)

    def begin(self, t, uuid, stack, kind, category, spilled):
        # at one time on one uuid: ends, spans longer first, empty spans, instants
        at, was = self.last.get(uuid, (None, None))
        late = t == at and was in ("empty", "instant")
        if kind == 3:
            self.last[uuid] = (t, "instant")
            self.crowd(t, uuid)
            self.counts["instants"] += 1
            self.total(category, t, t)
        else:
            self.need(not (t == at and was == "instant"), "a span begins after an instant of the same time")
            self.last[uuid] = (t, "span")
            self.counts["spans"] += 1
            stack.append((t, category, self.n, late, spilled))

    def crowd(self, t, uuid):
        # what is merged is one row again, and instants of one time stack there: readers drop the 513th
        row = self.tracks[uuid].get("sibling_merge_key", uuid)
        at, n = self.crowds.get(row, (t, 0))
        self.crowds[row] = (t, n + 1 if at == t else 1)
        self.need(at != t or n < 512, f"uuid {uuid}: more than 512 instants at {t} in one row")

    def end(self, t, uuid, stack):
        if not self.need(stack, f"end on uuid {uuid} with nothing open"):
            return
        begin, category, n, late, spilled = stack.pop()
        if begin == t:
            self.need(n == self.n - 1, "an empty span is not closed at once")
            self.last[uuid] = (t, "spilled" if spilled else "empty")
        else:
            self.need(len(stack) < 480, f"uuid {uuid}: nested {len(stack)} deep")
            self.need(not late, f"uuid {uuid}: a span begins after an empty one of the same time")
            self.need(self.last[uuid][0] < t, f"uuid {uuid}: a span ends after another one begins at that time")
        self.total(category, begin, t)

    def total(self, category, begin, end):
        of = self.totals.setdefault(category, [0, 0, begin, end])
        of[0] += 1
        of[1] += end - begin
        of[2] = min(of[2], begin)
        of[3] = max(of[3], end)

    def annotations(self, items):
        seen = set()
        for a in items:
            name = self.iids[3].get(a["name_iid"]) if "name_iid" in a else a.get("name")
            self.need(name, f"annotation name {a.get('name_iid')} before its definition")
            self.need(name not in seen, f"annotation {name} twice in one event")
            seen.add(name)
            values = [k for k in a if k not in ("name_iid", "name")]
            self.need(len(values) == 1, f"annotation {name} with {len(values)} values")
            if "string_value_iid" in a:
                self.need(a["string_value_iid"] in self.iids[29], "text before its definition")
            self.need(a.get("uint_value", 0) < 2**63, f"{name} is beyond the signed column of readers")
        return seen

    def finish(self):
        for uuid, stack in self.stacks.items():
            self.need(not stack, f"uuid {uuid}: {len(stack)} spans never end")
        for f, closed in self.flows.items():
            self.need(closed, f"flow {f} never ends")


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def check(path, summary=None):
    data, c = memoryview(read(path)), Checker()
    pos, end = 0, len(data)
    while pos < end:
        tag, pos = varint(data, pos, end)
        if tag != 0x0A:
            raise ValueError(f"byte {pos}: {tag:#x} where a packet should begin")
        size, pos = varint(data, pos, end)
        if pos + size > end:
            raise ValueError(f"byte {pos}: packet of {size} bytes, {end - pos} left")
        c.packet(parse(PACKET, data, pos, pos + size))
        pos += size
    c.finish()
    if summary:
        compare(c, summary, len(data))
    return c


def compare(c, summary, size):
    want = {k: [v["count"], v["sum"], v["min"], v["max"]] for k, v in summary["categories"].items()}
    c.need(c.totals == want, f"totals {c.totals}, the converter says {want}")
    # many instants at one time are written as spans of length 0
    c.need(c.counts["spans"] + c.counts["instants"] == summary["spans"] + summary["instants"]
           and c.counts["spans"] >= summary["spans"], f"{c.counts}, the converter says {summary}")
    c.need(c.counts["samples"] == summary["samples"], f"{c.counts['samples']} samples")
    c.need(c.counts["flows"] == summary["flows"]["written"], f"{c.counts['flows']} flows")
    c.need(size == summary["output"]["bytes"], f"{size} bytes, the converter says {summary['output']['bytes']}")


def main(path, summary_path=None):
    summary = None
    if summary_path:
        with open(summary_path) as f:
            summary = json.load(f)
    try:
        wrong = check(path, summary).wrong
    except (ValueError, UnicodeDecodeError, struct.error) as e:
        wrong = [str(e)]
    for line in wrong:
        print(f"{path}: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    raise SystemExit(main(*sys.argv[1:]))
