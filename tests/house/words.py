"""Lessons, decks, documents and comments use the field's words: words.py REPOSITORY prints each private word, and exits with 1.

A word is listed only if it has no other meaning in these texts, so that none is a false alarm.
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
# Decks are about GPUs and networks only: a transfer is no message there, and a number of passes is one of wavefronts.
IN_DECKS = INSTEAD | {
    r"\bmessages?\b": "transfer, or the collective's name",
    r"\b\d+ passes\b": "wavefront",
}
TEXTS = ["README.md", "CONTRIBUTING.md", "docs/*.md", "docs/course/*.md", "labs/*/README.md", "labs/*/*.toml", "solutions/*/README.md",
         "benchmarks/**/*.md", "tests/**/*.md"]
DECKS = ["slides/README.md", "slides/*/deck.md", "slides/figures/*.svg", "labs/*/figures/*.svg"]
SOURCES = ["labs/**/*", "solutions/**/*", "checks/*", "slides/**/*", "tests/**/*"]
COMMENT = {".cpp": "//", ".hpp": "//", ".cu": "//", ".cuh": "//", ".mjs": "//", ".js": "//", ".py": "#", ".sh": "#"}


def lines(root):
    """(file, line number, text, words) of whole texts, and of the comments of sources."""
    for patterns, words in ((TEXTS, INSTEAD), (DECKS, IN_DECKS), (SOURCES, INSTEAD)):
        for file in sorted({file for pattern in patterns for file in root.glob(pattern) if file.is_file()}):
            mark = COMMENT.get(file.suffix) if patterns is SOURCES else ""
            if mark is None:
                continue
            for n, line in enumerate(file.read_text(errors="replace").split("\n"), 1):
                yield file, n, line.partition(mark)[2] if mark else line, words


def main():
    root = Path(sys.argv[1]).resolve()
    found = [
        f"{file.relative_to(root)}:{n}: {m[0]!r}: write {instead}"
        for file, n, line, words in lines(root)
        for word, instead in words.items()
        for m in re.finditer(word, line, re.IGNORECASE)
    ]
    print("\n".join(found) if found else "no private word")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
