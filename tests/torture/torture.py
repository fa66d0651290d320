#!/usr/bin/env python3
"""torture [--all] [KIND...] [NAME...] - fails the n-th allocation, read or write of the programs, for every n.

Runs the programs of $BUILD/torture (the usual ones with tests/torture/faults.c around them) on small
inputs, with call n of a kind failing, n = 1, 2, ... until a run needs no more calls than that. Whatever
fails, the program ends by itself with a documented exit status, says why, leaves the whole result or
none under its name, and no other file. Without --all only some n are tried, as many as fit into a test.
"alloc" are calls of the programs themselves, "inner" those of libraries too (faults.c). Prints TAP.
"""
import os
import shutil
import subprocess
import sys

BUILD, SRC, TMP = (os.environ[k] for k in ("BUILD", "SRC", "TMP"))
CONV, TUI = (f"{BUILD}/torture/{p}" for p in ("ntff-conv", "ntff-tui"))
CASE = f"{SRC}/tests/data/cases"
KINDS = ("alloc", "inner", "read", "write")
KEEP_GOING = "TORTURE_KEEP_GOING" in os.environ # to see all that is wrong, not the first
MEMORY_IS_SHORT = ("out of memory", "no memory", "not enough memory", "Cannot allocate")


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)
    return path


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except FileNotFoundError:
        return None


def inputs():
    """A small session: host events, samples, a device profile, runtime JSON in gzip."""
    import gzip
    tools = f"{BUILD}/tools"
    session = f"{TMP}/in/i-EXAMPLE0_pid_1000"
    run = lambda *a: subprocess.run(a, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    write(f"{session}/ntrace.pb", run(f"{tools}/gen_ntrace", "-n", "60", "-c", "1"))
    write(f"{TMP}/large.pb", run(f"{tools}/gen_ntrace", "-n", "10000"))  # enough for threads to start
    for name in ("cpu_util.pb", "host_mem.pb", "trace_info.pb"):
        shutil.copy(f"{CASE}/a-delimited/i-EXAMPLE0_pid_1000/{name}", session)
    shutil.copy(f"{CASE}/e-device/i-EXAMPLE0_pid_1000/deadbeef_instid_0_vnc_0.ntff", session)
    write(f"{TMP}/events.json.gz", gzip.compress(read(f"{SRC}/tests/data/json/events.json"), mtime=0))
    write(f"{TMP}/keys", b"size 60x20\nkey j j 3 b 2\ntype /nc\nkey Enter n\ndump\ntype e\n"
          b"key BackTab\ndump\n")
    write(f"{TMP}/export", b"size 60x20\ntype e\nkey C-u\ntype out/x.pftrace\nkey Enter\ndump\n")
    return [f"{TMP}/in", f"{TMP}/events.json.gz"]


class Command:
    """name; arguments with @ for the inputs; the file it writes; -j to run it with; a second file that may be
    missing with exit status 3"""

    def __init__(self, name, program, args, out=None, jobs=("1",), side="\0"):
        self.name, self.program, self.args, self.out, self.jobs, self.side = name, program, args, out, jobs, side


COMMANDS = [
    Command("convert", CONV, "-o out/t.pftrace @", "t.pftrace", ("1", "2")),
    Command("convert by threads", CONV, "-o out/t.pftrace large.pb", "t.pftrace", ("3",)),
    Command("convert by threads to JSON", CONV, "-o out/t.json large.pb", "t.json", ("3",)),
    Command("convert to gzip", CONV, "-o out/t.json.gz @", "t.json.gz"),
    Command("convert with a summary", CONV, "--force -o out/t.pftrace --summary out/s.json --redact @", "t.pftrace",
            side="s.json"),
    Command("report", CONV, "report --json -o out/r.json @", "r.json"),
    Command("report as text", CONV, "report -o out/r.txt @", "r.txt"),
    Command("events", CONV, "events --device -o out/e.csv @", "e.csv"),
    Command("json", CONV, "json -o out/j.json in", "j.json"),
    Command("json of JSON", CONV, "json -o out/j.json events.json.gz", "j.json"),
    Command("tables", CONV, "table --all -o out/tables @", "tables"),
    Command("diff", CONV, "diff -o out/d.txt @", "d.txt"),
    Command("info", CONV, "info in"),
    Command("dump", CONV, "dump -o out/d.txt in/i-EXAMPLE0_pid_1000/ntrace.pb", "d.txt"),
    Command("schema", CONV, "schema --schema SCHEMA -o out/s.proto", "s.proto"),
    Command("print", TUI, "--print --width 80 @", None, ("1", "2")),
    Command("script", TUI, "--script keys @"),
    Command("export", TUI, "--script export @", "x.pftrace"),
]


class Run:
    def __init__(self, command, jobs, fault=None, locale=None):
        shutil.rmtree(f"{TMP}/out", ignore_errors=True)
        os.mkdir(f"{TMP}/out")
        words = [w for a in command.args.split() for w in (INPUTS if a == "@" else [a])]
        words = [f"{CASE}/schema.desc" if w == "SCHEMA" else w for w in words]
        if command.args != "schema" and words[0] not in ("dump", "schema"):
            words[1:1] = [f"-j{jobs}"] if words[0].isalpha() and words[0] != "in" else []
            if not words[0].isalpha():
                words.insert(0, f"-j{jobs}")
        env = dict(os.environ, FAULT_MARK=f"{TMP}/mark", ASAN_OPTIONS="detect_leaks=1:exitcode=99",
                   UBSAN_OPTIONS="halt_on_error=1:exitcode=98")
        if locale:
            env["LC_ALL"] = locale
        if fault:
            env["FAULT"] = fault
        if os.path.exists(f"{TMP}/mark"):
            os.unlink(f"{TMP}/mark")
        p = subprocess.run([command.program, *words], env=env, cwd=TMP, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
        self.code, self.stdout, self.stderr = p.returncode, p.stdout, p.stderr.decode(errors="replace")
        self.reached = os.path.exists(f"{TMP}/mark")
        self.left = sorted(os.path.relpath(os.path.join(d, f), f"{TMP}/out")
                           for d, _, files in os.walk(f"{TMP}/out") for f in files)
        self.result = {f: read(f"{TMP}/out/{f}") for f in self.left}


def wrong(command, r, good, kind):
    """What this run did that it must not, or None."""
    if r.code < 0 or r.code > 4:
        return f"exit status {r.code}"
    if r.code == 2 and command.program == CONV:
        return "exit status 2: a mistake on the command line"
    if any(".tmp" in f for f in r.left):
        return f"a temporary file is left: {r.left}"
    viewer = command.name == "export" # tells on its screen and goes on
    if viewer and command.out not in r.left and r.stdout == good.stdout:
        return "nothing is exported, and nobody is told"
    if r.code == 0 and kind == "inner" and command.program == TUI and r.stdout == good.ascii:
        return None # setlocale had no memory, says no more than that there is no such locale: then it is "C"
    if r.code == 0 and not viewer and (r.stdout, r.result) != (good.stdout, good.result):
        return "exit status 0, but the output is another"
    told = r.stderr + (r.stdout + b"".join(r.result.values())).decode(errors="replace")
    if r.code == 3 and not ("could not be read" in told or "unreadable_file" in told or command.side in r.stderr):
        return f"exit status 3: {r.stderr.strip()[:200]}"
    for f in r.left:
        whole = r.result[f] == good.result.get(f) or (kind == "read" and r.code == 3)
        if not whole:
            return f"{f} is there, but not whole (exit status {r.code})"
        if r.code == 1 and command.out == f and not viewer:
            return f"exit status 1, but {f} is there"
    if r.code in (1, 2) and not r.stderr.strip():
        return f"exit status {r.code} without a word"
    if r.code == 1 and kind in ("alloc", "inner") and not any(t in r.stderr for t in MEMORY_IS_SHORT + ("thread",)):
        return f"memory ran out, but it says: {r.stderr.strip()[:200]}"
    return None


def torture(command, jobs, kind, every):
    good = Run(command, jobs)
    good.ascii = Run(command, jobs, locale="C").stdout if command.program == TUI else None
    if good.code != 0 or (command.out and command.out not in good.left and command.out != "tables"):
        return 0, f"without a fault: exit status {good.code}, {good.left}: {good.stderr[:300]}"
    n = tried = 0
    while True:
        n += 1 if n < 40 // every else every
        r = Run(command, jobs, f"{kind}:{n}")
        tried += 1
        what = wrong(command, r, good, kind)
        if what and not KEEP_GOING:
            return tried, f"call {n} of {kind} fails: {what}"
        if what:
            print(f"# {command.name}: call {n} of {kind} fails: {what}")
        if not r.reached:
            return tried, None
        if tried % 4 == 1: # and nothing works any more from there on
            what = wrong(command, Run(command, jobs, f"{kind}:{n}+"), good, kind)
            if what and not KEEP_GOING:
                return tried, f"calls {n}, {n + 1}, ... of {kind} fail: {what}"


def main(args):
    global INPUTS
    INPUTS = inputs()
    every = 1 if "--all" in args else int(os.environ.get("TORTURE_EVERY", "37"))
    kinds = [a for a in args if a in KINDS] or KINDS
    only = [a for a in args if a not in KINDS and a != "--all"]
    n = failed = 0
    if "asan" in BUILD or "tsan" in BUILD:
        print("# sanitizers have an allocator of their own: calls of libraries are not made to fail")
        kinds = [k for k in kinds if k != "inner"]
    for command in COMMANDS:
        if only and command.name not in only:
            continue
        for kind in kinds:
            for jobs in command.jobs:
                tried, what = torture(command, jobs, kind, 1 if kind == "write" else every)
                n += 1
                name = f"{command.name}, -j{jobs}: every {kind} may fail ({tried} runs)"
                if what:
                    failed = 1
                    print(f"# {what}")
                print(f"{'not ok' if what else 'ok'} {n} - {name}", flush=True)
    print(f"1..{n}")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
