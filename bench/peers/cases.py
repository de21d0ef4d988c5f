"""What is measured: attention, projections and whole blocks of fixed shape, and their FLOPs.

No import beyond the standard library, so that the counting can be tested anywhere.
"""
import re
from dataclasses import dataclass


def kept_pairs(seq, causal, window=0):
    """Pairs (query, key) that the mask keeps in a [seq, seq] square; a window of W is W keys."""
    if not causal:
        return seq * seq
    return sum(min(query + 1, window or seq) for query in range(seq))


@dataclass(frozen=True)
class Attention:
    """softmax(q k^T / sqrt(head_dim)) v on q, k, v [1, heads, seq, head_dim]."""

    heads: int
    head_dim: int
    seq: int
    causal: bool
    window: int = 0  # keys that a query sees, itself included; 0: all

    header = property(lambda self: bool(self.window))

    @property
    def name(self):
        kind = f"window{self.window}" if self.window else "causal" if self.causal else "full"
        return f"sdpa/H{self.heads}/D{self.head_dim}/T{self.seq}/{kind}"

    @property
    def spec(self):
        if self.window:
            return f"peers::sliding_window<{self.heads},{self.seq},{self.head_dim},{self.window}>"
        return f"sdpa<1,{self.heads},{self.seq},{self.head_dim},{str(self.causal).lower()}>"

    @property
    def flops(self):
        return 4 * self.head_dim * self.heads * kept_pairs(self.seq, self.causal, self.window)

    @property
    def bytes(self):
        return 4 * 4 * self.heads * self.seq * self.head_dim  # q, k, v, out


@dataclass(frozen=True)
class Projection:
    """x w^T with x [1, seq, features_in], w [features_out, features_in]."""

    seq: int
    features_in: int
    features_out: int

    header = True
    name = property(lambda self: f"projection/{self.features_in}x{self.features_out}/T{self.seq}")
    spec = property(lambda self: f"peers::projection<{self.seq},{self.features_in},{self.features_out}>")
    flops = property(lambda self: 2 * self.seq * self.features_in * self.features_out)
    bytes = property(lambda self: 4 * (self.seq * (self.features_in + self.features_out) + self.features_in * self.features_out))


@dataclass(frozen=True)
class Block:
    """textbook_mha: projections, RoPE, causal attention, output projection on x [1, seq, model]."""

    seq: int
    model: int
    heads: int

    header = False
    head_dim = property(lambda self: self.model // self.heads)
    name = property(lambda self: f"textbook_mha/C{self.model}/T{self.seq}")
    spec = property(lambda self: f"textbook_mha<1,{self.seq},{self.model},{self.heads}>")
    flops = property(lambda self: 4 * 2 * self.seq * self.model**2 + 4 * self.model * kept_pairs(self.seq, True))
    bytes = property(lambda self: 4 * (2 * self.seq * self.model + 4 * self.model**2))


def all_cases(long=False):
    """Every named configuration, in the order of the table."""
    cases = []
    for causal in (False, True):
        cases += [Attention(8, 64, seq, causal) for seq in (16, 64, 128, 512, 1024, 2048) + ((4096,) if long else ())]
    cases += [Attention(8, 128, seq, causal) for causal in (False, True) for seq in (512, 2048)]
    cases.append(Attention(8, 64, 2048, True, window=256))
    cases += [Projection(seq, size, size) for size in (512, 2048) for seq in (16, 128, 512)]
    cases += [Block(seq, 512, 8) for seq in (16, 128, 512)] + [Block(512, 1024, 16)]
    return cases


# One of each kind, small enough for a look.
QUICK = r"sdpa/H8/D64/T(16|128|512)/|window|projection/512x512/T(16|512)|mha/C512/T128"


def select(patterns, quick=False, long=False):
    """The cases whose name matches any of the regular expressions. Raises ValueError, with the message for the user."""
    cases = all_cases(long)
    wanted = []
    for pattern in patterns or ([QUICK] if quick else [""]):
        try:
            regex = re.compile(pattern)
        except re.error as e:
            raise ValueError(f"'{pattern}' is no regular expression: {e}") from None
        found = [c for c in cases if regex.search(c.name)]
        if not found:
            raise ValueError(f"no configuration matches '{pattern}'; --list names them")
        wanted += found
    return [c for c in cases if c in wanted]
