# SPDX-License-Identifier: Apache-2.0
"""Concurrent operations: of n threads, thread c (counted from 0) does the operations k of a batch
with k mod n = c."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain

from lab_kit.latencies import Latencies, merged
from lab_kit.work import Perform, Work

Share = Callable[[range, Latencies], Work]
"""Does the operations whose numbers are in the range, and calls the latencies' `lap` after each of them, or
never if the case reports no latencies. It runs in a separate thread."""


@contextmanager
def workers(shares: Sequence[Share]) -> Iterator[Perform]:
    """Starts one thread per worker. The threads run until the end of the `with` block. They start
    each batch together; a batch lasts from the first start to the last end."""
    workers = [_Worker(share) for share in shares]
    begin, end = (threading.Barrier(len(workers) + 1) for _ in range(2))
    threads = [threading.Thread(target=worker.serve, args=(begin, end)) for worker in workers]

    def perform(operations: int) -> Work:
        for first, worker in enumerate(workers):
            worker.prepare(range(first, operations, len(workers)))
        begin.wait()
        end.wait()
        for worker in workers:
            if worker.error is not None:
                raise worker.error
        return Work(sum(worker.work.check for worker in workers),
                    sum(worker.work.units for worker in workers),
                    merged(worker.latencies for worker in workers if worker.operations),
                    failed=_failed(worker.work for worker in workers))

    try:
        for thread in threads:
            thread.start()
        yield perform
    finally:
        begin.abort()
        for thread in threads:
            if thread.ident is not None:  # the thread was started
                thread.join()


def _failed(parts: Iterable[Work]) -> list[int] | None:
    """Returns the operations that failed in any thread, or None if no thread reports failures."""
    failed = [part.failed for part in parts if part.failed is not None]
    return list(chain.from_iterable(failed)) if failed else None


class _Worker:
    """One thread's part of the current batch."""

    def __init__(self, share: Share) -> None:
        self.share = share
        self.prepare(range(0))

    def prepare(self, operations: range) -> None:
        self.operations = operations
        self.latencies = Latencies()
        self.work = Work(0, 0)
        self.error: Exception | None = None

    def serve(self, begin: threading.Barrier, end: threading.Barrier) -> None:
        with suppress(threading.BrokenBarrierError):  # which ends the thread
            while True:
                begin.wait()
                if self.operations:
                    self.do_share()
                end.wait()

    def do_share(self) -> None:
        self.latencies.start()
        try:
            self.work = self.share(self.operations, self.latencies)
        except Exception as error:
            self.error = error
        self.latencies.finish()
