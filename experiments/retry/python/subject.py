# SPDX-License-Identifier: Apache-2.0
"""Retries with tenacity: up to four attempts per call, each in its own transaction, with exponential backoff
and jitter. The argument is the target: sqlite, postgresql or mariadb."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from importlib.metadata import version
from itertools import count
from typing import Any

from calls import Call, StaleVersionError, calls, effect
from lab_kit import Case, Latencies, Opening, Perform, Work, serve, workers
from targets import TARGETS, Fault, Target
from tenacity import (RetryCallState, RetryError, Retrying, retry_if_exception, stop_after_attempt,
                      wait_random_exponential)

CLIENTS_MAX = 256
NANOSECONDS = 1_000_000_000
ATTEMPTS = 4
FIRST_WAIT_S = 0.01
"""The upper bound of the delay before the first retry, in seconds. The bound doubles with each further retry."""
MAX_WAIT_S = 1

RETRIED = "retried"
METRICS = [*(fault.value for fault in Fault), RETRIED]


class Client:
    """Makes calls over its own connection, which it replaces when it is lost, and counts faults and retries.
    It is used by one thread at a time."""

    def __init__(self, target: Target, connect: Callable[[], Any], call: Call, inputs: list[int], rate: int) -> None:
        """Creates a client. `rate` is the number of calls that are due per second, of all clients together. If it
        is 0, a client makes each call when its previous one has ended."""
        self._rate = rate
        self._target = target
        self._connect = connect
        self._call = call
        self._effect = effect(target.placeholder)
        self._inputs = inputs
        self._retrying = Retrying(
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_random_exponential(multiplier=FIRST_WAIT_S, max=MAX_WAIT_S),
            retry=retry_if_exception(lambda error: self._fault(error) is not None),
            after=self._after_fault,
            before_sleep=self._before_retry)
        self.connection = connect()
        self.begin_batch(0)

    def begin_batch(self, number: int) -> None:
        self._batch = number
        self.counted: Counter[str] = Counter()

    def calls(self, operations: range, latencies: Latencies) -> Work:
        """Runs this client's part of a batch."""
        failed = []
        for k in operations:
            if self._rate:
                latencies.wait(k * NANOSECONDS // self._rate)
            try:
                self._retrying(self._attempt, k)
            except RetryError:  # no more attempts
                failed.append(k)
            latencies.lap()
        return Work(len(operations), len(operations), failed=failed)

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def _attempt(self, k: int) -> None:
        if self.connection is None:
            self.connection = self._connect()
        with self._target.transaction(self.connection), closing(self.connection.cursor()) as cursor:
            self._call(cursor, self._inputs[k % len(self._inputs)])
            cursor.execute(self._effect, (self._batch, k))

    def _fault(self, error: BaseException | None) -> Fault | None:
        return Fault.STALE if isinstance(error, StaleVersionError) else self._target.fault(error)

    def _after_fault(self, state: RetryCallState) -> None:
        if fault := self._fault(state.outcome.exception() if state.outcome else None):
            self.counted[fault.value] += 1
            if fault is Fault.DISCONNECTED:
                self.close()

    def _before_retry(self, _: RetryCallState) -> None:
        self.counted[RETRIED] += 1


def case(target: Target, call: Call) -> Case:
    @contextmanager
    def opened(opening: Opening) -> Iterator[Perform]:
        connect = target.connector(opening)
        with ExitStack() as stack:
            clients = [
                stack.enter_context(closing(Client(target, connect, call, opening.inputs, opening.rate())))
                for _ in range(opening.integer("clients", 1, CLIENTS_MAX))]
            opening.settings.update(target.settings(clients[0].connection, opening))
            share = stack.enter_context(workers([client.calls for client in clients]))
            batches = count(1)

            def perform(operations: int) -> Work:
                batch = next(batches)
                for client in clients:
                    client.begin_batch(batch)
                work = share(operations)
                counted = sum((client.counted for client in clients), Counter())
                return work._replace(metrics={name: 100 * counted[name] / operations for name in METRICS})

            yield perform

    return opened


def main() -> None:
    target = TARGETS[sys.argv[1]]()
    serve("tenacity", f"tenacity {version('tenacity')}, {target.library}",
          {name: case(target, call) for name, call in calls(target.placeholder).items()}, one_thread=False)


if __name__ == "__main__":
    main()
