#!/bin/bash
# --redact: no secret comes out of any command, pseudonyms are the same in all, nothing else changes.
# shellcheck source=tests/lib.sh
. "$SRC/tests/lib.sh"
need_program "$conv"

# A capture full of secrets: in paths, processes, attributes of every kind, event names, nested JSON.
dir=home-alice/i-0feedfacecafe0123_pid_77
mkdir -p "$dir"
cp -r "$cases"/e-device/*/* "$dir/"
python3 - >"$dir/events.json" <<'PY'
import json
B, events = 1764440000000000000, []
def event(k, name, data):
    for phase, t in (("start", B + k * 1000), ("stop", B + k * 1000 + 500)):
        events.append({"event_type": name, "phase": phase, "id": k, "nc_idx": 0, "nc_local_id": k,
            "tracking_id": k, "thread_id": 5, "worker_gid": 0, "data": data if phase == "start" else {},
            "timestamp_ns": t})
event(1, "nrt_execute", {"model_id": 5, "model_name": "secretllama-70b"})
event(2, "nrt_execute", {"model_id": 6, "model_name": "/home/alice/models/secretmodel.neff"})
event(3, "nrt_execute", {"model_id": 5, "model_name": "secretllama-70b"})
event(4, "generic", {"hostname": "secrethost", "note": "see /home/alice/notes.txt: on ip-10-1-2-3.ec2.internal, "
    "also i-0abcdef0123456789 and ~/secretdir/x", "nested": {"path": ["s3://secretbucket/a b", "/x/secret"]},
    "plain": "a / b, either/or, 10.1.2.3"})
event(5, "load /home/alice/secretcode.py", {"ratio": "1/2"})
print(json.dumps({"events": events, "data_version": 2}))
PY
python3 - >rows.json <<'PY'
import json
print(json.dumps([{"name": "nrt_execute", "timestamp": 1764440000000000000, "duration": 5, "process_id": "9",
    "instance_id": "secretinstance", "model_name": "secretllama-70b"}]))
PY
secrets='alice|secret|0feedface|0abcdef0|i-EXAMPLE|10-1-2-3|deadbeef|EXAMPLE-UID'

# hides NAME FILE...: none of the secrets in the files or on standard error
hides() {
    if grep -aEoh "$secrets" "${@:2}" "$TMP/stderr" >found; then
        fail "$1" "$(sort found | uniq -c)"
    else
        pass "$1"
    fi
}
for command in "report" "report --json" "info" "info --json" "events" "events -f jsonl --device" \
    "json" "table SystemProfileEvents" "table DeviceProfileList" "table CpuUsage" "table Warning" \
    "table ExecutionInfo -f jsonl"; do
    # shellcheck disable=SC2086 # several words
    exits "$command" 0 "$conv" $command --redact home-alice
    hides "$command hides it all" stdout
done
for form in perfetto chrome; do
    exits "$form" 0 "$conv" --redact -f $form -o trace.$form home-alice
    hides "$form hides it all" trace.$form stdout
done
"$conv" -q -f chrome -o plain.chrome home-alice
ok "without --redact they are there" grep -aq secretllama plain.chrome
exits "diff" 0 "$conv" diff --json --redact home-alice rows.json
hides "diff hides it all" stdout
exits "rows of an instance with any name" 0 "$conv" events --redact rows.json
hides "which is hidden as well" stdout

# -- the same pseudonym everywhere, and only texts change
"$conv" json -q --redact home-alice >redacted.json
"$conv" json -q home-alice >plain.json
"$conv" events -q -f jsonl --redact home-alice >redacted.jsonl
"$conv" events -q -f jsonl home-alice >plain.jsonl
"$conv" report -q --json --redact home-alice >redacted.report
"$conv" report -q --json home-alice >plain.report
ok "pseudonyms are consistent, numbers and other texts untouched" python3 - <<'PY'
import json
def walk(a, b, path, pairs):
    if isinstance(a, dict):
        assert list(a) == list(b), path
        for k in a:
            walk(a[k], b[k], path + [k], pairs)
    elif isinstance(a, list):
        assert len(a) == len(b), path
        for x, y in zip(a, b):
            walk(x, y, path, pairs)
    elif isinstance(a, str):
        try:
            x, y = json.loads(a), json.loads(b)
        except ValueError:
            x = y = None
        if isinstance(x, dict):
            walk(x, y, path, pairs)
        elif a != b:
            assert pairs.setdefault(a, b) == b, (a, b, pairs[a])
    else:
        assert a == b, (path, a, b)
pairs = {}
walk(json.load(open("plain.json")), json.load(open("redacted.json")), [], pairs)
for x, y in zip(open("plain.jsonl"), open("redacted.jsonl")):
    walk(json.loads(x), json.loads(y), [], pairs)
walk(json.load(open("plain.report")), json.load(open("redacted.report")), [], {})
assert pairs["secretllama-70b"].startswith("model-")
assert pairs["/home/alice/models/secretmodel.neff"].startswith("model-")
assert pairs["secretllama-70b"] != pairs["/home/alice/models/secretmodel.neff"]
assert pairs["secrethost"].startswith("host-")
note = next(v for k, v in pairs.items() if k.startswith("see "))
words = note.replace(":", "").replace(",", "").split()
kinds = [w.split("-")[0] for w in words]
assert kinds == "see path on host also instance and path".split(), note
assert pairs["load /home/alice/secretcode.py"].startswith("load path-")
assert "a / b, either/or, 10.1.2.3" not in pairs and "1/2" not in pairs and "nrt_execute" not in pairs
PY
(mkdir named && cd named && "$conv" -q --redact "../$dir")
is "the name of the trace tells nothing either" "$(ls named)" redacted.pftrace
"$conv" events -q --redact home-alice >one.csv && "$conv" events -q --redact home-alice >two.csv
same "the same pseudonyms again" one.csv two.csv
finish
