# SPDX-License-Identifier: Apache-2.0
"""An honest subject whose check value is the content of a file. The argument is the file."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "kits/python/src"))

from lab_kit import Opening, Perform, Work, serve  # noqa: E402

VALUE = int(Path(sys.argv[1]).read_text())


@contextmanager
def value(_: Opening) -> Iterator[Perform]:
    yield lambda operations: Work(VALUE, operations)


if __name__ == "__main__":
    serve("by_file", "none", {"value": value})
