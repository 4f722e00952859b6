#!/usr/bin/env python3
"""Time and memory of `ridge simulate` against the number of ranks.

growth.py RIDGE [--write]: a 3D step of GPT-3 175B and one all-reduce of all ranks, on a fat tree with static routes; medians of five runs
in turn, of the processor's seconds and of the largest resident set. --write puts the table into README.md, beside this file.
"""
import os
import statistics
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parent / "README.md"
BEGIN, END = "<!-- growth: benchmarks/simulate/growth.py RIDGE --write -->\n", "<!-- growth: end -->"
RANKS = [512, 1024, 2048, 4096, 8192, 16384, 131072]
TURNS = 5


def run(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, command
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    ridge = [sys.argv[1], "simulate", "--gpu", "h100", "--fabric", "fat_tree_4to1"]
    seen = {}
    for _ in range(TURNS):
        for ranks in RANKS:
            data = ranks // 32
            step = [*ridge, "--tensor", "8", "--pipeline", "4", "--chunks", "24", "--data", str(data), "--global-batch", str(32 * data)]
            one = [*ridge, "--collective", "all-reduce", "--bytes", "1e9", "--data", str(ranks)]
            for name, command in (("step", step), ("one", one)):
                seen.setdefault((ranks, name), []).append(run(command))
    middle = lambda ranks, name, i: statistics.median(x[i] for x in seen[ranks, name])
    text = "\n| ranks | a step, s | MiB | an all-reduce, s | MiB |\n|--:|--:|--:|--:|--:|\n"
    for ranks in RANKS:
        text += f"| {ranks:,} | {middle(ranks, 'step', 0):.2f} | {middle(ranks, 'step', 1):.0f} | " \
                f"{middle(ranks, 'one', 0):.2f} | {middle(ranks, 'one', 1):.0f} |\n"
    print(text)
    if "--write" in sys.argv:
        before, rest = README.read_text().split(BEGIN)
        README.write_text(before + BEGIN + text + END + rest.split(END)[1])


main()
