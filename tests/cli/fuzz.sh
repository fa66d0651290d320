#!/bin/bash
# The kept inputs of the fuzz targets, one after the other, without a fuzzer: what once broke stays whole.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"

for dir in "$SRC"/tests/fuzz/corpus/*/; do
    t=$(basename "$dir")
    [ -x "$BUILD/fuzz/$t" ] || { fail "$t" "$BUILD/fuzz/$t is not built"; continue; }
    exits "$t: kept inputs" 0 "$BUILD/fuzz/$t" "$dir"
    is "$t: all of them" "$(cat "$TMP/stdout")" "$(find "$dir" -type f | wc -l) inputs"
done
for src in "$SRC"/tests/fuzz/target_*.c; do
    t=$(basename "$src" .c)
    ok "${t#target_}: has kept inputs" test -d "$SRC/tests/fuzz/corpus/${t#target_}"
done
finish
