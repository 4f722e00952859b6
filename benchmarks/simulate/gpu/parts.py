"""What is measured, part by part. A part is a function of a Bench that adds rows; a row that fails holds the reason."""
import contextlib

import torch
import torch.nn as nn
import torch.nn.functional as F

from . import layers, shapes


class Bench:
    def __init__(self, clock, quick):
        self.clock, self.quick, self.device, self.rows = clock, quick, clock.device, []
        self.dtype = torch.bfloat16
        count = 1 << (20 if quick else 31)
        self.pool = torch.empty(count, device=self.device, dtype=self.dtype)  # N(0, 1): operands are views of it
        for part in self.pool.split(1 << 28):
            part.normal_()
        self.used = 0

    def operand(self, *sizes):
        """A view of the pool, another one at each call."""
        count = 1
        for n in sizes:
            count *= n
        if self.used + count > self.pool.numel():
            self.used = 0
        view = self.pool[self.used:self.used + count].view(*sizes)
        self.used += (count + 63) // 64 * 64
        return view

    def add(self, about, work, seconds=0.12, flops=0, bytes=0):
        """Runs `work` and keeps the row, or the reason why there is none."""
        row = dict(about)
        try:
            row.update(self.clock.run(work, seconds))
            if flops:
                row["flops_per_s"] = flops / row["seconds"]
            if bytes:
                row["bytes_per_s"] = bytes / row["seconds"]
        except Exception as e:  # one row that fails does not lose the rest
            row["failed"] = f"{type(e).__name__}: {str(e)[:300]}"
        self.rows.append(row)
        return row

    def fail(self, about, e):
        self.rows.append({**about, "failed": f"{type(e).__name__}: {str(e)[:300]}"})

    def warm(self, seconds=1.0):
        """Brings the GPU to its power limit with a large product."""
        n = 128 if self.quick else 8192
        a, b = self.operand(n, n), self.operand(n, n)
        out = torch.empty(n, n, device=self.device, dtype=self.dtype)
        return self.clock.run(lambda: torch.mm(a, b, out=out), seconds)


def reference(bench):
    """The same product for several seconds, in slices: how far rate and clock fall until the power limit holds."""
    n = 128 if bench.quick else 8192
    a, b = bench.operand(n, n), bench.operand(n, n)
    out = torch.empty(n, n, device=bench.device, dtype=bench.dtype)
    for i in range(12):
        bench.add({"product": "reference", "slice": i, "m": n, "n": n, "k": n}, lambda: torch.mm(a, b, out=out), 0.3,
                  flops=2 * n ** 3)


def product(bench, about, m, n, k, passes=("forward", "inputs", "weights"), seconds=0.12):
    x, w, y = bench.operand(m, k), bench.operand(n, k), bench.operand(m, n)
    out = torch.empty(max(m * n, m * k, n * k), device=bench.device, dtype=bench.dtype)
    view = lambda r, c: out[:r * c].view(r, c)
    work = {"forward": lambda: torch.mm(x, w.t(), out=view(m, n)), "inputs": lambda: torch.mm(y, w, out=view(m, k)),
            "weights": lambda: torch.mm(y.t(), x, out=view(n, k))}
    for name in passes:
        rows, columns, depth = {"forward": (m, n, k), "inputs": (m, k, n), "weights": (n, k, m)}[name]
        bench.add({**about, "pass": name, "m": rows, "n": columns, "k": depth}, work[name], seconds, flops=2.0 * m * n * k)


def each_product(bench, chosen, run):
    for s in chosen:
        s = shapes.small(s) if bench.quick else s
        for name, n, k in s.products():
            about = {"model": s.name, "tensor": s.tensor, "product": name}
            try:
                run(s, about, n, k)
            except Exception as e:
                bench.fail(about, e)


def products(bench):
    bench.warm()
    each_product(bench, shapes.GPT + shapes.LLAMA, lambda s, about, n, k: product(bench, about, s.rows, n, k))


def grid(bench):
    bench.warm(0.3)
    for m, n, k in [(64, 96, 32)] if bench.quick else shapes.GRID:
        try:
            product(bench, {"product": "grid"}, m, n, k, ("forward",), 0.1)
        except Exception as e:
            bench.fail({"product": "grid", "m": m, "n": n, "k": k}, e)


def separate(bench):
    """q, k, v and the gated MLP's two as products of their own, as torchtitan has them."""
    bench.warm(0.3)
    for s in shapes.LLAMA:
        s = shapes.small(s) if bench.quick else s
        d = s.hidden // s.heads
        for name, n in (("q", s.heads * d), ("k or v", s.kv_heads * d), ("gate or up", s.feed_forward)):
            about = {"model": s.name, "tensor": s.tensor, "product": name}
            try:
                product(bench, about, s.rows, n // s.tensor, s.hidden)
            except Exception as e:
                bench.fail(about, e)


def chunks(bench):
    """The eighth of the rows that a tensor-parallel product has at a time when its messages are overlapped."""
    bench.warm(0.3)
    split = [s for s in shapes.GPT + shapes.LLAMA if s.tensor == 8]
    each_product(bench, split, lambda s, about, n, k: product(bench, {**about, "of": 8}, s.rows // 8, n, k, ("forward",), 0.1))


def accumulated(bench):
    """Weight gradients that are added to floats: the product's output in fp32."""
    bench.warm(0.3)
    for s in shapes.GPT[:1] + shapes.GPT[6:7]:
        s = shapes.small(s) if bench.quick else s
        for name, n, k in s.products():
            about = {"model": s.name, "tensor": s.tensor, "product": name, "pass": "weights, fp32"}
            try:
                x, y = bench.operand(s.rows, k), bench.operand(s.rows, n)
                bench.add(about, lambda: torch.mm(y.t(), x, out_dtype=torch.float32), flops=2.0 * s.rows * n * k)
            except Exception as e:
                bench.fail(about, e)


def head(bench):
    """The product with the vocabulary, and the loss in floats: bf16 logits -> floats -> cross-entropy -> bf16 gradient."""
    bench.warm(0.3)
    for rows, hidden, columns in [(64, 32, 512)] if bench.quick else [(8192, 4096, 128256), (8192, 12288, 131072 // 8)]:
        product(bench, {"product": "head"}, rows, columns, hidden)
    rows, columns = (64, 512) if bench.quick else (8192, 128256)
    logits = bench.operand(rows, columns).detach().requires_grad_()
    targets = torch.randint(0, columns, (rows,), device=bench.device)

    def loss(logits, targets):
        return F.cross_entropy(logits.float(), targets)

    forward_and_backward(bench, {"part": "loss in floats", "rows": rows, "columns": columns}, loss, [logits, targets],
                         rows * columns, eager_seconds=0.3)


def fresh_compiler():
    if hasattr(torch, "_dynamo"):
        torch._dynamo.reset()  # a function that is compiled often for other shapes would run eager


@contextlib.contextmanager
def kept_buffers():
    """A compiled backward pass that may run again."""
    try:
        from torch._functorch import config
        before, config.donated_buffer = config.donated_buffer, False
    except (ImportError, AttributeError):
        yield
        return
    try:
        yield
    finally:
        config.donated_buffer = before


@contextlib.contextmanager
def backend_of(name):
    if name == "default":
        yield
        return
    from torch.nn.attention import SDPBackend, sdpa_kernel
    with sdpa_kernel({"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}[name]):
        yield


def attention(bench):
    """Causal; operations count half of each square: 2 products forward, 5 backward."""
    bench.warm(0.5)
    cases = [(2, 32, 8192), (16, 8, 8192), (4, 16, 8192), (4, 16, 4096), (1, 12, 4096), (2, 8, 4096), (1, 4, 32768),
             (16, 16, 1024), (8, 16, 2048)]
    for sequences, heads, tokens in [(1, 2, 64)] if bench.quick else cases:
        for backend in ("flash", "cudnn"):
            about = {"part": "attention", "backend": backend, "sequences": sequences, "heads": heads, "tokens": tokens,
                     "d": 128}
            try:
                with backend_of(backend):
                    q, k, v = (bench.operand(sequences, tokens, heads, 128).transpose(1, 2).detach().requires_grad_()
                               for _ in range(3))
                    call = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)
                    one = 2.0 * sequences * heads * tokens ** 2 * 128 / 2  # of a product, half of the square
                    bench.add({**about, "pass": "forward"}, call, 0.15, flops=2 * one)
                    o = call()
                    g = bench.operand(sequences, tokens, heads, 128).transpose(1, 2)
                    back = lambda: torch.autograd.grad(o, (q, k, v), g, retain_graph=True)
                    bench.add({**about, "pass": "backward"}, back, 0.15, flops=5 * one)
            except Exception as e:
                bench.fail(about, e)


def forward_and_backward(bench, about, function, inputs, elements, compiled=True, eager_seconds=0.12):
    """Eager and compiled. `elements`: of the widest tensor."""
    wanted = [t for t in inputs if isinstance(t, torch.Tensor) and t.requires_grad]
    for mode in ("eager", "compiled") if compiled else ("eager",):
        try:
            with kept_buffers():
                fresh_compiler()
                f = torch.compile(function, dynamic=False) if mode == "compiled" else function
                both = [bench.add({**about, "mode": mode, "pass": "forward"}, lambda: f(*inputs), eager_seconds)]
                out = f(*inputs)
                g = torch.ones_like(out) if out.dim() == 0 else bench.operand(*out.shape)
                both.append(bench.add({**about, "mode": mode, "pass": "backward"},
                                      lambda: torch.autograd.grad(out, wanted, g, retain_graph=True), eager_seconds))
            for row in both:
                if "seconds" in row:
                    row["ns_per_element"] = row["seconds"] / elements * 1e9
        except Exception as e:
            bench.fail({**about, "mode": mode}, e)


def elementwise(bench):
    rows, hidden, wide = (64, 64, 96) if bench.quick else (16384, 4096, 14336)
    x = lambda *sizes: bench.operand(*sizes).detach().requires_grad_()
    one = lambda n: torch.ones(n, device=bench.device, dtype=bench.dtype, requires_grad=True)
    cases = [
        ("rms norm", layers.rms_norm, [x(rows, hidden), one(hidden)], rows * hidden),
        ("layer norm", layers.layer_norm, [x(rows, hidden), one(hidden), one(hidden)], rows * hidden),
        ("swiglu", layers.swiglu, [x(rows, wide), x(rows, wide)], rows * wide),
        ("gelu with bias", layers.gelu_bias, [x(rows, wide), one(wide)], rows * wide),
        ("residual sum", lambda a, b: a + b, [x(rows, hidden), x(rows, hidden)], rows * hidden),
    ]
    tokens, heads, d = (64, 2, 16) if bench.quick else (8192, 32, 128)
    turns = layers.angles(tokens, d, bench.device)
    cases.append(("rotation", lambda a: layers.rotate(a, turns), [x(2 if not bench.quick else 1, tokens, heads, d)],
                  tokens * heads * d * (1 if bench.quick else 2)))
    for name, f, inputs, elements in cases:
        forward_and_backward(bench, {"part": name, "rows": rows, "elements": elements}, f, inputs, elements,
                             compiled=name not in ("residual sum", "rotation"))
    n = 1 << (16 if bench.quick else 28)
    a = bench.operand(n)
    out = torch.empty_like(a)
    bench.add({"part": "copy", "elements": n}, lambda: out.copy_(a), bytes=4 * n)
    bench.add({"part": "sum of two", "elements": n}, lambda: torch.add(a, out, out=out), bytes=6 * n)
    wide_out = torch.empty(n, device=bench.device)
    bench.add({"part": "bf16 to fp32", "elements": n}, lambda: wide_out.copy_(a), bytes=6 * n)


def fp8_products(bench):
    bench.warm(0.5)
    chosen = [s for s in shapes.LLAMA]

    def run(s, about, n, k):
        m, f8 = s.rows, torch.float8_e4m3fn
        scale = torch.ones((), device=bench.device)
        of = lambda r, c: bench.operand(r, c).to(f8)
        for name, (r, c, depth) in {"forward": (m, n, k), "inputs": (m, k, n), "weights": (n, k, m)}.items():
            a, b = of(r, depth), of(c, depth).t()
            fast = name == "forward"
            call = lambda: torch._scaled_mm(a, b, scale_a=scale, scale_b=scale, out_dtype=torch.bfloat16, use_fast_accum=fast)
            bench.add({**about, "pass": name, "type": "fp8", "fast": fast, "m": r, "n": c, "k": depth}, call, 0.12,
                      flops=2.0 * m * n * k)

    each_product(bench, chosen, run)


def fp8_casts(bench):
    """Tensorwise scaling: the largest magnitude of a tensor, then the cast, with and without a transposed copy."""
    rows, columns = (64, 128) if bench.quick else (16384, 14336)
    x, f8 = bench.operand(rows, columns), torch.float8_e4m3fn

    def scale_of(x):
        return 448.0 / x.abs().amax().float().clamp(min=1e-12)

    def cast(x):
        return (x.float() * scale_of(x)).clamp(-448, 448).to(f8)

    def cast_both(x):
        y = cast(x)
        return y, y.t().contiguous()

    for name, f in (("scale", scale_of), ("scale and cast", cast), ("scale, cast and transpose", cast_both)):
        for mode in ("eager", "compiled"):
            about = {"part": f"fp8: {name}", "mode": mode, "elements": rows * columns}
            try:
                g = torch.compile(f, dynamic=False) if mode == "compiled" else f
                row = bench.add(about, lambda: g(x))
                if "seconds" in row:
                    row["ns_per_element"] = row["seconds"] / (rows * columns) * 1e9
            except Exception as e:
                bench.fail(about, e)


def optimizer(bench):
    count = 4096 if bench.quick else 1 << 26
    weights = [nn.Parameter(torch.randn(count, device=bench.device)) for _ in range(8)]
    for w in weights:
        w.grad = torch.randn_like(w)
    step = torch.optim.AdamW(weights, lr=1e-5, fused=bench.device == "cuda")
    bench.add({"part": "AdamW, fused, fp32", "elements": 8 * count}, step.step, 0.3, bytes=28.0 * 8 * count)
    bench.add({"part": "gradient norm and clipping", "elements": 8 * count},
              lambda: nn.utils.clip_grad_norm_(weights, 1.0), 0.2, bytes=12.0 * 8 * count)
    half = [w.detach().to(bench.dtype) for w in weights]
    bench.add({"part": "weights to bf16", "elements": 8 * count},
              lambda: torch._foreach_copy_(half, [w.detach() for w in weights]), 0.2, bytes=6.0 * 8 * count)


def gaps(bench):
    """Small kernels that wait in the stream already, and layers whose kernels are shorter than their launch."""
    if bench.device == "cuda":
        x = torch.zeros(1024, device=bench.device)
        x.add_(1)
        for count in (100, 400):
            torch.cuda.synchronize()
            torch.cuda._sleep(40_000_000)
            start = bench.clock.mark()
            for _ in range(count):
                x.add_(1)
            end = bench.clock.mark()
            torch.cuda.synchronize()
            bench.rows.append({"part": "kernels in a stream", "count": count,
                               "seconds": bench.clock.between(start, end) / count})
    for shape in (shapes.LLAMA[0], shapes.GPT[0]):
        for mode in ("eager", "compiled"):
            about = {"part": "layer of tiny tensors", "model": shape.name, "mode": mode}
            try:
                fresh_compiler()
                layer = layers.layer_of(shapes.small(shape), bench.device, bench.dtype)
                run = torch.compile(layer, dynamic=False) if mode == "compiled" else layer
                x = torch.randn(1, 64, 64, device=bench.device, dtype=bench.dtype, requires_grad=True)
                row = bench.add(about, lambda: run(x).sum().backward(), 0.3)
                row.update(kernels_of(bench, lambda: run(x).sum().backward()))
            except Exception as e:
                bench.fail(about, e)


def kernels_of(bench, work):
    """Of one call: how many kernels run, their seconds in all, and the longest by name."""
    if bench.device != "cuda":
        return {}
    from torch.autograd import DeviceType
    from torch.profiler import ProfilerActivity, profile
    work()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as p:
        work()
        torch.cuda.synchronize()
    names = {}
    for e in p.events():
        if e.device_type != DeviceType.CUDA:
            continue
        count, total = names.get(e.name, (0, 0.0))
        names[e.name] = count + 1, total + getattr(e, "device_time_total", getattr(e, "cuda_time_total", 0.0)) * 1e-6
    longest = sorted(names.items(), key=lambda x: -x[1][1])[:25]
    return {"kernels": sum(c for c, _ in names.values()), "kernel_seconds": sum(t for _, t in names.values()),
            "longest": [[n[:90], c, t] for n, (c, t) in longest]}


WHOLE = [("llama3_8b", shapes.LLAMA[0], ("flash", "cudnn")), ("gpt_7.1b", shapes.gpt("gpt_7.1b", 4, 4096, 32, 1), ("flash",)),
         ("gpt_177b, an eighth", shapes.gpt("gpt_177b", 1, 12288, 96, 8), ("cudnn",))]


def whole_layers(bench):
    """Two layers, forward and backward, weights and gradients in bf16, without messages: the sum of the parts, tested."""
    for name, shape, backends in WHOLE:
        s = shapes.small(shape) if bench.quick else shape
        for mode in ("eager", "compiled"):
            for backend in (backends if bench.device == "cuda" else ("default",)):
                about = {"part": "two layers", "model": name, "tensor": s.tensor, "rows": s.rows, "mode": mode,
                         "backend": backend}
                try:
                    with backend_of(backend):
                        whole(bench, about, s, mode)
                except Exception as e:
                    bench.fail(about, e)
                if bench.device == "cuda":
                    torch.cuda.empty_cache()


def whole(bench, about, s, mode, wrap=None):
    fresh_compiler()
    parts = [layers.layer_of(s, bench.device, bench.dtype) for _ in range(2)]
    weights = [w for part in parts for w in part.parameters()]
    runs = [(lambda x, part=part: wrap(part, x)) if wrap else part for part in parts]
    if mode == "compiled":
        runs = [torch.compile(run, dynamic=False) for run in runs]
    x = bench.operand(s.sequences, s.tokens, s.hidden).detach().requires_grad_()
    g = bench.operand(s.sequences, s.tokens, s.hidden)

    def forward():
        y = x
        for run in runs:
            y = run(y)
        return y

    def clear():
        for w in (x, *weights):
            w.grad = None

    def both():
        clear()
        forward().backward(g)

    both()  # compiles
    bench.warm(0.5)
    row = bench.add({**about, "pass": "forward and backward"}, both, 1.2)
    if bench.device == "cuda":
        clear()
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        y = forward()
        row["kept_bytes_per_layer"] = (torch.cuda.memory_allocated() - before) / 2
        torch.cuda.reset_peak_memory_stats()
        there = torch.cuda.memory_allocated()
        y.backward(g)
        row["backward_peak_bytes"] = torch.cuda.max_memory_allocated() - there
        del y
        try:
            row.update(kernels_of(bench, both))
        except Exception as e:
            row["profiler"] = f"{type(e).__name__}: {e}"
    with torch.no_grad():
        bench.add({**about, "pass": "forward"}, forward, 0.4)


def recomputed(bench):
    """Llama 8B's layers with activation checkpoints: whole layers, and every other product recomputed (attention kept)."""
    from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts
    s = shapes.small(shapes.LLAMA[0]) if bench.quick else shapes.LLAMA[0]

    def contexts():
        seen = {}

        def policy(context, op, *args, **named):
            if op == torch.ops.aten.mm.default:
                count = seen[context.is_recompute] = seen.get(context.is_recompute, 0) + 1
                return CheckpointPolicy.MUST_SAVE if count % 2 == 1 else CheckpointPolicy.PREFER_RECOMPUTE
            return CheckpointPolicy.MUST_SAVE if "scaled_dot_product" in str(op) else CheckpointPolicy.PREFER_RECOMPUTE

        return create_selective_checkpoint_contexts(policy)

    wraps = {"full": lambda part, x: checkpoint(part, x, use_reentrant=False),
             "selective": lambda part, x: checkpoint(part, x, use_reentrant=False, context_fn=contexts)}
    for policy, wrap in wraps.items():
        for mode in ("eager", "compiled"):
            about = {"part": "two layers", "model": "llama3_8b", "rows": s.rows, "mode": mode, "recompute": policy,
                     "backend": "flash"}
            try:
                with backend_of("flash" if bench.device == "cuda" else "default"):
                    whole(bench, about, s, mode, wrap)
            except Exception as e:
                bench.fail(about, e)


def contention(bench):
    """A product beside a copy by 8 to 32 blocks on another stream, as it runs beside NCCL's kernels."""
    if bench.device != "cuda":
        return
    from . import contention as beside
    n, m, k = (256, 256, 256) if bench.quick else (14336, 16384, 4096)
    x, w, out = bench.operand(m, k), bench.operand(n, k), torch.empty(m, n, device=bench.device, dtype=bench.dtype)
    one = lambda: torch.mm(x, w.t(), out=out)
    source = bench.operand(1 << (16 if bench.quick else 28))
    target, other = torch.empty_like(source), torch.cuda.Stream()
    moved = 2.0 * source.numel() * source.element_size()  # read and written
    bench.warm()
    alone = bench.add({"part": "product alone", "m": m, "n": n, "k": k}, one, 0.4, flops=2.0 * m * n * k)
    for programs in (8, 16, 24, 32):
        about = {"part": "product beside a copy", "blocks": programs}
        try:
            copy = bench.clock.run(lambda: beside.copy(source, target, programs, 1), 0.1)
            rounds = max(1, round(0.9 / copy["seconds"]))
            torch.cuda.synchronize()
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            with torch.cuda.stream(other):
                start.record()
                beside.copy(source, target, programs, rounds)
                end.record()
            row = bench.add(about, one, 0.4, flops=2.0 * m * n * k)
            row["copy_was_there"] = not end.query()  # else the row's end has the whole GPU
            torch.cuda.synchronize()
            row.update(copy_alone_bytes_per_s=moved / copy["seconds"],
                       copy_bytes_per_s=moved * rounds / (start.elapsed_time(end) * 1e-3),
                       slower=row["seconds"] / alone["seconds"])
        except Exception as e:
            bench.fail(about, e)


# In order of weight: what a deadline cuts off comes last.
PARTS = [reference, products, attention, gaps, whole_layers, elementwise, head, optimizer, fp8_products, fp8_casts, chunks,
         contention, grid, separate, accumulated, recomputed]
