#!/usr/bin/env python3
"""bombs.py - small files that ask for much: memory, time, depth. Each ends with a documented exit status, within
the memory it may have, in time that grows with the input and not with its square. Prints TAP.

With BOMBS=full (`make bombs`) there are ten million of everything, a value of a gigabyte and gzip that unpacks to
ten; takes a quarter of an hour, 10 GB of disk and memory, and says what each took."""
import gzip
import json
import os
import resource
import subprocess
import time

from e2e import varint

CONV = os.environ["BUILD"] + "/ntff-conv"
SLOW = 20 if "asan" in CONV else 1  # sanitizers: their own memory, their own time
FULL = os.environ.get("BOMBS") == "full"
PATIENCE = 40 if FULL else SLOW  # times what is enough for the small ones
T0 = 1764440000000000000
MB = 1 << 20


def field(n, v):
    return varint(n << 3) + varint(v)


def text(n, v):
    return varint(n << 3 | 2) + varint(len(v)) + v


def record(i, phase, at, type_=3, thread=1, **attrs):
    m = field(2, at) + field(7, type_) + field(9, thread) + field(10, i + 1)
    m += b"".join(text(12, text(1, k.encode()) + text(2, v)) for k, v in attrs.items())
    return m + field(14, phase) + field(15, i + 1)


def stream(records):
    return b"".join(varint(len(m)) + m for m in records)


GOOD = [record(i, 1 + i % 2, T0 + i * 1000, thread=5)[:-1] + bytes([i // 2 + 1]) for i in range(100)]


class Tap:
    n = failed = 0

    def result(self, good, name, why=""):
        self.n += 1
        self.failed |= not good
        if not good:
            print("# " + str(why)[:1500].replace("\n", "\n# "))
        print(f"{'ok' if good else 'not ok'} {self.n} - {name}", flush=True)


tap = Tap()


class Run:
    def __init__(self, *args):
        begin = time.monotonic()
        p = subprocess.Popen([CONV, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.out, err = p.communicate(timeout=200 * PATIENCE)
        self.code, self.err = p.returncode, err.decode(errors="replace")
        self.seconds = time.monotonic() - begin

    def __str__(self):
        return f"exit status {self.code}, {self.seconds:.1f} s: {self.err}"


def write(name, *parts, sparse=None):
    with open(name, "wb") as f:
        for p in parts:
            f.write(p)
        if sparse:
            f.truncate(sparse)
    return name


def pour(name, parts, tail=()):
    """As write, for more than one wants in memory."""
    with open(name, "wb", buffering=MB) as f:
        f.writelines(parts)
        f.writelines(tail)
    return name


def scaled(usual, full):
    return full if FULL else usual


def measured(*args):
    """User seconds and the peak of memory in bytes, anonymous or mapped."""
    code = ("import os, resource, subprocess, sys\n"
            "rc = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode\n"
            "r = resource.getrusage(resource.RUSAGE_CHILDREN)\nprint(rc, r.ru_utime + r.ru_stime, r.ru_maxrss * 1024)")
    p = subprocess.run(["python3", "-c", code, CONV, *args], stdout=subprocess.PIPE, check=True, timeout=250 * PATIENCE)
    rc, seconds, peak = p.stdout.split()
    return int(rc), float(seconds), int(peak)


def ends(name, codes, *args, says="", seconds=30):
    r = Run(*args)
    tap.result(r.code in codes and says in r.err and r.seconds < seconds * PATIENCE, name, r)
    return r


def bounded(name, limit_mb, path):
    """It says that it needs more than limit_mb, and has not taken more, beside the mapped input and what is not
    counted (README, "Limits")."""
    args = ("--max-memory", f"{limit_mb}M", "--force", "-o", "bounded.pftrace", path)
    r = ends(f"{name} in {limit_mb} MB", (1,), *args, says="memory limit")
    may = os.path.getsize(path) + (limit_mb + 64) * MB
    peak = measured(*args)[2]
    tap.result(SLOW > 1 or peak < may, f"{name} in {limit_mb} MB: within it", f"{peak >> 20} MB, {r}")


def linear(name, make, *args):
    """Four times the input takes at most eight times as long, or no time at all."""
    small = make(1)
    a = measured(*args, small)
    os.unlink(small)
    large = make(4)
    b = measured(*args, large)
    what = f"{a[1]:.2f} s and {a[2] >> 20} MB, four times as much {b[1]:.2f} s and {b[2] >> 20} MB"
    tap.result(b[0] in (0, 3) and b[1] < 8 * a[1] + 0.3 * SLOW, f"{name}: time grows with the input", f"exit status {b[0]}, {what}")
    if FULL:
        print(f"#   {os.path.getsize(large) >> 20} MB of {name}: exit status {b[0]}, {what}")
    os.unlink(large)


def gzip_bombs():
    member = gzip.compress(bytes(MB), 9, mtime=0)
    n = scaled(500, 10000)
    bomb = write("zeros.gz", member * n)
    r = ends(f"gzip: {n} MB of zeros", (1,), "--max-memory", "100M", "-o", "a.pftrace", bomb, says="memory limit")
    peak = measured("--max-memory", "100M", "-o", "a.pftrace", bomb)[2]
    tap.result(SLOW > 1 or peak < 200 * MB, "gzip: within the limit", f"{peak >> 20} MB, {r}")
    blanks = gzip.compress(b" " * MB, 9, mtime=0)
    event = dict(event_type="nrt_execute", phase="instant", nc_idx=0, tracking_id=1, timestamp_ns=T0)
    doc = gzip.compress(b'{"events":[', mtime=0) + blanks * scaled(300, 10000) + gzip.compress(json.dumps(event).encode() + b"]}", mtime=0)
    peak = measured("--force", "-o", "b.pftrace", write("blanks.json.gz", doc))
    tap.result(peak[0] == 0 and (SLOW > 1 or peak[2] < 80 * MB), "gzip: blanks in JSON stream by", peak)


def lengths():
    for size in (1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1):
        tail = varint(size) + b"\x0a"
        for name, data in (("a record", stream(GOOD) + tail),
                           ("a field", stream(GOOD + [b"\x62" + varint(size) + b"x"])),
                           ("a u64 record", b"".join(len(m).to_bytes(8, "little") + m for m in GOOD)
                            + size.to_bytes(8, "little") + b"x")):
            ends(f"{name} of {size:#x} bytes", (1, 3), "--force", "-o", "l.pftrace", write("l.pb", data), seconds=5)
        info = field(1, size) + text(3, field(4, size) + field(5, size))
        ends(f"an .ntff of {size:#x} bytes", (1, 3), "--force", "-o", "l.pftrace", seconds=5, *[write(
            "l.ntff", b"\x04" + size.to_bytes(8, "little") + bytes(119) + info + bytes(64))])


def events(name, n, one, tail=()):
    """A file of n records one(i)."""
    return pour(name, (varint(len(m)) + m for m in (one(i) for i in range(n))), tail)


def named_events(name, n):
    """Runtime JSON with n names."""
    one = b'%s{"event_type":"name %d","phase":"instant","nc_idx":0,"tracking_id":%d,"timestamp_ns":%d}'
    return pour(name, (one % (b"," if i else b'{"events":[', i, i, T0 + i) for i in range(n)), [b"]}"])


def many():
    n = scaled(200000, 10 ** 7)
    tracks = lambda k: events(f"tracks{k}.pb", n // 4 * k, lambda i: record(i, 3, T0 + i, thread=i + 1))
    bounded(f"{n:,} tracks", 16, tracks(4))
    linear("tracks", tracks, "-q", "--force", "-o", "m.pftrace")
    n = scaled(120000, 10 ** 7)
    names = lambda k: named_events(f"names{k}.json", n // 4 * k)
    bounded(f"{n:,} names", 8, names(4))
    linear("names", names, "-q", "--force", "-o", "n.pftrace")
    keys = lambda k: events(f"keys{k}.pb", 1, lambda i: record(200, 3, T0, **{f"k{i}": b"v" for i in range(15000 * k)}),
                            [stream(GOOD)])
    linear("attributes of one event", keys, "-q", "--force", "-o", "k.pftrace")
    linear("attributes of one event, Chrome", keys, "-q", "--force", "-o", "k.json")
    same = lambda k: events(f"same{k}.pb", 1, lambda i: record(200, 3, T0) + text(12, text(1, b"gid") + text(2, b"1")) * 20000 * k,
                            [stream(GOOD)])
    linear("an attribute again and again", same, "-q", "--force", "-o", "k.pftrace")
    linear("an attribute again and again, rows", same, "events", "-q", "--force", "-o", "k.csv")
    n = scaled(240000, 10 ** 7)
    for name, phase in ("starts without a stop", 1), ("stops without a start", 2):
        halves = lambda k, phase=phase: events(f"half{k}.pb", n // 4 * k, lambda i: record(i, phase, T0 + i))
        bounded(f"{n:,} {name}", 8, halves(4))
        linear(name, halves, "-q", "--force", "-o", "s.pftrace")
    n = scaled(20000, 200000)
    clocks = lambda k: events(f"cores{k}.pb", n // 4 * k, lambda i: record(
        i, 3, T0 + i, type_=25, nc_timestamp_ns=b"%d" % (1000 + i), cpu_timestamp_ns=b"%d" % (T0 + i),
        device_core_idx=b"%d" % i))
    bounded(f"{n:,} clocks", 16, clocks(4))
    linear("clocks", clocks, "-q", "--force", "-o", "c.pftrace")


def large_value():
    size = scaled(256, 1024) * MB
    value = varint(2 << 3 | 2) + varint(size)
    entry = text(1, b"model_name") + value
    head = field(2, T0) + field(7, 3) + field(14, 3) + varint(12 << 3 | 2) + varint(len(entry) + size) + entry
    f = write("value.pb", stream(GOOD), varint(len(head) + size) + head, sparse=len(stream(GOOD)) + len(head) + size + 5)
    for form in ("perfetto", "chrome"):
        r = ends(f"a value of {size // MB} MB, {form}", (0, 3), "-f", form, "--force", "-o", "v.out", f)
        tap.result(os.path.getsize("v.out") < 8 * MB, f"a value of {size // MB} MB, {form}: cut", f"{os.path.getsize('v.out')}, {r}")


def ahead():
    """Long texts in every batch that threads make ahead: memory is as README, "Limits", says, whatever -j."""
    longs = events("long.pb", 32 * 512, lambda i: record(i, 3, T0 + i, k=b"\x01" * (1000000 if i % 512 == 0 else 1)))
    many_ = events("texts.pb", 40000, lambda i: record(i, 3, T0 + i, k=b"\x01" * 350))
    for f, n in (longs, 32 * 512), (many_, 40000):
        for jobs in "1", "2", "8":
            rc, _, peak = measured("-q", "-f", "chrome", "-o", "-", "-j", jobs, f)
            tap.result(rc == 0 and (SLOW > 1 or peak < os.path.getsize(f) + 64 * n + 64 * MB), f"{f}, -j {jobs}: within the limits", f"{rc}, {peak >> 20} MB")
        os.unlink(f)


def times():
    odd = {"0": 0, "1": 1, "2^62": 1 << 62, "2^63": 1 << 63, "2^64 - 1": (1 << 64) - 1, "ten years later": T0 + 315360000 * 10**9}
    for name, at in odd.items():
        f = write("t.pb", stream(GOOD + [record(900, 3, at)]))
        r = Run("-q", "--force", "-o", "t.pftrace", "--summary", "t.sum", f)
        with open("t.sum", encoding="utf-8") as s:
            s = json.load(s)
        tap.result(r.code == 3 and s["time"]["end_ns"] - s["time"]["begin_ns"] < 10**9 and s["records"]["dropped"] == 1,
                   f"an event at {name}: kept out of the range, and counted", (r, s["time"], s["records"]))
    f = write("t.pb", stream(GOOD + [record(900, 1, T0), record(900, 2, T0 + (1 << 63))]))
    ends("a span of 2^63 ns", (0, 3), "--force", "-o", "t.pftrace", f)


def depth():
    n = 200000
    good = json.dumps(dict(event_type="nrt_execute", phase="instant", nc_idx=0, tracking_id=1, timestamp_ns=T0))
    for name, deep in (("arrays", "[" * n), ("objects", '{"a":' * n), ("closed arrays", "[" * n + "]" * n)):
        f = write("d.json", f'{{"events":[{good},{deep}'.encode())
        ends(f"JSON: {n} {name} in each other", (1, 3), "--force", "-o", "d.pftrace", f)
        f = write("d.json", f'{{"events":[{good[:-1]},"data":{{"a":{deep}'.encode())
        ends(f"JSON: {n} {name} in a value", (1, 3), "--force", "-o", "d.pftrace", f)
    many = ",".join(["{}"] * 330000)  # a tree of 260 MB in the JSON library
    f = write("d.json", f'{{"events":[{good[:-1]},"data":{{"a":[{many}]}}}}]}}'.encode())
    args = ("--max-memory", "64M", "--force", "-o", "d.pftrace", f)
    ends("JSON: 330,000 objects in a value, 64 MB", (1,), *args, says="memory limit")
    peak = measured(*args)[2]
    tap.result(SLOW > 1 or peak < 128 * MB, "JSON: 330,000 objects in a value: within the limit", f"{peak >> 20} MB")
    m = b""
    for _ in range(3000):
        m = text(1, m)
    for args in (("dump",), ("dump", "--raw"), ("info",), ("--force", "-o", "d.pftrace")):
        ends(f"3000 messages in each other: {args[0]}", (0, 1, 3), *args, write("d.pb", m))


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for bomb in (gzip_bombs, lengths, many, large_value, ahead, times, depth):
        bomb()
    print(f"1..{tap.n}")
    return tap.failed


if __name__ == "__main__":
    raise SystemExit(main())
