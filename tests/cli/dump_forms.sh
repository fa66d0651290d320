#!/bin/bash
# ntff-conv dump on every kind of file, in every framing, whole and damaged.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
export NTFF_SCHEMA=
desc=$cases/schema.desc
one=$cases/a-delimited/i-EXAMPLE0_pid_1000
bare=$cases/b-bare-raw/i-EXAMPLE0_pid_1000/1764440000000000000
ntff=$cases/e-device/i-EXAMPLE0_pid_1000/deadbeef_instid_0_vnc_0.ntff
# text NAME: what is printed, without comments
text() { grep -v '^#' "$TMP/stdout" >"$1"; }

# -- against protoc, with a schema -----------------------------------------------------------------------
protoc --descriptor_set_in="$desc" --decode=ntff.ntrace_info <"$bare/ntrace.pb" | sed 's/^/  /' |
    { echo 'ntrace_info {'; cat; echo '}'; } >want
exits "bare ntrace.pb with a schema" 0 "$conv" dump --schema "$desc" "$bare/ntrace.pb"
text got
same "bare ntrace.pb with a schema: protoc's text" got want
size=$(od -An -t u8 -j1 -N8 "$ntff" | tr -d ' ')
tail -c +129 "$ntff" | head -c "$size" >message.pb
protoc --descriptor_set_in="$desc" --decode=ntff.ntff_info <message.pb | sed 's/^/  /' |
    { echo 'ntff_info {'; cat; echo '}'; } >want
exits ".ntff with a schema" 0 "$conv" dump --schema "$desc" "$ntff"
text got
same ".ntff with a schema: protoc's text" got want
exits ".ntff by number" 0 "$conv" dump --raw "$ntff"
text got
protoc --decode_raw <message.pb | sed 's/^/  /' | { echo 'ntff_info {'; cat; echo '}'; } >want
same ".ntff by number: protoc's text" got want
exits "a message named by the user" 0 "$conv" dump --type ntff.ntff_info --schema "$desc" message.pb
says "a message named by the user: is read as that" '^    nd_node \{$' "$TMP/stdout"
exits "a message that does not exist" 2 "$conv" dump --type nothing message.pb

# -- without a schema --------------------------------------------------------------------------------------
exits "bare ntrace.pb" 0 "$conv" dump "$bare/ntrace.pb"
says "bare ntrace.pb: what was found is said" '^# found by test: ntrace_info\.events = 2$' "$TMP/stdout"
is "bare ntrace.pb: all events" "$(grep -c '^  events {' "$TMP/stdout")" \
    "$(protoc --decode_raw <"$bare/ntrace.pb" | grep -c '^2 {')"
exits "delimited ntrace.pb" 0 "$conv" dump --offsets "$one/ntrace.pb"
says "delimited ntrace.pb: framing" '^# framing: varint length before each record$' "$TMP/stdout"
says "delimited ntrace.pb: numbering" '^# numbering of ntrace_event: table' "$TMP/stdout"
says "delimited ntrace.pb: offsets" '^# offset 0x1, [0-9]+ bytes$' "$TMP/stdout"
is "delimited ntrace.pb: all records" "$(grep -c '^ntrace_event {' "$TMP/stdout")" \
    "$(grep -c '^# offset' "$TMP/stdout")"
text events
exits "the further numbering" 0 "$conv" dump "$cases/c-second-numbering/i-EXAMPLE0_pid_1000/ntrace.pb"
says "the further numbering: is said" '^# numbering of ntrace_event: candidate' "$TMP/stdout"
says "the further numbering: names follow it" '^  timestamp: 17644[0-9]+$' "$TMP/stdout"
exits "cpu_util.pb" 0 "$conv" dump "$one/cpu_util.pb"
says "cpu_util.pb: by test" '^# found by test: cpu_util\.util = 2$' "$TMP/stdout"
exits "host_mem.pb" 0 "$conv" dump "$one/host_mem.pb"
says "host_mem.pb: values" '^  usage: 1073741824$' "$TMP/stdout"
exits "trace_info.pb" 0 "$conv" dump "$one/trace_info.pb"
says "trace_info.pb: interned texts" '^      value: "/compile_cache/' "$TMP/stdout"
exits ".ntff" 0 "$conv" dump "$ntff"
says ".ntff: version and message" '^# format version 6; message of 291 bytes at offset 0x80$' "$TMP/stdout"
says ".ntff: instruction section" '^# instruction section: 25600 bytes at 0x1a3, 10 runs$' "$TMP/stdout"
says ".ntff: notification section" '^#   trace 0: 12928 bytes at 0x65a3; subgraph 0, .*400 instruction start, 400 instruction end' \
    "$TMP/stdout"

# -- the other framings, gzip, standard input ------------------------------------------------------------------
python3 - "$one/ntrace.pb" <<'P'
import os, sys
sys.path.insert(0, os.path.join(os.environ["SRC"], "tests"))
import schemas
data, at, u32, u64 = open(sys.argv[1], "rb").read(), 0, b"", b""
while at < len(data):
    size, at = schemas.varint(data, at)
    u32 += size.to_bytes(4, "little") + data[at : at + size]
    u64 += size.to_bytes(8, "little") + data[at : at + size]
    at += size
open("u32.pb", "wb").write(u32)
open("u64.pb", "wb").write(u64)
P
gzip -c "$one/ntrace.pb" >n.gz
for f in u32.pb u64.pb n.gz; do
    exits "$f" 0 "$conv" dump $f
    text got
    same "$f: the same records" got events
done
"$conv" dump - <n.gz >"$TMP/stdout"
text got
same "standard input: the same records" got events
exits "output file, packed" 0 "$conv" dump -o d.txt.gz "$one/ntrace.pb"
gunzip -c d.txt.gz >"$TMP/stdout"
text got
same "output file, packed: the same records" got events
python3 "$SRC/tests/gen/mkraw.py" "$cases/a-delimited.truth.json.gz" >events.bin
exits "raw records" 0 "$conv" dump events.bin
is "raw records: all of them" "$(grep -c '^nrt_sys_trace_event {' "$TMP/stdout")" $(($(stat -c %s events.bin) / 112))

# -- other protobuf, other files --------------------------------------------------------------------------------
exits "unknown protobuf" 0 "$conv" dump "$desc"
says "unknown protobuf: is called that" 'protobuf of a kind that is not known' "$TMP/stdout"
: >empty.pb
exits "an empty file" 0 "$conv" dump empty.pb
exits "JSON" 1 "$conv" dump "$cases/f-json.events.json"
says "JSON: is called that" 'JSON, which is text'
exits "ELF" 1 "$conv" dump /bin/sh
says "ELF: is called that" 'an ELF file'
echo hello >text.txt
exits "text" 1 "$conv" dump text.txt
exits "two files, neither of them protobuf" 1 "$conv" dump text.txt text.txt
exits "no such file" 1 "$conv" dump nowhere
# shellcheck disable=SC2016
exits "full disk" 1 sh -c '"$0" dump "$1" >/dev/full' "$conv" "$one/ntrace.pb"
exits "output over the input" 1 "$conv" dump --force -o "$one/ntrace.pb" "$one/ntrace.pb"

# -- damage ------------------------------------------------------------------------------------------------------
head -c 5000 "$one/ntrace.pb" >torn.pb
exits "a torn stream" 3 "$conv" dump torn.pb
says "a torn stream: where" '^# torn at offset 0x134e: a record of 109 bytes, 57 are there$' "$TMP/stdout"
says "a torn stream: what is left of the record is shown" '^  # damaged at offset 0x1381: ' "$TMP/stdout"
says "a torn stream: a line on standard error" 'torn\.pb: 2 damaged places'
head -c 300 "$ntff" >torn.ntff
exits "an .ntff cut in its message" 3 "$conv" dump torn.ntff
says "an .ntff cut in its message: how much" '^# cut: 172 bytes of the message are there$' "$TMP/stdout"
head -c 40000 "$ntff" >torn.ntff
exits "an .ntff cut in a section" 3 "$conv" dump torn.ntff
says "an .ntff cut in a section: how much" '^# cut: the notification section has 38656 bytes by the message, [0-9]+ are there$' "$TMP/stdout"
{ printf '\x09'; tail -c +2 "$ntff"; } >future.ntff
exits "an .ntff of the future" 0 "$conv" dump future.ntff
says "an .ntff of the future: the range known" 'format version 9 \(known are 1 to 6\)' "$TMP/stdout"
head -c 3000 n.gz >torn.gz
exits "a torn gzip" 3 "$conv" dump torn.gz
says "a torn gzip: is said" '^# damaged: gzip data ends too early' "$TMP/stdout"
exits "long values cut on request" 0 "$conv" dump --max-bytes 4 "$one/trace_info.pb"
says "long values cut on request: in the text" '"/com"  # [0-9]+ bytes, 4 shown$' "$TMP/stdout"
# nothing but printable text, whatever the bytes
printf 'x\033[31m\200\n' >esc
{ printf '\x0a\x09'; cat esc; printf '\x01'; } >esc.pb
"$conv" dump esc.pb >esc.txt
ok "control characters never get out" sh -c '! LC_ALL=C grep -q "[^ -~]" esc.txt'

# -- names, records, several files ------------------------------------------------------------------------
"$conv" dump "$one/ntrace.pb" >plain.txt
exits "--names" 0 "$conv" dump --names "$one/ntrace.pb"
says "--names: the name behind the number" '^  event_type: 19  # kbl_exec_wait$' "$TMP/stdout"
is "--names: every known number has one" "$(grep -c '^  event_type: [0-9]*$' "$TMP/stdout")" 0
sed -E 's/^(  event_type: [0-9]+)  # .*/\1/' "$TMP/stdout" >nameless.txt
same "--names: else the same text" nameless.txt plain.txt
exits "--records" 0 "$conv" dump --records "$ntff"
is "--records: as many as the counts before them say" \
    "$(grep -cE '^#     0x[0-9a-f]+: [0-9]+ ps, ' "$TMP/stdout")" \
    "$(sed -n 's/^#   trace [0-9]*: .*: \(.*\)/\1/p' "$TMP/stdout" | grep -oE '[0-9]+ [a-z]' | awk '{ n += $1 } END { print n }')"
says "--records: place, time, engine, kind, words" \
    '^#     0x65b3: [0-9]+ ps, PE instruction start, pc 0, hint 0 \(0x04000000 0x[0-9a-f]{8}\)$' "$TMP/stdout"
word=$(od -An -t x4 -j $((0x65b3)) -N 4 "$ntff" | tr -d ' ')
time=$(od -An -t u8 -j $((0x65b3 + 8)) -N 8 "$ntff" | tr -d ' ')
says "--records: as the file has it" "0x65b3: $time ps, .*\(0x$word " "$TMP/stdout"
grep -v '^#     0x' "$TMP/stdout" >rest.txt
"$conv" dump "$ntff" >plain.txt
same "--records: else the same text" rest.txt plain.txt
exits "two files" 0 "$conv" dump "$one/ntrace.pb" "$one/cpu_util.pb"
is "two files: a header each" "$(grep '^# file ' "$TMP/stdout")" "# file $one/ntrace.pb
# file $one/cpu_util.pb"
{ echo "# file $one/ntrace.pb"; "$conv" dump "$one/ntrace.pb"; echo "# file $one/cpu_util.pb"; "$conv" dump "$one/cpu_util.pb"; } >both.txt
same "two files: one after the other" "$TMP/stdout" both.txt
exits "two files, one of them missing: the other is printed" 3 "$conv" dump nowhere "$one/cpu_util.pb"
says "two files, one of them missing: is named" 'nowhere: .*No such file'
ok "two files, one of them missing: text" grep -q '^cpu_util {' "$TMP/stdout"
exits "a directory" 1 "$conv" dump "$cases/e-device"
says "a directory: says which files to try" 'e-device: is a directory; dump takes files, such as .*/cpu_util\.pb, .*\.ntff'
silent "a directory: no text" "$TMP/stdout"
finish
