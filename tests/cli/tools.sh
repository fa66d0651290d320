#!/bin/bash
# The test tools themselves: the runner calls a failure a failure, deps.sh prints the line to run.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"

# a tree of its own with little scripts for the runner
mkdir -p tree/tests/cli tree/tests/unit tree/build/release
cp "$SRC/tests/run" tree/tests/
script() { printf '#!/bin/bash\n%s\n' "$2" >"tree/tests/cli/$1.sh"; }
script good 'echo "ok 1 - a"; echo "ok 2 - b # SKIP no"; echo 1..2'
script bad 'echo "not ok 1 - a"; echo 1..1; exit 1'
script short 'echo "ok 1 - a"; echo 1..2'
script planless 'echo "ok 1 - a"'
script crash 'echo "ok 1 - a"; echo 1..1; kill -SEGV $$'
script hang 'echo 1..1; exec sleep 60'
script whole 'echo "1..0 # SKIP not here"'
# shellcheck disable=SC2016 # for the inner shell
script private 'touch left; test "$(pwd)" = "$TMP" && echo "ok 1 - $LANG $TZ $COLUMNS $HOME" && echo 1..1'
one() { (unset BUILD; cd / && TEST_TIMEOUT=2 "$TMP/tree/tests/run" "$1" 2>&1 | tail -n 1); }
is "runner: passed and skipped" "$(one cli/good)" "1 passed, 0 failed, 1 skipped"
is "runner: failed" "$(one cli/bad)" "0 passed, 1 failed, 0 skipped"
is "runner: fewer tests than planned" "$(one cli/short)" "1 passed, 1 failed, 0 skipped"
is "runner: no plan" "$(one cli/planless)" "1 passed, 1 failed, 0 skipped"
is "runner: a crash after good results" "$(one cli/crash)" "1 passed, 1 failed, 0 skipped"
is "runner: a job that hangs" "$(one cli/hang)" "0 passed, 1 failed, 0 skipped"
is "runner: a job that skips as a whole" "$(one cli/whole)" "0 passed, 0 failed, 1 skipped"
is "runner: private directory" "$(one cli/private)" "1 passed, 0 failed, 0 skipped"
is "runner: a name that fits nothing" "$(one nothing)" "0 passed, 1 failed, 0 skipped"
ok "runner: exit status 0 when all is well" env -u BUILD tree/tests/run good whole
exits "runner: exit status 1 when not" 1 env -u BUILD tree/tests/run bad
is "runner: all of them" "$(one cli/)" "5 passed, 5 failed, 2 skipped"
is "runner: leaves nothing but logs" "$(find tree ! -path '*/logs*' -newer tree/tests/run -type f | grep -v 'tests/cli' | wc -l)" 0
is "runner: nothing in its scratch place" "$(find "$TMP" -maxdepth 1 -name 'ntff-tests*')" ""

exits "deps.sh: nothing missing is silent" 0 "$SRC/tests/deps.sh" gcc make
silent "deps.sh: nothing missing is silent"
exits "deps.sh: missing, and not allowed to install" 1 env NO_APT=1 "$SRC/tests/deps.sh" gcc no-such-package other-package
says "deps.sh: prints the exact line" \
    'apt-get update && apt-get install -y --no-install-recommends no-such-package other-package$'

# delimit and the generator
printf '\x0a\x03abc\x0a\x00\x0a\x01x' | "$tools/delimit" >list
is "delimit: lengths before the records" "$(od -An -tx1 list | tr -d ' \n')" "03616263000178"
printf '\x0a\x03abc' | "$tools/delimit" u32 >list
is "delimit: u32 lengths" "$(od -An -tx1 list | tr -d ' \n')" "03000000616263"
exits "delimit: another field" 1 sh -c 'printf "\x12\x00" | "$tools/delimit"'
exits "delimit: cut input" 1 sh -c 'printf "\x0a\x05ab" | "$tools/delimit"'
"$tools/gen_ntrace" -n 5000 >one.pb 2>/dev/null
"$tools/gen_ntrace" -n 5000 >two.pb 2>/dev/null
same "gen_ntrace: the same bytes again" one.pb two.pb
is "bare_walk: reads every record of it" "$("$tools/bare_walk" one.pb 1 | cut -d' ' -f2)" 5000
finish
