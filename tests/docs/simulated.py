#!/usr/bin/env python3
"""The example of docs/simulate.md prints what stands there. Usage: simulated.py RIDGE [--write]"""
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/simulate.md"
EXAMPLE = re.compile(r"```\n\./ridge (simulate .*)\n```\n\n```\n((?:.*\n)*?)```\n")
page = PAGE.read_text()
examples = EXAMPLE.findall(page)
if not examples:
    sys.exit(f"{PAGE.name} has no command with its output")
for words, printed in examples:
    now = subprocess.run([sys.argv[1], *words.split()], check=True, text=True, stdout=subprocess.PIPE).stdout
    page = page.replace(printed, now)
    if printed != now and "--write" not in sys.argv:
        sys.exit(f"{PAGE.name} is out of date: {sys.argv[0]} RIDGE --write. `ridge {words}` prints\n{now}")
if "--write" in sys.argv:
    PAGE.write_text(page)
