"""Causal attention alone, bf16, forward and backward, by PyTorch's scaled_dot_product_attention with each of its backends: a line of
JSON each, as attention.cu prints. Heads lie as there: views of one (B, T, 3, H, hs) tensor."""
import json
import statistics

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel


def seconds(work, calls=10):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    work()
    times = []
    for _ in range(9):
        start.record()
        for _ in range(calls):
            work()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / calls * 1e-3)
    return statistics.median(times)


for B, T, H, hs in [(32, 1024, 12, 64), (8, 1024, 12, 64), (8, 1024, 16, 128), (4, 2048, 16, 128), (1, 8192, 16, 128)]:
    qkv = torch.randn(B, T, 3, H, hs, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    q, k, v = (part.transpose(1, 2) for part in qkv.unbind(2))
    for backend in [SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION]:
        with sdpa_kernel(backend):
            try:
                run = lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
                out = run()
                d = torch.randn_like(out)
                forward = seconds(run)
                backward = seconds(lambda: torch.autograd.grad(out, (q, k, v), d, retain_graph=True))
            except RuntimeError as e:
                print(json.dumps({"engine": "torch " + backend.name, "error": str(e).split("\n")[0]}))
                continue
        product = B * H * T * T * hs
        print(json.dumps({"engine": "torch " + backend.name, "version": torch.__version__, "batch": B, "sequence": T, "heads": H,
                          "head_size": hs, "forward_us": round(forward * 1e6, 1),
                          "forward_tflops": round(2 * product / forward * 1e-12, 1), "backward_us": round(backward * 1e6, 1),
                          "backward_tflops": round(5 * product / backward * 1e-12, 1)}))
