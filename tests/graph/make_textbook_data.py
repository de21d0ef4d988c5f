#!/usr/bin/env python3
"""Regenerates data/textbook_mha.txt with PyTorch: causal multi-head attention as the textbooks
write it, in float32 on the CPU. Usage: python3 make_textbook_data.py > data/textbook_mha.txt"""
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, model, heads):
        super().__init__()
        self.heads, self.head_dim = heads, model // heads
        self.wq = nn.Linear(model, model, bias=False)
        self.wk = nn.Linear(model, model, bias=False)
        self.wv = nn.Linear(model, model, bias=False)
        self.wo = nn.Linear(model, model, bias=False)

    def forward(self, x):
        batch, seq, model = x.shape

        def split(t):
            return t.view(batch, seq, self.heads, self.head_dim).transpose(1, 2)

        q, k, v = split(self.wq(x)), split(self.wk(x)), split(self.wv(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        future = torch.triu(torch.full((seq, seq), float("-inf")), diagonal=1)
        weights = torch.softmax(scores + future, dim=-1)
        return self.wo((weights @ v).transpose(1, 2).reshape(batch, seq, model))


def show(name, tensor):
    values = tensor.detach().flatten().tolist()
    print(name, len(values))
    for i in range(0, len(values), 8):
        print(" ".join(f"{v:.9g}" for v in values[i:i + 8]))  # nine digits: every float32 exactly


def main():
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    print(f"# by make_textbook_data.py, torch {torch.__version__.split('+')[0]}: case batch seq model heads, then tensors")
    for seed, (batch, seq, model, heads) in enumerate([(1, 5, 16, 4), (2, 7, 16, 2)]):
        torch.manual_seed(seed)
        module = MultiHeadAttention(model, heads)
        x = torch.randn(batch, seq, model)
        print("case", batch, seq, model, heads)
        show("x", x)
        for name in ("wq", "wk", "wv", "wo"):
            show(name, getattr(module, name).weight)
        show("out", module(x))


main()
