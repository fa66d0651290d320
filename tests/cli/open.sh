#!/bin/bash
# convert --open: says how to open what was written, and only then.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
"$SRC/samples/build.sh" "$TMP/session" >/dev/null

exits "--open" 0 "$conv" convert --open -o t.pftrace "$TMP/session"
says "it names page and file" '^To see it: https://ui\.perfetto\.dev, "Open trace file", t\.pftrace\.$' stdout
silent "and says nothing else"
exits "with -q too: it was asked for" 0 "$conv" --open -q --force -o t.pftrace "$TMP/session"
says "-q: the page" 'ui\.perfetto\.dev' stdout
exits "without --open" 0 "$conv" -o u.pftrace "$TMP/session"
silent "nothing on standard output" stdout
exits "nothing written, nothing to open" 1 "$conv" --open -o t.pftrace "$TMP/session"
silent "so nothing is said" stdout
exits "standard output cannot be opened" 2 "$conv" --open -o - "$TMP/session"
says "and that is said" '^ntff-conv: --open: standard output'
finish
