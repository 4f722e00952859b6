# The GPT of runtime/nn in PyTorch, eager: the same shapes, batch, optimizer and number of updates; what `train` and the
# distributed trainer are held against. One process a GPU (torchrun) makes it DistributedDataParallel.
#
#   python3 torch_gpt.py [--model gpt2-124m] [--batch 8] [--sequence 1024] [--steps 20] [--type bf16|fp32|tf32]
#                        [--attention sdpa|plain] [--compile] [--out FILE.json] [--trace FILE]
import argparse
import json
import math
import os
import statistics
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

MODELS = {"gpt2-124m": (50304, 1024, 12, 12, 768), "gpt-1.3b": (50304, 2048, 24, 16, 2048), "tiny": (64, 32, 2, 4, 64)}


class Block(nn.Module):
    def __init__(self, C, H, plain):
        super().__init__()
        self.H, self.plain = H, plain
        self.ln1, self.ln2 = nn.LayerNorm(C), nn.LayerNorm(C)
        self.qkv, self.proj = nn.Linear(C, 3 * C), nn.Linear(C, C)
        self.fc, self.fc2 = nn.Linear(C, 4 * C), nn.Linear(4 * C, C)

    def attention(self, x):
        B, T, C = x.shape
        q, k, v = (z.view(B, T, self.H, C // self.H).transpose(1, 2) for z in self.qkv(x).split(C, dim=2))
        if self.plain:
            mask = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
            scores = (q @ k.transpose(-2, -1) / math.sqrt(C // self.H)).masked_fill(mask, -math.inf)
            o = torch.softmax(scores, dim=-1) @ v
        else:
            o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(o.transpose(1, 2).reshape(B, T, C))

    def forward(self, x):
        x = x + self.attention(self.ln1(x))
        return x + self.fc2(F.gelu(self.fc(self.ln2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, V, context, L, H, C, plain):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(V, C), nn.Embedding(context, C)
        self.blocks = nn.ModuleList(Block(C, H, plain) for _ in range(L))
        self.final = nn.LayerNorm(C)
        self.head = nn.Linear(C, V, bias=False)
        self.apply(lambda m: nn.init.normal_(m.weight, std=0.02) if isinstance(m, (nn.Linear, nn.Embedding)) else None)
        self.head.weight = self.wte.weight

    def forward(self, tokens, targets):
        x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.final(x))
        return F.cross_entropy(logits.float().view(-1, logits.shape[-1]), targets.view(-1))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--model", default="gpt2-124m", choices=MODELS)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--sequence", type=int, default=1024)
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--type", default="bf16", choices=["bf16", "fp32", "tf32"])
    p.add_argument("--attention", default="sdpa", choices=["sdpa", "plain"])
    p.add_argument("--compile", action="store_true")
    p.add_argument("--out")
    p.add_argument("--trace", help="a Kineto trace of one more step goes to FILE.RANK.json.gz")
    o = p.parse_args()

    rank, ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
    if ranks > 1:
        dist.init_process_group("nccl")
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = o.type == "tf32"
    model = GPT(*MODELS[o.model], o.attention == "plain").cuda()
    parameters = sum(w.numel() for w in model.parameters())
    groups = [{"params": [w for w in model.parameters() if w.dim() > 1], "weight_decay": 0.1},
              {"params": [w for w in model.parameters() if w.dim() == 1], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=3e-4, betas=(0.9, 0.95), fused=True)
    if o.compile:
        model = torch.compile(model)
    if ranks > 1:
        model = nn.parallel.DistributedDataParallel(model, device_ids=[torch.cuda.current_device()],
                                                    gradient_as_bucket_view=True)
    torch.manual_seed(100 + rank)
    tokens = torch.randint(0, min(MODELS[o.model][0], 50257), (o.batch, o.sequence + 1), device="cuda")

    def step():
        with torch.autocast("cuda", torch.bfloat16, enabled=o.type == "bf16"):
            loss = model(tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    for _ in range(10 if o.compile else 5):
        loss = step()
    seconds = []
    for _ in range(o.steps):
        torch.cuda.synchronize()
        if ranks > 1:
            dist.barrier()
        start = time.perf_counter()
        loss = step()
        loss.item()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    if o.trace:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            if ranks > 1:
                dist.barrier()
            step()
            torch.cuda.synchronize()
        profile.export_chrome_trace(f"{o.trace}.{rank}.json.gz")
    if rank == 0:
        median = statistics.median(seconds)
        result = {"what": "PyTorch " + ("compiled" if o.compile else "eager"), "torch": torch.__version__,
                  "device": torch.cuda.get_device_name(), "model": o.model, "type": o.type, "attention": o.attention,
                  "ranks": ranks, "batch": o.batch, "sequence": o.sequence, "parameters": parameters,
                  "seconds": seconds, "median_s": median, "tokens_per_s_per_gpu": o.batch * o.sequence / median,
                  "memory_bytes": torch.cuda.max_memory_allocated()}
        print(json.dumps({k: v for k, v in result.items() if k != "seconds"}))
        if o.out:
            with open(o.out, "w") as f:
                json.dump(result, f, indent=1)
    if ranks > 1:
        dist.destroy_process_group()


main()
