#!/bin/bash
# Small files that ask for much memory, time or depth.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
command -v python3 >/dev/null || { echo "1..0 # SKIP python3 is missing"; exit 0; }
exec python3 "$SRC/tests/bombs.py"
