"""Comments are read at 120 columns: prose in a comment of its own line is no longer.

lines.py REPOSITORY: prints each line that is, and exits with 1. Commands and tables, which are indented, may be longer.
"""
import re
import sys
from pathlib import Path

FOLDERS = ["app", "checks", "cluster", "formats", "grader", "learn", "runtime", "visualizer"]
PROSE = re.compile(r"^\s*// \S")
KEPT = re.compile(r"^runtime/simt/include/|^app/commands/new_lab\.cpp$")  # CUDA's names and macros; text of another file


def main():
    root = Path(sys.argv[1]).resolve()
    found = []
    for folder in FOLDERS:
        for source in sorted((root / folder).rglob("*")):
            name = source.relative_to(root).as_posix()
            if source.suffix not in (".cpp", ".hpp", ".cu", ".cuh") or KEPT.search(name):
                continue
            for number, line in enumerate(source.read_text().split("\n"), 1):
                if len(line) > 120 and PROSE.match(line):
                    found.append(f"{name}:{number}: {len(line)} columns")
    print("\n".join(found) if found else "no comment is too long")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
