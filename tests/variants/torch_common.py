"""What the cases share: inputs as host::standard_inputs makes them, and the steps of attention."""
import math

import torch

T, H, D = 18, 2, 4


class Normal:
    """codegen/cli/host/inputs.h: xorshift64* and Box-Muller, rounded to float32."""
    mask = (1 << 64) - 1

    def __init__(self, seed):
        self.state = (seed * 0x9E3779B97F4A7C15 + 1) & self.mask

    def uniform(self):
        s = self.state
        s ^= s >> 12
        s ^= (s << 25) & self.mask
        s ^= s >> 27
        self.state = s
        return (((s * 0x2545F4914F6CDD1D) & self.mask) >> 11) * 2.0**-53 + 2.0**-54

    def __call__(self):
        a, b = self.uniform(), self.uniform()
        return math.sqrt(-2 * math.log(a)) * math.cos(6.283185307179586 * b)


def tensors(inputs, weights=()):
    """Inputs N(0, 1), then weights N(0, 1 / in_features), of these shapes in order of first appearance."""
    normal = Normal(1)

    def draw(shape, sd):
        if shape[0] == "integers":  # of a table
            return torch.tensor([math.floor(4 * abs(normal())) for _ in range(math.prod(shape[1:]))]).reshape(shape[1:])
        values = [normal() * sd for _ in range(math.prod(shape))]
        return torch.tensor(values, dtype=torch.float32).double().reshape(shape)

    return [draw(s, 1) for s in inputs] + [draw(s, 1 / math.sqrt(s[-1])) for s in weights]


CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def qkv(*more, heads=H, kv_heads=None, batch=1, queries=T, keys=T):
    """q, k, the tensors of shapes `more`, v: in the order in which specs.h names them."""
    kv = (batch, kv_heads or heads, keys, D)
    q, k, *rest = tensors([(batch, heads, queries, D), kv, kv])
    return q, k, rest[0]


def scores(q, k):
    return q @ k.transpose(-2, -1) / math.sqrt(D)


def indices(queries=T, keys=T):
    return torch.arange(queries)[:, None], torch.arange(keys)[None, :]


I, J = indices()
CAUSAL = J <= I


def softmax(s, keep=None):
    return torch.softmax(s if keep is None else s.masked_fill(~keep, -math.inf), -1)


def split(x, heads=H):
    return x.view(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def merge(x):
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)
