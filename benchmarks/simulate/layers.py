#!/usr/bin/env python3
"""Holds the simulator's sum of a layer against whole layers that measure_gpu.py timed. The element-wise factors were set from
the rows with FlashAttention-2 and without recomputation; the others test them.

layers.py RIDGE PROFILE.json [--write | --check]: two layers of each measured kind, forward and backward, on one GPU, beside what `ridge
simulate` says for two layers of that model on one rank: the time, and the bytes that a layer keeps for its backward pass. --write puts the
table into README.md, beside this file; --check exits with 1 where it is not the one that stands there.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).resolve().parent / "README.md"
BEGIN, END = "<!-- layers: benchmarks/simulate/layers.py RIDGE PROFILE --write -->\n", "<!-- layers: end -->"
LIBRARIES = {"flash": "FlashAttention-2", "cudnn": "cuDNN"}
# hidden, heads, KV heads, width of a head, width of the MLP, gated, tokens, sequences: of the GPU that was measured
MODELS = {"llama3_8b": (4096, 32, 8, 128, 14336, True, 8192, 2), "gpt_7.1b": (4096, 32, 32, 128, 16384, False, 4096, 4),
          "gpt_177b, an eighth": (12288, 12, 12, 128, 6144, False, 4096, 1)}


def ran(row):
    """The library whose kernels were seen: a compiled layer may have been found in a cache that another library's filled."""
    names = " ".join(name for name, _, _ in row["longest"])
    return "cudnn" if "cudnn_generated" in names else "flash"


def simulated(ridge, folder, row):
    """Seconds of two layers, and bytes that a layer keeps: the difference of a model of four layers and one of two."""
    hidden, heads, kv, width, wide, gated, tokens, sequences = MODELS[row["model"]]
    times, kept = [], []
    for layers in (2, 4):
        model = Path(folder) / "model.toml"
        model.write_text(f'title = "m"\nlayers = {layers}\nhidden = {hidden}\nheads = {heads}\nkv_heads = {kv}\nhead_width = {width}\n'
                         f'feed_forward = {wide}\ngated = {"true" if gated else "false"}\nvocabulary = 1024\nsequence = {tokens}\n')
        out = Path(folder) / "out.json"
        subprocess.run([ridge, "simulate", "--gpu", "h200", "--model", str(model), "--micro-batch", str(sequences), "--recompute",
                        row.get("recompute", "none"), "--stop-early", "--repeat-keys", *(["--separate-inputs"] if gated else []),
                        "--software", "eager" if row["mode"] == "eager" else "fused", "--attention", row["backend"], "--json", str(out)],
                       check=True, stdout=subprocess.DEVNULL)
        j = json.loads(out.read_text())
        times.append(j["step_s"] - j["parts_s"]["optimizer"])
        kept.append(j["memory_parts_bytes"]["activations"])
    return times[1] - times[0], (kept[1] - kept[0]) / 2


def main():
    ridge, profile = sys.argv[1], json.loads(Path(sys.argv[2]).read_text())
    rows = [r for part in ("whole_layers", "recomputed") for r in profile["parts"][part]["rows"]
            if r["pass"] == "forward and backward" and r["backend"] == ran(r)]
    text = "\n| two layers | attention | recomputation | measured, ms (10% to 90%) | simulated | error | MB that a layer keeps, measured " \
           "| simulated |\n|---|---|---|--:|--:|--:|--:|--:|\n"
    with tempfile.TemporaryDirectory() as folder:
        for r in rows:
            s, kept = simulated(ridge, folder, r)
            text += f"| {r['model']}, {r['mode']} | {LIBRARIES[r['backend']]} | {r.get('recompute', 'none')} | {r['seconds'] * 1e3:.1f} " \
                    f"({r['low'] * 1e3:.1f} to {r['high'] * 1e3:.1f}) | {s * 1e3:.1f} | {100 * (s / r['seconds'] - 1):+.1f}% | " \
                    f"{r['kept_bytes_per_layer'] / 1e6:.0f} | {kept / 1e6:.0f} |\n"
    before, rest = README.read_text().split(BEGIN)
    there, after = rest.split(END)
    if "--check" in sys.argv:
        if there != text:
            print(f"benchmarks/simulate/README.md is out of date: {sys.argv[0]} RIDGE PROFILE --write")
        return there != text
    print(text)
    if "--write" in sys.argv:
        README.write_text(before + BEGIN + text + END + after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
