#!/usr/bin/env python3
"""Seconds of `ridge grade --backend cuda` of the reference solutions, once each, as a record for minutes.py.

    benchmarks/judge/measure_minutes.py OUT.json NN...    in a folder of `ridge package tarball --solutions`, after `ridge calibrate`
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time


def rounded(values):
    return {k: round(v, 2) for k, v in values.items()}


def clocks():
    asked = ["nvidia-smi", "--query-gpu=clocks.sm,clocks.mem,temperature.gpu", "--format=csv,noheader"]
    return subprocess.run(asked, capture_output=True, text=True).stdout.strip().splitlines()[0]


def graded(lab, folder):
    record = pathlib.Path(folder) / f"{lab}.json"
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    code = subprocess.run(["./ridge", "grade", lab[:2], "--submission", f"solutions/{lab}", "--backend", "cuda", "--json", record],
                          stdout=subprocess.DEVNULL).returncode
    wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    r = json.loads(record.read_text())
    tasks = [{"id": t["id"], "points": t["points"], "max": t["max"], "judge_seconds": rounded(t["judge_seconds"]), "cases": len(t["cases"])}
             for t in r["tasks"]]
    total = {k: sum(t["judge_seconds"].get(k, 0) for t in r["tasks"]) for k in r["tasks"][0]["judge_seconds"]}
    row = {"lab": lab, "time": r["time"], "clocks": clocks(), "code": code, "points": sum(t["points"] for t in tasks),
           "max": sum(t["max"] for t in tasks), "wall": round(wall, 2), "user": round(after.ru_utime - before.ru_utime, 1),
           "system": round(after.ru_stime - before.ru_stime, 1), "build": round(r["seconds"]["build"], 2),
           "run": round(r["seconds"]["run"], 2), "judge_seconds": rounded(total), "tasks": tasks}
    return r, row


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{line.split(':', 1)[1].strip()}, {os.cpu_count()} cores"
    return f"{os.cpu_count()} cores"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    out, numbers = pathlib.Path(sys.argv[1]), sys.argv[2:]
    labs = [next(pathlib.Path("solutions").glob(f"{n}_*")).name for n in numbers]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for lab in labs:
            r, row = graded(lab, folder)
            rows.append(row)
            print(f"{lab}: {row['wall']} s, {row['points']} points", flush=True)
            device = {k: r["device"][k] for k in ("driver", "kind", "name", "runtime")}
            sandbox = {"complete": r["sandbox"]["complete"], "off": [l["name"] for l in r["sandbox"]["layers"] if not l["on"]]}
            out.write_text(json.dumps({
                "command": "benchmarks/judge/measure_minutes.py OUT.json NN...", "from": "ridge package tarball --solutions",
                "before": "ridge calibrate", "device": device, "processor": processor(), "compiler": r["compiler"], "sandbox": sandbox,
                "commit": r["ridge"]["commit"][:12], "rows": rows}, indent=1) + "\n")


main()
