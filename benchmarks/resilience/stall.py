"""For how long a save stops training: lab 16's async_save beside a synchronous save, in turns on one GPU and one file system.

    python3 benchmarks/resilience/stall.py OUT.json [--folder FOLDER] [--arch sm_90a] [--program FILE] [--mib 60] [--saves 8] [--turns 9]

Needs nvcc (or --program, stall.cu built before) and a GPU. Files are made in a new folder below FOLDER (the current one), which is
on the file system to be measured; they are removed at the end. stall.cu says what is measured. OUT.json has the medians and quartiles
in ms, the turn-by-turn ratio of the two stalls with its quartiles, and all figures of the program. Where the file system
opens no file with O_DIRECT, or there is no GPU, OUT.json says "skipped" and why.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = ["benchmarks/resilience/stall.cu"]
SOURCES += [f"runtime/files/{name}.cpp" for name in ("real", "here", "threads", "client")]


def build(arch, folder):
    program = os.path.join(folder, "stall")
    uring = ["-DRIDGE_HAVE_URING", "-luring"] if subprocess.run(
        ["pkg-config", "--exists", "liburing"], check=False).returncode == 0 else []
    subprocess.run([os.environ.get("NVCC", "nvcc"), "-std=c++20", "-O3", f"-gencode=arch={arch.replace('sm', 'compute')},code={arch}",
                    "-I", os.path.join(ROOT, "runtime"), "-I", os.path.join(ROOT, "labs/16_resilience"), "-o", program,
                    *[os.path.join(ROOT, s) for s in SOURCES], *uring], check=True)
    return program, bool(uring)


def quartiles(values, scale=1.0):
    low, median, high = statistics.quantiles([v * scale for v in values], n=4) if len(values) > 1 else [values[0] * scale] * 3
    return {"median": round(median, 4), "low": round(low, 4), "high": round(high, 4)}


def file_system_of(folder):
    run = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True, check=False)
    return run.stdout.strip()


def device():
    run = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True,
                         check=False) if shutil.which("nvidia-smi") else None
    return run.stdout.strip().split("\n")[0] if run is not None and run.returncode == 0 else ""


def summary(said):
    ms = {name: quartiles(said[name], 1e3)
          for name in ("step", "copy", "hash", "storage", "stall_synchronous", "stall_async_save")}
    pairs = list(zip(said["stall_async_save"], said["stall_synchronous"]))
    return {"ms": ms, "async_over_synchronous": quartiles([a / s for a, s in pairs])}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--folder", default=".")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--program")
    for name, value in (("mib", 60), ("saves", 8), ("turns", 9)):
        parser.add_argument(f"--{name}", type=int, default=value)
    o = parser.parse_args()
    record = {"device": device(), "file_system": file_system_of(o.folder)}
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory(dir=o.folder, prefix="ridge-stall-") as files:
        program, record["io_uring"] = (o.program, None) if o.program else build(o.arch, made)
        run = subprocess.run([program, str(o.mib), str(o.saves), str(o.turns)], capture_output=True, text=True, check=False,
                             env={**os.environ, "RIDGE_FILES": files})
        if run.returncode != 0:
            sys.exit(f"{program} ended with {run.returncode}: {run.stderr.strip()}")
        said = json.loads(run.stdout)
    record.update(said if "skipped" in said else {**summary(said), "all": said})
    with open(o.out, "w") as f:
        json.dump(record, f, indent=1)
        f.write("\n")
    print(json.dumps({k: v for k, v in record.items() if k != "all"}, indent=1))


if __name__ == "__main__":
    main()
