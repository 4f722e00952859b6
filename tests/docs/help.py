#!/usr/bin/env python3
"""help.py RIDGE FILE: is docs/help.txt, which the launcher shows where nothing is built, the program's own help?
With --write, makes it so. Line breaks are CLI11's and differ from version to version: words are compared."""
import os
import re
import subprocess
import sys

program, file = sys.argv[1:3]


def help_of(*command):
    done = subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True)
    return done.stdout.strip() + "\n"


def commands(text):
    listed = re.search(r"\nsubcommands: *\n((?:  .*\n)+)", text, re.I)
    return re.findall(r"^  (\S+)", listed[1], re.M) if listed else []


top = help_of()
pages = {"": top} | {name: help_of(name) for name in commands(top)}
if "--write" in sys.argv:
    with open(file, "w") as out:
        out.writelines(f"@ {name}\n{text}" for name, text in pages.items())
    sys.exit()

recorded, name = {}, None
for line in open(file):
    if line.startswith("@ "):
        name = line[2:].strip()
        recorded[name] = ""
    else:
        recorded[name] += line
# The visualizer is a program of its own, with its own help; without it ridge says where to get it.
if not os.path.exists(os.path.join(os.path.dirname(program), "ridge-viz")):
    pages.pop("viz"), recorded.pop("viz")
different = [n or "ridge" for n in pages.keys() | recorded.keys()
             if recorded.get(n, "").upper().split() != pages.get(n, "").upper().split()]
if different:
    sys.exit(f"docs/help.txt is not the help of: {', '.join(sorted(different))}\n"
             f"  try: python3 tests/docs/help.py build/bin/ridge docs/help.txt --write")
print(f"{len(pages)} pages of help are the program's own")
