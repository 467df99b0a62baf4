# SPDX-License-Identifier: Apache-2.0
"""A subject whose case echo shows what the kit gave it, and prints what it should not."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from lab_kit import Opening, Perform, UnsupportedError, Work, serve


@contextmanager
def echo(opening: Opening) -> Iterator[Perform]:
    if opening.text("text") == "unsupported":
        raise UnsupportedError("this text is not supported")
    opening.settings["text"] = opening.text("text")
    fail_at = opening.integer("fail_at", 0, 1000)

    def perform(operations: int) -> Work:
        print("@lab torn", end="")
        os.write(1, b"@lab torn")
        if 0 < fail_at <= operations:
            raise ValueError(f"operation {fail_at} failed")
        return Work(sum(opening.inputs[k % 4096] for k in range(operations)), 2 * operations)

    yield perform
    print("echo was closed", file=sys.stderr, flush=True)


serve("echo", "no library 1.0", {"echo": echo})
