# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests: a running subject, and the database of its target."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from databases import SERVERS, Database, Server, SQLite, server_uri
from experiments import ROOT, Declared, missing_library, tables
from subject import Subject


@pytest.fixture
def folder() -> Iterator[Path]:
    """Uses a directory in memory if possible, so that a transaction does not wait for a disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as path:
        yield Path(path)


@pytest.fixture(scope="session")
def servers() -> Iterator[dict[str, Server]]:
    """The databases in use, by target. Their tables are created once, because this takes longer than a test."""
    in_use: dict[str, Server] = {}
    yield in_use
    for server in in_use.values():
        server.close()


@pytest.fixture
def database(declared: Declared, folder: Path, servers: dict[str, Server]) -> Database:
    """Returns a new SQLite database with an empty test_simple, or the database of all tests on the server."""
    target = declared.target
    if target == "sqlite":
        return SQLite(folder / "a name with blanks & more %.db", tables(declared))
    if target not in servers:
        uri = server_uri(target)
        if uri is None:
            pytest.skip(f"set LAB_{target.upper()} to the target of a server to test with, "
                        f"as in experiments/sql/README.md")
        servers[target] = SERVERS[target](uri, f"lab_test_{os.getpid()}", tables(declared))
    return servers[target]


@pytest.fixture(scope="session")
def running() -> Iterator[Callable[[Declared], Subject]]:
    """Returns a function that starts a subject, or restarts it if it has ended: most tests need no new
    process."""
    subjects: dict[Declared, Subject] = {}

    def run(declared: Declared) -> Subject:
        subject = subjects.get(declared)
        if subject is None or not subject.is_usable:
            if subject is not None:
                subject.kill()
            subject = subjects[declared] = Subject(declared.program, ROOT)
        return subject

    yield run
    for subject in subjects.values():
        subject.kill()


@pytest.fixture
def subject(declared: Declared, running: Callable[[Declared], Subject]) -> Iterator[Subject]:
    """Returns the running subject, without an open case; a program that is not built is an error."""
    if missing := missing_library(declared):
        pytest.skip(f"not installed: {missing}")
    program = declared.program[0]
    if not (ROOT / program).exists() and not shutil.which(program):
        build = "\n".join(" ".join(command) for command in declared.build)
        raise FileNotFoundError(f"{program} is missing; build it with\n{build}")
    subject = running(declared)
    yield subject
    if subject.is_usable:
        subject.ask("close")
