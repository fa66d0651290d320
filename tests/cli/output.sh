#!/bin/bash
# Where the output goes and what is left when it does not get there.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
in=$cases/a-delimited

exits "convert, said or not" 0 "$conv" convert -o said.pftrace "$in"
exits "convert, not said" 0 "$conv" -o not.pftrace "$in"
same "convert, said or not: the same" said.pftrace not.pftrace
silent "convert: nothing to say, nothing said"

# a signal in the middle leaves nothing, and the shell sees the signal
"$tools/gen_ntrace" -n 400000 >large.pb 2>/dev/null
for sig in INT TERM HUP; do
    mkdir stopped
    env "$conv" -q -f chrome -o stopped/t.json large.pb 2>err &
    pid=$!
    for _ in $(seq 400); do
        [ -n "$(ls -A stopped)" ] && break
        sleep 0.01
    done
    # a shell without job control starts what runs in the background with INT ignored: then only TERM counts
    kill -s $sig $pid
    [ $sig = INT ] && kill -s TERM $pid
    rc=0
    wait $pid || rc=$?
    ok "SIG$sig: ends by the signal" test $rc -gt 128
    is "SIG$sig: nothing is left" "$(ls -A stopped)" ""
    rmdir stopped 2>/dev/null || rm -rf stopped
done

# links: an output that is a link goes where the link points
mkdir far && touch far/real.pftrace && ln -s far/real.pftrace link.pftrace
exits "output is a link" 0 "$conv" -o link.pftrace "$in"
ok "output is a link: it still is" test -L link.pftrace
same "output is a link: its target is written" far/real.pftrace said.pftrace
ln -s far/none.pftrace dangling.pftrace
exits "output is a link to nothing yet" 0 "$conv" -o dangling.pftrace "$in"
ok "output is a link to nothing yet: it still is a link" test -L dangling.pftrace
same "output is a link to nothing yet: what it leads to is written" far/none.pftrace said.pftrace
rm far/none.pftrace
exits "output is a link to nothing yet, --force" 0 "$conv" --force -o dangling.pftrace "$in"
ok "output is a link to nothing yet, --force: it still is a link" test -L dangling.pftrace
same "output is a link to nothing yet, --force: what it leads to is written" far/none.pftrace said.pftrace
ln -s nowhere/t.pftrace lost.pftrace
exits "output is a link into no directory" 1 "$conv" -o lost.pftrace "$in"
says "output is a link into no directory: which" 'cannot create a file in nowhere/: No such file'
ln -s round.pftrace round.pftrace
exits "output is a link to itself" 1 "$conv" -o round.pftrace "$in"
says "output is a link to itself: says so" '^ntff-conv: round\.pftrace: Too many levels of symbolic links'
cp "$in"/*/ntrace.pb mine.pb && ln -s mine.pb mine.pftrace
exits "output is a link to an input" 1 "$conv" --force -o mine.pftrace mine.pb
same "output is a link to an input: untouched" mine.pb "$in"/*/ntrace.pb

# a protobuf library writes the same number of bytes: every length and number is in its shortest form, and
# no field is one the format does not have
for flags in "" "--no-args" "--compact"; do
    # shellcheck disable=SC2086 # flags are words
    "$conv" -q -f perfetto $flags -o - "$in" >canonical.pftrace
    protoc -I"$SRC" --decode=pft.Trace perfetto/perfetto_subset.proto <canonical.pftrace >canonical.txt
    is "protobuf's own encoding${flags:+, $flags}: no unknown field" "$(grep -cE '^ *[0-9]+[: ]' canonical.txt)" 0
    is "protobuf's own encoding${flags:+, $flags}: as long" \
        "$(protoc -I"$SRC" --encode=pft.Trace perfetto/perfetto_subset.proto <canonical.txt | wc -c)" \
        "$(wc -c <canonical.pftrace)"
done

# names and suffixes
(mkdir named && cd named && "$conv" -q - <../mine.pb && "$conv" -q -f chrome ../mine.pb)
is "default names" "$(ls named | tr '\n' ' ')" "mine.pb.json stdin.pftrace "
exits "the suffix decides: .json.gz" 0 "$conv" -o t.json.gz "$in"
ok "the suffix decides: JSON in gzip" python3 "$SRC/tests/check_chrome.py" t.json.gz
exits "-f where the suffix says nothing" 0 "$conv" -f perfetto -o odd.trace "$in"
same "-f where the suffix says nothing: the same bytes" odd.trace said.pftrace
(cd "$in" && "$conv" -q . 2>"$TMP/dot.err")
is "inside the input directory: refused" $? 1
says "inside the input directory: says what to do" "-o" "$TMP/dot.err"

# nothing goes into a directory given as input; beside files given one by one a result may lie
cp -r "$in" session && chmod -R u+w session
before=$(find session | sort)
exits "into the input directory" 1 "$conv" -o session/t.pftrace session
exits "into a directory below" 1 "$conv" -o session/i-EXAMPLE0_pid_1000/t.pftrace session
for command in report events; do
    exits "$command into the input directory" 1 "$conv" $command -o session/t.csv session
done
exits "tables into the input directory" 1 "$conv" table --all -o session/tables session
exits "tables into the input directory, with a slash" 1 "$conv" table --all -o session/tables/ session
exits "tables into the input directory itself" 1 "$conv" table --all -o session session
exits "a summary into the input directory" 1 "$conv" -o new.pftrace --summary session/s.json session
is "into the input directory: nothing is there" "$(find session | sort)" "$before"
# nor into a directory that a link in it leads to: what is there is read with the next load
mkdir linked aside && ln -s ../session linked/s && ln -s ../aside linked/o && ln -s session/later.json later.json
for command in convert report events; do
    exits "$command to where a link in the input leads" 1 "$conv" $command -o linked/o/t linked
    says "$command to where a link in the input leads: says where" 'linked/o/t: lies in the input directory linked/o,'
    exits "$command to there by its own name" 1 "$conv" $command -o aside/t linked
done
exits "tables to where a link in the input leads" 1 "$conv" table --all -o linked/o/new linked
exits "tables to where a link in the input leads itself" 1 "$conv" table --all -o linked/o linked
exits "a link to nothing yet in the input" 1 "$conv" -o later.json session
says "a link to nothing yet in the input: says so" 'later\.json: lies in the input directory session,'
is "to where a link in the input leads: nothing is there" "$(ls -A aside; find session | sort)" "$before"
exits "beside files named one by one" 0 "$conv" -o session/t.pftrace session/*/*.pb
ok "beside files named one by one: is there" test -s session/t.pftrace
exits "and is no capture when the session is read again" 0 "$conv" -o again.json session
"$conv" -o said.json "$in"
is "so the events are the same" "$(jq -c .traceEvents again.json | cksum)" "$(jq -c .traceEvents said.json | cksum)"

# the summary
exits "summary on standard output" 0 "$conv" -o s.pftrace --summary - "$in"
ok "summary on standard output: is JSON" python3 -m json.tool "$TMP/stdout"
exits "summary and trace on standard output" 2 "$conv" -o - --summary - "$in"
echo mine >mine.txt
exits "summary over a file that is there" 1 "$conv" -o s2.pftrace --summary mine.txt "$in"
says "summary over a file: says what to do" "--force replaces it" "$TMP/stderr"
is "summary over a file: untouched, and no trace" "$(cat mine.txt; ls s2.pftrace 2>/dev/null)" mine
exits "summary over a file, with --force" 0 "$conv" --force -o s2.pftrace --summary mine.txt "$in"
ok "summary over a file, with --force: is JSON" python3 -m json.tool mine.txt
exits "summary over the trace" 2 "$conv" --force -o s.pftrace --summary s.pftrace "$in"
exits "summary over an input" 1 "$conv" --force -o s.pftrace --summary mine.pb mine.pb
same "summary over an input: untouched" mine.pb "$in"/*/ntrace.pb
exits "summary cannot be written" 3 "$conv" --force -o s.pftrace --summary /nonexistent/s.json "$in"
ok "summary cannot be written: the trace is there" python3 "$SRC/tests/check_pftrace.py" s.pftrace

# two at once into one directory
mkdir both
"$conv" -q -o both/a.pftrace large.pb & p1=$!
"$conv" -q -o both/b.pftrace large.pb & p2=$!
wait $p1 && wait $p2
is "two at once: both end well" $? 0
same "two at once: the same bytes" both/a.pftrace both/b.pftrace
is "two at once: nothing else is left" "$(ls -A both | tr '\n' ' ')" "a.pftrace b.pftrace "
finish
