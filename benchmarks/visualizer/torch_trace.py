"""A PyTorch profiler (Kineto) trace of data-parallel training, one file a rank, to look at in `ridge viz`.

torchrun --standalone --nproc-per-node GPUs torch_trace.py FOLDER
"""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

BLOCKS, CHANNELS, HEADS, TOKENS, VOCABULARY = 4, 768, 12, 512, 8192


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(CHANNELS, HEADS, 4 * CHANNELS, dropout=0, activation="gelu", batch_first=True,
                                                norm_first=True)

    def forward(self, x):  # (B, T, C) -> (B, T, C)
        return self.layer(x, is_causal=True, src_mask=nn.Transformer.generate_square_subsequent_mask(TOKENS, device=x.device))


def main():
    folder = sys.argv[1]
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    torch.manual_seed(rank)
    model = nn.Sequential(nn.Embedding(VOCABULARY, CHANNELS), *[Block() for _ in range(BLOCKS)], nn.Linear(CHANNELS, VOCABULARY))
    model = nn.parallel.DistributedDataParallel(model.to(device), device_ids=[device], bucket_cap_mb=10)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)

    def step():
        words = torch.randint(VOCABULARY, (8, TOKENS + 1), device=device)
        with torch.autocast("cuda", torch.bfloat16), record_function("forward"):
            loss = nn.functional.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
        with record_function("backward"):
            loss.backward()
        with record_function("optimizer"):
            optimizer.step()
            optimizer.zero_grad()

    for _ in range(5):
        step()
    torch.cuda.synchronize()
    dist.barrier()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        for _ in range(2):
            step()
        torch.cuda.synchronize()
    os.makedirs(folder, exist_ok=True)
    p.export_chrome_trace(os.path.join(folder, f"torch_ddp.{rank}.json.gz"))
    dist.destroy_process_group()


main()
