"""What a peer brings to the start."""
from dataclasses import dataclass
from typing import Any, Callable


DENSE = "with a dense additive mask"  # a note


class Refused(Exception):
    """The peer does not do this configuration, with its reason."""


@dataclass
class Contender:
    """call() computes once; output() gives the result of the last call, shaped as the reference."""

    call: Callable[[], Any]
    output: Callable[[], Any]
    tolerance: float = 1e-4  # of the root of the mean square of the reference, for the largest error
    note: str = ""


@dataclass
class Offer:
    """A contender yet to be built; build() returns a Contender or raises, Refused among others."""

    name: str
    peer: str
    build: Callable[[], Contender]
