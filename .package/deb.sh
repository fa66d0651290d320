#!/bin/bash
# deb.sh - Debian packages out of what is built: ntff-tools (programs, manual pages, completions) and
# libntff-dev (library, headers). `make deb` calls it with
#
#   VERSION, MAINTAINER   what they say
#   OUT                   where the .deb files go
#   MAKE_INSTALL          a command that installs into DESTDIR=... PREFIX=... and so on
#
# dpkg-deb and dpkg-dev suffice, debhelper is not needed: there are no scripts, no services, nothing to
# configure. What the programs need is asked of dpkg-shlibdeps. The same source gives the same bytes: files
# are dated SOURCE_DATE_EPOCH at the latest, gzip -n adds no time.
set -euo pipefail
cd "$(dirname "$0")/.."
for tool in dpkg-deb:dpkg dpkg-shlibdeps:dpkg-dev dpkg-architecture:dpkg-dev strip:binutils; do
    command -v "${tool%%:*}" >/dev/null && continue
    echo "make deb needs ${tool%%:*} (package ${tool##*:})" >&2
    exit 1
done
SOURCE_DATE_EPOCH=$(.package/epoch.sh)
export SOURCE_DATE_EPOCH LC_ALL=C
unset DEB_BUILD_OPTIONS
umask 022
arch=$(dpkg-architecture -qDEB_HOST_ARCH)
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
mkdir -p "$OUT"
work=$(mktemp -d "$OUT/deb.XXXXXX")
trap 'rm -rf "$work"' EXIT
all=$work/all tools=$work/ntff-tools dev=$work/libntff-dev

# -- files ------------------------------------------------------------------------------------------------

$MAKE_INSTALL DESTDIR="$all" PREFIX=/usr LIBDIR="/usr/lib/$multiarch" \
    ZSHDIR=/usr/share/zsh/vendor-completions >/dev/null
mkdir -p "$dev/usr/lib"
mv "$all" "$tools"
mv "$tools/usr/lib/$multiarch" "$dev/usr/lib/$multiarch"
mv "$tools/usr/include" "$dev/usr/include"
rmdir "$tools/usr/lib"
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$tools"/usr/bin/*
strip --strip-debug --enable-deterministic-archives --remove-section=.comment "$dev/usr/lib/$multiarch/libntff.a"
gzip -9n "$tools"/usr/share/man/man?/*

# -- what Debian wants to know ----------------------------------------------------------------------------

# CHANGELOG.md in the form of debian/changelog, everything dated as the source.
changelog() {
    awk -v version="$VERSION" -v trailer=" -- $MAINTAINER  $(date -u -R -d "@$SOURCE_DATE_EPOCH")" '
        function flush(   n, i, words, line) { # the point that was collected, in lines of 78 columns
            n = split(point, words, " ")
            line = "  *"
            for (i = 1; i <= n; i++) {
                if (length(line) + 1 + length(words[i]) > 78) { print line; line = "   " }
                line = line " " words[i]
            }
            if (n) print line
            point = ""
        }
        function close_entry() { flush(); if (open) print "\n" trailer; open = 0 }
        /^## / {
            close_entry()
            v = $2 ~ /^\[?[0-9]/ ? $2 : version
            gsub(/[][]/, "", v)
            print (seen++ ? "\n" : "") "ntff-tools (" v ") unstable; urgency=medium\n"
            open = 1
            next
        }
        open && /^- / { flush(); point = substr($0, 3); next }
        open && /^  [^ ]/ { point = point " " $0 }
        END { close_entry() }' CHANGELOG.md
}
# description of package $1
describe() {
    case $1 in
    ntff-tools) cat <<END ;;
Section: utils
Depends: $depends
Description: AWS Neuron profiles for Perfetto, scripts and the terminal
 ntff-conv converts captures of AWS Neuron devices (Trainium, Inferentia) -
 session directories, ntrace.pb, .ntff, runtime event JSON - to Perfetto and
 Chrome traces, tables and reports; ntff-tui shows them as a timeline in the
 terminal. Neither needs the vendor's tools or a network.
END
    libntff-dev) cat <<END ;;
Section: libdevel
Depends: libprotobuf-c-dev, zlib1g-dev, libjson-c-dev
Description: reader of AWS Neuron profiles (static library)
 The library under ntff-conv and ntff-tui, with its headers: it opens captures
 of AWS Neuron devices, pairs and places their events and hands out a checked
 model of the trace.
END
    esac
}
shlibdeps() {
    mkdir -p "$work/source/debian"
    printf 'Source: ntff-tools\n\nPackage: ntff-tools\nArchitecture: any\n' >"$work/source/debian/control"
    (cd "$work/source" && dpkg-shlibdeps -O "$tools"/usr/bin/* 2>"$work/shlibdeps.err") |
        sed 's/^shlibs:Depends=//'
}
depends=$(shlibdeps)
[ -n "$depends" ] || { cat "$work/shlibdeps.err" >&2; exit 1; }

# finish NAME DIRECTORY: documents, control file, sums, package
finish() {
    local name=$1 root=$2 doc=$2/usr/share/doc/$1
    mkdir -p "$doc" "$root/DEBIAN"
    changelog | gzip -9n >"$doc/changelog.gz"
    cp .package/copyright "$doc/copyright"
    [ "$name" = ntff-tools ] && cp README.md "$doc/README.md"
    [ "$name" = ntff-tools ] && gzip -9nc proto/FORMAT.md >"$doc/FORMAT.md.gz"
    {
        printf 'Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: %s\nPriority: optional\n' \
            "$name" "$VERSION" "$arch" "$MAINTAINER"
        printf 'Source: ntff-tools\n' | sed "/^Source: $name\$/d"
        printf 'Installed-Size: %s\n' "$(find "$root" -type f -printf '%s\n' | awk '{ n += int(($1 + 1023) / 1024) } END { print n }')"
        describe "$name"
    } >"$root/DEBIAN/control"
    (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    chmod -R u=rwX,go=rX "$root"
    find "$root" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz --build "$root" "$OUT/${name}_${VERSION}_$arch.deb" >/dev/null
    echo "$OUT/${name}_${VERSION}_$arch.deb"
}
finish ntff-tools "$tools"
finish libntff-dev "$dev"
