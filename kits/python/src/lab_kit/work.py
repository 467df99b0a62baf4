# SPDX-License-Identifier: Apache-2.0
"""The result of a batch, and the function that runs a batch."""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import NamedTuple

from lab_kit.latencies import Latencies


class Work(NamedTuple):
    """The result of a batch: the sum of all values that it produced, and the number of rows or bytes; the latencies of
    concurrent operations (`lab_kit.workers` records them); metrics of the experiment by name, finite and less than
    10^17; and if operations may fail, the numbers of the failed operations, in any order."""

    check: int
    units: int
    latencies: Latencies | None = None
    metrics: Mapping[str, float] = MappingProxyType({})
    failed: Collection[int] | None = None


Perform = Callable[[int], Work]
"""Does the given number of operations, from 1 to 2^53, in a loop. This is the measured code. Every
call starts with the first input."""
