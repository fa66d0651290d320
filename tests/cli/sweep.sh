#!/bin/bash
# Files cut and changed anywhere, some of the ways; `make sweep` has all.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$BUILD/tools/sweep"
command -v python3 >/dev/null || { echo "1..0 # SKIP python3 is missing"; exit 0; }
stride=997
[[ $BUILD == *asan* ]] && stride=1999
exec python3 "$SRC/tests/sweep/sweep.py" -s "${SWEEP_STRIDE:-$stride}"
