"""The models of published.toml, as their layers appear on one GPU: rows of a micro-batch, widths, tensor-parallel size."""
from dataclasses import dataclass


@dataclass
class Shape:
    name: str
    sequences: int  # of a micro-batch
    tokens: int     # of a sequence
    hidden: int
    heads: int
    kv_heads: int
    feed_forward: int
    gated: bool
    tensor: int
    vocabulary: int

    @property
    def rows(self):
        return self.sequences * self.tokens

    def products(self):
        """(name, columns, depth) of the layer's forward products on one rank of the tensor-parallel group."""
        d = self.hidden // self.heads
        ways = 2 if self.gated else 1
        return [("qkv", (self.heads + 2 * self.kv_heads) * d // self.tensor, self.hidden),
                ("projection", self.hidden, self.heads * d // self.tensor),
                ("up", ways * self.feed_forward // self.tensor, self.hidden),
                ("down", self.hidden, self.feed_forward // self.tensor)]


def gpt(name, sequences, hidden, heads, tensor):
    return Shape(name, sequences, 4096, hidden, heads, heads, 4 * hidden, False, tensor, 131072)


LLAMA = [
    Shape("llama3_8b", 2, 8192, 4096, 32, 8, 14336, True, 1, 128256),
    Shape("llama3_8b", 12, 8192, 4096, 32, 8, 14336, True, 8, 128256),
    Shape("llama3_70b", 16, 8192, 8192, 64, 8, 28672, True, 8, 128256),
    Shape("llama3_405b", 4, 8192, 16384, 128, 8, 53248, True, 8, 128256),
]
GPT = [
    gpt("gpt_1.7b", 4, 2048, 16, 1), gpt("gpt_7.1b", 4, 4096, 32, 2), gpt("gpt_16b", 4, 6144, 48, 4),
    gpt("gpt_32b", 4, 7168, 56, 8), gpt("gpt_70b", 2, 8192, 64, 8), gpt("gpt_119b", 1, 10240, 80, 8),
    gpt("gpt_177b", 1, 12288, 96, 8), gpt("gpt_314b", 1, 16384, 128, 8), gpt("gpt_462b", 1, 18432, 144, 8),
]
# (rows, columns, depth) between them: few rows, few columns, small depths, and sizes beside a wave's end.
GRID = [(1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (16384, 16384, 16384),
        (8192, 8192, 128), (8192, 8192, 512), (8192, 8192, 2048), (256, 8192, 8192), (512, 8192, 8192),
        (1024, 8192, 8192), (2048, 8192, 8192), (8192, 128, 4096), (8192, 256, 4096), (8192, 512, 4096),
        (8192, 1024, 4096), (1408, 3072, 8192), (1536, 3072, 8192), (5632, 6144, 4096), (5760, 6144, 4096)]


def small(shape):
    """The same with dims that any machine runs: for trying the program."""
    return Shape(shape.name, 1, 64, 64, 4, 4 if shape.kv_heads == shape.heads else 2, 96, shape.gated, 1, 512)
