#!/bin/sh
# epoch.sh - the time that everything made for release carries, in seconds: SOURCE_DATE_EPOCH, else that of
# the last commit, else that of the change log (as in an unpacked `make dist`).
cd "$(dirname "$0")/.." || exit 1
[ -n "${SOURCE_DATE_EPOCH:-}" ] && echo "$SOURCE_DATE_EPOCH" && exit
[ -e .git ] && git log -1 --format=%ct 2>/dev/null && exit
stat -c %Y CHANGELOG.md
