#!/bin/bash
# The same source gives the same bytes, wherever and whenever it is built: programs, library, pages,
# packages and the source archive.
# timeout: 900
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
if [ -z "${CI:-}" ]; then
    echo "1..0 # SKIP it builds everything a second time: CI=1 make check"
    exit 0
fi
if [ "$BUILD" != "$SRC/build/release" ]; then
    echo "1..0 # SKIP for the release build only"
    exit 0
fi
export SOURCE_DATE_EPOCH=1764440000
elsewhere="$TMP/another directory, with a longer name"
plain=$TMP/elsewhere/with/a/longer/name # make has no names with blanks
mkdir -p "$plain" && tar -C "$SRC" --exclude=./build --exclude=./.git -cf - . | tar -C "$plain" -xf -
# another day, umask, locale and time zone
ok "it builds in another directory" env LC_ALL=C TZ=Asia/Kathmandu \
    sh -c 'umask 077 && exec make --no-print-directory -j2 -C "$1" all lib describe' sh "$plain"
same "ntff-conv" "$conv" "$plain/build/release/ntff-conv"
same "ntff-tui" "$tui" "$plain/build/release/ntff-tui"
same "libntff.a" "$BUILD/libntff.a" "$plain/build/release/libntff.a"
is "manual pages and completions" "$(cd "$BUILD" && cat man/* completions/* | cksum)" \
    "$(cd "$plain/build/release" && cat man/* completions/* | cksum)"
is "no program knows where it was built" "$(grep -lF -e "$SRC" "$conv" "$tui" "$BUILD/libntff.a")" ""

if command -v dpkg-shlibdeps >/dev/null; then
    ok "make deb here" make --no-print-directory -C "$SRC" DIST="$TMP/here" deb
    ok "make deb there" env TZ=Asia/Kathmandu sh -c 'umask 027 && exec make --no-print-directory -C "$1" DIST="$2" deb' \
        sh "$plain" "$TMP/there"
    for deb in here/*.deb; do
        same "$(basename "$deb")" "$deb" "there/$(basename "$deb")"
    done
else
    skip "make deb" "no dpkg-shlibdeps (dpkg-dev)"
fi

if git -C "$SRC" rev-parse HEAD >/dev/null 2>&1 && git clone -q "$SRC" "$elsewhere" 2>/dev/null; then
    unset SOURCE_DATE_EPOCH
    ok "make dist here" make --no-print-directory -C "$SRC" DIST="$TMP/here" dist
    ok "make dist in a clone" "$elsewhere/.package/dist.sh" "$(basename here/*.tar.gz .tar.gz)" "$TMP/there/$(basename here/*.tar.gz)"
    same "the archives" here/*.tar.gz there/*.tar.gz
    mkdir unpacked && tar -xzf here/*.tar.gz -C unpacked --strip-components=1
    is "they hold what is tracked" "$(cd unpacked && find . -type f | sed 's|^\./||' | sort | cksum)" \
        "$(git -C "$SRC" ls-tree -r --name-only HEAD | sort | cksum)"
    is "an unpacked one is dated like the commit" "$(unpacked/.package/epoch.sh)" "$(git -C "$SRC" log -1 --format=%ct)"
else
    skip "make dist" "no git repository"
fi
finish
