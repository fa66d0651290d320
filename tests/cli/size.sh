#!/bin/bash
# How many bytes a span costs in the Perfetto output, on a generated trace.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
"$tools/gen_ntrace" -n 40000 >ntrace.pb 2>gen.txt
for flags in "--no-args" "--no-args --compact" "" "--compact"; do
    # shellcheck disable=SC2086 # flags are words
    "$conv" -q $flags -o "out${flags// /}.pftrace" --summary "sum${flags// /}.json" ntrace.pb
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
def cost(value):  # bytes of a value on the wire
    if isinstance(value, (bool, float)):
        return 1 if isinstance(value, bool) else 8
    if isinstance(value, int):
        return max(1, (value.bit_length() + 6) // 7) if value >= 0 else 10
    return len(value.encode())
plain, t = load("out.pftrace")
bare, u = load("out--no-args.pftrace")
small, v = load("out--no-args--compact.pftrace")
tap.eq([len(x.slices) for x in (u, v)], [len(t.slices)] * 2, "the same number of spans with every option")
key = lambda s: (s["ts"], s["dur"] or 0, s["uuid"], s["name"])
tap.eq(sorted(map(key, v.slices)), sorted(map(key, u.slices)), "--compact: the same times")
n = len(t.slices)
def span_bytes(name, data):  # without counters, arrows and what stands before the events
    with open(name) as f:
        output = json.load(f)["output"]
    tap.eq(sum(output["parts"].values()), len(data), f"{name}: the parts make up the file")
    return output["parts"]["spans"]
each = span_bytes("sum--no-args.json", bare) / n
tap.ok(each <= 40, "--no-args: at most 40 bytes a span", each)
each = span_bytes("sum--no-args--compact.json", small) / n
tap.ok(each <= 35, "--no-args --compact: at most 35 bytes a span", each)
values = [value for s in t.slices for value in s["args"].values()]
tap.ok(len(plain) - len(bare) <= sum(map(cost, values)) + 4 * len(values),
       "an annotation costs its value and at most 4 bytes",
       f"{(len(plain) - len(bare)) / len(values):.2f} bytes each, values {sum(map(cost, values)) / len(values):.2f}")
tap.end()
PY
exec python3 check.py
