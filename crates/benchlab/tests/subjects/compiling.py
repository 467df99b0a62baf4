# SPDX-License-Identifier: Apache-2.0
"""A subject that computes. With the argument `compiling`, a helper thread works at the same time, like a JIT compiler.
With `slow`, each operation takes 50 ms. With `slowly_compiling`, each operation takes 50 ms, and two helper threads
work until the process has performed 60 operations."""

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

done = 0


@contextmanager
def compute(_: Opening) -> Iterator[Perform]:
    def perform(operations: int) -> Work:
        global done
        for _ in range(operations):
            hashlib.sha256(b"benchlab")
            if NAME == "slow":
                time.sleep(0.05)
            if NAME == "slowly_compiling":
                work_until(time.monotonic() + 0.05)
            done += 1
        return Work(operations, operations)

    yield perform


def work_until(moment: float) -> None:
    block = bytes(1 << 20)
    while time.monotonic() < moment:
        hashlib.sha256(block)


def help_out() -> None:
    block = bytes(1 << 24)
    while NAME == "compiling" or done < 60:
        # Python runs other threads meanwhile.
        hashlib.sha256(block)


if __name__ == "__main__":
    for _ in range({"compiling": 1, "slowly_compiling": 2}.get(NAME, 0)):
        threading.Thread(target=help_out, daemon=True).start()
    serve(NAME, "none", {"compute": compute})
