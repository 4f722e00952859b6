"""Each source of a library that is built in groups compiles alone: sources.py BUILD [PART OF A PATH]. Prints those that
do not, and exits with 1."""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path


def compiles(command, folder, source):
    words = [w for w in shlex.split(command) if not w.endswith((".cxx.o", ".cxx"))]
    words = [w for w in words if w not in ("-o", "-c")]
    done = subprocess.run([*words, "-fsyntax-only", "-w", source], cwd=folder, capture_output=True, text=True)
    return "" if done.returncode == 0 else next((l for l in done.stderr.split("\n") if "error" in l), done.stderr[:200])


def main():
    build, part = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    jobs = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if "/Unity/" in entry["file"]:
            for source in re.findall(r'#include "(.+)"', Path(entry["file"]).read_text()):
                if part in source:
                    jobs.setdefault(source, (entry["command"], entry["directory"], source))
    if not jobs:
        print("no library is built in groups here (RIDGE_UNITY)")
        return 77
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: compiles(*job), jobs.values()))
    failed = [f"{source}: {why}" for source, why in zip(jobs, results) if why]
    print("\n".join(failed) if failed else f"{len(jobs)} sources compile alone")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
