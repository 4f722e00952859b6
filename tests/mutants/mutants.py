#!/usr/bin/env python3
"""How many small errors do the checks find? Edits each reference solution at one place, judges it, and reports which edits
cost no point.

  tests/mutants/mutants.py FOLDER [--labs 01 02] [--sample N] [--seed S] [--frozen] [--seconds S] [--report FILE]

FOLDER keeps a line a mutant in mutants.jsonl, so that an interrupted run goes on; a survivor is judged again once its lab
changed. --sample: mutants a lab, drawn by the seed; a larger sample contains the smaller one."""
import argparse
import fcntl
import json
import pathlib
import sys
import time

import frozen
import operators
import places
import report
from judging import Judge


class Log:
    """FOLDER/mutants.jsonl. The last line of a mutant counts."""

    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / "mutants.jsonl"
        self.lock = (folder / "lock").open("w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)  # one run at a time
        self.all = {}
        for line in self.file.read_text().splitlines() if self.file.is_file() else []:
            try:
                one = json.loads(line)
            except ValueError:
                continue  # an interrupted run's last line
            self.all[one["key"]] = one

    def needs(self, key, digest):
        one = self.all.get(key)
        return one is None or (one["verdict"] == "survived" and one["digest"] != digest)

    def add(self, one):
        self.all[one["key"]] = one
        with self.file.open("a") as f:
            f.write(json.dumps(one) + "\n")


def told(one):
    return f"{one['key']} {one['file']}:{one['line']} {one['operator']}: {one['old']} -> {one['new']}"


class References:
    """A judge that takes a point off the reference itself would call every mutant killed: each mode is tried with it, once a digest."""

    def __init__(self, folder, judge):
        self.file, self.judge = folder / "references.txt", judge
        self.good = set(self.file.read_text().split()) if self.file.is_file() else set()

    def check(self, lab, digest, file, tasks, mode):
        key = f"{lab}/{file}:{mode}:{digest}"
        if key in self.good:
            return
        began = time.monotonic()
        verdict, _, words = self.judge(dict(lab=lab, file=file, tasks=tasks), (mode,))
        if verdict not in ("survived", "skipped"):
            sys.exit(f"mutants.py: `ridge {mode}` takes points off the reference of {lab}, {file} ({words}); correct that first")
        print(f"{lab}: {mode} of the reference's {file} in {time.monotonic() - began:.1f} s", flush=True)
        self.good.add(key)
        with self.file.open("a") as f:
            f.write(key + "\n")


def run(lab, a, table, log, judge, references, end):
    ones = places.sample(lab, table, a.seed, a.sample)
    digest = places.digest(lab)
    todo = [one for one in ones if log.needs(one["key"], digest)]
    print(f"{lab}: {len(ones)} mutants, seed {a.seed}, {len(todo)} to judge", flush=True)
    for one in todo:
        if end and time.monotonic() > end:
            return
        references.check(lab, digest, one["file"], one["tasks"], "check")
        began = time.monotonic()
        one["verdict"], one["cause"], one["words"] = judge(one)
        if one["words"].startswith("grade: "):
            references.check(lab, digest, one["file"], one["tasks"], "grade")
        one["seconds"] = round(time.monotonic() - began, 1)
        one["digest"] = digest
        del one["whole"]
        log.add(one)
        if one["verdict"] == "survived" and report.Equivalents().entry(one) is None:
            print("  survived: " + told(one), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--labs", nargs="*", default=[])
    p.add_argument("--sample", type=int, default=40, help="mutants a lab (default: 40; 0: all)")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--frozen", action="store_true", help="the operators of frozen.py")
    p.add_argument("--seconds", type=float, default=0, help="judge no more mutants after so long")
    p.add_argument("--limit", type=float, default=30, help="seconds that one run of a task may take (default: 30)")
    p.add_argument("--ridge", type=pathlib.Path, default=places.ROOT / "build/bin/ridge", help="the program")
    p.add_argument("--list", action="store_true", help="print the mutants and judge none")
    p.add_argument("--least", type=float, default=0, help="fail where a lab's share of killed ones is below so many percent")
    p.add_argument("--report", type=pathlib.Path, help="write the page here")
    a = p.parse_args()
    table = frozen.OPERATORS if a.frozen else operators.OPERATORS
    if a.list:
        for lab in places.labs(a.labs):
            for one in places.sample(lab, table, a.seed, a.sample):
                print(lab, told(one))
        return
    log = Log(a.folder)
    judge = Judge(a.ridge.resolve(), a.folder, a.limit)
    references = References(a.folder, judge)
    end = time.monotonic() + a.seconds if a.seconds else 0
    for lab in places.labs(a.labs):
        if not end or time.monotonic() < end:
            run(lab, a, table, log, judge, references, end)
    equivalents = report.Equivalents()
    exist = {one["key"] for lab in places.labs() for some in (operators.OPERATORS, frozen.OPERATORS) for one in places.mutants_of(lab, some)}
    log.all = {key: one for key, one in log.all.items() if key in exist}  # the sources may have changed since
    print("\n".join(report.rows(log.all.values(), equivalents)))
    if a.report:
        a.report.write_text(report.page(list(log.all.values()), equivalents, a.seed, set(frozen.OPERATORS)))
    for lab, count in report.summary(log.all.values(), equivalents).items():
        if 100 * count["killed"] < a.least * (count["killed"] + count["survived"]):
            sys.exit(f"mutants.py: {lab}: fewer than {a.least:g}% killed; strengthen its checks, or explain in equivalent.toml")


if __name__ == "__main__":
    main()
