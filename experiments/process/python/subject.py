# SPDX-License-Identifier: Apache-2.0
"""The process experiment in Python: subprocess, which uses vfork by default. With the argument `fork`,
subprocess uses fork."""

import os
import platform
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from threading import Timer
from time import monotonic, monotonic_ns

from lab_kit import Latencies, Opening, Perform, UnsupportedError, Work, serve
from left import children, descriptors

BYTES_MAX = 1 << 24
LINES_MAX = 10_000
KILL_AFTER_S = 0.005
DEADLOCK_S = 0.05

CAT = "/bin/cat"
SHELL = ["/bin/sh", "-c", "/bin/sleep 60 & exec /bin/sleep 60"]
PARENTS = {"10MB": 10 << 20, "1GB": 1 << 30}

Metrics = dict[str, float]
Operation = Callable[[Metrics], tuple[int, int]]
"""Performs one operation, adds to the batch's metrics, and returns the amounts to add to `check` and `units`."""


def hash_of(data: bytes) -> int:
    """Computes the 64-bit FNV-1a hash (Fowler, Noll, Vo)."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def status_of(returncode: int) -> int:
    """Returns the exit code, or 256 + the signal."""
    return returncode if returncode >= 0 else 256 - returncode


def content_of(opening: Opening) -> bytes:
    """Concatenates the inputs as eight bytes each, in little-endian order."""
    size = opening.integer("bytes", 1, BYTES_MAX)
    period = b"".join(value.to_bytes(8, "little") for value in opening.inputs)
    return (period * (size // len(period) + 1))[:size]


def expect(output: bytes, expected: bytes) -> None:
    if output != expected:
        raise ValueError(f"unexpected output of {len(output)} bytes")


@contextmanager
def start(opening: Opening) -> Iterator[Operation]:
    outcome = hash_of(b"")

    def operation(_: Metrics) -> tuple[int, int]:
        done = subprocess.run(["/bin/true"], stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
        return outcome + status_of(done.returncode), 1

    yield operation


@contextmanager
def fail(opening: Opening) -> Iterator[Operation]:
    def operation(_: Metrics) -> tuple[int, int]:
        try:
            subprocess.run(["/bin/no-such-program"], stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
        except FileNotFoundError:
            return 1, 1
        raise ValueError("a program that does not exist was started")

    yield operation


@contextmanager
def read(opening: Opening) -> Iterator[Operation]:
    content = content_of(opening)
    outcome = hash_of(content)

    def operation(metrics: Metrics) -> tuple[int, int]:
        before = monotonic_ns()
        with Popen([CAT, f"/proc/{os.getpid()}/fd/{file.fileno()}"], stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL) as child:
            first = child.stdout.read1()
            metrics["first_byte"] += monotonic_ns() - before
            output = first + child.stdout.read()
        expect(output, content)
        return outcome + status_of(child.returncode), len(output)

    with tempfile.TemporaryFile() as file:  # has no name: nothing is left however this program exits
        file.write(content)
        file.flush()
        yield operation


@contextmanager
def converse(opening: Opening) -> Iterator[Operation]:
    count = opening.integer("lines", 1, LINES_MAX)
    lines = [b"%d\n" % value for value in islice(cycle(opening.inputs), count)]
    outcome = hash_of(b"".join(lines))

    def operation(_: Metrics) -> tuple[int, int]:
        with Popen([CAT], stdin=PIPE, stdout=PIPE, stderr=DEVNULL) as child:
            for line in lines:
                child.stdin.write(line)
                child.stdin.flush()
                expect(child.stdout.readline(), line)
            child.stdin.close()
        return outcome + status_of(child.returncode), count

    yield operation


@contextmanager
def exchange(opening: Opening) -> Iterator[Operation]:
    content = content_of(opening)
    outcome = hash_of(content)

    def operation(_: Metrics) -> tuple[int, int]:
        done = subprocess.run([CAT], input=content, stdout=PIPE, stderr=DEVNULL)
        expect(done.stdout, content)
        return outcome + status_of(done.returncode), len(done.stdout)

    yield operation


@contextmanager
def write_then_read(opening: Opening) -> Iterator[Operation]:
    content = content_of(opening)

    def operation(metrics: Metrics) -> tuple[int, int]:
        with Popen([CAT], stdin=PIPE, stdout=PIPE, stderr=DEVNULL) as child:
            timer = Timer(DEADLOCK_S, child.kill)
            timer.start()
            try:
                child.stdin.write(content)
                child.stdin.close()
            except BrokenPipeError:
                pass  # the program was killed
            output = child.stdout.read()
            timer.cancel()
            timer.join()
        if child.returncode == -signal.SIGKILL:
            metrics["deadlocked"] += 100
        else:
            expect(output, content)
        return 1, 1

    yield operation


@contextmanager
def kill(opening: Opening) -> Iterator[Operation]:
    outcome = hash_of(b"")

    def operation(metrics: Metrics) -> tuple[int, int]:
        limit = monotonic() + KILL_AFTER_S
        with Popen(SHELL, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, process_group=0) as child:
            try:
                child.communicate(timeout=max(0, limit - monotonic()))
            except TimeoutExpired:
                killed = monotonic_ns()
                os.killpg(child.pid, signal.SIGKILL)
                output, _ = child.communicate()
        metrics["kill_time"] += monotonic_ns() - killed
        expect(output, b"")
        return outcome + status_of(child.returncode), 1

    yield operation


METRICS = {"read": ["first_byte"], "kill": ["kill_time"], "write_then_read": ["deadlocked"]}
"""The metrics of each case, in addition to leaked resources. Each is the mean over the case's operations."""


def case(prepare: Callable[[Opening], Iterator[Operation]]) -> Callable[[Opening], Iterator[Perform]]:
    """Creates a case in a parent of the requested size. The measured time of a batch ends with its last
    operation; leaked resources are counted afterwards."""

    @contextmanager
    def opened(opening: Opening) -> Iterator[Perform]:
        size = PARENTS.get(opening.text("parent"))
        if size is None:
            raise UnsupportedError(f"expected parent={' or parent='.join(PARENTS)}")
        with prepare(opening) as operation:
            resident = bytearray(b"\1") * size  # written to, so that every page is resident
            before = descriptors()

            def perform(operations: int) -> Work:
                check = units = 0
                sums = dict.fromkeys(METRICS.get(prepare.__name__, []), 0.0)
                span = Latencies()
                span.start()
                for _ in range(operations):
                    value, more = operation(sums)
                    check += value
                    units += more
                span.finish()
                metrics = {name: total / operations for name, total in sums.items()}
                metrics["descriptors"] = descriptors() - before
                metrics["children"] = children()
                return Work(check, units, span, metrics)

            yield perform
            del resident

    return opened


def main() -> None:
    is_forking = sys.argv[1:] == ["fork"]
    subprocess._USE_VFORK = not is_forking  # documented in "Disabling use of vfork() or posix_spawn()"
    name, call = ("python-fork", "fork") if is_forking else ("python", "vfork")
    serve(name, f"subprocess {platform.python_version()}, {call}",
          {prepare.__name__: case(prepare)
           for prepare in (start, fail, read, converse, exchange, write_then_read, kill)})


if __name__ == "__main__":
    main()
