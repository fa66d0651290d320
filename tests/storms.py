#!/usr/bin/env python3
"""storms.py - more at one time, or nested deeper, than Perfetto's importer keeps: all of it arrives. Prints TAP."""
import json
import os
import shutil
import subprocess

import check_chrome
import check_pftrace
import e2e

T0 = 1764440000000000000
FORMS = ("perfetto", "chrome")


def half(name, phase, at, i):
    return dict(event_type=name, phase=phase, timestamp_ns=T0 + at, nc_idx=0, id=i, tracking_id=i, thread_id=7, data={})


def span(name, begin, end, i):
    return [half(name, "start", begin, i), half(name, "stop", end, i)]


def instants():
    return [half("hw_notify", "instant", 0, i) for i in range(2000)]


def empty_spans():
    return sum((span("nrt_execute", 1000, 1000, i) for i in range(2000)), [])


def deep():
    return sum((span("nrt_load", i, 20000 - i, i) for i in range(700)), [])


def overlaps():  # more than there are lanes, and short ones that begin with those that found none
    return sum((span("nrt_execute", i * 10, 10000 + i * 10, i) for i in range(300)), []) + \
        sum((span("nrt_load", i * 10, i * 10 + 3, 1000 + i) for i in range(250, 300)), [])


def main():
    tap = e2e.Tap()
    shell = shutil.which("trace_processor_shell")
    for what, events, status in [("2000 instants at one time", instants(), 0), ("2000 empty spans at one time", empty_spans(), 0),
                                 ("700 spans in each other", deep(), 0), ("300 overlapping spans", overlaps(), 3),
                                 ("all of it", instants() + empty_spans() + deep(), 0)]:
        path = e2e.write("storm.json", json.dumps({"events": events, "data_version": 2}))
        for form in FORMS:
            out, sums = os.path.join(e2e.TMP, "out." + form), os.path.join(e2e.TMP, "sum.json")
            got, _, err = e2e.run("--force", "-f", form, "-o", out, "--summary", sums, path)
            tap.eq(got, status, f"{what}, {form}: exit status")
            with open(sums) as f:
                summary = json.load(f)
            tap.eq(sum(c["count"] for c in summary["categories"].values()), sum(e["phase"] != "stop" for e in events),
                   f"{what}, {form}: all there")
            wrong = (check_pftrace if form == "perfetto" else check_chrome).check(out, summary).wrong
            tap.ok(not wrong, f"{what}, {form}: sound", *wrong[:5])
            if shell:
                script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_tp.py")
                done = subprocess.run(["python3", script, out, sums], capture_output=True, text=True)
                tap.ok(done.returncode == 0, f"{what}, {form}: trace processor", done.stdout, done.stderr)
            else:
                tap.skip(f"{what}, {form}: trace processor", "no trace_processor_shell on PATH")
    tap.end()


main()
