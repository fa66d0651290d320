#!/bin/bash
# More at one time than readers keep.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
exec python3 "$SRC/tests/storms.py"
