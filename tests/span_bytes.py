"""span_bytes FILE... - what a span costs in a Perfetto trace: the bytes of its begin and end packets.

Prints, for each file, bytes a span, without the ids of arrows, which belong to two spans; then the whole file's
bytes over its spans, which also pays for arrows, instants, counters and descriptors. Knows only the field
numbers of packets, by pftrace.py.
"""
import sys

import pftrace


def cost(data):
    """(bytes of begin and end packets with their frame, without flow ids and interned texts, spans)"""
    spans = size = 0
    for number, _, packet in pftrace.fields(memoryview(data)):
        event = interned = None
        for n, _, value in pftrace.fields(packet) if number == 1 else ():
            event = value if n == 11 else event
            interned = value if n == 12 else interned
        if event is None:
            continue
        kind, arrows = None, 0
        for n, _, value in pftrace.fields(event):
            kind = value if n == 9 else kind
            arrows += n in (47, 48)
        if kind in (1, 2):
            spans += kind == 1
            size += len(packet) + 2 + (len(packet) > 127) - 10 * arrows
            size -= 0 if interned is None else len(interned) + 2 + (len(interned) > 127)
    return size, spans


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with open(name, "rb") as f:
            data = f.read()
        size, spans = cost(data)
        print(f"{size / spans:.3f} {len(data) / spans:.3f}")
