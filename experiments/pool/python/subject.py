# SPDX-License-Identifier: Apache-2.0
"""The pool experiment in Python: queue.SimpleQueue, which is written in C, and queue.LifoQueue and
queue.Queue where the order matters.

With the argument `forgets`, a failing holder does not return its resource: wrong on purpose."""

import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, LifoQueue, Queue, SimpleQueue
from time import monotonic_ns
from typing import Any

from lab_kit import Latencies, Opening, Perform, UnsupportedError, Work, serve, workers

THREADS_MAX = 256
UNCONTENDED_SIZE = 8
HOLD_NS = 100_000
FAILS_EVERY = 8
WORDS = 8192
FORGETFUL_WAIT_S = 2.0

Hold = Callable[["Resource", int], int]
"""Uses a resource in operation k. Returns the value to add to the check."""


class Resource:
    """A resource: 64 KiB, in which each word of eight bytes is 1."""

    def __init__(self) -> None:
        self.memory = bytearray((1).to_bytes(8, "little") * WORDS)
        self.is_held = False  # lets a holder detect other holders
        self.uses = 0


class Pool:
    """A queue of idle resources. A LifoQueue leases the most recently returned resource, and any other queue leases the
    resource that has been idle longest."""

    def __init__(self, size: int, queue: type[Queue[Resource] | SimpleQueue[Resource]] = SimpleQueue) -> None:
        self.size = size
        self.idle = queue()
        for _ in range(size):
            self.idle.put(Resource())

    @contextmanager
    def lease(self) -> Iterator[Resource]:
        resource = self.idle.get()
        try:
            yield resource
        finally:
            self.idle.put(resource)


class ForgetfulPool(Pool):
    """A pool without `finally`. A failing holder does not return its resource, so that no resources are left in
    the end."""

    @contextmanager
    def lease(self) -> Iterator[Resource]:
        try:
            resource = self.idle.get(timeout=FORGETFUL_WAIT_S)
        except Empty:
            raise RuntimeError(f"all {self.size} resources of the pool are lost") from None
        yield resource
        self.idle.put(resource)


class HolderError(Exception):
    """Raised by a holder that fails on purpose."""


class Holder:
    """One thread's work, and its metrics in the batch."""

    def __init__(self, pool: Pool, hold: Hold) -> None:
        self.pool = pool
        self.hold = hold
        self.over = 0  # leases of resources that another thread held
        self.rate = 0.0  # operations per ns

    def operate(self, k: int) -> int:
        with self.pool.lease() as resource:
            self.over += resource.is_held
            resource.is_held = True
            resource.uses += 1
            try:
                return self.hold(resource, k)
            finally:
                resource.is_held = False

    def share(self, operations: range, latencies: Latencies) -> Work:
        check = 0
        for k in operations:
            try:
                check += self.operate(k)
            except HolderError:
                check += 2
            latencies.lap()
        self.rate = len(operations) / (latencies.ended - latencies.begun)
        return Work(check, len(operations))


def fairness(holders: list[Holder]) -> float:
    """Returns Jain's index of the threads' rates (Jain, Chiu, Hawe, DEC-TR-301, 1984), as a percentage."""
    rates = [holder.rate for holder in holders if holder.rate > 0]
    return 100 * sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))


@contextmanager
def together(opening: Opening, pool: Pool, hold: Hold) -> Iterator[Perform]:
    holders = [Holder(pool, hold) for _ in range(threads_of(opening))]

    def perform(operations: int) -> Work:
        for holder in holders:
            holder.over = 0
            holder.rate = 0.0
        work = perform_shares(operations)
        return work._replace(metrics={
            "fairness": fairness(holders),
            "over": sum(holder.over for holder in holders),
            "lost": pool.size - pool.idle.qsize()})

    with workers([holder.share for holder in holders]) as perform_shares:
        yield perform


def choice(opening: Opening, key: str, choices: dict[str, Any]) -> Any:
    word = opening.text(key)
    if word not in choices:
        raise UnsupportedError(f"unknown {key} {word}")
    return choices[word]


def threads_of(opening: Opening) -> int:
    return opening.integer("threads", 1, THREADS_MAX)


def hold_nothing(_: Resource, k: int) -> int:
    return 1


def hold_a_while(_: Resource, k: int) -> int:
    end = monotonic_ns() + HOLD_NS
    while monotonic_ns() < end:
        pass
    return 1


def read_all(resource: Resource, k: int) -> int:
    return resource.memory.count(1)


def cases(pool_of: type[Pool]) -> dict[str, Callable[[Opening], Any]]:
    @contextmanager
    def uncontended(opening: Opening) -> Iterator[Perform]:
        pool = pool_of(UNCONTENDED_SIZE)

        def perform(operations: int) -> Work:
            for _ in range(operations):
                with pool.lease():
                    pass
            return Work(operations, operations)

        yield perform

    def lease(opening: Opening) -> Any:
        threads = threads_of(opening)
        size = choice(opening, "size",
                      {"equal": threads, "half": (threads + 1) // 2, "eightfold": 8 * threads})
        hold = choice(opening, "hold", {"0us": hold_nothing, "100us": hold_a_while})
        return together(opening, pool_of(size), hold)

    def fail(opening: Opening) -> Any:
        fails = [value % FAILS_EVERY == 0 for value in opening.inputs]

        def hold(_: Resource, k: int) -> int:
            if fails[k % len(fails)]:
                raise HolderError
            return 1

        return together(opening, pool_of((threads_of(opening) + 1) // 2), hold)

    def reuse(opening: Opening) -> Any:
        queue = choice(opening, "reuse", {"lifo": LifoQueue, "fifo": Queue})
        return together(opening, pool_of(8 * threads_of(opening), queue), read_all)

    return {"uncontended": uncontended, "lease": lease, "fail": fail, "reuse": reuse}


def main() -> None:
    forgets = sys.argv[1:] == ["forgets"]
    serve("python-forgets" if forgets else "python", f"queue {platform.python_version()}",
          cases(ForgetfulPool if forgets else Pool), one_thread=True)


if __name__ == "__main__":
    main()
