#!/usr/bin/env python3
"""Derives what the simulator has of a node's links from what measure_links.py left, beside what it has today.

fit_links.py LINKS.json [--fabric FABRIC.toml] [--gpu GPU.toml] [--write | --check]: node_bandwidth and node_latency are those with the
least relative error over all sizes of all-gather and reduce-scatter, which take (p - 1) (latency + n / p bandwidth). --write puts the
table into README.md, beside this file; --check exits with 1 where it is not the one that stands there.
"""
import argparse
import json
import re
import statistics
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
NETWORK = HERE.parents[1] / "runtime/network"
BEGIN, END = "<!-- links: benchmarks/simulate/fit_links.py LINKS --write -->\n", "<!-- links: end -->"


def line(rows):
    """(latency, bandwidth): t = (p - 1) latency + x / bandwidth by least squares of (t - measured) / measured; x: bytes that a rank sends."""
    p = rows[0]["ranks"]
    points = [(r["bytes"] * (p - 1) / p, r["seconds"]) for r in rows]
    ones, xs, xx, ys, xy = (sum(f(x, t) for x, t in points) for f in (
        lambda x, t: 1 / t ** 2, lambda x, t: x / t ** 2, lambda x, t: (x / t) ** 2, lambda x, t: 1 / t, lambda x, t: x / t))
    slope = (ones * xy - xs * ys) / (ones * xx - xs ** 2)
    return (ys - slope * xs) / ones / (p - 1), 1 / slope


def table(profile, fabric, gpu):
    rows, p = profile["rows"], profile["ranks"]
    lines = [r for r in rows if r.get("collective") in ("all-gather", "reduce-scatter")]
    latency, bandwidth = line(lines)
    errors = [abs(((p - 1) * latency + r["bytes"] * (p - 1) / p / bandwidth) / r["seconds"] - 1) for r in lines]
    costs = (NETWORK / "kernel_costs.hpp").read_text()
    share = float(re.search(r"kShareOfCollectives = ([\d.]+);", costs)[1])
    beside = [r for r in rows if r.get("part", "").startswith("product beside")]
    slower = [r["product_slower"] - 1 for r in beside if r["product_slower"]]
    own, = (r["of_ranks"] for r in rows if r.get("part") == "product alone")
    largest = max(r["bytes"] for r in lines)
    of = lambda name: next(r["bus_bytes_per_s"] for r in rows if r.get("collective") == name and r["bytes"] == largest)
    hosts = [r for r in lines if r["host_seconds"] > 0.7 * r["seconds"]]
    text = f"\n{p} x {profile['device']}, NCCL {profile['nccl']}, " \
           f"{', '.join(f'{k}={v}' for k, v in sorted(profile['environment'].items())) or 'no settings'}; PyTorch {profile['torch']}.\n\n"
    text += "| what | measured | the simulator has |\n|---|--:|--:|\n"
    text += f"| bandwidth of all-gather and reduce-scatter, GB/s (error {100 * statistics.mean(errors):.1f}% in the mean, " \
            f"{100 * max(errors):.0f}% at worst) | {bandwidth / 1e9:.0f} | {fabric['node_bandwidth'] / 1e9:.0f} |\n"
    text += f"| latency of a step of their rings, us | {latency * 1e6:.1f} | {fabric['node_latency'] * 1e6:.1f} |\n"
    for name in ("all-reduce", "ring of messages"):
        text += f"| bandwidth of {name}, {largest >> 20} MiB, GB/s | {of(name) / 1e9:.0f} | {fabric['node_bandwidth'] / 1e9:.0f} |\n"
    if slower:
        text += f"| products beside collectives take longer by ({100 * min(slower):.0f} to {100 * max(slower):.0f}%) | " \
                f"{100 * statistics.mean(slower):.0f}% | {100 * share:.0f}% |\n"
    if beside:
        text += f"| collectives beside products take longer by | {100 * (statistics.mean(r['collective_slower'] for r in beside) - 1):.0f}% | 0% |\n"
    text += f"| standard deviation of the GPUs' speeds in products | {100 * statistics.stdev(own) / statistics.mean(own):.1f}% | " \
            f"{100 * gpu['speed_spread']:.1f}% |\n"
    if hosts:
        text += f"\nThe host bounds {len(hosts)} of {len(lines)} of them, up to {max(r['bytes'] for r in hosts) >> 20} MiB: their latency is its own.\n"
    return text


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("links", type=Path)
    arguments.add_argument("--fabric", type=Path, default=NETWORK / "fabrics/dgx_h100.toml")
    arguments.add_argument("--gpu", type=Path, default=NETWORK / "gpus/h200.toml")
    arguments.add_argument("--write", action="store_true")
    arguments.add_argument("--check", action="store_true")
    a = arguments.parse_args()
    text = table(json.loads(a.links.read_text()), tomllib.loads(a.fabric.read_text()), tomllib.loads(a.gpu.read_text()))
    readme = HERE / "README.md"
    before, rest = readme.read_text().split(BEGIN)
    there, after = rest.split(END)
    if a.check:
        if there != text:
            print(f"benchmarks/simulate/README.md is out of date: {sys.argv[0]} LINKS --write")
        return there != text
    print(text)
    if a.write:
        readme.write_text(before + BEGIN + text + END + after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
