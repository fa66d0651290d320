#!/usr/bin/env python3
"""mkraw.py TRUTH.json.gz - the run of a truth file as a dump of raw nrt_sys_trace_event records.

A plain array of 112-byte records, little-endian, as [TAX] lays them out; written by struct.pack, from the
table below and nothing else. Hardware events carry raw device time as their timestamp and, in the payload
of either end, a pair of clock readings of their own; each physical core has its own origin.
"""
import gzip
import json
import struct
import sys

# name -> (type, payload of START or INSTANT as (attribute, offset, struct code), offset of sync or None)
TYPES = {
    "nrt_load": (1, [], None),
    "nrt_execute": (3, [("model_id", 0, "Q")], None),
    "kmgr_exec_core": (4, [("model_id", 0, "Q")], None),
    "cc_exec_barrier": (6, [("model_id", 0, "Q"), ("exec_id", 8, "I")], 16),
    "nc_exec_running": (7, [("device_core_idx", 0, "I"), ("exec_id", 4, "I")], 8),
    "cc_running": (8, [("gid", 0, "I"), ("op_id", 4, "I"), ("exec_id", 8, "I")], 16),
    "nrt_tensor_read": (9, [("tensor_id", 0, "Q"), ("size", 8, "Q")], None),
    "nrt_tensor_write": (10, [("tensor_id", 0, "Q"), ("size", 8, "Q")], None),
    "numerical_err": (13, [("device_core_idx", 0, "I"), ("exec_id", 4, "I")], 8),
    "kbl_exec_pre": (17, [("exec_id", 0, "Q"), ("model_id", 8, "Q")], None),
    "kbl_exec_core": (18, [("exec_id", 0, "Q"), ("model_id", 8, "Q")], None),
    "kbl_exec_wait": (19, [("exec_id", 0, "Q"), ("model_id", 8, "Q")], None),
    "kbl_exec_post": (20, [("exec_id", 0, "Q"), ("model_id", 8, "Q")], None),
    "nrt_model_submit": (22, [("model_id", 0, "Q")], None),
    "hw_notify": (24, [("device_core_idx", 0, "I"), ("hint", 4, "H"), ("custom_data", 8, "I"),
                       ("exec_id", 16, "Q")], 24),
    "dmem_buf_copyin": (30, [("mem_handle", 8, "Q"), ("offset", 16, "I"), ("size", 20, "I")], None),
    "dmem_buf_copyout": (31, [("mem_handle", 8, "Q"), ("offset", 16, "I"), ("size", 20, "I")], None),
}
START, STOP, INSTANT = 0, 1, 2


def record(kind, phase, ts, span, number, payload):
    return struct.pack("<I4xQQQQQ40sIIQB7x", kind, span["tid"], number, number, span["tracking_id"], ts,
                       bytes(payload), phase, span["nc"], 0, 0)


def device_time(core, ts):
    return ts - 1764430000_000_000_000 - core * 1_234_567_891_011


def dump(truth):
    out, number = [], 0
    for s in truth["spans"]:
        kind, members, sync = TYPES[s["name"]]
        start = bytearray(40)
        for name, offset, code in members:
            if name in s["attrs"]:
                struct.pack_into("<" + code, start, offset, int(s["attrs"][name]))
        stop, ends = bytearray(40), [s["ts"], None if s["dur"] is None else s["ts"] + s["dur"]]
        if s["name"] == "nrt_load":
            struct.pack_into("<Q", stop, 0, int(s["attrs"]["model_id"]))
        stamps = list(ends)
        if sync is not None:
            stamps = [e and device_time(s["core"], e) for e in ends]
            struct.pack_into("<QQ", start, sync, stamps[0], ends[0])
            if s["dur"] is not None:
                struct.pack_into("<QQ", stop, 0, stamps[1], ends[1])
        if s["drop"] != "start":
            number += 1
            phase = INSTANT if s["dur"] is None else START
            out.append((ends[0], number, record(kind, phase, stamps[0], s, number, start)))
        if s["dur"] is not None and s["drop"] != "stop":
            number += 1
            out.append((ends[1], number, record(kind, STOP, stamps[1], s, number, stop)))
    return b"".join(r for _, _, r in sorted(out))


if __name__ == "__main__":
    with gzip.open(sys.argv[1], "rt", encoding="utf-8") as f:
        sys.stdout.buffer.write(dump(json.load(f)))
