#!/bin/bash
# ntff-conv schema: out of real ELF files, through .proto source and descriptor sets, and back.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
export NTFF_SCHEMA=
unset LD_LIBRARY_PATH
desc=$cases/schema.desc
schemas=$SRC/tests/schemas.py

# -- built-in -----------------------------------------------------------------------------------------------
exits "built-in as source" 0 "$conv" schema
silent "built-in as source: nothing to say"
cp "$TMP/stdout" builtin.proto
ok "built-in: protoc compiles it" protoc -I. -obuiltin.desc builtin.proto
says "built-in: grades stand beside the fields" 'uint64 timestamp = 2;  // B\* ' builtin.proto
says "built-in: what it lacks is marked" '// lacks repeated ntrace_event events = \?;' builtin.proto
exits "built-in as table" 0 "$conv" schema --format table
says "built-in as table: columns" '^ntrace_event +2  timestamp +uint64 +singular  B\* \[SER\]$' "$TMP/stdout"
is "built-in as table: last line" "$(tail -n 1 "$TMP/stdout" | grep -o '102 of 104 public numbers equal; 105 fields lacking')" \
    "102 of 104 public numbers equal; 105 fields lacking"
"$conv" schema --format descriptor >known.desc
mkdir b1 b2
"$conv" schema -o b1
"$conv" schema --from known.desc -o b2
for i in 1 2; do protoc -Ib$i -ob$i.desc ntff.proto neuron_trace.proto; done
same "built-in: saved and given, the same schema" b1.desc b2.desc

# -- a descriptor set ----------------------------------------------------------------------------------------
mkdir src
exits "source files of a set" 0 "$conv" schema --from "$desc" -o src/
is "source files of a set: two of them" "$(echo src/*)" "src/neuron_trace.proto src/ntff.proto"
protoc -Isrc -oback.desc ntff.proto neuron_trace.proto
same "set -> source -> protoc: the same bytes" back.desc "$desc"
"$conv" schema --from "$desc" -o one.proto
ok "all in one source: protoc compiles it" protoc -I. -oone.desc one.proto
"$conv" schema --from "$desc" -o copy.desc
same "saved as a descriptor: the same bytes" copy.desc "$desc"
exits "an existing file is kept" 1 "$conv" schema --from "$desc" -o copy.desc
exits "an existing file is replaced with --force" 0 "$conv" schema --from "$desc" -o copy.desc --force
exits "compared" 0 "$conv" schema --from "$desc" --format table
says "compared: difference by difference" '^differs: ntff_info: index 30 in its file, stated 1$' "$TMP/stdout"
says "compared: last line" '^compared .*104 of 104 public numbers equal; 11 differences: ntff_info, ' "$TMP/stdout"
python3 "$schemas" files "$desc" .
exits "a single FileDescriptorProto" 0 "$conv" schema --from neuron_trace.proto.fdp
says "a single FileDescriptorProto: what is elsewhere is named" 'note: ntrace_info\.arch has type neff_arch, which is not'

# a number that is certain has changed
sed 's/attributes = 12/attributes = 40/' src/neuron_trace.proto >src/changed && mv src/changed src/neuron_trace.proto
protoc -Isrc -ochanged.desc ntff.proto neuron_trace.proto
exits "another version" 0 "$conv" schema --from changed.desc --format table
says "another version: the difference" 'differs: ntrace_event.attributes: number 40, stated 12 at grade A' "$TMP/stdout"
says "another version: a warning" '1 numbers that are certain for runtime 2\.31\.24\.0 are others here'

# a schema with everything the source can say
cat >full.proto <<'P'
syntax = "proto3";
package ntff;
option java_package = "a.b";
option optimize_for = CODE_SIZE;
option cc_enable_arenas = true;
message outer {
  option deprecated = true;
  reserved 2, 5 to 9, 1000 to max;
  reserved "gone", "lost";
  enum kind { option allow_alias = true; NONE = 0; NIL = 0; LOW = -3; HIGH = 2147483647 [deprecated = true]; reserved 4, 7 to 9; reserved "X"; }
  message inner { kind kind = 1; outer outer = 2; message inner { int32 x = 1; } .ntff.outer.inner up = 3; inner down = 4; }
  oneof pick { string a = 10; inner b = 11; }
  optional sint64 c = 12;
  optional inner d = 13;
  repeated uint32 packed = 14;
  repeated uint32 loose = 15 [packed = false];
  map<string, inner> by_name = 16;
  map<sfixed32, kind> by_number = 17 [deprecated = true];
  string named = 18 [json_name = "Other\"Name", ctype = CORD];
  .ntff.string string = 19;
  double e = 20; float f = 21; fixed64 g = 22; fixed32 h = 23; sfixed64 i = 24; sint32 j = 25; bytes k = 26; bool l = 27;
}
message string { string s = 1; }
P
cat >old.proto <<'P'
syntax = "proto2";
package ntff;
message m {
  required int32 a = 1 [default = -5];
  optional string b = 2 [default = "q\"\n\303\251"];
  optional bytes c = 3 [default = "\001x"];
  optional e d = 4 [default = TWO];
  repeated int32 p = 5 [packed = true];
  optional double z = 6 [default = inf];
  extensions 100 to 199, 1000 to max;
}
enum e { ONE = 1; TWO = 2; }
P
for f in full old; do
    protoc -I. -o$f.desc $f.proto
    mkdir $f
    "$conv" schema --from $f.desc -q -o $f/
    protoc -I$f -o$f.back $f.proto
    same "$f.proto -> descriptor -> source -> descriptor: the same bytes" $f.back $f.desc
done

# -- ELF ---------------------------------------------------------------------------------------------------------
# assembler: descriptors in .rodata, among other things; 64 and 32 bits
cat >rodata.s <<'S'
    .section .rodata
    .ascii "ntff.proto\0neuron_trace.proto\0"
    .incbin "neuron_trace.proto.fdp"
    .byte 0x70, 0x01
    .incbin "ntff.proto.fdp"
    .zero 100
    .text
    .globl f
f:  ret
S
gcc -shared -nostdlib -o asm.so rodata.s
as --32 -o asm32.o rodata.s 2>/dev/null || cp asm.so asm32.o
strip -s -o stripped.so asm.so
strip -o nosections.so asm.so && python3 - <<'P'
data = bytearray(open("nosections.so", "rb").read())
data[0x28:0x30] = bytes(8)   # no section headers at all
data[0x3c:0x3e] = bytes(2)
open("nosections.so", "wb").write(data)
P
gzip -c asm.so >asm.so.gz
for f in asm.so asm32.o stripped.so nosections.so asm.so.gz; do
    exits "$f: recovered" 0 "$conv" schema --from $f -o $f.desc
    same "$f: the same descriptors" $f.desc "$desc"
done
# shuffled numbers, as other versions would have
for seed in 1 2 3; do
    python3 "$schemas" shuffle $seed "$desc" s.desc
    python3 "$schemas" files s.desc .
    gcc -shared -nostdlib -o s.so rodata.s
    "$conv" schema --from s.so -o s.so.desc --force
    same "shuffled numbers $seed: recovered exactly" s.so.desc s.desc
done
python3 "$schemas" files "$desc" .

# protoc's own C++ output, which is how libnrt.so gets its descriptors
if ! command -v g++ >/dev/null || ! echo '#include <google/protobuf/message.h>' | g++ -E -x c++ - >/dev/null 2>&1; then
    skip "C++ shared object: recovered" "no C++ protobuf headers (libprotobuf-dev)"
else
    mkdir cpp cppsrc
    "$conv" schema --from "$desc" -o cppsrc/
    protoc -Icppsrc --cpp_out=cpp ntff.proto neuron_trace.proto
    g++ -O0 -fPIC -shared -Icpp -o libnrt.so.1 cpp/ntff.pb.cc cpp/neuron_trace.pb.cc -lprotobuf
    exits "C++ shared object: recovered" 0 "$conv" schema --from libnrt.so.1 -o cppsrc2/
    protoc -Icppsrc2 -ocpp.desc ntff.proto neuron_trace.proto
    same "C++ shared object -> source -> protoc: the same bytes" cpp.desc "$desc"
    strip -s -o libstripped.so libnrt.so.1
    "$conv" schema --from libstripped.so -o stripped.desc
    "$conv" schema --from libnrt.so.1 -o unstripped.desc
    same "C++ shared object: stripped, the same" stripped.desc unstripped.desc
fi
exits "an ELF file without descriptors" 1 "$conv" schema --from /bin/sh
says "an ELF file without descriptors: is called that" 'an ELF file without the descriptors'
# neuron_trace.proto lies before ntff.proto in asm.so
at() { grep -abo "$1" asm.so | head -n 1 | cut -d: -f1; }
head -c $(($(at tracking_id) + 20)) asm.so >half.so
exits "cut within both descriptors" 1 "$conv" schema --from half.so
says "cut within both descriptors: says which, and where" 'offset 0x[0-9a-f]+: neuron_trace\.proto: descriptor is cut'
head -c $(($(at subgraph_info) + 20)) asm.so >cut.so
exits "cut within one descriptor" 0 "$conv" schema --from cut.so
says "cut within one descriptor: the other one is used, this one named" 'skipped .*ntff\.proto: descriptor is cut'

# -- where it is looked for ---------------------------------------------------------------------------------------
mkdir 'lib dir[1]'
cp asm.so 'lib dir[1]/libnrt.so.1'
exits "--from auto: LD_LIBRARY_PATH" 0 env LD_LIBRARY_PATH="/nowhere:$PWD/lib dir[1]" "$conv" schema --from auto
says "--from auto: says where it was" 'schema from .*lib dir\[1\]/libnrt\.so\.1'
if [ ! -e /opt/aws/neuron/lib ]; then
    exits "--from auto: nowhere" 1 "$conv" schema --from auto
    says "--from auto: nowhere: says where it looked" 'LD_LIBRARY_PATH.*/opt/aws/neuron/lib'
fi
is "NTFF_SCHEMA is the schema in effect" "$(NTFF_SCHEMA=asm.so "$conv" schema | md5sum)" \
    "$("$conv" schema --schema asm.so | md5sum)"
is "--from goes before NTFF_SCHEMA" "$(NTFF_SCHEMA=/nowhere "$conv" schema --from asm.so | md5sum)" \
    "$("$conv" schema --from asm.so | md5sum)"

# -- mistakes --------------------------------------------------------------------------------------------------------
exits "unknown format" 2 "$conv" schema --format xml
exits "an operand" 2 "$conv" schema asm.so
exits "no such file" 1 "$conv" schema --from nowhere
exits "a text file" 1 "$conv" schema --from full.proto
says "a text file: says what is expected" 'no schema: expected a libnrt\.so'
# shellcheck disable=SC2016
exits "full disk" 1 sh -c '"$0" schema >/dev/full' "$conv"
exits "output over the input" 1 "$conv" schema --from copy.desc -o copy.desc --force
same "output over the input: it is untouched" copy.desc "$desc"

# -- size ---------------------------------------------------------------------------------------------------------------
# 200 MB around it: at most 3 times as long as grep -c of the same bytes (best of five each)
best() { # COMMAND...: best wall time in ms
    local i start ms min=999999
    for i in 1 2 3 4 5; do
        start=${EPOCHREALTIME/./}
        "$@" >timed.out # not /dev/null, where grep stops at the first match
        ms=$((${EPOCHREALTIME/./} - start))
        [ $ms -lt $min ] && min=$ms
    done
    echo $min
}
cp asm.so sparse.so && truncate -s 200M sparse.so
{ cat asm.so && head -c 100000000 /dev/zero && head -c 100000000 /dev/urandom; } >dense.so
for f in sparse.so dense.so; do
    "$conv" schema --from $f -o $f.desc
    same "$f, 200 MB: recovered" $f.desc "$desc"
    rm $f.desc
done
if [ -n "${SKIP_TIMING:-}" ] || [[ $BUILD != */release ]]; then
    skip "dense.so: at most 3 times grep -c" "not an optimised build"
else
    ours=$(best "$conv" schema --from dense.so --format descriptor) grep=$(best grep -c ntff.proto dense.so)
    echo "# dense.so: $ours us, grep -c $grep us"
    ok "dense.so: at most 3 times grep -c ($ours us, $grep us)" [ "$ours" -le $((3 * grep)) ]
    ours=$(best "$conv" schema --from sparse.so --format descriptor) grep=$(best grep -c ntff.proto sparse.so)
    echo "# sparse.so: $ours us, grep -c $grep us"
    ok "sparse.so: at most 3 times grep -c, and 10 ms ($ours us, $grep us)" [ "$ours" -le $((3 * grep + 10000)) ]
fi
finish
