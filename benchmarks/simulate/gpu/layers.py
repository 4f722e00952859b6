"""Two kinds of transformer layers as PyTorch runs them, and the element-wise parts that they are made of."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def rms_norm(x, weight):
    return (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-5)).type_as(x) * weight


def layer_norm(x, weight, bias):
    return F.layer_norm(x, (x.shape[-1],), weight, bias, 1e-5)


def swiglu(gate, up):
    return F.silu(gate) * up


def gelu_bias(x, bias):
    return F.gelu(x + bias, approximate="tanh")


def rotate(x, angles):
    """x: (sequences, tokens, heads, d) in bf16; angles: (tokens, d / 2), complex."""
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * angles[None, :, None, :]).flatten(3).type_as(x)


def angles(tokens, d, device):
    inverse = 1.0 / 500000 ** (torch.arange(0, d, 2, device=device).float() / d)
    turns = torch.outer(torch.arange(tokens, device=device).float(), inverse)
    return torch.polar(torch.ones_like(turns), turns)


def attend(q, k, v):
    """q, k, v: (sequences, tokens, heads, d) -> (sequences, tokens, heads * d). Fewer heads of k and v are repeated."""
    copies = q.shape[2] // k.shape[2]
    if copies > 1:
        k, v = (t[:, :, :, None, :].expand(-1, -1, -1, copies, -1).flatten(2, 3) for t in (k, v))
    o = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), is_causal=True)
    return o.transpose(1, 2).flatten(2)


class Llama(nn.Module):
    def __init__(self, s, device, dtype):
        super().__init__()
        d, t = s.hidden // s.heads, s.tensor
        linear = lambda k, n: nn.Linear(k, n, bias=False, device=device, dtype=dtype)
        self.d = d
        self.wq, self.wk, self.wv = (linear(s.hidden, h * d // t) for h in (s.heads, s.kv_heads, s.kv_heads))
        self.wo = linear(s.heads * d // t, s.hidden)
        self.w1, self.w3 = linear(s.hidden, s.feed_forward // t), linear(s.hidden, s.feed_forward // t)
        self.w2 = linear(s.feed_forward // t, s.hidden)
        self.norm1, self.norm2 = (nn.Parameter(torch.ones(s.hidden, device=device, dtype=dtype)) for _ in range(2))
        self.register_buffer("angles", angles(s.tokens, d, device), persistent=False)

    def forward(self, x):
        h = rms_norm(x, self.norm1)
        q, k, v = (w(h).unflatten(-1, (-1, self.d)) for w in (self.wq, self.wk, self.wv))
        x = x + self.wo(attend(rotate(q, self.angles), rotate(k, self.angles), v))
        h = rms_norm(x, self.norm2)
        return x + self.w2(swiglu(self.w1(h), self.w3(h)))


class Gpt(nn.Module):
    def __init__(self, s, device, dtype):
        super().__init__()
        d, t = s.hidden // s.heads, s.tensor
        linear = lambda k, n, bias=True: nn.Linear(k, n, bias=bias, device=device, dtype=dtype)
        self.d = d
        self.qkv, self.projection = linear(s.hidden, 3 * s.hidden // t), linear(s.hidden // t, s.hidden)
        self.up, self.down = linear(s.hidden, s.feed_forward // t, False), linear(s.feed_forward // t, s.hidden)
        self.bias = nn.Parameter(torch.zeros(s.feed_forward // t, device=device, dtype=dtype))
        self.norm1, self.norm2 = (nn.LayerNorm(s.hidden, device=device, dtype=dtype) for _ in range(2))

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (-1, self.d)) for t in self.qkv(self.norm1(x)).chunk(3, -1))
        x = x + self.projection(attend(q, k, v))
        return x + self.down(gelu_bias(self.up(self.norm2(x)), self.bias))


def layer_of(shape, device, dtype):
    return (Llama if shape.gated else Gpt)(shape, device, dtype)
