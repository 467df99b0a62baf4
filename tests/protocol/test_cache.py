# SPDX-License-Identifier: Apache-2.0
"""experiments/cache/README.md: the unsynchronized map is the upper limit for reads, and no case writes to it."""

import pytest

from experiments import Declared, declared_subjects
from subject import Subject

SUBJECTS = [subject for subject in declared_subjects() if subject.experiment == "cache"]

WRITING = ("read_mostly threads=2 reads=99", "read_mostly threads=1 reads=90", "write entries=100", "wait", "lost threads=2")


@pytest.mark.parametrize("declared", SUBJECTS, ids=str)
@pytest.mark.parametrize("case", WRITING)
def test_the_unsynchronized_map_is_for_reading_only(declared: Declared, subject: Subject, case: str) -> None:
    command = f"open case={case} scheme=unsynchronized seed=7"
    assert subject.ask_for_error(command) == "unsupported"
    subject.ask_for("opened", "open case=noop seed=7")
