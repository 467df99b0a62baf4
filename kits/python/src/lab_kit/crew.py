# SPDX-License-Identifier: Apache-2.0
"""Several operations at once: a crew of n threads, of which member c, from 0, does the operations k
of a batch with k mod n = c."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from lab_kit.latencies import Latencies, merged
from lab_kit.work import Perform, Work

Share = Callable[[range, Latencies], Work]
"""Does the operations with these numbers, and calls the latencies' `lap` after each of them. It runs
in a thread of its own."""


@contextmanager
def crew(shares: Sequence[Share]) -> Iterator[Perform]:
    """Starts a thread for each share, which lives until the end of the `with` block. They begin
    each batch together, and it lasts from the first start to the last end."""
    members = [_Member(share) for share in shares]
    begin, end = (threading.Barrier(len(members) + 1) for _ in range(2))
    threads = [threading.Thread(target=member.serve, args=(begin, end)) for member in members]

    def perform(operations: int) -> Work:
        for first, member in enumerate(members):
            member.prepare(range(first, operations, len(members)))
        begin.wait()
        end.wait()
        for member in members:
            if member.error is not None:
                raise member.error
        return Work(sum(member.work.check for member in members),
                    sum(member.work.units for member in members),
                    merged(member.latencies for member in members))

    try:
        for thread in threads:
            thread.start()
        yield perform
    finally:
        begin.abort()
        for thread in threads:
            if thread.ident is not None:  # it was started
                thread.join()


class _Member:
    """One thread's part of the batch at hand."""

    def __init__(self, share: Share) -> None:
        self.share = share
        self.prepare(range(0))

    def prepare(self, operations: range) -> None:
        self.operations = operations
        self.latencies = Latencies()
        self.work = Work(0, 0)
        self.error: Exception | None = None

    def serve(self, begin: threading.Barrier, end: threading.Barrier) -> None:
        with suppress(threading.BrokenBarrierError):  # which ends the crew
            while True:
                begin.wait()
                self.latencies.start()
                try:
                    self.work = self.share(self.operations, self.latencies)
                except Exception as error:
                    self.error = error
                end.wait()
