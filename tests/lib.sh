# lib.sh - helpers for tests/cli/*.sh; source it first: . "$SRC/tests/lib.sh"
# Prints TAP. Every helper is one test; the first argument of each is its name.
# shellcheck shell=bash
set -u
_n=0 _failed=0
conv=$BUILD/ntff-conv
tui=$BUILD/ntff-tui
tools=$BUILD/tools
cases=$SRC/tests/data/cases
export conv tui tools cases

pass() {
    _n=$((_n + 1))
    echo "ok $_n - $1"
}
# fail NAME [EXPLANATION...]
fail() {
    _n=$((_n + 1)) _failed=1
    [ $# -gt 1 ] && printf '%s\n' "${@:2}" | sed 's/^/# /'
    echo "not ok $_n - $1"
}
skip() { # NAME REASON
    _n=$((_n + 1))
    echo "ok $_n - $1 # SKIP $2"
}

# ok NAME COMMAND...: the command succeeds; what it printed explains a failure
ok() {
    local out
    if out=$("${@:2}" 2>&1); then pass "$1"; else fail "$1" "${*:2} -> $?" "$(head -n 60 <<<"$out")"; fi
}
# is NAME GOT WANT
is() {
    if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "got  $2" "want $3"; fi
}
# exits NAME STATUS COMMAND...: exit status; leaves its output in $TMP/stdout and $TMP/stderr
exits() {
    local rc=0
    "${@:3}" >"$TMP/stdout" 2>"$TMP/stderr" </dev/null || rc=$?
    if [ $rc = "$2" ]; then
        pass "$1"
    else
        fail "$1" "exit status $rc, want $2" "$(head -n 20 "$TMP/stderr")"
    fi
}
# says NAME PATTERN [FILE]: an extended regular expression in FILE (default $TMP/stderr)
says() {
    local file=${3:-$TMP/stderr}
    if grep -Eq -- "$2" "$file"; then pass "$1"; else fail "$1" "no line matches $2" "$(head -n 20 "$file")"; fi
}
# silent NAME [FILE]: FILE (default $TMP/stderr) is empty
silent() {
    local file=${2:-$TMP/stderr}
    if [ ! -s "$file" ]; then pass "$1"; else fail "$1" "$(head -n 20 "$file")"; fi
}
# same NAME FILE FILE: equal bytes
same() {
    if cmp -s "$2" "$3"; then pass "$1"; else fail "$1" "$(cmp "$2" "$3" 2>&1)" "$(diff "$2" "$3" 2>&1 | head -n 30)"; fi
}
# golden NAME GOT EXPECTED: equal to a committed file; UPDATE=1 (make golden) writes it
golden() {
    if [ "${UPDATE:-0}" = 1 ]; then
        mkdir -p "$(dirname "$3")" && cp "$2" "$3"
    fi
    same "$@"
}
# Is this program built? A test of one that is not yet there skips as a whole.
need_program() {
    [ -x "$1" ] || { echo "1..0 # SKIP $(basename "$1") is not built"; exit 0; }
}

finish() {
    echo "1..$_n"
    exit $_failed
}
