#!/usr/bin/env python3
"""Measures one GPU for runtime/network/gpus: the kernels of which the simulator makes a training step.

    python3 benchmarks/simulate/measure_gpu.py OUT.json [--quick] [--only PART,PART] [--limit 420] [--cpu]

Needs PyTorch 2.8 or later with CUDA, one H100 or H200 that nothing else uses, and nvidia-smi; about 90 s of kernels and some
minutes with compilation. Products, attention and layers run at the power limit: a large product runs before them, each runs
for 0.1 s or longer on N(0, 1) data, and the second half counts. Each row has its clocks and watts. A part that fails keeps its
reason in the file, and the others run. --quick: tiny sizes, to try the program. --limit: no part begins after so many seconds.
"""
import argparse
import json
import os
import subprocess
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def write(path, profile):
    temporary = path + ".part"
    with open(temporary, "w") as file:
        json.dump(profile, file, indent=1)
        file.write("\n")
    os.replace(temporary, path)


def machine():
    query = "name,driver_version,power.limit,clocks.max.sm,memory.total,temperature.gpu,power.draw"
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=" + query, "--format=csv,noheader"], capture_output=True, text=True,
                              timeout=20)
        return {"fields": query, "values": done.stdout.strip() or done.stderr.strip()}
    except (OSError, subprocess.TimeoutExpired) as e:
        return {"failed": str(e)}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("out")
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--only", default="")
    arguments.add_argument("--limit", type=float, default=420)
    arguments.add_argument("--cpu", action="store_true", help="try the program where no GPU is; implies --quick")
    a = arguments.parse_args()
    try:
        import torch
    except ImportError as e:
        print(f"measure_gpu.py needs PyTorch 2.8 or later with CUDA, which is not here ({e}); run it where `python3 -c "
              "'import torch'` works", file=sys.stderr)
        return 3
    if not a.cpu and not torch.cuda.is_available():
        print("measure_gpu.py found no GPU that PyTorch can use; nvidia-smi says why, --cpu tries the program without one",
              file=sys.stderr)
        return 3
    from gpu.parts import PARTS, Bench
    from gpu.sustained import Clock, Sampler
    chosen = [p for p in PARTS if not a.only or p.__name__ in a.only.split(",")]
    if not chosen:
        print("there are the parts " + ", ".join(p.__name__ for p in PARTS), file=sys.stderr)
        return 2
    begun = time.monotonic()
    profile = {"schema": "ridge.gpu_profile/1", "command": "measure_gpu.py " + " ".join(sys.argv[1:]), "torch": torch.__version__,
               "cuda": torch.version.cuda, "gpu": machine(), "quick": a.quick or a.cpu, "parts": {}}
    sampler = None if a.cpu else Sampler()
    clock = Clock("cpu" if a.cpu else "cuda", sampler, a.quick or a.cpu)
    bench = Bench(clock, a.quick or a.cpu)
    for part in chosen:
        name, start = part.__name__, time.monotonic()
        if start - begun > a.limit:
            profile["parts"][name] = {"failed": f"not begun: {a.limit:.0f} s were over"}
            continue
        bench.rows, busy = [], clock.busy
        result = {"what": (part.__doc__ or name).split("\n")[0]}
        try:
            part(bench)
        except Exception as e:
            result["failed"] = f"{type(e).__name__}: {e}"
            result["where"] = traceback.format_exc(limit=-3)
        result.update(rows=bench.rows, wall_s=round(time.monotonic() - start, 1), busy_s=round(clock.busy - busy, 1))
        profile["parts"][name] = result
        failed = sum("failed" in r for r in bench.rows)
        print(f"{name}: {len(bench.rows)} rows, {failed} failed, {result['busy_s']} s of kernels, {result['wall_s']} s"
              + (f"; {result['failed']}" if "failed" in result else ""), flush=True)
        if not a.cpu:
            torch.cuda.empty_cache()
        write(a.out, profile)
    if sampler is not None:
        sampler.stop()
        profile["sampler"] = {"samples": len(sampler.samples), "why_not": sampler.why_not}
    profile.update(wall_s=round(time.monotonic() - begun, 1), busy_s=round(clock.busy, 1), gpu_after=machine())
    write(a.out, profile)
    return 0


if __name__ == "__main__":
    sys.exit(main())
