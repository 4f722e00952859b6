"""Each header compiles alone: headers.py REPOSITORY BUILD COMPILER. Prints those that do not, and exits with 1."""
import concurrent.futures
import os
import subprocess
import sys
from pathlib import Path

FOLDERS = ["app", "learn", "serve", "checks", "formats", "grader", "cluster/src", "runtime/simt/src", "runtime/simt/rewrite",
           "runtime/collectives"]


def compiles(header, root, build, compiler):
    flags = ["-std=c++20", "-fsyntax-only", "-x", "c++", "-DFMT_HEADER_ONLY", "-w"]
    include = [root, root / "runtime", root / "runtime/simt", root / "runtime/simt/src", root / "runtime/simt/include",
               root / "runtime/collectives/mpi/include", root / "cluster/src", build / "grader"]
    command = [compiler, *flags, *[f"-I{i}" for i in include], str(header)]
    done = subprocess.run(command, capture_output=True, text=True)
    return "" if done.returncode == 0 else next((l for l in done.stderr.split("\n") if "error" in l), done.stderr[:200])


def main():
    root, build, compiler = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3]
    headers = [h for folder in FOLDERS for h in sorted((root / folder).rglob("*.hpp"))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda h: compiles(h, root, build, compiler), headers))
    failed = [f"{h.relative_to(root)}: {why}" for h, why in zip(headers, results) if why]
    print("\n".join(failed) if failed else f"{len(headers)} headers compile alone")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
