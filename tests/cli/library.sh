#!/bin/bash
# libntff.a as somebody else uses it: headers and library installed, found by pkg-config, and the
# example of README.md compiled against them, word for word.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$tools/delimit"
variant=$(basename "$BUILD")
if [ "$BUILD" != "$SRC/build/$variant" ]; then
    echo "1..0 # SKIP built elsewhere"
    exit 0
fi
cc=${CC:-gcc}
flags=()
case $variant in
asan) flags=("-fsanitize=address,undefined") ;;
tsan) flags=("-fsanitize=thread") ;;
cov) flags=(--coverage) ;;
esac
make_it() { make --no-print-directory -C "$SRC" VARIANT="$variant" PREFIX="$TMP/opt/ntff" "$@"; }
ok "make install" make_it install
export PKG_CONFIG_PATH=$TMP/opt/ntff/lib/pkgconfig

# -- pkg-config ---------------------------------------------------------------------------------------
is "pkg-config finds it, version and all" "ntff-conv $(pkg-config --modversion ntff)" "$("$conv" --version)"
ok "flags for the compiler" grep -q -- "-I$TMP/opt/ntff/include\( \|$\)" <(pkg-config --cflags ntff)
static=" $(pkg-config --libs --static ntff) "
for lib in ntff protobuf-c z json-c m; do
    ok "--static names -l$lib" test "${static#* -l$lib }" != "$static"
done
mv opt/ntff elsewhere
is "it may be moved" "$(PKG_CONFIG_PATH=$TMP/elsewhere/lib/pkgconfig pkg-config --define-variable=prefix="$TMP/elsewhere" \
    --variable=libdir ntff)" "$TMP/elsewhere/lib"
mkdir -p opt && mv elsewhere opt/ntff

# -- headers ------------------------------------------------------------------------------------------
for header in opt/ntff/include/ntff/*.h; do
    name=$(basename "$header")
    printf '#include <ntff/%s>\n#include <ntff/%s>\nint main(void) { return 0; }\n' "$name" "$name" >alone.c
    # shellcheck disable=SC2046 # words of pkg-config
    ok "ntff/$name alone, without any other header of ours" \
        "$cc" -std=c11 -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags ntff) alone.c
done
if command -v g++ >/dev/null; then
    {
        echo 'extern "C" {'
        (cd opt/ntff/include/ntff && printf '#include <ntff/%s>\n' *.h)
        echo '}'
    } >all.cc
    # shellcheck disable=SC2046 # words of pkg-config
    ok "all of them from C++" g++ -std=c++17 -Wall -Werror -fsyntax-only $(pkg-config --cflags ntff) all.cc
else
    skip "all of them from C++" "no g++"
fi
is "they are those that proto/README.md names" \
    "$(cd opt/ntff/include/ntff && echo *.h)" \
    "$(sed -n '/^## As a library/,/^The library/s/^| \(`.*\) |.*|$/\1/p' "$SRC/proto/README.md" | grep -o '`[a-z_]*\.h`' | tr -d '`' | sort -u | xargs)"

# -- the example --------------------------------------------------------------------------------------
# the block of README.md that is C
sed -n '/^```c$/,/^```$/p' "$SRC/README.md" | sed '1d;$d' >count.c
ok "README.md has an example" test -s count.c
ok "of some 30 lines" test "$(wc -l <count.c)" -le 40
# shellcheck disable=SC2046
ok "it compiles, without a warning" \
    "$cc" -std=c11 -Wall -Wextra -Werror "${flags[@]}" -o count count.c $(pkg-config --cflags --libs --static ntff)
"$SRC/samples/build.sh" session
exits "and runs" 0 ./count session
mv stdout counted
# the same from the table of events: name, process, logical core, core of it
"$conv" events -q --columns name,process_id,nc_idx,pcore_idx,duration_ns -o events.csv session
is "the executions of each core are those of ntff-conv events" \
    "$(tr -d ':' <counted | awk '{ print $2, $3, $5, $6 }' | sort)" \
    "$(awk -F, '$1 == "nc_exec_running" { n[$2 " NC" $3 " " $4]++ } END { for (c in n) print c, n[c] }' events.csv | sort)"
exits "without a file it says what it wants" 2 ./count
says "in one line" '^usage: count CAPTURE'
exits "a file that is not there is an error" 1 ./count nowhere
says "with a message" 'nowhere'
finish
