#!/bin/bash
# Every command that the documents and the manual pages show is run,
# and what they show as output is what comes: tests/documents.py. Here is what it runs in.
need() { [ -e "$1" ] || { echo "1..0 # SKIP $(basename "$1") is not built"; exit 0; }; }
need "$BUILD/ntff-conv"
need "$BUILD/ntff-tui"
need "$BUILD/man/ntff-conv.1"
command -v python3 >/dev/null || { echo "1..0 # SKIP no python3"; exit 0; }

# the top of the tree after `make demo`, with a build/ of its own
mkdir -p top/build top/bin && cd top || exit 1
for entry in "$SRC"/* "$SRC"/.ci "$SRC"/.package; do
    [ "$(basename "$entry")" = build ] || ln -s "$entry" .
done
ln -s "$BUILD" build/release
ln -s "$BUILD/ntff-conv" "$BUILD/ntff-tui" build/
"$SRC/samples/build.sh" build/sample-session >/dev/null || exit 1
# captures as the examples name them
ln -s build/sample-session output
ln -s build/sample-session before
ln -s build/sample-session after
ln -s "$SRC/tests/data/cases/a-delimited" SESSION
sed -n '/^```c$/,/^```$/p' README.md | sed '1d;$d' >count.c

# a libnrt.so with the schema of SESSION in it
python3 "$SRC/tests/schemas.py" files "$SRC/tests/data/cases/schema.desc" . >/dev/null
printf '.section .rodata\n.ascii "ntff.proto\\0neuron_trace.proto\\0"\n.incbin "neuron_trace.proto.fdp"\n.byte 0x70, 1\n.incbin "ntff.proto.fdp"\n.zero 100\n.text\n.globl f\nf: ret\n' >rodata.s
mkdir lib && gcc -shared -nostdlib -o lib/libnrt.so.1 rodata.s
export LD_LIBRARY_PATH=$PWD/lib

# programs that would wait, ask or build
real_make=$(command -v make)
printf '#!/bin/sh\nexec %q --no-print-directory -n -C "$SRC" "$@" >/dev/null\n' "$real_make" >bin/make
printf '#!/bin/sh\nexec cat "$@"\n' >bin/less
printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
printf '#!/bin/sh\ntest -s "$1"\n' >bin/man
chmod +x bin/*
ln -s "$BUILD/ntff-conv" "$BUILD/ntff-tui" bin/
# the library, installed
variant=$(basename "$BUILD")
if [ "$BUILD" = "$SRC/build/$variant" ]; then
    "$real_make" --no-print-directory -C "$SRC" VARIANT="$variant" PREFIX="$PWD/installed" install >/dev/null || exit 1
    export PKG_CONFIG_PATH=$PWD/installed/lib/pkgconfig
fi
case $variant in
asan) printf '#!/bin/sh\nexec %q -fsanitize=address,undefined "$@"\n' "$(command -v cc)" >bin/cc && chmod +x bin/cc ;;
tsan) printf '#!/bin/sh\nexec %q -fsanitize=thread "$@"\n' "$(command -v cc)" >bin/cc && chmod +x bin/cc ;;
cov) printf '#!/bin/sh\nexec %q --coverage "$@"\n' "$(command -v cc)" >bin/cc && chmod +x bin/cc ;;
esac
export PATH=$PWD/bin:$PATH TERM=xterm-256color COLUMNS=80 LINES=24 PAGER=cat
exec python3 "$SRC/tests/documents.py" "$SRC"/*.md "$SRC"/*/*.md "$SRC"/.package/*.md "$SRC"/tests/*/*.md "$SRC"/tests/data/*/*.md \
    "$BUILD/man/ntff-conv.1" "$BUILD/man/ntff-tui.1" "$BUILD/man/ntff.5"
