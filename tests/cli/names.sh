#!/bin/bash
# Names of results: the format by the suffix, the default name, and what is said of it; inputs that are
# results themselves; device time.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"

mkdir -p work session/i-EXAMPLE0_pid_1000
cp "$cases"/a-delimited/i-EXAMPLE0_pid_1000/*.pb session/i-EXAMPLE0_pid_1000/
cp "$cases"/e-device/i-EXAMPLE0_pid_1000/*vnc_0.ntff one.ntff
in=session/i-EXAMPLE0_pid_1000

# -- format by suffix -------------------------------------------------------------------------------------
"$conv" events -q -f csv "$in" >want.csv
"$conv" events -q -f tsv "$in" >want.tsv
"$conv" events -q -f jsonl "$in" >want.jsonl
for suffix in csv tsv jsonl; do
    exits "events -o .$suffix" 0 "$conv" events -q -o got.$suffix "$in"
    same "events -o .$suffix: that format" got.$suffix want.$suffix
    exits "events -o .$suffix.gz" 0 "$conv" events -q -o got.$suffix.gz "$in"
    gzip -dc got.$suffix.gz >got.unpacked
    same "events -o .$suffix.gz: that format" got.unpacked want.$suffix
    exits "table -o .$suffix" 0 "$conv" table -q -o table.$suffix SystemProfileEvents "$in"
    ok "table -o .$suffix: not empty" test -s table.$suffix
done
ok "table -o .jsonl: JSON" jq -e . table.jsonl
is "table -o .tsv: tabs" "$(head -n 1 table.tsv | tr -cd ',')" ""
for suffix in pftrace perfetto-trace pb; do
    exits "convert -o .$suffix" 0 "$conv" -q -o got.$suffix "$in"
    same "convert -o .$suffix: the same trace" got.$suffix got.pftrace
done
exits "convert -o .json.gz" 0 "$conv" -q -o got.json.gz "$in"
ok "convert -o .json.gz: JSON" bash -c 'gzip -dc got.json.gz | jq -e .traceEvents[0]'
exits "no suffix: Perfetto" 0 "$conv" -q -o plain "$in"
same "no suffix: the same trace" plain got.pftrace
exits "a name from mktemp" 0 "$conv" -q -o "$(mktemp -p . name.XXXXXX)" "$in"

# refused NAME PATTERN ARGS...
refused() {
    exits "$1" 2 "$conv" "${@:3}"
    says "$1: says why" "$2"
    is "$1: in one line" "$(wc -l <"$TMP/stderr")" 1
}
refused "convert -o .csv" 'x\.csv: no format has this suffix: \.pftrace, .*, or -f' -o x.csv "$in"
refused "convert -f chrome -o .pftrace" 'x\.pftrace: -f asks for another format' -f chrome -o x.pftrace "$in"
refused "convert -f perfetto -o .json.gz" 'x\.json\.gz: -f asks' -f perfetto -o x.json.gz "$in"
refused "events -o .json" 'x\.json: no format has this suffix: \.csv, \.tsv, \.jsonl, or -f' events -o x.json "$in"
refused "events -f csv -o .tsv" 'x\.tsv: -f asks' events -f csv -o x.tsv "$in"
refused "table -f csv -o .jsonl" 'x\.jsonl: -f asks' table -f csv -o x.jsonl Error "$in"
ok "nothing of these is left" test ! -e x.csv -a ! -e x.pftrace -a ! -e x.json -a ! -e x.tsv

# -- default names ----------------------------------------------------------------------------------------
cd work || exit 1
# named NAME WANT ARGS...: writes WANT, and says so where nobody could have known
named() {
    exits "$1" 0 "$conv" "${@:3}"
    is "$1: the name" "$(ls)" "$2"
    says "$1: is told" "ntff-conv: wrote $2: [0-9]+ spans"
    rm -f ./*
}
named "one file" ntrace.pb.pftrace ../$in/ntrace.pb
named "a directory" session.pftrace ../session/
named "files of a directory" i-EXAMPLE0_pid_1000.pftrace ../$in/ntrace.pb ../$in/cpu_util.pb
named "the same, as JSON" i-EXAMPLE0_pid_1000.json -f chrome ../$in/cpu_util.pb ../$in/ntrace.pb
named "files of two directories" ntrace.pb.pftrace ../$in/ntrace.pb ../one.ntff
cp ../$in/*.pb .
exits "files here" 0 "$conv" ntrace.pb cpu_util.pb
ok "files here: the name" test -s work.pftrace
rm -f ./*
rc=0
"$conv" - <../$in/ntrace.pb 2>err || rc=$?
is "standard input" $rc 0
says "standard input: the name is told" 'wrote stdin\.pftrace: ' err
rm -f ./*
exits "--quiet" 0 "$conv" -q ../session
silent "--quiet: says nothing"
rm -f ./*
cd ..

# -- inputs that are no captures --------------------------------------------------------------------------
"$conv" -q -o t.json "$in"
gzip -k t.json
for command in convert info report events; do
    exits "$command of a Perfetto trace" 1 "$conv" $command got.pftrace
    says "$command of a Perfetto trace: says what it is" 'got\.pftrace: this is a Perfetto trace, not a capture'
    exits "$command of a Chrome trace" 1 "$conv" $command t.json.gz
    says "$command of a Chrome trace: says what it is" 't\.json\.gz: this is a Chrome trace, not a capture'
done

# captures that are still packed: with and without a mark in the header, inside gzip
tar -cf packed.tar session
tar -czf packed.tgz session
tar --format=v7 -cf old.tar session
python3 -c 'import zipfile; zipfile.ZipFile("packed.zip", "w").write("one.ntff")'
for file in packed.tar packed.tgz old.tar packed.zip; do
    kind=tar
    [ $file = packed.zip ] && kind=zip
    exits "$file" 1 "$conv" -o packed.pftrace $file
    says "$file: says what it is, and what to do" "^ntff-conv: $file: this is a $kind archive; unpack it and give the directory\$"
    exits "$file: dump" 1 "$conv" dump $file
    says "$file: dump says so too" "$file: this is a $kind archive"
    exits "$file and a capture" 3 "$conv" -o packed.pftrace $file "$in"
    says "$file and a capture: it is named" "left out: $file .*$kind archive; unpack it"
    mkdir -p beside && cp -r $file session beside/
    rm -f packed.pftrace
done
head -c 512 old.tar | tr i j >damaged.tar # the sum does not fit
exits "no archive" 1 "$conv" -o packed.pftrace damaged.tar
is "no archive: is not called one" "$(grep -c archive "$TMP/stderr")" 0
exits "archives beside a capture" 0 "$conv" -v -o packed.pftrace beside
says "archives beside a capture: not read" '4 files are of another kind and were not read'
same "archives beside a capture: the same events" <("$conv" events -q beside) <("$conv" events -q session)

if [ -x "$tui" ]; then
    exits "ntff-tui of a tar archive" 1 "$tui" --print packed.tgz
    says "ntff-tui of a tar archive: says what it is" '^ntff-tui: packed\.tgz: this is a tar archive; unpack it'
    exits "ntff-tui of a Perfetto trace" 1 "$tui" --print got.pftrace
    says "ntff-tui of a Perfetto trace: says what it is" '^ntff-tui: got\.pftrace: this is a Perfetto trace, not a capture$'
fi

# -- device time ------------------------------------------------------------------------------------------
exits "a device profile alone" 0 "$conv" -o t.pftrace one.ntff
says "a device profile alone: device time is said" \
    'shown in device time.*the session directory with its ntrace\.pb aligns them'
exits "a device profile alone: report" 0 "$conv" report one.ntff
says "a device profile alone: report names the clock" '^  time .*, device time, begins at 0$' "$TMP/stdout"
says "a device profile alone: report has the hint" 'ntrace\.pb aligns them' "$TMP/stdout"
is "a device profile alone: no date" "$(grep -c 1970 "$TMP/stdout")" 0
exits "a device profile alone: info" 0 "$conv" info one.ntff
is "a device profile alone: info has no date" "$(grep -c 1970 "$TMP/stdout")" 0
exits "a device profile alone: events" 1 "$conv" events one.ntff
says "a device profile alone: events point to --device" 'no runtime events in the input; --device'
silent "a device profile alone: events write nothing" "$TMP/stdout"
exits "a device profile alone: events --device" 0 "$conv" events -q --device one.ntff
for mode in device recorded; do
    exits "--clock $mode" 0 "$conv" -o t3.pftrace --force --clock $mode "$cases/e-device"
    says "--clock $mode: device time is said" 'shown in device time'
    is "--clock $mode: no way out of what was asked for" "$(grep -c 'aligns them' "$TMP/stderr")" 0
    exits "--clock $mode: report" 0 "$conv" report --clock $mode "$cases/e-device"
    is "--clock $mode: report has no hint" "$(grep -c 'aligns them' "$TMP/stdout")" 0
done
exits "aligned: not a word of device time" 0 "$conv" -o t2.pftrace "$cases/e-device"
is "aligned: no hint" "$(grep -c 'device time' "$TMP/stderr")" 0
finish
