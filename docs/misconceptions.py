#!/usr/bin/env python3
"""What people get wrong in each lab, as a page: misconceptions.py [--write].

Read from labs/*/wrong.toml and labs/*/wrong/*.cu. Without --write the page must be as it would be written; else exit code 1.
"""
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "misconceptions.md"
HEAD = """# What goes wrong, lab by lab

Each line is a solution that is kept in the course, wrong or slow in a way that people meet, and the check that catches it. An instructor can show one:
`./ridge check 01 --wrong copy_off_by_one --task copy` judges it and prints what a student would see. `docs/misconceptions.py` makes this page.
"""


def wrong_solutions(lab):
    """(name, task/check, backend, why) of a lab's wrong solutions, by check and name."""
    found = []
    if (manifest := lab / "wrong.toml").exists():
        for w in tomllib.loads(manifest.read_text())["wrong"]:
            found.append((w["name"], w["fails"], w.get("backend", "cpu"), w["why"]))
    for source in (lab / "wrong").glob("*.cu"):
        lines = source.read_text().split("\n")
        fails = re.search(r"fails: ([\w/-]+); backend: (\w+)", lines[0])
        why = []
        for line in lines[1:]:
            if not line.startswith("// "):
                break
            why.append(line[3:])
        found.append((source.stem, fails[1], fails[2], " ".join(why)))
    return sorted(found, key=lambda w: (w[1], w[0]))


def page():
    text = HEAD
    for lab in sorted((ROOT / "labs").iterdir()):
        if not (wrong := wrong_solutions(lab)):
            continue
        title = tomllib.loads((lab / "lab.toml").read_text())["title"]
        text += f"\n## {lab.name[:2]} {title}\n\n| caught by | what is wrong | name |\n|---|---|---|\n"
        for name, fails, backend, why in wrong:
            where = fails if backend == "cpu" else f"{fails}, on a GPU"
            text += f"| {where} | {why.replace('|', chr(92) + '|')} | `{name}` |\n"
    return text


def main():
    if "--write" in sys.argv:
        PAGE.write_text(page())
    elif not PAGE.exists() or PAGE.read_text() != page():
        sys.exit("docs/misconceptions.md is old: run docs/misconceptions.py --write")


if __name__ == "__main__":
    main()
