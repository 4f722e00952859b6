#!/usr/bin/env python3
"""figures_of_models.py ROOT: do the lessons and decks of labs 06 to 10 print what their own formulas, and the records, give?

Each figure is computed here and looked for, in the words around it, in the document.
"""
import json
import math
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
missing, count = [], 0


def says(document, *texts):
    global count
    whole = re.sub(r"\s+", " ", (root / document).read_text())
    for text in texts:
        count += 1
        if re.sub(r"\s+", " ", text) not in whole:
            missing.append(f"{document}: nothing reads {text!r}")


MiB, GiB = 2**20, 2**30


def lab_06():
    lesson, deck = "labs/06_ring_allreduce/README.md", "slides/06_ring_allreduce/deck.md"
    p, levels, alpha, beta = 8, 3, 5e-6, 365e9
    naive, tree, ring = ([f(n) for n in (MiB, GiB)] for f in (
        lambda n: 2 * (p - 1) * (alpha + n / beta), lambda n: 2 * levels * (alpha + n / beta), lambda n: 2 * (p - 1) * (alpha + n / p / beta)))
    says(lesson, f"| to rank 0 and back | {naive[0] * 1e6:.0f} us | {naive[1] * 1e3:.0f} ms |",
         f"| tree up, tree down | **{tree[0] * 1e6:.0f} us** | {tree[1] * 1e3:.0f} ms |", f"| ring | {ring[0] * 1e6:.0f} us | **{ring[1] * 1e3:.1f} ms** |",
         f"n = p alpha beta, {p * alpha * beta / 1e6:.0f} MB here", f"(L - (p - 1) / p), {alpha * beta * (p - 1 - levels) / (levels - (p - 1) / p) / 1e6:.1f} MB here")
    # Slices: 32 MiB on 4 ranks, on the emulator.
    ranks, c, a, launch, adds, host = 4, 8 * MiB, 3.7e-6, 2.2e-6, 550e9, 7.8e-6
    def slices(s):
        gather = (ranks - 1) * (a + c / beta)
        if s == 1:
            return gather + (ranks - 1) * (a + c / beta + launch + c / adds)
        return gather + (ranks - 1) * s * max(a + c / s / beta, host) + launch + c / s / adds
    said = {s: f"{slices(s) * 1e6:.0f}" for s in (1, 2, 3, 4, 16)}
    says(lesson, *(f"| {s} | **{t} us** |" if s == 2 else f"| {s} | {t} us |" for s, t in said.items()))
    says(deck, f"| formula, us | {said[1]} | **{said[2]}** | {said[3]} | {said[4]} | *{said[16]}* |")
    # Two levels: 1 GiB on 4 nodes of 8.
    slow = lambda steps, b: steps * (10e-6 + b / 48e9)
    flat, eight = slow(62, GiB / 32), slow(62, GiB / 256)
    inside, between = 7 * (5e-6 + GiB / 8 / beta), slow(6, GiB / 32)
    says(lesson, f"= {flat * 1e3:.0f} ms |", f"= {eight * 1e3:.1f} ms |", f"= {inside * 1e3:.1f} ms |", f"= {between * 1e3:.1f} ms |", f"| {(2 * inside + between) * 1e3:.1f} ms |")
    says(deck, f"one flat ring *{flat * 1e3:.0f} ms*, two levels **{(2 * inside + between) * 1e3:.1f} ms**, eight flat rings **{eight * 1e3:.1f} ms**")
    # NCCL on four H200s.
    runs = json.loads((root / "benchmarks/collectives/h200x4/all_reduce.json").read_text())
    nccl = {r["bytes"]: r["us"] for r in runs["results"] if r["variant"] == "nccl"}
    bus = [f"{n / nccl[n] / 1e3 * 1.5:.0f}" for n in (64 * MiB, 256 * MiB, GiB, 4 * GiB)]
    says(deck, f"| bus bandwidth, GB/s | {' | '.join(bus)} |")
    says(lesson, f"{nccl[GiB] / 1e3:.2f} ms for 1 GiB", f"{GiB / nccl[GiB] / 1e3:.0f} GB/s of algorithm bandwidth, {bus[2]} of bus bandwidth")


def lab_07():
    lesson = "labs/07_ddp/README.md"
    T = lambda b, p=4: 2 + 2 * (p - 1) * (25 + b / p / 2940)  # us
    says(lesson, f"T(a block's gradients) is {T(200e3):.0f} us")
    says(lesson, f"{2 * 7 / 8 * 498e6 / 355e9 * 1e3:.1f} ms on 8 GPUs", f"{round((14 * 25e-6 + 1.75 * 498e6 / 2.94e9) * 100) * 10} ms on 25 Gb/s Ethernet")
    says(lesson, f"2742 / 3320 = {2742 / 3320:.2f} with one bucket and {2742 / 2946:.2f} with buckets")
    for buckets, size in ((1, 300), (2, 150), (3, 100), (6, 50)):  # us, KB
        end = 0
        for k in range(1, buckets + 1):
            end = max(end, k * size) + 40 + size / 2.5
        says(lesson, f"to **{end:.0f}** us")


def gpipe(p, m, v, r):
    return [(True, 0, k) for k in range(m)] + [(False, 0, k) for k in range(m)]


def one_f_one_b(p, m, v, r):
    """Steps (forward, chunk, micro-batch) of rank r, as in solutions/08_pipeline/order.cu."""
    every = m * v
    warm = min(every, p - r - 1 if v == 1 else 2 * (p - r - 1) + (v - 1) * p)
    forward = [(True, i // p % v, i // (p * v) * p + i % p) if v > 1 else (True, 0, i) for i in range(every)]
    backward = [(False, v - 1 - c, k) for _, c, k in forward]
    steps = forward[:warm]
    for i in range(warm, every):
        steps += [forward[i], backward[i - warm]]
    return steps + backward[every - warm:]


def diagram(orders, m, v):
    """A row of text for each rank: forwards take a column, backwards two, transfers none."""
    p, last = len(orders), len(orders) * v - 1
    ended, now, at, rows = {}, [0] * len(orders), [0] * len(orders), [[] for _ in orders]
    while any(at[r] < len(orders[r]) for r in range(p)):
        for r in range(p):
            if at[r] == len(orders[r]):
                continue
            forward, c, k = orders[r][at[r]]
            part = c * p + r
            need = (True, part - 1, k) if forward and part > 0 else (False, part + 1, k) if not forward and part < last else (True, part, k)
            if not (forward and part == 0) and need not in ended:
                continue
            start = max(now[r], 0 if forward and part == 0 else ended[need])
            name = str(k) if c == 0 else chr(ord("a") + k)
            rows[r].append("." * (start - now[r]) + (name if forward else name + "-"))
            now[r] = ended[(forward, part, k)] = start + (1 if forward else 2)
            at[r] += 1
    return ["".join(row) + "." * (max(now) - now[r]) for r, row in enumerate(rows)]


def lab_08():
    lesson = "labs/08_pipeline/README.md"
    idle = lambda p, m, v=1: (p - 1) / (v * m + p - 1)
    says(lesson, f"idle for {idle(16, 16) * 100:.0f}% of the time", f"reduces that to {idle(16, 16, 7) * 100:.0f}% with 7 chunks",
         f"9 of each rank's 33 columns are idle, {idle(4, 8) * 100:.0f}%", f"the idle share to {idle(4, 32) * 100:.1f}%", f"so {idle(4, 8, 2) * 100:.0f}% is idle in place of 27%")
    p = 4
    says(lesson, "| 1F1B | 2 (p - 1) / p c for each micro-batch, and 2 (p - 2) c | "
         + " | ".join(f"{2 * (p - 1) / p * m + 2 * (p - 2):.0f} c" for m in (8, 64)) + " |")
    says(lesson, *(f"| interleaved, v = {v} | 2 (v p - 1) c | {2 * (v * p - 1)} c | {2 * (v * p - 1)} c |" for v in (2, 3)))
    says(lesson, f"V = 128k that is {128e3 / 12 / 4096:.1f} blocks at C = 4096, and {128e3 / 12 / 16384:.2f} at C = 16384")
    for p, m, v, order in ((4, 8, 1, gpipe), (4, 8, 1, one_f_one_b), (4, 8, 2, one_f_one_b), (2, 3, 1, gpipe), (2, 3, 1, one_f_one_b)):
        says(lesson, *(f"rank {r} {row}" for r, row in enumerate(diagram([order(p, m, v, r) for r in range(p)], m, v))))


def lab_09():
    lesson, deck = "labs/09_tensor_parallel/README.md", "slides/09_tensor_parallel/deck.md"
    ratio = lambda R, C, t, beta: 2 / 9 * (t - 1) * R / (C * beta)
    fast, slow = ratio(600e12, 4096, 8, 365e9), ratio(600e12, 4096, 8, 48e9)
    says(lesson, f"| 365 GB/s | {fast:.2f} |", f"| 48 GB/s | {slow:.1f} |")
    says(deck, f"| {fast:.2f} | *{slow:.1f}* |")


def lab_10():
    deck = "slides/10_mixed_precision/deck.md"
    copy = next(c["value"] for c in json.loads((root / "benchmarks/h200/calibration.json").read_text())["ceilings"] if c["id"] == "memcpy")
    says(deck, f"x 28 bytes / {copy / 1e12:.1f} TB/s = **{124e6 * 28 / copy * 1e3:.1f} ms**")
    says("labs/10_mixed_precision/README.md", f"take {124e6 * 28 / copy * 1e3:.1f} ms at {copy / 1e12:.1f} TB/s")


def closing():
    save, between = round(405e9 * 12 / 100e9), 3 * 3600  # s, as the slide rounds it
    lost = lambda t: (save / t + t / 2 / between) * 100
    best = math.sqrt(2 * save * between)
    says("slides/99_closing/deck.md", f"| lost | *{lost(300):.1f}%* | **{lost(best):.1f}%** | *{lost(3600):.1f}%* |", f"**{best / 60:.0f} min**", f"**{save:.0f} s**")


for part in (lab_06, lab_07, lab_08, lab_09, lab_10, closing):
    part()
print("\n".join(missing))
print(f"{count} figures, {len(missing)} not as computed")
sys.exit(1 if missing else 0)
