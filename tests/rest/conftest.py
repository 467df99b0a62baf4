# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests: a subject that is serving."""

import random
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments import Declared
from server import PATIENT_CLOSE_S, Server, is_built, rest_subjects, started

FILES = {"64k.bin": 65_536, "short.bin": 100, "empty.bin": 0}


def pytest_configure() -> None:
    """Raises the limit of open files as far as the system allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs all tests of a subject before the next subject is started."""
    if "declared" in metafunc.fixturenames:
        metafunc.parametrize("declared", rest_subjects(), ids=str, scope="session")


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Creates the directory that is served; next to it is a directory that must not be served."""
    folder = tmp_path_factory.mktemp("rest")
    (folder / "secret.bin").write_text("a secret")
    files = folder / "files"
    files.mkdir()
    numbers = random.Random(1)
    for name, size in FILES.items():
        (files / name).write_bytes(numbers.randbytes(size))
    return files


@pytest.fixture(scope="session")
def running(declared: Declared, files: Path) -> Iterator[list[Server]]:
    """The subject's process: one for all tests, unless a test ends it."""
    servers: list[Server] = []
    yield servers
    for server in servers:
        server.subject.kill()


def skip_unless_built(declared: Declared) -> None:
    if not is_built(declared):
        pytest.skip("the subject is not built; build it with: " + "; ".join(" ".join(command) for command in declared.build))


@pytest.fixture
def server(declared: Declared, files: Path, running: list[Server]) -> Server:
    """Returns the subject while it is serving."""
    skip_unless_built(declared)
    if not running or not running[-1].subject.is_usable:
        running.append(Server(started(declared), files))
    elif not running[-1].is_listening():
        running[-1].open()
    return running[-1]


@pytest.fixture
def patient_server(declared: Declared, files: Path) -> Iterator[Server]:
    """Starts the subject with a long timeout for requests in progress, so that tests also pass on a busy machine.
    The library in appserver/ada is not affected; its timeout is 4 s."""
    skip_unless_built(declared)
    subject = started(declared, CLOSE_TIMEOUT_S=str(PATIENT_CLOSE_S))
    try:
        yield Server(subject, files)
    finally:
        subject.kill()
