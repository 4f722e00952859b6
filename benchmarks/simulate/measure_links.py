#!/usr/bin/env python3
"""Measures the GPUs of one node together, for runtime/network: collectives alone, and beside matrix products.

    NCCL_NVLS_ENABLE=0 torchrun --nproc-per-node=8 benchmarks/simulate/measure_links.py OUT.json [--quick] [--cpu]

Needs PyTorch 2.8 or later with CUDA and NCCL, and 2, 4 or 8 GPUs; about 40 s. all-gather, reduce-scatter and all-reduce in bf16, of
whole vectors from 1 MiB to 1 GiB: each is enqueued for 0.2 s, medians over batches, of the slowest rank. Then each runs on a stream of
its own beside products of 16384 x 14336 x 4096, for which both are timed; and every rank's own time for the same products tells how
much the GPUs differ. --cpu tries the program with gloo.
"""
import argparse
import json
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist


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
    """Seconds of a call: the median over batches, of the slowest rank. All ranks make the same number of calls."""
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
    times = []
    dist.barrier()
    marks = [mark(cuda)]
    for _ in range(rounds):
        for _ in range(calls):
            work()
        marks.append(mark(cuda))
    sync(cuda)
    times = [between(a, b, cuda) / calls for a, b in zip(marks, marks[1:])]
    return statistics.median(times[len(times) // 2:])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("out")
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--cpu", action="store_true")
    a = arguments.parse_args()
    cuda = not a.cpu
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if cuda else "gloo")
    small = a.quick or a.cpu
    rows = []

    def add(row):
        if rank == 0:
            rows.append(row)
            print(json.dumps(row), flush=True)

    sizes = [1 << 16] if small else [1 << n for n in (20, 23, 25, 26, 27, 28, 29, 30)]
    whole = torch.randn(sizes[-1] // 2, device=device).to(torch.bfloat16 if cuda else torch.float32)
    other = torch.empty_like(whole)
    seconds = 0.02 if small else 0.2

    def collective(name, n):
        full, part = whole[:n // 2], other[:n // 2 // ranks]
        return {"all-gather": lambda: dist.all_gather_into_tensor(full, part),
                "reduce-scatter": lambda: dist.reduce_scatter_tensor(part, full),
                "all-reduce": lambda: dist.all_reduce(full)}[name]

    names = ["all-reduce"] if a.cpu else ["all-gather", "reduce-scatter", "all-reduce"]
    alone = {}
    for name in names:
        for n in sizes:
            t = slowest(batches(collective(name, n), seconds, cuda, device), device)
            alone[name, n] = t
            factor = (2 if name == "all-reduce" else 1) * (ranks - 1) / ranks
            add({"collective": name, "ranks": ranks, "bytes": n, "seconds": t, "bus_bytes_per_s": factor * n / t})
    m, n, k = (128, 128, 128) if small else (16384, 14336, 4096)
    x, w = (torch.randn(r, c, device=device).to(torch.bfloat16) for r, c in ((m, k), (n, k)))
    out = torch.empty(m, n, device=device, dtype=torch.bfloat16)
    product = lambda: torch.mm(x, w.t(), out=out)
    own = batches(product, 3 * seconds, cuda, device)
    everyone = [torch.zeros(1, device=device, dtype=torch.float64) for _ in range(ranks)]
    dist.all_gather(everyone, torch.tensor([own], device=device, dtype=torch.float64))
    add({"part": "product alone", "m": m, "n": n, "k": k, "of_ranks": [t.item() for t in everyone]})
    if cuda:
        beside = torch.cuda.Stream()
        for name in names:
            for size in ([1 << 16] if small else [1 << 27, 1 << 29]):
                message = collective(name, size)
                calls = max(1, round((0.05 if small else 0.4) / (1.5 * alone[name, size])))
                torch.cuda.synchronize()
                dist.barrier()
                torch.cuda.synchronize()
                start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                with torch.cuda.stream(beside):
                    start.record()
                    for _ in range(calls):
                        message()
                    end.record()
                marks = [mark(cuda)]
                while not end.query() and len(marks) < 2000:
                    for _ in range(4):
                        product()
                    marks.append(mark(cuda))
                    if len(marks) > 3:
                        marks[-3].synchronize()
                torch.cuda.synchronize()
                times = [between(p, q, cuda) / 4 for p, q in zip(marks, marks[1:])][1:-3] or [float("nan")]
                together = statistics.median(times)
                seen = slowest(start.elapsed_time(end) * 1e-3 / calls, device)
                add({"part": "product beside " + name, "bytes": size, "product_slower": slowest(together / own, device),
                     "collective_slower": seen / alone[name, size], "collective_seconds": seen})
    if rank == 0:
        profile = {"schema": "ridge.link_profile/1", "command": "measure_links.py " + " ".join(sys.argv[1:]), "ranks": ranks,
                   "torch": torch.__version__, "nccl": str(torch.cuda.nccl.version()) if cuda else None,
                   "device": torch.cuda.get_device_name() if cuda else "CPU", "rows": rows}
        with open(a.out, "w") as file:
            json.dump(profile, file, indent=1)
            file.write("\n")
    dist.barrier()
    dist.destroy_process_group()


main()
