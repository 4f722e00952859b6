"""Lessons, documents and comments use the field's words: words.py REPOSITORY prints each private word, and exits with 1.

Only words that have no other meaning there are listed, so that none is a false alarm.
"""
import re
import sys
from pathlib import Path

INSTEAD = {
    r"\bcombs?\b": "output sample",
    r"\bstray (lane|thread|warp)s?\b": "divergent thread",
    r"\bchips?\b": "GPU, or the SMs",
    r"\bclose ranks\b": "stream compaction",
    r"\bdraws? a number\b": "take a ticket",
    r"\bpass(es)? through the banks\b": "wavefront",
}
TEXTS = ["README.md", "CONTRIBUTING.md", "docs/*.md", "labs/*/README.md", "labs/*/lab.toml"]
SOURCES = ["labs/**/*", "solutions/*/*", "checks/*"]


def lines(root):
    for pattern in TEXTS:
        for file in sorted(root.glob(pattern)):
            yield from ((file, n, line) for n, line in enumerate(file.read_text().split("\n"), 1))
    for pattern in SOURCES:
        for file in sorted(root.glob(pattern)):
            if file.suffix in (".cpp", ".hpp", ".cu", ".cuh"):
                for n, line in enumerate(file.read_text().split("\n"), 1):
                    yield file, n, line.partition("//")[2]


def main():
    root = Path(sys.argv[1]).resolve()
    found = [
        f"{file.relative_to(root)}:{n}: {m[0]!r}: write {instead}"
        for file, n, line in lines(root)
        for word, instead in INSTEAD.items()
        for m in re.finditer(word, line, re.IGNORECASE)
    ]
    print("\n".join(found) if found else "no private word")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
