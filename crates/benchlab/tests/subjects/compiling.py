# SPDX-License-Identifier: Apache-2.0
"""Computes. With the argument `compiling` a helper thread is at work meanwhile, as one is that compiles.
With `slow` each operation takes 50 ms."""

import hashlib
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "kits/python/src"))

from lab_kit import Opening, Perform, Work, serve  # noqa: E402

NAME = sys.argv[1]


@contextmanager
def compute(_: Opening) -> Iterator[Perform]:
    def perform(operations: int) -> Work:
        for _ in range(operations):
            hashlib.sha256(b"benchlab")
            if NAME == "slow":
                time.sleep(0.05)
        return Work(operations, operations)

    yield perform


def help_out() -> None:
    block = bytes(1 << 24)
    while True:
        # Python runs other threads meanwhile.
        hashlib.sha256(block)


if __name__ == "__main__":
    if NAME == "compiling":
        threading.Thread(target=help_out, daemon=True).start()
    serve(NAME, "none", {"compute": compute})
