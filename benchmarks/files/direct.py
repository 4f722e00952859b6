#!/usr/bin/env python3
"""read_direct of lab 17's solution as a share of what the storage gives to a plain O_DIRECT loop and, where it is
installed, to fio with the same requests. Needs a GPU, nvcc, and a folder on the storage to be measured.

    benchmarks/files/direct.py FOLDER [--mib 4096] [--turns 9] [--cufile FOLDER_OF_CUFILE_H] [--json FILE]
"""
import argparse
import datetime
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from machine import commit, gpu_state  # noqa: E402

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def build(program, cufile):
    sources = ["labs/17_input_pipeline/experiments/direct.cu", "solutions/17_input_pipeline/direct.cu"]
    sources += [f"runtime/files/{name}.cpp" for name in ("real", "here", "threads", "client")]
    command = ["nvcc", "-O3", "-std=c++20", "-arch=native", "-DRIDGE_REAL_FILES", "-I", "runtime"]
    command += ["-I", "labs/17_input_pipeline", *sources, "-ldl", "-o", program]
    if cufile:
        command += ["-I", cufile]
    if subprocess.run(["pkg-config", "--exists", "liburing"]).returncode == 0:
        command += ["-DRIDGE_HAVE_URING", "-luring"]
    subprocess.run(command, cwd=root, check=True)


def fio(folder, mib, depth):
    """GB/s of reads of 1 MiB, so many in flight, of a file of its own, which fio writes first."""
    job = ["fio", "--name=ridge", f"--directory={folder}", f"--size={mib}m", "--rw=read", "--bs=1m", "--direct=1"]
    job += [f"--iodepth={depth}", "--output-format=json", f"--ioengine={'io_uring' if depth > 1 else 'psync'}"]
    done = subprocess.run(job, capture_output=True, text=True)
    if done.returncode != 0 and depth > 1:  # containers often forbid io_uring
        job[-1] = "--ioengine=libaio"
        done = subprocess.run(job, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"fio failed: {done.stderr.strip()}")
    return json.loads(done.stdout)["jobs"][0]["read"]["bw_bytes"] / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--mib", type=int, default=4096)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--cufile")
    parser.add_argument("--json")
    options = parser.parse_args()
    storage = subprocess.run(["df", "--output=source,fstype", options.folder], capture_output=True, text=True).stdout
    result = {"gpu": gpu_state(), "commit": commit(), "command": "benchmarks/files/direct.py", "date": datetime.date.today().isoformat(),
              "file_system": storage.strip().splitlines()[-1].split()[-1] if storage.strip() else "unknown"}
    result |= {"mib": options.mib, "turns": options.turns, "gb_per_s": {}, "of_the_plain_loop": {}}
    with tempfile.TemporaryDirectory() as build_folder:
        program = os.path.join(build_folder, "direct")
        build(program, options.cufile)
        run = subprocess.run([program, str(options.mib), str(options.turns)], capture_output=True, text=True,
                             env={**os.environ, "RIDGE_FILES": options.folder})
    print(run.stdout, end="")
    if run.returncode != 0:
        sys.exit(run.stderr.strip())
    for line in run.stdout.splitlines():
        figure = re.match(r"(.+?)\s+([\d.]+) GB/s \(([\d.]+) to ([\d.]+)\), ([\d.]+) of", line)
        if figure:
            name, median, least, most, ratio = figure.groups()
            result["gb_per_s"][name] = [float(least), float(median), float(most)]
            result["of_the_plain_loop"][name] = float(ratio)
        else:
            result["gb_per_s"][line.split("  ")[0]] = line.split("  ")[-1].strip()
    if shutil.which("fio"):
        for depth in (1, 8):
            rates = sorted(fio(options.folder, options.mib, depth) for _ in range(min(options.turns, 5)))
            result["gb_per_s"][f"fio, {depth} in flight"] = [rates[0], statistics.median(rates), rates[-1]]
            print(f"fio, {depth} in flight: {statistics.median(rates):.2f} GB/s ({rates[0]:.2f} to {rates[-1]:.2f})")
        direct = result["gb_per_s"]["read_direct"][1]
        result["of_fio"] = direct / result["gb_per_s"]["fio, 8 in flight"][1]
        print(f"read_direct is {result['of_fio']:.2f} of fio with 8 in flight")
    else:
        print("fio: cannot run here: it is not installed")
    if options.json:
        with open(options.json, "w") as out:
            json.dump(result, out, indent=1)
            out.write("\n")


main()
