#!/usr/bin/env python3
"""make_session.py DIR - writes the text sources of the sample session (samples/session).

The committed files are what this prints; a test holds the two equal. Change the story here, run
`samples/make_session.py samples/session`, read the diff.

The story: one instance, two worker processes (pids 4242 and 4243) of an inference server, each with two
logical NeuronCores of two physical cores (LNC=2). Each worker loads a model, allocating device memory on
the way, runs three synchronous steps (copy in, execute with a collective on the device, copy out), then
two asynchronous ones that overlap, and is still busy when the capture ends. What makes it a real one:

* the ring of pid 4242 has lost its oldest records: two stops come without their starts;
* the capture ends in the middle of a step: starts without stops;
* hardware events carry raw device time, each physical core on a clock of its own, some ppm fast or slow,
  and sync points read the host a few microseconds late;
* the sync points of one step are missing on core 1 of pid 4242;
* pid 4243 computes a NaN: numerical_err and hw_notify, and the host finds it while draining queues;
* one event is of a type newer than the 46 known ones.

Two cores have a device profile, as text for tools/mkntff: what the five engines, the DMA queues and the
semaphores did inside every finished execution; with the NaN where the host found it.
"""
import os
import sys

BASE = 1764440000_000_000_000  # Unix ns
INSTANCE = "i-0123456789abcdef0"
MODELS = {
    412357896541231: "/var/cache/neuron/MODULE_18059432170000000001+a9d440f5/token_generation.neff",
    873400121690475: "/var/cache/neuron/MODULE_18059432170000000002+a9d440f5/context_encoding.neff",
}
START, STOP, INSTANT = "START", "STOP", "INSTANT"
US, MS = 1_000, 1_000_000

# event types used, by number
T = dict(
    async_post_request=2, nrt_execute=3, kmgr_exec_core=4, nrt_load_collectives=5, cc_exec_barrier=6,
    nc_exec_running=7, cc_running=8, nrt_tensor_read=9, nrt_tensor_write=10, numerical_err=13,
    enc_barrier=16, kbl_exec_pre=17, kbl_exec_core=18, kbl_exec_wait=19, kbl_exec_post=20,
    nrt_model_submit=22, nrt_async_sema_wait=23, hw_notify=24, timestamp_sync_point=25,
    nc_model_switch=26, nrt_tensor_allocate=27, dmem_buf_copyin=30, dmem_buf_copyout=31,
    nrt_dma_mem_alloc=34, nrt_dma_mem_dealloc=35, exec_consume_cc_core_notifications=37,
    notification_consume_errors=38, nrt_load=1, type_47=47)
NAME = {v: k for k, v in T.items()}


class Core:
    """A logical core: ids, device clocks, and how much of its memory is in use."""

    def __init__(self, nc, first_physical):
        self.nc = nc
        self.physical = [first_physical, first_physical + 1]
        self.ids = self.tracking = self.execs = 0
        self.usage = {}
        self.runs = []  # finished executions: (which physical core, begin, end, exec_id, error)
        # device time = (host - origin) * (1 + ppm / 1e6)
        self.origin = [BASE - (37 + 11 * p) * 1_000_000_007 for p in self.physical]
        self.ppm = [(-1) ** p * (9 + 4 * p) for p in self.physical]

    def device(self, which, t):
        dt = BASE + t - self.origin[which]
        return dt + dt * self.ppm[which] // 1_000_000


class Process:
    def __init__(self, pid, first_physical):
        self.pid = pid
        self.cores = [Core(0, first_physical), Core(1, first_physical + 2)]
        self.events = []  # (recording time, line)
        self.lost = set()

    # -- records ---------------------------------------------------------------------------------

    def record(self, core, kind, phase, tracking, tid, t, attrs=(), raw=None, seq=None):
        """One record at t (ns after BASE); raw = device time to write as its timestamp instead."""
        core.ids += 1
        text = f"event {{ event_type: {T[kind]} phase: NTRACE_EVENT_PHASE_TYPE_{phase}"
        text += f" timestamp: {raw if raw is not None else BASE + t}"
        if core.nc:
            text += f" nc_idx: {core.nc}"
        if tid:
            text += f" thread_id: {tid}"
        text += f" id: {(core.nc << 50) + core.ids} tracking_id: {tracking}"
        if seq is not None:
            text += f" nrta_seq_id: {seq}"
        for key, value in attrs:
            text += f' attributes {{ key: "{key}" value: "{value}" }}'
        self.events.append((t, f"{text} }}  # {kind}"))

    def track(self, core):
        core.tracking += 1
        return (core.nc << 50) + core.tracking

    def span(self, core, kind, tid, begin, end, attrs=(), stop_attrs=(), seq=None, halves="both"):
        tracking = self.track(core)
        if halves != "stop":
            self.record(core, kind, START, tracking, tid, begin, attrs, seq=seq)
        if halves != "start":
            self.record(core, kind, STOP, tracking, tid, end, stop_attrs)

    def device_span(self, core, which, kind, begin, end, attrs, halves="both"):
        tracking = self.track(core)
        a, b = core.device(which, begin), core.device(which, end)
        self.record(core, kind, START, tracking, 0, begin, [("nc_timestamp_ns", a), *attrs], raw=a)
        if halves == "both":
            self.record(core, kind, STOP, tracking, 0, end, [("nc_timestamp_ns", b)], raw=b)

    # -- pieces of a step -------------------------------------------------------------------------

    def allocate(self, core, tid, t, usage, size, free=False):
        core.usage[usage] = core.usage.get(usage, 0) + (-size if free else size)
        place = [("hbm_idx", core.nc), ("usage_type", usage), ("is_nc_hbm", "true"), ("mla_idx", 0)]
        totals = [("usage_type_total_bytes", core.usage[usage]),
                  ("total_bytes", sum(core.usage.values()))]
        if free:
            self.span(core, "nrt_dma_mem_dealloc", tid, t, t + 6 * US,
                      [*place, ("physical_address", "0x10040000000")],
                      [("freed_bytes", size), *totals])
        else:
            self.span(core, "nrt_dma_mem_alloc", tid, t, t + 11 * US, [*place, ("is_aligned", "true")],
                      [("allocated_bytes", size), ("physical_address", "0x10040000000"),
                       ("return_code", 0), *totals])

    def transfer(self, core, tid, t, outer, inner, size):
        self.span(core, outer, tid, t, t + 42 * US,
                  [("tensor_id", 562949953421312 + core.nc), ("size", size)])
        self.span(core, inner, tid, t + 2 * US, t + 40 * US,
                  [("mem_type", "device"), ("mem_handle", 94140 + core.nc), ("offset", 0),
                   ("size", size)])

    def on_device(self, core, begin, exec_id, model, sync=True, unfinished=False, error=False):
        """Both physical cores run one execution; returns when the later one is done."""
        done = 0
        for which, physical in enumerate(core.physical):
            b = begin + which * 700
            e = b + 1850 * US + 1300 * ((exec_id * 7 + physical) % 11)
            place = [("device_core_idx", physical), ("exec_id", exec_id)]
            if exec_id == 1:
                self.device_span(core, which, "nc_model_switch", b - 141 * US, b,
                                 [("device_core_idx", physical), ("model_id", model),
                                  ("exec_id", exec_id)])
            self.device_span(core, which, "nc_exec_running", b, e, [*place, ("model_id", model)],
                             halves="start" if unfinished else "both")
            self.device_span(core, which, "cc_exec_barrier", b, b + 210 * US,
                             [("model_id", model), ("exec_id", exec_id)])
            for op in range(2):
                cc = b + (320 + 800 * op) * US
                self.device_span(core, which, "cc_running", cc, cc + 460 * US,
                                 [("gid", 1), ("op_id", op), ("exec_id", exec_id),
                                  ("algorithm", "ring" if op == 0 else "mesh")])
            if error and which == 0:
                at = b + 1500 * US
                for kind, attrs in (("numerical_err", place),
                                    ("hw_notify", [*place, ("hint", 9), ("custom_data", 1)])):
                    nc = core.device(which, at)
                    self.record(core, kind, INSTANT, self.track(core), 0, at,
                                [*attrs, ("nc_timestamp_ns", nc)], raw=nc)
            if not unfinished:
                core.runs.append((which, b, e, exec_id, error and which == 0))
            done = max(done, e)
        if unfinished or not sync:
            return done
        for which, _ in enumerate(core.physical):
            at = done + 12 * US + which * 30 * US
            late = 400 + 1900 * ((exec_id - 1) * (3 - which) % 4)  # the host reads its clock late
            self.record(core, "timestamp_sync_point", INSTANT, self.track(core), 0, at + 10_240,
                        [("exec_id", exec_id), ("nc_timestamp_ns", core.device(which, at)),
                         ("cpu_timestamp_ns", BASE + at + late)])
        return done

    # -- the story --------------------------------------------------------------------------------

    def load(self, core, tid, t, model):
        self.span(core, "nrt_load_collectives", tid, t, t + 5 * MS,
                  [("g_device_id", core.nc), ("g_device_count", 4)], [("model_id", model)])
        self.span(core, "nrt_load", tid, t + 200 * US, t + 4900 * US, stop_attrs=[("model_id", model)])
        for i, (usage, size) in enumerate([("INSTR_PE", 3 << 20), ("WEIGHT", 768 << 20),
                                           ("WEIGHT", 256 << 20), ("DMA_RING", 5 << 20),
                                           ("SCRATCHPAD", 64 << 20), ("IO", 12 << 20)]):
            self.allocate(core, tid, t + (400 + 600 * i) * US, usage, size)
        self.span(core, "nrt_tensor_allocate", tid, t + 4 * MS, t + 4030 * US,
                  [("tensor_id", 562949953421312 + core.nc), ("size", 1 << 20)])
        self.allocate(core, tid, t + 4010 * US, "TENSOR", 1 << 20)

    def step(self, core, tid, t, model, sync=True, unfinished=False, error=False):
        """A synchronous step; returns when it is over."""
        core.execs += 1
        exec_id = core.execs
        ids = [("exec_id", exec_id), ("model_id", model)]
        named = [("model_id", model), ("model_name", MODELS[model])]
        half = "start" if unfinished else "both"
        self.transfer(core, tid, t, "nrt_tensor_write", "dmem_buf_copyin", 1 << 20)
        t += 60 * US
        submit = t + 60 * US
        done = self.on_device(core, submit + 190 * US, exec_id, model, sync, unfinished, error) + 70 * US
        self.span(core, "nrt_execute", tid, t, done + 30 * US, named, halves=half)
        self.span(core, "kbl_exec_pre", tid, t + 2 * US, t + 45 * US, ids)
        self.span(core, "nrt_model_submit", tid, t + 46 * US, t + 52 * US, named)
        self.span(core, "kmgr_exec_core", tid, t + 54 * US, done + 8 * US, [("model_id", model)],
                  halves=half)
        self.span(core, "kbl_exec_core", tid, t + 56 * US, done + 4 * US, ids, halves=half)
        self.span(core, "enc_barrier", tid, t + 58 * US, t + 75 * US,
                  [("peer_id", -1), ("exec_id", exec_id), ("nec_dev_id", core.nc)])
        self.span(core, "kbl_exec_wait", tid, t + 80 * US, done, ids, halves=half)
        if unfinished:
            return done
        self.span(core, "kbl_exec_post", tid, done + 10 * US, done + 26 * US, ids)
        self.span(core, "exec_consume_cc_core_notifications", tid, done + 12 * US, done + 17 * US, ids)
        if error:
            self.span(core, "notification_consume_errors", tid, done + 18 * US, done + 24 * US, ids)
        self.transfer(core, tid, done + 40 * US, "nrt_tensor_read", "dmem_buf_copyout", 64 << 10)
        return done + 100 * US

    def async_steps(self, core, tid, t, model, count=2):
        """The caller posts; a worker thread waits. The runs follow each other on the device while both
        requests are open on the host."""
        worker, begin = tid + 1, t + 150 * US
        for i in range(count):
            core.execs += 1
            exec_id, seq = core.execs, ((core.nc + 1) << 48) + i + 1
            ids = [("exec_id", exec_id), ("model_id", model)]
            post = t + i * 90 * US
            self.span(core, "async_post_request", tid, post, post + 20 * US,
                      [("request_id", 17 + i)], seq=seq)
            self.span(core, "nrt_async_sema_wait", tid, post + 25 * US, post + 80 * US,
                      [("available_request_slots", 63 - i), ("has_work", "true")])
            done = self.on_device(core, begin, exec_id, model) + 60 * US
            # the worker is free again only when the run before this one is over
            wait_from = post + 70 * US if i == 0 else begin + 20 * US
            self.span(core, "kbl_exec_wait", worker, wait_from, done, ids, seq=seq)
            self.span(core, "kbl_exec_post", worker, done + 2 * US, done + 14 * US, ids)
            begin = done + 40 * US
        return begin

    def ring_head(self, core, tid):
        """What is left of a step whose starts were overwritten."""
        self.span(core, "kbl_exec_wait", tid, 0, 310 * US, halves="stop")
        self.span(core, "nrt_execute", tid, 0, 335 * US, halves="stop")

    def play(self):
        for core in self.cores:
            tid = self.pid + 10 + 10 * core.nc
            model = sorted(MODELS)[core.nc]
            t = (350 + 120 * core.nc + self.pid % 10 * 40) * US
            if self.pid == 4242 and core.nc == 0:
                self.ring_head(core, tid)
            self.load(core, tid, t, model)
            t += 5500 * US
            for i in range(3):
                lost_sync = self.pid == 4242 and core.nc == 1 and i == 1
                error = self.pid == 4243 and core.nc == 1 and i == 2
                t = self.step(core, tid, t, model, sync=not lost_sync, error=error) + 80 * US
            t = self.async_steps(core, tid, t, model) + 200 * US
            self.allocate(core, tid, t, "SCRATCHPAD", 64 << 20, free=True)
            self.record(core, "type_47", INSTANT, self.track(core), tid, t + 50 * US,
                        [("note", "a type newer than this program")])
            self.step(core, tid, t + 80 * US, model, unfinished=True)


# -- device profiles --------------------------------------------------------------------------------

ENGINES = ("pe", "act", "pool", "dve", "sp")


class Ring:
    """Records of one blob: (device time in ps, line with {} for the time)."""

    def __init__(self, core, which):
        self.core, self.which, self.records = core, which, []

    def add(self, t, line):
        self.records.append((self.core.device(self.which, t) * 1000, line))

    def text(self, blob):
        lines = [line.format(ps) for ps, line in sorted(self.records)]
        return f"blob {blob}\n" + "".join(line + "\n" for line in lines) if lines else ""


def engine_records(ring, begin, end, exec_id):
    """Ten instructions an engine; those of Tensor overlap about four deep."""
    step = (end - begin - 6 * US) // 13
    for e, engine in enumerate(ENGINES):
        ring.add(begin + e, f"explicit {engine} 0 {{}} {exec_id} 2")
        for k in range(10):
            pc, at = 16 * e + k, begin + 3 * US + k * step + e * 137
            dur = (38, 7, 5, 8, 2)[e] * step // 10 + 11 * k
            ring.add(at, f"start {engine} {pc} {{}} {exec_id} {(k * 29 + e * 7) % 60}")
            ring.add(at + dur, f"end {engine} {pc} {{}} 0 {(pc * 2654435761 + exec_id) % 65536}")
        ring.add(end - 5 + e, f"explicit {engine} 0 {{}} {exec_id} 3")


def dma_records(ring, begin, end):
    """Reads and writes of 32 KiB on two queues, three in flight."""
    step = (end - begin) // 9
    for k in range(6):
        for queue, sub in ((0, 1), (1, 4)):
            at = begin + 5 * US + k * step + queue * 900
            ring.add(at, f"dma {sub} {queue} 0 0 {{}}")
            ring.add(at + 2 * step + 400 * k, f"dma {sub + 1} {queue} 32768 {(k * 7919) % 65536} {{}}")


def device_profile(core):
    text = ("# Device profile of a logical core with two physical ones, as text for tools/mkntff.\n"
            "# Made by samples/make_session.py; compiled by samples/build.sh.\n"
            "info 1 text SAMPLE\ninfo 2 varint 3\nver 8 2 31 24 0\nbuffer 0 0 0x4000000\n")
    for which, physical in enumerate(core.physical):
        runs = [r for r in core.runs if r[0] == which]
        instructions, semaphores, packets, errors = (Ring(core, which) for _ in range(4))
        for n, (_, begin, end, exec_id, error) in enumerate(runs):
            engine_records(instructions, begin, end, exec_id)
            dma_records(packets, begin, end)
            for k in range(8):
                at = begin + (k + 1) * (end - begin) // 10
                semaphores.add(at, f"sem {ENGINES[k % 4]} {3 + k % 2} {n * 4 + k // 2 + 1} {{}}")
            if error:
                errors.add(begin + 1500 * US, "tpb 1 7 0x12 {}")
        text += f"graph sg{which:02} 0 {physical}\n"
        text += "".join(f"run {e} {0x10000 * (k + 1)} 640\n" for k, e in enumerate(ENGINES))
        text += f"queue {16 * physical} 0 3 qSyncIO0\nqueue {16 * physical} 1 4 qSyncSpillReload0\n"
        text += instructions.text(f"0 0 {physical}") + semaphores.text(f"0 1 {physical}")
        text += errors.text(f"0 2 {physical}") + packets.text(f"1 4 {16 * physical}")
    return text


# -- files -------------------------------------------------------------------------------------------


def header(what, message):
    return (f"# {what}\n# Made by samples/make_session.py; compiled by samples/build.sh.\n"
            f"# proto-file: samples/sample_schema.proto\n# proto-message: ntff_sample.{message}\n\n")


def ntrace(process):
    lines = [line for _, line in sorted(process.events, key=lambda e: e[0])]
    return header(f"Runtime events of pid {process.pid}, in order of recording.", "event_list") + \
        "\n".join(lines) + "\n"


def trace_info(process):
    end = BASE + max(t for t, _ in process.events)
    ids = "".join(f'  id_map {{ key: {k} value: "{v}" }}\n' for k, v in sorted(MODELS.items()))
    return header("About the capture.", "ntrace_info") + (
        f'instance_id: "{INSTANCE}"\narch: 3\npid: {process.pid}\nsession_id: 1\ndata_version: 2\n'
        f"start_time: {BASE}\nend_time: {end}\nlogical_nc_size: 2\nnum_events: {len(process.events)}\n"
        'host_stats { num_cpus: 4 cpu_name: "sample" mem_capacity: 549755813888 '
        "sample_period_sec: 0.005 }\n"
        f'interned_data {{\n  data_type: "model_ids"\n{ids}}}\n')


def cpu_util():
    text = header("How busy each processor is, per sample.", "cpu_util_list")
    for i in range(5):
        for cpu in range(4):
            busy = (23.5 * (cpu + 1) + 17.25 * i) % 100
            text += f"sample {{ timestamp: {BASE + i * 5 * MS} cpu: {cpu} util: {busy} }}\n"
    return text


def host_mem():
    text = header("Resident memory of the process, bytes, per sample.", "host_mem_list")
    for i in range(5):
        text += f"sample {{ timestamp: {BASE + i * 5 * MS} usage: {(6 << 30) + i * (37 << 20)} }}\n"
    return text


def main():
    out = sys.argv[1]
    for pid, first_physical in ((4242, 0), (4243, 4)):
        process = Process(pid, first_physical)
        process.play()
        folder = os.path.join(out, f"{INSTANCE}_pid_{pid}", str(BASE))
        os.makedirs(folder, exist_ok=True)
        for name, text in (("ntrace", ntrace(process)), ("trace_info", trace_info(process)),
                           ("cpu_util", cpu_util()), ("host_mem", host_mem())):
            with open(os.path.join(folder, name + ".txtpb"), "w", encoding="utf-8") as f:
                f.write(text)
        core = process.cores[pid == 4243]
        model = sorted(MODELS)[core.nc]
        name = f"{model}_instid_0_vnc_{core.nc}.ntff.txt"
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(device_profile(core))


if __name__ == "__main__":
    main()
