#!/usr/bin/env python3
"""complete.py bash|zsh DIRECTORY [LINE EXPECTED]... - types each line and a tab into a shell that has read the
completions in DIRECTORY, and prints what stands on the command line when EXPECTED does, or after 20 seconds."""
import os
import pty
import select
import sys
import time

shell, directory = sys.argv[1:3]
pairs = list(zip(sys.argv[3::2], sys.argv[4::2]))
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", HOME=os.getcwd(), ZDOTDIR=os.getcwd(), INPUTRC="/dev/null", HISTFILE="/dev/null")
    os.execvp(shell, {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}[shell])


def read(until, seconds=20.0):
    out, end = "", time.time() + seconds
    while until not in out and time.time() < end:
        if select.select([fd], [], [], 0.2)[0]:
            try:
                out += os.read(fd, 65536).decode(errors="replace")
            except OSError:
                break
    return out


def send(text, until):
    os.write(fd, text.encode())
    return read(until)


setup = {
    "bash": f"PS1='> '; bind 'set bell-style none'; for f in '{directory}'/*.bash; do . \"$f\"; done; echo rea''dy\n",
    "zsh": f"PS1='> '; unsetopt beep; fpath=('{directory}' $fpath); autoload -Uz compinit && compinit -D -u; echo rea''dy\n",
}[shell]
send(setup, "ready\r\n")
for i, (line, expected) in enumerate(pairs):
    out = send(line + "\t", expected)
    print(out[out.rfind(line):].split("\r")[0].rstrip(" ,\x07"), flush=True)
    send(f"\x15echo ne''xt{i}\n", f"next{i}\r\n")
os.write(fd, b"exit\n")
os.close(fd)
