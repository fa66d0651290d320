#!/bin/sh
# dist.sh NAME-VERSION FILE - packs what is committed as FILE, a .tar.gz whose files lie in NAME-VERSION/.
# The same commit gives the same bytes: git archive dates all files by the commit, gzip -n adds no time.
set -eu
name=${1:?usage: dist.sh NAME-VERSION FILE}
file=${2:?}
case $file in /*) ;; *) file=$PWD/$file ;; esac
cd "$(dirname "$0")/.."
if ! git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    echo "make dist packs a commit, and this is no git repository" >&2
    exit 1
fi
[ -z "$(git status --porcelain --untracked-files=no)" ] ||
    echo "make dist: changes that are not committed are left out" >&2
mkdir -p "$(dirname "$file")"
# in two steps: a pipe would hide a failure of the first
git archive --format=tar --prefix="$name/" -o "$file.tar" HEAD
gzip -9n <"$file.tar" >"$file.tmp"
rm -f "$file.tar"
mv "$file.tmp" "$file"
echo "$file"
