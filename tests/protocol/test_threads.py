# SPDX-License-Identifier: Apache-2.0
"""docs/protocol.md: a subject replies to each command, also if it cannot start the threads of a case."""

import re
import resource
from pathlib import Path

import pytest

from experiments import ROOT, Declared, declared_subjects, read_experiments
from subject import Subject

LANGUAGES = {"Ada", "C", "Python", "Rust"}
"""The languages whose threads are threads of the kernel, and whose runtime survives a lack of memory."""

FREE = 48 << 20
"""The address space that is left for new threads, in bytes."""


def subjects() -> list[Declared]:
    languages = {subject["name"]: subject["language"] for subject in read_experiments().get("counter", {}).get("subject", [])}
    return [declared for declared in declared_subjects()
            if declared.experiment == "counter" and languages[declared.name] in LANGUAGES and declared.has("increment")]


@pytest.mark.parametrize("declared", subjects(), ids=str)
def test_threads_that_cannot_be_started_are_an_error(declared: Declared) -> None:
    subject = Subject(declared.program, ROOT)
    try:
        _, hard = resource.prlimit(subject.pid, resource.RLIMIT_AS)
        resource.prlimit(subject.pid, resource.RLIMIT_AS, (address_space(subject.pid) + FREE, hard))
        for _ in range(2):
            assert subject.ask_for_error("open case=increment scheme=atomic threads=256 seed=7") == "failed"
        resource.prlimit(subject.pid, resource.RLIMIT_AS, (hard, hard))
        subject.ask_for("opened", "open case=increment scheme=atomic threads=256 seed=7")
        assert subject.ask_for("ran", "run operations=1000").number("units") == 1000
        subject.ask_for("closed", "close")
    finally:
        subject.kill()


def address_space(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(re.search(r"^VmSize:\s+(\d+) kB$", status, re.MULTILINE)[1])
