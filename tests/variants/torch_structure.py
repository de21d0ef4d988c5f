"""How attention is put together, by PyTorch: heads, inputs, gates, layers."""
import math

import torch
import torch.nn.functional as F

from torch_common import CASES, CAUSAL, D, H, T, case, merge, qkv, scores, softmax, split, tensors


def grouped_by(heads, kv_heads):
    q, k, v = qkv(heads=heads, kv_heads=kv_heads)
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)


CASES["grouped"] = lambda: grouped_by(4, 2)
CASES["multi_query"] = lambda: grouped_by(3, 1)


def self_attention(x, wq, wk, wv):
    return merge(F.scaled_dot_product_attention(split(F.linear(x, wq)), split(F.linear(x, wk)), split(F.linear(x, wv)), is_causal=True))


@case
def cross_attention():
    x, memory, wq, bq, wk, bk, wv, bv, wo, bo = tensors([(1, T, 8), (1, T + 5, 6)], [(8, 8), (8,), (8, 6), (8,), (12, 6), (12,), (8, 12), (8,)])
    q, k, v = split(F.linear(x, wq, bq)), split(F.linear(memory, wk, bk)), split(F.linear(memory, wv, bv))
    return F.linear(merge(F.scaled_dot_product_attention(q, k, v)), wo, bo)


@case
def output_gate():
    x, wq, wk, wv, wg, wo = tensors([(1, T, 8)], [(8, 8)] * 5)
    return F.linear(self_attention(x, wq, wk, wv) * torch.sigmoid(F.linear(x, wg)), wo)


@case
def parallel_mlp():
    x, wq, wk, wv, wu, bu, wo, wd = tensors([(1, T, 8)], [(8, 8), (8, 8), (8, 8), (16, 8), (16,), (8, 8), (8, 16)])
    return x + F.linear(self_attention(x, wq, wk, wv), wo) + F.linear(F.gelu(F.linear(x, wu, bu), approximate="tanh"), wd)


@case
def two_layers():
    x, q0, q1, k0, k1, v0, v1, o0, o1 = tensors([(1, T, 8)], [(8, 8)] * 8)  # by the lines of their names' first use
    y = x + F.linear(self_attention(x, q0, k0, v0), o0)
    return y + F.linear(self_attention(y, q1, k1, v1), o1)


@case
def differential():
    lambda_, q1, k1, q2, k2, v = tensors([(1, H, 1, 1)] + [(1, H, T, D)] * 4 + [(1, H, T, 8)])
    return (softmax(scores(q1, k1), CAUSAL) - lambda_ * softmax(scores(q2, k2), CAUSAL)) @ v


@case
def latent():
    q, c = tensors([(1, 4, T, 8), (1, 1, T, 8)])
    return F.scaled_dot_product_attention(q, c.expand(1, 4, T, 8), c[..., :6].expand(1, 4, T, 6), is_causal=True, scale=1 / math.sqrt(6))


CASES["latent_in_parts"] = latent


@case
def partial_rotary():
    x, wq, wk, wv, wo = tensors([(1, T, 12)], [(12, 12)] * 4)
    angle = torch.outer(torch.arange(T, dtype=torch.float64) + 3, 500.0 ** (-torch.arange(0, 4, 2, dtype=torch.float64) / 4))
    cos, sin = torch.cat([angle, angle], -1).cos(), torch.cat([angle, angle], -1).sin()

    def rotate(t):
        r, rest = t[..., :4], t[..., 4:]
        half = torch.cat([-r[..., 2:], r[..., :2]], -1)
        return torch.cat([r * cos + half * sin, rest], -1)

    q, k, v = rotate(split(F.linear(x, wq))), rotate(split(F.linear(x, wk))), split(F.linear(x, wv))
    return F.linear(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)), wo)
