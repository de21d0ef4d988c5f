"""Attention by its formula, in double precision."""
import numpy as np


def attention(q, k, v, keep):
    """(softmax(q k^T / sqrt(d)) v, log-sum-exp of a row), of what `keep` is true for."""
    s = np.where(keep, q.astype(float) @ k.astype(float).swapaxes(-1, -2) / np.sqrt(q.shape[-1]), -np.inf)
    top = s.max(-1, keepdims=True)
    e = np.exp(s - top)
    total = e.sum(-1, keepdims=True)
    return e / total @ v, (top + np.log(total))[..., 0]


def heads(x, w, count):
    """[batch, seq, features] by weights [out, in] to [batch, heads, seq, head_dim]."""
    y = x.astype(float) @ w.astype(float).T
    return y.reshape(*y.shape[:2], count, -1).transpose(0, 2, 1, 3)


def rotated_interleaved(x, base=10000.0):
    """RoPE of pairs (2i, 2i + 1): RoFormer (arXiv:2104.09864), eq. 34."""
    angle = np.arange(x.shape[-2])[:, None] * base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
    y = np.empty_like(x)
    y[..., 0::2] = x[..., 0::2] * np.cos(angle) - x[..., 1::2] * np.sin(angle)
    y[..., 1::2] = x[..., 0::2] * np.sin(angle) + x[..., 1::2] * np.cos(angle)
    return y


def grouped_causal_block(x, w):
    """What the spec `rotated` says, with interleaved pairs."""
    q, k, v = heads(x, w["wq"], 4), heads(x, w["wk"], 2), heads(x, w["wv"], 2)
    q, k = rotated_interleaved(q), rotated_interleaved(k)
    y, _ = attention(q, k.repeat(2, 1), v.repeat(2, 1), np.tri(x.shape[1], dtype=bool))
    return y.transpose(0, 2, 1, 3).reshape(*x.shape[:2], -1) @ w["wo"].astype(float).T


def huggingface(w, heads):
    """Meta's weights of q or k as Hugging Face keeps them: in each head the even rows, then the odd ones
    (`permute` of transformers' convert_llama_weights_to_hf.py)."""
    return np.ascontiguousarray(w.reshape(heads, -1, 2, w.shape[1]).swapaxes(1, 2).reshape(w.shape))
