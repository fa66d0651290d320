#!/bin/sh
# probe.sh 'MODULE >= VERSION'... - are the libraries there, and new enough, and the tools of the build? Silent if
# so; else says what is missing, what there is instead, and how it is called where. $PKG_CONFIG, $CC as in make.
set -u
pkg_config=${PKG_CONFIG:-pkg-config}
missing=
lacks() { missing="$missing  $1
"; }
for tool in "${CC:-cc}" protoc protoc-c "$pkg_config"; do
    # CC may have arguments
    command -v "${tool%% *}" >/dev/null 2>&1 || lacks "${tool%% *}: no such program"
done
if command -v "${pkg_config%% *}" >/dev/null 2>&1; then
    for module; do
        $pkg_config --exists "$module" 2>/dev/null && continue
        there=$($pkg_config --modversion "${module%% *}" 2>/dev/null) &&
            lacks "$module: this is $there" || lacks "$module: not found by $pkg_config"
    done
fi
[ -z "$missing" ] && exit 0
printf 'What the build needs and does not find:\n%s' "$missing" >&2
cat >&2 <<'END'
Packages that have them:
  Debian, Ubuntu: gcc pkg-config protobuf-compiler protobuf-c-compiler libprotobuf-c-dev zlib1g-dev libjson-c-dev
                  libncurses-dev (`make deps` installs these)
  Fedora, Amazon Linux: gcc pkgconf-pkg-config protobuf-compiler protobuf-c-compiler protobuf-c-devel zlib-devel
                  json-c-devel ncurses-devel
END
exit 1
