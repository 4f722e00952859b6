"""The time of a graph's node: lab 05's `decode` against a replay of the same kernels by torch.cuda.CUDAGraph.

    ./run.sh graph_replay.json

Both in turn in one process, 31 rounds. A round's time of a node is (t(512 steps) - t(64 steps)) / 448 / nodes, so that
capturing, which PyTorch has done before, is in neither; `whole_us` is t(512) / 512 / nodes with everything in it.
"""
import ctypes
import json
import statistics
import subprocess
import sys
import time

import torch

FEW, MANY, ROUNDS = 64, 512, 31
P, I = ctypes.c_void_p, ctypes.c_int


def quartiles(values):
    q = statistics.quantiles(values, n=4)
    return {"median": round(q[1], 4), "low": round(q[0], 4), "high": round(q[2], 4)}


def network(library, layers, dim):
    weights = torch.randn(layers, dim, dim, device="cuda") / dim**0.5
    start = torch.randn(dim, device="cuda")
    out = torch.zeros(MANY, dim, device="cuda")
    workspace = torch.zeros(3, dim, device="cuda")
    stream = torch.cuda.Stream()

    def must(error):
        if error != 0:
            raise RuntimeError(f"CUDA error {error}")

    def step():
        s = torch.cuda.current_stream().cuda_stream
        x, h, v = (row.data_ptr() for row in workspace)
        must(library.plain_step(weights.data_ptr(), x, h, v, out.data_ptr(), layers, dim, s))

    def decode(function, steps):
        must(function(weights.data_ptr(), start.data_ptr(), out.data_ptr(), layers, dim, steps, workspace.data_ptr(),
                      stream.cuda_stream))

    nodes = 2 * layers + 1
    with torch.cuda.stream(stream):
        step()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            step()

        def replay(steps):
            for _ in range(steps):
                graph.replay()

        ways = {
            "pytorch": replay,
            "solution": lambda steps: decode(library.solution_decode, steps),
            "plain graph": lambda steps: decode(library.graph_decode, steps),
        }
        answers = []
        for function in (library.solution_decode, library.graph_decode):
            decode(function, MANY)
            stream.synchronize()
            answers.append(out.clone())
        times = {name: {FEW: [], MANY: []} for name in ways}
        for _ in range(ROUNDS):
            for steps in (FEW, MANY):
                for name, run in ways.items():
                    stream.synchronize()
                    begin = time.perf_counter()
                    run(steps)
                    stream.synchronize()
                    times[name][steps].append(time.perf_counter() - begin)

    def node(name):
        return [(m - f) / (MANY - FEW) / nodes * 1e6 for f, m in zip(times[name][FEW], times[name][MANY])]

    result = {"layers": layers, "dim": dim, "nodes": nodes, "same_answers": bool(torch.equal(*answers))}
    for name in ways:
        whole = [t / MANY / nodes * 1e6 for t in times[name][MANY]]
        result[name] = {"node_us": quartiles(node(name)), "whole_us": quartiles(whole)}
    for name in ("solution", "plain graph"):
        result[name]["pytorch_over_this"] = quartiles([a / b for a, b in zip(node("pytorch"), node(name))])
    return result


def main():
    library = ctypes.CDLL(sys.argv[1])
    library.plain_step.argtypes = [P] * 5 + [I, I, P]
    for f in (library.solution_decode, library.graph_decode):
        f.argtypes = [P] * 3 + [I] * 3 + [P, P]
    query = "name,driver_version,clocks.sm,clocks.mem,temperature.gpu"
    device = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader", "--id=0"],
                            capture_output=True, text=True, check=True).stdout.strip()
    commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True).stdout.strip()
    record = {
        "schema": "ridge.graph_replay/1",
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit,
        "device": dict(zip(query.split(","), device.split(", "))),
        "pytorch": torch.__version__,
        "cuda": torch.version.cuda,
        "rounds": ROUNDS,
        "networks": [network(library, layers, dim) for layers, dim in ((24, 512), (24, 64), (8, 96))],
    }
    with open(sys.argv[2], "w") as f:
        json.dump(record, f, indent=1)
        f.write("\n")
    for n in record["networks"]:
        for name in ("pytorch", "solution", "plain graph"):
            ratio = n[name].get("pytorch_over_this", {}).get("median", "")
            print(n["layers"], n["dim"], name, n[name]["node_us"], n[name]["whole_us"]["median"], ratio)


main()
