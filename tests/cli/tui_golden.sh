#!/bin/bash
# Screens of the viewer against committed ones, letter by letter and style by style. tests/tui/NAME.keys
# is a script; its first line says what it runs on:
#   #: play RECIPE    a made trace (tests/made.h)       #: ascii RECIPE    the same with ASCII glyphs
#   #: tui INPUT...   ntff-tui on captures of tests/data/cases
# The expected output is NAME.screen; make golden writes it anew.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$tools/tui_play"

for keys in "$SRC"/tests/tui/*.keys; do
    name=$(basename "$keys" .keys)
    read -r _ how what <"$keys"
    case $how in
    play | ascii)
        "$tools/tui_play" ${how/play/--} "$what" "$keys" >"$name.out" 2>"$name.err"
        ;;
    tui)
        # shellcheck disable=SC2086 # words
        (cd "$cases" && "$tui" --script "$keys" $what) >"$name.out" 2>"$name.err"
        ;;
    esac
    is "$name: runs" "$?" 0
    silent "$name: no complaints" "$name.err"
    golden "$name: screens" "$name.out" "${keys%.keys}.screen"
    # whatever the locale says: a script draws the same
    if [ "$how" != tui ]; then
        LC_ALL=C "$tools/tui_play" ${how/play/--} "$what" "$keys" >"$name.c" 2>&1
        same "$name: the same in the C locale" "$name.c" "$name.out"
    fi
done

# -- one page as text ----------------------------------------------------------------------------------
capture="a-delimited --schema schema.desc"
page() { # NAME ARGS...
    # shellcheck disable=SC2086 # words
    (cd "$cases" && "$tui" --print $capture "${@:2}") >"$1.out" 2>"$1.err"
    is "print $1: runs" "$?" 0
    golden "print $1: page" "$1.out" "$SRC/tests/tui/print_$1.txt"
}
page whole --width 100
page range --width 80 --from 5.9ms --to 6.4ms --track 'NC0|neuron_rt NC0'
page ascii --width 90 --ascii --from 70%
LC_ALL=C page c_locale --width 90 --from 70%
same "print: C locale means ASCII" c_locale.out ascii.out
exits "print: --track that matches nothing" 1 "$tui" --print --track nosuch "$cases/a-delimited"
says "print: --track that matches nothing: says so" 'no track matches nosuch'
exits "print: bad --track" 2 "$tui" --print --track '(' "$cases/a-delimited"
exits "print: bad --from" 2 "$tui" --print --from yesterday "$cases/a-delimited"
exits "print: --to before --from" 2 "$tui" --print --from 5ms --to 1ms "$cases/a-delimited"
exits "print: bad --width" 2 "$tui" --print --width 7 "$cases/a-delimited"

# -- mistakes ------------------------------------------------------------------------------------------
exits "no terminal" 2 "$tui" "$cases/a-delimited"
says "no terminal: says what works without" 'not a terminal; --print and --script'
exits "no input" 2 "$tui"
exits "unknown option" 2 "$tui" --no-such-option x
says "unknown option: is named" 'no-such-option'
exits "missing value" 2 "$tui" x --width
exits "no such file" 1 "$tui" --print nowhere
says "no such file: is named" 'nowhere'
mkdir nothing
exits "empty directory" 1 "$tui" --print nothing
printf 'jump\n' >bad.keys
exits "bad script" 2 "$tui" --script bad.keys "$cases/a-delimited"
says "bad script: says where" 'line 1: no such command'
exits "missing script" 1 "$tui" --script nowhere.keys "$cases/a-delimited"
exits "--help" 0 "$tui" --help
says "--help: on standard output" 'Usage' "$TMP/stdout"
exits "--version" 0 "$tui" --version

# -- export --------------------------------------------------------------------------------------------
# the same range by the viewer and by the converter: the same trace but for the program's name
export_script() { # NAME FROM TO
    printf 'size 80x24\nkey t\ntype %s\nkey Enter m t\ntype %s\nkey Enter m e C-u\ntype %s\nkey Enter\ndump letters\n' \
        "$2" "$3" "$TMP/$1.pftrace" >"$1.keys"
}
spans() { # FILE: every span and instant, times, names, arguments
    python3 - "$SRC" "$1" <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/tests")
import pftrace
t = pftrace.read(sys.argv[2])
for s in sorted(map(repr, t.slices)):
    print(s)
END
}
export_script range 5.9ms 6.3ms
exits "export" 0 "$tui" --script range.keys "$cases/a-delimited"
says "export: says what it wrote" 'wrote [0-9]+ spans' "$TMP/stdout"
exits "export: the converter's" 0 "$conv" --from 5.9ms --to 6.3ms -o conv.pftrace "$cases/a-delimited"
if command -v python3 >/dev/null; then
    spans range.pftrace >range.txt 2>&1
    spans conv.pftrace >conv.txt 2>&1
    ok "export: some spans" test "$(wc -l <range.txt)" -gt 20
    same "export: as the converter writes it" range.txt conv.txt
else
    skip "export: as the converter writes it" "no python3"
fi
exits "export again" 0 "$tui" --script range.keys "$cases/a-delimited"
says "export again: asks" 'exists; replace it' "$TMP/stdout"
cp -r "$cases/a-delimited" session && chmod -R u+w session
sed "s|$TMP/range|session/x|; s|80x24|200x24|" range.keys >inside.keys
exits "export into the input directory" 0 "$tui" --script inside.keys session
says "export into the input directory: refused" 'session/x.pftrace: lies in the input directory session' "$TMP/stdout"
is "export into the input directory: nothing is there" "$(find session -name 'x*')" ""
mkdir aside && ln -s ../aside session/o
sed 's|session/x|session/o/x|' inside.keys >linked.keys
exits "export to where a link in the input leads" 0 "$tui" --script linked.keys session
says "export to where a link in the input leads: refused" 'session/o/x.pftrace: lies in the input directory session/o' "$TMP/stdout"
is "export to where a link in the input leads: nothing is there" "$(ls -A aside)" ""
rm -r session/o aside
exits "export beside files named one by one" 0 "$tui" --script inside.keys session/*/ntrace.pb
ok "export beside files named one by one: is there" test -s session/x.pftrace
sed "s|$TMP/range|$TMP/nowhere/x|; s|80x24|200x24|" range.keys >nowhere.keys
exits "export to nowhere" 0 "$tui" --script nowhere.keys "$cases/a-delimited"
says "export to nowhere: says why" 'nowhere/.*[Nn]o such file' "$TMP/stdout"
# what the viewer does not write, and what is none
export_as() { # FILE [KEYS BEFORE]
    printf 'size 160x24\n%b\nkey e C-u\ntype %s\nkey Enter\ndump letters\n' "${2:-say as it is}" "$1"
}
export_as other.json >json.keys
exits "export as .json" 0 "$tui" --script json.keys "$cases/a-delimited"
says "export as .json: says what there is" 'only Perfetto traces.*\.pb.*not other\.json' "$TMP/stdout"
export_as other.json.gz >json.keys
exits "export as .json.gz" 0 "$tui" --script json.keys "$cases/a-delimited"
says "export as .json.gz: refused" 'only Perfetto traces' "$TMP/stdout"
is "export as .json: nothing is there" "$(find . -maxdepth 1 -name 'other*')" ""
export_as ./part.pb.gz 'key f\ntype NC0\nkey Enter' >part.keys
exits "export of the tracks shown" 0 "$tui" --script part.keys "$cases/a-delimited"
says "export of the tracks shown: says so" 'wrote [0-9]+ spans.* of the tracks shown to ./part.pb.gz' "$TMP/stdout"
ok "export as .pb.gz: compressed" gzip -t part.pb.gz
export_as none.pftrace 'key f\ntype nosuch\nkey Enter' >none.keys
exits "export of no track" 0 "$tui" --script none.keys "$cases/a-delimited"
says "export of no track: refused" 'nothing to export' "$TMP/stdout"
is "export of no track: nothing is there" "$(find . -maxdepth 1 -name 'none.pftrace*')" ""

# -- said at the start ---------------------------------------------------------------------------------
printf 'size 120x10\ndump letters\n' >start.keys
exits "a filter that matches nothing" 0 "$tui" --script start.keys --core 9 "$cases/a-delimited"
says "a filter that matches nothing: the status line says so" '1 filter matches nothing: --core 9.*i tells more' "$TMP/stdout"
exits "--track that matches nothing" 0 "$tui" --script start.keys --track nosuch "$cases/a-delimited"
says "--track that matches nothing: the status line says so" 'track nosuch: no track matches' "$TMP/stdout"
printf 'hello there' >hello.txt
exits "no capture" 1 "$tui" --print hello.txt
says "no capture: says why" 'no framing that fits.*begins 68 65'
says "no capture: and what there is not" 'no events found'
alone=$(find "$cases" -name '*.ntff' | sort | head -n 1)
exits "a bare number in device time" 0 "$tui" --print --from 5 "$alone"
says "a bare number in device time: how it was taken" 'from 5: taken as 5 ns; did you mean 5s or 5ms'
exits "a bare number in device time, on the screen" 0 "$tui" --script start.keys --from 5 "$alone"
says "a bare number in device time: the status line says so" 'from 5: taken as 5 ns' "$TMP/stdout"
exits "a time with its unit" 0 "$tui" --print --from 5ns "$alone"
silent "a time with its unit: no question" "$TMP/stderr"

# -- about this trace ----------------------------------------------------------------------------------
printf 'size 60x200\nkey i\ndump letters\n' >about.keys
exits "about two processes" 0 "$tui" --script about.keys "$cases/b-bare-raw"
says "about two processes: a clock says whose it is" 'pid 1001, NC[0-9]+ core [0-9]+' "$TMP/stdout"
says "about two processes: of a long path the file name shows" '^\| file +….*/ntrace\.pb$' "$TMP/stdout"
finish
