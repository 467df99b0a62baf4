# SPDX-License-Identifier: Apache-2.0
"""The subject's side of the protocol: reads commands, executes them, and writes one reply to each.
"""

import os
import platform
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from time import monotonic_ns  # on Linux, this is CLOCK_MONOTONIC

from lab_kit import lines
from lab_kit.errors import UnsupportedError, UsageError
from lab_kit.latencies import encoded
from lab_kit.opening import Opening
from lab_kit.work import Perform, Work

_OPERATIONS_MAX = 2**53
_CHECK_MODULUS = 2**64
_MESSAGE_MAX = 1000

Case = Callable[[Opening], AbstractContextManager[Perform | None]]
"""Opens a case as a context manager, which closes it. `contextlib.contextmanager` creates one from a
function that prepares the case, yields its `Perform` and releases its resources. A case that yields
None is a server, which runs until it is closed and has no operations."""


def serve(subject: str, library: str, cases: Mapping[str, Case], *, one_thread: bool = True) -> None:
    """Sends hello and serves the cases, and the built-in case noop, until quit or the end of the
    input.

    `library` is the driver or library under test with its version. `one_thread` is true if the
    calling thread does the work, and false if threads of the cases do. From this call on, standard
    output of the program is redirected to standard error, so that it cannot corrupt replies.
    """
    with os.fdopen(os.dup(1), "wb") as replies, ExitStack() as case:
        sys.stdout = sys.stderr
        os.dup2(2, 1)
        replies.write(_hello(subject, library, threading.get_native_id() if one_thread else 0))
        replies.flush()
        session = _Session({**cases, "noop": _noop}, case)
        for line in lines.read_lines(sys.stdin.buffer):
            reply = _answer(session, line)
            if reply is None:
                return
            replies.write(reply)
            replies.flush()


@contextmanager
def _noop(_: Opening) -> Iterator[Perform]:
    yield lambda operations: Work(operations, operations)


def _hello(subject: str, library: str, thread: int) -> bytes:
    return lines.reply("hello", {
        "protocol": 1,
        "subject": subject,
        "thread": thread,
        "runtime": f"{platform.python_implementation()} {platform.python_version()}",
        "library": library,
    })


def _answer(session: "_Session", line: bytes | None) -> bytes | None:
    """Returns the reply to a line, or None for `quit`."""
    try:
        verb, arguments = lines.parse(line)
        match verb:
            case "open":
                return session.open(arguments)
            case "verify":
                return session.verify(arguments)
            case "run":
                return session.run(arguments)
            case "close":
                return session.close()
            case "quit":
                return None
        raise UsageError(f"there is no command {verb[:40]}")
    except UsageError as error:
        return _error("usage", error)
    except UnsupportedError as error:
        return _error("unsupported", error)
    except Exception as error:
        traceback.print_exc()
        return _error("failed", error)


def _error(code: str, error: Exception) -> bytes:
    message = str(error) or type(error).__name__
    if sqlstate := getattr(error, "sqlstate", None):  # an attribute of psycopg's errors
        message = f"{sqlstate}: {message}"
    return lines.reply("error", {"code": code, "message": message[:_MESSAGE_MAX]})


class _Session:
    """Executes commands on the open case, if there is one."""

    def __init__(self, cases: Mapping[str, Case], case: ExitStack) -> None:
        self._cases = cases
        self._case = case
        self._is_open = False
        self._perform: Perform | None = None
        self._metrics: Mapping[str, float] = {}

    def open(self, arguments: Mapping[str, str]) -> bytes:
        if self._is_open:
            raise UsageError("a case is already open")
        name = lines.text(arguments, "case")
        opening = Opening(arguments)
        case = self._cases.get(name)
        if case is None:
            raise UnsupportedError(f"there is no case {name}")
        self._perform = self._case.enter_context(case(opening))
        self._metrics = opening.metrics
        self._is_open = True
        return lines.reply("opened", opening.settings)

    def verify(self, arguments: Mapping[str, str]) -> bytes:
        perform = self._performer()
        operations = _operations({"operations": "1", **arguments})
        work = perform(operations)
        return lines.reply("verified", {
            "check": work.check % _CHECK_MODULUS, "operations": operations, "units": work.units,
            **_failed(work)})

    def run(self, arguments: Mapping[str, str]) -> bytes:
        perform = self._performer()
        operations = _operations(arguments)
        start = monotonic_ns()
        work = perform(operations)
        end = monotonic_ns()
        more = {key: lines.decimal(value) for key, value in work.metrics.items()}
        if work.latencies is not None:
            start, end = work.latencies.begun, work.latencies.ended
            if work.latencies.has_laps:
                more["latencies"] = encoded(work.latencies)
        return lines.reply("ran", {
            "start": start, "end": end, "operations": operations, "units": work.units,
            "check": work.check % _CHECK_MODULUS, **more, **_failed(work)})

    def close(self) -> bytes:
        self._must_be_open()
        self._is_open = False
        self._case.close()
        metrics = {key: lines.decimal(value) for key, value in self._metrics.items()}
        return lines.reply("closed", metrics)

    def _performer(self) -> Perform:
        """Returns the function that performs the open case's operations."""
        self._must_be_open()
        if self._perform is None:
            raise UnsupportedError("the case is a server and has no operations")
        return self._perform

    def _must_be_open(self) -> None:
        if not self._is_open:
            raise UsageError("no case is open")


def _failed(work: Work) -> dict[str, str]:
    """Returns the failed operations, if the case reports them."""
    return {} if work.failed is None else {"failed": lines.ranges(sorted(work.failed))}


def _operations(arguments: Mapping[str, str]) -> int:
    return lines.integer(arguments, "operations", 1, _OPERATIONS_MAX)
