"""pftrace - reads a Perfetto trace into plain lists, by its own small protobuf parser.

An independent reader for tests: knows only field numbers (perfetto/README.md), follows interning, track
descriptors, per-track stacks and flow ids the way Perfetto's importer does, and complains (Bad) where that
would lose data without a word. Times come out in Unix nanoseconds, by the ClockSnapshot.
"""
import gzip
import struct
import zlib


class Bad(Exception):
    pass


def fields(buf):
    """(number, wire type, value) of one message; value is an int or a memoryview."""
    pos, end = 0, len(buf)

    def varint(pos):
        value = shift = 0
        while True:
            if pos >= end or shift > 63:
                raise Bad(f"varint cut or too long at {pos}")
            byte = buf[pos]
            pos += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFFFFFFFFFFFFFF, pos
            shift += 7

    while pos < end:
        tag, pos = varint(pos)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, pos = varint(pos)
        elif kind == 1:
            value, pos = int.from_bytes(buf[pos:pos + 8], "little"), pos + 8
        elif kind == 5:
            value, pos = int.from_bytes(buf[pos:pos + 4], "little"), pos + 4
        elif kind == 2:
            size, pos = varint(pos)
            value, pos = buf[pos:pos + size], pos + size
        else:
            raise Bad(f"wire type {kind} at {pos}")
        if pos > end or number == 0:
            raise Bad(f"field {number} goes past the end")
        yield number, kind, value


def one(buf, number, default=None):
    for n, _, value in fields(buf):
        if n == number:
            default = value
    return default


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def text(value):
    return bytes(value).decode("utf-8")


class Slice(dict):
    """uuid, name, cat, ts, dur (None = instant), args, flows (ids), ends (flow ids that end here)"""


class Trace:
    def __init__(self, data):
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        self.slices, self.counters, self.tracks, self.attributes = [], [], {}, {}
        self.interned = {1: {}, 2: {}, 3: {}, 29: {}}
        self.epoch = None        # Unix ns - trace ns
        self.clock = None        # current value of the incremental clock, when it is the default
        self.delta = False
        self.open = {}           # uuid -> stack of slices
        self.last_ts = {}
        self.packets = 0
        self._packets(memoryview(data))
        for stack in self.open.values():
            if stack:
                raise Bad(f"{len(stack)} spans are never closed, first {stack[0]}")
        for s in self.slices:
            s["ts"] += self.epoch
        for c in self.counters:
            c["ts"] += self.epoch

    # -- packets -----------------------------------------------------------------------------------

    def _packets(self, data):
        for number, kind, packet in fields(data):
            if number != 1 or kind != 2:
                raise Bad(f"field {number} at the top is no packet")
            self.packets += 1
            self._packet(packet)

    def _packet(self, packet):
        f = {}
        for number, _, value in fields(packet):
            if number in f:
                raise Bad(f"field {number} twice in a packet")
            f[number] = value
        if 50 in f:
            self._packets(memoryview(zlib.decompress(bytes(f[50]), 47)))
        if 6 in f:
            self._clocks(f[6])
        if 12 in f:
            self._intern(f[12])
        if 59 in f and one(f[59], 58) == 64:
            self.delta = True
        if 60 in f:
            self._descriptor(f[60])
        if 126 in f:
            for number, _, attribute in fields(f[126]):
                value = one(attribute, 3)
                value = text(value) if value is not None else signed(one(attribute, 2, 0))
                self.attributes[text(one(attribute, 1))] = value
        if 11 in f:
            if not f.get(10):
                raise Bad("event without sequence id")
            self._event(self._time(f.get(8)), f[11])

    def _time(self, stamp):
        if stamp is None:
            raise Bad("event without timestamp")
        if self.delta:
            self.clock += stamp
            stamp = self.clock
        if not 0 <= stamp < 1 << 63:
            raise Bad(f"time {stamp} is out of range")
        return stamp

    def _clocks(self, snapshot):
        if self.epoch is not None:
            raise Bad("a second clock snapshot")
        clocks = {}
        for number, _, value in fields(snapshot):
            if number == 1:
                clocks[one(value, 1)] = one(value, 2)
        self.epoch = clocks[1] - clocks[6]
        self.clock = clocks.get(64)

    def _intern(self, data):
        for number, _, entry in fields(data):
            iid, value = one(entry, 1), text(one(entry, 2))
            if self.interned[number].setdefault(iid, value) != value:
                raise Bad(f"iid {iid} of kind {number} defined twice")

    def _descriptor(self, d):
        t = dict(parent=one(d, 5, 0), name="", pid=None, tid=None, counter=one(d, 8) is not None)
        for number in (2, 10, 13):
            if one(d, number) is not None:
                t["name"] = text(one(d, number))
        process, thread = one(d, 3), one(d, 4)
        if process is not None:
            t["pid"], t["name"] = one(process, 1), text(one(process, 6, b""))
        if thread is not None:
            t["pid"], t["tid"] = one(thread, 1), one(thread, 2, 0)
            t["name"] = text(one(thread, 5, b""))
            t["parent"] = next((u for u, p in self.tracks.items()
                                if p["pid"] == t["pid"] and p["tid"] is None), 0)
        t["merge"] = (one(d, 15, 0), bytes(one(d, 16, b"")), one(d, 17, 0))
        t["description"] = text(one(d, 14, b""))
        uuid = one(d, 1, 0)
        if uuid in self.tracks:
            raise Bad(f"track {uuid} described twice")
        if t["parent"] and t["parent"] not in self.tracks:
            raise Bad(f"track {uuid}: parent {t['parent']} is not described before it")
        self.tracks[uuid] = t

    # -- events ------------------------------------------------------------------------------------

    def _event(self, ts, event):
        kind = uuid = name = value = None
        cats, args, flows, ends = [], {}, [], []
        for number, wire, v in fields(event):
            if number == 9:
                kind = v
            elif number == 11:
                uuid = v
            elif number == 10:
                name = self.interned[2][v]
            elif number == 23:
                name = text(v)
            elif number == 3:
                cats.append(self.interned[1][v])
            elif number == 22:
                cats.append(text(v))
            elif number == 4:
                key, arg = self._annotation(v)
                args[key] = arg
            elif number in (47, 48):
                if wire != 1:
                    raise Bad("packed flow ids")
                (flows if number == 47 else ends).append(v)
            elif number == 30:
                value = signed(v)
            elif number == 44:
                value = struct.unpack("<d", struct.pack("<Q", v))[0]
        if uuid not in self.tracks:
            raise Bad(f"event on track {uuid}, which is not described")
        if ts < self.last_ts.get(uuid, 0):
            raise Bad(f"track {uuid}: {ts} after {self.last_ts[uuid]}")
        self.last_ts[uuid] = ts
        stack = self.open.setdefault(uuid, [])
        if kind == 4:
            self.counters.append(dict(uuid=uuid, ts=ts, value=value))
        elif kind in (1, 3):
            if name is None or self.tracks[uuid]["counter"]:
                raise Bad(f"event without name, or on a counter, at {ts}")
            s = Slice(uuid=uuid, name=name, cat=",".join(cats), ts=ts, dur=None, args=args,
                      flows=flows, ends=ends, depth=len(stack))
            self.slices.append(s)
            if kind == 1:
                stack.append(s)
        elif kind == 2:
            if not stack:
                raise Bad(f"track {uuid}: an end without a begin at {ts}")
            s = stack.pop()
            s["dur"] = ts - s["ts"]
            s["args"].update(args)
        else:
            raise Bad(f"event of type {kind}")

    def _annotation(self, annotation):
        key = value = None
        for number, _, v in fields(annotation):
            if number == 1:
                key = self.interned[3][v]
            elif number == 10:
                key = text(v)
            elif number == 2:
                value = bool(v)
            elif number == 3:
                value = v
            elif number == 4:
                value = signed(v)
            elif number == 5:
                value = struct.unpack("<d", struct.pack("<Q", v))[0]
            elif number == 6:
                value = text(v)
            elif number == 7:
                value = hex(v)
            elif number == 17:
                value = self.interned[29][v]
        if key is None or value is None:
            raise Bad("annotation without key or value")
        return key, value

    # -- questions ---------------------------------------------------------------------------------

    def path(self, uuid):
        """Names from the root down to a track."""
        names = []
        while uuid and len(names) < 100:
            names.append(self.tracks[uuid]["name"])
            uuid = self.tracks[uuid]["parent"]
        return names[::-1]


def read(path):
    with open(path, "rb") as f:
        return Trace(f.read())
