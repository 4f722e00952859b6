"""The GPT of runtime/nn in PyTorch, serving static batches: what serve.cu is held against.

A batch takes the requests that wait, 64 at most, in order of arrival, and runs until its longest answer is written; then comes the next
one. Prompts are padded on the right, so prefill is causal attention without a mask. A step of decode reads the cache up to the longest
sequence, rounded up to 128 tokens, and masks what is not there. With `graphs` such a step is a CUDA graph of its batch, rounded up to
a power of two, and of this length; all are captured before.
"""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = {"gpt2-124m": (50304, 50257, 1024, 12, 12, 768), "toy": (512, 509, 96, 2, 2, 128)}  # Vp, V, context, L, H, C
MOST, STEP = 64, 128


class Block(nn.Module):
    def __init__(self, C, H, context, device):
        super().__init__()
        self.H = H
        self.ln1, self.ln2 = nn.LayerNorm(C), nn.LayerNorm(C)
        self.qkv, self.proj = nn.Linear(C, 3 * C), nn.Linear(C, C)
        self.fc, self.fc2 = nn.Linear(C, 4 * C), nn.Linear(4 * C, C)
        self.cache = [torch.zeros(MOST, H, context, C // H, dtype=torch.bfloat16, device=device) for _ in range(2)]

    def heads(self, x):
        B, T, C = x.shape
        return (z.view(B, T, self.H, C // self.H).transpose(1, 2) for z in self.qkv(self.ln1(x)).split(C, dim=2))

    def rest(self, x, o):
        x = x + self.proj(o.transpose(1, 2).reshape(x.shape))
        return x + self.fc2(F.gelu(self.fc(self.ln2(x)), approximate="tanh"))

    def prefill(self, x):
        q, k, v = self.heads(x)
        for cache, new in zip(self.cache, (k, v)):
            cache[: len(x), :, : x.shape[1]] = new
        return self.rest(x, F.scaled_dot_product_attention(q, k, v, is_causal=True))

    def decode(self, x, rows, places, mask):
        """x: (B, 1, C); the new token of sequence rows[b] is token places[b] of it; mask: (B, 1, 1, length)."""
        q, k, v = self.heads(x)
        B, length = len(x), mask.shape[-1]
        for cache, new in zip(self.cache, (k, v)):
            cache[rows, :, places] = new[:, :, 0]
        k, v = (cache[:B, :, :length] for cache in self.cache)
        return self.rest(x, F.scaled_dot_product_attention(q, k, v, attn_mask=mask))


class Gpt(nn.Module):
    """Greedy decoding. tokens: (B, T); places: (B), of each sequence's last token."""

    def __init__(self, shape, device):
        super().__init__()
        Vp, self.V, self.context, L, H, C = shape
        self.wte, self.wpe = nn.Embedding(Vp, C), nn.Embedding(self.context, C)
        self.blocks = nn.ModuleList(Block(C, H, self.context, device) for _ in range(L))
        self.final = nn.LayerNorm(C)
        for w in self.modules():  # as in check.cuh: the blocks decide what the answer is
            if isinstance(w, (nn.Linear, nn.Embedding)):
                nn.init.normal_(w.weight, std=0.06 if isinstance(w, nn.Linear) else 0.02)
        self.to(device, torch.bfloat16)

    def next(self, x):
        return (self.final(x) @ self.wte.weight.T)[..., : self.V].argmax(-1)

    @torch.no_grad()
    def prefill(self, tokens, places):
        x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block.prefill(x)
        return self.next(x[torch.arange(len(x), device=x.device), places])

    @torch.no_grad()
    def decode(self, tokens, places, length):
        """tokens: (B), which become part of the cache at `places`."""
        rows = torch.arange(len(tokens), device=tokens.device)
        mask = (torch.arange(length, device=tokens.device) <= places[:, None])[:, None, None]
        x = (self.wte(tokens) + self.wpe(places))[:, None]
        for block in self.blocks:
            x = block.decode(x, rows, places, mask)
        return self.next(x[:, 0])


class Graphs:
    """decode() as CUDA graphs, by rows and length."""

    def __init__(self, model, device):
        self.model, self.of = model, {}
        self.tokens = torch.zeros(MOST, dtype=torch.long, device=device)
        self.places = torch.zeros(MOST, dtype=torch.long, device=device)
        pool = None
        for length in range(STEP, model.context + 1, STEP):
            for rows in (1 << i for i in range(7)):
                stream = torch.cuda.Stream()
                stream.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(stream):
                    model.decode(self.tokens[:rows], self.places[:rows], length)
                torch.cuda.synchronize()
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, pool=pool):
                    out = model.decode(self.tokens[:rows], self.places[:rows], length)
                pool = pool or graph.pool()
                self.of[rows, length] = graph, out

    def decode(self, tokens, places, length):
        rows = 1 << (len(tokens) - 1).bit_length()
        graph, out = self.of[rows, length]
        self.tokens[: len(tokens)] = tokens
        self.places[: len(tokens)] = places
        graph.replay()
        return out[: len(tokens)]


def agreement(model, device, decode):
    """The share of the tokens of a short batch that a forward pass without a cache gives, too: 1, but for ties."""
    draw = torch.Generator().manual_seed(1)
    lengths = torch.tensor([5, 17, 9], device=device)
    text = torch.randint(0, model.V, (3, 17 + 12), generator=draw).to(device)
    token, places = model.prefill(text[:, :17], lengths - 1), lengths.clone()
    same = total = 0
    for _ in range(12):
        text[torch.arange(3, device=device), places] = token
        length = min(-(-(int(places.max()) + 1) // STEP) * STEP, model.context)
        token = decode(token, places, length).clone()
        saved = [[c.clone() for c in b.cache] for b in model.blocks]  # prefill overwrites the cache
        expected = model.prefill(text, places)
        for block, caches in zip(model.blocks, saved):
            for cache, old in zip(block.cache, caches):
                cache.copy_(old)
        places = places + 1
        same, total = same + int((token == expected).sum()), total + 3
    return same / total


def serve(model, trace, device, decode):
    """trace: rows of seconds, prompt, answer. Returns the seconds of each request's first and last token."""
    prompts = [torch.randint(0, model.V, (prompt,), generator=torch.Generator().manual_seed(i)) for i, (_, prompt, _) in enumerate(trace)]
    first, last = [0.0] * len(trace), [0.0] * len(trace)
    synchronize = torch.cuda.synchronize if device == "cuda" else lambda: None
    start, begun = time.perf_counter(), 0
    while begun < len(trace):
        now = time.perf_counter() - start
        batch = [i for i in range(begun, min(begun + MOST, len(trace))) if trace[i][0] <= now]
        if not batch:
            continue
        begun = batch[-1] + 1
        lengths = [len(prompts[i]) for i in batch]
        tokens = torch.zeros(len(batch), max(lengths), dtype=torch.long)
        for row, i in enumerate(batch):
            tokens[row, : lengths[row]] = prompts[i]
        places = torch.tensor(lengths, device=device)
        token = model.prefill(tokens.to(device), places - 1)
        synchronize()
        for step in range(1, max(trace[i][2] for i in batch) + 1):
            if step > 1:
                # Ended sequences stay in the batch; beyond the context they write to its last place.
                longest = min(max(lengths) + step - 1, model.context)
                length = min(-(-longest // STEP) * STEP, model.context)
                token = decode(token, places.clamp(max=model.context - 1), length)
                places = places + 1
                token.cpu()  # a server sends each token when it is there
            now = time.perf_counter() - start
            for i in batch:
                if step == 1:
                    first[i] = now
                if step == trace[i][2]:
                    last[i] = now
    return first, last


def serving(name, device, graphs, seed=1):
    """(model, decode function) on the device."""
    torch.manual_seed(seed)
    model = Gpt(SHAPES[name], device)
    return model, Graphs(model, device).decode if graphs else model.decode
