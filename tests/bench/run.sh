#!/bin/bash
# make bench: speed, memory and size as ratios, all taken in one run on one machine; intro.md says
# against what. The last column tells whether the wanted figure was reached. With BENCH_MD=FILE the
# same rows go there as Markdown.
#
# BENCH_EVENTS (default 1000000) is N, the events of the bench file; RUNS (default 5) of which the
# fastest counts; BENCH_VIEWER_EVENTS (default 10000000) is the size of the viewer's made trace.
# BENCH_BIG=0 leaves out the 8 N part, which needs 1.2 GB in $BENCH_DIR (default $TMPDIR or /tmp).
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$src/build/release}
n=${BENCH_EVENTS:-1000000}
runs=${RUNS:-5}
tools=$BUILD/tools
conv=$BUILD/ntff-conv
dir=$(mktemp -d "${BENCH_DIR:-${TMPDIR:-/tmp}}/ntff-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

# calc EXPRESSION -> number
calc() { awk "BEGIN { printf \"%.6f\", $1 }"; }
# row WHAT VALUE UNIT [WANTED], WANTED like "<= 5"; what is missed is noted in $dir/missed
row() {
    local verdict=""
    if [ -n "${4:-}" ]; then
        if awk "BEGIN { exit !($2 $4) }"; then verdict=yes; else verdict=NO && : >"$dir/missed"; fi
    fi
    printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${4:-}" "$verdict"
}
# Rows of a program, which ends with 1 if it missed something.
rows_of() { "$@" || : >"$dir/missed"; }
# lower VARIABLE VALUE: sets it to VALUE if that is lower, or if it is empty
lower() {
    if [ -z "${!1}" ] || awk "BEGIN { exit !($2 < ${!1}) }"; then printf -v "$1" %s "$2"; fi
}
size() { stat -c %s "$1"; }
# one_run COMMAND...: sets w, c (wall and processor seconds), p (peak KiB); output is discarded
one_run() {
    local status
    read -r w c p status < <("$tools/measure" "$@" 2>/dev/null)
    [ "$status" = 0 ] || { echo "bench: $* ended with $status" >&2; exit 1; }
}
# run OUTPUT ARGS...: converts, sets wall, cpu, peak: the best of all runs. The yardsticks, bare walks
# and with TURNS=1 a run by one thread (sets one), are taken anew between them, so that all have their
# chance of a quiet moment.
run() {
    local i
    wall='' cpu='' peak=0 one=''
    for ((i = 0; i < runs; i++)); do
        if [ -n "${TURNS:-}" ]; then
            [ "$1" = /dev/null ] || rm -f "$1"
            one_run "$conv" --quiet --force -j 1 -o "$@"
            lower one "$w"
        fi
        [ "$1" = /dev/null ] || rm -f "$1"
        one_run "$conv" --quiet --force -o "$@"
        lower wall "$w"
        lower cpu "$c"
        [ "$p" -gt "$peak" ] && peak=$p
        read -r w _ < <("$tools/bare_walk" "$in" 3)
        lower walk "$w"
    done
}
# timed COMMAND...: sets wall
timed() {
    local i
    wall=''
    for ((i = 0; i < runs; i++)); do
        one_run "$@"
        lower wall "$w"
    done
}
# limit of peak memory in MiB for an input of $1 bytes and $2 events
limit() { calc "($1 + 64 * $2) / 1048576 + 64" | cut -d. -f1; }

speed() {
    local form share one TURNS=1
    echo "== Speed and memory: ntrace.pb of $n events, $bytes bytes, $(nproc) processors"
    for form in perfetto chrome; do
        out=$dir/out.$form
        share=10
        [ $form = perfetto ] && share=5
        run "$out" -f $form "$in"
        row "$form, one thread: time, bare walks" "$(calc "$one / $walk")" "" \
            "$([ $form = perfetto ] && echo "<= 3")"
        row "$form: time, bare walks" "$(calc "$wall / $walk")" "" "<= $share"
        row "$form: processor time, bare walks" "$(calc "$cpu / $walk")" ""
        row "$form: speed with all processors over one thread" "$(calc "$one / $wall")" "" \
            "$([ $form = perfetto ] && [ "$(nproc)" -gt 1 ] && echo ">= 1.6")"
        row "$form: peak memory" "$(calc "$peak / 1024")" MiB "<= $(limit "$bytes" "$n")"
        row "$form: output" "$(calc "$(size "$out") / 1e6")" MB
        [ $form = perfetto ] && wall_perfetto=$wall
        rm -f "$out"
    done
    run /dev/null -f perfetto "$in"
    row "perfetto to /dev/null: time, bare walks" "$(calc "$wall / $walk")" ""
    run "$dir/out.gz" -f perfetto "$in"
    row "perfetto, gzip: time over that without" "$(calc "$wall / $wall_perfetto")" ""
    row "perfetto, gzip: speed with all processors over one thread" "$(calc "$one / $wall")" ""
    rm -f "$dir"/out.*
    many_files
    two_at_once
}

# What two processors of this machine can do at most: two conversions that share nothing.
two_at_once() {
    [ "$(nproc)" -gt 1 ] || return 0
    run "$dir/out.pftrace" -f perfetto "$in"
    # shellcheck disable=SC2016 # for the shell below
    timed sh -c 'out=$1 && shift && "$@" -o "$out.1" & first=$! && out=$1 && shift && "$@" -o "$out.2" &&
        wait $first' sh "$dir/out" "$conv" --quiet --force -j 1 -f perfetto "$in"
    row "perfetto: two runs by one thread at once: throughput" "$(calc "2 * $one / $wall")" ""
    rm -f "$dir"/out.*
}

# The same number of events as a session of many processes, no file large enough to be divided.
many_files() {
    local i files=200
    for ((i = 1; i <= files; i++)); do
        mkdir -p "$dir/session/i-0123456789abcdef0_pid_$i"
        "$tools/gen_ntrace" -n $((n / files)) -s $i \
            >"$dir/session/i-0123456789abcdef0_pid_$i/ntrace.pb" 2>/dev/null
    done
    run "$dir/out.pftrace" -f perfetto "$dir/session"
    row "perfetto, $files files: all processors over one thread" "$(calc "$one / $wall")" ""
    rm -rf "$dir/session" "$dir"/out.*
}

growth() {
    local big
    [ "${BENCH_BIG:-1}" != 0 ] || return 0
    "$tools/gen_ntrace" -n $((8 * n)) >"$dir/big.pb" 2>/dev/null
    sync "$dir/big.pb" # that it is written to the disk meanwhile is not ours
    big=$(size "$dir/big.pb")
    run "$dir/out.pftrace" -f perfetto "$dir/big.pb"
    row "perfetto: time of 8 times as many events, over 8 times" \
        "$(calc "$wall / $wall_perfetto / 8")" "" "<= 1.2"
    row "perfetto: peak memory then" "$(calc "$peak / 1024")" MiB "<= $(limit "$big" $((8 * n)))"
    rm -f "$dir/big.pb" "$dir"/out.*
}

# Other programs on the same file, or as many spans.
others() {
    echo "== Other programs, in times of ours (Perfetto output, all processors)"
    timed sh -c "cat '$in' >'$dir/copy' && rm '$dir/copy'"
    row "cat into a file" "$(calc "$wall / $wall_perfetto")" ""
    if command -v protoc >/dev/null; then
        "$tools/gen_ntrace" -n "$n" -f bare >"$dir/bare.pb" 2>/dev/null
        one_run sh -c "protoc --decode_raw <'$dir/bare.pb'"
        row "protoc --decode_raw, to /dev/null" "$(calc "$w / $wall_perfetto")" ""
        rm -f "$dir/bare.pb"
    fi
    if command -v uftrace >/dev/null; then
        "${CC:-gcc}" -O1 -pg -o "$dir/calls" -x c - <<'C'
#include <stdlib.h>
static void __attribute__((noinline)) span(long i) { __asm__ volatile("" ::"r"(i)); }
int main(int argc, char **argv)
{
    for (long i = 0, n = argc > 1 ? atol(argv[1]) : 0; i < n; i++)
        span(i);
    return 0;
}
C
        uftrace record --no-libcall -d "$dir/uftrace" "$dir/calls" "$spans" >/dev/null 2>&1
        timed sh -c "uftrace dump --chrome -d '$dir/uftrace' >'$dir/out.json'"
        row "uftrace dump --chrome, $spans spans without arguments" "$(calc "$wall / $wall_perfetto")" ""
        rm -rf "$dir/uftrace" "$dir"/out.*
    fi
}

triage() {
    local load
    echo "== Triage, same file"
    timed "$conv" info --quiet "$in"
    load=$wall
    timed "$conv" report --quiet -o "$dir/out.report" --force "$in"
    row "report: time, over the load's" "$(calc "$wall / $load")" "" "<= 1.3"
    timed "$conv" events --quiet -f csv -o /dev/null "$in"
    row "events -f csv: time, bare walks" "$(calc "$wall / $walk")" "" "<= 10"
}

# size_row WHAT WANTED WANTED_GZIP ARGS...: bytes of a span's two packets, without the ids of arrows;
# then the whole file, with arrows, instants, counters and descriptors, over its spans
size_row() {
    local each all what=$1 want=$2 packed=$3
    shift 3
    "$conv" --quiet --force -f perfetto "$@" -o "$dir/out.pftrace" "$in"
    read -r each all < <(python3 "$src/tests/span_bytes.py" "$dir/out.pftrace")
    row "$what" "$each" B "$want"
    row "$what, whole file over its spans" "$all" B
    spans=$(calc "$(size "$dir/out.pftrace") / $all" | cut -d. -f1)
    "$conv" --quiet --force -f perfetto "$@" -o "$dir/out.pftrace.gz" "$in"
    row "$what, whole file, gzip" "$(calc "$(size "$dir/out.pftrace.gz") / $spans")" B "$packed"
    rm -f "$dir"/out.*
}

sizes() {
    local two="--args event_type,thread_id"
    echo "== Size of the Perfetto output, bytes a span"
    size_row "--no-args" "<= 40" "" --no-args
    size_row "--no-args --compact" "<= 35" "" --no-args --compact
    # shellcheck disable=SC2086 # an option and its value
    size_row "two small annotations" "<= 55" "<= 18" $two
    # shellcheck disable=SC2086
    size_row "two small annotations, --compact" "<= 48" "<= 15" $two --compact
    size_row "all annotations" "" ""
    size_row "all annotations, --compact" "" "" --compact
}

json() {
    local peak_small big
    echo "== Event JSON, one line, read as a stream"
    "$tools/gen_ntrace" -n $((n / 8)) -f json >"$dir/small.json" 2>/dev/null
    "$tools/gen_ntrace" -n "$n" -f json >"$dir/big.json" 2>/dev/null
    run "$dir/out.pftrace" -f perfetto "$dir/small.json"
    peak_small=$peak
    run "$dir/out.pftrace" -f perfetto "$dir/big.json"
    big=$(size "$dir/big.json")
    row "speed" "$(calc "$big / $wall / 1e6")" MB/s
    row "peak memory for $((big / 1000000)) MB" "$(calc "$peak / 1024")" MiB
    # the model and the record for later questions, but not the text (~330 bytes)
    row "memory an event, growth" "$(calc "($peak - $peak_small) * 1024 / ($n * 7 / 8)")" B "<= 240"
    rm -f "$dir"/*.json "$dir"/out.*
}

viewer() {
    local made=${BENCH_VIEWER_EVENTS:-10000000}
    rows_of "$tools/bench_tui" "$made"
    rows_of "$tools/bench_tui" --load "$in"
    rows_of "$tools/bench_tui" --tty "$BUILD/ntff-tui" "$in"
}

all() {
    in=$dir/ntrace.pb
    "$tools/gen_ntrace" -n "$n" >"$in" 2>/dev/null
    bytes=$(size "$in")
    read -r walk _ < <("$tools/bare_walk" "$in" 9)
    speed
    growth
    triage
    sizes
    others
    rows_of "$tools/bench_ntff" "$((8 * n))" "$runs"
    json
    viewer
}

: >"$dir/table.md"
all | awk -v md="${BENCH_MD:+$dir/table.md}" -v intro="$src/tests/bench/intro.md" -f "$src/tests/bench/show.awk"
[ -z "${BENCH_MD:-}" ] || cp "$dir/table.md" "$BENCH_MD"
[ ! -e "$dir/missed" ] || { echo "Not everything was reached."; exit 1; }
