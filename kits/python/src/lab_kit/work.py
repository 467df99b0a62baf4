# SPDX-License-Identifier: Apache-2.0
"""What a batch yields, and what does one."""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import NamedTuple

from lab_kit.latencies import Latencies


class Work(NamedTuple):
    """What a batch yields: the sum of every value it produced, and how many rows or bytes; of
    operations that were done at once, their latencies, too (`lab_kit.workers` sees to that); the
    experiment's own metrics by their names, finite and of less than 10^17; and where operations may
    fail, the numbers of those that did, in any order."""

    check: int
    units: int
    latencies: Latencies | None = None
    metrics: Mapping[str, float] = MappingProxyType({})
    failed: Collection[int] | None = None


Perform = Callable[[int], Work]
"""Does the given number of operations, from 1 to 2^53, in a loop of its own: this is the
measured part. Every call begins at the first input."""
