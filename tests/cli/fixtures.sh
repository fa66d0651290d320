#!/bin/bash
# The small inputs that readers stumble over: tests/fixtures.py.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
exec python3 "$SRC/tests/fixtures.py"
