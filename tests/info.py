#!/usr/bin/env python3
"""info.py - what `info` says about files is true. Prints TAP.

Numbers it found by test must be those of the schema the file was written with; it is asked both ways.
"""
import json
import os

import e2e
from e2e import CASES, Tap, delimited, event, run, write

T0 = 1764440000_000_000_000
SCHEMA = os.path.join(CASES, "schema.desc")


def info(*args):
    status, out, err = run("info", "--json", *args)
    try:
        return status, json.loads(out), err
    except ValueError as e:
        return status, {"files": [], "bad": str(e)}, err


def facts(doc):
    return {(f["path"], x["key"]): (x["value"], x["how"]) for f in doc["files"] for x in f["facts"]}


def cases(tap):
    want = {"a-delimited": ("varint", "table"), "b-bare-raw": ("bare", "table"),
            "c-second-numbering": ("varint", "candidate"), "d-noisy-clocks": ("varint", "table")}
    for case, (framing, numbering) in want.items():
        path = os.path.join(CASES, case)
        status, doc, err = info(path)
        tap.ok(status == 0 and "bad" not in doc, f"{case}: valid JSON", status, err, doc.get("bad"))
        by_test, given = facts(doc), facts(info("--schema", SCHEMA, path)[1])
        ntrace = [f for f in doc["files"] if f["path"].endswith("ntrace.pb")]
        tap.ok(ntrace and all(framing in by_test[f["path"], "framing"][0] for f in ntrace), f"{case}: framing",
               by_test)
        tap.ok(all(by_test[f["path"], "numbering"][0].startswith(numbering) for f in ntrace), f"{case}: numbering",
               by_test)
        records = sum(f["records"] for f in ntrace)
        tap.eq(records, doc["records"]["in"], f"{case}: count of records")
        tap.eq([(f["dropped"], f["skipped_bytes"], f["unknown_fields"]) for f in doc["files"]],
               [(0, 0, 0)] * len(doc["files"]), f"{case}: nothing lost, nothing unknown")
        tap.eq([os.path.getsize(f["path"]) for f in doc["files"]], [f["size_bytes"] for f in doc["files"]],
               f"{case}: sizes")
        found = {k: v for k, v in by_test.items() if v[1] == "found by test" and k[1] != "numbering"}
        differ = [(k, v[0], given.get(k)) for k, v in found.items() if given.get(k, (None, ))[0] != v[0]]
        tap.ok(found and not differ, f"{case}: numbers found by test are those of the schema", *differ)
        tap.ok(all(v[1].endswith("schema.desc") for k, v in given.items() if k in found),
               f"{case}: and with the schema it says where they are from", given)


def odd_files(tap):
    good = [event(event_type=0, phase=3, timestamp=T0 + i, id=i + 1, tracking_id=i + 1, thread_id=7) for i in range(9)]
    unknown = [m + b"\xb8\x06\x05" for m in good]  # field 103
    _, doc, _ = info(write("unknown.pb", delimited(unknown)))
    tap.eq(doc["files"][0]["unknown_fields"], 9, "unknown fields are counted")
    _, doc, _ = info(write("torn.pb", delimited(good)[:-2]))
    f = doc["files"][0]
    tap.ok(f["dropped"] + f["skipped_bytes"] > 0, "a torn record shows", f)
    status, doc, _ = info(write("empty.pb", b""), write("good.pb", delimited(good)))
    tap.eq((status, [f["kind"] for f in doc["files"]]), (0, ["empty file", "ntrace events"]), "an empty file is called empty")
    status, out, err = run("info", os.path.join(e2e.TMP, "nowhere"))
    tap.ok(status == 1 and "nowhere" in err, "a path that is not there: exit 1, named", status, err)
    evil = write("evil\x1b[31m\n.pb", delimited(good))
    for args in (["info", evil], ["info", "--json", evil], ["-v", "-o", "-", evil]):
        _, out, err = run(*args)
        text = err + (out.decode("utf-8", "replace") if args[0] == "info" else "")
        tap.ok("\x1b" not in text, f"{args[0]} {args[1] if args[1][0] == '-' else ''}: escapes in a file name stay out of the terminal", repr(text[:300]))
    note = event(event_type=0, phase=3, timestamp=T0, id=1, tracking_id=1, thread_id=7, attrs={"x": b"\x1b]0;title\x07"})
    _, out, _ = run("dump", write("note.pb", delimited([note] * 3)))
    tap.ok(b"\x1b" not in out and b"title" in out, "dump: escapes in a text stay out of the terminal", out[:300])


if __name__ == "__main__":
    tap = Tap()
    cases(tap)
    odd_files(tap)
    tap.end()
