"""Times of kernels that run long enough for the GPU to reach its power limit, with its clocks and watts beside them."""
import statistics
import subprocess
import threading
import time

import torch


class Sampler:
    """nvidia-smi, every 50 ms, on one GPU: (second, MHz of the SMs, W, degrees, reasons for a lower clock)."""
    FIELDS = "clocks.sm,{power},temperature.gpu,{reasons}"

    def __init__(self, device=0):
        self.samples, self.why_not, self.process = [], None, None
        for power, reasons in (("power.draw.instant", "clocks_event_reasons.active"),
                               ("power.draw", "clocks_throttle_reasons.active")):
            query = "--query-gpu=" + self.FIELDS.format(power=power, reasons=reasons)
            command = ["nvidia-smi", f"--id={device}", query, "--format=csv,noheader,nounits"]
            try:
                once = subprocess.run(command, capture_output=True, text=True, timeout=20)
            except (OSError, subprocess.TimeoutExpired) as e:
                self.why_not = str(e)
                return
            if once.returncode == 0:
                self.power = power
                self.process = subprocess.Popen([*command, "-lms", "50"], stdout=subprocess.PIPE, text=True)
                threading.Thread(target=self.read, daemon=True).start()
                return
            self.why_not = once.stdout + once.stderr

    def read(self):
        for line in self.process.stdout:
            fields = [f.strip() for f in line.split(",")]
            try:
                self.samples.append((time.monotonic(), float(fields[0]), float(fields[1]), float(fields[2]),
                                     int(fields[3], 16)))
            except (ValueError, IndexError):
                continue

    def between(self, start, end):
        middle = (start + end) / 2
        seen = [s for s in self.samples if middle <= s[0] <= end] or [s for s in self.samples if start <= s[0] <= end]
        if not seen:
            return {}
        reasons = 0
        for s in seen:
            reasons |= s[4]
        return {"mhz": round(statistics.mean(s[1] for s in seen)), "watts": round(statistics.mean(s[2] for s in seen)),
                "degrees": max(s[3] for s in seen), "reasons": hex(reasons), "samples": len(seen)}

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.wait()


class Clock:
    """Runs work again and again for some time; the second half counts."""

    def __init__(self, device, sampler, quick):
        self.device, self.sampler, self.quick = device, sampler, quick
        self.cuda = device == "cuda"
        self.busy = 0.0  # s that work ran

    def synchronize(self):
        if self.cuda:
            torch.cuda.current_stream().synchronize()  # of other streams nothing is waited for

    def mark(self):
        if not self.cuda:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def between(self, start, end):
        return start.elapsed_time(end) * 1e-3 if self.cuda else end - start

    def run(self, work, seconds=0.12):
        """{seconds: median of a call, low, high: of 10% and 90% of the batches, host_seconds: to enqueue a call, ...}"""
        if self.quick:
            seconds = 0.02
        work()
        self.synchronize()
        start = time.perf_counter()
        work()
        self.synchronize()
        once = time.perf_counter() - start
        calls = max(1, round(0.006 / max(once, 1e-6)))
        marks, begun, host = [self.mark()], time.monotonic(), 0.0
        while time.monotonic() - begun < seconds or len(marks) < 7:
            before = time.perf_counter()
            for _ in range(calls):
                work()
            host += time.perf_counter() - before
            marks.append(self.mark())
            if self.cuda and len(marks) > 3:
                marks[-3].synchronize()  # no more than two batches are enqueued
        self.synchronize()
        ended = time.monotonic()
        self.busy += ended - begun + 2 * once
        times = [self.between(a, b) / calls for a, b in zip(marks, marks[1:])]
        late = sorted(times[len(times) // 2:])
        row = {"seconds": statistics.median(late), "low": late[len(late) // 10], "high": late[(9 * len(late)) // 10],
               "host_seconds": host / (calls * (len(marks) - 1)), "calls": calls * (len(marks) - 1)}
        if self.sampler is not None:
            row.update(self.sampler.between(begun, ended))
        return row
