#!/bin/bash
# What the world does to files: full disks, readers that go, signals, directories that are missing,
# links that lead back, files that cannot be read or still grow. For both programs.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
need_program "$tui"
in=$cases/a-delimited
"$tools/gen_ntrace" -n 60000 >large.pb 2>/dev/null

# -- standard output is full, or its reader goes
for what in "$conv -q -o -" "$conv -q -f chrome -o -" "$conv report" "$conv events -q" "$conv json -q" \
    "$conv info" "$conv dump -q $in/*/ntrace.pb --" "$tui --print"; do
    arg=$in
    [[ $what == *dump* ]] && arg=$(echo "$in"/*/ntrace.pb) && what="$conv dump -q"
    name=${what##*/}
    # shellcheck disable=SC2086 # words
    rc=0 && $what "$arg" >/dev/full 2>err || rc=$?
    is "$name: standard output is full" $rc 1
    says "$name: standard output is full: said" 'No space left' err
done
printf 'dump\n' >keys
rc=0 && "$tui" --script keys "$in" >/dev/full 2>err || rc=$?
is "ntff-tui --script: standard output is full" $rc 1
for what in "$conv -q -f chrome -o -" "$conv events -q" "$conv json -q"; do
    # shellcheck disable=SC2086
    { $what large.pb 2>err; echo $? >rc; } | head -c 100 >/dev/null
    ok "${what##*/}: the reader goes: ends by SIGPIPE or says so" grep -qx '141\|1' rc
done

# -- a disk that is full in the middle: a limit on the size of files does the same without a disk
for what in "$conv -q -o out/t.pftrace" "$conv -q -o out/t.json" "$conv events -q -o out/e.csv" \
    "$conv json -q -o out/j.json"; do
    mkdir out
    # shellcheck disable=SC2086
    rc=0 && (trap '' XFSZ; ulimit -f 64; exec $what large.pb) >out.log 2>err || rc=$?
    is "${what##*/}: no room for all: exit status" $rc 1
    says "${what##*/}: no room for all: said" 'File too large' err
    is "${what##*/}: no room for all: nothing is left" "$(ls -A out)" ""
    rmdir out 2>/dev/null || rm -rf out
done

# -- ended by a signal while it exports: the viewer leaves nothing either
printf 'type e\nkey C-u\ntype stopped/x.pftrace\nkey Enter\n%.0s' $(seq 60) >export.keys
for sig in TERM HUP; do
    mkdir stopped
    "$tui" --script export.keys large.pb >/dev/null 2>err &
    pid=$!
    for _ in $(seq 1000); do
        [ -n "$(ls -A stopped)" ] && break
        sleep 0.005
    done
    kill -s $sig $pid 2>/dev/null
    rc=0 && wait $pid || rc=$?
    ok "viewer, SIG$sig: ends by the signal" test $rc -gt 128
    ok "viewer, SIG$sig: no part of an export is left" bash -c '! ls -A stopped | grep -q tmp'
    rm -rf stopped
done

# -- where nothing can be written
for what in "$conv -q -f perfetto -o" "$conv events -q -f csv -o" "$conv report -o" "$conv json -q -o" "$conv dump -o"; do
    arg=$in
    [[ $what == *dump* ]] && arg=$(echo "$in"/*/ntrace.pb)
    # shellcheck disable=SC2086
    exits "${what##*/}: a directory that is not there" 1 $what missing/out.bin "$arg"
    says "${what##*/}: a directory that is not there: said" 'missing'
    # shellcheck disable=SC2086
    exits "${what##*/}: a directory that cannot be written" 1 $what /proc/out.bin "$arg"
done
printf 'type e\nkey C-u\ntype missing/x.pftrace\nkey Enter\ndump letters\n' >keys
exits "viewer: export into a directory that is not there" 0 "$tui" --script keys "$in"
says "viewer: export into a directory that is not there: said on its screen" 'missing' "$TMP/stdout"

# -- an output that is an input under another name
mkdir session real
cp "$in"/*/ntrace.pb real/mine.pb
ln -s ../real/mine.pb session/ntrace.pb
cp real/mine.pb copy.pb && ln copy.pb hard.pb
for what in "$conv -q -f perfetto --force -o" "$conv events -q -f csv --force -o" "$conv json -q --force -o"; do
    # shellcheck disable=SC2086
    exits "${what##*/}: what a link in the input directory leads to" 1 $what real/mine.pb session
    # shellcheck disable=SC2086
    exits "${what##*/}: a hard link to an input" 1 $what hard.pb copy.pb
done
printf 'type e\nkey C-u\ntype real/mine.pb\nkey Enter\ndump letters\n' >keys
"$tui" --script keys session >screen 2>err
says "viewer: an export over an input: refused" 'is an input' screen
same "inputs are untouched" real/mine.pb "$in"/*/ntrace.pb
same "inputs are untouched, hard links" copy.pb "$in"/*/ntrace.pb

# -- directories that go round
mkdir -p round/i-EXAMPLE0_pid_1
cp "$in"/*/ntrace.pb round/i-EXAMPLE0_pid_1/
ln -s .. round/i-EXAMPLE0_pid_1/up
ln -s ../../round round/i-EXAMPLE0_pid_1/again
ln -s self round/self
exits "links in a circle" 3 "$conv" -o round.pftrace --summary round.sum round
says "links in a circle: a link to itself is named" 'could not be read.*Too many levels'
is "links in a circle: each record once" "$(jq -c .records.in round.sum)" \
    "$("$conv" -q -o flat.pftrace --summary - "$in"/*/ntrace.pb | jq -c .records.in)"
mkdir -p "$(printf 'deep/%.0s' $(seq 30))"
cp "$in"/*/ntrace.pb deep/
exits "a tree of thirty levels: what is not looked into is said" 3 "$conv" -q -o deep.pftrace deep
exits "a tree of thirty levels: said" 3 "$conv" -o deep2.pftrace deep
says "a tree of thirty levels: said, where" 'too many levels of directories'

# -- one file that cannot be read: the others still convert
mkdir -p some/i-EXAMPLE0_pid_1
cp "$in"/*/*.pb some/i-EXAMPLE0_pid_1/
ln -s nowhere some/i-EXAMPLE0_pid_1/lost.ntff
exits "an unreadable file" 3 "$conv" -o some.pftrace --summary some.sum some
says "an unreadable file: named" 'could not be read: .*lost.ntff'
is "an unreadable file: the others convert" "$(jq -c .records.in some.sum)" "$(jq -c .records.in round.sum)"
exits "an unreadable file, the viewer" 3 "$tui" --print some
says "an unreadable file, the viewer: named" 'lost.ntff'

# -- a capture that is still being written: what is whole so far
whole=$(wc -c <large.pb)
: >grows.pb
for part in 1 2 3 4; do
    head -c $((whole * part / 4 - part)) large.pb >grows.pb
    rc=0 && "$conv" -q --force -o grows.pftrace --summary grows.sum grows.pb 2>err || rc=$?
    ok "written so far, $part of 4: exit status" test $rc = 3
    ok "written so far, $part of 4: all of it" \
        jq -e "(.records.in - .records.dropped) > 60000 * $part / 4 - 1500" grows.sum
done
cp large.pb grows.pb
mkfifo pipe
{ head -c 1000; cat large.pb >>grows.pb; cat; } <pipe >grows.json &
rc=0 && "$conv" -f chrome -o - grows.pb >pipe 2>err || rc=$?
wait $!
is "written to while it is read: exit status" $rc 3
says "written to while it is read: said" 'changed while it was read' err
ok "written to while it is read: the JSON is whole" jq empty grows.json

# -- two runs for one name: one of them wins, whole
mkdir both
for _ in 1 2 3; do
    "$conv" -q --force -o both/t.pftrace large.pb & p1=$!
    "$conv" -q --force -o both/t.pftrace "$in" & p2=$!
    wait $p1 && wait $p2
    is "two runs for one name: both end well" $? 0
    is "two runs for one name: one file" "$(ls -A both)" t.pftrace
done
ok "two runs for one name: it is whole" python3 "$SRC/tests/check_pftrace.py" both/t.pftrace
finish
