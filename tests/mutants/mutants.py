#!/usr/bin/env python3
"""How many small errors do the checks find? Edits each reference solution by the operators of operators.py, one edit at a
time, and judges it: a mutant is killed if the task loses a point.

  tests/mutants/mutants.py FOLDER [--labs 01 02] [--sample N] [--seed S] [--frozen] [--seconds S] [--report]

FOLDER keeps a line a mutant in mutants.jsonl; a second run goes on where the first ended. --sample: mutants a lab, drawn by
the seed. Mutants that change nothing that counts are named, with the reason, in equivalent.toml."""
import argparse
import collections
import difflib
import hashlib
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

import operators

ROOT = pathlib.Path(__file__).resolve().parents[2]
RIDGE = ROOT / "build/bin/ridge"


def tasks_of(lab):
    """{file: [task, ...]} of a lab."""
    files = collections.defaultdict(list)
    for task in tomllib.loads((ROOT / "labs" / lab / "lab.toml").read_text())["task"]:
        files[task["file"]].append(task["id"])
    return files


def key(lab, file, old, new, number):
    return hashlib.sha256(f"{lab}\n{file}\n{number}\n{old}\n{new}".encode()).hexdigest()[:12]


def all_mutants(lab, table):
    for file, tasks in tasks_of(lab).items():
        source = ROOT / "solutions" / lab / file
        if not source.is_file():
            continue
        text = source.read_text()
        seen = set()
        for operator, number, old, new in operators.mutants(text, table):
            if (number, new) in seen or old == new:
                continue
            seen.add((number, new))
            yield dict(key=key(lab, file, old, new, number), lab=lab, file=file, tasks=tasks, operator=operator, line=number,
                       old=old.strip(), new=new.strip(), whole=new)


def judge(mutant, limit):
    """'killed', 'survived' or 'not built', and the words of the first failed check."""
    with tempfile.TemporaryDirectory(prefix="mutant") as scratch:
        folder = pathlib.Path(scratch) / mutant["lab"]
        shutil.copytree(ROOT / "solutions" / mutant["lab"], folder, ignore=shutil.ignore_patterns("steps", "README.md"))
        lines = (folder / mutant["file"]).read_text().split("\n")
        lines[mutant["line"] - 1] = mutant["whole"]
        (folder / mutant["file"]).write_text("\n".join(lines))
        for task in mutant["tasks"]:
            out = pathlib.Path(scratch) / "result.json"
            try:
                subprocess.run([RIDGE, "check", mutant["lab"][:2], "--backend", "cpu", "--task", task, "--submission", folder,
                                "--json", out], capture_output=True, timeout=limit, cwd=scratch)
            except subprocess.TimeoutExpired:
                return "killed", "no end"
            if not out.is_file():
                return "killed", "no result"
            result = json.loads(out.read_text())
            if result["outcome"] == "build-failed":
                return "not built", ""
            for one in result["tasks"]:
                if one["id"] != task or one["status"] == "skipped":
                    continue
                if one["status"] != "passed" or one["points"] < one["max"]:
                    failed = [c["name"] for c in one["checks"] if c["status"] == "failed"]
                    return "killed", failed[0] if failed else one["status"]
    return "survived", ""


def report(folder, results, reasons):
    table = collections.defaultdict(collections.Counter)
    lines = ["| lab | mutants built | killed | equivalent | survivors | killed of those not equivalent |", "|---|--:|--:|--:|--:|--:|"]
    for one in results.values():
        verdict = one["verdict"]
        table[one["lab"]]["equivalent" if verdict == "survived" and one["key"] in reasons else verdict] += 1
    for lab, count in sorted(table.items()):
        different = count["killed"] + count["survived"]
        share = f"{100 * count['killed'] / different:.1f}%" if different else "-"
        lines.append(f"| {lab} | {different + count['equivalent']} | {count['killed']} | {count['equivalent']} | {count['survived']} | {share} |")
    lines += ["", "Survivors:", ""]
    for one in sorted(results.values(), key=lambda r: (r["lab"], r["file"], r["line"])):
        if one["verdict"] == "survived":
            why = reasons.get(one["key"], "**not explained**")
            lines.append(f"- `{one['key']}` {one['lab']}/{one['file']}:{one['line']} {one['operator']}: `{one['old']}` -> `{one['new']}`: {why}")
    (folder / "report.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--labs", nargs="*", default=[])
    p.add_argument("--sample", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--frozen", action="store_true")
    p.add_argument("--seconds", type=float, default=0, help="stop after so long")
    p.add_argument("--limit", type=float, default=60, help="seconds for one task of one mutant")
    p.add_argument("--list", action="store_true", help="print the mutants and judge none")
    p.add_argument("--report", action="store_true", help="only make report.md again")
    a = p.parse_args()
    a.folder.mkdir(parents=True, exist_ok=True)
    log = a.folder / "mutants.jsonl"
    results = {}
    if log.is_file():
        for line in log.read_text().splitlines():
            one = json.loads(line)
            results[one["key"]] = one
    equivalents = pathlib.Path(__file__).parent / "equivalent.toml"
    reasons = {e["key"]: e["why"] for e in tomllib.loads(equivalents.read_text()).get("equivalent", [])}
    labs = [f.parent.name for f in sorted(ROOT.glob("labs/*/lab.toml")) if not a.labs or f.parent.name[:2] in a.labs]
    start = time.monotonic()
    for lab in [] if a.report else labs:
        ones = list(all_mutants(lab, operators.FROZEN if a.frozen else operators.OPERATORS))
        if a.sample:
            ones = random.Random(f"{lab} {a.seed}").sample(ones, min(a.sample, len(ones)))
        print(f"{lab}: {len(ones)} mutants", flush=True)
        for one in ones:
            if a.list:
                print(f"{one['key']} {one['file']}:{one['line']} {one['operator']}: {one['old']} -> {one['new']}")
                continue
            if a.seconds and time.monotonic() - start > a.seconds:
                break
            if one["key"] in results:
                continue
            began = time.monotonic()
            one["verdict"], one["by"] = judge(one, a.limit)
            one["seconds"] = round(time.monotonic() - began, 1)
            del one["whole"]
            results[one["key"]] = one
            with log.open("a") as f:
                f.write(json.dumps(one) + "\n")
            if one["verdict"] == "survived":
                print(f"  {one['key']} {one['file']}:{one['line']} {one['operator']}: {one['old']} -> {one['new']}", flush=True)
    if not a.list:
        report(a.folder, results, reasons)


if __name__ == "__main__":
    main()
