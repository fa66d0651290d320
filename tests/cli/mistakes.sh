#!/bin/bash
# What users get wrong: every mistake ends with one clear line, the right exit status, and no debris.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"

capture=$cases/a-delimited/i-EXAMPLE0_pid_1000
mkdir in out
cp "$capture"/*.pb in/

# nothing_left NAME: out/ is empty, so no temporary or partial file stayed
nothing_left() { is "$1: nothing is left behind" "$(ls -A out)" ""; }
# refused NAME PATTERN ARGS...: exit 1, a line that matches, not a long text, nothing written
refused() {
    exits "$1" 1 "$conv" -o out/t.pftrace "${@:3}"
    says "$1: says why" "$2"
    is "$1: is brief" "$(($(wc -l <"$TMP/stderr") <= 4))" 1
    nothing_left "$1"
}

# -- usage ------------------------------------------------------------------------------------------------
exits "no argument" 2 "$conv"
says "no argument: says how to get help" '[Uu]sage|--help'
exits "unknown option" 2 "$conv" --no-such-option in
says "unknown option: is named" 'no-such-option'
exits "mistyped option" 2 "$conv" --frm 1s in
says "mistyped option: the one that was meant" 'unknown option --frm; did you mean --from\?$'
exits "shortened option" 2 "$conv" --no-s in
says "shortened option: what it may be" 'ambiguous option --no-s: --no-system --no-semaphores$'
exits "mistyped command" 2 "$conv" conver in
says "mistyped command: the one that was meant" 'conver: no such file and no command; did you mean convert\?$'
exits "a path that is no command" 1 "$conv" ./conver
exits "unknown letter" 2 "$conv" -x in
says "unknown letter: is named" 'unknown option -x'
# in the middle of a word of letters, behind another option; no ASCII; control bytes; in both programs
for program in conv tui; do
    mistaken() { # NAME PATTERN ARGS...
        exits "$program: $1" 2 "${!program}" "${@:3}"
        says "$program: $1: is named" "^ntff-$program: unknown option $2( |\$)"
    }
    mistaken "unknown letter before others" '-Z' --no-flows -Zq in
    mistaken "unknown letter, first word" '-Z' -Zq in
    mistaken "no ASCII behind a long option" '-\\xC3' --no-flows -é in
    mistaken "no ASCII alone" '-\\xC3' -é
    mistaken "a control byte" '-\\x1B' $'-\e[2J' in
    exits "$program: --help=1" 2 "${!program}" --help=1
    says "$program: --help=1: is named" 'help=1: takes no value'
done
exits "an option without its value" 2 "$conv" -o
says "an option without its value: is named" '-o: needs a value'
exits "a value too many" 2 "$conv" --force=1 in
says "a value too many: is named" '--force=1: takes no value'
for command in convert events report table dump json diff; do
    exits "$command: -o with an empty name" 2 "$conv" $command -o '' in in
    says "$command: -o with an empty name: says so" '--output: the name of the file is empty'
done
exits "diff: a third operand" 2 "$conv" diff in in third
says "diff: a third operand: is named" 'third: one operand too many'
exits "schema --help" 0 "$conv" schema --help
says "schema --help: nothing behind [OPTIONS]" '^Usage: ntff-conv schema \[OPTIONS\]$' "$TMP/stdout"
exits "ntff-tui without an input" 2 "$tui"
says "ntff-tui without an input: one prefix" '^ntff-tui: an input is missing'
exits "unknown format" 2 "$conv" -f pdf in
exits "bad --from" 2 "$conv" --from 12parsecs -o out/t.pftrace in
exits "--from after --to" 2 "$conv" --from 2s --to 1s -o out/t.pftrace in
nothing_left "usage errors"
exits "--help" 0 "$conv" --help
says "--help: on standard output" '[Uu]sage' "$TMP/stdout"
exits "--version" 0 "$conv" --version
"$conv" --help >overview.txt
"$conv" json --help >json.txt
for words in "help" "-h" "help help"; do
    # shellcheck disable=SC2086 # words
    exits "$words" 0 "$conv" $words
    same "$words: as --help" stdout overview.txt
done
for words in "help json" "--help json" "-h json"; do
    # shellcheck disable=SC2086 # words
    exits "$words" 0 "$conv" $words
    same "$words: as json --help" stdout json.txt
done
exits "help of no command" 2 "$conv" help jso
says "help of no command: the one that was meant" '^ntff-conv: jso: no such command; did you mean json\?$'

# -- wrong input ------------------------------------------------------------------------------------------
refused "missing path" 'nowhere.*[Nn]o such file' nowhere
mkdir empty
refused "empty directory" 'ntff-conv: empty: no events found in 0 files; looked for ntrace\.pb' empty
exits "diff with an empty directory" 1 "$conv" diff in empty
says "diff with an empty directory: which" '^ntff-conv: empty: no events found in 0 files;'
mkdir other && cp in/trace_info.pb other/
refused "nothing in several" 'other and 1 other: no events found in 1 file; looked for' other empty
cp /bin/true in_elf
refused "a program" 'in_elf' in_elf
printf '\x89PNG\r\n\x1a\n\0\0\0\rIHDR' >picture.png
refused "a picture" 'picture\.png' picture.png
echo "hello" >text.txt
refused "a text file" 'text\.txt' text.txt
: >zero.pb
refused "an empty file" 'zero\.pb' zero.pb
head -c 4096 /dev/zero >zeros.pb
refused "zeros" 'zeros\.pb' zeros.pb

# content, not name, decides
cp "$cases"/e-device/i-EXAMPLE0_pid_1000/*vnc_0.ntff misnamed-ntrace.pb
exits "an .ntff named ntrace.pb: info" 0 "$conv" info misnamed-ntrace.pb
says "an .ntff named ntrace.pb: info knows it" 'ntff|device profile' "$TMP/stdout"
cp in/ntrace.pb misnamed.ntff
exits "an ntrace.pb named .ntff" 0 "$conv" -q -o out/t.pftrace misnamed.ntff
ok "an ntrace.pb named .ntff: is converted" test -s out/t.pftrace
rm -f out/*
# a container version from the future, or the past: said, with the supported one
for version in 4 200; do
    { printf "\\x$(printf %x $version)"; tail -c +2 misnamed-ntrace.pb; } >version.ntff
    exits ".ntff of version $version: info goes on" 0 "$conv" info version.ntff
    cat "$TMP/stdout" "$TMP/stderr" >both
    says ".ntff of version $version: said, with what is supported" "$version.*6|6.*$version" both
done

# -- damaged ----------------------------------------------------------------------------------------------
mkdir cut
head -c 20000 in/ntrace.pb >cut/ntrace.pb
exits "a cut file: written with losses" 3 "$conv" -o out/t.pftrace cut/ntrace.pb
says "a cut file: is named, with the offset" 'cut/ntrace\.pb.*0x[0-9a-f]+'
ok "a cut file: the rest is there" test -s out/t.pftrace
rm -f out/*
exits "a cut file, --strict" 1 "$conv" --strict -o out/t.pftrace cut/ntrace.pb
nothing_left "a cut file, --strict"
gzip -c in/ntrace.pb | head -c 3000 >cut/ntrace.pb.gz
exits "a cut gzip file: written with losses" 3 "$conv" -o out/t.pftrace cut/ntrace.pb.gz
says "a cut gzip file: is named" 'cut/ntrace\.pb\.gz'
rm -f out/*
mkdir mixed
cp in/*.pb mixed/ && cp -r cut/ntrace.pb mixed/ntrace_2.pb && cp zero.pb picture.png mixed/
exits "a good file beside bad ones" 3 "$conv" -o out/t.pftrace mixed
ok "a good file beside bad ones: is converted" test -s out/t.pftrace
rm -f out/*

# -- output -----------------------------------------------------------------------------------------------
echo precious >out/t.pftrace
exits "output exists" 1 "$conv" -o out/t.pftrace in
says "output exists: says --force" '--force'
is "output exists: is untouched" "$(cat out/t.pftrace)" precious
exits "output exists, --force" 0 "$conv" --force -o out/t.pftrace in
ok "output exists, --force: is replaced" test "$(wc -c <out/t.pftrace)" -gt 1000
is "output exists, --force: mode bits are the usual ones" "$(stat -c %a out/t.pftrace)" 644
is "output exists, --force: nothing else is left" "$(ls -A out)" t.pftrace
rm -f out/*
cp in/ntrace.pb same.pb
exits "output is the input" 1 "$conv" --force -o same.pb same.pb
says "output is the input: says so" 'same\.pb'
same "output is the input: the input is untouched" same.pb in/ntrace.pb
ln same.pb linked.pb
exits "output is the input by another name" 1 "$conv" --force -o linked.pb same.pb
same "output is the input by another name: untouched" same.pb in/ntrace.pb
exits "output in a directory of the input" 1 "$conv" --force -o in/ntrace.pb in
same "output in a directory of the input: untouched" in/ntrace.pb same.pb
exits "no such directory" 1 "$conv" -o nowhere/t.pftrace in
says "no such directory: is named" 'nowhere/'
exits "output is a directory" 1 "$conv" --force -o out in
nothing_left "output is a directory"

# default name: the input's, in the current directory, nothing in the input's
mkdir -p session/i-EXAMPLE0_pid_1000 work && cp in/*.pb session/i-EXAMPLE0_pid_1000/
before=$(find session | sort)
(cd work && "$conv" -q ../session) >/dev/null 2>&1
is "default name: in the current directory" "$(ls -A work)" session.pftrace
is "default name: nothing is written beside the input" "$(find session | sort)" "$before"

# -- full disk --------------------------------------------------------------------------------------------
if [ -e /dev/full ]; then
    rc=0
    "$conv" -q -o - in >/dev/full 2>err || rc=$?
    is "full disk on standard output: exit status" $rc 1
    says "full disk on standard output: says so" '[Nn]o space' err
fi
# to_full NAME ARGS...: nothing that is printed gets lost in silence
to_full() {
    rc=0
    "$conv" "${@:2}" >/dev/full 2>err || rc=$?
    is "$1 on a full disk: exit status" $rc 1
    says "$1 on a full disk: says so" 'standard output: .*[Nn]o space' err
}
if [ -e /dev/full ]; then
    to_full "--help" --help
    to_full "--version" --version
    to_full "info" info in
    to_full "info --json" info --json in
    to_full "dump" dump in/ntrace.pb
    to_full "events" events in
    to_full "schema" schema
    to_full "table --list" table --list
    rc=0
    [ ! -x "$tui" ] || "$tui" --help >/dev/full 2>err || rc=$?
    [ ! -x "$tui" ] || is "ntff-tui --help on a full disk: exit status" $rc 1
fi
# a file size limit fails like a full disk, half way through
rc=0
(
    trap '' XFSZ
    ulimit -f 8
    exec "$conv" -q -f chrome -o out/t.json in
) 2>err || rc=$?
is "no room for the whole output: exit status" $rc 1
says "no room for the whole output: says so" 't\.json.*([Ff]ile too large|[Nn]o space)' err
nothing_left "no room for the whole output"
for command in "dump -o out/t" "table --all -o out/" "events -o out/t" "schema -f table -o out/t"; do
    operand=in
    case $command in
    dump*) operand=in/ntrace.pb ;;
    schema*) operand= ;;
    esac
    # shellcheck disable=SC2086
    (
        trap '' XFSZ
        ulimit -f 1
        exec "$conv" $command $operand
    ) 2>err && fail "$command: no room"
    says "$command: no room: names the file" 'ntff-conv: out/.*([Ff]ile too large|[Nn]o space)' err
    rm -rf out/*
done
mkdir small
if mount -t tmpfs -o size=16k tmpfs small 2>/dev/null; then
    exits "full disk" 1 "$conv" -q -f chrome -o small/t.json in
    says "full disk: says so" 'small/t\.json.*[Nn]o space'
    is "full disk: nothing is left behind" "$(ls -A small)" ""
    umount small
else
    skip "full disk" "cannot mount a small tmpfs here"
fi

# -- permissions ------------------------------------------------------------------------------------------
chmod 755 "$TMP"
as_nobody=()
[ "$(id -u)" = 0 ] && as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
cp "$conv" ntff-conv # the checkout itself may be out of reach for another user
if "${as_nobody[@]}" ./ntff-conv --version >/dev/null 2>&1; then
    cp in/ntrace.pb locked.pb && chmod 000 locked.pb
    exits "no permission to read" 1 "${as_nobody[@]}" ./ntff-conv -o /dev/null locked.pb
    says "no permission to read: says so" 'locked\.pb.*[Pp]ermission denied'
    mkdir -m 755 readonly
    [ "$(id -u)" = 0 ] || chmod 555 readonly
    exits "no permission to write" 1 "${as_nobody[@]}" ./ntff-conv -o readonly/t.pftrace in
    says "no permission to write: says so" 'readonly/.*[Pp]ermission denied'
    # one unreadable file in a session: the others go on
    mkdir part && cp in/*.pb part/ && cp locked.pb part/cpu_util.pb && chmod 000 part/cpu_util.pb
    exits "one file of a session unreadable" 3 "${as_nobody[@]}" ./ntff-conv -o - part
    says "one file of a session unreadable: is named" 'part/cpu_util\.pb'
    chmod 644 locked.pb part/cpu_util.pb
else
    skip "no permission" "cannot run as another user here"
fi

# -- pipes ------------------------------------------------------------------------------------------------
"$conv" -q -f chrome -o - in 2>err | head -c 100 >/dev/null
is "a reader that goes away: at most one line" "$(($(wc -l <err) <= 1))" 1
"$conv" -q -f chrome -o - - <in/ntrace.pb >piped.json 2>err
"$conv" -q -f chrome -o - in/ntrace.pb >named.json
is "standard input: as many events as from the file" \
    "$(grep -c '"ph":"X"' piped.json)" "$(grep -c '"ph":"X"' named.json)"

# an engine there is not
exits "--engine of a name that is no engine" 2 "$conv" --engine PE,Foo -o t.json "$cases/e-device"
says "--engine: says which there are" "expected a list of PE" "$TMP/stderr"
exits "--engine of engines and CC-cores" 0 "$conv" -q --engine "^tensor, ACT ,CC-core" -o t.json "$cases/e-device"

# filters that match nothing are named, with what there is
matches_nothing() { # STATUS PATTERN ARGS...
    exits "${*:3}: matches nothing" "$1" "$conv" -o out/t.pftrace "${@:3}" "$device"
    says "${*:3}: says so" "^ntff-conv: $2\$"
    is "${*:3}: once" "$(grep -c 'match' "$TMP/stderr")" 1
    rm -f out/*
}
device=$cases/e-device
is "core 7 is not there" "$("$conv" events "$device" --columns nc_idx | grep -cx 7)" 0
matches_nothing 0 '1 filter matches nothing: --core 7 \(there is NC0(, NC[0-9])*\)' --core 7
matches_nothing 1 '1 filter matches nothing: --process 7 \(there is 1000\)' --process 7
matches_nothing 1 '1 filter matches nothing: --instance i-7 \(there is i-EXAMPLE0\)' --instance i-7
matches_nothing 0 '1 filter matches nothing: --queue q7 \(there is .+\)' --queue q7
matches_nothing 0 '1 filter matches nothing: --engine CC-core \(there is Tensor.*\)' --engine CC-core
matches_nothing 1 '2 filters match nothing; first: --core 7 \(there is NC0.*\), then --process 7 \(there is 1000\)' \
    --core 7 --process 7
matches_nothing 1 '1 filter matches nothing: --core 7 \(there is NC0.*\)' --core 7 --no-system
exits "--core 7: report says so" 0 "$conv" report --core 7 "$device"
says "--core 7: report says so" '--core 7 \(there is NC0'
exits "a filter that matches: nothing to say" 0 "$conv" -o out/t.pftrace --core 0 --queue ^q7 --engine PE "$device"
silent "a filter that matches: nothing is said"
rm -f out/*
if [ -x "$tui" ]; then
    exits "ntff-tui: a filter that matches nothing" 1 "$tui" --print --process 7 "$device"
    says "ntff-tui: a filter that matches nothing: is named" 'ntff-tui: 1 filter matches nothing: --process 7 \(there is 1000\)'
    exits "ntff-tui: mistyped option" 2 "$tui" --frm 1s "$device"
    says "ntff-tui: mistyped option: the one that was meant" 'unknown option --frm; did you mean --from\?'
fi

# names of --args
for suffix in pftrace json; do
    exits "--args of names that no event has, .$suffix" 0 "$conv" -o out/t.$suffix --args "exec_idd, model_id,zzz,exec_idd,zzz" "$device"
    is "--args: these are named once, with the nearest there is, .$suffix" "$(cat "$TMP/stderr")" \
        "ntff-conv: --args: no event has exec_idd; did you mean exec_id?
ntff-conv: --args: no event has zzz"
    rm -f out/*
done

# blanks in a list
"$conv" -q --args "exec_id,model_id" -o dense.json "$cases/e-device"
"$conv" -q --args " exec_id , model_id " -o blanks.json "$cases/e-device"
same "--args: blanks between names do not matter" blanks.json dense.json
finish
