#!/usr/bin/env python3
"""The lesson's case study, from `ridge simulate`. Usage: case_study.py RIDGE [--write]

Runs the commands of the section "A worked example", and makes the table between its marks and the figure's record figures/step.json.
Without --write it compares the table with the lesson: a step's time that is more than 15% off fails, since the text around the table would
no longer be right. After a change of the simulator: case_study.py build/bin/ridge --write, sh figures/figures.sh, and read the section again.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LAB = Path(__file__).resolve().parents[1]
LESSON = LAB / "README.md"
BEGIN, END = "<!-- made by experiments/case_study.py -->\n", "<!-- end -->\n"
TOKENS = 250e9  # 1 TB of text, four bytes a token
DOLLARS = 50000 / (64 * 14 * 24)  # a GPU-hour
COMMON = ["simulate", "--model", "llama2_7b", "--gpu", "a100", "--fabric", "dgx_a100"]
BASE = "--global-batch 16 --zero 0 --recompute full"
ROWS = [
    ("2 x 4 x 8, as described", "--data 2 --pipeline 4 --tensor 8 --global-batch 1024 --zero 2 --recompute full"),
    ("8 x 1 x 8, without a pipeline", "--data 8 --tensor 8 --global-batch 1024 --zero 2 --recompute full"),
    ("8 x 4 x 2", "--data 8 --pipeline 4 --tensor 2 --global-batch 1024 --zero 2 --recompute full"),
    ("64 x 1 x 1, ZeRO 2 alone", "--data 64 --global-batch 1024 --zero 2 --recompute full"),
    ("8 x 4 x 2, ZeRO 1, no recomputation", "--data 8 --pipeline 4 --tensor 2 --global-batch 1024 --zero 1"),
]


def simulate(ridge, options, timeline=None):
    with tempfile.TemporaryDirectory(prefix="ridge-case-") as folder:
        file = Path(folder) / "result.json"
        more = ["--timeline", timeline] if timeline else []
        subprocess.run([ridge, *COMMON, *options.split(), "--json", file, *more], check=True, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text())


def table(ridge):
    """The table, and the seconds of its rows."""
    one = simulate(ridge, BASE)
    peak = 312e12
    lines = ["| data x pipeline x tensor | step | tokens/s | of one GPU | MFU | memory | 250e9 tokens | cost |", "|---|--:|--:|--:|--:|--:|--:|--:|"]
    seconds = []
    for name, options in ROWS:
        r = simulate(ridge, options)
        days = TOKENS / r["tokens_per_s"] / 86400
        seconds.append(r["step_s"])
        lines.append(f"| {name} | {r['step_s']:.1f} s | {r['tokens_per_s']:,.0f} | {100 * r['tokens_per_s_per_gpu'] / one['tokens_per_s_per_gpu']:.0f}% | "
                     f"{100 * r['model_flops_per_gpu'] / peak:.0f}% | {r['memory_bytes'] / 2**30:.1f} GiB | {days:.1f} days | ${64 * 24 * days * DOLLARS / 1000:.0f},000 |")
    return "\n".join(lines) + "\n", seconds


def step(ridge):
    """A short step for the figure: eight micro-batches."""
    with tempfile.TemporaryDirectory(prefix="ridge-case-") as folder:
        trace = Path(folder) / "step.json"
        simulate(ridge, "--data 8 --pipeline 4 --tensor 2 --global-batch 64 --zero 2 --recompute full", str(trace))
        events = [e for e in json.loads(trace.read_text())["traceEvents"] if e.get("ph") == "X"]
    spans = [[e["pid"], e["tid"], e["name"], round(e["ts"] / 1e3, 2), round((e["ts"] + e["dur"]) / 1e3, 2)] for e in events]
    return {"unit": "ms", "columns": ["stage", "row", "name", "start", "end"], "spans": spans}


def main(ridge, write):
    text = LESSON.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    made, seconds = table(ridge)
    if write:
        LESSON.write_text(text[:begin] + "\n" + made + "\n" + text[end:])
        record = step(ridge)
        lines = ",\n".join("  " + json.dumps(s) for s in record["spans"])
        head = json.dumps({k: v for k, v in record.items() if k != "spans"})[:-1]
        (LAB / "figures" / "step.json").write_text(f'{head}, "spans": [\n{lines}\n]}}\n')
        return 0
    told = [float(s) for s in re.findall(r"\| ([\d.]+) s \|", text[begin:end])]
    off = [abs(a / b - 1) for a, b in zip(told, seconds)]
    if len(told) != len(seconds) or max(off) > 0.15:
        print(f"the lesson says steps of {told} s, and the simulator {[round(s, 1) for s in seconds]}\n{made}\ntry: {Path(__file__).name} RIDGE --write", file=sys.stderr)
        return 1
    print(f"the lesson's steps are at most {100 * max(off):.1f}% off the simulator's")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--write" in sys.argv[2:]))
