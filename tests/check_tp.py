#!/usr/bin/env python3
"""check_tp TRACE SUMMARY.json - loads a trace into Perfetto's trace_processor_shell and asks it.

The questions are those that prove a trace sound: no import errors or lost data, nothing open, nothing
overlapping, flows whole, names resolved, pids and tids unique, and per category the same number of slices
and the same sums as the converter says it wrote. Prints what is wrong; exit status 1 if anything is.
"""
import csv
import io
import json
import subprocess
import sys

SHELL = "trace_processor_shell"

# name, SQL; none may give a row
EMPTY = [
    ("Q1 import errors", """SELECT name, idx, severity, value FROM stats
        WHERE value > 0 AND severity IN ('error', 'data_loss', 'notice')"""),
    ("Q2 damaged data", """SELECT name, value FROM stats WHERE value > 0 AND name IN
        ('track_event_parser_errors', 'track_event_tokenizer_errors', 'interned_data_tokenizer_errors',
         'track_hierarchy_missing_uuid', 'flow_step_without_start', 'flow_end_without_start',
         'tokenizer_skipped_packets')"""),
    ("Q3 import log", "SELECT * FROM _trace_import_logs"),
    ("Q4 open slices", "SELECT 1 FROM slice WHERE dur = -1"),
    ("Q5 impossible times", "SELECT 1 FROM slice WHERE ts < 0 OR dur < -1"),
    ("Q6 overlap at one depth", """SELECT 1 FROM (SELECT ts, dur,
        lead(ts) OVER (PARTITION BY track_id, depth ORDER BY ts, id) AS nxt FROM slice WHERE dur >= 0)
        WHERE nxt < ts + dur"""),
    ("Q7 child outside its parent", """SELECT 1 FROM slice c JOIN slice p ON c.parent_id = p.id
        WHERE p.dur >= 0 AND (c.ts < p.ts OR (c.dur >= 0 AND c.ts + c.dur > p.ts + p.dur))"""),
    ("Q8 nesting on flat rows", """SELECT 1 FROM slice
        WHERE category IN ('instr', 'dma') AND depth > 0 AND dur > 0"""),
    ("Q10 flows with not exactly one edge", "SELECT trace_id FROM flow GROUP BY trace_id HAVING count(*) <> 1"),
    ("Q10 flows back in time", """SELECT 1 FROM flow f JOIN slice o ON o.id = f.slice_out
        JOIN slice i ON i.id = f.slice_in WHERE o.ts > i.ts"""),
    ("Q11 unresolved names", """SELECT 1 FROM slice
        WHERE name IS NULL OR name = '' OR category GLOB 'unknown(*'"""),
    ("Q13 pids twice", """SELECT pid, machine_id, count(*) FROM process WHERE pid <> 0 GROUP BY 1, 2
        HAVING count(*) > 1"""),
    ("Q13 tids twice", """SELECT upid, tid, count(*) FROM thread WHERE tid <> 0 GROUP BY 1, 2
        HAVING count(*) > 1"""),
    ("Q14 counter values", "SELECT 1 FROM counter WHERE value IS NULL OR abs(value) > 9e18"),
]
PROTO_ONLY = [
    ("Q12 tracks nobody declared", """SELECT id, name FROM track
        WHERE type GLOB 'global_*track_event'"""),
    ("Q13 threads without process", "SELECT 1 FROM thread WHERE upid IS NULL AND tid <> 0"),
    ("Q15 no clock snapshot", "SELECT 1 WHERE NOT EXISTS (SELECT * FROM clock_snapshot)"),
]
ARGS_ONLY = [
    ("Q16 device time of a device span", """SELECT 1 FROM slice WHERE category IN ('exec', 'instr', 'dma')
        AND coalesce(extract_arg(arg_set_id, '%snc_start_timestamp_ns'),
                     extract_arg(arg_set_id, '%snc_stop_timestamp_ns'),
                     extract_arg(arg_set_id, '%snc_timestamp_ns')) IS NULL"""),
]


def ask(trace, questions):
    """Number of rows each question gives, and the totals per category, in one run of the shell."""
    parts = [f"SELECT '{name}' AS a, (SELECT count(*) FROM ({sql})) AS b, 0 AS c, 0 AS d, 0 AS e"
             for name, sql in questions]
    parts.append("SELECT * FROM (SELECT 'category ' || category, count(*), sum(dur), min(ts), max(ts + dur)"
                 " FROM slice GROUP BY 1)")
    done = subprocess.run([SHELL, "query", trace, " UNION ALL ".join(parts)], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise SystemExit(f"{trace}: {SHELL} failed: {done.stderr[-2000:]}")
    rows = list(csv.reader(io.StringIO(done.stdout)))[1:]
    return {row[0]: [int(x) for x in row[1:]] for row in rows}


def main(trace, summary_path, *options):
    with open(summary_path) as f:
        summary = json.load(f)
    chrome = summary["output"]["format"] == "chrome"
    questions = EMPTY + ([] if chrome else PROTO_ONLY)
    if "--device-args" in options:
        key = "args." if chrome else "debug."
        questions = questions + [(name, sql.replace("%s", key)) for name, sql in ARGS_ONLY]
    totals = [("flows", "SELECT 1 FROM flow"), ("samples", "SELECT 1 FROM counter")]
    answers = ask(trace, questions + totals)
    wrong = [f"{name}: {answers[name][0]}" for name, _ in questions if answers[name][0] != 0]
    got = {k.split(" ")[1]: v for k, v in answers.items() if k.startswith("category ")}
    want = {k: [v["count"], v["sum"], v["min"], v["max"]] for k, v in summary["categories"].items()}
    if got != want:
        wrong.append(f"Q9 totals: {got}, the converter says {want}")
    for name, number in [("flows", summary["flows"]["written"]), ("samples", summary["samples"])]:
        if answers[name][0] != number:
            wrong.append(f"{name}: {answers[name][0]}, the converter says {number}")
    for line in wrong:
        print(f"{trace}: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    raise SystemExit(main(*sys.argv[1:]))
