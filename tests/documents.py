#!/usr/bin/env python3
"""documents.py FILE... - runs what the documents show, and compares what they show with what comes.

In Markdown, fenced blocks:
  sh        a script; it must succeed
  console   lines "$ command" (continued by "> "), each run by itself, below it what it prints; "..." stands for any
            number of lines, or for the rest of one. A command without output below may print anything. It must
            succeed unless it ends in "; echo $?"
  text      behind a comment <!-- screen OPTIONS; COMMAND; ... -->: what ntff-tui --script draws after these commands
  c         compiled by cli/library.sh
A block behind <!-- not run: why --> is left alone; there must be a reason. Others have no language and are data.
In manual pages: lines ".Dl $ command", which must succeed.

All of it runs in a directory that looks like the top of the tree after `make demo`, with a capture `output` beside
it. There `make` only says what it would do (the suite itself is one of its targets, and the programs are built),
pagers do not wait, and ntff-tui without --print is started on a terminal of its own and left with q.
Prints TAP. UPDATE=1 writes what came into the Markdown, where nothing is left out by "...".
"""
import os
import pty
import re
import select
import shlex
import subprocess
import sys
import time

SRC = os.environ["SRC"]
UPDATE = os.environ.get("UPDATE") == "1"
n = failed = 0


def result(good, name, *why):
    global n, failed
    n += 1
    if not good:
        failed += 1
        for line in "\n".join(why).splitlines()[:60]:
            print("#", line[:200])
    print("ok" if good else "not ok", n, "-", name, flush=True)


def run(command, shell="bash"):
    p = subprocess.run([shell, "-c", "set -eo pipefail\n" + command], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    # a reader that has seen enough is no failure
    status = 0 if p.returncode == 141 and re.search(r"\|\s*(head|grep -m)", command) else p.returncode
    return status, p.stdout.decode(errors="replace")


def on_terminal(command):
    """Starts a viewer, waits until it shows its last line, presses q; its exit status."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp("bash", ["bash", "-c", command])
    seen, end, status = b"", time.time() + 60, None
    while time.time() < end:
        if select.select([fd], [], [], 0.2)[0]:
            try:
                piece = os.read(fd, 65536)
            except OSError:
                piece = b""
            if not piece:
                status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                break
            seen += piece
        elif b"F1" in seen:
            os.write(fd, b"q")
    os.close(fd)
    if status is None:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        return 124, seen.decode(errors="replace")
    return status, seen.decode(errors="replace")


def is_viewer(command):
    words = shlex.split(command, comments=True)
    return bool(words) and os.path.basename(words[0]) == "ntff-tui" and \
        not any(w.split("=")[0] in ("--print", "--script", "--help", "--version") for w in words) and "|" not in command


def alike(got, want):
    """Lines are equal, "..." stands for anything."""
    pattern = "".join(r"(?:.*\n)*" if line.strip() == "..." else
                      ".*".join(re.escape(part) for part in line.rstrip().split("...")) + r"\n" for line in want)
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in got)) is not None


def shown(want):
    return "shown:", *("  " + w for w in want)


class Block:
    def __init__(self, path, line, language, comment):
        self.path, self.line, self.language, self.comment, self.text = path, line, language, comment, []

    @property
    def where(self):
        return f"{os.path.relpath(self.path, SRC)}:{self.line}"


def blocks(path):
    block, comment, open_comment = None, "", False
    for number, line in enumerate(open(path, encoding="utf-8").read().splitlines(), 1):
        if block is not None:
            if line.startswith("```"):
                yield block
                block, comment = None, ""
            else:
                block.text.append(line)
        elif open_comment or line.startswith("<!--"):
            comment = (comment + " " if open_comment else "") + line.strip()
            open_comment = "-->" not in line
        elif line.startswith("```"):
            block = Block(path, number, line[3:].strip(), re.sub(r"^<!--\s*|\s*-->$", "", comment))
        elif line.strip():
            comment = ""
    if block is not None:
        result(False, f"{block.where}: the block is never closed")


def console(block):
    """Yields (command, lines shown, index of the first of them)."""
    command, want, at = None, [], 0
    for i, line in enumerate(block.text):
        if line.startswith("$ "):
            if command is not None:
                yield command, want, at
            command, want, at = line[2:], [], i + 1
        elif line.startswith("> ") and not want:
            command, at = command + "\n" + line[2:], i + 1
        else:
            want.append(line)
    if command is not None:
        yield command, want, at


def check_console(block, new):
    for command, want, at in console(block):
        status, out = on_terminal(command) if is_viewer(command) else run(command)
        name = f"{block.where}: {command.splitlines()[0]}"
        got = out.splitlines()
        result(status == 0, name, f"exit status {status}", out)
        if want and status == 0:
            good = alike(got, want)
            if not good and UPDATE and not any("..." in w for w in want):
                new.append((block.line + at, len(want), got))
                good = True
            result(good, name + ": prints that", *got, *shown(want))


def check_screen(block, new):
    options, *commands = [c.strip() for c in block.comment[len("screen"):].split(";")]
    with open("screen.keys", "w", encoding="utf-8") as f:
        f.write("\n".join(commands) + "\ndump letters\n")
    status, out = run(f"ntff-tui --script screen.keys {options}")
    got = [line[1:].rstrip() for line in out.splitlines() if line.startswith("|")]
    want = [line.rstrip() for line in block.text]
    good = status == 0 and got == want
    if status == 0 and got and not good and UPDATE:
        new.append((block.line, len(want), got))
        good = True
    result(good, f"{block.where}: the screen", f"exit status {status}", *got, *shown(want))


def check_markdown(path):
    new = []
    for block in blocks(path):
        if block.comment.startswith("not run"):
            result(re.match(r"not run: \w+ \w+", block.comment) is not None,
                   f"{block.where}: says why it is not run", block.comment)
        elif block.language == "sh":
            status, out = run("\n".join(block.text))
            result(status == 0, f"{block.where}: {block.text[0]}", f"exit status {status}", out)
        elif block.language == "console":
            check_console(block, new)
        elif block.comment.startswith("screen"):
            check_screen(block, new)
        else:
            result(block.language in ("", "c", "text"), f"{block.where}: a language that is known")
            result(not any(line.startswith("$ ") for line in block.text), f"{block.where}: no command hides in it")
    if new:
        lines = open(path, encoding="utf-8").read().splitlines()
        for line, count, got in reversed(new):
            lines[line:line + count] = got
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")


def check_page(path):
    for number, line in enumerate(open(path, encoding="utf-8").read().splitlines(), 1):
        if line.startswith(".Dl $ "):
            command = line[6:].replace("\\-", "-").replace("\\&", "")
            status, out = run(command)
            result(status == 0, f"{os.path.basename(path)}:{number}: {command}", f"exit status {status}", out)


for path in sys.argv[1:]:
    (check_markdown if path.endswith(".md") else check_page)(path)
print(f"1..{n}")
sys.exit(failed > 0)
