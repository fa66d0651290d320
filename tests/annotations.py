#!/usr/bin/env python3
"""annotations.py - hostile names and values reach both outputs whole, or visibly repaired. Prints TAP."""
import json
import math
import os
import subprocess

import check_chrome
import check_pftrace
import e2e

CONV = os.path.join(os.environ["BUILD"], "ntff-conv")
LONG = "x" * 100_000
HUGE = "y" * (3 << 20)
QUOTES = 'quote " backslash \\ slash / tab \t line \n'
LETTERS = "gr\u00fc\u00df \u4e2d\u6587 \U0001f600"

# value in the input -> (value in the Perfetto output, value in the Chrome output)
VALUES = [
    (0, 0, 0),
    (1, 1, 1),
    (127, 127, 127),
    (128, 128, 128),
    (2**53, 2**53, 2**53),
    (2**53 + 1, 2**53 + 1, str(2**53 + 1)),
    (2**63 - 1, 2**63 - 1, str(2**63 - 1)),
    (2**63, str(2**63), str(2**63)),
    (2**64 - 1, str(2**64 - 1), str(2**64 - 1)),
    (-1, -1, -1),
    (-(2**63), -(2**63), str(-(2**63))),
    (1.5, 1.5, 1.5),
    (-1e300, -1e300, -1e300),
    (True, True, True),
    (False, False, False),
    (None, "null", None),
    ("", "", ""),
    ("plain", "plain", "plain"),
    (QUOTES, QUOTES, QUOTES),
    (LETTERS, LETTERS, LETTERS),
    ("a\0b", "a\u2400b", "a\u2400b"),
    ("\x1b[2J\x07", "\x1b[2J\x07", "\x1b[2J\x07"),
    ("007", "007", "007"),
    ("https://example.com/a?b=c", "https://example.com/a?b=c", "https://example.com/a?b=c"),
    (LONG, LONG, LONG),
]


def event(i, data, name="nrt_execute", phase="instant"):
    return {"event_type": name, "phase": phase, "timestamp_ns": 1764440000000000000 + i * 1000, "nc_idx": 0,
            "id": i, "tracking_id": i, "thread_id": 77, "process_id": 9, "data": data}


def convert(events, form, raw=None, *options):
    with open("in.json", "wb") as f:
        f.write(raw if raw is not None else json.dumps({"events": events, "data_version": 2}, ensure_ascii=False).encode())
    out = f"out.{'pftrace' if form == 'perfetto' else 'json'}"
    done = subprocess.run([CONV, "--force", "-f", form, "-o", out, "--summary", "sum.json", *options, "in.json"],
                          capture_output=True, text=True)
    return done.returncode, done.stderr, out


def perfetto_args(path):
    """id -> annotations, for every event of the trace, in order."""
    data, c, found = memoryview(check_pftrace.read(path)), check_pftrace.Checker(), []
    pos = 0
    while pos < len(data):
        _, pos = check_pftrace.varint(data, pos, len(data))
        size, pos = check_pftrace.varint(data, pos, len(data))
        p = check_pftrace.parse(check_pftrace.PACKET, data, pos, pos + size)
        pos += size
        c.define(p.get("interned_data", {}))
        if p.get("track_event", {}).get("type") in (1, 3):
            args = {}
            for a in p["track_event"].get("debug_annotations", []):
                name = c.iids[3][a["name_iid"]] if "name_iid" in a else a["name"]
                kind, value = next((k, v) for k, v in a.items() if k not in ("name", "name_iid"))
                value = {"string_value_iid": lambda v: c.iids[29][v], "bool_value": bool,
                         "int_value": lambda v: v - 2**64 if v >> 63 else v}.get(kind, lambda v: v)(value)
                args[name] = value
            found.append(args)
    return found


def chrome_args(path):
    with open(path, encoding="utf-8") as f:
        return [e["args"] for e in json.load(f)["traceEvents"] if e["ph"] in "Xi"]


def same(a, b):
    return type(a) is type(b) and (a == b or (isinstance(a, float) and math.isclose(a, b, rel_tol=1e-15)))


def sound(tap, form, out, what):
    with open("sum.json") as f:
        summary = json.load(f)
    wrong = (check_pftrace if form == "perfetto" else check_chrome).check(out, summary).wrong
    tap.ok(not wrong, f"{form}: {what}: sound", *wrong[:5])


def values(tap, form):
    # each value three times: as itself, then interned, then by its id
    events = [event(i, {f"k{j}": v[0] for j, v in enumerate(VALUES)}) for i in range(1, 4)]
    status, err, out = convert(events, form)
    tap.eq(status, 0, f"{form}: values: exit status")
    sound(tap, form, out, "values")
    got = (perfetto_args if form == "perfetto" else chrome_args)(out)
    tap.eq(len(got), 3, f"{form}: values: events")
    for j, v in enumerate(VALUES):
        want = v[1 if form == "perfetto" else 2]
        bad = [a.get(f"k{j}") for a in got if not same(a.get(f"k{j}"), want)]
        tap.ok(not bad, f"{form}: {str(v[0])[:40]!r}", f"want {str(want)[:80]!r}", f"got {str(bad)[:80]}")


def names(tap, form):
    keys = ["a.b[0]", "a_b_0_", "a_b_0__2", "", "unfinished", "id", "event_type", "gr\u00fc\u00df", "x\0y", "n" * 5000]
    status, _, out = convert([event(1, {k: f"value of {i}" for i, k in enumerate(keys)})], form)
    tap.eq(status, 0, f"{form}: names: exit status")
    sound(tap, form, out, "names")
    got = (perfetto_args if form == "perfetto" else chrome_args)(out)[0]
    kept = [i for i in range(len(keys)) if f"value of {i}" in got.values()]
    tap.eq(kept, list(range(len(keys))), f"{form}: names: every value is there under a name of its own")
    tap.ok(not any(set(".[]\0") & set(k) or not k for k in got), f"{form}: names: none that readers would bend", *got)

    many = [event(i, {f"key {i} {j}": j for j in range(50)}) for i in range(1, 121)]  # more than the table holds
    status, _, out = convert(many, form)
    sound(tap, form, out, "6000 names")
    got = (perfetto_args if form == "perfetto" else chrome_args)(out)
    lost = [(i, j) for i, a in enumerate(got, 1) for j in range(50) if a.get(f"key {i} {j}") != j]
    tap.eq((status, lost), (0, []), f"{form}: 6000 names: all there")


def damage(tap, form):
    raw = json.dumps({"events": [event(1, {"text": "@@"}, name="na@@me")], "data_version": 2}).encode()
    raw = raw.replace(b"@@", b"\xff\xfe\xed\xa0\x80")
    status, _, out = convert(None, form, raw)
    tap.ok(status in (0, 3), f"{form}: bytes that are no UTF-8: converted", status)
    sound(tap, form, out, "bytes that are no UTF-8")

    record = dict(event_type=3, phase=3, timestamp=1764440000000000000, thread_id=7, id=1, tracking_id=1)
    raw = e2e.delimited([e2e.event(attrs={"huge": HUGE, "after": 5}, **record)] + [e2e.event(**record)] * 3)
    status, err, out = convert(None, form, raw)
    got = (perfetto_args if form == "perfetto" else chrome_args)(out)[0]
    tap.ok(status == 3 and "cut" in err, f"{form}: 3 MiB of text: cut, said as a loss", status, err)
    tap.ok(got["huge"].startswith("y" * (1 << 20)) and len(got["huge"]) <= (1 << 20) + 1 and got["after"] == 5,
           f"{form}: 3 MiB of text: its first MiB is there, and what follows")
    sound(tap, form, out, "3 MiB of text")
    os.remove(out)
    status, err, out = convert(None, form, raw, "--strict")
    tap.ok(status == 1 and not os.path.exists(out), f"{form}: 3 MiB of text, --strict: not written", status, err)

    name = "N" * 200_000
    status, _, out = convert([event(1, {}, name=name), event(2, {}, name=name)], form)
    tap.eq(status, 0, f"{form}: a name of 200,000 letters: exit status")
    sound(tap, form, out, "a name of 200,000 letters")


def main():
    tap = e2e.Tap()
    for form in ("perfetto", "chrome"):
        values(tap, form)
        names(tap, form)
        damage(tap, form)
    tap.end()


main()
