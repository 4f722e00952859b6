"""Times lab 15's decode attention beside cuDNN and FlashAttention-2, as PyTorch calls them, in one run on one GPU.

    python3 benchmarks/serving/decode.py OUT.json [--quick] [--arch sm_90a] [--library FILE.so]

--library takes solution.cu and the solution built before. Needs nvcc, PyTorch with CUDA, and a GPU. First `decode_attention` and
`paged_attention` are checked against attention in double precision, at lengths that are multiples of nothing. Then one query a sequence, 32 query and 8 KV heads, d 128, bf16, N(0, 1); batch
1, 16 and 64, lengths 4096 to 131072, all sequences of one length. Every program is captured into a CUDA graph of several calls, one
set of keys and values after the other, so that a set comes back only after three times the L2 was read; the graphs are replayed in
turns. `copy` is a device copy that reads and writes as many bytes as a call reads. `*, launched` are the same calls without a graph.
A library that is missing, or refuses a shape, is left out with its reason.
"""
import argparse
import ctypes
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import warnings

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from machine import commit, gpu_state  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADS, KV_HEADS, D, PAGE, SPLITS = 32, 8, 128, 16, 64
TURN_MS = 10


def build(arch, folder):
    lab, solution = os.path.join(ROOT, "labs/15_serving"), os.path.join(ROOT, "solutions/15_serving")
    library = os.path.join(folder, "libdecode.so")
    sources = [os.path.join(solution, f"{name}.cu") for name in ("decode_attention", "paged")]
    subprocess.run(["nvcc", "-std=c++20", "-O3", f"-gencode=arch={arch.replace('sm', 'compute')},code={arch}", "-shared",
                    "-Xcompiler", "-fPIC", "-I", lab, "-I", os.path.join(ROOT, "runtime"), "-o", library,
                    os.path.join(ROOT, "benchmarks/serving/solution.cu"), *sources], check=True)
    return ctypes.CDLL(library)


def pointer(t):
    return ctypes.c_void_p(t.data_ptr())


class Ours:
    """The solution's functions. q: (batch, heads, d); k, v: (batch, kv_heads, capacity, d)."""

    def __init__(self, library):
        self.library = library

    def call(self, name, *arguments):
        error = getattr(self.library, name)(*arguments, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        if error != 0:
            raise RuntimeError(f"{name}: CUDA error {error}")

    def prepared(self, name, tensors, sizes):
        """A call whose arguments are made now: they are no part of what is timed."""
        arguments = *map(pointer, tensors), sizes
        return lambda kept=tensors: self.call(name, *arguments)  # the addresses keep no tensor alive

    def decode(self, q, k, v, lengths):
        batch, heads, d = q.shape
        sizes = (ctypes.c_int * 5)(batch, heads, k.shape[1], d, k.shape[2])
        o = torch.empty_like(q)
        scratch = torch.empty(SPLITS * batch * heads * (d + 1), dtype=torch.float32, device="cuda")
        return self.prepared("ridge_decode", (q, k, v, lengths, o, scratch), sizes), o

    def paged(self, q, k, v, lengths, seed):
        """The same cache in pages whose order is drawn."""
        batch, heads, d = q.shape
        kv_heads, capacity = k.shape[1:3]
        columns = -(-capacity // PAGE)
        order = torch.randperm(batch * columns, generator=torch.Generator().manual_seed(seed)).cuda()
        pages = []
        for t in (k, v):
            padded = torch.nn.functional.pad(t, (0, 0, 0, columns * PAGE - capacity))
            parts = padded.view(batch, kv_heads, columns, PAGE, d).transpose(1, 2).reshape(-1, kv_heads, PAGE, d).contiguous()
            pool = torch.empty_like(parts)
            pool[order] = parts
            pages.append(pool)
        table = order.int().view(batch, columns).contiguous()
        sizes = (ctypes.c_int * 6)(batch, heads, kv_heads, d, batch * columns, columns)
        o = torch.empty_like(q)
        scratch = torch.empty(SPLITS * batch * heads * (d + 1), dtype=torch.float32, device="cuda")
        return self.prepared("ridge_paged", (q, *pages, table, lengths, o, scratch), sizes), o


def tensors(batch, heads, kv_heads, capacity, d, seed):
    generator = torch.Generator("cuda").manual_seed(seed)
    make = lambda *shape: torch.randn(*shape, d, device="cuda", generator=generator, dtype=torch.bfloat16)
    return make(batch, heads), make(batch, kv_heads, capacity), make(batch, kv_heads, capacity)


def exact(q, k, v, lengths):
    """o in double precision, a sequence at a time."""
    rows = []
    for b, length in enumerate(lengths.tolist()):
        keys, values = (t[b, :, :length].double().repeat_interleave(q.shape[1] // k.shape[1], 0) for t in (k, v))
        p = torch.softmax((keys @ q[b].double()[..., None])[..., 0] / math.sqrt(q.shape[2]), 1)
        rows.append((p[:, None] @ values)[:, 0])
    return torch.stack(rows)


CHECKED = [(1, 1, 1, 1, 64), (3, 4, 1, 77, 128), (5, 12, 2, 1000, 64), (2, 32, 8, 4099, 128), (1, 32, 8, 70001, 128),
           (64, 32, 8, 515, 128), (1, 16, 1, 3333, 128)]


def check(ours):
    worst = {}
    for number, (batch, heads, kv_heads, capacity, d) in enumerate(CHECKED):
        q, k, v = tensors(batch, heads, kv_heads, capacity, d, number)
        lengths = torch.randint(1, capacity + 1, (batch,), generator=torch.Generator().manual_seed(number)).int().cuda()
        lengths[0] = capacity
        expected = exact(q, k, v, lengths)
        for b, length in enumerate(lengths.tolist()):
            k[b, :, length:] = v[b, :, length:] = math.nan
        for name, (run, o) in {"decode": ours.decode(q, k, v, lengths), "paged": ours.paged(q, k, v, lengths, number)}.items():
            for _ in range(2):  # the count of ended blocks must be 0 again
                o.fill_(math.nan)
                run()
                torch.cuda.synchronize()
                e = ((o.double() - expected).abs().max() / expected.abs().max().clamp(min=0.05)).item()
                worst[name] = max(worst.get(name, 0), e if math.isfinite(e) else math.inf)
    bad = {what: e for what, e in worst.items() if e > 0.02}
    if bad:
        sys.exit(f"wrong: {bad}")
    return worst


def library(backend, q, k, v):
    """PyTorch's attention with one backend, or the reason why it does not run."""
    from torch.nn.attention import sdpa_kernel
    row = q[:, :, None]

    def run():
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(row, k, v, enable_gqa=True)

    try:
        run()
        torch.cuda.synchronize()
        return run, None
    except (RuntimeError, TypeError) as e:
        return None, str(e).split("\n")[0]


def captured(runs):
    """One graph of all calls, or the reason why it cannot be captured."""
    try:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for run in runs:
                run()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for run in runs:
                run()
        graph.replay()
        torch.cuda.synchronize()
        return graph.replay, None
    except RuntimeError as e:
        return None, str(e).split("\n")[0]


def timed(run, calls):
    first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    first.record()
    for _ in range(calls):
        run()
    last.record()
    last.synchronize()
    return first.elapsed_time(last) / calls  # ms


def interval(ratios):
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
    return [medians[50], medians[1949]]


def race(programs, sets, kv_bytes, rounds):
    """Turns of all programs, each of `sets` calls a run. programs: name -> run."""
    calls = {}
    for name, run in programs.items():
        once = max(timed(run, 3), 1e-3)
        calls[name] = max(1, math.ceil(TURN_MS / once))
        timed(run, max(1, math.ceil(200 / once)))  # warms up
    times = {name: [] for name in programs}
    for _ in range(rounds):
        for name, run in programs.items():
            times[name].append(timed(run, calls[name]) / sets)
    result = {}
    for name, of in times.items():
        quarters = statistics.quantiles(of, n=4)
        entry = {"us": 1e3 * statistics.median(of), "us_quartiles": [1e3 * quarters[0], 1e3 * quarters[2]],
                 "kv_gb_per_s": kv_bytes / statistics.median(of) / 1e6, "over": {}}
        for other in programs:
            if other != name and not other.startswith("ridge"):
                ratios = [b / a for a, b in zip(of, times[other])]
                entry["over"][other] = {"ratio": statistics.median(ratios), "interval": interval(ratios)}
        result[name] = entry
    return result



def one_case(ours, peers, batch, length, rounds):
    kv_bytes = 2 * batch * KV_HEADS * length * D * 2
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    sets = max(2, math.ceil(3 * l2 / kv_bytes) + 1)
    case = {"batch": batch, "length": length, "sets": sets, "kv_bytes": kv_bytes, "left_out": {}}
    lengths = torch.full((batch,), length, dtype=torch.int32, device="cuda")
    inputs = [tensors(batch, HEADS, KV_HEADS, length, D, seed) for seed in range(sets)]
    # A copy reads k and writes as much, to a room of each set's own: nothing of it stays in L2 until the next round.
    rooms = [torch.empty_like(k) for _, k, _ in inputs]
    calls = {"ridge decode_attention": [ours.decode(*of, lengths)[0] for of in inputs],
             "ridge paged_attention": [ours.paged(*of, lengths, seed)[0] for seed, of in enumerate(inputs)],
             "copy": [lambda room=room, k=k: room.copy_(k) for room, (_, k, _) in zip(rooms, inputs)]}
    for name, backend in peers.items():
        found = [library(backend, *of) for of in inputs]
        if found[0][0] is None:
            case["left_out"][name] = found[0][1]
        else:
            calls[name] = [run for run, _ in found]
    programs = {}
    for name, runs in calls.items():
        replay, reason = captured(runs)
        if replay is None:
            case["left_out"][f"{name}, graph"] = reason
        else:
            programs[name] = replay
    for name, runs in calls.items():
        if name != "copy":
            programs[f"{name}, launched"] = lambda runs=runs: [run() for run in runs]
    case["programs"] = race(programs, sets, kv_bytes, rounds)
    case["gpu"] = gpu_state()
    return case


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--quick", action="store_true", help="fewer lengths and rounds")
    parser.add_argument("--arch", default="", help="default: that of GPU 0")
    parser.add_argument("--library", help="do not build")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    from torch.nn.attention import SDPBackend
    peers = {"FlashAttention-2": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION}
    major, minor = torch.cuda.get_device_capability()
    arch = options.arch or f"sm_{major}{minor}" + ("a" if (major, minor) == (9, 0) else "")
    record = {"gpu": gpu_state(), "commit": commit(),
              "command": " ".join(["python3", "benchmarks/serving/decode.py", *sys.argv[1:]]), "torch": torch.__version__, "cuda": torch.version.cuda,
              "cudnn": torch.backends.cudnn.version(), "arch": arch, "heads": HEADS, "kv_heads": KV_HEADS, "d": D, "cases": []}
    shapes = [(1, 8192), (1, 131072), (16, 8192), (64, 8192)] if options.quick else [
        (1, 4096), (1, 8192), (1, 16384), (1, 32768), (1, 131072), (16, 4096), (16, 8192), (16, 32768), (16, 131072),
        (64, 4096), (64, 8192), (64, 32768)]
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(ctypes.CDLL(os.path.abspath(options.library)) if options.library else build(arch, folder))
        record["errors"] = check(ours)
        print("right:", {k: float(f"{v:.2g}") for k, v in record["errors"].items()})
        for batch, length in shapes:
            # Two sets, and their pages.
            if 8.5 * batch * KV_HEADS * length * D * 2 > torch.cuda.mem_get_info()[0]:
                print(f"batch {batch} length {length}: skipped, too large for this GPU's memory")
                continue
            case = one_case(ours, peers, batch, length, 9 if options.quick else 15)
            record["cases"].append(case)
            for name, e in case["programs"].items():
                over = ", ".join(f"{r['ratio']:.3f} x {other}" for other, r in e["over"].items()
                                 if not other.endswith("launched"))
                print(f"batch {batch} length {length}: {name} {e['us']:.1f} us, {e['kv_gb_per_s']:.0f} GB/s; {over}", flush=True)
            for name, reason in case["left_out"].items():
                print(f"batch {batch} length {length}: {name} left out: {reason}")
            with open(options.out, "w") as f:
                json.dump(record, f, indent=1)
                f.write("\n")
            torch.cuda.empty_cache()


if __name__ == "__main__":
    try:
        import torch
    except ImportError:
        print("skipped: needs PyTorch with CUDA")
        sys.exit(77)
    if not torch.cuda.is_available():
        print("skipped: needs a GPU")
        sys.exit(77)
    main()
