# SPDX-License-Identifier: Apache-2.0
"""Schemes for sharing a counter between threads, with the standard library.

Each scheme has its own loops, so that an increment does not include the cost of an extra call."""

import itertools
import threading
from typing import Protocol

READS = 100
"""The number of reads per increment in read_mostly."""


class Counter(Protocol):
    is_safe: bool
    """True if the counter never loses an increment."""

    def value(self) -> int: ...

    def increments(self, times: int) -> None: ...

    def increments_and_reads(self, times: int) -> int:
        """Returns the number of reads that found a lower value than the previous one."""


class UnsafeCounter:
    """Counts with `+=`: a load, an addition and a store, between which the interpreter may switch threads."""

    is_safe = False

    def __init__(self) -> None:
        self.total = 0

    def value(self) -> int:
        return self.total

    def increments(self, times: int) -> None:
        for _ in range(times):
            self.total += 1

    def increments_and_reads(self, times: int) -> int:
        before = backwards = 0
        for _ in range(times):
            self.total += 1
            for _ in range(READS):
                now = self.total
                backwards += now < before
                before = now
        return backwards


class AtomicCounter:
    """Counts with `itertools.count`, which takes a number in one step of the interpreter. A read must also take a
    number, so the numbers taken by reads are counted and subtracted."""

    is_safe = True

    def __init__(self) -> None:
        self.numbers = itertools.count()
        self._reads = 0
        self._reading = threading.Lock()

    def value(self) -> int:
        with self._reading:
            value = next(self.numbers) - self._reads
            self._reads += 1
        return value

    def increments(self, times: int) -> None:
        for _ in range(times):
            next(self.numbers)

    def increments_and_reads(self, times: int) -> int:
        before = backwards = 0
        for _ in range(times):
            next(self.numbers)
            for _ in range(READS):
                now = self.value()
                backwards += now < before
                before = now
        return backwards


class LockCounter:
    is_safe = True

    def __init__(self) -> None:
        self._total = 0
        self._lock = threading.Lock()

    def value(self) -> int:
        with self._lock:
            return self._total

    def increments(self, times: int) -> None:
        for _ in range(times):
            with self._lock:
                self._total += 1

    def increments_and_reads(self, times: int) -> int:
        before = backwards = 0
        for _ in range(times):
            with self._lock:
                self._total += 1
            for _ in range(READS):
                now = self.value()
                backwards += now < before
                before = now
        return backwards


class _Stripe(threading.local):
    """A thread's own stripe: a list with one number, which the counter also references."""

    def __init__(self, stripes: list[list[int]]) -> None:
        self.total = [0]
        stripes.append(self.total)


class StripedCounter:
    is_safe = True

    def __init__(self) -> None:
        self._stripes: list[list[int]] = []
        self._stripe = _Stripe(self._stripes)

    def value(self) -> int:
        return sum(total for total, in self._stripes)

    def increments(self, times: int) -> None:
        for _ in range(times):
            self._stripe.total[0] += 1

    def increments_and_reads(self, times: int) -> int:
        before = backwards = 0
        for _ in range(times):
            self._stripe.total[0] += 1
            for _ in range(READS):
                now = self.value()
                backwards += now < before
                before = now
        return backwards


class CounterPair:
    """A safe and an unsafe counter that are incremented in the same loop."""

    def __init__(self) -> None:
        self.safe = AtomicCounter()
        self.unsafe = UnsafeCounter()

    def increments(self, times: int) -> None:
        numbers = self.safe.numbers
        unsafe = self.unsafe
        for _ in range(times):
            next(numbers)
            unsafe.total += 1


SCHEMES: dict[str, type[Counter]] = {
    "unsafe": UnsafeCounter,
    "atomic": AtomicCounter,
    "lock": LockCounter,
    "striped": StripedCounter,
}
