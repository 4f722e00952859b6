#!/usr/bin/env python3
"""Chooses the constants of runtime/network/gpus from what measure_gpu.py left, and says how well they describe it.

fit_gpu.py PROFILE.json [--check GPU.toml]: the formulas are those of runtime/network/gpu.cpp; a grid is searched for the least mean
error. No published figure is read. --check exits with 1 where the file's constants are not these.
"""
import json
import math
import statistics
import sys
import tomllib
from pathlib import Path

SMS, COPY, KERNEL = 132, 4.19e12, 1.9e-6  # SMs; B/s of a copy; s of a small kernel: all from the same file
TILES = [(128, 256, 1), (256, 128, 1), (128, 128, 0.93), (128, 64, 0.75), (64, 64, 0.55)]


def product(m, n, k, rate, depth, boost, bytes_of_input=2):
    operations = 2 * m * n * (k + depth)
    tiled = min(math.ceil(math.ceil(m / a) * math.ceil(n / b) / SMS) * 2 * a * b * (k + depth) * SMS / (rate * boost * r)
                for a, b, r in TILES)
    return KERNEL + max(operations / rate, tiled, (bytes_of_input * (m * k + n * k) + 2 * m * n) / COPY)


def report(name, errors, constants):
    print(f"{name}: {constants}; {len(errors)} rows, error {100 * statistics.mean(map(abs, errors)):.1f}% in the mean, "
          f"{100 * statistics.median(map(abs, errors)):.1f}% in the middle, {100 * max(map(abs, errors)):.0f}% at worst")


def search(name, grid, errors_of):
    best = min(grid, key=lambda c: statistics.mean(map(abs, errors_of(c))))
    report(name, errors_of(best), best)
    return best


def main():
    parts = json.loads(Path(sys.argv[1]).read_text())["parts"]
    rows = [r for p in ("products", "chunks", "grid", "separate", "head") for r in parts[p]["rows"]
            if "m" in r and r["host_seconds"] < 0.7 * r["seconds"]]  # else the host was timed
    clocks = statistics.median(r["mhz"] for r in parts["products"]["rows"])
    boost, found = round(1980 / clocks, 2), {}
    print(f"large products run at {clocks} MHz, kernels that draw less power at 1980: {boost}")
    rate, found["product_depth"] = search("bf16 products, (flop/s, depth)", [(r * 1e12, d) for r in range(640, 741, 5) for d in range(40, 201, 20)],
           lambda c: [product(r["m"], r["n"], r["k"], *c, boost) / r["seconds"] - 1 for r in rows])
    found["clock_boost"], found["product_efficiency"] = boost, round(rate / 989.4e12, 3)
    fp8 = {}
    for fast in (True, False):
        chosen = [r for r in parts["fp8_products"]["rows"] if r["fast"] == fast]
        fp8[fast] = search(f"fp8 products, {'forward' if fast else 'backward'}, flop/s at depth 240",
               [r * 1e12 for r in range(1150, 1450, 5)],
               lambda c: [product(r["m"], r["n"], r["k"], c, 240, boost, 1) / r["seconds"] - 1 for r in chosen])
    found["fp8_efficiency"] = round((fp8[True] + 2 * fp8[False]) / 3 / (2 * rate), 3)  # one product forward, two backward
    for backend in ("flash", "cudnn"):
        for way in ("forward", "backward"):
            chosen = [r for r in parts["attention"]["rows"] if r["backend"] == backend and r["pass"] == way]

            def errors(c):
                rate, half, waves = c
                seen = [(r["sequences"] * r["heads"] * r["tokens"] / 128 / SMS, r["tokens"], r["flops_per_s"]) for r in chosen]
                return [f / (rate * t / (t + half) * w / (w + waves)) - 1 for w, t, f in seen]

            best = search(f"attention, {backend}, {way}, (flop/s, tokens, waves)",
                   [(r * 1e12, h, w / 10) for r in range(280, 640, 10) for h in range(200, 801, 20) for w in range(0, 30, 3)], errors)
            if backend == "flash":
                found.update(zip((f"attention_{way}", f"attention_{way}_half", f"attention_{way}_waves"), best))
    layers = [r for r in parts["whole_layers"]["rows"] if r["pass"] == "forward and backward"]
    ranges = [(r["high"] - r["low"]) / r["seconds"] / 2.56 for r in layers]
    found["speed_jitter"] = round(math.sqrt(statistics.mean(x * x for x in ranges)), 3)
    print(f"two layers from pass to pass: standard deviation {found['speed_jitter']}")
    for r in layers:
        kinds = {"products": 0.0, "attention": 0.0}
        for name, _, seconds in r["longest"]:
            if "nvjet" in name or "gemm" in name:
                kinds["products"] += seconds
            elif "flash" in name or "sdpa" in name:
                kinds["attention"] += seconds
        rest = (r["kernel_seconds"] - sum(kinds.values())) / 2
        print(f"a layer of {r['model']}, {r['mode']}, {r['backend']}: element-wise kernels {1e3 * rest:.2f} ms")
    if "--check" in sys.argv:
        there = tomllib.loads(Path(sys.argv[sys.argv.index("--check") + 1]).read_text())
        wrong = [f"{k} is {there[k]}, measured {v}" for k, v in found.items() if not math.isclose(there[k], v, rel_tol=1e-6)]
        print("\n".join(wrong) if wrong else "the file has these constants")
        sys.exit(1 if wrong else 0)


main()
