#!/usr/bin/env python3
"""Sources are as clang-format 14 writes them. Usage: format.py ROOT. Exits 77, skipped, without that version or git."""
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

VERSION = "14"
# The emulator's headers are mostly macros and stay as they are written; so do attacks, which play with such things.
AS_WRITTEN = ("runtime/simt/include/", "tests/grader/attacks/")


def skipped(why):
    print(f"skipped: {why}")
    return 77


def main(root):
    try:
        version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True, check=True).stdout
        files = subprocess.run(["git", "-C", root, "ls-files", "*.cpp", "*.hpp", "*.cu"], capture_output=True, text=True,
                               check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError) as error:
        return skipped(error)
    if not re.search(rf"version {VERSION}\.", version):
        return skipped(f"versions format differently; this tree follows {VERSION}, here is {version.strip()}")
    files = [f for f in files if not f.startswith(AS_WRITTEN) and os.path.exists(os.path.join(root, f))]
    groups = [files[i:i + 40] for i in range(0, len(files), 40)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = list(pool.map(lambda group: subprocess.run(["clang-format", "--dry-run", "--Werror", *group], cwd=root,
                                                          capture_output=True, text=True), groups))
    said = "".join(run.stderr for run in runs)
    print(said or f"{len(files)} sources are as clang-format writes them")
    if said:
        print("what to try: clang-format -i FILE")
    return int(any(run.returncode for run in runs))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
