#!/usr/bin/env python3
"""sweep.py [-j N] [-s STRIDE] [NAME...] - damages every kind of sample file in every way, by $BUILD/tools/sweep.

Every prefix of: the host traces of all cases and of the sample session, in each framing and numbering, device
profiles, runtime event JSON in its dialects, the small files beside a trace, some of these in gzip.

Every value of every byte of: the same kinds, but small. A host trace is thinned to the first span or point of
each type of event, a device profile is the one with every kind of record. So a change meets each kind of field,
and that two million of them end the same way takes minutes.

Without -s all of it is tried (`make sweep`), with it each STRIDE-th variant. NAMEs pick tasks that contain one.
TMP is best on a tmpfs. Prints TAP.
"""
import argparse
import gzip
import json
import os
import shutil
import struct
import subprocess
import sys

BUILD, SRC, TMP = (os.environ[k] for k in ("BUILD", "SRC", "TMP"))
sys.path.insert(0, f"{SRC}/tests")
from e2e import varint  # noqa: E402
CASES = f"{SRC}/tests/data/cases"
DEFAULT, SECOND = (7, 15), (15, 14)  # fields of event_type and tracking_id in the two numberings of ntrace_event
TASKS = []


def read(path):
    with open(path, "rb") as f:
        return f.read()


def task(how, kind, name, data):
    """Writes an input and adds what is to be done with it."""
    path = f"{TMP}/in/{name}"
    with open(path, "wb") as f:
        f.write(data)
    TASKS.append(f"{how}:{kind}:{path}")


# -- host traces -------------------------------------------------------------------------------------------------


def take_varint(b, at):
    v = shift = 0
    while True:
        v |= (b[at] & 0x7F) << shift
        shift += 7
        at += 1
        if b[at - 1] < 0x80:
            return v, at


def fields(b):
    """(number, value, the bytes of the field) of each field; value = number or bytes."""
    at = 0
    while at < len(b):
        begin = at
        tag, at = take_varint(b, at)
        if tag & 7 == 0:
            v, at = take_varint(b, at)
        else:
            n, at = take_varint(b, at) if tag & 7 == 2 else ({1: 8, 5: 4}[tag & 7], at)
            v, at = b[at:at + n], at + n
        yield tag >> 3, v, b[begin:at]


def records(b):
    at = 0
    while at < len(b):
        n, at = take_varint(b, at)
        yield b[at:at + n]
        at += n


def thin(recs, numbering):
    """The first span or point of each type."""
    first, out = {}, []
    for r in recs:
        f = {n: v for n, v, _ in fields(r)}
        kind, of = f.get(numbering[0]), f.get(numbering[1])
        if first.setdefault(kind, of) == of:
            out.append(r)
    return out


FRAMES = {"varint": lambda r: varint(len(r)) + r, "u32": lambda r: struct.pack("<I", len(r)) + r,
          "u64": lambda r: struct.pack("<Q", len(r)) + r}


def host(name, path, numbering, frame="varint", few=None):
    """The whole file cut; its first few kinds of record damaged byte by byte."""
    data = read(path)
    for how, recs in ("cut", list(records(data))), ("byte", thin(records(data), numbering)[:few]):
        if recs:
            task(how, frame, f"{name}.{frame}.{how}.pb", b"".join(map(FRAMES[frame], recs)))


def bare(name, path, bytes_too):
    """One ntrace_info with the events as a field."""
    data = read(path)
    all_fields = list(fields(data))
    numbers = [n for n, _, _ in all_fields]
    events = max(set(numbers), key=numbers.count)
    keep = thin((v for n, v, _ in all_fields if n == events), DEFAULT)
    small = b"".join(raw for n, v, raw in all_fields if n != events or v in keep)
    task("cut", "bare", f"{name}.bare.cut.pb", data)
    if bytes_too:
        task("byte", "bare", f"{name}.bare.byte.pb", small)


# -- all inputs --------------------------------------------------------------------------------------------------


def small_files(name, folder):
    for f in ("cpu_util.pb", "host_mem.pb", "trace_info.pb"):
        for how in ("cut", "byte"):
            task(how, "other", f"{name}.{how}.{f}", read(f"{folder}/{f}"))


def documents():
    """Runtime event JSON and the vendor tool's rows."""
    data = read(f"{CASES}/f-json.events.json")
    seen, few = set(), []
    for e in json.loads(data)["events"]: # one of each shape
        shape = (e["phase"], *e["data"])
        few += [e] * (shape not in seen)
        seen.add(shape)
    few = json.dumps({"events": few}, separators=(",", ":")).encode()
    task("cut", "json", "f.cut.json", data)
    task("byte", "json", "f.byte.json", few)
    for name in ("bare-list.json", "behind-log.txt", "trace-event.json", "two-documents.json", "nan.json"):
        task("cut", "other", f"cut.{name}", read(f"{SRC}/tests/data/json/{name}"))
    for name in ("bare-list.json", "nan.json"):
        task("byte", "other", f"byte.{name}", read(f"{SRC}/tests/data/json/{name}"))
    t = 1764440000000000000
    rows = [dict(name=n, timestamp=t + i * 1000000, duration=400000, id=i + 1, instance_id="i-EXAMPLE0", process_id="111",
                 thread_id="200", nc_idx="0", device_core_idx=0, exec_id=i, group="nrt-nc-000", timestamp_unit="ns")
            for i, n in enumerate(("nrt_execute", "nc_exec_running", "nrt_execute"))]
    task("byte", "other", "system_profile.json", json.dumps({"trace_event": rows}).encode())
    return few


def inputs():
    tools = f"{BUILD}/tools"
    process = "i-EXAMPLE0_pid_1000"
    host("a", f"{CASES}/a-delimited/{process}/ntrace.pb", DEFAULT)
    host("a", f"{CASES}/a-delimited/{process}/ntrace.pb", DEFAULT, "u32", 12)
    host("a", f"{CASES}/a-delimited/{process}/ntrace.pb", DEFAULT, "u64", 12)
    host("c", f"{CASES}/c-second-numbering/{process}/ntrace.pb", SECOND)
    host("d", f"{CASES}/d-noisy-clocks/{process}/ntrace.pb", DEFAULT)
    host("e", f"{CASES}/e-device/{process}/ntrace.pb", DEFAULT, few=0) # a's kinds
    for pid in (1000, 1001):
        bare(f"b-{pid}", f"{CASES}/b-bare-raw/i-EXAMPLE0_pid_{pid}/1764440000000000000/ntrace.pb", pid == 1000)
    for n in (0, 1):
        task("cut", "other", f"e{n}.ntff", read(f"{CASES}/e-device/{process}/deadbeef_instid_0_vnc_{n}.ntff"))
    every_kind = subprocess.run([f"{tools}/mkntff", f"{SRC}/tests/data/ntff/every_kind.txt"], check=True,
                                stdout=subprocess.PIPE).stdout
    for how in ("cut", "byte"):
        task(how, "other", f"every_kind.{how}.ntff", every_kind)
    small_files("a", f"{CASES}/a-delimited/{process}")
    few = documents()
    subprocess.run([f"{SRC}/samples/build.sh", f"{TMP}/sample"], check=True)
    for folder, _, files in sorted(os.walk(f"{TMP}/sample")):
        name = "sample-" + folder.split("_pid_")[-1][:4]
        if "ntrace.pb" in files:
            host(name, f"{folder}/ntrace.pb", DEFAULT, few=None if name.endswith("4243") else 0) # the one with more kinds
            small_files(name, folder)
            for f in files:
                if f.endswith(".ntff"):
                    task("cut", "other", f"{name}.{f}", read(f"{folder}/{f}"))
    pack = lambda data: gzip.compress(data, mtime=0)
    task("cut", "gzip", "a.cut.pb.gz", pack(read(f"{CASES}/a-delimited/{process}/ntrace.pb")))
    task("byte", "gzip", "f.byte.json.gz", pack(few))
    for how in ("cut", "byte"):
        task(how, "gzip", f"every_kind.{how}.ntff.gz", pack(every_kind))


def main():
    a = argparse.ArgumentParser()
    a.add_argument("-j", default="1")
    a.add_argument("-s", default="1")
    a.add_argument("-v", action="store_true")
    a.add_argument("names", nargs="*")
    a = a.parse_args()
    for folder in ("in", "work"):
        shutil.rmtree(f"{TMP}/{folder}", ignore_errors=True)
        os.makedirs(f"{TMP}/{folder}")
    inputs()
    wanted = [t for t in TASKS if not a.names or any(n in t for n in a.names)]
    rc = subprocess.run([f"{BUILD}/tools/sweep", "-j", a.j, "-s", a.s, *(["-v"] if a.v else []), f"{TMP}/work", *wanted],
                        check=False).returncode
    for folder in ("in", "work", "sample"):
        shutil.rmtree(f"{TMP}/{folder}", ignore_errors=True)
    return rc


if __name__ == "__main__":
    raise SystemExit(main())
