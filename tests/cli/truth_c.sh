#!/bin/bash
# c-second-numbering: what ntff-conv writes against what was simulated.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
exec python3 "$SRC/tests/truth.py" c-second-numbering
