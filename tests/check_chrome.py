#!/usr/bin/env python3
"""check_chrome TRACE.json [SUMMARY.json] - proves that a Chrome JSON trace is sound.

Checks: strict JSON in strict UTF-8 (no NaN, no surrogate escapes, no NUL, no doubled key), one event a line;
exact times with three decimals; integers beyond 2^53 as text; X events strictly nested per (pid, tid); every
row and process named and sorted; pids and tids in range; counters numeric; every flow with one start and one
finish, each bound to a slice that begins there; and, given the converter's summary, the same totals per
category. Prints what is wrong; exit status 1 if anything is.
"""
import gzip
import json
import re
import sys

EXACT = 2**53
TIME = re.compile(rb'"(?:ts|dur)":(\d+)\.(\d{3})[,}]')


class Checker:
    def __init__(self):
        self.wrong = []
        self.line = 0
        self.slices = {}  # (pid, tid) -> [(ts, end)]
        self.starts = set()
        self.used, self.named, self.sorted = set(), {}, set()
        self.flows = {}   # id -> [starts, finishes]
        self.totals = {}
        self.counts = {"spans": 0, "instants": 0, "samples": 0, "flows": 0}

    def need(self, condition, text):
        if not condition and len(self.wrong) < 50:
            self.wrong.append(f"line {self.line}: {text}")
        return condition

    def total(self, category, ts, dur):
        of = self.totals.setdefault(category, [0, 0, ts, ts + dur])
        of[0] += 1
        of[1] += dur
        of[2] = min(of[2], ts)
        of[3] = max(of[3], ts + dur)

    def numbers(self, value, where):
        if isinstance(value, bool) or value is None:
            return
        if isinstance(value, int):
            self.need(abs(value) <= EXACT, f"{where}: {value} is not exact in readers with doubles")
        elif isinstance(value, dict):
            for k, v in value.items():
                self.numbers(v, f"{where}.{k}")

    def event(self, raw):
        e = json.loads(raw, object_pairs_hook=self.unique, parse_constant=self.constant)
        ph, row = e["ph"], (e["pid"], e.get("tid"))
        self.need(0 < e["pid"] < 2**32, f"pid {e['pid']}")
        self.need(row[1] is None or 0 < row[1] < 2**32, f"tid {row[1]}")
        if ph == "M":
            self.meta(e, row)
            return
        times = [int(a) * 1000 + int(b) for a, b in TIME.findall(raw)]
        if not self.need(len(times) == (2 if ph == "X" else 1), "a time that has not three decimals"):
            return
        self.numbers(e.get("args", {}), "args")
        self.used.add(row)
        if ph == "X":
            self.slices.setdefault(row, []).append((times[0], times[0] + times[1]))
            self.starts.add((row, times[0]))
            self.counts["spans"] += 1
            self.total(e["cat"], times[0], times[1])
            self.need(e["name"], "no name")
        elif ph == "i":
            self.need(e.get("s") == "t", "instant without scope t")
            self.starts.add((row, times[0]))
            self.counts["instants"] += 1
            self.total(e["cat"], times[0], 0)
        elif ph == "C":
            self.need(all(isinstance(v, (int, float)) or abs(int(v)) > EXACT for v in e["args"].values()),
                      "counter that is no number")
            self.counts["samples"] += 1
            self.used.discard(row)
            self.used.add((e["pid"], None))
        elif ph in "sf":
            self.flow(e, row, times[0], ph)
        else:
            self.need(False, f"ph {ph}")

    def flow(self, e, row, ts, ph):
        ends = self.flows.setdefault(e["id"], [0, 0])
        self.need(isinstance(e["id"], int) and (e["cat"], e["name"]) == ("flow", "flow"), "flow key")
        ends["sf".index(ph)] += 1
        self.need(ph == "s" or e.get("bp") == "e", "flow finish that binds to the next slice")
        self.need(ph == "s" or ends[0] == 1, f"flow {e['id']} finishes before it starts")
        self.need((row, ts) in self.starts, f"flow {e['id']} at a moment where nothing begins on its row")
        self.counts["flows"] += ph == "f"

    def meta(self, e, row):
        key = row if e["name"].startswith("thread") else (row[0], None)
        if e["name"].endswith("_name"):
            self.need(e["args"]["name"], "empty row name")
            self.need((key, e["name"]) not in self.named, f"{e['name']} of {key} twice")
            self.named[key, e["name"]] = e["args"]["name"]
        else:
            self.need(e["name"] in ("thread_sort_index", "process_sort_index"), e["name"])
            self.sorted.add(key)

    def unique(self, pairs):
        self.need(len({k for k, _ in pairs}) == len(pairs), f"a key twice in {[k for k, _ in pairs]}")
        return dict(pairs)

    def constant(self, text):
        self.need(False, text)
        return 0

    def finish(self):
        for row in self.used:
            process = (row[0], None)
            self.need((process, "process_name") in self.named and process in self.sorted, f"process of {row} has no name")
            if row[1] is not None:
                self.need((row, "thread_name") in self.named and row in self.sorted, f"row {row} has no name")
        for f, (s, t) in self.flows.items():
            self.need((s, t) == (1, 1), f"flow {f} with {s} starts and {t} finishes")
        for row, spans in self.slices.items():
            stack = []
            for begin, end in sorted(spans, key=lambda x: (x[0], -x[1])):
                while stack and stack[-1] <= begin:
                    stack.pop()
                self.need(not stack or end <= stack[-1], f"row {row}: the span at {begin} crosses the end of another")
                stack.append(end)


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def check(path, summary=None):
    data, c = read(path), Checker()
    text = data.decode("utf-8")
    c.need(text.startswith('{"'), "does not begin with {\"")
    c.need("\\ud8" not in text and "\\ud9" not in text and "\\u0000" not in text, "surrogate or NUL escape")
    whole = json.loads(text, object_pairs_hook=c.unique, parse_constant=c.constant)
    lines = data.split(b"\n")
    c.need(isinstance(whole["baseTimeNanoseconds"], int)
           and whole["metadata"]["baseTimeNanoseconds"] == str(whole["baseTimeNanoseconds"]), "baseTimeNanoseconds")
    c.need(lines[0].endswith(b'"traceEvents":[') and lines[-2:] == [b"]}", b""], "head or tail of the file")
    for raw in lines[1:-2]:
        c.line += 1
        c.event(raw[:-1] if raw.endswith(b",") else raw)
    c.need(c.line == len(whole["traceEvents"]), "not one event a line")
    c.finish()
    if summary:
        want = {k: [v["count"], v["sum"], v["min"], v["max"]] for k, v in summary["categories"].items()}
        c.need(c.totals == want, f"totals {c.totals}, the converter says {want}")
        for what in ("spans", "instants", "samples"):
            c.need(c.counts[what] == summary[what], f"{c.counts[what]} {what}, the converter says {summary[what]}")
        c.need(c.counts["flows"] == summary["flows"]["written"], f"{c.counts['flows']} flows")
    return c


def main(path, summary_path=None):
    summary = None
    if summary_path:
        with open(summary_path) as f:
            summary = json.load(f)
    try:
        wrong = check(path, summary).wrong
    except (ValueError, KeyError) as e:
        wrong = [repr(e)]
    for line in wrong:
        print(f"{path}: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    raise SystemExit(main(*sys.argv[1:]))
