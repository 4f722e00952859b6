#!/usr/bin/env python3
"""Holds the simulator's sum of a layer against whole layers that measure_gpu.py timed. The element-wise factors were set from
the rows without recomputation; the others test them.

layers.py RIDGE PROFILE.json [--write]: two layers of each measured kind, forward and backward, on one GPU, beside what `ridge simulate`
says for two layers of that model on one rank. --write puts the table into README.md, beside this file.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).resolve().parent / "README.md"
BEGIN, END = "<!-- layers: benchmarks/simulate/layers.py RIDGE PROFILE --write -->\n", "<!-- layers: end -->"
# hidden, heads, KV heads, width of the MLP, gated, tokens, sequences
MODELS = {"llama3_8b": (4096, 32, 8, 14336, True, 8192, 2), "gpt_7.1b": (4096, 32, 32, 16384, False, 4096, 4)}


def simulated(ridge, folder, row):
    """Seconds of two layers and bytes that a layer keeps: the difference of a model of four layers and one of two."""
    hidden, heads, kv, wide, gated, tokens, sequences = MODELS[row["model"]]
    seen = []
    for layers in (2, 4):
        model = Path(folder) / "model.toml"
        model.write_text(f'title = "m"\nlayers = {layers}\nhidden = {hidden}\nheads = {heads}\nkv_heads = {kv}\nfeed_forward = {wide}\n'
                         f'gated = {"true" if gated else "false"}\nvocabulary = 1024\nsequence = {tokens}\n')
        out = Path(folder) / "out.json"
        subprocess.run([ridge, "simulate", "--gpu", "h200", "--model", str(model), "--micro-batch", str(sequences), "--recompute",
                        row.get("recompute", "none"), "--stop-early", *(["--separate-inputs"] if gated else []), "--software", "eager" if row["mode"] == "eager" else "fused",
                        "--json", str(out)], check=True, stdout=subprocess.DEVNULL)
        j = json.loads(out.read_text())
        seen.append(j["step_s"] - j["parts_s"]["optimizer"])
    return seen[1] - seen[0]


def main():
    ridge, profile = sys.argv[1], json.loads(Path(sys.argv[2]).read_text())
    rows = [r for part in ("whole_layers", "recomputed") for r in profile["parts"][part]["rows"]
            if r["pass"] == "forward and backward" and r["model"] in MODELS and r["backend"] == "flash"]
    text = "\n| two layers | recomputation | measured, ms (10% to 90%) | simulated | error |\n|---|---|--:|--:|--:|\n"
    with tempfile.TemporaryDirectory() as folder:
        for r in rows:
            s = simulated(ridge, folder, r)
            text += f"| {r['model']}, {r['mode']} | {r.get('recompute', 'none')} | {r['seconds'] * 1e3:.1f} ({r['low'] * 1e3:.1f} to " \
                    f"{r['high'] * 1e3:.1f}) | {s * 1e3:.1f} | {100 * (s / r['seconds'] - 1):+.1f}% |\n"
    print(text)
    if "--write" in sys.argv:
        before, rest = README.read_text().split(BEGIN)
        README.write_text(before + BEGIN + text + END + rest.split(END)[1])


main()
