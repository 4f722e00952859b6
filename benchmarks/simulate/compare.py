#!/usr/bin/env python3
"""Holds `ridge simulate` against published training throughputs.

compare.py RIDGE [--write | --check]: runs every row of published.toml and prints a table with each error. --write puts
the table into README.md, beside this file; --check exits with 1 where it is not the one that stands there.
"""
import itertools, json, statistics, subprocess, sys, tempfile, tomllib
from pathlib import Path

LIBRARIES = {"flash": "FlashAttention-2", "cudnn": "cuDNN", "unfused": "unfused"}
HERE = Path(__file__).resolve().parent
BEGIN, END = "<!-- compare: benchmarks/simulate/compare.py RIDGE --write -->\n", "<!-- compare: end -->"


def simulate(ridge, source, options):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        done = subprocess.run([ridge, "simulate", "--gpu", source["gpu"], "--fabric", source["fabric"],
                               "--attention", source["attention"], *options, "--json", file.name], capture_output=True, text=True)
        if done.returncode == 2 and "impossible" in done.stderr:
            return None
        assert done.returncode == 0, done.stdout + done.stderr
        return json.load(open(file.name))


def flops_of(row, source, batch):
    """Operations of a step, by the sources' formula: 72 B s l h^2 (1 + s / 6 h + V / 12 l h), 96 with the pass that is run again."""
    s, l, h, v = source["sequence"], row["layers"], row["hidden"], source["vocabulary"]
    if source.get("recomputed"):
        return 96 * batch * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h))
    return 72 * batch * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h))


def gpt(row, source, folder):
    path = Path(folder) / "model.toml"
    path.write_text(f'title = "{row["name"]}"\nlayers = {row["layers"]}\nhidden = {row["hidden"]}\nheads = {row["heads"]}\n'
                    f'vocabulary = {source["vocabulary"]}\nsequence = {source["sequence"]}\ntied = true\npositions = {source["sequence"]}\n')
    return str(path)


def compare(ridge, row, source, folder):
    """(published, simulated, unit, what was chosen, the simulated run)"""
    if "model" in row:
        done = simulate(ridge, source, ["--model", row["model"], *row["options"].split()])
        if "step_s" in row:
            return 1 / row["step_s"], 1 / done["step_s"], "steps/s", "", done
        return row["tokens_per_s"], done["tokens_per_s_per_gpu"], "tokens/s", "", done
    model, best = gpt(row, source, folder), None
    data = row["gpus"] // row["tensor"] // row["pipeline"]
    several = row["pipeline"] > 1 and "chunks" in source["unknown"]
    for micro, chunks in itertools.product((1, 2, 4, 8), {1, row["layers"] // row["pipeline"]} if several else {1}):
        done = simulate(ridge, source, ["--model", model, *source["options"].split(), "--data", str(data), "--tensor", str(row["tensor"]),
                                        "--pipeline", str(row["pipeline"]), "--chunks", str(chunks), "--micro-batch", str(micro),
                                        "--global-batch", str(row["global_batch"])])
        if done and done["fits"] and (best is None or done["step_s"] < best[0]):
            best = done["step_s"], f"micro-batch {micro}" + (f", {chunks} chunk" + "s" * (chunks > 1) if several else ""), done
    return row["tflops"], flops_of(row, source, row["global_batch"]) / row["gpus"] / best[0] / 1e12, "TFLOP/s", best[1], best[2]


def table(ridge, source, rows, folder):
    """The rows of a source as Markdown, and their errors."""
    memory, other = any("memory_gib" in r for r in rows), source.get("other_attention")
    text = f"\n{source['what']}. Attention: {LIBRARIES[source['attention']]} ({source['attention_source']})."
    text += (f" Assumed: {source['assumed']}." if "assumed" in source else "") + "\n\n"
    text += "| | published | simulated | error |" + (f" with {LIBRARIES[other]} |" if other else "") + " chosen |"
    text += (" GiB, published | simulated |" if memory else "") + "\n"
    text += "|---|--:|--:|--:|" + ("--:|" if other else "") + "---|" + ("--:|--:|" if memory else "") + "\n"
    errors = []
    for row in rows:
        published, simulated, unit, chosen, done = compare(ridge, row, source, folder)
        errors.append(simulated / published - 1)
        text += f"| {row['name']} | {published:.5g} {unit} | {simulated:.5g} | {100 * errors[-1]:+.1f}% |"
        if other:
            _, simulated, *_ = compare(ridge, row, source | {"attention": other}, folder)
            text += f" {100 * (simulated / published - 1):+.1f}% |"
        text += f" {chosen} |"
        if memory:
            text += f" {row['memory_gib']} | {done['memory_bytes'] / 2**30:.1f} |" if "memory_gib" in row else " | |"
        text += "\n"
    return text, errors


def main():
    ridge = sys.argv[1]
    data = tomllib.loads((HERE / "published.toml").read_text())
    text, errors = "", []
    with tempfile.TemporaryDirectory() as folder:
        for name, source in data["source"].items():
            more, of_source = table(ridge, source, [r for r in data["row"] if r["source"] == name], folder)
            text += more
            if name != "ridge":
                errors += map(abs, of_source)
    text += f"\n{len(errors)} published rows; absolute errors: median {100 * statistics.median(errors):.1f}%, worst {100 * max(errors):.1f}%, " \
            f"{sum(e <= 0.10 for e in errors)} within 10%, {sum(e <= 0.25 for e in errors)} within 25%.\n"
    readme = HERE / "README.md"
    before, rest = readme.read_text().split(BEGIN)
    there, after = rest.split(END)
    if "--check" in sys.argv:
        if there != text:
            print(f"benchmarks/simulate/README.md is out of date: {sys.argv[0]} RIDGE --write")
            sys.exit(1)
        return
    print(text)
    if "--write" in sys.argv:
        readme.write_text(before + BEGIN + text + END + after)


main()
