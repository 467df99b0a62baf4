# SPDX-License-Identifier: Apache-2.0
"""The cache experiment in Python: dicts with `threading`."""

import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from threading import Event, Thread

from lab_kit import Latencies, Opening, Perform, UnsupportedError, Work, serve, workers
from maps import shared_map
from traces import ZIPF_KEYS, uniform, zipf

THREADS_MAX = 1024

ENTRIES_MAX = 1_000_000
"""The maximum number of entries in the case `write`. The case `wait` always uses this number."""

OLD_KEYS = 1_000
"""The number of keys in the map before an operation of the case `lost`."""
NEW_KEYS = 1_000
"""The number of keys that an operation of the case `lost` adds to the map."""


@contextmanager
def read_only(opening: Opening) -> Iterator[Perform]:
    yield from replay(opening, 100)


@contextmanager
def read_mostly(opening: Opening) -> Iterator[Perform]:
    reads = opening.text("reads")
    if reads not in ("99", "90"):
        raise UnsupportedError(f"expected 99 or 90 % reads, got {reads}")
    yield from replay(opening, int(reads))


def replay(opening: Opening, reads: int) -> Iterator[Perform]:
    entries = shared_map(opening.text("scheme"), ZIPF_KEYS)
    trace = zipf(opening.inputs, reads)

    def share(operations: range, _: Latencies) -> Work:
        check = 0
        get, put = entries.get, entries.put
        for k in operations:
            key, reads = trace[k % 4096]
            if reads:
                check += get(key)
            else:
                put(key, key + 1)
        return Work(check, len(operations))

    with workers([share] * opening.integer("threads", 1, THREADS_MAX)) as perform:
        yield perform


@contextmanager
def write(opening: Opening) -> Iterator[Perform]:
    count = opening.integer("entries", 1, ENTRIES_MAX)
    entries = shared_map(opening.text("scheme"), count)
    keys = uniform(opening.inputs, count)

    def perform(operations: int) -> Work:
        """Replaces entries. The check is the sum of the values written, plus the value found for the last key."""
        check = key = 0
        for k in range(operations):
            key = keys[k % 4096]
            entries.put(key, key + 1)
            check += key + 1
        return Work(check + entries.get(key), operations)

    yield perform


@contextmanager
def wait(opening: Opening) -> Iterator[Perform]:
    """Measures reads by one thread while another one writes continuously."""
    entries = shared_map(opening.text("scheme"), ENTRIES_MAX)
    keys = uniform(opening.inputs, ENTRIES_MAX)

    def read(operations: range, latencies: Latencies) -> Work:
        check = 0
        for k in operations:
            check += entries.get(keys[k % 4096])
            latencies.lap()
        return Work(check, len(operations))

    def write_until(over: Event, begun: Event) -> None:
        begun.set()
        for key in cycle(keys):
            if over.is_set():
                return
            entries.put(key, key + 1)

    with workers([read]) as batch:
        def perform(operations: int) -> Work:
            over, begun = Event(), Event()
            writer = Thread(target=write_until, args=(over, begun))
            reset_peak()
            writer.start()
            try:
                begun.wait()
                work = batch(operations)
            finally:
                over.set()
                writer.join()
            return work._replace(metrics={"peak": peak()})

        yield perform


def reset_peak() -> None:
    """Resets the peak resident set size to the current size (proc(5), clear_refs)."""
    Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """Returns the peak resident set size in bytes."""
    found = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    if found is None:
        raise LookupError("the system does not report VmHWM")
    return 1024 * int(found[1])


@contextmanager
def lost(opening: Opening) -> Iterator[Perform]:
    """Measures lost entries: threads put 1,000 new keys into a map that already has 1,000 entries."""
    scheme = opening.text("scheme")
    entries = shared_map(scheme, OLD_KEYS)

    def put_new_keys(operations: range, _: Latencies) -> Work:
        for k in operations:
            entries.put(OLD_KEYS + k, OLD_KEYS + k + 1)
        return Work(0, len(operations))

    with workers([put_new_keys] * opening.integer("threads", 1, THREADS_MAX)) as batch:
        def perform(operations: int) -> Work:
            """Measures lost entries. For a safe scheme the check is the number of entries found. The metric is
            the number of missing entries per 1,000."""
            nonlocal entries
            found = 0
            for _ in range(operations):
                entries = shared_map(scheme, OLD_KEYS)
                batch(NEW_KEYS)
                found += len(entries) - OLD_KEYS
            put = operations * NEW_KEYS
            return Work(found if entries.is_safe else put, put,
                        metrics={"lost": (put - found) / operations})

        yield perform


def main() -> None:
    serve("python", f"dict and threading, Python {platform.python_version()}",
          {"read_only": read_only, "read_mostly": read_mostly, "write": write, "wait": wait, "lost": lost},
          one_thread=False)


if __name__ == "__main__":
    main()
