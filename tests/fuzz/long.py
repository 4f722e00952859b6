#!/usr/bin/env python3
"""Runs every fuzzer for a while, in slices, and goes on where an earlier run stopped.

    cmake --build build --target fuzzers
    python3 tests/fuzz/long.py FOLDER [--minutes 20] [--jobs 1] [--only NAME...] [--report tests/fuzz/long.json]

FOLDER lies outside of the tree. It keeps what each target has found to be new (its corpus), crashing inputs, and the
seconds that each has run. Exit code 1 where an input crashed a target.
"""
import argparse
import concurrent.futures
import datetime
import json
import pathlib
import re
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLICE = 60  # seconds that a target runs before its progress is written down


class Progress:
    """Seconds, executions and coverage of each target, in FOLDER/progress.json."""

    def __init__(self, folder):
        self.file, self.lock = folder / "progress.json", threading.Lock()
        self.targets = json.loads(self.file.read_text()) if self.file.exists() else {}

    def of(self, name):
        return self.targets.get(name, {"seconds": 0, "executions": 0, "edges": 0, "features": 0, "crashes": 0})

    def keep(self, name, row):
        with self.lock:
            self.targets[name] = row
            written = self.file.with_suffix(".new")
            written.write_text(json.dumps(self.targets, indent=1, sort_keys=True) + "\n")
            written.replace(self.file)


def run_slice(name, folder, seconds, row):
    """One slice of a target; returns its new row."""
    corpus, crashes = folder / name, folder / "crashes"
    corpus.mkdir(parents=True, exist_ok=True)
    crashes.mkdir(exist_ok=True)
    dictionary = ROOT / f"tests/fuzz/{name}.dict"
    argv = [str(ROOT / f"build/bin/fuzz_{name}"), str(corpus), str(ROOT / f"tests/fuzz/corpus/{name}"),
            f"-max_total_time={seconds}", "-print_final_stats=1", "-timeout=10", "-rss_limit_mb=2048",
            f"-artifact_prefix={crashes}/{name}-"] + ([f"-dict={dictionary}"] if dictionary.exists() else [])
    run = subprocess.run(argv, capture_output=True, text=True, errors="replace", cwd=folder)
    executed = re.search(r"stat::number_of_executed_units: (\d+)", run.stderr)
    covered = re.findall(r"cov: (\d+) ft: (\d+)", run.stderr)
    edges, features = map(int, covered[-1]) if covered else (0, 0)
    if run.returncode != 0:
        (crashes / f"{name}.log").write_text(run.stderr[-20000:])
    return {"seconds": row["seconds"] + seconds, "executions": row["executions"] + int(executed.group(1) if executed else 0),
            "edges": max(edges, row["edges"]), "features": max(features, row["features"]),
            "crashes": row["crashes"] + (run.returncode != 0)}


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--minutes", type=float, default=20)
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--only", nargs="*", default=[])
    options.add_argument("--report", type=pathlib.Path)
    o = options.parse_args()
    folder = o.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    names = sorted(p.stem for p in (ROOT / "tests/fuzz").glob("*.cpp") if (ROOT / f"build/bin/fuzz_{p.stem}").exists())
    names = [n for n in names if not o.only or n in o.only]
    if not names:
        sys.exit("no fuzzer is built: cmake --build build --target fuzzers")
    progress, limit = Progress(folder), round(o.minutes * 60)

    def all_slices(name):
        while (row := progress.of(name))["seconds"] < limit and row["crashes"] == 0:
            progress.keep(name, run_slice(name, folder, min(SLICE, limit - row["seconds"]), row))
        row = progress.of(name)
        print(f"{name:10s} {row['seconds']:5d} s {row['executions']:10d} executions {row['edges']:6d} edges "
              f"{row['features']:6d} features {row['crashes']} crashes", flush=True)

    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        list(pool.map(all_slices, names))
    if o.report:
        commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
        o.report.write_text(json.dumps({"date": datetime.date.today().isoformat(), "commit": commit.stdout.strip(),
                                        "command": "python3 tests/fuzz/long.py FOLDER --minutes " + f"{o.minutes:g}",
                                        "targets": {n: progress.of(n) for n in names}}, indent=1) + "\n")
    sys.exit(any(progress.of(n)["crashes"] for n in names))


if __name__ == "__main__":
    main()
