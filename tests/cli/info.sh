#!/bin/bash
# What `info` says is true: tests/info.py.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
exec python3 "$SRC/tests/info.py"
