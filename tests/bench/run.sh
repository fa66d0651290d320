#!/bin/bash
# make bench: speed, memory and size of a conversion as ratios, all taken in one run on one machine.
#
# The yardstick is bare_walk, a loop that reads every field of the same file and does nothing with it.
# Wanted (the last column says whether it was reached):
#   Perfetto at >= 1/5 and Chrome JSON at >= 1/10 of its speed; peak memory <= input + 64 B an event
#   + 64 MiB; time linear from N to 8 N events within 20 %; --no-args <= 40 bytes a span, with --compact
#   <= 35; each annotation its value and <= 4 bytes; memory for event JSON independent of its length;
#   records of device profiles at >= 25 M/s and >= 1/12 of a bare sum over the same bytes.
#
# BENCH_EVENTS (default 1000000) is N; RUNS (default 5) of which the fastest counts; BENCH_VIEWER_EVENTS
# (default 10000000) is the size of the viewer's made trace. BENCH_BIG=0 leaves out the 8 N part, which
# needs 1.2 GB in $BENCH_DIR (default $TMPDIR or /tmp).
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
missed=0

# calc EXPRESSION -> number
calc() { awk "BEGIN { printf \"%.6f\", $1 }"; }
# row WHAT VALUE UNIT WANTED CONDITION
row() {
    local verdict=""
    if [ -n "$5" ]; then
        if awk "BEGIN { exit !($2 $5) }"; then verdict=yes; else verdict=NO missed=1; fi
    fi
    printf '  %-46s %10.3f %-10s %-22s %s\n' "$1" "$2" "$3" "$4" "$verdict"
}
# lower VARIABLE VALUE: sets it to VALUE if that is lower, or if it is empty
lower() {
    if [ -z "${!1}" ] || awk "BEGIN { exit !($2 < ${!1}) }"; then printf -v "$1" %s "$2"; fi
}
# run ARGS...: converts, sets wall, cpu (user + system), peak (KiB): the best of all runs. The yardstick
# is taken anew between them, so that both have their chance of a quiet moment.
run() {
    local status i w c p
    wall='' cpu='' peak=0
    for ((i = 0; i < runs; i++)); do
        read -r w c p status < <("$tools/measure" -n 1 "$conv" --quiet --force "$@")
        [ "$status" = 0 ] || { echo "bench: ntff-conv $* ended with $status" >&2; exit 1; }
        lower wall "$w"
        lower cpu "$c"
        [ "$p" -gt "$peak" ] && peak=$p
        read -r w _ < <("$tools/bare_walk" "$in" 3)
        lower walk "$w"
    done
}
size() { stat -c %s "$1"; }
# limit of peak memory in KiB for an input of $1 bytes and $2 events
limit() { calc "($1 + 64 * $2) / 1024 + 65536"; }

in=$dir/ntrace.pb
"$tools/gen_ntrace" -n "$n" >"$in" 2>/dev/null
bytes=$(size "$in")
read -r walk _ < <("$tools/bare_walk" "$in" 9)
echo "ntrace.pb: $n events, $bytes bytes; $(nproc) processors; best of $runs runs"
row "bare walk" "$(calc "$bytes / $walk / 1e9")" GB/s "" ""

echo "speed and memory"
for form in perfetto chrome; do
    out=$dir/out.$form
    run -f $form -o "$out" "$in"
    [ $form = perfetto ] && share=5 || share=10
    row "$form: events" "$(calc "$n / $wall / 1e6")" "M/s" "" ""
    row "$form: bare walk's time is 1/x of it, x =" "$(calc "$wall / $walk")" "" "<= $share" "<= $share"
    row "$form: of its processor time, x =" "$(calc "$cpu / $walk")" "" "" ""
    row "$form: peak memory" "$(calc "$peak / 1024")" MiB \
        "<= $(calc "$(limit "$bytes" "$n") / 1024" | cut -d. -f1)" "<= $(limit "$bytes" "$n") / 1024"
    row "$form: output" "$(calc "$(size "$out") / 1e6")" MB "" ""
    [ $form = perfetto ] && wall_perfetto=$wall
    rm -f "$out"
done
run -f perfetto -o /dev/null "$in" 2>/dev/null && row "perfetto to /dev/null: events" \
    "$(calc "$n / $wall / 1e6")" "M/s" "" ""

echo "triage"
# timed COMMAND...: sets wall
timed() { read -r wall _ < <("$tools/measure" -n "$runs" "$conv" "$@" 2>/dev/null); }
timed info --quiet "$in"
load=$wall
timed report --quiet -o "$dir/out.report" --force "$in"
row "report: times the load" "$(calc "$wall / $load")" "" "<= 1.3" "<= 1.3"
timed events --quiet -f csv -o /dev/null "$in"
row "events -f csv: bare walk's time is 1/x of it, x =" "$(calc "$wall / $walk")" "" "<= 10" "<= 10"

echo "size of the Perfetto output"
for flags in "--no-args" "--no-args --compact" "" "--compact"; do
    # shellcheck disable=SC2086 # flags are words
    "$conv" --quiet --force -f perfetto $flags -o "$dir/out.pftrace" "$in"
    read -r each all < <(python3 "$src/tests/span_bytes.py" "$dir/out.pftrace")
    case $flags in
    "--no-args") want="<= 40" ;;
    "--no-args --compact") want="<= 35" ;;
    *) want="" ;;
    esac
    row "bytes a span${flags:+, $flags}" "$each" B "$want" "$want"
    row "  file over spans (instants, counters, names)" "$all" B "" ""
    spans=$(calc "$(size "$dir/out.pftrace") / $all")
done
gzip -c "$dir/out.pftrace" | wc -c >"$dir/gz"
row "bytes a span, --compact and gzip" "$(calc "$(cat "$dir/gz") / $spans")" B "" ""
rm -f "$dir"/out.*

echo "device profiles: notification records to spans"
"$tools/bench_ntff" "$((8 * n))" "$runs" || missed=1

echo "event JSON, one line, read as a stream"
"$tools/gen_ntrace" -n $((n / 8)) -f json >"$dir/small.json" 2>/dev/null
"$tools/gen_ntrace" -n "$n" -f json >"$dir/big.json" 2>/dev/null
run -f perfetto -o "$dir/out.pftrace" "$dir/small.json"
peak_small=$peak
run -f perfetto -o "$dir/out.pftrace" "$dir/big.json"
json_bytes=$(size "$dir/big.json")
row "JSON" "$(calc "$json_bytes / $wall / 1e6")" MB/s "" ""
row "JSON: peak memory for $((json_bytes / 1000000)) MB" "$(calc "$peak / 1024")" MiB "" ""
# what it keeps an event: the model and the record for later questions, but not the text (~330 bytes)
row "JSON: memory an event, growth" \
    "$(calc "($peak - $peak_small) * 1024 / ($n * 7 / 8)")" B "<= 240" "<= 240"
rm -f "$dir"/*.json "$dir"/out.*

if [ "${BENCH_BIG:-1}" != 0 ]; then
    echo "growth: $n to $((8 * n)) events"
    "$tools/gen_ntrace" -n $((8 * n)) >"$dir/big.pb" 2>/dev/null
    big=$(size "$dir/big.pb")
    runs=2
    run -f perfetto -o "$dir/out.pftrace" "$dir/big.pb"
    row "perfetto: time is x times 8, x =" "$(calc "$wall / $wall_perfetto / 8")" "" "<= 1.2" "<= 1.2"
    row "perfetto: peak memory" "$(calc "$peak / 1024")" MiB \
        "<= $(calc "$(limit "$big" $((8 * n))) / 1024" | cut -d. -f1)" "<= $(limit "$big" $((8 * n))) / 1024"
fi
# the viewer: index and frames on a made trace, time to the first frame, bytes on the line
"$tools/bench_tui" "${BENCH_VIEWER_EVENTS:-10000000}" || missed=1
"$tools/bench_tui" --load "$in" || missed=1
"$tools/bench_tui" --tty "$BUILD/ntff-tui" "$in" || missed=1

[ $missed = 0 ] || echo "Not everything was reached."
exit $missed
