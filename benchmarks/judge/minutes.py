#!/usr/bin/env python3
"""What grading takes on a GPU, and a class of 200 on four nodes with one GPU each, by the record grading_minutes.json.

    benchmarks/judge/minutes.py          compares the documents with the record
    benchmarks/judge/minutes.py --write  writes them anew

The estimate is that of `ridge cluster estimate --more 200 --nodes 4`: all contents differ, each node grades one at a time, and each
takes as long as the reference solution.
"""
import argparse
import json
import math
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
STUDENTS, NODES = 200, 4


def wrapped(words, width=150):
    lines = [""]
    for word in words.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return "\n".join(lines)


def machine(record):
    sandbox = "complete" if record["sandbox"]["complete"] else "not complete: without " + ", ".join(record["sandbox"]["off"])
    return f"on one {record['device']['name']} ({record['processor']}), {record['rows'][0]['time'][:10]}, commit {record['commit'][:8]}, sandbox {sandbox}"


def table(record):
    out = ["| lab | points | in all, s | build | start, buffers | inputs | copies | cases and turns | verification | rest | processor |",
           "|---|" + "--:|" * 10]
    for row in record["rows"]:
        s = row["judge_seconds"]
        parts = [row["build"], s["start"] + s["allocate"], s["fill"], s["copy"], s["run"], s["verify"]]
        cells = [*parts, row["wall"] - sum(parts)]
        out.append(f"| {row['lab'][:2]} | {row['points']:.0f} | {row['wall']:.1f} | " + " | ".join(f"{c:.1f}" for c in cells) +
                   f" | {row['user'] + row['system']:.0f} |")
    walls = [row["wall"] for row in record["rows"]]
    over = [row["lab"][:2] for row in record["rows"] if row["wall"] > 60]
    text = f"Together {sum(walls) / 60:.1f} minutes, {machine(record)}. "
    text += f"More than 60 s: {', '.join(over)}." if over else "None takes more than 60 s."
    return "\n".join(out) + "\n\n" + wrapped(text)


def estimate(record):
    out = [f"| lab | one, s | {STUDENTS} on {NODES} nodes, hours | GPU-hours |", "|---|--:|--:|--:|"]
    for row in record["rows"]:
        hours = math.ceil(STUDENTS / NODES) * row["wall"] / 3600
        out.append(f"| {row['lab'][:2]} | {row['wall']:.1f} | {hours:.2f} | {STUDENTS * row['wall'] / 3600:.2f} |")
    total = sum(row["wall"] for row in record["rows"]) / 3600
    out.append(f"| all | {3600 * total:.1f} | {math.ceil(STUDENTS / NODES) * total:.2f} | {STUDENTS * total:.2f} |")
    return "\n".join(out) + "\n\n" + wrapped(
        f"Seconds of the reference solutions, {machine(record)}. A solution whose ratio earns a part of the points takes more turns. An estimate: no class was graded on GPUs.")


def made(record):
    """document -> name of the block -> its text"""
    walls = [row["wall"] for row in record["rows"]]
    labs = f"labs {record['rows'][0]['lab'][:2]} to {record['rows'][-1]['lab'][:2]}"
    if len(walls) != int(record["rows"][-1]["lab"][:2]) - int(record["rows"][0]["lab"][:2]) + 1:
        labs = "labs " + ", ".join(row["lab"][:2] for row in record["rows"])
    guide = wrapped(
        f"`grade --backend cuda` of a reference solution took {min(walls):.0f} to {max(walls):.0f} s in {labs}, {sum(walls) / len(walls):.0f} s in the mean "
        f"({record['device']['name']}, {record['rows'][0]['time'][:10]}). A class of {STUDENTS}, each with work of its own, then takes "
        f"{math.ceil(STUDENTS / NODES) * min(walls) / 3600:.1f} to {math.ceil(STUDENTS / NODES) * max(walls) / 3600:.1f} hours a lab on {NODES} nodes with one GPU each "
        "([each lab](../benchmarks/judge/README.md#a-class-of-200)); 30 students who grade each of these labs three times take "
        f"{30 * 3 * sum(walls) / 3600:.0f} GPU-hours.")
    return {HERE / "README.md": {"minutes": table(record), "class": estimate(record)}, HERE.parent.parent / "docs/instructor.md": {"guide": guide}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    record = json.loads((HERE / "grading_minutes.json").read_text())
    old = []
    for file, blocks in made(record).items():
        text = file.read_text()
        for name, block in blocks.items():
            begin, end = f"<!-- {name}: benchmarks/judge/minutes.py --write -->\n", f"<!-- {name}: end -->"
            new, found = re.subn(re.escape(begin) + ".*?" + re.escape(end), lambda _: f"{begin}{block}\n{end}", text, flags=re.S)
            if found != 1:
                sys.exit(f"{file.name} has {found} blocks '{name}'")
            if new != text and not write:
                old.append(f"{file.name}, block '{name}'")
            text = new
        if write:
            file.write_text(text)
    if old:
        sys.exit(f"not as the record says: {'; '.join(old)}. python3 benchmarks/judge/minutes.py --write")


main()
