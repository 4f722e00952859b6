#!/usr/bin/env python3
"""What judging costs: `check` and `grade` of the reference solutions by two trees, in turn.

    benchmarks/judge/cost.py OLD NEW --out cost.json [--labs 01 02] [--runs 3]

OLD and NEW are built trees. The machine does nothing else meanwhile: processor time is that of all processes, since a
sandbox's ones are nobody's children. The first run of each also compiles. A table of medians goes to standard output.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import time


def busy():
    """Seconds that all processors have worked since the machine started."""
    user, nice, system, _, _, irq, soft = map(int, pathlib.Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + irq + soft) / 100


def judge(tree, mode, lab):
    solution = next((tree / "solutions").glob(lab + "_*"))
    began, before = time.monotonic(), busy()
    code = subprocess.run([tree / "build/bin/ridge", mode, lab, "--backend", "cpu", "--submission", solution], cwd=tree,
                          capture_output=True).returncode
    return {"wall": round(time.monotonic() - began, 2), "processor": round(busy() - before, 2), "code": code}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--labs", nargs="*", default=[f"{i:02}" for i in range(1, 11)])
    parser.add_argument("--runs", type=int, default=3)
    a = parser.parse_args()
    commits = {name: subprocess.run(["git", "-C", tree, "rev-parse", "--short=12", "HEAD"], capture_output=True,
                                    text=True).stdout.strip() for name, tree in (("old", a.old), ("new", a.new))}
    rows = json.loads(a.out.read_text())["rows"] if a.out.exists() else []
    for lab in a.labs:
        for mode in ("check", "grade"):
            row = {"lab": lab, "mode": mode, "commits": commits, "old": [], "new": []}
            for _ in range(a.runs):
                for name, tree in (("old", a.old), ("new", a.new)):
                    row[name].append(judge(tree, mode, lab))
            rows = [r for r in rows if (r["lab"], r["mode"]) != (lab, mode)] + [row]
            a.out.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    print("| lab | | old, s | new, s | new / old | processor, new / old |\n|---|---|--:|--:|--:|--:|")
    for r in sorted(rows, key=lambda r: (r["lab"], r["mode"])):
        middle = {(n, k): statistics.median(x[k] for x in r[n]) for n in ("old", "new") for k in ("wall", "processor")}
        print(f"| {r['lab']} | {r['mode']} | {middle['old', 'wall']:.2f} | {middle['new', 'wall']:.2f} | "
              f"{middle['new', 'wall'] / middle['old', 'wall']:.2f} | "
              f"{middle['new', 'processor'] / middle['old', 'processor']:.2f} |")


if __name__ == "__main__":
    main()
