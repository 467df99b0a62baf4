"""The subject in Python. benchlab starts it and sends it commands."""

from collections.abc import Iterator
from contextlib import contextmanager

from lab_kit import Opening, Perform, Work, serve


@contextmanager
def fnv_hash(opening: Opening) -> Iterator[Perform]:
    """The FNV-1a hash of n bytes."""
    # This prepares the case, and is not timed.
    size = opening.integer("n", 1, 1 << 20)
    inputs = bytes(value & 0xFF for value in opening.inputs)
    data = bytearray(inputs[i % len(inputs)] for i in range(size))

    def perform(operations: int) -> Work:
        # This does the operations, and is timed.
        check = 0
        for k in range(operations):
            data[0] = inputs[k % len(inputs)]
            total = 2166136261
            for byte in data:
                total = (total ^ byte) * 16777619 & 0xFFFFFFFF
            check += total
        # The sum of all values that the work produced, the same in all subjects, and the number of bytes.
        return Work(check, units=operations * size)

    yield perform


serve("{{subject}}", "FNV-1a", {"hash": fnv_hash})
