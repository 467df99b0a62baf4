# SPDX-License-Identifier: Apache-2.0
"""The keys that the operations of a batch access: operation k that of input k."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

ZIPF_KEYS = 10_000


class Access(NamedTuple):
    key: int
    reads: bool
    """Else it puts."""


def zipf(inputs: Sequence[int], read_percentage: int) -> list[Access]:
    """Keys by Zipf's law, in whole numbers, which all languages have: key i has the weight 2^32 / (i + 1). Of
    100 operations, so many read."""
    sums = list(accumulate(2**32 // i for i in range(1, ZIPF_KEYS + 1)))
    return [Access(bisect_right(sums, value % sums[-1]), (value >> 32) % 100 < read_percentage)
            for value in inputs]


def uniform(inputs: Sequence[int], bound: int) -> list[int]:
    """Keys below `bound`, each as often as any other."""
    return [value % bound for value in inputs]
