#!/bin/sh
# build.sh DIR - compiles the sample session (samples/session/*.txtpb) into the files of a capture.
# Needs protoc, and $BUILD/tools/delimit and mkntff, which `make demo` builds.
set -eu
out=${1:?usage: samples/build.sh DIR}
src=$(cd "$(dirname "$0")/.." && pwd)
tools=${BUILD:-$src/build/release}/tools

# compile TEXT MESSAGE: text on standard output as bytes
compile() {
    protoc -I "$src" --encode="ntff_sample.$2" "$src/samples/sample_schema.proto" <"$1"
}

for text in "$src"/samples/session/*/*/ntrace.txtpb; do
    from=$(dirname "$text")
    to=$out/${from#"$src/samples/session/"}
    mkdir -p "$to"
    compile "$from/trace_info.txtpb" ntrace_info >"$to/trace_info.pb"
    compile "$from/ntrace.txtpb" event_list | "$tools/delimit" >"$to/ntrace.pb"
    compile "$from/cpu_util.txtpb" cpu_util_list | "$tools/delimit" >"$to/cpu_util.pb"
    compile "$from/host_mem.txtpb" host_mem_list | "$tools/delimit" >"$to/host_mem.pb"
    for script in "$from"/*.ntff.txt; do
        "$tools/mkntff" "$script" >"$to/$(basename "$script" .txt)"
    done
done
