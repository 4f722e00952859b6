#!/usr/bin/env python3
"""Where the counts of programs built with two compilers differ, and which of them the hardware agrees with.

    cd benchmarks/fidelity
    RIDGE_CXX=clang++ ../../ridge bench fidelity --out h200
    RIDGE_CXX=g++ ../../ridge bench fidelity --out h200_gcc
    python3 compilers.py h200.json h200_gcc.json > compilers.md
"""
import collections
import json
import pathlib
import sys
import tomllib


def counters(file):
    """{(launch, counter): (emulator, hardware)} of the exact counters, and the compiler's name."""
    data = json.loads(pathlib.Path(file).read_text())
    assert data["schema"] == "ridge.fidelity/1", file
    found = {}
    for launch in data["launches"]:
        for value in launch["exact"]:
            found[launch["launch"], value["metric"]] = (value["emulator"], value["hardware"])
    return data["about"], found


def short(metric):
    for before, after in (("l1tex__data_", ""), ("l1tex__t_", ""), ("smsp__sass_", ""), ("pipe_lsu_", ""), ("_mem", ""), (".sum", "")):
        metric = metric.replace(before, after)
    return metric


def main():
    (about, first), (about_2, second) = counters(sys.argv[1]), counters(sys.argv[2])
    names = about["compiler"], about_2["compiler"]
    reasons = tomllib.loads((pathlib.Path(__file__).parent / "compilers.toml").read_text())
    totals = collections.Counter()
    groups = collections.defaultdict(list)  # (kernel, counter, who is right): launches
    for key in sorted(set(first) | set(second)):
        # A counter that is zero on both sides is not in the file.
        hardware = (first.get(key) or second.get(key))[1]
        a = first[key][0] if key in first else 0
        b = second[key][0] if key in second else 0
        right = {(True, True): "both", (True, False): names[0], (False, True): names[1]}.get((a == hardware, b == hardware), "neither")
        totals[right, a == b] += 1
        if a != b:
            launch, metric = key
            groups[launch.rsplit(".", 1)[0], metric, right].append((launch, a, b, hardware))

    print("# Clang and GCC\n")
    print("Written by [compilers.py](compilers.py) from two runs of `ridge bench fidelity` against the same recording.\n")
    print(f"Of {sum(totals.values())} counter values that are not zero everywhere, the hardware agrees with both compilers on "
          f"{totals['both', True]}, with {names[0]} alone on {totals[names[0], False]}, with {names[1]} alone on "
          f"{totals[names[1], False]}, and with neither on {totals['neither', True] + totals['neither', False]}, "
          f"{totals['neither', True]} of which both count alike.\n")
    if not groups:
        return
    print(f"## Where they differ\n\nOne launch stands for those of the same kernel.\n\n| kernel | counter | launches | {names[0]} | {names[1]} | hardware | agrees with | what the compilers do |\n"
          "|---|---|--:|--:|--:|--:|---|---|")
    unknown = 0
    for (kernel, metric, right), rows in sorted(groups.items()):
        _, a, b, hardware = rows[-1]
        why = next((r["reason"] for r in reasons.get("kernel", []) if kernel in r["kernels"]), "")
        unknown += why == ""
        print(f"| {kernel} | `{short(metric)}` | {len(rows)} | {a:.0f} | {b:.0f} | {hardware:.0f} | {right} | {why} |")
    if unknown:
        sys.exit(f"{unknown} rows have no reason in compilers.toml")


main()
