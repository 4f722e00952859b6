#!/usr/bin/env python3
"""Lab 01's worked example does what the lesson says. Usage: worked_example.py RIDGE"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
lesson = (ROOT / "labs/01_coalescing/README.md").read_text()
program = re.search(r"(    #include <cuda_runtime.h>\n(?:    .*\n|\n)+?)\nand run", lesson).group(1)
claim = re.search(r"column `ld req` says (\d) and (\d), and the `sect/req` beside it says ([\d.]+)", lesson).groups()
with tempfile.TemporaryDirectory(prefix="ridge-example-") as folder:
    (pathlib.Path(folder) / "records.cu").write_text(re.sub(r"^    ", "", program, flags=re.M))
    subprocess.run([sys.argv[1], "cc", "records.cu", "-o", "records"], cwd=folder, check=True)
    run = subprocess.run(["./records"], cwd=folder, env={**os.environ, "RIDGE_COUNTERS": "1"}, check=True, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
rows = {line.split()[0]: line.split()[3:5] for line in run.stdout.splitlines() if re.match(r"(one_field|all_fields) ", line)}
expected = {"one_field": [claim[0], claim[2]], "all_fields": [claim[1], claim[2]]}
if rows != expected:
    sys.exit(f"the lesson says {expected}, the emulator {rows}:\n{run.stdout}")
print("the emulator counts what the lesson says")
