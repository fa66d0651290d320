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
# not a part of the make that runs the tests
unset MAKEFLAGS MFLAGS
make_it() { make --no-print-directory -C "$SRC" VARIANT="$variant" DESTDIR="$TMP/root" PREFIX=/usr "$@"; }
ok "make install" make_it install
for program in ntff-conv ntff-tui; do
    ok "$program is there and runs" "root/usr/bin/$program" --version
    is "$program: mode" "$(stat -c %a "root/usr/bin/$program")" 755
done
for file in lib/libntff.a lib/pkgconfig/ntff.pc include/ntff/load.h share/man/man1/ntff-conv.1 \
    share/man/man1/ntff-tui.1 share/man/man5/ntff.5 share/bash-completion/completions/ntff-conv \
    share/bash-completion/completions/ntff-tui share/zsh/site-functions/_ntff-conv share/zsh/site-functions/_ntff-tui; do
    is "$file: mode" "$(stat -c %a "root/usr/$file")" 644
done
ok "no path of this machine in what is text" sh -c '! grep -rIl -e "$0" -e "$1" root' "$SRC" "$TMP"
is "nothing outside of PREFIX" "$(find root -type f ! -path 'root/usr/*')" ""
is "no file that only root may read" "$(find root -type f ! -perm -444)" ""
ok "make uninstall" make_it uninstall
is "uninstall leaves no file" "$(find root -type f -o -type l)" ""
is "and no folder that is empty" "$(find root -mindepth 2)" ""
touch root/usr/mine && mkdir -p root/usr/share/man/man7
exits "make uninstall where nothing is installed" 0 make_it uninstall
silent "is quiet"
is "and leaves what is not its own" "$(find root -mindepth 2 | sort | xargs)" \
    "root/usr/mine root/usr/share root/usr/share/man root/usr/share/man/man7"
# the places can be chosen
ok "make install LIBDIR= ZSHDIR=" make_it install LIBDIR=/usr/lib/x ZSHDIR=/usr/share/zsh/vendor-completions
ok "LIBDIR" test -f root/usr/lib/x/libntff.a
is "the .pc file follows" "$(sed -n 's/^libdir=//p' root/usr/lib/x/pkgconfig/ntff.pc)" "\${prefix}/lib/x"
ok "ZSHDIR" test -f root/usr/share/zsh/vendor-completions/_ntff-conv
finish
