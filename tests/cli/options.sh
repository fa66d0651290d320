#!/bin/bash
# What the options of a conversion do: tests/options.py.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
exec python3 "$SRC/tests/options.py"
