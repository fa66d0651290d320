#!/bin/bash
# make deb: the packages say what they should, hold what they should, and work once unpacked or installed
# into an empty root.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
if [ "$BUILD" != "$SRC/build/release" ]; then
    echo "1..0 # SKIP for the release build only"
    exit 0
fi
for tool in dpkg-deb dpkg-shlibdeps dpkg-architecture; do
    command -v $tool >/dev/null || { echo "1..0 # SKIP no $tool (dpkg-dev)"; exit 0; }
done
ok "make deb" make --no-print-directory -C "$SRC" DIST="$TMP/debs" deb
is "it leaves nothing but the packages" "$(cd debs && echo *)" "$(cd debs && echo libntff-dev_*.deb ntff-tools_*.deb)"
version=$("$conv" --version | cut -d' ' -f2)
tools=$(echo debs/ntff-tools_*.deb) dev=$(echo debs/libntff-dev_*.deb)
arch=$(dpkg-architecture -qDEB_HOST_ARCH)
is "the name has version and architecture" "$tools" "debs/ntff-tools_${version}_$arch.deb"

# -- what they say ------------------------------------------------------------------------------------
field() { dpkg-deb -f "$1" "$2"; }
is "version" "$(field "$tools" Version)" "$version"
for lib in libc6 libprotobuf-c1 zlib1g libjson-c libncursesw6; do
    ok "ntff-tools depends on $lib" grep -q "$lib" <(field "$tools" Depends)
done
# every library a program is linked with belongs to a package it depends on
missing=
for so in $(ldd "$conv" "$tui" | grep -o '/[^ ]*\.so[^ ]*' | sort -u); do
    package=$(dpkg -S "$(readlink -f "$so")" 2>/dev/null | head -n 1 | cut -d: -f1)
    needed=$(objdump -p "$conv" "$tui" | awk '/NEEDED/ { print $2 }' | grep -cx "$(basename "$so")")
    [ "$needed" = 0 ] || [ -z "$package" ] || field "$tools" Depends | grep -qw -- "$package" || missing+=" $so:$package"
done
is "and on the packages of all its libraries" "$missing" ""
for lib in libprotobuf-c-dev zlib1g-dev libjson-c-dev; do
    ok "libntff-dev depends on $lib" grep -q "$lib" <(field "$dev" Depends)
done

# -- what they hold -----------------------------------------------------------------------------------
dpkg-deb -x "$tools" root && dpkg-deb -e "$tools" root.control
dpkg-deb -x "$dev" root
is "all files belong to root" "$(dpkg-deb -c "$tools" | awk '$2 != "root/root"')" ""
is "programs and folders only may be executed" \
    "$(find root -type f -perm /111 | sort | xargs)" "root/usr/bin/ntff-conv root/usr/bin/ntff-tui"
ok "the sums are right" sh -c 'cd root && md5sum --quiet -c ../root.control/md5sums'
is "no file is newer than the source" \
    "$(find root -newermt "@$("$SRC/.package/epoch.sh")" ! -type d)" ""
for page in man1/ntff-conv.1 man1/ntff-tui.1 man5/ntff.5; do
    ok "$page is there" test -f "root/usr/share/man/$page.gz"
    is "$page: gzip wrote no name and no time" "$(od -An -tx1 -j3 -N5 "root/usr/share/man/$page.gz" | xargs)" "00 00 00 00 00"
done
zcat root/usr/share/doc/ntff-tools/changelog.gz >changelog
if command -v dpkg-parsechangelog >/dev/null; then
    is "Debian reads the change log" "$(dpkg-parsechangelog -l changelog -S Version 2>&1)" "$version"
else
    skip "Debian reads the change log" "no dpkg-parsechangelog"
fi
ok "the copyright names the licence" grep -q '^License: Apache-2.0' root/usr/share/doc/ntff-tools/copyright
if command -v lintian >/dev/null; then
    args=(--fail-on "error,warning")
    [ "$(id -u)" = 0 ] && args+=(--allow-root)
    ok "lintian has no error and no warning" lintian "${args[@]}" "$tools" "$dev"
else
    skip "lintian has no error and no warning" "lintian is not installed"
fi

# -- and whether it works -----------------------------------------------------------------------------
"$SRC/samples/build.sh" session
exits "ntff-conv runs" 0 root/usr/bin/ntff-conv -q -o out.json session
exits "and writes what the build does" 0 "$conv" -q -o want.json session
same "the same bytes" out.json want.json
exits "ntff-tui runs" 0 root/usr/bin/ntff-tui --print session
says "and prints a page" 'neuron_rt' stdout
if [ "$(id -u)" = 0 ]; then
    mkdir -p inst/var/lib/dpkg/info inst/var/lib/dpkg/updates && : >inst/var/lib/dpkg/status
    ok "dpkg installs it into an empty root" dpkg --root="$TMP/inst" --force-depends --force-script-chrootless -i "$tools"
    exits "it runs from there" 0 inst/usr/bin/ntff-conv --version
    is "dpkg knows its files" "$(dpkg --root="$TMP/inst" -L ntff-tools | grep -c '^/usr/bin/ntff-')" 2
    ok "and removes it" dpkg --root="$TMP/inst" -P ntff-tools
    is "without a file left" "$(find inst/usr -type f 2>/dev/null)" ""
else
    skip "dpkg installs it into an empty root" "not root"
fi
finish
