#!/bin/bash
# A device profile with every kind of record, byte for byte in both formats; `make golden` rewrites.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
want=$SRC/tests/data/ntff
mkdir capture
"$tools/mkntff" "$want/every_kind.txt" >capture/every_kind.ntff
neutral() { sed -E -e 's/ntff-conv [0-9]+\.[0-9]+\.[0-9]+[^"]*/ntff-conv VERSION/' -e "s|$TMP/||g"; }

for form in perfetto chrome; do
    # the profile reports lost records: exit status 3
    exits "$form" 3 "$conv" -q -f $form -o out.$form capture/every_kind.ntff
    "$conv" -q -f $form -o again.$form capture/every_kind.ntff
    same "$form: the same bytes again" out.$form again.$form
done
neutral <out.chrome >out.json
golden "chrome: as expected" out.json "$want/every_kind.json"
protoc -I"$SRC" --decode=pft.Trace perfetto/perfetto_subset.proto <out.perfetto 2>decode.err |
    neutral >out.pftrace.txt
silent "perfetto: protoc reads every packet" decode.err
golden "perfetto: as expected" out.pftrace.txt "$want/every_kind.pftrace.txt"
"$conv" info capture/every_kind.ntff | neutral >info.txt
golden "info: as expected" info.txt "$want/every_kind.info.txt"
finish
