"""The default GPT of models/gpt.hpp in PyTorch, and its state read from a checkpoint."""
import json
import math
import os
import struct

import numpy
import torch
from torch import nn
from torch.nn import functional

VOCAB, HIDDEN, LAYERS, HEADS, KV_HEADS, FFN = 256, 64, 2, 4, 2, 172
DIM = HIDDEN // HEADS
ROPE_BASE, NORM_EPS = 10_000, 1e-6
TYPES = {"F32": numpy.float32, "I32": numpy.int32, "I64": numpy.int64}


def read_safetensors(path):
    """{name: tensor}, as https://huggingface.co/docs/safetensors, "Format", says."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        first, last = (8 + length + offset for offset in entry["data_offsets"])
        elements = numpy.frombuffer(data[first:last], TYPES[entry["dtype"]]).copy()
        tensors[name] = torch.from_numpy(elements).reshape(entry["shape"])
    return tensors


class RMSNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(HIDDEN))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + NORM_EPS) * self.weight


def rotary_table(length):
    """Cosine and sine, [length, DIM / 2]."""
    rates = ROPE_BASE ** (-torch.arange(0, DIM, 2, dtype=torch.float64) / DIM)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * rates
    return angles.cos().float(), angles.sin().float()


def turn(x, table):
    cosine, sine = table
    first, second = x.chunk(2, -1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), -1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(HIDDEN, HEADS * DIM, bias=False)
        self.k = nn.Linear(HIDDEN, KV_HEADS * DIM, bias=False)
        self.v = nn.Linear(HIDDEN, KV_HEADS * DIM, bias=False)
        self.o = nn.Linear(HEADS * DIM, HIDDEN, bias=False)

    def forward(self, x, table, mask):
        samples, length, _ = x.shape
        q = turn(self.q(x).view(samples, length, HEADS, DIM).transpose(1, 2), table)
        k = turn(self.k(x).view(samples, length, KV_HEADS, DIM).transpose(1, 2), table)
        v = self.v(x).view(samples, length, KV_HEADS, DIM).transpose(1, 2)
        k, v = (t.repeat_interleave(HEADS // KV_HEADS, 1) for t in (k, v))
        weights = (q @ k.transpose(-1, -2) / math.sqrt(DIM) + mask).softmax(-1)
        return self.o((weights @ v).transpose(1, 2).reshape(samples, length, HEADS * DIM))


class SwiGLU(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(HIDDEN, FFN, bias=False)
        self.up = nn.Linear(HIDDEN, FFN, bias=False)
        self.down = nn.Linear(FFN, HIDDEN, bias=False)

    def forward(self, x):
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.attention = RMSNorm(), Attention()
        self.norm2, self.mlp = RMSNorm(), SwiGLU()

    def forward(self, x, table, mask):
        x = x + self.attention(self.norm1(x), table, mask)
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    """Modules have the names of Ringside's parameters. Returns the mean loss of the tokens."""

    def __init__(self, length, rotary=True):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, HIDDEN)
        self.layers = nn.ModuleList(Block() for _ in range(LAYERS))
        self.final_norm = RMSNorm()
        self.head = nn.Linear(HIDDEN, VOCAB, bias=False)
        self.table = rotary_table(length)
        if not rotary:
            self.table = (torch.ones_like(self.table[0]), torch.zeros_like(self.table[1]))
        self.mask = torch.full((length, length), -math.inf).triu(1)

    def forward(self, contexts, targets):
        x = self.embed(contexts)
        for block in self.layers:
            x = block(x, self.table, self.mask)
        logits = self.head(self.final_norm(x))
        return functional.cross_entropy(logits.view(-1, VOCAB), targets.reshape(-1))


def transposed(name):
    """nn.Linear has [out, in] where Ringside has [in, out], but for the head."""
    return ".attention." in name or ".mlp." in name


def as_here(name, tensor):
    return (tensor.t() if transposed(name) else tensor).contiguous()


def load_weights(model, folder):
    stored = read_safetensors(os.path.join(folder, "model.safetensors"))
    model.load_state_dict({name: as_here(name, tensor) for name, tensor in stored.items()})


def adamw(model, lr):
    """Gains of norms are not decayed."""
    gains = [p for name, p in model.named_parameters() if "norm" in name]
    others = [p for name, p in model.named_parameters() if "norm" not in name]
    return torch.optim.AdamW([{"params": others}, {"params": gains, "weight_decay": 0}],
                             lr=lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)


def load_optimizer(optimizer, model, folder):
    stored = read_safetensors(os.path.join(folder, "optimizer.safetensors"))
    for name, parameter in model.named_parameters():
        moments = {kind: as_here(name, stored[f"{name}.{kind}"]) for kind in ("exp_avg", "exp_avg_sq")}
        optimizer.state[parameter] = {"step": stored[f"{name}.step"].float().reshape(()), **moments}
