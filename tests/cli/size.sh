#!/bin/bash
# How many bytes a span costs in the Perfetto output, on a generated trace.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
"$tools/gen_ntrace" -n 40000 >ntrace.pb 2>gen.txt
for flags in "--no-args" "--no-args --compact" "" "--compact"; do
    # shellcheck disable=SC2086 # flags are words
    "$conv" -q $flags -o "out${flags// /}.pftrace" ntrace.pb
done
cat >check.py <<'PY'
import os, sys
sys.path.insert(0, os.path.join(os.environ["SRC"], "tests"))
import pftrace
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
tap.ok(len(bare) <= 40 * n, "--no-args: at most 40 bytes a span", len(bare) / n)
tap.ok(len(small) <= 35 * n, "--no-args --compact: at most 35 bytes a span", len(small) / n)
values = [value for s in t.slices for value in s["args"].values()]
tap.ok(len(plain) - len(bare) <= sum(map(cost, values)) + 4 * len(values),
       "an annotation costs its value and at most 4 bytes",
       f"{(len(plain) - len(bare)) / len(values):.2f} bytes each, values {sum(map(cost, values)) / len(values):.2f}")
tap.end()
PY
exec python3 check.py
