# SPDX-License-Identifier: Apache-2.0
"""What the tests begin with: a running subject, and an empty folder for databases."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments import ROOT, Declared
from subject import Subject


@pytest.fixture
def folder() -> Iterator[Path]:
    """In memory where there is such a place: a transaction then does not wait for a disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as path:
        yield Path(path)


@pytest.fixture
def subject(declared: Declared) -> Iterator[Subject]:
    """The running subject; a program that is not built is an error."""
    program = declared.program[0]
    if not (ROOT / program).exists() and not shutil.which(program):
        build = "\n".join(" ".join(command) for command in declared.build)
        raise FileNotFoundError(f"{program} is not there; build it with\n{build}")
    with Subject(declared.program, str(ROOT)) as running:
        yield running
