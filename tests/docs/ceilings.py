#!/usr/bin/env python3
"""ceilings.py ROOT: lessons, decks, quizzes and figures of labs 01 to 05 give one value for each ceiling, the record's.

Each sentence below is looked up in its file, its number is compared with the records, and values of old are refused.
"""
import json
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])


def record(path):
    return json.loads((root / "benchmarks" / path).read_text())


def step(path, file):
    return next(s for s in record(path)["steps"] if s["file"].endswith(file))


def sectors(s, what):
    return s["counts"]["counters"][f"l1tex__t_sectors_pipe_lsu_mem_global_op_{what}.sum"]


calibration = record("h200/calibration.json")
ceiling = {c["id"]: c["value"] / 1e12 for c in calibration["ceilings"]}
copy, l2, fp32, bf16 = (ceiling[k] for k in ("memcpy", "l2", "fp32", "bf16"))
tiles = step("emulator/04_tensor_core.steps.json", "05_wmma_stages.cu")
direct = step("emulator/04_tensor_core.steps.json", "01_wmma_global.cu")
stencil = step("emulator/02_tiling.steps.json", "stencil_1_direct.cu")
plain = step("h200/02_tiling.steps.json", "stencil_1_direct.cu")["timing"]
shared = step("h200/02_tiling.steps.json", "sgemm_3_shared.cu")["timing"]
weights = 140e9 / (copy * 1e12)  # seconds for 70e9 weights of 16 bits

LESSON = {k: f"labs/{k}/README.md" for k in
          ("01_coalescing", "02_tiling", "03_warp_shuffle", "04_tensor_core", "05_streams_graphs")}
ONE, TWO, THREE, FOUR, FIVE = LESSON.values()
ZERO, DECK2, DECK3, DECK4 = (f"slides/{k}/deck.md" for k in ("00_opening", "02_tiling", "03_warp_shuffle", "04_tensor_core"))
MACHINE, HIERARCHY, QUIZ2 = "slides/figures/machine.svg", "slides/figures/hierarchy.svg", "labs/02_tiling/quiz.toml"
SPEEDS = "labs/04_tensor_core/figures/two_speeds.svg"

# File, a sentence with one number, and the number by the records, to as many digits as the sentence has.
SENTENCES = [
    (ONE, r"a device-to-device copy moves ([\d.]+) TB/s", copy),
    (ONE, r"fp32 units do ([\d.]+) trillion", fp32),
    (ONE, r"is (\d+) operations for each byte moved", fp32 / copy),
    (ONE, r"140 / 4290 s = (\d+) ms", weights * 1e3),
    (ONE, r"which makes (\d+) tokens a second", 1 / weights),
    (ONE, r"asks for (\d+) times the ideal", stencil["counts"]["sectors_over_ideal"]),
    (ONE, r"takes (\d+) times as long as a copy", 1 / plain["ratio"]["median"]),
    (TWO, r"does ([\d.]+) trillion fp32 operations", fp32),
    (TWO, r"moves ([\d.]+) TB/s in a device-to-device copy", copy),
    (TWO, r"The quotient, (\d+) operations for each byte", fp32 / copy),
    (TWO, r"\| L2 \| (\d+) MB for all", calibration["l2_bytes"] / 2**20),
    (TWO, r"\| L2 \|.*\| ([\d.]+) TB/s \|", l2),
    (TWO, r"\| L2 \|[^|]*\| (\d+) \|", l2 * 1e12 / 132 / 1.98e9),
    (TWO, r"\| HBM \|.*\| ([\d.]+) TB/s \|", copy),
    (TWO, r"an H200 reached ([\d.]+) TFLOP/s with it", 2 * 4096**3 / shared["slope_s"] / 1e12),
    (THREE, r"An H200 moves ([\d.]+) TB/s in a copy", copy),
    (THREE, r"in a copy and ([\d.]+) TB/s when it only reads", ceiling["read"]),
    (THREE, r"delivers ([\d.]+)\. Little time", l2),
    (FOUR, r"\| fp32 units \| 67 TFLOP/s \| ([\d.]+) \|", fp32),
    (FOUR, r"\| fp32 units \|.*\| (\d+) \|", fp32 / copy),
    (FOUR, r"\| tensor cores, bf16 \| 989 TFLOP/s \| (\d+) \|", bf16),
    (FOUR, r"\| tensor cores, bf16 \|.*\| (\d+) \|", bf16 / copy),
    (FOUR, r"`ridge calibrate` measures ([\d.]+) TB/s", l2),
    (FOUR, r"all loads .{,40}? (\d{4,}) sectors", sectors(tiles, "ld")),
    (FOUR, r"stores .{,50}? (\d{4,}) sectors", sectors(tiles, "st")),
    (FOUR, r"a ratio of \*\*([\d.]+)\*\*", tiles["counts"]["sectors_over_ideal"]),
    (FOUR, r"same product read (\d+) sectors", sectors(direct, "ld")),
    (FIVE, r"\| device memory, a copy \| (\d+) GB/s", round(copy, 2) * 1e3),
    (FIVE, r"the link is (\d+) times slower", copy * 1e12 / 55e9),
    (ZERO, r"\| fp32 units +\| +([\d.]+) TFLOP/s", fp32),
    (ZERO, r"\| tensor cores, bf16 +\| +(\d+) TFLOP/s", bf16),
    (ZERO, r"L2 cache \((\d+) MB, as the driver", calibration["l2_bytes"] / 2**20),
    (ZERO, r"([\d.]+) TB/s for shared memory", ceiling["shared"]),
    (ZERO, r"([\d.]+) TB/s for L2", l2),
    (ZERO, r"([\d.]+) TB/s for a device-to-device copy", copy),
    (SPEEDS, r">fp32: (\d+)", fp32 / copy),
    (SPEEDS, r">bf16: (\d+)", bf16 / copy),
    (MACHINE, r"L2 cache: (\d+) MB", calibration["l2_bytes"] / 2**20),
    (HIERARCHY, r">L2 cache</text> ?<text[^>]*>(\d+) MB", calibration["l2_bytes"] / 2**20),
    (HIERARCHY, r"L2 cache ([\d.]+) TB/s", l2),
    (QUIZ2, r"and L2 delivers ([\d.]+)\.", l2),
    (DECK3, r"4 n bytes at the ([\d.]+) TB/s of a pure read", ceiling["read"]),
    (DECK3, r"2\^28\^ floats in \*\*([\d.]+) ms", 4 * 2**28 / ceiling["read"] / 1e9),
    (DECK2, r"ridge point of an H200 is \*\*(\d+) operations", fp32 / copy),
    (DECK2, r"\| L2 \|.*\| ([\d.]+) TB/s \|", l2),
    (DECK4, r"values give (\d+) operations for each byte", bf16 / copy),
    (DECK4, r"`ridge calibrate` measures ([\d.]+) TB/s for L2", l2),
]
# What once stood there beside the record's values.
REFUSED = [r"\b4\.2 TB/s", r"\b16 operations for each byte", r"\b206 operations", r"\b50 MB", r"L2[^.|]*\b5\.5\b",
           r"\b4200 GB/s"]

wrong = []
for file, sentence, value in SENTENCES:
    text = " ".join((root / file).read_text().split()) if "|" not in sentence else (root / file).read_text()
    text = text if re.search(sentence, text) else (root / file).read_text()
    found = re.search(sentence, text)
    if not found:
        wrong.append(f"{file}: no sentence like '{sentence}'")
        continue
    digits = len(found[1].partition(".")[2])
    if abs(float(found[1]) - value) > 0.5000001 * 10**-digits:
        wrong.append(f"{file}: '{found[0]}': the record says {value:.{digits + 1}f}")
MORE = ("slides/0[0-5]*/deck.md", "slides/figures/*.svg", "labs/0[1-5]*/quiz.toml", "labs/0[1-5]*/lab.toml", "labs/0[1-5]*/figures/*.svg")
for file in [*LESSON.values(), *(str(d.relative_to(root)) for more in MORE for d in root.glob(more))]:
    for n, line in enumerate((root / file).read_text().split("\n"), 1):
        wrong += [f"{file}:{n}: '{m[0]}': write the record's value" for w in REFUSED for m in re.finditer(w, line)]
print("\n".join(wrong) if wrong else f"{len(SENTENCES)} figures are the records'")
sys.exit(1 if wrong else 0)
