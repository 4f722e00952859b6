"""Serves one trace of requests with runtime/nn's GPT and lab 15's solution, and with PyTorch in static batches, in one session.

    python3 benchmarks/serving/serve.py OUT.json [--quick] [--arch sm_90a] [--program FILE] [--trace FILE]

Needs nvcc (or --program, serve.cu built before), PyTorch with CUDA, and a GPU. The shape is that of GPT-2 124M, in bf16, with drawn
weights; answers are as long as the trace says. First all requests come at once; what the servers then reach says at which rates the
trace is played: 0.7 of the requests a second that PyTorch with CUDA graphs can serve, and 0.7 of those that ours can. The programs
take turns, --runs times. Reported are medians over the runs: tokens of answers a second, time to the first token (TTFT) and time for
each further token (TPOT), p50 and p99.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from machine import commit, gpu_state  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.dirname(os.path.abspath(__file__))


def sources():
    solution = [os.path.join(ROOT, "solutions/15_serving", f"{name}.cu") for name in ("paged", "batcher", "blocks")]
    return ["-I", os.path.join(ROOT, "runtime"), "-I", os.path.join(ROOT, "labs/15_serving"), os.path.join(HERE, "serve.cu"), *solution]


def build(arch, folder):
    program = os.path.join(folder, "serve")
    nvcc = os.environ.get("NVCC", "nvcc")
    subprocess.run([nvcc, "-std=c++20", "-O3", f"-gencode=arch={arch.replace('sm', 'compute')},code={arch}", *sources(), "-lcublas", "-o",
                    program], check=True)
    return program


def read_trace(path):
    with open(path) as f:
        rows = [line.split() for line in f if line.strip() and not line.startswith("#")]
    return [(float(seconds), int(prompt), int(answer)) for seconds, prompt, answer, _ in rows]


def percentile(values, share):
    return sorted(values)[int(share * (len(values) - 1))] if values else None


def summary(trace, first, last):
    """trace: seconds of arrival, prompt, answer; first, last: seconds of a request's first and last token."""
    ttft = [f - a for (a, _, _), f in zip(trace, first)]
    tpot = [(end - begin) / (answer - 1) for (_, _, answer), begin, end in zip(trace, first, last) if answer > 1]
    tokens = sum(answer for _, _, answer in trace)
    return {"seconds": max(last), "tokens_per_s": tokens / max(last), "ttft_p50_ms": 1e3 * percentile(ttft, 0.5),
            "ttft_p99_ms": 1e3 * percentile(ttft, 0.99), "tpot_p50_ms": 1e3 * percentile(tpot, 0.5),
            "tpot_p99_ms": 1e3 * percentile(tpot, 0.99)}


def run_ours(program, path, *options):
    run = subprocess.run([program, path, *map(str, options)], capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        sys.exit(f"{program} ended with {run.returncode}: {run.stderr.strip()}")
    return json.loads(run.stdout)


def ours(program, path, trace, rate, *options):
    """A run, as a summary and what the server says of itself."""
    how = ["--all-at-once"] if rate is None else ["--rate", rate]
    said = run_ours(program, path, *how, *options)
    about = {key: said[key] for key in ("cuda_runtime", "steps", "graph_steps", "evicted", "shared_tokens", "pages", "memory_bytes", "check")}
    return summary(arrivals(trace, rate), said["first"], said["last"]), about


def arrivals(trace, rate):
    return [(0.0 if rate is None else seconds / rate, prompt, answer) for seconds, prompt, answer in trace]


def medians(runs):
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def case(programs, rate, runs):
    """Turns of all programs. programs: name -> function of the rate, which returns a summary and remarks."""
    found = {name: [] for name in programs}
    remarks = {}
    for _ in range(runs):
        for name, program in programs.items():
            result, remarks[name] = program(rate)
            found[name].append(result)
    return {name: {**medians(all_of), "tokens_per_s_runs": [run["tokens_per_s"] for run in all_of], **remarks[name]}
            for name, all_of in found.items()}




def peers(model, device, trace, kinds):
    """PyTorch's servers, by name, and how many tokens of each are those of a forward pass without a cache."""
    import torch_static
    programs, equal = {}, {}
    for name, graphs in kinds:
        network, decode = torch_static.serving(model, device, graphs)
        equal[name] = torch_static.agreement(network, device, decode)
        if equal[name] < 0.5:  # a wrong cache gives next to none
            sys.exit(f"{name}: {equal[name]:.0%} of the tokens are those of a forward pass without a cache")

        def serve(rate, network=network, decode=decode):
            at = arrivals(trace, rate)
            return summary(at, *torch_static.serve(network, at, device, decode)), {}

        programs[name] = serve
    return programs, equal


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--quick", action="store_true", help="the first 128 requests, one run")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--arch", default="", help="default: that of GPU 0")
    parser.add_argument("--program", default="", help="serve.cu, built before")
    parser.add_argument("--trace", default=os.path.join(HERE, "trace.txt"))
    parser.add_argument("--model", default="gpt2-124m")
    parser.add_argument("--device", default="cuda", help="cpu: a test of this script")
    parser.add_argument("--pages", type=int, default=4096)
    options = parser.parse_args()
    import torch
    if options.device == "cuda" and not torch.cuda.is_available():
        print("skipped: needs a GPU")
        sys.exit(77)
    trace, path, runs = read_trace(options.trace), options.trace, options.runs
    with tempfile.TemporaryDirectory() as folder:
        if options.quick:
            trace, path, runs = trace[:128], os.path.join(folder, "trace.txt"), 1
            with open(options.trace) as f:
                lines = [line for line in f if not line.startswith("#")][:128]
            with open(path, "w") as f:
                f.writelines(lines)
        if options.device == "cuda":
            major, minor = torch.cuda.get_device_capability()
            arch = options.arch or f"sm_{major}{minor}" + ("a" if (major, minor) == (9, 0) else "")
            kinds = [("PyTorch, static batches", False), ("PyTorch, static batches, CUDA graphs", True)]
        else:
            arch, kinds = options.arch, [("PyTorch, static batches", False)]
        program = options.program or build(arch, folder)
        record = {"what": "runtime/nn's GPT with lab 15's solution, beside PyTorch in static batches", "gpu": gpu_state(),
                  "torch": torch.__version__, "cuda": torch.version.cuda, "arch": arch, "commit": commit(),
                  "command": " ".join(["python3", "benchmarks/serving/serve.py", *sys.argv[1:]]), "model": options.model, "type": "bf16",
                  "trace": os.path.basename(options.trace), "requests": len(trace), "prompt_tokens": sum(p for _, p, _ in trace),
                  "answer_tokens": sum(a for _, _, a in trace), "runs": runs, "cases": []}
        settings = ["--model", options.model, "--pages", options.pages]
        programs = {"ridge": lambda rate: ours(program, path, trace, rate, *settings),
                    "ridge, single launches": lambda rate: ours(program, path, trace, rate, "--eager", *settings)}
        more, record["torch_equal_tokens"] = peers(options.model, options.device, trace, kinds)
        programs.update(more)
        for serve in more.values():
            serve(None)  # warms up
        natural = len(trace) / trace[-1][0]  # requests a second of the trace

        def play(what, rate):
            found = case(programs, rate, runs)
            record["cases"].append({"what": what, "requests_per_s": rate and rate * natural, "rate": rate, "programs": found, "gpu": gpu_state()})
            for name, e in found.items():
                print(f"{what}: {name}: {e['tokens_per_s']:.0f} tokens/s, TTFT {e['ttft_p50_ms']:.2f} and {e['ttft_p99_ms']:.2f} ms, "
                      f"TPOT {e['tpot_p50_ms']:.3f} and {e['tpot_p99_ms']:.3f} ms", flush=True)
            with open(options.out, "w") as f:
                json.dump(record, f, indent=1)
                f.write("\n")
            return found

        at_once = play("all at once", None)
        for name in (kinds[-1][0], "ridge"):
            play(f"0.7 of what {name} can serve", 0.7 * len(trace) / at_once[name]["seconds"] / natural)


if __name__ == "__main__":
    try:
        import torch
    except ImportError:
        print("skipped: needs PyTorch with CUDA")
        sys.exit(77)
    sys.path.insert(0, HERE)
    main()
