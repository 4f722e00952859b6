"""Times lab 12's solution beside FlashAttention-2 and cuDNN, as PyTorch calls them, in one run on one GPU.

    python3 benchmarks/attention/attention.py OUT.json [--quick] [--arch sm_90a] [--only forward|backward] [--library FILE.so]

Needs nvcc, PyTorch with CUDA, and a GPU. First every kernel is checked against attention in double precision, at lengths that
are multiples of nothing. Then d 64 and 128, T 2048, 8192 and 16384, causal and full: 16384 tokens and 2048 columns in all, N(0, 1).
The programs take turns; a turn is at least 20 ms of calls between two events. Rates count 4 T^2 d operations a head forward and 10
backward, half of them with a causal mask. A library that is missing, or refuses a shape, is left out with its reason.
--library takes solution.cu and the solution built before.
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
TOKENS, COLUMNS, TURN_MS = 16384, 2048, 20


def build(arch, folder):
    lab, solution = os.path.join(ROOT, "labs/12_flash_attention"), os.path.join(ROOT, "solutions/12_flash_attention")
    library = os.path.join(folder, "libattention.so")
    sources = [os.path.join(solution, f"{name}.cu") for name in ("tensor", "backward", "hopper")]
    if not arch.endswith("a"):
        print(f"{arch}: hopper is compiled without its kernels, and left out", file=sys.stderr)
    subprocess.run(["nvcc", "-std=c++20", "-O3", f"-gencode=arch={arch.replace('sm', 'compute')},code={arch}", "-shared",
                    "-Xcompiler", "-fPIC", "-I", lab, "-I", os.path.join(ROOT, "runtime"), "-o", library,
                    os.path.join(ROOT, "benchmarks/attention/solution.cu"), *sources], check=True)
    return ctypes.CDLL(library)


def pointer(t):
    return ctypes.c_void_p(t.data_ptr())


class Ours:
    """The solution's functions on tensors (batch, heads, rows, d)."""

    def __init__(self, library):
        self.library = library

    def sizes(self, q, k, causal):
        return (ctypes.c_int * 7)(q.shape[0], q.shape[1], k.shape[1], q.shape[2], k.shape[2], q.shape[3], int(causal))

    def stream(self):
        return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def call(self, name, *arguments):
        error = getattr(self.library, name)(*arguments)
        if error != 0:
            raise RuntimeError(f"{name}: CUDA error {error}")

    def forward(self, name, q, k, v, causal):
        o, lse = torch.empty_like(q), torch.empty(q.shape[:3], dtype=torch.float32, device="cuda")
        sizes = self.sizes(q, k, causal)
        run = lambda: self.call(f"ridge_{name}", *map(pointer, (q, k, v, o, lse)), sizes, self.stream())
        return run, o, lse

    def backward(self, q, k, v, o, lse, d_o, causal):
        dq, dk, dv, delta = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v), torch.empty_like(lse)
        sizes = self.sizes(q, k, causal)
        run = lambda: self.call("ridge_backward", *map(pointer, (q, k, v, o, lse, d_o, dq, dk, dv, delta)), sizes,
                                self.stream())
        return run, (dq, dk, dv)


def exact(q, k, v, causal):
    """o and lse in double precision; the mask ends in the bottom right corner."""
    q, k, v = (t.double() for t in (q, k, v))
    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
    s = q @ k.transpose(2, 3) / math.sqrt(q.shape[3])
    if causal:
        queries, keys = s.shape[2:]
        seen = torch.ones(queries, keys, dtype=torch.bool, device="cuda").tril(keys - queries)
        s = s.masked_fill(~seen, -math.inf)
    lse = s.logsumexp(3)
    p = torch.exp(s - torch.where(lse == -math.inf, 0.0, lse)[..., None])
    return p @ v, lse


def tensors(batch, heads, kv_heads, queries, keys, d, seed):
    generator = torch.Generator("cuda").manual_seed(seed)
    make = lambda h, rows: torch.randn(batch, h, rows, d, device="cuda", generator=generator).bfloat16()
    return make(heads, queries), make(kv_heads, keys), make(kv_heads, keys), make(heads, queries)


def error(got, expected):
    """The largest difference over the largest magnitude (at least 0.05). NaN counts as infinite."""
    e = ((got.double() - expected).abs().max() / expected.abs().max().clamp(min=0.05)).item()
    return e if math.isfinite(e) else math.inf


CHECKED = [(1, 1, 1, 1, 1, 64, 0), (1, 2, 2, 300, 300, 64, 1), (2, 4, 2, 333, 517, 128, 1), (1, 4, 1, 517, 333, 64, 1),
           (1, 3, 3, 129, 1000, 128, 0), (2, 8, 2, 1025, 1025, 128, 1), (1, 2, 1, 2048, 2048, 64, 0)]


def check(ours, names):
    worst = {}
    for number, (*shape, causal) in enumerate(CHECKED):
        q, k, v, d_o = tensors(*shape, number)
        leaves = [t.double().requires_grad_() for t in (q, k, v)]
        o, lse = exact(*leaves, causal)
        gradients = torch.autograd.grad(o, leaves, d_o.double())
        for name in names:
            run, got, got_lse = ours.forward(name, q, k, v, causal)
            run()
            torch.cuda.synchronize()
            empty = lse == -math.inf
            found = {"o": error(got, o), "lse": error(got_lse[~empty], lse[~empty]),
                     "empty rows": 0.0 if torch.equal(got_lse == -math.inf, empty) else math.inf}
            for what, e in found.items():
                worst[f"{name} {what}"] = max(worst.get(f"{name} {what}", 0), e)
        rounded, short = o.detach().bfloat16().contiguous(), lse.detach().float().contiguous()
        results = []
        for _ in range(2):
            run, results_of_run = ours.backward(q, k, v, rounded, short, d_o, causal)
            run()
            torch.cuda.synchronize()
            results.append(results_of_run)
        for what, got, expected in zip(("dq", "dk", "dv"), results[0], gradients):
            worst[f"backward {what}"] = max(worst.get(f"backward {what}", 0), error(got, expected))
        same = all(torch.equal(a, b) for a, b in zip(*results))
        worst["backward repeats"] = max(worst.get("backward repeats", 0), 0.0 if same else math.inf)
    bad = {what: e for what, e in worst.items() if e > (1e-4 if "lse" in what else 0.02)}
    if bad:
        sys.exit(f"wrong: {bad}")
    return worst


def library(backend, q, k, v, causal):
    """PyTorch's attention with one backend, or the reason why it does not run."""
    from torch.nn.attention import sdpa_kernel

    def run():
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=bool(causal))

    try:
        run()
        torch.cuda.synchronize()
        return run, None
    except RuntimeError as e:
        return None, str(e).split("\n")[0]


def library_backward(backend, q, k, v, d_o, causal, deterministic):
    leaves = [t.detach().requires_grad_() for t in (q, k, v)]
    run, reason = library(backend, *leaves, causal)
    if run is None:
        return None, reason
    o = run()

    def backward():
        torch.use_deterministic_algorithms(deterministic)  # with warn_only, FlashAttention-2 would stay as it is
        torch.autograd.grad(o, leaves, d_o, retain_graph=True)
        torch.use_deterministic_algorithms(False)

    try:
        backward()
        torch.cuda.synchronize()
        return backward, None
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


def race(programs, operations, rounds):
    """Turns of all programs. programs: name -> run."""
    calls = {}
    for name, run in programs.items():
        once = max(timed(run, 3), 1e-3)
        calls[name] = max(1, math.ceil(TURN_MS / once))
        timed(run, max(1, math.ceil(200 / once)))  # warms up
    times = {name: [] for name in programs}
    for _ in range(rounds):
        for name, run in programs.items():
            times[name].append(timed(run, calls[name]))
    result = {}
    for name, of in times.items():
        quarters = statistics.quantiles(of, n=4)
        entry = {"ms": statistics.median(of), "ms_quartiles": [quarters[0], quarters[2]],
                 "tflops": operations / statistics.median(of) / 1e9, "over": {}}
        for other in programs:
            if other != name and not other.startswith("ridge"):
                ratios = [b / a for a, b in zip(of, times[other])]
                entry["over"][other] = {"ratio": statistics.median(ratios), "interval": interval(ratios)}
        result[name] = entry
    return result



def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--quick", action="store_true", help="T 2048 and 8192 only, fewer rounds")
    parser.add_argument("--arch", default="", help="default: that of GPU 0")
    parser.add_argument("--only", choices=["forward", "backward"])
    parser.add_argument("--library", help="solution.cu and the solution's files as a shared library for --arch")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.utils.deterministic.fill_uninitialized_memory = False  # the deterministic mode would write each result twice
    from torch.nn.attention import SDPBackend
    peers = {"FlashAttention-2": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION}

    major, minor = torch.cuda.get_device_capability()
    arch = options.arch or f"sm_{major}{minor}" + ("a" if (major, minor) == (9, 0) else "")
    names = ["tensor"] + (["hopper"] if arch == "sm_90a" else [])
    record = {"gpu": gpu_state(), "commit": commit(),
              "command": " ".join(["python3", "benchmarks/attention/attention.py", *sys.argv[1:]]), "torch": torch.__version__, "cuda": torch.version.cuda,
              "cudnn": torch.backends.cudnn.version(), "arch": arch, "tokens": TOKENS, "columns": COLUMNS, "cases": []}
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(ctypes.CDLL(os.path.abspath(options.library)) if options.library else build(arch, folder))
        record["errors"] = check(ours, names)
        print("right:", {k: float(f"{v:.2g}") for k, v in record["errors"].items()})
        for d in (64, 128):
            for length in (2048, 8192) if options.quick else (2048, 8192, 16384):
                for causal in (0, 1):
                    batch, heads = TOKENS // length, COLUMNS // d
                    q, k, v, d_o = tensors(batch, heads, heads, length, length, d, 7)
                    pairs = batch * heads * length * (length + 1 if causal else 2 * length) / 2
                    case = {"d": d, "T": length, "causal": bool(causal), "batch": batch, "heads": heads, "left_out": {}}
                    rounds = 11 if options.quick else 21

                    def add(programs, name, run_and_reason):
                        run, reason = run_and_reason
                        if run is None:
                            case["left_out"][name] = reason
                        else:
                            programs[name] = run

                    if options.only != "backward":
                        programs = {f"ridge {name}": ours.forward(name, q, k, v, causal)[0] for name in names}
                        for name, backend in peers.items():
                            add(programs, name, library(backend, q, k, v, causal))
                        case["forward"] = race(programs, 4 * pairs * d, rounds)
                    if options.only != "forward":
                        run, o, lse = ours.forward("tensor", q, k, v, causal)
                        run()
                        programs = {"ridge backward": ours.backward(q, k, v, o, lse, d_o, causal)[0]}
                        for name, backend in peers.items():
                            add(programs, name, library_backward(backend, q, k, v, d_o, causal, False))
                        add(programs, "FlashAttention-2, deterministic",
                            library_backward(peers["FlashAttention-2"], q, k, v, d_o, causal, True))
                        case["backward"] = race(programs, 10 * pairs * d, rounds)
                    case["gpu"] = gpu_state()
                    record["cases"].append(case)
                    for way in ("forward", "backward"):
                        for name, e in case.get(way, {}).items():
                            over = ", ".join(f"{r['ratio']:.3f} x {other}" for other, r in e["over"].items())
                            print(f"{way} d {d} T {length} {'causal' if causal else 'full'}: {name} "
                                  f"{e['tflops']:.0f} TFLOP/s; {over}", flush=True)
                    with open(options.out, "w") as f:
                        json.dump(record, f, indent=1)
                        f.write("\n")


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
