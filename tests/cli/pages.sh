#!/bin/bash
# Manual pages and completions, which the build makes from the tables of options: nothing is missing in
# them, and their readers are content.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"
need_program "$tools/describe"
for file in man/ntff-conv.1 man/ntff-tui.1 man/ntff.5 completions/ntff-conv.bash completions/_ntff-conv; do
    [ -s "$BUILD/$file" ] || { echo "1..0 # SKIP $file is not built: make describe"; exit 0; }
done

# Long options that --help of a command lists.
options_of() { "$@" --help | grep -oE '^ {2,6}(-., )?--[a-z-]+(, --[a-z-]+)?' | grep -oE -- '--[a-z-]+' | sort -u; }
commands=$("$conv" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
is "there are commands" "$(wc -w <<<"$commands")" 9

# -- manual pages -------------------------------------------------------------------------------------
# A page as words, with mdoc's escapes and macros out of the way.
plain_page() { sed 's/\\-/-/g; s/\\&//g; s/ Fl Fl / --/g; s/^\.Fl Fl /--/; s/ Fl \(.\) / -\1 /g' "$BUILD/man/$1"; }
plain_page ntff-conv.1 >conv.txt
for command in $commands; do
    # its own part, and the options about reading, which all share
    sed -n "/^\.Ss $command\$/,/^\.S[sh] /p; /^\.Ss Reading/,/^\.Sh /p" conv.txt >part.txt
    missing=
    for option in $(options_of "$conv" "$command"); do
        grep -Eq -- "^\.It .*$option( |\$)" part.txt || missing+=" $option"
    done
    is "ntff-conv(1) has all options of $command" "$missing" ""
    ok "and says what it is for" grep -q "^\.It Ic $command\$" conv.txt
done
is "no other option than the program has" "$(grep -oE '^\.It .*--[a-z-]+' conv.txt | grep -oE -- '--[a-z-]+' | sort -u)" \
    "$(for c in $commands; do options_of "$conv" "$c"; done | sort -u)"
is "all figures" "$(grep -c '^\.It Cm [a-z0-9]*\.' conv.txt)" \
    "$("$conv" report --fail-on 'x < 1' x 2>&1 | grep -oE '\b[a-z0-9]+\.[a-z0-9_]+\b' | sort -u | wc -l)"
for table in $("$conv" table --list | awk '/supported/ && !/not/ { print $1 }' | head -n 3); do
    ok "table $table" grep -q "^\.Cm $table " conv.txt
done
for page in ntff-conv.1 ntff-tui.1 ntff.5; do
    ok "$page: no line @...@ is left" sh -c "! grep -q '@[a-z ]*@\$' '$BUILD/man/$page'"
    if command -v mandoc >/dev/null; then
        is "$page: mandoc has no complaint" "$(mandoc -T lint -W warning "$BUILD/man/$page" 2>&1)" ""
    else
        skip "$page: mandoc has no complaint" "mandoc is not installed"
    fi
    if groff -Tutf8 -mandoc </dev/null >/dev/null 2>&1; then
        is "$page: nor has groff" "$(groff -ww -Tutf8 -mandoc "$BUILD/man/$page" 2>&1 >/dev/null)" ""
    else
        skip "$page: nor has groff" "groff is not installed with its manual macros"
    fi
done

# -- bash ---------------------------------------------------------------------------------------------
for program in ntff-conv ntff-tui; do
    ok "$program: bash reads the completion" bash -n "$BUILD/completions/$program.bash"
done
# complete_bash LINE: what is proposed for its last word, as bash would split it
complete_bash() {
    bash --norc -c '
        . "$1"
        set -f
        COMP_LINE=$2 COMP_POINT=${#2}
        IFS=" " read -ra words <<<"${2//=/ = }"
        [[ $2 == *[\ =] ]] && words+=("")
        COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1))
        spec=$(complete -p "${words[0]}") && f=${spec#*-F } && "${f%% *}"
        printf "%s\n" "${COMPREPLY[@]}"' bash "$BUILD/completions/${1%% *}.bash" "$1" 2>&1 | sort
}
proposes() { is "$1" "$(complete_bash "$2" | xargs)" "$3"; }
mkdir -p in/dir && cd in && touch dir/ntrace.pb "dir/a b.ntff"
proposes "the commands" "ntff-conv re" "report"
proposes "and inputs of convert" "ntff-conv d" "diff dir dump"
is "all of them" "$(complete_bash 'ntff-conv ' | grep -vx dir)" "$(sort <<<"$commands")"
for command in $commands; do
    is "$command: its options" "$(complete_bash "ntff-conv $command --" | grep '^--')" "$(options_of "$conv" "$command")"
done
proposes "without a command those of convert" "ntff-conv --comp" "--compact"
proposes "choices" "ntff-conv convert -f " "chrome perfetto"
proposes "choices of another command" "ntff-conv events --format j" "jsonl"
proposes "behind =" "ntff-conv convert --format=c" "chrome"
proposes "clocks" "ntff-conv info --clock sync" "sync-point"
proposes "words of a list" "ntff-conv convert --type cc_runn" "cc_running"
proposes "further words of a list" "ntff-conv convert --core 0 --type nrt_load,cc_runn" "nrt_load,cc_running"
proposes "by the vendor's name too" "ntff-conv info --system-trace-filter-event-type nc_exec_runn" "nc_exec_running"
proposes "figures" "ntff-conv report --fail-on gap." "gap.max_ns gap.total_ns"
proposes "tables" "ntff-conv table DeviceP" "$("$conv" table --list | awk '{ print $1 }' | grep '^DeviceP' | xargs)"
proposes "after a table inputs" "ntff-conv table $("$conv" table --list | awk '/^[A-Z]/ { print $1 }' | grep -x SystemProfileEvents) d" "dir"
proposes "files" "ntff-conv info dir/n" "dir/ntrace.pb"
is "names with blanks in one piece" "$(complete_bash 'ntff-conv info dir/a')" "dir/a b.ntff"
proposes "a value that cannot be known" "ntff-conv convert --from " ""
proposes "schema takes no inputs" "ntff-conv schema d" ""
is "ntff-tui: its options" "$(complete_bash 'ntff-tui --' | grep '^--')" "$(options_of "$tui")"
proposes "ntff-tui: choices" "ntff-tui --color " "16 256 auto never"
proposes "ntff-tui: files" "ntff-tui --print dir/n" "dir/ntrace.pb"

# -- zsh ----------------------------------------------------------------------------------------------
for program in ntff-conv ntff-tui; do
    file=$BUILD/completions/_$program
    is "$program: zsh finds the function by its first line" "$(head -n 1 "$file")" "#compdef $program"
    if command -v zsh >/dev/null; then
        ok "$program: zsh reads it" zsh -n "$file"
        is "$program: and compinit takes it" "$(ZDOTDIR=$TMP/home zsh -fc 'fpath=("$1" $fpath)
            autoload -Uz compinit && compinit -D -u && print $_comps[$2]' zsh "$BUILD/completions" "$program" 2>&1)" "_$program"
    else
        skip "$program: zsh reads it" "zsh is not installed"
        skip "$program: and compinit takes it" "zsh is not installed"
    fi
done

# -- both, as somebody types ----------------------------------------------------------------------------
lines=("ntff-conv repo" "ntff-conv report" "ntff-conv info --clock=sy" "ntff-conv info --clock=sync-point"
    "ntff-conv convert --type nrt_load,cc_ru" "ntff-conv convert --type nrt_load,cc_running"
    "ntff-conv table SystemProfileE" "ntff-conv table SystemProfileEvents"
    "ntff-tui --color ne" "ntff-tui --color never" "ntff-conv info dir/nt" "ntff-conv info dir/ntrace.pb")
want=$(printf '%s\n%s\n' "${lines[@]}" | sed -n 'n;p')
for shell in bash zsh; do
    if command -v python3 >/dev/null && command -v $shell >/dev/null; then
        is "$shell, at a prompt" "$(python3 "$SRC/tests/complete.py" $shell "$BUILD/completions" "${lines[@]}" 2>&1)" "$want"
    else
        skip "$shell, at a prompt" "needs python3 and $shell"
    fi
done
finish
