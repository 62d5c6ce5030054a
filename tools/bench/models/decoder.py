"""GPT-2 and a Llama of 160 million parameters: (ids, past keys and values) -> (logits of the last position, new ones)."""
import math

import torch
import torch.nn.functional as F
from torch import nn

CONFIGURATIONS = {
    "gpt2": dict(dim=768, layers=12, heads=12, kv_heads=12, inner=3072, vocabulary=50257, positions=1024, llama=False),
    "llama160m": dict(dim=768, layers=12, heads=12, kv_heads=4, inner=3072, vocabulary=32000, positions=2048, llama=True),
}


class RMSNorm(nn.Module):
    def __init__(self, dim, epsilon=1e-5):
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(dim))
        self.epsilon = epsilon

    def forward(self, x):
        y = x.to(wide(x))
        return self.weight * (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.epsilon)).to(x.dtype)


def wide(x):
    """The type in which a module in 16 bits computes squares and angles, as published ones do."""
    return torch.promote_types(x.dtype, torch.float32)


def rotate(x, position, base=10000.0):
    half = x.shape[-1] // 2
    frequency = base ** (-torch.arange(half, device=x.device, dtype=wide(x)) / half)
    angle = position.to(wide(x))[:, None] * frequency[None, :]
    cos, sin = (torch.cat([f(angle), f(angle)], -1).to(x.dtype) for f in (torch.cos, torch.sin))
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


def share(x, groups):
    """Every head of keys or values for `groups` heads of queries."""
    batch, heads, length, size = x.shape
    return x[:, :, None].expand(batch, heads, groups, length, size).reshape(batch, heads * groups, length, size)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c, self.size = c, c["dim"] // c["heads"]
        dim, kv, bias = c["dim"], c["kv_heads"] * self.size, not c["llama"]
        self.q, self.k, self.v = (nn.Linear(dim, n, bias=bias) for n in (dim, kv, kv))
        self.o = nn.Linear(dim, dim, bias=bias)
        self.up, self.down = nn.Linear(dim, c["inner"], bias=bias), nn.Linear(c["inner"], dim, bias=bias)
        norm = RMSNorm if c["llama"] else nn.LayerNorm
        self.gate = nn.Linear(dim, c["inner"], bias=False) if c["llama"] else None
        self.norm1, self.norm2 = norm(dim), norm(dim)

    def attention(self, x, position, mask, past_k, past_v):
        c, (batch, seq, _) = self.c, x.shape
        split = lambda y, heads: y.view(batch, seq, heads, self.size).transpose(1, 2)
        q, k = split(self.q(x), c["heads"]), split(self.k(x), c["kv_heads"])
        if c["llama"]:
            q, k = rotate(q, position), rotate(k, position)
        k, v = torch.cat([past_k, k], 2), torch.cat([past_v, split(self.v(x), c["kv_heads"])], 2)
        groups = c["heads"] // c["kv_heads"]
        keys, values = (k, v) if groups == 1 else (share(k, groups), share(v, groups))
        y = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask, scale=1 / math.sqrt(self.size))
        return self.o(y.transpose(1, 2).reshape(batch, seq, c["dim"])), k, v

    def forward(self, x, position, mask, past_k, past_v):
        y, k, v = self.attention(self.norm1(x), position, mask, past_k, past_v)
        x = x + y
        h = self.norm2(x)
        h = F.silu(self.gate(h)) * self.up(h) if self.gate else F.gelu(self.up(h), approximate="tanh")
        return x + self.down(h), k, v


class Decoder(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.embedding = nn.Embedding(c["vocabulary"], c["dim"])
        self.position = None if c["llama"] else nn.Embedding(c["positions"], c["dim"])
        self.blocks = nn.ModuleList(Block(c) for _ in range(c["layers"]))
        self.norm = RMSNorm(c["dim"]) if c["llama"] else nn.LayerNorm(c["dim"])
        self.head = nn.Linear(c["dim"], c["vocabulary"], bias=False)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.04)

    def forward(self, input_ids, past):
        seq, before = input_ids.shape[1], past[0].shape[2]
        position = torch.arange(before, before + seq, device=input_ids.device)
        mask = torch.arange(before + seq, device=input_ids.device)[None, :] <= position[:, None]
        x = self.embedding(input_ids)
        if self.position is not None:
            x = x + self.position(position)
        present = []
        for i, block in enumerate(self.blocks):
            x, k, v = block(x, position, mask, past[2 * i], past[2 * i + 1])
            present += [k, v]
        return (self.head(self.norm(x[:, -1:])), *present)


MAKERS = {name: (lambda c=c: Decoder(c)) for name, c in CONFIGURATIONS.items()}
