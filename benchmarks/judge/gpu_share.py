#!/usr/bin/env python3
"""Attacks that were written for the emulator, tried on a GPU: what the backend cuda says to each.

    python3 benchmarks/judge/gpu_share.py RIDGE OUT.json [NAME...]

RIDGE is a `ridge` with its labs and solutions; a GPU, nvcc and an earlier `ridge calibrate` are needed. Each attack of
tests/grader/attacks without a script of its own is laid over the lab's solution and judged by `ridge check --backend cuda`.
An attack counts as accepted where it gets full marks, and as skipped where the task needs what this machine lacks.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
ATTACKS = ROOT / "tests/grader/attacks"
MARKER = "ridge-gpu-share-marker"
PLACES = {"@MARKER@": MARKER, "@SECRET@": "/tmp/ridge-gpu-share-secret", "@OUTSIDE@": "/tmp/ridge-gpu-share-outside",
          "@ROOT@": str(ROOT), "@SBATCH@": "/usr/bin/sbatch"}


def text_of(file):
    text = file.read_text(errors="surrogateescape")
    for place, value in PLACES.items():
        text = text.replace(place, value)
    return text


def lay(attack, name, about, solutions, folder):
    """The lab's solution with the attack's files over it; `name`: attack or honest."""
    shutil.copytree(solutions / about.get("lab", "01_coalescing"), folder, dirs_exist_ok=True)
    shutil.rmtree(folder / "steps", ignore_errors=True)
    for file in attack.glob(f"{name}.*"):
        rest = file.name[len(name) + 1:]
        if rest in ("toml", "sh", "prepare.sh"):
            continue
        (folder / (about.get("file", "copy.cu") if rest == "cu" else rest)).write_text(
            text_of(file), errors="surrogateescape")


def judge(ridge, about, folder, home):
    task, lab = about.get("task", "copy"), about.get("lab", "01_coalescing")
    result = home / "result.json"
    result.unlink(missing_ok=True)
    run = subprocess.run([ridge, "check", lab, "--backend", "cuda", "--task", task, "--submission", str(folder),
                          "--no-predict", "--json", str(result)], capture_output=True, text=True, errors="replace",
                         env={**os.environ, "HOME": str(home)}, timeout=200)
    if not result.exists():
        return {"outcome": "refused", "exit": run.returncode, "says": (run.stderr + run.stdout).strip()[-300:]}
    r = json.loads(result.read_text())
    score, tasks = r["score"], r["tasks"]
    failed = [c for t in tasks for c in t["checks"] if c["status"] == "failed"]
    outcome = ("skipped" if score["max"] == 0 else
               "full marks" if score["points"] >= score["max"] and not failed else "rejected")
    says = f"{failed[0]['name']}: {failed[0]['message']}" if failed else ""
    return {"outcome": outcome, "points": score["points"], "max": score["max"], "says": says[:300]}


def main():
    ridge, out, names = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    solutions = pathlib.Path(ridge).resolve().parents[1] / "solutions"
    if not solutions.exists():
        solutions = ROOT / "solutions"
    rows = {}
    for attack in sorted(p for p in ATTACKS.iterdir() if (p / "attack.cu").exists()):
        about = tomllib.loads((attack / "attack.toml").read_text())
        if names and not any(attack.name.startswith(n) for n in names):
            continue
        if about.get("lab", "").startswith("9") or (attack / "attack.sh").exists() or about.get("backend") == "cuda":
            continue
        row = {"tries": about["tries"]}
        twin = attack if (attack / "honest.cu").exists() else ATTACKS / about.get("twin", "")
        for kind, where in (("attack", attack), ("honest", twin)):
            if not (where / f"{kind}.cu").exists():
                continue
            with tempfile.TemporaryDirectory() as place:
                folder, home = pathlib.Path(place) / "submission", pathlib.Path(place)
                lay(where, kind, about, solutions, folder)
                try:
                    row[kind] = judge(ridge, about, folder, home)
                except subprocess.TimeoutExpired:
                    row[kind] = {"outcome": "no end"}
        rows[attack.name] = row
        print(attack.name, {k: v["outcome"] for k, v in row.items() if k != "tries"}, flush=True)
        out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
