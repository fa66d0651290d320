#!/bin/bash
# Calls that fail, some of them; `make torture` has all.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$BUILD/torture/ntff-conv"
command -v python3 >/dev/null || { echo "1..0 # SKIP python3 is missing"; exit 0; }
export TORTURE_EVERY=${TORTURE_EVERY:-97}
exec python3 "$SRC/tests/torture/torture.py"
