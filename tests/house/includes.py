"""A folder includes only from itself and from folders below it.

includes.py REPOSITORY: prints each include that points up, and exits with 1 where there is one.
"""
import posixpath
import re
import sys
from pathlib import Path

# From the lowest to the highest. A folder uses those above it in this list; those on one line do not know each other.
# Includes start at the repository or at one of these folders.
ROOTS = ["", "runtime/", "runtime/simt/src/", "cluster/src/", "visualizer/"]
LEVELS = [
    "formats runtime/ceilings runtime/ptx runtime/simt/rewrite/text",
    "runtime/simt/rewrite/policy",
    "runtime/simt/rewrite/assembly",
    "runtime/simt/rewrite/source",
    "runtime/network/links",
    "runtime/lab runtime/nn runtime/network runtime/files",
    "runtime/files/model",
    "runtime/simt/src/device",
    "runtime/simt/src/count runtime/simt/src/sanitize runtime/simt/src/fiber",
    "runtime/simt/src/block",
    "runtime/simt/src/hopper",
    "runtime/simt/src/hooks",
    "runtime/simt/src/launch",
    "runtime/simt/src/stream runtime/simt/src/kernel",
    "runtime/simt/src/api runtime/simt/src/sparse runtime/simt/src/random",
    "runtime/simt/src/replay runtime/simt/driver",
    "runtime/collectives",
    "runtime/worker",
    "checks",
    "grader/base",
    "grader/lab",
    "grader/sandbox",
    "grader/result",
    "grader/machine",
    "grader/compile",
    "grader/build",
    "grader/worker",
    "grader/measure",
    "grader/judge grader/bench",
    "learn/attempts learn/live",
    "learn/findings learn/questions",
    "learn/report",
    "app/cli",
    "cluster/src/base",
    "cluster/src/gradebook cluster/src/similar",
    "cluster/src/jobs",
    "cluster/src/slurm cluster/src/kubernetes",
    "cluster/src/intake",
    "cluster/src/collect",
    "cluster/src/pages",
    "cluster/src/commands app/grading app/package app/simulate",
    "app/bench app/classes app/nvcc",
    "app/commands",
    "app grader/agent grader/exec",
    "serve/net",
    "serve/live",
    "serve",
    "visualizer/kit visualizer/timeline/store",
    "visualizer/timeline/reader visualizer/timeline/analysis",
    "visualizer/timeline visualizer/warp visualizer/roofline visualizer/web",
    "visualizer/progress",
    "visualizer",
]
LEVEL = {folder: level for level, line in enumerate(LEVELS) for folder in line.split()}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def room(path):
    """The longest listed folder that holds `path`; None where none does."""
    parts = Path(path).parts[:-1]
    for n in range(len(parts), 0, -1):
        if (name := "/".join(parts[:n])) in LEVEL:
            return name
    return None


def offences(root):
    found = []
    for folder in LEVEL:
        for source in sorted((root / folder).rglob("*.*")):
            name = source.relative_to(root).as_posix()
            if source.suffix not in (".cpp", ".hpp", ".cu", ".cuh", ".h"):
                continue
            if room(name) != folder:
                continue
            for include in INCLUDE.findall(source.read_text(errors="replace")):
                beside = posixpath.normpath(source.parent.relative_to(root).as_posix() + "/" + include)
                places = [beside] + [top + include for top in ROOTS]
                target = next((room(place) for place in places if (root / place).is_file()), None)
                if target is None or target == folder:
                    continue
                if LEVEL[target] >= LEVEL[folder]:
                    found.append(f"{name} includes {include}: {folder} may not use {target}")
    return found


def main():
    found = offences(Path(sys.argv[1]).resolve())
    print("\n".join(found) if found else "no include points up")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
