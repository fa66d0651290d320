#!/bin/bash
# The viewer in a real terminal (tmux): start, keys, resize, search, every way out, and the terminal as it
# was afterwards. Nothing sleeps for luck: each step waits for what it expects on the screen, and a command
# is typed only when the shell has the terminal and the command before has said its last.
# timeout: 900
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$tui"
command -v tmux >/dev/null || { echo "1..0 # SKIP tmux is not installed"; exit 0; }

export TMUX_TMPDIR=$TMP
unset TMUX
mux() { tmux -L tui "$@"; }
trap 'mux kill-server 2>/dev/null' EXIT
cat >"$TMP/rc" <<'END'
PS1='ready> '
unset HISTFILE
END
mux -f /dev/null new-session -d -x 100 -y 30 "bash --rcfile '$TMP/rc' -i" || {
    echo "1..0 # SKIP tmux cannot start here"
    exit 0
}
mux set -g default-terminal tmux-256color
capture=$cases/a-delimited
schema="--schema $cases/schema.desc"

screen() { mux capture-pane -p; }
# soon COMMAND...: it is true within half a minute, which is long even on a loaded machine
soon() {
    local until=$((SECONDS + 30))
    while ! "$@"; do
        [ $SECONDS -lt $until ] || return 1
        sleep 0.05
    done
}
shows() { screen | grep -Eq -- "$1"; }
hides() { ! shows "$1"; }
# sees NAME PATTERN: the screen shows it
sees() { if soon shows "$2"; then pass "$1"; else fail "$1" "no line matches $2" "$(screen)"; fi; }
# lacks NAME PATTERN: it is gone
lacks() { if soon hides "$2"; then pass "$1"; else fail "$1" "a line still matches $2" "$(screen)"; fi; }
# tmux NAME: the value of its #{NAME}; has NAME VALUE: it is that
value() { mux display-message -p "#{$1}"; }
has() { [ "$(value "$1")" = "$2" ]; }
# The shell waits for a command: nothing runs in front of it, and its prompt is the last thing on the screen.
idle() {
    has pane_current_command bash && has alternate_on 0 &&
        [ "$(screen | grep -v '^ *$' | tail -n 1 | sed 's/ *$//')" = 'ready>' ]
}
keys() { mux send-keys "$@"; }
# run COMMAND...: typed at the prompt of a cleared shell
run() {
    if ! soon idle; then # what is typed now would go to the viewer
        fail "the shell is ready for: $*" "$(screen)"
        finish
        exit 1
    fi
    rm -f "$TMP/before" "$TMP/after"
    keys -l "clear; stty -g >$TMP/before; $*; echo \"status=\$?\"; stty -g >$TMP/after"
    keys Enter
}
# back NAME STATUS: the shell has the terminal again, as it was
back() {
    sees "$1: exit status $2" "^status=$2\$"
    sees "$1: the shell is back" '^ready> *$'
    lacks "$1: the viewer's screen is gone" 'F1 help|q or Esc cancels'
    soon test -s "$TMP/after"
    soon idle
    same "$1: terminal settings as before" "$TMP/before" "$TMP/after"
    is "$1: cursor visible" "$(value cursor_flag)" 1
    is "$1: mouse reports are off" "$(value mouse_any_flag)" 0
}
# What runs in this terminal, and in no other one of the machine.
pid_of_viewer() { pgrep -P "$(value pane_pid)" -x "$(basename "$tui")"; }

ok "a shell" soon idle

# -- start, keys, resize, search, quit ---------------------------------------------------------------
run "$tui $capture $schema"
sees "start: header" 'a-delimited'
sees "start: a host thread with its spans" 'neuron_rt NC0.*nrt_load'
sees "start: help line" 'F1 help'
is "start: mouse reports are on" "$(value mouse_any_flag)" 1
keys F1
sees "F1: help" 'zoom in at the cursor'
keys q
lacks "q leaves the help" 'zoom in at the cursor'
keys Down 2
sees "2: details" '─ Details ─'
keys / kbl_exec_wait Enter
sees "search: hit" 'hit 1 of'
keys n
sees "n: next hit" 'hit 2 of'
keys Escape
mux resize-window -x 60 -y 20
sees "resize: smaller" 'Details ─{44}'
mux resize-window -x 140 -y 40
sees "resize: larger" 'Details ─{120}'
mux resize-window -x 100 -y 30
keys 2
lacks "2 again: no details" '─ Details ─'
keys Right Right w
sees "w: zoomed" '[0-9]x '
keys C-l
sees "ctrl-L: still there" 'F1 help'
keys q
back "quit" 0

# -- mouse -------------------------------------------------------------------------------------------
# BUTTON COLUMN LINE M|m, as xterm's SGR protocol reports them: 32 is motion, 64 and 65 the wheel
mouse() { keys -l $'\e'"[<$1;$2;$3$4"; }
run "$tui $capture $schema"
sees "mouse: started" 'F1 help'
mouse 0 50 5 M
mouse 0 50 5 m
sees "click: the span under it is selected" 'nrt_load [0-9.]+ ms'
mouse 64 50 5 M
mouse 64 50 5 M
lacks "wheel: zoomed" ' 499x '
mouse 0 40 12 M
mouse 32 45 12 M
mouse 32 60 12 M
mouse 0 60 12 m
sees "drag: a marked range" 'marked [0-9.]+'
keys -l $'\e[M q*\e[M@y*\e[M#y*' # the old protocol, three reports in one go
sees "drag, old protocol: another range" 'marked [0-9.]+.*F1|marked [0-9.]+'
keys Escape
lacks "Esc: no marked range" 'marked [0-9.]+'
keys -l $'\e[999z' # a sequence nobody knows
sees "unknown sequence: nothing happens" 'F1 help'
keys Y
sees "Y: mouse off" 'mouse off'
ok "Y: the terminal knows" soon has mouse_any_flag 0
keys q
back "mouse" 0
run "$tui --no-mouse $capture $schema"
sees "--no-mouse: started" 'F1 help'
is "--no-mouse: no reports" "$(value mouse_any_flag)" 0
keys q
back "--no-mouse" 0

# -- suspend and resume ------------------------------------------------------------------------------
run "$tui $capture $schema"
sees "suspend: started" 'F1 help'
keys C-z
sees "suspend: the shell says so" 'Stopped'
ok "suspend: the shell works" soon idle
keys -l 'stty -a | grep -c " icanon"; echo fine'
keys Enter
sees "suspend: the terminal is the shell's" '^fine'
keys -l fg
keys Enter
sees "resume: drawn again" 'F1 help'
keys Down
mux resize-window -x 90 -y 28
sees "resume: resize still works" 'F1 help'
mux resize-window -x 100 -y 30
keys q
ok "resume: quit" soon idle

# -- signals -----------------------------------------------------------------------------------------
run "$tui $capture $schema"
sees "ctrl-C: started" 'F1 help'
keys C-c
back "ctrl-C" 130
for sig in TERM:143 INT:130 HUP:129; do
    run "$tui $capture $schema"
    sees "SIG${sig%:*}: started" 'F1 help'
    kill -"${sig%:*}" "$(pid_of_viewer)"
    back "SIG${sig%:*}" "${sig#*:}"
done

# -- loading -----------------------------------------------------------------------------------------
mkfifo "$TMP/fifo"
sleep 60 >"$TMP/fifo" &
sleeper=$!
run "$tui - <$TMP/fifo"
sees "loading: progress" 'q or Esc cancels'
keys q
back "loading: a hanging read is left at once" 130
kill "$sleeper"
run "cat $capture/*/ntrace.pb | $tui $schema -"
sees "standard input: data from the pipe, keys from the terminal" 'nrt_load'
keys q
back "standard input" 0

# -- plainer terminals -------------------------------------------------------------------------------
run "NO_COLOR=1 $tui $capture $schema"
sees "NO_COLOR: started" 'F1 help'
is "NO_COLOR: no colours" "$(mux capture-pane -e -p | grep -Eo $'\e\\[[0-9;]*(3[0-8]|4[0-8])[0-9;]*m' | head -n 1)" ""
ok "NO_COLOR: but reverse video" grep -q $'\e\\[[0-9;]*7m' <(mux capture-pane -e -p)
keys q
back "NO_COLOR" 0
run "LC_ALL=C $tui $capture $schema"
sees "C locale: ASCII" '\|.*nrt_load'
is "C locale: nothing but ASCII" "$(screen | LC_ALL=C grep -c '[^ -~]')" 0
keys q
back "C locale" 0
run "TERM=vt100 $tui $capture $schema"
sees "vt100: started" 'nrt_load'
keys q
back "vt100" 0
run "TERM=nonsense $tui $capture $schema"
sees "unknown TERM: says so" 'terminal type nonsense is unknown'
back "unknown TERM" 2
run "TERM=dumb $tui $capture $schema"
sees "TERM=dumb: says so" 'ntff-tui: terminal type dumb cannot place a cursor \(TERM\); --print and --script work without'
back "TERM=dumb" 2
run "$tui $capture $schema | cat"
sees "pipe: clear error" 'standard output is not a terminal; --print and --script'
run "$tui /nowhere"
sees "no such file: named" 'ntff-tui:.*/nowhere'
back "no such file" 1
finish
