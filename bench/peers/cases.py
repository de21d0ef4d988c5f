"""What is measured: attention, projections and whole blocks of fixed shape, and their FLOPs.

No import beyond the standard library, so that the counting can be tested anywhere.
"""
import functools
import re
from dataclasses import dataclass

from peers.variants import CAUSAL, FULL, VARIANTS, Variant, window


def kept_pairs(seq, keeps):
    """Pairs (query, key) of a [seq, seq] square for which keeps(query, key) is true."""
    return sum(keeps(query, key) for query in range(seq) for key in range(seq))


@dataclass(frozen=True)
class Attention:
    """softmax(q k^T / sqrt(head_dim)) v on q, k, v [1, heads, seq, head_dim], or a variant of it."""

    heads: int
    head_dim: int
    seq: int
    variant: Variant

    header = False
    plain = property(lambda self: self.variant in (FULL, CAUSAL))

    @property
    def name(self):
        return f"{'sdpa' if self.plain else 'variant'}/H{self.heads}/D{self.head_dim}/T{self.seq}/{self.variant.name}"

    @property
    def spec(self):
        if self.plain:
            return f"sdpa<1,{self.heads},{self.seq},{self.head_dim},{str(self.variant is CAUSAL).lower()}>"
        assert (self.heads, self.head_dim) == (8, 64), "the zoo's variants have 8 heads of 64"
        return self.variant.spec.format(seq=self.seq)

    @functools.cached_property
    def flops(self):
        return self._flops(functools.partial(self.variant.sees, self.variant.table))

    @functools.cached_property
    def countable_flops(self):
        """Without what a table removes: what the generated interface counts."""
        return self._flops(self.variant.keeps) if self.variant.table else self.flops

    def _flops(self, keeps):
        return 4 * self.head_dim * self.heads * kept_pairs(self.seq, keeps)

    @property
    def bytes(self):
        table = self.variant.table
        beside = self.seq**table.rank if table else self.seq**2 if self.variant.bias else 0
        return 4 * (4 * self.heads * self.seq * self.head_dim + beside)  # q, k, v, out


@dataclass(frozen=True)
class Projection:
    """x w^T with x [1, seq, features_in], w [features_out, features_in]."""

    seq: int
    features_in: int
    features_out: int

    header = True
    name = property(lambda self: f"projection/{self.features_in}x{self.features_out}/T{self.seq}")
    spec = property(lambda self: f"peers::projection<{self.seq},{self.features_in},{self.features_out}>")
    flops = countable_flops = property(lambda self: 2 * self.seq * self.features_in * self.features_out)
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
    flops = countable_flops = property(lambda self: 4 * 2 * self.seq * self.model**2 + 4 * self.model * kept_pairs(self.seq, CAUSAL.keeps))
    bytes = property(lambda self: 4 * (2 * self.seq * self.model + 4 * self.model**2))


def all_cases(long=False):
    """Every named configuration, in the order of the table."""
    cases = []
    for variant in (FULL, CAUSAL):
        cases += [Attention(8, 64, seq, variant) for seq in (16, 64, 128, 512, 1024, 2048) + ((4096,) if long else ())]
    cases += [Attention(8, 128, seq, variant) for variant in (FULL, CAUSAL) for seq in (512, 2048)]
    cases.append(Attention(8, 64, 2048, window(256)))
    cases += [Attention(8, 64, 1024, variant) for variant in VARIANTS]
    cases += [Projection(seq, size, size) for size in (512, 2048) for seq in (16, 128, 512)]
    cases += [Block(seq, 512, 8) for seq in (16, 128, 512)] + [Block(512, 1024, 16)]
    return cases


# One of each kind, small enough for a look.
QUICK = r"sdpa/H8/D64/T(16|128|512)/|T2048/window|projection/512x512/T(16|512)|mha/C512/T128"


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
