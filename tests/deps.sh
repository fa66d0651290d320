#!/bin/sh
# deps.sh PACKAGE... - makes sure Debian packages are there, or says how to get them.
#
# What counts is the thing itself, not the package database: a compiler built by hand is as good.
# Nothing missing: silent, exit 0, a few milliseconds. Something missing: as root with apt, installs
# it; else prints the exact line to run and exits 1. NO_APT=1 never installs.
set -u

# What a package is wanted for: a program or a pkg-config module. Others ask dpkg.
have() {
    case $1 in
    gcc | make | jq | tmux | python3 | cppcheck | shellcheck) command -v "$1" >/dev/null 2>&1 ;;
    clang | clang-format | clang-tidy | valgrind | mandoc | zsh | lintian | git) command -v "$1" >/dev/null 2>&1 ;;
    pkg-config) command -v pkg-config >/dev/null 2>&1 ;;
    dpkg-dev) command -v dpkg-shlibdeps >/dev/null 2>&1 ;;
    groff-base) command -v groff >/dev/null 2>&1 ;;
    procps) command -v ps >/dev/null 2>&1 ;;
    protobuf-compiler) command -v protoc >/dev/null 2>&1 ;;
    protobuf-c-compiler) command -v protoc-c >/dev/null 2>&1 ;;
    libprotobuf-c-dev) pkg-config --exists libprotobuf-c 2>/dev/null ;;
    zlib1g-dev) pkg-config --exists zlib 2>/dev/null ;;
    libjson-c-dev) pkg-config --exists json-c 2>/dev/null ;;
    libncurses-dev) pkg-config --exists ncursesw 2>/dev/null ;;
    libc6-dev) test -e /usr/include/stdio.h ;;
    *) dpkg -s "$1" 2>/dev/null | grep -q '^Status: .* installed' ;;
    esac
}

missing=
for package; do
    have "$package" || missing="$missing $package"
done
# Debian's gcc only recommends the C library's headers, and recommended packages are left out below.
case " $* " in
*" gcc "*) have libc6-dev || missing="$missing libc6-dev" ;;
esac
[ -z "$missing" ] && exit 0

line="apt-get update && apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && [ "${NO_APT:-0}" != 1 ]; then
    echo "installing:$missing" >&2
    log=$(mktemp)
    # shellcheck disable=SC2086 # one word per package
    if apt-get update >"$log" 2>&1 &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing \
            >>"$log" 2>&1; then
        rm -f "$log"
        exit 0
    fi
    tail -n 20 "$log" >&2
    rm -f "$log"
fi
echo "These packages are missing. Run, as root:" >&2
echo "  $line" >&2
exit 1
