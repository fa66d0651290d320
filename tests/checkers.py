#!/usr/bin/env python3
"""checkers.py - the checkers of the outputs see what they are there for: good traces are damaged in one
place each, in the ways that readers accept without a word, and every damage must be named. Prints TAP."""
import json
import os
import re

import check_chrome
import check_pftrace as pf
import e2e


def load(form):
    out = os.path.join(e2e.TMP, "good." + form)
    status, _, err = e2e.run("-q", "--force", "-f", form, "-o", out, "--summary", out + ".sum",
                             os.path.join(e2e.CASES, "a-delimited"))
    assert status == 0, err
    with open(out, "rb") as f:
        data = f.read()
    with open(out + ".sum") as f:
        return data, json.load(f)


def wrong(check, data, summary):
    path = os.path.join(e2e.TMP, "damaged")
    with open(path, "wb") as f:
        f.write(data)
    try:
        return check(path, summary).wrong
    except (ValueError, KeyError) as e:
        return [repr(e)]


# -- Perfetto -----------------------------------------------------------------------------------------------


def split(data):
    packets, pos = [], 0
    while pos < len(data):
        at = pos
        _, pos = pf.varint(data, pos, len(data))
        size, pos = pf.varint(data, pos, len(data))
        packets.append((bytes(data[at:pos + size]), pf.parse(pf.PACKET, data, pos, pos + size)))
        pos += size
    return packets


def framed(body):
    return b"\x0a" + e2e.varint(len(body)) + body


class Trace:
    def __init__(self, data):
        self.packets = split(data)

    def find(self, test, nth=0):
        return [i for i, (_, p) in enumerate(self.packets) if test(p)][nth]

    def event(self, kind, nth=0, test=lambda e: True):
        return self.find(lambda p: p.get("track_event", {}).get("type") == kind and test(p["track_event"]), nth)

    def without(self, i):
        return b"".join(raw for j, (raw, _) in enumerate(self.packets) if j != i)

    def moved(self, i, to):
        raws = [raw for raw, _ in self.packets]
        raws.insert(to, raws.pop(i))
        return b"".join(raws)

    def edited(self, i, old, new):
        raw = self.packets[i][0]
        _, at = pf.varint(raw, 1, len(raw))
        body = raw[at:].replace(old, new, 1)
        assert body != raw[at:], (old, raw)
        return b"".join(framed(body) if j == i else r for j, (r, _) in enumerate(self.packets))

    def doubled(self, i):
        return b"".join(raw * (2 if j == i else 1) for j, (raw, _) in enumerate(self.packets))


def perfetto(tap):
    data, summary = load("perfetto")
    t = Trace(data)
    tap.eq(wrong(pf.check, data, summary), [], "perfetto: a good trace is good")
    used = {p["track_event"]["track_uuid"] for _, p in t.packets if "track_event" in p}
    described = lambda p: p.get("track_descriptor", {}).get("uuid") in used
    named = lambda p: "event_names" in p.get("interned_data", {})
    flow = lambda key: lambda e: key in e
    end = t.event(2, 5)
    uuid = t.packets[end][1]["track_event"]["track_uuid"]
    later = t.event(1, 0, lambda e: e["track_uuid"] == uuid)
    after = next(i for i in range(end, len(t.packets)) if i > end
                 and t.packets[i][1].get("track_event", {}).get("track_uuid") == uuid)
    cases = [
        ("no clock snapshot", t.without(0)),
        ("a second clock snapshot", t.doubled(0)),
        ("a track that is not described", t.without(t.find(described))),
        ("a track described twice", t.doubled(t.find(described))),
        ("a track described after its first event", t.moved(t.find(described), len(t.packets))),
        ("a counter that is not described", t.without(t.find(lambda p: "counter" in p.get("track_descriptor", {})))),
        ("a begin that is lost", t.without(t.event(1, 7))),
        ("an end that is lost", t.without(end)),
        ("an end written twice", t.doubled(end)),
        ("an end after the next begin of its row", t.moved(end, after + 1)),
        ("an instant that is lost", t.without(t.event(3))),
        ("a sample that is lost", t.without(t.event(4))),
        ("events out of order", t.moved(later, end)),
        ("names that are not defined", t.without(t.find(lambda p: "interned_data" in p and "track_event" not in p))),
        ("a name defined twice", t.doubled(t.find(named))),
        ("half a flow: no end", t.without(t.event(1, 0, flow("terminating_flow_ids")))),
        ("half a flow: no begin", t.without(t.event(1, 0, flow("flow_ids")))),
        ("a packet of another sequence", t.edited(end, b"\x50\x01", b"\x50\x02")),
        ("state cleared in the middle", t.edited(end, b"\x68\x02", b"\x68\x01")),
        ("no sequence flags", t.edited(end, b"\x68\x02", b"")),
        ("a clock of its own", t.edited(end, b"\x68\x02", b"\x68\x02\xd0\x03\x40")),
        ("a category iid packed", t.edited(t.event(1, 3), b"\x18", b"\x1a\x01")),
        ("an unknown event type", t.edited(end, b"\x48\x02", b"\x48\x06")),
        ("an end that becomes a begin", t.edited(end, b"\x48\x02", b"\x48\x01")),
        ("another uuid", t.edited(end, b"\x58" + e2e.varint(uuid), b"\x58\x7f")),
        ("a track that may merge by name", t.edited(t.find(lambda p: p.get("track_descriptor", {}).get("sibling_merge_behavior") == 2),
                                                    b"\x78\x02", b"\x78\x01")),
        ("children in no order", t.edited(t.find(lambda p: "child_ordering" in p.get("track_descriptor", {})), b"\x58\x03", b"")),
        ("a cut file", data[:-3]),
        ("bytes behind the end", data + b"\x00"),
        ("a unknown field", data + framed(b"\x50\x01\x68\x02\xa0\x06\x01")),
    ]
    for name, damaged in cases:
        found = wrong(pf.check, damaged, summary)
        tap.ok(found, f"perfetto: {name}: seen")
    blind = [name for name, damaged in cases if not wrong(pf.check, damaged, None)]
    tap.eq(blind, ["a sample that is lost"], "perfetto: only a loss that leaves no trace needs the summary to be seen")


# -- Chrome -------------------------------------------------------------------------------------------------


def chrome(tap):
    data, summary = load("chrome")
    tap.eq(wrong(check_chrome.check, data, summary), [], "chrome: a good trace is good")
    lines = data.split(b"\n")

    def line(pattern, nth=0):
        return [i for i, raw in enumerate(lines) if re.search(pattern, raw)][nth]

    def edited(pattern, old, new, nth=0):
        i = line(pattern, nth)
        raw = re.sub(old, new, lines[i], count=1)
        assert raw != lines[i], (old, raw)
        return b"\n".join(lines[:i] + [raw] + lines[i + 1:])

    def without(pattern, nth=0):
        i = line(pattern, nth)
        return b"\n".join(lines[:i] + lines[i + 1:])

    x = rb'"ph":"X"'
    for name, damaged in [
        ("a span that is lost", without(x, 3)),
        ("a sample that is lost", without(rb'"ph":"C"')),
        ("a row without a name", without(rb'"thread_name"')),
        ("a process without a name", without(rb'"process_name"')),
        ("a row without an order", without(rb'"thread_sort_index"')),
        ("a flow without its finish", without(rb'"ph":"f"')),
        ("a flow without its start", without(rb'"ph":"s"')),
        ("a flow that binds to the next slice", edited(rb'"ph":"f"', rb'"bp":"e",', b"")),
        ("a flow at another moment", edited(rb'"ph":"s"', rb'"ts":(\d+)', rb'"ts":1\1')),
        ("a time with two decimals", edited(x, rb'("ts":\d+\.\d\d)\d', rb"\1")),
        ("a time in exponential form", edited(x, rb'"ts":\d+\.\d+', b'"ts":1e3')),
        ("a span across the end of another", edited(rb'"name":"nrt_execute"', rb'"dur":\d+\.\d', b'"dur":1.5')),
        ("an integer beyond 2^53", edited(rb'"timestamp_ns":"', rb'"timestamp_ns":"(\d+)"', rb'"timestamp_ns":\1')),
        ("NaN", edited(rb'"ph":"C"', rb'("args":\{"[^"]*":)[^}]*', rb"\1NaN")),
        ("a counter that is text", edited(rb'"ph":"C"', rb'("args":\{"[^"]*":)([^}]*)', rb'\1"\2"')),
        ("a key twice", edited(x, rb'"args":\{', b'"args":{"id":1,')),
        ("tid 0", edited(x, rb'"tid":\d+', b'"tid":0')),
        ("a negative pid", edited(x, rb'"pid":', b'"pid":-')),
        ("a surrogate escape", edited(x, rb'"name":"', rb'"name":"\\ud83d\\ude00')),
        ("bytes that are no UTF-8", edited(x, rb'"name":"', b'"name":"\xff')),
        ("a control byte", edited(x, rb'"name":"', b'"name":"\x01')),
        ("no base time", data.replace(b'"baseTimeNanoseconds":1', b'"baseTimeNanoseconds":2', 1)),
        ("a cut file", data[:-3]),
    ]:
        tap.ok(wrong(check_chrome.check, damaged, summary), f"chrome: {name}: seen")


def main():
    tap = e2e.Tap()
    perfetto(tap)
    chrome(tap)
    tap.end()


main()
