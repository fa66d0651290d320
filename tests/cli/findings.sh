#!/bin/bash
# Each kind of damage once, with its count, file and offset: tests/findings.py.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
exec python3 "$SRC/tests/findings.py"
