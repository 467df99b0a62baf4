# SPDX-License-Identifier: Apache-2.0
"""The keys that the operations of a batch access. The key of operation k depends on input k."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

ZIPF_KEYS = 10_000


class Access(NamedTuple):
    key: int
    reads: bool
    """True for a read, and false for a write."""


def zipf(inputs: Sequence[int], read_percentage: int) -> list[Access]:
    """Draws keys from a Zipf distribution, in integer arithmetic, which all languages support: key i has the
    weight 2^32 / (i + 1). `read_percentage` is the percentage of operations that read."""
    sums = list(accumulate(2**32 // i for i in range(1, ZIPF_KEYS + 1)))
    return [Access(bisect_right(sums, value % sums[-1]), (value >> 32) % 100 < read_percentage)
            for value in inputs]


def uniform(inputs: Sequence[int], bound: int) -> list[int]:
    """Draws keys below `bound` with equal probability."""
    return [value % bound for value in inputs]
