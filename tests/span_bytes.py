"""span_bytes FILE... - what a span costs in a Perfetto trace: the bytes of its begin and end packets.

Prints, for each file, bytes a span; then the whole file's bytes over its spans, which also pays for instants,
counters and descriptors. Knows only the field numbers of packets, by pftrace.py.
"""
import sys

import pftrace


def cost(data):
    """(bytes of begin and end packets with their frame, spans)"""
    spans = size = 0
    for number, _, packet in pftrace.fields(memoryview(data)):
        event = pftrace.one(packet, 11) if number == 1 else None
        kind = pftrace.one(event, 9) if event is not None else None
        if kind in (1, 2):
            spans += kind == 1
            size += len(packet) + 2 + (len(packet) > 127)
    return size, spans


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with open(name, "rb") as f:
            data = f.read()
        size, spans = cost(data)
        print(f"{size / spans:.3f} {len(data) / spans:.3f}")
