"""Lab 03's layer norm with dropout, in Triton: y = dropout((x - mean) * rstd * gamma + beta) for each row.

Needs a GPU, PyTorch and Triton:  python3 layernorm_dropout.py [rows] [cols]
It checks itself against PyTorch, and writes the PTX that Triton made to layernorm_dropout.ptx.
"""
import sys

import torch
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({}, num_warps=w) for w in (1, 2, 4, 8, 16)], key=["cols"])
@triton.jit
def layernorm_dropout(x, gamma, beta, y, cols, seed, drop, BLOCK: tl.constexpr):
    """x, y: (rows, cols); gamma, beta: (cols). A program a row; drop: the share of elements that become 0."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < cols
    at = row * cols + column
    value = tl.load(x + at, mask=inside, other=0.0)
    mean = tl.sum(value, axis=0) / cols
    centred = tl.where(inside, value - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / cols + 1e-5)
    scaled = centred * rstd * tl.load(gamma + column, mask=inside) + tl.load(beta + column, mask=inside)
    kept = tl.rand(seed, at) >= drop
    tl.store(y + at, tl.where(kept, scaled / (1 - drop), 0.0), mask=inside)


def main():
    rows, cols = (int(a) for a in sys.argv[1:3]) if len(sys.argv) > 2 else (4096, 1000)
    x = torch.randn(rows, cols, device="cuda")
    gamma, beta = torch.rand(cols, device="cuda"), torch.rand(cols, device="cuda")
    y = torch.empty_like(x)
    launch = lambda drop: layernorm_dropout[(rows,)](  # noqa: E731
        x, gamma, beta, y, cols, 7, drop, BLOCK=triton.next_power_of_2(cols))
    compiled = launch(0.0)
    expected = torch.nn.functional.layer_norm(x.double(), (cols,), gamma.double(), beta.double(), 1e-5)
    print(f"without dropout, largest error: {(y.double() - expected).abs().max().item():.2e}")
    launch(0.25)
    print(f"dropped: {(y == 0).double().mean().item():.4f} (0.25 asked for)")
    milliseconds = triton.testing.do_bench(lambda: launch(0.25))
    print(f"{2 * x.nbytes / milliseconds / 1e6:.0f} GB/s, with {layernorm_dropout.best_config}")
    with open("layernorm_dropout.ptx", "w") as out:
        out.write(compiled.asm["ptx"])


if __name__ == "__main__":
    main()
