#!/usr/bin/env python3
"""What students are told: the messages of every stub and every wrong solution, one page a lab.

  messages.py RIDGE [LAB ...]            compares with tests/course/messages/NN_name.md, and shows what differs
  messages.py RIDGE [LAB ...] --write    writes those pages

Without a LAB it takes the labs that have a page.

A page that changed is read before it is committed: could somebody act on it who does not know the code?
"""
import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "tests/course/messages"


def told(ridge, arguments, home):
    """The report of a check, without what differs from run to run."""
    run = subprocess.run([ridge, "check", *arguments, "--backend", "cpu"], stdin=subprocess.DEVNULL, text=True, cwd=ROOT,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                         env={**os.environ, "RIDGE_WORK": home, "NO_COLOR": "1"})
    lines, quiet, left_out = [], False, False
    for line in run.stdout.splitlines():
        if re.match(r"  (PASS|SKIP) ", line):
            quiet = True  # what passed says nothing here
        elif re.match(r"  \S", line):
            quiet = False
        if quiet or re.match(r"\S+  .* on SIMT emulator|Wrong on purpose|Expected to fail|  Score |  Result |  Timeline ",
                             line):
            continue
        if re.match(r"  Requests of |       (ok   \S+|fail \S+ +not measured)", line):
            left_out = True  # with what is said below it
            continue
        if left_out and line.startswith(" " * 12):
            continue
        left_out = False
        lines.append(line.replace(home, "~"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def page(ridge, lab):
    manifest = tomllib.loads((lab / "lab.toml").read_text())
    wrong = tomllib.loads((lab / "wrong.toml").read_text()).get("wrong", [])
    for file in sorted((lab / "wrong").glob("*.cu")):
        wrong.append({"name": file.stem})
    number = lab.name[:2]
    out = [f"# Messages of lab {number}: {manifest['title']}", "",
           f"Written by `tests/course/messages.py`; `./ridge check {number} --wrong NAME` says the same.", ""]
    with tempfile.TemporaryDirectory(prefix="ridge-messages-") as home:
        for task in manifest["task"]:
            if "needs" in task and all(goal["backend"] != "cpu" for goal in task.get("goal", [])):
                continue
            text = told(ridge, [number, "--task", task["id"], "--submission", str(lab)], home)
            out += [f"## The stub of `{task['id']}`", "", "```", text, "```", ""]
        for entry in sorted(wrong, key=lambda w: w["name"]):
            text = told(ridge, [number, "--wrong", entry["name"]], home)
            why = entry.get("why", "")
            out += [f"## {entry['name']}", ""] + ([why, ""] if why else []) + ["```", text, "```", ""]
    return "\n".join(out).rstrip("\n") + "\n"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("ridge")
    options.add_argument("labs", nargs="*")
    options.add_argument("--write", action="store_true")
    a = options.parse_args()
    differ = 0
    for lab in sorted((ROOT / "labs").glob("[0-9][0-9]_*")):
        if a.labs and lab.name[:2] not in a.labs and lab.name not in a.labs:
            continue
        file = PAGES / f"{lab.name}.md"
        if not a.labs and not file.exists():
            continue
        text = page(a.ridge, lab)
        if a.write:
            PAGES.mkdir(exist_ok=True)
            file.write_text(text)
            print(f"{file.relative_to(ROOT)}: {text.count(chr(10) + '## ')} messages", flush=True)
            continue
        before = file.read_text() if file.exists() else ""
        if text != before:
            differ += 1
            sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), text.splitlines(True),
                                                       str(file.relative_to(ROOT)), "now"))
    if differ:
        print(f"{differ} pages differ. Read them; then messages.py RIDGE --write")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
