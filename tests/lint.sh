#!/bin/bash
# lint.sh [--quick] BUILD - what the compiler does not check; prints TAP.
#
# Quick (also part of `make check`): layering, headers on their own, what proto/ may call.
# Full (`make lint`): also clang-format, clang-tidy, cppcheck and shellcheck where they are installed.
# BUILD holds the built libraries.
set -u
cd "$(dirname "$0")/.." || exit 1
quick=0
[ "${1:-}" = --quick ] && { quick=1; shift; }
build=${1:?usage: lint.sh [--quick] BUILD}
cc=${CC:-gcc}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0 failed=0

# check NAME COMMAND...: its output explains a failure
check() {
    local name=$1
    shift
    n=$((n + 1))
    if "$@" >"$tmp/out" 2>&1; then
        echo "ok $n - $name"
    else
        sed 's/^/# /' "$tmp/out" | head -n 60
        echo "not ok $n - $name"
        failed=1
    fi
}
skip() {
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}

# -- layers ----------------------------------------------------------------------------------------------

# links FIRST whole with the archives it may use and nothing else
links_alone() {
    local first=$1 a objs=()
    shift
    for a in "$build/$first" "${@/#/$build/}"; do
        [ -e "$a" ] || { echo "$a is not built"; return 1; }
    done
    # an archive that is still empty has nothing to prove, and nothing to link
    [ -n "$(ar t "$build/$first")" ] || return 0
    for a; do objs+=("$build/$a"); done
    echo 'int main(void) { return 0; }' >"$tmp/main.c"
    # flags as the objects were built: sanitizers and coverage bring libraries of their own
    local extra=()
    case $build in
    *asan*) extra=("-fsanitize=address,undefined") ;;
    *cov*) extra=(--coverage) ;;
    esac
    # shellcheck disable=SC2046 # pkg-config prints words
    "$cc" "${extra[@]}" -o "$tmp/linked" "$tmp/main.c" \
        -Wl,--whole-archive "$build/$first" -Wl,--no-whole-archive "${objs[@]}" \
        $(pkg-config --libs libprotobuf-c zlib json-c) -lm
}

# no file of folder $1 includes a header of the folders after it
includes_none_of() {
    local folder=$1 other bad=0
    shift
    for other; do
        grep -n "#include \"$other/" "$folder"/*.[ch] 2>/dev/null && bad=1
    done
    return $bad
}

# pattern $1 occurs only in the files after it
only_in() {
    local pattern=$1 bad=0 hit file
    shift
    while IFS=: read -r hit _; do
        for file; do [ "$hit" = "$file" ] && continue 2; done
        echo "$hit includes $pattern"
        bad=1
    done < <(grep -n "#include.*$pattern" proto/*.[ch] perfetto/*.[ch] conv/*.[ch] tui/*.[ch] 2>/dev/null)
    return $bad
}

check "libntff stands alone" links_alone libntff.a
check "libpft needs libntff only" links_alone libpft.a libntff.a
check "libconv needs libpft and libntff only" links_alone libconv.a libpft.a libntff.a
check "libtui needs libpft and libntff only, and no curses" links_alone libtui.a libpft.a libntff.a
check "proto/ includes no other folder" includes_none_of proto perfetto conv tui tests
check "perfetto/ includes proto/ only" includes_none_of perfetto conv tui tests
check "conv/ does not include tui/" includes_none_of conv tui tests
check "tui/ does not include conv/" includes_none_of tui conv tests
check "curses only in tui/term.c and tui/main.c" only_in 'curses\.h' tui/term.c tui/main.c
check "generated headers only in proto/schema*.c" \
    only_in '\.pb-c\.h' proto/schema.c proto/schema_builtin.c
check "zlib only where bytes come in and go out" only_in '<zlib\.h>' proto/input.c proto/out.c proto/gzip.c

# -- proto/ prints nothing, never exits, keeps no state -----------------------------------------------------

own_members() { # objects of libntff.a that are not generated
    ar t "$build/libntff.a" | grep -v '\.pb-c\.o$'
}
calls_nothing_loud() {
    local o bad=0
    for o in $(own_members); do
        nm -u "$build/proto/$o" 2>/dev/null |
            grep -wE '_*(printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|perror|exit|_exit|quick_exit|abort)(_chk)?' |
            sed "s/^/$o calls/" | grep . && bad=1
        nm -u "$build/proto/$o" 2>/dev/null | grep -wE 'stdout|stderr' | sed "s/^/$o uses/" | grep . && bad=1
    done
    return $bad
}
keeps_no_globals() {
    local o bad=0
    for o in $(own_members); do
        # Relocated constants are in .data.rel.ro, so ask for the section. Two exceptions, for signal handlers:
        # out.c keeps the names of unfinished outputs, for ntff_out_emergency to remove; input.c the mapped
        # inputs, for ntff_input_fault to mend.
        objdump -t "$build/proto/$o" 2>/dev/null |
            awk -v o="$o" '$0 ~ / O / && $0 ~ /[ \t]\.(data|bss|tdata|tbss)[ \t]/ && !(o == "out.o" && $NF == "open_tmp") && !(o == "input.o" && $NF == "mapped") {
                print o ": writable " $NF; bad = 1 } END { exit bad }' || bad=1
    done
    return $bad
}
case $build in
*asan* | *cov*)
    skip "proto/ neither prints nor exits" "instrumented objects"
    skip "proto/ keeps no global state" "instrumented objects"
    ;;
*)
    check "proto/ neither prints nor exits" calls_nothing_loud
    check "proto/ keeps no global state" keeps_no_globals
    ;;
esac

# -- headers ----------------------------------------------------------------------------------------------

headers_alone() {
    local h bad=0
    for h in proto/*.h perfetto/*.h conv/*.h tui/*.h .package/*.h tests/*.h; do
        [ -e "$h" ] || continue
        printf '#include "%s"\n#include "%s"\n' "$h" "$h" >"$tmp/h.c"
        # shellcheck disable=SC2046
        "$cc" -std=c11 -D_GNU_SOURCE -DNTFF_VERSION='"0"' -Wall -Wextra -Werror -fsyntax-only -I. \
            -I"$build/gen" $(pkg-config --cflags libprotobuf-c zlib json-c ncursesw) "$tmp/h.c" || bad=1
    done
    return $bad
}
check "every header compiles alone, and twice" headers_alone

# -- style and static analysis ------------------------------------------------------------------------------

sources() { git ls-files -- '*.c' '*.h'; }
# Every source, one file a process; what it says goes to one file each, for xargs lets outputs mix.
tidy() {
    local flags
    flags=$(pkg-config --cflags libprotobuf-c zlib json-c ncursesw)
    mkdir -p "$tmp/tidy"
    sources | grep '\.c$' |
        xargs -P"${JOBS:-$(nproc)}" -I{} sh -c 'clang-tidy --quiet "$1" -- -std=c11 -D_GNU_SOURCE \
            -DNTFF_VERSION="\"0\"" -I. -I"$2/gen" '"$flags"' >"$3/$(echo "$1" | tr / _)" 2>&1' \
            sh {} "$build" "$tmp/tidy"
    [ "$(find "$tmp/tidy" -type f | wc -l)" -eq "$(sources | grep -c '\.c$')" ] || { echo "not all were read"; return 1; }
    cat "$tmp"/tidy/* | grep -E '(warning|error):' | sort -u | grep . && return 1
    return 0
}
# gcc's path analysis. Left out is what it cannot follow: in model.c a permutation, written whole before it is
# read; in schema.c a text that the list it was put into owns.
analyzer() {
    local flags
    flags=$(pkg-config --cflags libprotobuf-c zlib json-c ncursesw)
    sources | grep '^\(proto\|perfetto\|conv\|tui\)/.*\.c$' |
        xargs -P"$(nproc)" -I{} sh -c 'gcc -std=c11 -D_GNU_SOURCE -DNTFF_VERSION="\"0\"" -I. -I"$2/gen" -O1 \
            -fanalyzer -c -o /dev/null "$1" '"$flags"' 2>&1' sh {} "$build" >"$tmp/analyzer"
    grep 'warning:' "$tmp/analyzer" |
        grep -v -e '^proto/model\.c:.*uninitialized value .*back_' -e "^proto/schema\.c:.*leak of .copy" && return 1
    return 0
}
if [ $quick = 0 ]; then
    if command -v clang-format >/dev/null; then
        check "clang-format" sh -c "git ls-files -- '*.c' '*.h' | xargs clang-format --dry-run -Werror"
    else skip "clang-format" "not installed"; fi
    if [ "${TIDY:-1}" = 0 ]; then skip "clang-tidy" "TIDY=0: it takes longer than all the rest"
    elif command -v clang-tidy >/dev/null; then check "clang-tidy" tidy
    else skip "clang-tidy" "not installed"; fi
    if [ "${TIDY:-1}" = 0 ]; then skip "gcc -fanalyzer" "TIDY=0: it takes minutes"
    else check "gcc -fanalyzer" analyzer; fi
    if command -v cppcheck >/dev/null; then
        # left out: what it says about correct code here (compound literals it cannot parse, a pointer
        # tested in one branch and known in another)
        check "cppcheck" cppcheck --quiet --std=c11 --inline-suppr --error-exitcode=1 -j"$(nproc)" \
            --enable=warning,performance,portability --suppress=missingIncludeSystem -I. \
            -DNTFF_VERSION='"0"' -D_GNU_SOURCE --suppress=unknownMacro --suppress=internalAstError \
            --suppress=nullPointerRedundantCheck --suppress=arrayIndexOutOfBoundsCond \
            --suppress=arrayIndexThenCheck --suppress=autoVariables:proto/load.c \
            --suppress=memleak:tui/lod_build.c proto perfetto conv tui .package
    else skip "cppcheck" "not installed"; fi
    if command -v shellcheck >/dev/null; then
        check "shellcheck" sh -c "shellcheck -x -S warning .package/*.sh tests/run tests/*.sh tests/cli/*.sh tests/bench/*.sh samples/*.sh .ci/run"
    else skip "shellcheck" "not installed"; fi
fi
echo "1..$n"
exit $failed
