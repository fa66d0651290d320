#!/bin/bash
# The checkers of the outputs find every kind of damage they are there for.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
exec python3 "$SRC/tests/checkers.py"
