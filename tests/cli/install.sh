#!/bin/bash
# make install into a DESTDIR, and uninstall again.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
need_program "$tui"
variant=$(basename "$BUILD")
if [ "$BUILD" != "$SRC/build/$variant" ]; then
    echo "1..0 # SKIP built elsewhere"
    exit 0
fi
make_it() { make --no-print-directory -C "$SRC" VARIANT="$variant" DESTDIR="$TMP/root" PREFIX=/usr "$@"; }
ok "make install" make_it install
for program in ntff-conv ntff-tui; do
    ok "$program is there and runs" "root/usr/bin/$program" --version
    is "$program: mode" "$(stat -c %a "root/usr/bin/$program")" 755
done
is "nothing outside of PREFIX" "$(find root -type f ! -path 'root/usr/*')" ""
is "no file that only root may read" "$(find root -type f ! -perm -444)" ""
ok "make uninstall" make_it uninstall
is "uninstall leaves no file" "$(find root -type f -o -type l)" ""
finish
