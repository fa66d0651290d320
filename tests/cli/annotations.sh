#!/bin/bash
# Names and values of arguments, whatever they hold.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
exec python3 "$SRC/tests/annotations.py"
