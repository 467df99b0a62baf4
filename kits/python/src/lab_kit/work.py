# SPDX-License-Identifier: Apache-2.0
"""The result of a batch, and the function that does one."""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import NamedTuple

from lab_kit.latencies import Latencies


class Work(NamedTuple):
    """The result of a batch: the sum of every value that it produced, and the number of rows or bytes; the latencies of
    operations that were done at once (`lab_kit.workers` records them); the experiment's own metrics by their names,
    finite and less than 10^17; and where operations may fail, the numbers of those that did, in any order."""

    check: int
    units: int
    latencies: Latencies | None = None
    metrics: Mapping[str, float] = MappingProxyType({})
    failed: Collection[int] | None = None


Perform = Callable[[int], Work]
"""Does the given number of operations, from 1 to 2^53, in a loop of its own: this is the
measured part. Every call begins at the first input."""
