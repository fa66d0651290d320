#!/bin/bash
# What the build says when something it needs is missing or too old, and what the environment can ask of the programs.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
probe=$SRC/.package/probe.sh
have=('libprotobuf-c >= 1.3.3' 'zlib >= 1.2.5' 'json-c >= 0.14' 'ncursesw >= 6.0')
exits "all there" 0 "$probe" "${have[@]}"
silent "and nothing said"
exits "a library that is not there" 1 env PKG_CONFIG_LIBDIR=/nowhere PKG_CONFIG_PATH= "$probe" "${have[@]}"
for module in libprotobuf-c zlib json-c ncursesw; do
    says "$module is named" "^  $module >= [0-9.]*: not found by pkg-config$"
done
says "with the packages that have it" 'Debian, Ubuntu: .*libprotobuf-c-dev.*libjson-c-dev'
says "elsewhere too" 'json-c-devel'
exits "one that is too old" 1 "$probe" 'zlib >= 99'
says "says what there is" "^  zlib >= 99: this is $(pkg-config --modversion zlib | sed 's/\./\\./g')\$"
exits "no pkg-config" 1 env PKG_CONFIG=/nowhere/pkg-config "$probe" "${have[@]}"
says "is named" '^  /nowhere/pkg-config: no such program$'
exits "no compiler" 1 env CC='no-such-cc -m64' "$probe" "${have[@]}"
says "is named" '^  no-such-cc: no such program$'
ok "the Makefile asks for the same" grep -qF "PROBE := '${have[0]}' '${have[1]}' '${have[2]}' '${have[3]}'" "$SRC/Makefile"

# -- nothing that only Debian has ---------------------------------------------------------------------
is "no path of one distribution or processor in the sources" \
    "$(cd "$SRC" && grep -nE '/usr/lib/(x86_64|aarch64)|/etc/(debian|apt|os-release)|linux-gnu' \
        proto/*.[ch] perfetto/*.[ch] conv/*.[ch] tui/*.[ch] .package/*.[ch] Makefile)" ""

# -- environment --------------------------------------------------------------------------------------
if [ -x "$tui" ]; then
    # nothing is written to the places of a user
    mkdir -p xdg home2
    exits "ntff-conv leaves XDG directories and HOME alone" 0 env HOME="$TMP/home2" XDG_CONFIG_HOME="$TMP/xdg" \
        XDG_CACHE_HOME="$TMP/xdg" XDG_STATE_HOME="$TMP/xdg" "$conv" -q -o t.json "$cases/f-json"
    exits "ntff-tui too" 0 env HOME="$TMP/home2" XDG_CONFIG_HOME="$TMP/xdg" XDG_CACHE_HOME="$TMP/xdg" \
        XDG_STATE_HOME="$TMP/xdg" "$tui" --ascii --print "$cases/f-json"
    is "nothing is there" "$(find xdg home2 -type f)" ""
    width() { env "$@" "$tui" --ascii --print "$cases/f-json" | awk '{ if (length($0) > n) n = length($0) } END { print n }'; }
    ok "COLUMNS: width of a page" test "$(width COLUMNS=60)" -le 60
    ok "COLUMNS: wider" test "$(width COLUMNS=140)" -gt 100
    ok "COLUMNS: nonsense is not obeyed" test "$(width COLUMNS=x)" -le 100
    ok "--width is" test "$(env COLUMNS=140 "$tui" --ascii --width 60 --print "$cases/f-json" | awk '{ if (length($0) > n) n = length($0) } END { print n }')" -le 60
    is "no colour where it is not a terminal" "$("$tui" --ascii --print "$cases/f-json" | grep -c $'\e')" 0
fi
finish
