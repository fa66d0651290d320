#!/bin/bash
# Captures nobody would record: what breaks viewers, or the program that reads them, must come out whole.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"

# -- more points of one time than a reader stacks in a row
python3 - >points.json <<'PY'
import json
t = 1764440000000000000
print(json.dumps({"events": [dict(event_type="hw_notify", phase="instant", nc_idx=0, tracking_id=i, timestamp_ns=t)
                             for i in range(3000)]}))
PY
exits "3000 points of one time: all written" 0 "$conv" -o points.pftrace --summary points.sum points.json
ok "3000 points of one time: no row holds more than readers keep" \
    python3 "$SRC/tests/check_pftrace.py" points.pftrace points.sum
if command -v trace_processor_shell >/dev/null; then
    is "3000 points of one time: trace_processor keeps all" \
        "$(trace_processor_shell query points.pftrace 'SELECT count(*) AS n FROM slice' 2>/dev/null | tail -n 1)" 3000
else
    skip "3000 points of one time: trace_processor keeps all" "no trace_processor_shell"
fi

# -- a file that shrinks while it is read: the pipe is full long before everything is written. What is read twice
# may have become zeros between, so it is tried at several places.
"$tools/gen_ntrace" -n 60000 >whole.pb 2>gen.err
cut_while() { # FORM BYTES: rc, err and cut.FORM
    cp whole.pb cut.pb
    mkfifo pipe
    { head -c "$2"; truncate -s 5000 cut.pb; cat; } <pipe >cut."$1" &
    rc=0
    "$conv" -f "$1" -o - cut.pb >pipe 2>err || rc=$?
    wait $!
    rm -f pipe
}
for form in chrome perfetto; do
    cut_while $form 1000
    is "a file cut while $form is written: exit status" $rc 3
    says "a file cut while $form is written: said" 'cut\.pb.*had [0-9]+ bytes' err
done
ok "a file cut while it is read: the JSON is whole" jq empty cut.chrome
ok "a file cut while it is read: the protobuf is whole" python3 "$SRC/tests/check_pftrace.py" cut.perfetto
broken=0
for at in 30000 90000 170000 260000 360000 500000; do
    cut_while perfetto $at
    python3 "$SRC/tests/check_pftrace.py" cut.perfetto >>broken.txt 2>&1 || broken=$((broken + 1))
    cut_while chrome $at
    jq empty cut.chrome 2>>broken.txt || broken=$((broken + 1))
done
sed 's/^/# /' broken.txt
is "files cut at other moments: none came out broken" $broken 0
ok "a file left alone" "$conv" -q -o whole.pftrace whole.pb

# -- more files than may be open at first
for i in $(seq 100); do
    mkdir -p "many/i-EXAMPLE0_pid_$i" && cp "$cases"/a-delimited/*/ntrace.pb "many/i-EXAMPLE0_pid_$i/"
done
exits "a hundred processes, 64 files open at a time" 0 bash -c "ulimit -Sn 64; exec '$conv' -o many.pftrace many"

# -- a sync point whose clock says nonsense: its counters must not stretch the trace over a century
python3 - >far.json <<'PY'
import json
t = 1764440000000000000
events = [dict(event_type="nrt_execute", phase=("start", "stop")[i % 2], nc_idx=0, tracking_id=i // 2,
               timestamp_ns=t + i * 1000) for i in range(100)]
for i in range(20):
    cpu = t + i * 1000 if i % 4 else i << 57
    events.append(dict(event_type="timestamp_sync_point", phase="instant", nc_idx=0, tracking_id=0, timestamp_ns=t + i,
                       data=dict(nc_timestamp_ns=1000 + i * 1000, cpu_timestamp_ns=cpu, device_core_idx=0)))
print(json.dumps(dict(events=events)))
PY
"$conv" -q -o far.pftrace --summary far.sum far.json
ok "sync points of nonsense: checker" python3 "$SRC/tests/check_pftrace.py" far.pftrace far.sum
ok "sync points of nonsense: the trace is as long as its events" \
    jq -e '.time.end_ns - .time.begin_ns < 1000000' far.sum

# -- the same thing twice
one=$cases/a-delimited
"$conv" -q -o once.pftrace --summary once.sum "$one"
ln -s "$one" again
exits "a session, itself by a link, and one of its files" 0 \
    "$conv" -v -o twice.pftrace --summary twice.sum "$one" again "$one"/*/ntrace.pb
says "a session and its file: said" '1 file was named more than once and read once'
is "a session and its file: records of one" "$(jq -c .records twice.sum)" "$(jq -c .records once.sum)"

# -- copies: their events count twice, and that is said
cp -r "$cases/e-device" copy
profile=$(find copy -name '*vnc_0.ntff')
cp "$profile" "${profile%.ntff}_copy.ntff"
copied() { # NAME WANT COMMAND...: the line of the finding
    exits "$1" 0 "${@:3}"
    is "$1: is said once" "$(cat "$TMP/stdout" "$TMP/stderr" | grep -c 'same bytes')" 1
    is "$1: which" "$(cat "$TMP/stdout" "$TMP/stderr" | grep -o '[0-9]* files* holds* the same bytes.*')" "$2"
}
twin="1 file holds the same bytes as another; both were read: "
copied "a profile beside its copy" "$twin${profile%.ntff}_copy.ntff (as $profile)" "$conv" -o copy.pftrace copy
copied "a profile beside its copy: report" "$twin${profile%.ntff}_copy.ntff (as $profile)" "$conv" report copy
rm copy.pftrace
is "a copy is a note" "$("$conv" table -q Warning -f jsonl copy | jq -r 'select(.message | test("same bytes")).category')" note
printf 'x' | dd of="${profile%.ntff}_copy.ntff" bs=1 seek=$(($(stat -c %s "$profile") * 2 / 3)) conv=notrunc status=none
"$conv" -o copy.pftrace copy 2>err
is "one byte differs: no copy" "$(grep -c 'same bytes' err)" 0
rm -rf copy copy.pftrace
mkdir copy && cp -r "$one" copy/one && gzip -c "$one"/*/ntrace.pb >copy/packed.gz
copied "a gzipped copy" "$twin$(echo copy/packed.gz) (as $(echo copy/one/*/ntrace.pb))" "$conv" -o copy.pftrace copy
mv copy/packed.gz copy/one/zz.gz
for i in 1 2 3; do cp copy/one/zz.gz copy/one/zz$i.gz; done
"$conv" --force -o copy.pftrace copy 2>err
says "several copies" '4 files hold the same bytes as others; all were read; first: ' err
rm -rf copy copy.pftrace

mkdir -p out
for summary in out/t.pftrace out/../out/t.pftrace ./out/t.pftrace; do
    exits "summary into the trace, $summary" 2 "$conv" -q -o out/t.pftrace --summary $summary "$one"
done
ln -s out link
exits "summary into the trace through a link" 2 "$conv" -q -o link/t.pftrace --summary out/t.pftrace "$one"
is "summary into the trace: nothing written" "$(ls -A out)" ""

# -- a row for each of 50000 threads: time must not grow with their square
python3 - >threads.json <<'PY'
t = 1764440000000000000
print('{"events":[' + ",".join(
    f'{{"event_type":"generic","phase":"instant","nc_idx":0,"thread_id":{i + 1},"timestamp_ns":{t + i}}}'
    for i in range(50000)) + "]}")
PY
for what in "$conv -q -o threads.pftrace" "$conv -q -f chrome -o threads.out" "$conv info" "$conv report" \
    "$conv events" "$tui --print"; do
    # shellcheck disable=SC2086
    exits "50000 threads: ${what##*/}" 0 bash -c "ulimit -t 20; exec $what threads.json"
done

# -- no memory: which limit it was
exits "--max-memory 1" 1 "$conv" --max-memory 1 -o none.pftrace whole.pb
says "--max-memory 1: said" 'memory limit of 1 bytes'
if [[ $BUILD == *asan* ]]; then
    skip "less memory than the machine promises" "sanitizers need address space"
else
    exits "less memory than the machine promises" 1 \
        bash -c "ulimit -v 40000; exec '$conv' --max-memory 1G -o none.pftrace threads.json"
    says "less memory than the machine promises: said" 'out of memory$'
fi

# -- names of files that are no text: each is read, once
mkdir names
"$tools/gen_ntrace" -n 10 -s 1 >names/x$'\377'.pb 2>/dev/null
"$tools/gen_ntrace" -n 20 -s 2 >names/x$'\357\277\275'.pb 2>/dev/null
exits "a session with a name that is no UTF-8" 0 "$conv" -q -o names.json --summary names.sum names
is "every file of it once" "$(jq .records.in names.sum)" 30
exits "such a name itself" 0 "$conv" -q -o name.json --summary name.sum names/x$'\377'.pb
is "is read" "$(jq .records.in name.sum)" 10

# -- of a kind of finding the first file is told, however files are read
mkdir order
for i in a b c; do "$tools/gen_ntrace" -n 10 -s 3 2>/dev/null | head -c 1000 >order/$i.pb; done
gzip -c order/b.pb | head -c 300 >order/b.pb.gz && rm order/b.pb
exits "files that are cut" 3 "$conv" -o order.json order
says "the first file cut is told" 'first: order/a.pb offset'

# -- a finding about records names the file of the first and where it stands there
cat "$one"/*/ntrace.pb >tail.pb
truncate -s +100 tail.pb
exits "a tail of zeros" 3 "$conv" -q -o tail.json --summary tail.sum tail.pb
exits "a tail of zeros, told" 3 "$conv" -o tail.pftrace tail.pb
says "a tail of zeros: where the first is" \
    "^ntff-conv: 100 events .*; first: tail\.pb offset 0x$(printf %x "$(stat -c %s "$one"/*/ntrace.pb)") \(record without"

# -- zeros are empty records in every form: not followed to their end
truncate -s 64G zeros.pb
exits "64 GiB of zeros" 1 timeout 60 "$conv" -o zeros.json zeros.pb
rm -f zeros.pb
finish
