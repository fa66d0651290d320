#!/bin/bash
# Layering, headers on their own, what proto/ may call: the quick part of tests/lint.sh.
exec "$SRC/tests/lint.sh" --quick "$BUILD"
