#!/usr/bin/env python3
"""links.py ROOT: does every relative link of every Markdown file lead to a file, and to a heading where it names one?"""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M))


def anchors(file):
    """As GitHub makes them of headings: lower case, hyphens, and a number for a heading that is there already."""
    found = []
    for heading in re.findall(r"^#+ +(.*)$", re.sub(r"^```.*?^```", "", file.read_text(), flags=re.S | re.M), re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        found.append(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
    return {a if k == found.index(a) else f"{a}-{found[:k].count(a)}" for k, a in enumerate(found)}


listed = subprocess.run(["git", "-C", root, "ls-files", "*.md"], capture_output=True, text=True)
if listed.returncode != 0:
    print("skipped: this is no git repository")
    sys.exit(77)
count, dead = 0, []
for name in listed.stdout.split():
    text = without_code((root / name).read_text())
    for link in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|srcset|href)="([^"]+)"', text):
        if re.match(r"[a-z]+:", link):
            continue
        count += 1
        path, _, anchor = link.partition("#")
        target = (root / name).parent / path if path else root / name
        if not target.exists():
            dead.append(f"{name}: {link}: there is no such file")
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            dead.append(f"{name}: {link}: there is no such heading")
print("\n".join(dead))
print(f"{count} links, {len(dead)} dead")
sys.exit(1 if dead else 0)
