#!/bin/bash
# Expected outputs, byte for byte: of a small capture, and of a device profile with every kind of record.
# `make golden` rewrites them; read the diff afterwards.
# The Perfetto trace is compared as protoc prints it, so that a diff can be read.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
data=$SRC/tests/data

mkdir capture # the directory names the process
protoc -I"$SRC" --encode=ntff_sample.event_list samples/sample_schema.proto <"$data/golden/small.txtpb" |
    "$tools/delimit" >capture/small.pb
"$tools/mkntff" "$data/ntff/every_kind.txt" >capture/every_kind.ntff
# what another version or another place would change
neutral() { sed -E -e 's/ntff-conv [0-9]+\.[0-9]+\.[0-9]+[^"]*/ntff-conv VERSION/' -e "s|$TMP/||g"; }

# as_expected FILE STATUS WANT: the outputs of a file are WANT.json, WANT.pftrace.txt, WANT.info.txt
as_expected() {
    local name form
    name=$(basename "$3")
    for form in perfetto chrome; do
        exits "$name, $form" "$2" "$conv" -q -f $form -o "$name.$form" "$1"
        silent "$name, $form: silent"
        "$conv" -q -f $form -o "again.$name.$form" "$1"
        same "$name, $form: the same bytes again" "$name.$form" "again.$name.$form"
        "$conv" -q -f $form -o "$name.$form.gz" "$1"
        gzip -dc "$name.$form.gz" >"unpacked.$name.$form"
        same "$name, $form: .gz holds the same bytes" "unpacked.$name.$form" "$name.$form"
        "$conv" -q -f $form -o - "$1" >"stdout.$name.$form"
        same "$name, $form: the same on standard output" "stdout.$name.$form" "$name.$form"
    done
    neutral <"$name.chrome" >"$name.json"
    golden "$name, chrome: as expected" "$name.json" "$3.json"
    protoc -I"$SRC" --decode=pft.Trace perfetto/perfetto_subset.proto <"$name.perfetto" 2>decode.err |
        neutral >"$name.pftrace.txt"
    silent "$name, perfetto: protoc reads every packet" decode.err
    golden "$name, perfetto: as expected" "$name.pftrace.txt" "$3.pftrace.txt"
    "$conv" info "$1" | neutral >"$name.info.txt"
    golden "$name, info: as expected" "$name.info.txt" "$3.info.txt"
}

as_expected capture/small.pb 0 "$data/golden/small"
as_expected capture/every_kind.ntff 3 "$data/ntff/every_kind" # it reports lost records
finish
