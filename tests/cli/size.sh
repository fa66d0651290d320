#!/bin/bash
# How many bytes a span costs in the Perfetto output: its begin and end packets, without the ids of arrows.
#
# The bars are for a million events, as `make bench` has them: times and ids are longer there than in a short
# trace. What is counted is what --summary says; on a short trace the bytes themselves are counted as well.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
"$tools/gen_ntrace" -n 1000000 >million.pb 2>gen.txt
"$tools/gen_ntrace" -n 20000 >short.pb 2>gen.txt
two="--args event_type,thread_id" # two small annotations: one byte, and up to three
i=0
for flags in "--no-args" "--no-args --compact" "$two" "$two --compact"; do
    # shellcheck disable=SC2086 # flags are words
    "$conv" -q --force $flags -f perfetto -o million.out --summary "million$i.json" million.pb
    i=$((i + 1))
done
rm million.out
for flags in "" --compact; do # gzipped, nothing left out: the whole file
    # shellcheck disable=SC2086
    "$conv" -q $two $flags -o "million$flags.pftrace.gz" million.pb
done
for flags in "--no-args" "--no-args --compact" "" "$two --compact"; do
    # shellcheck disable=SC2086
    "$conv" -q $flags -o "out${flags// /}.pftrace" --summary "sum${flags// /}.json" short.pb
done
cat >check.py <<'PY'
import json, os, sys
sys.path.insert(0, os.path.join(os.environ["SRC"], "tests"))
import pftrace
import span_bytes
from e2e import Tap
tap = Tap()
def load(name):
    with open(name, "rb") as f:
        data = f.read()
    return data, pftrace.Trace(data)
def summary(name):
    with open(name) as f:
        return json.load(f)
def cost(value):  # bytes of a value on the wire
    if isinstance(value, (bool, float)):
        return 1 if isinstance(value, bool) else 8
    if isinstance(value, int):
        return max(1, (value.bit_length() + 6) // 7) if value >= 0 else 10
    return len(value.encode())

for i, (what, most) in enumerate([("--no-args", 40), ("--no-args --compact", 35), ("two small annotations", 55),
                                  ("two small annotations, --compact", 48)]):
    s = summary(f"million{i}.json")
    each = s["output"]["parts"]["spans"] / s["spans"]
    tap.ok(each <= most, f"{what}: at most {most} bytes a span", f"{each:.2f}")
spans = s["spans"]
for flags, most in ("", 18), ("--compact", 15):
    each = os.path.getsize(f"million{flags}.pftrace.gz") / spans
    tap.ok(each <= most, f"two small annotations, gzip {flags}: at most {most} bytes a span", f"{each:.2f}")

plain, t = load("out.pftrace")
bare, u = load("out--no-args.pftrace")
small, v = load("out--no-args--compact.pftrace")
two, w = load("out--argsevent_type,thread_id--compact.pftrace")
tap.eq([len(x.slices) for x in (u, v, w)], [len(t.slices)] * 3, "the same number of spans with every option")
key = lambda s: (s["ts"], s["dur"] or 0, s["uuid"], s["name"])
tap.eq(sorted(map(key, v.slices)), sorted(map(key, u.slices)), "--compact: the same times")
shown = ("event_type", "thread_id", "unfinished", "estimated")  # asked for; what was done to an event
tap.ok(all(x["args"] == {k: a for k, a in s["args"].items() if k in shown} for x, s in zip(w.slices, t.slices)),
       "--args: these, with the values they have, and what was done to events")
for flags, data in ("", plain), ("--no-args", bare), ("--no-args--compact", small):
    s = summary(f"sum{flags}.json")
    parts = s["output"]["parts"]
    tap.eq(sum(parts.values()), len(data), f"{flags}: the parts make up the file")
    tap.eq(parts["flows"], 20 * s["flows"]["written"], f"{flags}: an arrow is two ids of ten bytes")
    size, n = span_bytes.cost(data)
    tap.ok(abs(size - parts["spans"]) < 2000, f"{flags}: spans take what the summary says, but for interned texts",
           f"{size} {parts['spans']}")
    tap.eq(n, s["spans"], f"{flags}: so many spans")
values = [value for s in t.slices for value in s["args"].values()]
tap.ok(len(plain) - len(bare) <= sum(map(cost, values)) + 4 * len(values),
       "an annotation costs its value and at most 4 bytes",
       f"{(len(plain) - len(bare)) / len(values):.2f} bytes each, values {sum(map(cost, values)) / len(values):.2f}")
tap.end()
PY
exec python3 check.py
