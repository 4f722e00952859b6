#!/usr/bin/env python3
"""From the save of a file to the result of `ridge watch`: every file of labs 01 to 03, solutions and stubs, three saves each.

watch.py RIDGE OUT.json, from the repository's root. Seconds by this program's clock, from the end of the write to the line that ends
the task's result.
"""
import json, os, pathlib, shutil, signal, statistics, subprocess, sys, tempfile, time

ridge, out = os.path.abspath(sys.argv[1]), sys.argv[2]
root = pathlib.Path(__file__).resolve().parents[2]


def measure(lab, files_of):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        env = {**os.environ, "RIDGE_ROOT": str(root), "RIDGE_WORK": str(folder), "RIDGE_RESULTS": str(folder / "results")}
        subprocess.run([ridge, "start", lab[:2]], env=env, check=True, capture_output=True)
        work = folder / lab
        files = sorted(p for p in (root / "solutions" / lab).glob("*.cu") if (work / p.name).exists())
        if files_of == "solutions":
            for p in files:
                shutil.copy(p, work / p.name)
        log = folder / "log"
        seconds = []
        with open(log, "wb") as sink:
            process = subprocess.Popen([ridge, "watch", lab[:2], "--backend", "cpu"], env=env, stdout=sink, stderr=sink)

        def wait(count):
            limit = time.monotonic() + 120
            while log.read_text(errors="replace").count("from the save") < count:
                if time.monotonic() > limit or process.poll() is not None:
                    raise SystemExit(log.read_text(errors="replace"))
                time.sleep(0.01)

        wait(1)
        for save in range(3):
            for p in files:
                before = log.read_text(errors="replace").count("from the save")
                with open(work / p.name, "a") as f:
                    f.write(f"static const int saved_{save} = {save};\n")  # a comment alone would not be compiled again
                begun = time.monotonic()
                wait(before + 1)
                seconds.append(round(time.monotonic() - begun, 3))
                time.sleep(1.5)  # the other tasks' turn, if there is one
        process.send_signal(signal.SIGINT)
        process.wait()
        return {"lab": lab, "files": files_of, "median_s": statistics.median(seconds), "seconds": seconds}


results = []
for lab in ("01_coalescing", "02_tiling", "03_warp_shuffle"):
    for files_of in ("stubs", "solutions"):
        results.append(measure(lab, files_of))
        print(lab, files_of, results[-1]["median_s"], flush=True)
model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
record = {"machine": f"{model}, {os.cpu_count()} cores", "date": time.strftime("%Y-%m-%d"), "results": results,
          "commit": subprocess.run(["git", "-C", root, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()}
pathlib.Path(out).write_text(json.dumps(record, indent=1) + "\n")
