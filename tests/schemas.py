"""schemas - descriptor sets and captures with other field numbers.

Shares nothing with the programs under test: a small reader and writer of protobuf, enough to give every
field of a FileDescriptorSet a new number and to rewrite the files of a capture from one numbering
to another.

    schemas.py shuffle SEED IN.desc OUT.desc              every number of every message is new
    schemas.py public SEED IN.desc KNOWN.desc OUT.desc [EVENT]
        fields that KNOWN has keep the numbers there, the others get new ones that obey what is known
        of their order; ntrace_event gets the numbering EVENT: table, ser or candidate
    schemas.py transcode FROM.desc TO.desc DIR OUT        a capture directory in the numbers of TO
    schemas.py files IN.desc DIR                          each FileDescriptorProto as a file of its own
"""

import os
import random
import sys


# -- protobuf ---------------------------------------------------------------------------------------
def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def put_varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def fields(data):
    """(number, wire type, value) of one level; value is int or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = varint(data, at)
        else:
            if wire == 2:
                size, at = varint(data, at)
            else:
                size = {1: 8, 5: 4}[wire]
            if at + size > len(data):
                raise ValueError("cut")
            value = data[at : at + size]
            at += size
        yield tag >> 3, wire, value


def put(number, wire, value):
    out = put_varint(number << 3 | wire)
    if wire == 0:
        return out + put_varint(value)
    return out + (put_varint(len(value)) if wire == 2 else b"") + value


def first(data, number, default=None):
    for n, _, value in fields(data):
        if n == number:
            return value
    return default


# -- descriptors --------------------------------------------------------------------------------------
class Field:
    def __init__(self, data):
        self.name = first(data, 1).decode()
        self.number = first(data, 3)
        self.type = first(data, 5)
        self.type_name = (first(data, 6) or b"").decode().removeprefix(".ntff.")
        self.data = data


def messages(desc):
    """{name: (is map entry, [Field])} of a descriptor set."""
    found = {}

    def look(data, prefix):
        name = prefix + first(data, 1).decode()
        entry = bool(first(first(data, 7, b""), 7, 0))
        found[name] = (entry, [Field(v) for n, _, v in fields(data) if n == 2])
        for n, _, v in fields(data):
            if n == 3:
                look(v, name + ".")

    for _, _, file in fields(desc):
        for n, _, v in fields(file):
            if n == 4:
                look(v, "")
    return found


def renumber(desc, numbers):
    """A descriptor set with numbers[message][field]."""

    def message(data, prefix):
        name = prefix + first(data, 1).decode()
        out = b""
        for n, w, v in fields(data):
            if n == 2:
                new = numbers.get(name, {}).get(first(v, 1).decode())
                if new:
                    v = b"".join(put(fn, fw, new if fn == 3 else fv) for fn, fw, fv in fields(v))
            elif n == 3:
                v = message(v, name + ".")
            out += put(n, w, v)
        return out

    def file(data):
        return b"".join(put(n, w, message(v, "") if n == 4 else v) for n, w, v in fields(data))

    return b"".join(put(1, 2, file(v)) for _, _, v in fields(desc))


def shuffled(desc, rng):
    return {
        name: dict(zip((f.name for f in fs), rng.sample(range(1, 3 * len(fs) + 8), len(fs))))
        for name, (entry, fs) in messages(desc).items()
        if not entry
    }


# numbers 1.. of ntrace_event in the three readings of the sources
EVENT = {
    "table": "type timestamp data nd_idx nc_idx hint event_type duration thread_id id parent_id attributes "
    "status phase tracking_id nrta_seq_id",
    "ser": "timestamp data nd_idx nc_idx event_type hint duration thread_id id parent_id status attributes "
    "phase tracking_id nrta_seq_id type",
    "candidate": "timestamp type nd_idx nc_idx data hint duration id parent_id thread_id status attributes "
    "phase tracking_id event_type nrta_seq_id",
}


def public(desc, known, rng, event):
    """New numbers for what is not public, within what is known about the order."""
    have, result = messages(known), {}
    for name, (entry, fs) in messages(desc).items():
        if entry:
            continue
        fixed = {f.name: f.number for f in have[name][1]} if name in have else {}
        free = [n for n in range(1, len(fs) + 1) if n not in fixed.values()]
        rest = [f for f in fs if f.name not in fixed]
        rng.shuffle(free)
        numbers = dict(fixed)
        if name == "ntff_info":
            low = [n for n in free if n < 8]
            high = sorted(rng.sample([n for n in free if n > 12], 4))
            order = ["notification_buffer_size", "ultraserver_info", "execution_info", "trace_info"]
            for f in rest:
                if f.type_name == "neff_node_info":
                    numbers[f.name] = low[0]
                elif f.type_name in order:
                    numbers[f.name] = high[order.index(f.type_name)]
            free = [n for n in free if n not in numbers.values()]
            rest = [f for f in rest if f.name not in numbers]
        while len(free) < len(rest):  # a known number lies above the count
            free.append(max(list(fixed.values()) + free) + 1)
        numbers.update(zip((f.name for f in rest), free))
        if name == "ntrace_event":
            numbers = {field: i + 1 for i, field in enumerate(EVENT[event].split())}
        result[name] = numbers
    return result


# -- captures --------------------------------------------------------------------------------------------
class Transcoder:
    def __init__(self, old, new):
        self.old = messages(old)
        self.number = {m: {f.name: f.number for f in fs} for m, (_, fs) in messages(new).items()}

    def message(self, name, data):
        by_number = {f.number: f for f in self.old[name][1]}
        out = []
        for n, w, v in fields(data):
            f = by_number[n]  # a case has no unknown fields
            if (f.type in (9, 11, 12)) != (w == 2):
                raise ValueError("not this message")
            if f.type == 11:
                v = self.message(f.type_name, v)
            out.append((self.number[name][f.name], w, v))
        return b"".join(put(*x) for x in sorted(out, key=lambda x: x[0]))

    def stream(self, name, data):
        out, at = b"", 0
        while at < len(data):
            size, at = varint(data, at)
            msg = self.message(name, data[at : at + size])
            out += put_varint(len(msg)) + msg
            at += size
        return out

    def file(self, name, data):
        if name.endswith(".ntff"):
            size = int.from_bytes(data[1:9], "little")
            msg = self.message("ntff_info", data[128 : 128 + size])
            return data[:1] + len(msg).to_bytes(8, "little") + bytes(119) + msg + data[128 + size :]
        if name == "cpu_util.pb":
            return self.stream("cpu_util", data)
        if name == "host_mem.pb":
            return self.stream("host_mem_usage", data)
        if name == "trace_info.pb":
            return self.message("ntrace_info", data)
        if name == "ntrace.pb":
            try:
                return self.message("ntrace_info", data)
            except (KeyError, IndexError, ValueError):
                return self.stream("ntrace_event", data)
        return data


def transcode(old, new, source, target):
    t = Transcoder(old, new)
    for folder, _, names in os.walk(source):
        to = os.path.join(target, os.path.relpath(folder, source))
        os.makedirs(to, exist_ok=True)
        for name in names:
            with open(os.path.join(folder, name), "rb") as f:
                data = t.file(name, f.read())
            with open(os.path.join(to, name), "wb") as f:
                f.write(data)


# -- command line -----------------------------------------------------------------------------------------
def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def main(args):
    what, args = args[0], args[1:]
    if what == "shuffle":
        desc = read(args[1])
        write(args[2], renumber(desc, shuffled(desc, random.Random(int(args[0])))))
    elif what == "public":
        desc = read(args[1])
        event = args[4] if len(args) > 4 else "table"
        numbers = public(desc, read(args[2]), random.Random(int(args[0])), event)
        write(args[3], renumber(desc, numbers))
    elif what == "transcode":
        transcode(read(args[0]), read(args[1]), args[2], args[3])
    elif what == "files":
        for _, _, file in fields(read(args[0])):
            write(os.path.join(args[1], first(file, 1).decode() + ".fdp"), file)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
