#!/bin/sh
# demo.sh - converts the sample session and says what to look at. `make demo` builds what it needs.
set -eu
src=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$src/build/release}
export BUILD
session=$src/build/sample-session
demo=$src/build/demo

rm -rf "$session"
"$src/samples/build.sh" "$session"
mkdir -p "$demo"

# Exit status 3 is "written, with losses": fine for a capture, but the sample has none.
"$BUILD/ntff-conv" --force -f perfetto -o "$demo/sample.pftrace" "$session"
"$BUILD/ntff-conv" --force -f chrome -o "$demo/sample.json" "$session"

echo
"$BUILD/ntff-conv" report --top 3 "$session" | sed "s|$src/||g"
cat <<END

Two traces of the same session:
  build/demo/sample.pftrace   open in https://ui.perfetto.dev ("Open trace file")
  build/demo/sample.json      open there too, or in chrome://tracing
No browser at hand? The same session in the terminal:
  build/ntff-tui build/sample-session
What is in the files and how it was read:
  build/ntff-conv info build/sample-session
samples/README.md tells what there is to see. Your own capture:
  build/ntff-conv DIRECTORY
END
