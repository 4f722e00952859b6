#!/usr/bin/env python3
"""Where each topic of the course's outline is taught: coverage.py [--write].

Read from docs/topics.toml, each lab's topics.toml (which tasks exercise it) and lab.toml, and the first lines of docs/reading/*.md.
Without --write the table of docs/instructor.md must be as it would be written. A topic that has neither a task nor a page is an
error, and so is a name that docs/topics.toml does not have.
"""
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- coverage: docs/coverage.py --write -->\n", "<!-- coverage: end -->\n"


def depth(task):
    """How deeply a task of lab.toml exercises its topics."""
    goals = task.get("goal", [])
    # "marked" is a share of answers that are right: the machine changes nothing of it.
    timed = any(goal["backend"] == "cuda" and goal["metric"] != "marked" for goal in goals)
    return "measured, on GPUs, too" if timed else "measured" if goals else "exercised"


def tasks_of(labs):
    """{topic: [(lab, task, depth)]}, and what is wrong."""
    found, wrong = {}, []
    for file in sorted(labs.glob("*/topics.toml")):
        lab = tomllib.loads((file.parent / "lab.toml").read_text())
        tasks = {task["id"]: task for task in lab["task"]}
        for task, topics in tomllib.loads(file.read_text()).items():
            if task not in tasks:
                wrong.append(f"{file.relative_to(labs.parent)}: the lab has no task {task}")
                continue
            for topic in topics:
                found.setdefault(topic, []).append((file.parent.name, task, depth(tasks[task])))
    for lab in sorted(labs.glob("*/lab.toml")):
        if not (lab.parent / "topics.toml").exists():
            wrong.append(f"labs/{lab.parent.name} has no topics.toml")
    return found, wrong


def pages_of(reading):
    """{topic: [(file, title)]}"""
    found = {}
    for file in sorted(reading.glob("*.md")):
        text = file.read_text()
        if topics := re.search(r"^<!-- topics: (.*) -->$", text, re.M):
            title = re.search(r"^# (.*)$", text, re.M)[1]
            for topic in topics[1].split(", "):
                found.setdefault(topic, []).append((file.name, title))
    return found


def table(root):
    """The table, and what is wrong."""
    groups = tomllib.loads((root / "docs/topics.toml").read_text())["group"]
    tasks, wrong = tasks_of(root / "labs")
    pages = pages_of(root / "docs/reading")
    names = {name for group in groups for name, _ in group["topics"]}
    for name in sorted((tasks.keys() | pages.keys()) - names):
        wrong.append(f"docs/topics.toml has no topic '{name}'")
    text = "| topic | lab: tasks | depth | reading |\n|---|---|---|---|\n"
    for group in groups:
        text += f"| **{group['title']}** | | | |\n"
        for name, title in group["topics"]:
            if name not in tasks and name not in pages:
                wrong.append(f"'{title}' ({name}) has neither a task nor a page in docs/reading")
            labs = {}
            for lab, task, _ in tasks.get(name, []):
                labs.setdefault(lab, []).append(f"`{task}`")
            where = "; ".join(f"[{lab[:2]}](../labs/{lab}/README.md): {', '.join(ids)}" for lab, ids in labs.items())
            order = ["exercised", "measured", "measured, on GPUs, too"]
            depths = sorted((d for _, _, d in tasks.get(name, [])), key=order.index)
            read = ", ".join(f"[{page}](reading/{file})" for file, page in pages.get(name, []))
            text += f"| {title} | {where} | {depths[-1] if depths else 'read'} | {read} |\n"
    return text, wrong


def main():
    page = ROOT / "docs" / "instructor.md"
    made, wrong = table(ROOT)
    if wrong:
        sys.exit("\n".join(wrong))
    old = page.read_text()
    head, rest = old.split(BEGIN)
    new = head + BEGIN + made + END + rest.split(END)[1]
    if "--write" in sys.argv:
        page.write_text(new)
    elif new != old:
        sys.exit("docs/instructor.md is old: run docs/coverage.py --write")


if __name__ == "__main__":
    main()
