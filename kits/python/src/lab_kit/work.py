# SPDX-License-Identifier: Apache-2.0
"""The result of a batch, and the function that runs a batch."""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import NamedTuple

from lab_kit.latencies import Latencies


class Work(NamedTuple):
    """The result of a batch. `check` is the sum of all values that it produced, and `units` the number of rows or
    bytes. `lab_kit.workers` records the `latencies` of concurrent operations. `metrics` contains metrics of the
    experiment by name, finite and less than 10^17. If operations may fail, `failed` contains the numbers of the
    failed operations, in any order."""

    check: int
    units: int
    latencies: Latencies | None = None
    metrics: Mapping[str, float] = MappingProxyType({})
    failed: Collection[int] | None = None


Perform = Callable[[int], Work]
"""Does the given number of operations, from 1 to 2^53, in a loop. This is the measured code. Every
call starts with the first input."""
