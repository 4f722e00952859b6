#!/usr/bin/env python3
"""A table of the lessons: words, images, predictions, quiz questions, and the steepest task. Usage: lessons.py [COMMIT].

With a commit, the table is of that commit's files. A task's step is the number of lines that its solution has and what
the student has by then has not: the stub, or the solutions of the tasks that `from` in lab.toml names."""
import difflib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Tree:
    """Files of a commit, or those of the working tree."""

    def __init__(self, commit):
        self.commit = commit
        if commit is not None and not self.text("README.md"):
            sys.exit(f"lessons.py: there is no commit '{commit}' (without one, the working tree is read)")

    def text(self, path):
        if self.commit is None:
            return (ROOT / path).read_text() if (ROOT / path).exists() else ""
        shown = subprocess.run(["git", "-C", ROOT, "show", f"{self.commit}:{path}"], capture_output=True, text=True)
        return shown.stdout if shown.returncode == 0 else ""


def code_lines(text):
    lines = (re.sub(r"//.*", "", line).strip() for line in text.splitlines())
    return [line for line in lines if line]


def solution_of(tree, lab, file):
    """The file, and the headers that the solution brings with it."""
    text = tree.text(f"solutions/{lab}/{file}")
    return "\n".join([tree.text(f"solutions/{lab}/{h}") for h in re.findall(r'#include "(\w+\.cuh)"', text)] + [text])


def step(tree, lab, task, files):
    before = "\n".join(solution_of(tree, lab, files[earlier]) for earlier in task.get("from", []))
    before = before or tree.text(f"labs/{lab}/{task['file']}")
    solution = solution_of(tree, lab, task["file"])
    return sum(line.startswith("+ ") for line in difflib.ndiff(code_lines(before), code_lines(solution)))


def row(tree, lab):
    lesson = tree.text(f"labs/{lab}/README.md")
    prose = re.sub(r"```.*?```|!\[.*?\]\(.*?\)", " ", lesson, flags=re.S)
    manifest = tomllib.loads(tree.text(f"labs/{lab}/lab.toml") or "task = []")
    quiz = tomllib.loads(tree.text(f"labs/{lab}/quiz.toml"))
    files = {task["id"]: task["file"] for task in manifest["task"]}
    steps = [(step(tree, lab, task, files), task["id"]) for task in manifest["task"]]
    lines, task = max(steps, default=(0, "-"))
    images = len(re.findall(r"!\[|<img ", lesson))
    return [lab, len(prose.split()), images, len(manifest.get("predict", [])), len(quiz.get("question", [])),
            f"{lines} ({task})"]


def main(commit=None):
    tree = Tree(commit)
    print("| lab | words | images | predictions | quiz questions | steepest step, lines |")
    print("|---|--:|--:|--:|--:|---|")
    for folder in sorted((ROOT / "labs").iterdir()):
        if (folder / "lab.toml").exists():
            print("| " + " | ".join(map(str, row(tree, folder.name))) + " |")


if __name__ == "__main__":
    main(*sys.argv[1:])
