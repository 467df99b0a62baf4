# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests: a running server."""

import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import attack
import servers
from servers import Server, Target


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--attack-for", type=attack.seconds, metavar="TIME",
                     help="runs attacks at full size, and compares random requests with Go's net/http for this time, such as 30m")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "files: needs the served directory")
    config.addinivalue_line("markers", "promised: behavior that the RFCs leave to servers and the library in appserver/ada guarantees")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs every test for each server."""
    if "target" in metafunc.fixturenames:
        metafunc.parametrize("target", servers.targets(), ids=str, scope="session")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Creates the directory that is served at /files."""
    return servers.make_files(tmp_path_factory.mktemp("a folder with blanks & more %"))


@pytest.fixture(scope="session", autouse=True)
def open_files() -> None:
    """Raises the limit of open files to its maximum, for the tests and the subjects that they start."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@pytest.fixture(scope="session")
def running() -> Iterator[dict[Target, Server]]:
    """Servers that many tests share."""
    started: dict[Target, Server] = {}
    yield started
    for server in started.values():
        server.close()


@pytest.fixture(scope="session")
def size(pytestconfig: pytest.Config) -> attack.Size:
    """Returns the size of attacks: they take seconds, unless --attack-for is given."""
    random_s = pytestconfig.getoption("--attack-for")
    return attack.SHORT if random_s is None else attack.full(random_s)


@pytest.fixture(autouse=True)
def possible(request: pytest.FixtureRequest) -> None:
    """Skips a test that has a target but does not apply to this target."""
    if "target" not in request.fixturenames:
        return
    target = request.getfixturevalue("target")
    if request.node.get_closest_marker("promised") and not target.promises:
        pytest.skip("the RFCs leave this behavior to the server")
    if request.node.get_closest_marker("files") and target.declared is None:
        pytest.skip("the files of a server at a URL are unknown")


@pytest.fixture
def server(target: Target, folder: Path, running: dict[Target, Server]) -> Server:
    """Returns the running server; a server that has ended is started again."""
    if target not in running or not running[target].is_usable:
        if target in running:
            running.pop(target).close()
        running[target] = servers.start(target, folder)
    return running[target]


@pytest.fixture
def start(target: Target, folder: Path) -> Iterator[Callable[..., Server]]:
    """Returns a function that starts a separate server for a test, with further arguments of `open`."""
    if target.declared is None:
        pytest.skip("a server at a URL cannot be restarted")
    started: list[Server] = []

    def run(*arguments: str, **settings: object) -> Server:
        started.append(servers.start(target, folder, *arguments, **settings))
        return started[-1]

    yield run
    for server in started:
        server.close()
