# SPDX-License-Identifier: Apache-2.0
"""The latencies of a case with concurrent operations (docs/protocol.md, Latencies)."""

from collections.abc import Iterable
from time import monotonic_ns, sleep  # on Linux, this is CLOCK_MONOTONIC

BUCKETS = 1920
"""The number of buckets for 64-bit latencies."""


def bucket(ns: int) -> int:
    """Returns the bucket of a latency, in HdrHistogram's layout with 64 sub-buckets."""
    if ns < 64:
        return ns
    exponent = ns.bit_length() - 6
    return exponent * 32 + (ns >> exponent)


class Latencies:
    """The latencies of one thread's operations in one batch: `start` starts the batch and its first
    operation, and `lap` ends an operation and starts the next one."""

    __slots__ = ("begun", "ended", "counts", "has_laps")

    def __init__(self) -> None:
        self.begun = self.ended = 0
        """The start of the first operation (`begun`) and the end of the last operation (`ended`), as
        CLOCK_MONOTONIC in ns."""
        self.counts = [0] * BUCKETS
        self.has_laps = False
        """True if individual operations were measured."""

    def start(self) -> None:
        self.begun = self.ended = monotonic_ns()

    def wait(self, due_ns: int) -> None:
        """Waits until the next operation is due, `due_ns` after the start. The latency of the operation
        counts from then."""
        due = self.begun + due_ns
        while (left := due - monotonic_ns()) > 0:
            sleep(left / 1e9)
        self.ended = due

    def finish(self) -> None:
        """Ends the last operation, unless the last lap has ended it."""
        self.has_laps = self.ended > self.begun
        if not self.has_laps:
            self.ended = monotonic_ns()

    def lap(self) -> None:
        now = monotonic_ns()
        ns = now - self.ended
        self.ended = now
        if ns < 64:
            self.counts[ns] += 1
        else:  # `bucket`, inlined
            exponent = ns.bit_length() - 6
            self.counts[exponent * 32 + (ns >> exponent)] += 1


def merged(parts: Iterable[Latencies]) -> Latencies:
    """Merges the latencies of all threads that did operations. The result lasts from the first
    start to the last end."""
    total = Latencies()
    working = list(parts)
    total.begun = min(part.begun for part in working)
    total.ended = max(part.ended for part in working)
    if any(part.has_laps for part in working):
        total.has_laps = True
        total.counts = [sum(counts) for counts in zip(*(part.counts for part in working))]
    return total


def encoded(latencies: Latencies) -> str:
    """Returns the reply's argument: INDEX:COUNT in ascending order, separated by commas."""
    return ",".join(f"{index}:{count}" for index, count in enumerate(latencies.counts) if count)
