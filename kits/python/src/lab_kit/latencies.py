# SPDX-License-Identifier: Apache-2.0
"""The latencies of a case that does several operations at once (docs/protocol.md, Latencies)."""

from collections.abc import Iterable
from time import monotonic_ns, sleep  # on Linux, this is CLOCK_MONOTONIC

BUCKETS = 1920
"""As many as latencies of 64 bits have."""


def bucket(ns: int) -> int:
    """The bucket in which a latency counts: HdrHistogram's layout with 64 sub-buckets."""
    if ns < 64:
        return ns
    exponent = ns.bit_length() - 6
    return exponent * 32 + (ns >> exponent)


class Latencies:
    """Those of one thread's operations in one batch: `start` begins the batch with the first
    operation, and `lap` ends an operation and begins the next one."""

    __slots__ = ("begun", "ended", "counts", "is_told")

    def __init__(self) -> None:
        self.begun = self.ended = 0
        """When the first operation began and the last one ended: CLOCK_MONOTONIC in ns."""
        self.counts = [0] * BUCKETS
        self.is_told = False
        """Whether single operations were measured."""

    def start(self) -> None:
        self.begun = self.ended = monotonic_ns()

    def wait(self, due_ns: int) -> None:
        """Until the next operation is due, so long after the start. Its latency counts from then."""
        due = self.begun + due_ns
        while (left := due - monotonic_ns()) > 0:
            sleep(left / 1e9)
        self.ended = due

    def finish(self) -> None:
        """Ends the last operation, unless a lap did."""
        self.is_told = self.ended > self.begun
        if not self.is_told:
            self.ended = monotonic_ns()

    def lap(self) -> None:
        now = monotonic_ns()
        ns = now - self.ended
        self.ended = now
        if ns < 64:
            self.counts[ns] += 1
        else:  # `bucket`, without the call
            exponent = ns.bit_length() - 6
            self.counts[exponent * 32 + (ns >> exponent)] += 1


def merged(parts: Iterable[Latencies]) -> Latencies:
    """Those of all threads that had something to do, from the first start to the last end."""
    whole = Latencies()
    working = list(parts)
    whole.begun = min(part.begun for part in working)
    whole.ended = max(part.ended for part in working)
    if any(part.is_told for part in working):
        whole.is_told = True
        whole.counts = [sum(counts) for counts in zip(*(part.counts for part in working))]
    return whole


def told(latencies: Latencies) -> str:
    """As the reply has them: INDEX:COUNT, ascending, separated by commas."""
    return ",".join(f"{index}:{count}" for index, count in enumerate(latencies.counts) if count)
