"""The inputs of a case and its result in double precision."""
import numpy as np

from peers import memory
from peers.cases import Attention, Block, Projection
from peers.variants import CAUSAL, slopes

ROWS = 256  # of scores at a time


def rotary_angles(seq, head_dim):
    """[seq, head_dim / 2], base 10000, first position 0."""
    return np.arange(seq)[:, None] / 10000.0 ** (np.arange(0, head_dim, 2) / head_dim)


def rotate(x, angles):
    """RoPE on interleaved pairs of x [..., seq, head_dim]."""
    even, odd = x[..., 0::2], x[..., 1::2]
    result = np.empty_like(x)
    result[..., 0::2] = even * np.cos(angles) - odd * np.sin(angles)
    result[..., 1::2] = even * np.sin(angles) + odd * np.cos(angles)
    return result


def attend(q, k, v, sees, score=lambda head, scores, query, key: scores):
    """softmax(score(q k^T / sqrt(head_dim))) v in double precision over pairs that sees(query, key); all [heads, seq, head_dim]."""
    out = np.empty(q.shape)
    seq = q.shape[1]
    keys = np.arange(seq)
    for head in range(q.shape[0]):
        key, value = k[head].astype(np.float64), v[head].astype(np.float64)
        for first in range(0, seq, ROWS):
            rows = np.arange(first, min(seq, first + ROWS))[:, None]
            scores = score(head, q[head, rows[:, 0]].astype(np.float64) @ key.T / np.sqrt(q.shape[2]), rows, keys)
            scores = np.where(sees(rows, keys), scores, -np.inf)
            weights = np.exp(scores - scores.max(1, keepdims=True))
            out[head, rows[:, 0]] = weights @ value / weights.sum(1, keepdims=True)
    return out


class Problem:
    """case, its inputs by name (f32, as the generated kernel takes them), weights, and `expected`."""

    def __init__(self, case):
        self.case = case
        self.random = np.random.default_rng(1)
        if isinstance(case, Attention):
            self.inputs = {name: self._normal(1, case.heads, case.seq, case.head_dim) for name in "qkv"}
            self.weights = {}
            self.inputs |= self._beside()
            self.expected = attend(*(self.inputs[name][0] for name in "qkv"), self.sees, self._score)[None]
        elif isinstance(case, Projection):
            self.inputs = {"x": self._normal(1, case.seq, case.features_in)}
            self.weights = {"w": self._normal(case.features_out, case.features_in, scale=case.features_in**-0.5)}
            self.expected = self.inputs["x"].astype(np.float64) @ self.weights["w"].T.astype(np.float64)
        elif isinstance(case, Block):
            self.inputs = {"x": self._normal(1, case.seq, case.model)}
            self.weights = {name: self._normal(case.model, case.model, scale=case.model**-0.5) for name in ("wq", "wk", "wv", "wo")}
            self.expected = self._block()
        else:
            raise TypeError(case)

    def _normal(self, *shape, scale=1.0):
        return memory.copy(self.random.standard_normal(shape, dtype=np.float32) * np.float32(scale))

    def _beside(self):
        """What a variant takes besides q, k and v."""
        case = self.case
        if case.variant.table:
            shape = (case.seq,) * case.variant.table.rank
            indices = range(case.seq) if len(shape) == 1 else np.ndindex(shape)
            return {case.variant.table.name: memory.copy(np.array([case.variant.table[i] for i in indices], np.int32).reshape(shape))}
        if case.variant.alibi:
            return {"slopes": memory.copy(np.array(slopes(case.heads), np.float32))}
        return {"bias": self._normal(1, 1, case.seq, case.seq)} if case.variant.bias else {}

    def sees(self, query, key):
        """Of arrays of places, which pairs take part in attention."""
        variant = self.case.variant
        return variant.sees(self.inputs[variant.table.name] if variant.table else None, query, key)

    def _score(self, head, scores, query, key):
        variant = self.case.variant
        if variant.alibi:
            return scores - self.inputs["slopes"][head] * (query - key)
        if variant.bias:
            return scores + self.inputs["bias"][0, 0, query, key]
        return variant.softcap * np.tanh(scores / variant.softcap) if variant.softcap else scores

    def additive_mask(self):
        """[1, 1 or heads, seq, seq]: what a variant adds to scores, -inf where a pair has no part; None if it is no sum."""
        case = self.case
        if case.variant.softcap:
            return None
        places = np.arange(case.seq)
        query, key = places[:, None], places
        nothing = np.zeros((case.seq, case.seq))
        added = np.stack([self._score(head, nothing, query, key) for head in range(case.heads if case.variant.alibi else 1)])
        return memory.copy(np.where(self.sees(query, key), added, -np.inf)[None], np.float32)

    def _block(self):
        case = self.case
        x = self.inputs["x"][0].astype(np.float64)
        angles = rotary_angles(case.seq, case.head_dim)

        def heads_of(name):  # [heads, seq, head_dim]
            y = x @ self.weights[name].T.astype(np.float64)
            return y.reshape(case.seq, case.heads, case.head_dim).transpose(1, 0, 2)

        y = attend(rotate(heads_of("wq"), angles), rotate(heads_of("wk"), angles), heads_of("wv"), CAUSAL.keeps)
        return (y.transpose(1, 0, 2).reshape(case.seq, case.model) @ self.weights["wo"].T.astype(np.float64))[None]

    def error_of(self, output):
        """The largest error over the root mean square of the expected values; infinite where it is not a number."""
        error = np.max(np.abs(output.reshape(self.expected.shape) - self.expected)) / np.sqrt(np.mean(self.expected**2))
        return float(error) if np.isfinite(error) else float("inf")
