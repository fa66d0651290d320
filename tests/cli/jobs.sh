#!/bin/bash
# -j: the same bytes and the same words whatever the number of threads.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"

# large enough for threads, in both forms records come in; cut in the middle; a record damaged
"$tools/gen_ntrace" -n 40000 >events.pb 2>/dev/null
"$tools/gen_ntrace" -n 20000 -f bare -c 2 >info.pb 2>/dev/null
head -c 2000001 events.pb >torn.pb
{ printf '\003\020\200\200'; cat events.pb; } >damaged.pb
# a session of many files none of which is; one cut, one damaged, one of another form, JSON between
for i in 1 2 3 4 5 6 7 8; do
    mkdir -p session/i-0123456789abcdef0_pid_$i
    "$tools/gen_ntrace" -n 2000 -s $i >session/i-0123456789abcdef0_pid_$i/ntrace.pb 2>/dev/null
done
truncate -s -100 session/i-0123456789abcdef0_pid_2/ntrace.pb
{ printf '\003\020\200\200'; head -c 70000 events.pb; } >session/i-0123456789abcdef0_pid_4/ntrace.pb
"$tools/gen_ntrace" -n 2000 -f bare -s 5 >session/i-0123456789abcdef0_pid_5/ntrace.pb 2>/dev/null
"$tools/gen_ntrace" -n 500 -f json -s 6 >session/i-0123456789abcdef0_pid_6/events.json 2>/dev/null
: >session/i-0123456789abcdef0_pid_7/ntrace.pb

# run DIR JOBS INPUT OPTIONS...: converts in a directory of its own, so that names are the same
run() {
    mkdir -p "$1"
    (
        cd "$1" || exit
        "$conv" -j "$2" --force --summary sum.json -o out "${@:4}" "../$3" >words 2>&1
        echo "exit status $?" >>words
    )
}
for input in events.pb info.pb torn.pb damaged.pb session; do
    for options in "-f perfetto" "-f chrome" "-f perfetto --compact --no-args" "-f perfetto --redact"; do
        # shellcheck disable=SC2086 # options are words
        run one 1 $input $options
        for jobs in 2 3 8; do
            # shellcheck disable=SC2086
            run many $jobs $input $options
            for file in out sum.json words; do
                same "$input, $options, $jobs threads: $file" one/$file many/$file
            done
        done
    done
done

"$conv" -j1 -q -f perfetto -o one.gz events.pb
"$conv" -j4 -q -f perfetto -o many.gz events.pb
same "gzip, 4 threads" one.gz many.gz
"$conv" info -j1 events.pb >one.info
"$conv" info -j4 events.pb >many.info
same "info, 4 threads" one.info many.info
for input in events info torn damaged; do
    "$conv" report -j1 --json --top 1000000 $input.pb >one.report 2>&1
    "$conv" report -j4 --json --top 1000000 $input.pb >many.report 2>&1
    same "report of $input, 4 threads" one.report many.report
done

for bad in 0 -1 x 2x 99999 ""; do
    exits "-j '$bad'" 2 "$conv" -q --force -j "$bad" -o out events.pb
done
finish
