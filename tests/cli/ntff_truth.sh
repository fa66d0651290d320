#!/bin/bash
# Engine spans of e-device against what was simulated.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
exec python3 "$SRC/tests/ntff_truth.py"
