#!/bin/bash
# Expected outputs, byte for byte. `make golden` rewrites them; read the diff afterwards.
# The Perfetto trace is compared as protoc prints it, so that a diff can be read.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
want=$SRC/tests/data/golden

protoc -I"$SRC" --encode=ntff_sample.event_list samples/sample_schema.proto <"$want/small.txtpb" |
    "$tools/delimit" >small.pb
mkdir capture && mv small.pb capture/ # the directory names the process
# what another version or another place would change
neutral() { sed -E -e 's/ntff-conv [0-9]+\.[0-9]+\.[0-9]+[^"]*/ntff-conv VERSION/' -e "s|$TMP/||g"; }

for form in perfetto chrome; do
    exits "$form" 0 "$conv" -q -f $form -o small.$form capture/small.pb
    silent "$form: silent"
    "$conv" -q -f $form -o again.$form capture/small.pb
    same "$form: the same bytes again" small.$form again.$form
    "$conv" -q -f $form -o packed.$form.gz capture/small.pb
    gzip -dc packed.$form.gz >unpacked.$form
    same "$form: .gz holds the same bytes" unpacked.$form small.$form
    "$conv" -q -f $form -o - capture/small.pb >stdout.$form
    same "$form: the same on standard output" stdout.$form small.$form
done
neutral <small.chrome >small.json
golden "chrome: as expected" small.json "$want/small.json"
protoc -I"$SRC" --decode=pft.Trace perfetto/perfetto_subset.proto <small.perfetto 2>decode.err |
    neutral >small.pftrace.txt
silent "perfetto: protoc reads every packet" decode.err
golden "perfetto: as expected" small.pftrace.txt "$want/small.pftrace.txt"
"$conv" info capture/small.pb | neutral >info.txt
golden "info: as expected" info.txt "$want/small.info.txt"
finish
