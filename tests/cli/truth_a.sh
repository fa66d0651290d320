#!/bin/bash
# a-delimited: what ntff-conv writes against what was simulated.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
exec python3 "$SRC/tests/truth.py" a-delimited
