#!/usr/bin/env python3
"""Derives the simulator's constants from what measure_gpu.py left, and says how well they describe it.

fit_gpu.py PROFILE.json [--check FILE]... [--watts 500]: the formulas are those of runtime/network/gpu.cpp; a grid is searched for the
least mean error. No published figure is read. --check exits with 1 where the constants of FILE, a GPU of runtime/network/gpus or
runtime/network/kernel_costs.hpp, are not these. --watts scales the rates to another limit of power.
"""
import argparse
import json
import math
import re
import statistics
import sys
import tomllib
from pathlib import Path

NETWORK = Path(__file__).resolve().parents[2] / "runtime/network"
SMS, BF16, MHZ, WATTS = 132, 989.4e12, 1980, 700  # of an H200's data sheet, and its limit of power
# Tiles that libraries choose among, and the rate of each: assumed, typed where the simulator has them.
TILES = [(int(a), int(b), float(r)) for a, b, r in
         re.findall(r"\{(\d+), (\d+), ([\d.]+)\}", re.search(r"kTiles\[\] = (.*);", (NETWORK / "gpu.cpp").read_text())[1])]


def digits(x, count):
    return float(f"{x:.{count}g}")


def rows_of(parts, of, /, **wanted):
    return [r for r in parts[of]["rows"] if "failed" not in r and all(r.get(k) == v for k, v in wanted.items())]


def seconds(parts, of, /, **wanted):
    """Of the only row of its kind, or the median of several."""
    return statistics.median(r["seconds"] for r in rows_of(parts, of, **wanted))


class Fit:
    """Searches grids of constants, and prints the errors of the best."""

    def __init__(self, parts):
        self.parts = parts
        self.copy = digits(rows_of(parts, "elementwise", part="copy")[0]["bytes_per_s"], 3)
        self.kernel = digits(seconds(parts, "gaps", part="kernels in a stream"), 2)
        self.clock = statistics.median(r["mhz"] for r in parts["products"]["rows"])
        self.boost = round(MHZ / self.clock, 2)

    def product(self, m, n, k, rate, depth, bytes_of_input=2):
        operations = 2 * m * n * (k + depth)
        tiled = min(math.ceil(math.ceil(m / a) * math.ceil(n / b) / SMS) * 2 * a * b * (k + depth) * SMS / (rate * self.boost * r)
                    for a, b, r in TILES)
        return self.kernel + max(operations / rate, tiled, (bytes_of_input * (m * k + n * k) + 2 * m * n) / self.copy)

    @staticmethod
    def best(name, grid, errors_of):
        best = min(grid, key=lambda c: statistics.mean(map(abs, errors_of(c))))
        errors = [abs(e) for e in errors_of(best)]
        print(f"{name}: {best}; {len(errors)} rows, error {100 * statistics.mean(errors):.1f}% in the mean, "
              f"{100 * statistics.median(errors):.1f}% in the middle, {100 * max(errors):.0f}% at worst")
        return best

    def products(self):
        rows = [r for p in ("products", "chunks", "grid", "separate", "head") for r in rows_of(self.parts, p)
                if "m" in r and r["host_seconds"] < 0.7 * r["seconds"]]  # else the host was timed
        return self.best("bf16 products, (flop/s, depth)", [(r * 1e12, d) for r in range(640, 741, 5) for d in range(40, 201, 20)],
                         lambda c: [self.product(r["m"], r["n"], r["k"], *c) / r["seconds"] - 1 for r in rows])

    def fp8_products(self, fast):
        rows = rows_of(self.parts, "fp8_products", fast=fast)
        return self.best(f"fp8 products, {'forward' if fast else 'backward'}, flop/s at depth 240", [r * 1e12 for r in range(1150, 1450, 5)],
                         lambda c: [self.product(r["m"], r["n"], r["k"], c, 240, 1) / r["seconds"] - 1 for r in rows])

    def attention(self, backend, way):
        rows = [(r["sequences"] * r["heads"] * r["tokens"] / 128 / SMS, r["tokens"], r["flops_per_s"])
                for r in rows_of(self.parts, "attention", **{"backend": backend, "pass": way})]
        return self.best(f"attention, {backend}, {way}, (flop/s, tokens, waves)",
                         [(r * 1e12, h, w / 10) for r in range(280, 640, 10) for h in range(200, 801, 20) for w in range(0, 30, 3)],
                         lambda c: [f / (c[0] * t / (t + c[1]) * w / (w + c[2])) - 1 for w, t, f in rows])


def gpu_constants(parts, watts):
    """Those of runtime/network/gpus, of an H200 at so many watts."""
    fit = Fit(parts)
    idle = max(r["watts"] for r in rows_of(parts, "gaps", part="layer of tiny tensors"))  # at its full clock, with little to do
    slower = digits(((watts - idle) / (WATTS - idle)) ** (1 / 3), 3)
    print(f"large products run at {fit.clock} MHz, kernels that draw less power at {MHZ}: {fit.boost}; "
          f"at {watts} W, {idle} W of them idle, the clock is {slower} of that at {WATTS} W")
    rate, depth = fit.products()
    fp8 = (fit.fp8_products(True) + 2 * fit.fp8_products(False)) / 3  # one product forward, two backward
    found = {"product_depth": depth, "product_efficiency": round(rate * slower / BF16, 3), "clock_boost": round(fit.boost / slower, 2),
             "fp8_efficiency": round(fp8 / (2 * rate), 3), "kernel_seconds": fit.kernel}
    for backend in ("flash", "cudnn"):
        for way in ("forward", "backward"):
            flops, half, waves = fit.attention(backend, way)
            name = f"{backend}_{way}"
            found |= {name: round(flops * slower / 1e12) * 1e12, name + "_half": half, name + "_waves": waves}
    layers = rows_of(parts, "whole_layers", **{"pass": "forward and backward"})
    ranges = [(r["high"] - r["low"]) / r["seconds"] / 2.56 for r in layers]
    found["speed_jitter"] = round(math.sqrt(statistics.mean(x * x for x in ranges)), 3)
    print(f"two layers from pass to pass: standard deviation {found['speed_jitter']}")
    return found, fit.copy


def elementwise_factor(parts, copy, model, mode):
    """Seconds of a layer's element-wise kernels, over a copy of the bytes that they need at least; and those of that copy."""
    row, = rows_of(parts, "whole_layers", **{"model": model, "mode": mode, "backend": "flash", "pass": "forward and backward"})
    others = sum(t for name, _, t in row["longest"] if any(part in name for part in ("nvjet", "gemm", "flash", "sdpa", "cudnn")))
    gated = model.startswith("llama")
    hidden, projected, middle, ways = (4096, 6144, 14336, 2) if gated else (4096, 12288, 16384, 1)
    least = 2 * row["rows"] * (20 * hidden + 4 * projected + (3 * ways + 2) * middle) / copy
    return (row["kernel_seconds"] - others) / 2 / least, least


def both_passes(parts, name):
    """Seconds of a part, forward and backward, launched kernel by kernel."""
    return sum(seconds(parts, "elementwise", **{"part": name, "mode": "eager", "pass": p}) for p in ("forward", "backward"))


def kernel_costs(parts):
    """Those of runtime/network/kernel_costs.hpp."""
    copy = Fit(parts).copy
    of_copy = lambda row: row["seconds"] / row["elements"] * copy
    llama, gpt = (elementwise_factor(parts, copy, m, "compiled")[0] for m in ("llama3_8b", "gpt_7.1b"))
    floats, least = elementwise_factor(parts, copy, "llama3_8b", "eager")
    found = {"kFused": digits((llama + gpt) / 2, 2), "kUnfused": digits(elementwise_factor(parts, copy, "gpt_7.1b", "eager")[0], 2),
             "kUnfusedFloats": digits(floats, 2)}
    # Two RMS norms of many kernels give way to two of one kernel, which take as long as layer norms.
    found["kFusedNorms"] = digits(floats - 2 * (both_passes(parts, "rms norm") - both_passes(parts, "layer norm")) / least, 2)
    print(f"element-wise kernels over a copy: compiled {llama:.2f} (Llama) and {gpt:.2f} (GPT), eager {floats:.2f} and {found['kUnfused']}")
    for name, mode in (("kLoss", "compiled"), ("kFloatLoss", "eager")):
        for way in ("forward", "backward"):
            row, = rows_of(parts, "head", **{"part": "loss in floats", "mode": mode, "pass": way})
            found[name + way.capitalize()] = digits(row["seconds"] / (row["rows"] * row["columns"]) * copy, 2)
    cast, transposed = (of_copy(rows_of(parts, "fp8_casts", part="fp8: " + p, mode="compiled")[0])
                        for p in ("scale and cast", "scale, cast and transpose"))
    found |= {"kCast": digits(cast, 2), "kTranspose": digits(transposed - cast, 2)}
    for name, part in (("kAdamW", "AdamW, fused, fp32"), ("kNormAndScale", "gradient norm and clipping"), ("kWeightToBf16", "weights to bf16")):
        found[name] = round(of_copy(rows_of(parts, "optimizer", part=part)[0]))
    found["kShareOfCollectives"] = round(rows_of(parts, "contention", blocks=16)[0]["slower"] - 1, 2)
    print("a product beside blocks that copy takes as many times as long: "
          + ", ".join(f"{r['slower']:.2f} ({r['blocks']})" for r in rows_of(parts, "contention") if "blocks" in r))
    floats, halves = (sum(r["seconds"] for r in rows_of(parts, p, **{"model": "gpt_177b", "pass": w}))
                      for p, w in (("accumulated", "weights, fp32"), ("products", "weights")))
    print(f"weights' gradients of a layer of GPT 177B take {floats / halves:.3f} times as long in floats")
    return found


def there(path):
    if path.suffix == ".toml":
        return tomllib.loads(path.read_text())
    return {k: float(v) for k, v in re.findall(r"\b(k\w+) = ([\d.]+)[,;]", path.read_text())}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("profile")
    arguments.add_argument("--check", type=Path, action="append", default=[])
    arguments.add_argument("--watts", type=float, default=WATTS)
    a = arguments.parse_args()
    profile = json.loads(Path(a.profile).read_text())
    (gpu, copy), costs = gpu_constants(profile["parts"], a.watts), kernel_costs(profile["parts"])
    print("\n".join(f"{k} = {v:g}" for k, v in {**gpu, **costs}.items()))
    wrong = []
    for path in a.check:
        has = there(path)
        found = costs if path.suffix == ".hpp" else gpu
        if has.get("title", "").startswith(profile["gpu"]["values"].split(",")[0]):  # the GPU that was measured
            found = found | {"memory_bandwidth": copy}
        wrong += [f"{path.name}: {k} is {has.get(k)}, measured {v:g}" for k, v in found.items()
                  if k not in has or not math.isclose(has[k], v, rel_tol=1e-6)]
    print("\n".join(wrong) if wrong else "\n".join(f"{path.name} has these constants" for path in a.check))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
