#!/bin/bash
# `dump` against protoc --decode of the same bytes with the same schema.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
"$SRC/samples/build.sh" built
one=$(ls built/*4243/*/ntrace.pb)
# protoc's view: the stream read back as a list
protoc -I"$SRC" --encode=ntff_sample.event_list samples/sample_schema.proto \
    <"$(ls "$SRC"/samples/session/*4243/*/ntrace.txtpb)" |
    protoc -I"$SRC" --decode=ntff_sample.event_list samples/sample_schema.proto >protoc.txt
exits "dump" 0 "$conv" dump "$one"
# names and values in order, whatever the indentation and the words between messages
facts() { grep -oE '^ *[a-z_]+: .*|^ *(attributes|key|value)\b.*' "$1" | sed -E 's/^ +//; s/ +#.*//' | grep ': '; }
facts protoc.txt >want
facts stdout >got
same "dump: every field and value that protoc shows, in its order" got want
finish
