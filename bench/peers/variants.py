"""What people change about softmax(q k^T / sqrt(head_dim)) v, as the zoo's variants do.

Masks and scores are written once, for Python's integers, numpy's arrays and PyTorch's tensors alike: pairs are counted
by them, the reference computed, and FlexAttention compiles them. No import beyond the standard library.
"""
from bisect import bisect
from dataclasses import dataclass
from typing import Callable

DOCUMENTS = (96, 346, 386, 716, 896)  # where those behind the first begin


def _everything(query, key):
    return key == key  # an array, too, where key is one


def _causal(query, key):
    return key <= query


@dataclass(frozen=True)
class Table:
    """A table that is known at run time, [seq] or [seq, seq]; indexed as numpy's arrays are, by integers alone."""

    name: str  # in the spec
    rank: int
    at: Callable

    def __getitem__(self, place):
        return self.at(*place) if self.rank > 1 else self.at(place)


@dataclass(frozen=True)
class Variant:
    """keeps(query, key) hangs on places alone, allows(table, query, key) on a table, too; a pair needs both."""

    name: str
    spec: str = ""  # of the zoo; {seq} in it
    keeps: Callable = _causal
    table: Table = None
    allows: Callable = None
    window: int = 0  # keys that a query sees, itself included, where that is the whole mask
    softcap: float = 0.0  # of scores: cap tanh(score / cap)
    alibi: bool = False  # slope[head] * (query - key) is taken from a score
    bias: bool = False  # [seq, seq] of random values is added to scores

    def sees(self, table, query, key):
        """Whether a pair takes part; bool, or an array of it."""
        return self.keeps(query, key) & self.allows(table, query, key) if self.allows else self.keeps(query, key)


def slopes(heads):
    """ALiBi's (arXiv:2108.12409), of a number of heads that is a power of two."""
    return [2.0 ** (-8 * (head + 1) / heads) for head in range(heads)]


def window(keys):
    return Variant(f"window{keys}", f"variant_window<{{seq}},{keys}>", lambda query, key: (key <= query) & (query - key < keys), window=keys)


FULL = Variant("full", keeps=_everything)
CAUSAL = Variant("causal")
# Those of dsl/zoo/variants.h, in its order and by its numbers.
VARIANTS = (
    window(256),
    Variant("first16window256", "variant_first_and_window<{seq},16,256>", lambda query, key: (key <= query) & ((key < 16) | (query - key < 256))),
    Variant("chunks256", "variant_chunked<{seq},256>", lambda query, key: (key <= query) & (query // 256 == key // 256)),
    Variant("prefix256", "variant_prefix<{seq},256>", lambda query, key: (key <= query) | (key < 256)),
    Variant("documents", "variant_documents<{seq}>", table=Table("ids", 1, lambda place: bisect(DOCUMENTS, place)), allows=lambda ids, query, key: ids[query] == ids[key]),
    Variant("pairs", "variant_allowed<{seq}>", table=Table("allowed", 2, lambda query, key: int(query == key or (5 * query + 3 * key) % 7 != 0)), allows=lambda allowed, query, key: allowed[query, key] != 0),
    Variant("alibi", "variant_slopes<{seq}>", alibi=True),
    Variant("bias", "variant_bias<{seq}>", bias=True),
    Variant("softcap30", "variant_softcap<{seq}>", softcap=30.0),
)
