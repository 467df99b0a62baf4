# SPDX-License-Identifier: Apache-2.0
"""The counter experiment in Python: the standard library, with the global interpreter lock."""

import platform
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from counters import SCHEMES, Counter, CounterPair
from lab_kit import Latencies, Opening, Perform, UnsupportedError, Work, serve, workers

THREADS_MAX = 1024


def scheme(opening: Opening) -> Counter:
    name = opening.text("scheme")
    if name not in SCHEMES:
        raise UnsupportedError(f"unknown scheme {name}")
    return SCHEMES[name]()


def shared_by(opening: Opening, work: Callable[[int], int | None]) -> AbstractContextManager[Perform]:
    """Starts threads that each run a part of each batch. The check is the sum of the results of `work`."""
    def share(operations: range, _: Latencies) -> Work:
        return Work(work(len(operations)) or 0, len(operations))

    return workers([share] * opening.integer("threads", 1, THREADS_MAX))


def told(work: Work, operations: int, check: int, reached: int) -> Work:
    lost = 100 * (operations - reached) / operations
    return work._replace(check=check, units=operations, metrics={"lost": lost})


def counting(opening: Opening, counter: Counter, work: Callable[[int], int | None]) -> Iterator[Perform]:
    """Counts in all threads. For a safe counter the check is its final value, and no read may return a lower
    value than the previous read."""
    with shared_by(opening, work) as batch:
        def perform(operations: int) -> Work:
            before = counter.value()
            work = batch(operations)
            reached = counter.value() - before
            check = work.check + reached if counter.is_safe else operations
            return told(work, operations, check, reached)

        yield perform


@contextmanager
def increment(opening: Opening) -> Iterator[Perform]:
    counter = scheme(opening)
    yield from counting(opening, counter, counter.increments)


@contextmanager
def read_mostly(opening: Opening) -> Iterator[Perform]:
    counter = scheme(opening)
    yield from counting(opening, counter, counter.increments_and_reads)


@contextmanager
def side_by_side(opening: Opening) -> Iterator[Perform]:
    pair = CounterPair()
    with shared_by(opening, pair.increments) as batch:
        def perform(operations: int) -> Work:
            safe, unsafe = pair.safe.value(), pair.unsafe.value()
            work = batch(operations)
            return told(work, operations, pair.safe.value() - safe, pair.unsafe.value() - unsafe)

        yield perform


def main() -> None:
    serve("python", f"threading and itertools, Python {platform.python_version()}",
          {"increment": increment, "plain": increment, "read_mostly": read_mostly, "side_by_side": side_by_side},
          one_thread=False)


if __name__ == "__main__":
    main()
