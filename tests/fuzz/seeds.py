#!/usr/bin/env python3
"""seeds BUILD TARGET DIR - first inputs for a fuzz target, made of the samples and test data.

An input begins with four bytes of choices (fuzz.h), zero here: read it as a program does by default.
"""
import glob
import gzip
import os
import subprocess
import sys

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLAIN = bytes(4)
COMMANDS = 16  # of target_commands.c


def read(path):
    with open(os.path.join(SRC, path), "rb") as f:
        return f.read()


def tool(build, *argv, stdin=b""):
    return subprocess.run([os.path.join(build, "tools", argv[0]), *argv[1:]], input=stdin, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def ntrace(build):
    for form in ("varint", "u32", "u64", "bare"):
        for n in ("6", "40", "150"):
            yield tool(build, "gen_ntrace", "-n", n, "-c", "1", "-f", form)
    for path in glob.glob(f"{SRC}/tests/data/cases/[ab]-*/**/*.pb", recursive=True):
        yield read(path)[:30000]
    yield read("tests/data/cases/c-second-numbering/i-EXAMPLE0_pid_1000/ntrace.pb")[:8000]


def ntff(build):
    for path in [f"{SRC}/tests/data/ntff/every_kind.txt", *glob.glob(f"{SRC}/samples/session/*/*/*.ntff.txt")]:
        yield tool(build, "mkntff", path)[:60000]
    yield from (read(p)[:60000] for p in glob.glob(f"{SRC}/tests/data/cases/e-device/*/*.ntff"))


def event_json(build):
    for path in glob.glob(f"{SRC}/tests/data/json/*.*"):
        yield read(path)[:4000]
    yield tool(build, "gen_ntrace", "-n", "30", "-c", "1", "-f", "json")
    yield read("tests/data/cases/f-json.events.json")[:6000]


def profile(_):
    for path in glob.glob(f"{SRC}/tests/data/cases/f-json/**/*.json", recursive=True):
        yield read(path)[:6000]
    yield read("tests/data/json/trace-event.json")[:4000]


def notif(build):
    for data in ntff(build):
        length = int.from_bytes(data[1:9], "little")
        yield data[128 + length:][:2048]


def schema(build):
    whole = read("tests/data/cases/schema.desc")
    yield whole
    yield subprocess.run([f"{build}/ntff-conv", "schema", "-f", "descriptor"], stdout=subprocess.PIPE, check=False).stdout or whole
    yield b"\x7fELF\x02\x01\x01" + bytes(57) + whole + bytes(64)


def packed(build):
    for data in (b"", b"a" * 100, read("tests/data/json/events.json")[:1000]):
        yield gzip.compress(data, mtime=0)
        yield data
    yield gzip.compress(b"one", mtime=0) + gzip.compress(b"two", mtime=0)


def options(_):
    for text in ("x\n--fail-on\ncore.utilization < 60%\n--from\n1.5s\nin", "y-o\nout\n-j2\n--max-memory\n2GiB\nin\n--clock\nfit",
                 "0gap.max_ns > 2ms", "1hbm.peak_bytes >= 12GiB", "2wait.share>30%", "31764440000123456789", "4250us",
                 "5instance_id, process_id", "60-3,7", "7software,^nrt_execute", "8500M",
                 "a--width\n120\n--print\n--from\n8ms\n--track\nNC00\nin", "b--help", "c--version", "d--script\n-\nin"):
        yield text.encode()


def keys(_):
    for path in glob.glob(f"{SRC}/tests/tui/*.keys"):
        for trace in range(3):
            yield bytes((trace, 4, 100, 30)) + read(path)[:590]
    for trace in range(11):
        yield bytes((trace, 3, 80, 24, *range(0x80, 0x80 + 54)))
        yield bytes((trace, 2, 40, 12, 0x80 + 24)) + b"nc.*" + bytes((0x80 + 13, 0x80 + 13, 2, 30, 9, 0x80 + 30))
    yield bytes((0, 8, 80, 0)) + b"NC00"


def commands(build):
    for source in (ntrace, ntff, event_json, profile):
        for i, data in enumerate(source(build)):
            if len(data) < 20000:
                for which in range(i % 3, COMMANDS, 3):
                    yield bytes((which, 0, 0, 0)) + data


TARGETS = {"wire": ntrace, "ntrace": ntrace, "ntff": ntff, "json": event_json, "profile": profile, "notif": notif,
           "schema": schema, "gzip": packed, "options": options, "keys": keys, "commands": commands}
WITH_CHOICES = {"options", "keys", "commands"}


def main(build, target, where):
    os.makedirs(where, exist_ok=True)
    for i, data in enumerate(TARGETS[target](build)):
        with open(f"{where}/seed-{i:03}", "wb") as f:
            f.write(data if target in WITH_CHOICES else PLAIN + data)


if __name__ == "__main__":
    main(*sys.argv[1:])
