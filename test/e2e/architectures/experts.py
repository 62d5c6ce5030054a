"""Routed experts in the spellings that models have: the best two of four experts per token."""

import torch
from torch import nn
from torch.nn import functional as F

from registry import architecture, floats, sizes

EXPERTS, WIDTH, HIDDEN = 4, 8, 16
TOKENS = {"x": floats("batch", "time", WIDTH)}
SIZES = sizes("batch time", (2, 9), (1, 1), (2, 7), (3, 20), (1, 2))


class Routed(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(WIDTH, EXPERTS)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.SiLU(), nn.Linear(HIDDEN, WIDTH))
                                     for _ in range(EXPERTS))

    def forward(self, x):
        flat = x.reshape(-1, WIDTH)
        weight, index = self.gate(flat).softmax(-1).topk(2, -1)
        weight = weight / weight.sum(-1, keepdim=True)
        return self.mixed(flat, weight, index).reshape(x.shape)


class IndexAdd(Routed):
    """Every expert on its own tokens only, which it finds by number."""

    def mixed(self, flat, weight, index):
        out = torch.zeros_like(flat)
        for number, expert in enumerate(self.experts):
            token, slot = torch.where(index == number)
            out = out.index_add(0, token, expert(flat[token]) * weight[token, slot, None])
        return out


@architecture(TOKENS, ["y"], SIZES)
def experts_index_add():
    return IndexAdd()


class OneHot(Routed):
    """The same tokens, found in a mask of all experts, as transformers does."""

    def mixed(self, flat, weight, index):
        mask = F.one_hot(index, EXPERTS).permute(2, 1, 0)
        out = torch.zeros_like(flat)
        for number, expert in enumerate(self.experts):
            slot, token = torch.where(mask[number])
            mine = flat[None, token].reshape(-1, WIDTH)
            out = out.index_add(0, token, expert(mine) * weight[token, slot, None])
        return out


@architecture(TOKENS, ["y"], SIZES)
def experts_one_hot():
    return OneHot()


def counted(experts):
    """The older exporter does not know bincount."""
    if torch.jit.is_tracing():
        return torch.zeros(EXPERTS, dtype=torch.int64).scatter_add(0, experts, torch.ones_like(experts))
    return torch.bincount(experts, minlength=EXPERTS)


class Sorted(Routed):
    """Tokens in the order of their experts, counted, and laid side by side in a buffer per expert."""

    def mixed(self, flat, weight, index):
        tokens, experts = flat.shape[0], index.flatten()
        expert, order = experts.sort()
        count = counted(experts)
        place = torch.arange(2 * tokens) - (count.cumsum(0) - count)[expert]
        buffer = torch.zeros(EXPERTS, tokens, WIDTH, dtype=flat.dtype).index_put((expert, place), flat[order // 2])
        done = torch.stack([each(buffer[number]) for number, each in enumerate(self.experts)])[expert, place]
        back = done[order.argsort()].reshape(tokens, 2, WIDTH)
        return (back * weight[..., None]).sum(1)


@architecture(TOKENS, ["y"], SIZES)
def experts_sorted():
    return Sorted()
