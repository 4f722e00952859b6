#!/usr/bin/env python3
"""recorded.py ROOT: what lessons and decks say of measured speeds is what the records say.

A sentence is looked up in its file, and each of its numbers is compared with a record. The records of tuning are texts;
`tuned` reads the number that stands in one column of a named row.
"""
import json
import pathlib
import re
import statistics
import sys

root = pathlib.Path(sys.argv[1])
bench = root / "benchmarks"


def ratio(lab, task, case="", machine="h200"):
    tasks = json.loads((bench / machine / f"{lab}.json").read_text())["tasks"]
    task = next(t for t in tasks if t["id"] == task)
    timings = task.get("timings") or [task["timing"]]
    return next(t for t in timings if case in t["case"])["ratio"]["median"]


def step(lab, file):
    """(time in s, ratio, operations a second) of a step of a climb."""
    steps = json.loads((bench / f"h200/{lab}.steps.json").read_text())["steps"]
    timing = next(s for s in steps if pathlib.Path(s["file"]).name == file)["timing"]
    seconds = statistics.median(timing["submission_s"])
    return seconds, timing["ratio"]["median"], timing["operations"] / seconds


def tuned(file, row, *parts, number=0):
    """A number of the first row that begins with `row`, behind texts that follow each other: the ratio, or a later one."""
    text = (bench / file).read_text()
    for part in parts:
        text = text[text.index(part) + len(part):]
    rest = re.search(rf"^ *{re.escape(row)}(?=\s|\|).*$", text, re.M)[0].strip()[len(row):]
    rest = re.sub(r"^.*?\|", "", rest, count=1) if "|" in rest else re.sub(r"^.*?ratio ", "", rest)
    return float(re.findall(r"\d+\.\d+", rest)[number])


def trained(file, key, **where):
    """`key` of the first run in a record of training whose fields are `where`'s."""
    runs = [json.loads(line) for line in (bench / "training" / file).read_text().splitlines() if line.startswith("{")]
    return next(run[key] for run in runs if where.items() <= run.items())


def losses(kind):
    return [float(line) for line in (bench / f"training/h200x2/losses_{kind}.txt").read_text().split()]


def speeds(file, *runs, **where):
    return [trained(file, "tokens_per_s_per_gpu", what="ridge nn", **where, **run) for run in runs]


def share(speed_of_one, speed):
    return speed / speed_of_one


LONG, LONG100, SCAN, GATHER = "h200/tuning/long_rows.txt", "h100/tuning/long_rows.txt", "h200/tuning/03_warp_shuffle.txt", "h200/tuning/01_coalescing.txt"
ONE, TWO, THREE, FOUR = (f"labs/{lab}/README.md" for lab in ("01_coalescing", "02_tiling", "03_warp_shuffle", "04_tensor_core"))
DECK = {n: next((root / "slides").glob(f"0{n}_*/deck.md")).relative_to(root).as_posix() for n in range(6)}
gather = lambda width, *rows: [tuned(GATHER, row, f"gather width {width},") for row in rows]
ONCE, FOUR_ROWS, PIECES = "rows, 1 row x 1 in flight", "rows, 4 rows x 1", "rows, 1 row x 8"

SEVEN, NINE, TEN, DECK11 = "labs/07_ddp/README.md", "labs/09_tensor_parallel/README.md", "labs/10_mixed_precision/README.md", "slides/99_closing/deck.md"
ddp = speeds("h100x2/training.jsonl", {"ranks": 1}, {"ranks": 2}, model="gpt2-124m")
blocks = [trained("h100x2/training.jsonl", "median_s", what="tensor parallel blocks", ranks=p, messages=m) * 1e3 for p, m in ((1, True), (2, True), (2, False))]
formats = speeds("h200x2/before_graph.jsonl", {"type": "fp32"}, {"type": "tf32"}, {"type": "bf16"}, ranks=1)
four = {model: speeds("h200x4/training.jsonl", {"ranks": 1}, {"ranks": 4}, model=model) for model in ("gpt2-124m", "gpt-1.3b")}
tensor = [trained("h200x4/training.jsonl", "median_s", what="tensor parallel blocks", ranks=p, messages=True) for p in (1, 4)]

# File, a sentence with numbers in groups, and the records' values.
SENTENCES = [
    (ONE, r"\| 128 \| ([\d.]+) \| ([\d.]+) \| - \|", gather(128, ONCE, FOUR_ROWS)),
    (ONE, r"\| 512 \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", gather(512, ONCE, FOUR_ROWS, PIECES)),
    (ONE, r"\| 1000 \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", gather(1000, ONCE, FOUR_ROWS, PIECES)),
    (TWO, r"an H200 reached ([\d.]+) TFLOP/s, which is still", [step("02_tiling", "sgemm_2_coalesced.cu")[2] / 1e12]),
    (TWO, r"climb from ([\d.]+) to ([\d.]+) TFLOP/s", [step("02_tiling", f)[2] / 1e12 for f in ("sgemm_1_naive.cu", "sgemm.cu")]),
    (THREE, r"reached ([\d.]+) of CUB's speed with 528 blocks, and ([\d.]+) with 4096", [tuned(LONG, "512,4 blocks 528 wrap"), tuned(LONG, "512,4 blocks 4096 wrap")]),
    (THREE, r"took ([\d.]+) ms \(\[record\]", [step("03_warp_shuffle", "scan_2_chain.cu")[0] * 1e3]),
    (THREE, r"reaches ([\d.]+) of a copy on an H200\. The remedy", [tuned(SCAN, "softmax 32768    1024,8")]),
    (THREE, r"This kernel reaches ([\d.]+) of a copy", [ratio("03_warp_shuffle", "softmax", "x 32768")]),
    (THREE, r"solution reached ([\d.]+) of a copy on an \[H200\]\S+ and ([\d.]+) on an \[H100\]",
     [ratio("03_warp_shuffle", "layernorm", "x 16384", m) for m in ("h200", "h100")]),
    (THREE, r"reaches ([\d.]+) of a copy with the branches and ([\d.]+) without", [
        tuned(LONG, "L (solution)", "rows 8448 cols 32768"), tuned(LONG, "L (solution)", "rows 8448 cols 32768", "rows 8448 cols 32768")]),
    (THREE, r"It reaches ([\d.]+) of a copy\. As in `softmax`", [tuned(LONG, "L (solution)", "rows 8448\n")]),
    (THREE, r"make room for a second block: ([\d.]+)", [tuned(LONG, "M 512,4,12 min 2 mode 0", "rows 8448\n")]),
    (THREE, r"wait at the same barriers\. It reaches ([\d.]+)\.", [tuned(LONG, "N 1024,2,6 min 1", "rows 8448\n")]),
    (THREE, r"an H100 reached ([\d.]+) of a copy and an H200 only ([\d.]+)", [tuned(f, "H 256,4,rows 2,cluster 8,min 4", number=4) for f in (LONG100, LONG)]),
    (THREE, r"rows for each SM, fixed \| ([\d.]+) \|", [tuned(LONG, "COPY stays, stride")]),
    (THREE, r"tickets from a counter \| ([\d.]+) \|", [tuned(LONG, "COPY stays, tickets")]),
    (THREE, r"distributed by the hardware \| ([\d.]+) \|", [tuned(LONG, "COPY row a block")]),
    (THREE, r"Its record has ([\d.]+) on an H100 and ([\d.]+) on an H200",
     [ratio("03_warp_shuffle", "layernorm", "x 32768", m) for m in ("h100", "h200")]),
    (THREE, r"to ([\d.]+) of it on an H100", [ratio("03_warp_shuffle", "compact", machine="h100")]),
    (FOUR, r"the solution of `gemm` reaches (\d+) TFLOP/s", [step("04_tensor_core", "gemm.cu")[2] / 1e12]),
    (FOUR, r"from (\d+) to (\d+) TFLOP/s below the roof", [step("04_tensor_core", f)[2] / 1e12 for f in ("06_mma_sync.cu", "gemm.cu")]),
    (DECK[0], r"what ([\d.]+) over cudaMemcpy means", [ratio("01_coalescing", "copy")]),
    (DECK[1], r"runs at ([\d.]+) of cudaMemcpy", [ratio("01_coalescing", "transpose")]),
    (DECK[2], r"take the stencil to ([\d.]+) of a copy", [ratio("02_tiling", "stencil")]),
    (DECK[2], r"alone reaches ([\d.]+) of cudaMemcpy", [step("02_tiling", "stencil_2_shared.cu")[1]]),
    (DECK[2], r"an H200: ([\d.]+), ([\d.]+), ([\d.]+), ([\d.]+) of cudaMemcpy", [
        step("02_tiling", f)[1] for f in ("stencil_1_direct.cu", "stencil_2_shared.cu", "stencil_3_registers.cu", "stencil.cu")]),
    (DECK[2], r"from (\d+) ms to ([\d.]+) ms", [step("02_tiling", f)[0] * 1e3 for f in ("sgemm_1_naive.cu", "sgemm.cu")]),
    (DECK[2], r"solution reaches ([\d.]+) of the", [step("02_tiling", "sgemm.cu")[2] / 1e12]),
    (DECK[3], r"then an atomic each \| \*([\d.]+) ms\*", [step("03_warp_shuffle", "reduce_1_one_float.cu")[0] * 1e3]),
    (DECK[3], r"a tree in shared memory \| ([\d.]+) ms", [step("03_warp_shuffle", "reduce_2_shared_tree.cu")[0] * 1e3]),
    (DECK[3], r"shuffles, 16-byte loads \| \*\*([\d.]+) ms", [step("03_warp_shuffle", "reduce.cu")[0] * 1e3]),
    (DECK[4], r"lead from (\d+) TFLOP/s to (\d+); 1.0 is", [step("04_tensor_core", f)[2] / 1e12 for f in ("06_mma_sync.cu", "gemm.cu")]),
    (DECK[4], r"Measured on an H200, fused: [\d.]+ ms, \*\*([\d.]+)\*\*", [ratio("04_tensor_core", "gemm_gelu", "8192 x 16384")]),
    (DECK[5], r"Steps of the pipeline on an H200: ([\d.]+), ([\d.]+), ([\d.]+), ([\d.]+), ([\d.]+) of", [
        step("05_streams_graphs", f"pipeline_{s}.cu")[1] for s in ("1_serial", "2_chunks", "3_streams", "4_streams")] + [step("05_streams_graphs", "pipeline.cu")[1]]),
    (DECK[5], r"the solution is ([\d.]+) times as fast as the driver's", [ratio("05_streams_graphs", "upload")]),
    (DECK[5], r"\*\*([\d.]+) times\*\* as fast as one stream", [ratio("05_streams_graphs", "fork_join")]),
    (DECK[5], r"from ([\d.]+) ms to ([\d.]+) ms", [step("05_streams_graphs", f)[0] * 1e3 for f in ("decode_1_launches.cu", "decode.cu")]),
    (SEVEN, r"trains at ([\d,]+) tokens per second on one H100\. On two H100s each GPU reaches ([\d,]+), ([\d.]+)% of", [*ddp, share(*ddp) * 100]),
    (SEVEN, r"over that of one alone: ([\d.]+) for GPT-2 124M, [\d.]+ with PyTorch, ([\d.]+) for 1\.3B", [share(*v) for v in four.values()]),
    (NINE, r"take ([\d.]+) ms on one H100 and ([\d.]+) ms on two, ([\d.]+) times as fast, and without their all-reduces they would take ([\d.]+) ms",
     [*blocks[:2], blocks[0] / blocks[1], blocks[2]]),
    (TEN, r"trains at ([\d,]+) tokens per second in fp32 on one H200, at ([\d,]+) in TF32, and at ([\d,]+) in bf16: \*\*(\d) times", [*formats, formats[2] / formats[0]]),
    (TEN, r"After (\d+) updates the loss is ([\d.]+) in fp32, in bf16 and in fp16 with a loss scale\. In fp16 alone it is ([\d.]+)\.",
     [len(losses("fp32")), losses("bf16")[-1], losses("fp16_unscaled")[-1]]),
    (TEN, r"over (\d+) updates: .* to ([\d.]+), fp16 alone lags behind and ends at ([\d.]+)\]", [len(losses("fp32")), losses("fp16_scaled")[-1], losses("fp16_unscaled")[-1]]),
    (DECK11, r"data parallel, GPT-2 124M \| 4 \| ([\d.]+)", [share(*four["gpt2-124m"])]),
    (DECK11, r"data parallel, 1\.3B \| 4 \| \*\*([\d.]+)", [share(*four["gpt-1.3b"])]),
    (DECK11, r"tensor parallel, 1\.3B \| 4 \| \*([\d.]+)", [tensor[0] / tensor[1] / 4]),
]

wrong, count = [], 0
for file, sentence, values in SENTENCES:
    text = " ".join((root / file).read_text().split())
    found = re.search(sentence, text)
    if not found:
        wrong.append(f"{file}: no sentence like '{sentence}'")
        continue
    for said, value in zip(found.groups(), values, strict=True):
        count += 1
        said = said.replace(",", "")
        digits = len(said.partition(".")[2])
        if abs(float(said) - value) > 0.5000001 * 10**-digits:
            wrong.append(f"{file}: '{found[0]}': {said}, and the record says {value:.{digits + 2}f}")
print("\n".join(wrong) if wrong else f"{count} figures are the records'")
sys.exit(1 if wrong else 0)
