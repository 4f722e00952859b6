#!/usr/bin/env python3
"""Measures the GPUs of one node together, for runtime/network: collectives alone, and beside matrix products.

    NCCL_NVLS_ENABLE=0 torchrun --nproc-per-node=2 benchmarks/simulate/measure_links.py OUT.json [--quick] [--cpu]

Needs PyTorch 2.8 or later with CUDA and NCCL, and 2, 4 or 8 GPUs; about 40 s. all-gather, reduce-scatter and all-reduce in bf16, of
whole vectors from 1 MiB to 1 GiB, and messages around a ring: each is enqueued for 0.2 s, medians over batches, of the slowest rank. Then
each collective runs on a stream of its own beside products of 16384 x 14336 x 4096, for which both are timed; and every rank's own time
for the same products tells how much the GPUs differ. --cpu tries the program with gloo. fit_links.py reads what it leaves.
"""
import argparse
import json
import os
import statistics
import sys
import time


def mark(cuda):
    if not cuda:
        return time.perf_counter()
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def between(a, b, cuda):
    return a.elapsed_time(b) * 1e-3 if cuda else b - a


def sync(cuda):
    if cuda:
        torch.cuda.synchronize()


def slowest(seconds, device):
    t = torch.tensor([seconds], device=device, dtype=torch.float64)
    dist.all_reduce(t, op=dist.ReduceOp.MAX)
    return t.item()


def batches(work, seconds, cuda, device):
    """Seconds of a call, on the device and for the host: the medians over batches, of this rank. All ranks make the same number of calls."""
    for _ in range(2):
        work()
    sync(cuda)
    dist.barrier()
    start = mark(cuda)
    for _ in range(3):
        work()
    end = mark(cuda)
    sync(cuda)
    once = slowest(between(start, end, cuda) / 3, device)
    calls, rounds = max(1, round(0.02 / once)), max(3, round(seconds / max(0.02, once)))
    dist.barrier()
    marks, host = [mark(cuda)], [time.perf_counter()]
    for _ in range(rounds):
        for _ in range(calls):
            work()
        marks.append(mark(cuda))
        host.append(time.perf_counter())
    sync(cuda)
    late = lambda times: statistics.median(times[len(times) // 2:])
    return late([between(a, b, cuda) / calls for a, b in zip(marks, marks[1:])]), late([(b - a) / calls for a, b in zip(host, host[1:])])


class Node:
    """The ranks of a node, and the vectors that they exchange."""

    def __init__(self, quick, cuda):
        self.cuda, self.quick = cuda, quick
        self.rank, self.ranks = dist.get_rank(), dist.get_world_size()
        self.device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
        self.sizes = [1 << 16] if quick else [1 << n for n in (20, 23, 25, 26, 27, 28, 29, 30)]  # bytes
        self.seconds = 0.02 if quick else 0.2
        kind = torch.bfloat16 if cuda else torch.float32
        self.whole, self.other = (torch.randn(self.sizes[-1] // 2, device=self.device).to(kind) for _ in range(2))
        self.names = ["all-gather", "reduce-scatter", "all-reduce"] if cuda else ["all-reduce"]
        self.rows = []

    def add(self, row):
        if self.rank == 0:
            self.rows.append(row)
            print(json.dumps(row), flush=True)

    def message(self, name, n):
        """A call that exchanges a vector of n bytes."""
        full, part = self.whole[:n // 2], self.other[:n // 2 // self.ranks]
        if name == "all-gather":
            return lambda: dist.all_gather_into_tensor(full, part)
        if name == "reduce-scatter":
            return lambda: dist.reduce_scatter_tensor(part, full)
        if name == "all-reduce":  # the mean: sums of sums would become infinite
            return lambda: dist.all_reduce(full, op=dist.ReduceOp.AVG if self.cuda else dist.ReduceOp.MAX)
        onward, back = (self.rank + 1) % self.ranks, (self.rank - 1) % self.ranks

        def shift():
            for request in dist.batch_isend_irecv([dist.P2POp(dist.isend, full, onward),
                                                   dist.P2POp(dist.irecv, self.other[:n // 2], back)]):
                request.wait()
        return shift

    def alone(self):
        """Seconds of each collective of each size."""
        found = {}
        for name in [*self.names, "ring of messages"]:
            for n in self.sizes:
                seconds, host = batches(self.message(name, n), self.seconds, self.cuda, self.device)
                found[name, n] = seconds = slowest(seconds, self.device)
                factor = 1 if name == "ring of messages" else (2 if name == "all-reduce" else 1) * (self.ranks - 1) / self.ranks
                self.add({"collective": name, "ranks": self.ranks, "bytes": n, "seconds": seconds, "host_seconds": slowest(host, self.device),
                          "bus_bytes_per_s": factor * n / seconds})
        return found

    def product(self):
        """A call, and its seconds on this rank."""
        m, n, k = (128, 128, 128) if self.quick else (16384, 14336, 4096)
        x, w = (torch.randn(r, c, device=self.device).to(torch.bfloat16) for r, c in ((m, k), (n, k)))
        out = torch.empty(m, n, device=self.device, dtype=torch.bfloat16)
        call = lambda: torch.mm(x, w.t(), out=out)
        own, _ = batches(call, 3 * self.seconds, self.cuda, self.device)
        everyone = [torch.zeros(1, device=self.device, dtype=torch.float64) for _ in range(self.ranks)]
        dist.all_gather(everyone, torch.tensor([own], device=self.device, dtype=torch.float64))
        self.add({"part": "product alone", "m": m, "n": n, "k": k, "of_ranks": [t.item() for t in everyone]})
        return call, own

    def beside(self, name, size, alone, product, own):
        """A collective on its stream beside products."""
        message, stream = self.message(name, size), torch.cuda.Stream()
        calls = max(1, round((0.05 if self.quick else 0.4) / (1.5 * alone)))
        torch.cuda.synchronize()
        dist.barrier()
        torch.cuda.synchronize()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with torch.cuda.stream(stream):
            start.record()
            for _ in range(calls):
                message()
            end.record()
        marks = [mark(True)]
        while not end.query() and len(marks) < 2000:
            for _ in range(4):
                product()
            marks.append(mark(True))
            if len(marks) > 3:
                marks[-3].synchronize()
        torch.cuda.synchronize()
        times = [between(p, q, True) / 4 for p, q in zip(marks, marks[1:])][1:-3]  # while messages travelled
        slower = slowest(statistics.median(times) / own if times else 0.0, self.device)
        seen = slowest(start.elapsed_time(end) * 1e-3 / calls, self.device)
        self.add({"part": "product beside " + name, "bytes": size, "product_slower": slower or None, "collective_slower": seen / alone,
                  "collective_seconds": seen})


def measure(a):
    cuda = not a.cpu
    if cuda:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group("nccl", device_id=torch.device("cuda", int(os.environ["LOCAL_RANK"])))
    else:
        dist.init_process_group("gloo")
    node = Node(a.quick or a.cpu, cuda)
    alone = node.alone()
    product, own = node.product()
    if cuda:
        for name in node.names:
            for size in node.sizes if node.quick else [1 << 27, 1 << 29]:
                node.beside(name, size, alone[name, size], product, own)
    if node.rank == 0:
        profile = {"schema": "ridge.link_profile/1", "command": "measure_links.py " + " ".join(sys.argv[1:]), "ranks": node.ranks,
                   "torch": torch.__version__, "nccl": str(torch.cuda.nccl.version()) if cuda else None,
                   "environment": {k: v for k, v in os.environ.items() if k.startswith("NCCL_")},
                   "device": torch.cuda.get_device_name() if cuda else "CPU", "rows": node.rows}
        with open(a.out, "w") as file:
            json.dump(profile, file, indent=1)
            file.write("\n")
    dist.barrier()
    dist.destroy_process_group()
    return 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("out")
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--cpu", action="store_true")
    a = arguments.parse_args()
    global torch, dist
    try:
        import torch
        import torch.distributed as dist
    except ImportError as e:
        print(f"measure_links.py needs PyTorch 2.8 or later with CUDA and NCCL, which is not here ({e})", file=sys.stderr)
        return 3
    if "RANK" not in os.environ or int(os.environ["WORLD_SIZE"]) < 2:
        print("measure_links.py needs two ranks or more: torchrun --nproc-per-node=2 benchmarks/simulate/measure_links.py OUT.json",
              file=sys.stderr)
        return 2
    if not a.cpu and torch.cuda.device_count() < int(os.environ["LOCAL_WORLD_SIZE"]):
        print(f"measure_links.py has {os.environ['LOCAL_WORLD_SIZE']} ranks and {torch.cuda.device_count()} GPUs here; nvidia-smi says "
              "which, --cpu tries the program without them", file=sys.stderr)
        return 3
    os.makedirs(os.path.dirname(os.path.abspath(a.out)), exist_ok=True)
    return measure(a)


if __name__ == "__main__":
    sys.exit(main())
