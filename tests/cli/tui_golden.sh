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
printf 'size 80x24\nkey e\nkey C-u\ntype %s\nkey Enter\ndump letters\n' "$TMP/range.pftrace" >export.keys
exits "export" 0 "$tui" --script export.keys "$cases/a-delimited"
says "export: says what it wrote" 'wrote [0-9]+ spans' "$TMP/stdout"
ok "export: a file" test -s range.pftrace
exits "export again" 0 "$tui" --script export.keys "$cases/a-delimited"
says "export again: asks" 'exists; replace it' "$TMP/stdout"
finish
