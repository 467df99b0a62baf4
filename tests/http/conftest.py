# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests: a server that runs."""

import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import attack
import servers
from servers import Server, Target


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--attack-for", type=attack.seconds, metavar="TIME",
                     help="attacks at full size, and random requests beside Go's net/http for so long, such as 30m")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "files: needs the folder that is served")
    config.addinivalue_line("markers", "promised: what the RFCs leave to a server, and the library in appserver/ada promises")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test is for each server."""
    if "target" in metafunc.fixturenames:
        metafunc.parametrize("target", servers.targets(), ids=str, scope="session")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that is served at /files."""
    return servers.make_files(tmp_path_factory.mktemp("a folder with blanks & more %"))


@pytest.fixture(scope="session", autouse=True)
def open_files() -> None:
    """Raises the limit of open files to the most, for the tests and the subjects that they start."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@pytest.fixture(scope="session")
def running() -> Iterator[dict[Target, Server]]:
    """Servers that were started for many tests."""
    started: dict[Target, Server] = {}
    yield started
    for server in started.values():
        server.close()


@pytest.fixture(scope="session")
def size(pytestconfig: pytest.Config) -> attack.Size:
    """The size of attacks: they take seconds, unless --attack-for says otherwise."""
    random_s = pytestconfig.getoption("--attack-for")
    return attack.SHORT if random_s is None else attack.full(random_s)


@pytest.fixture(autouse=True)
def possible(request: pytest.FixtureRequest) -> None:
    """Skips what cannot be asked of the target, where a test has one."""
    if "target" not in request.fixturenames:
        return
    target = request.getfixturevalue("target")
    if request.node.get_closest_marker("promised") and not target.promises:
        pytest.skip("the RFCs leave it to a server")
    if request.node.get_closest_marker("files") and target.declared is None:
        pytest.skip("what a server at a URL has in its folder is not known")


@pytest.fixture
def server(target: Target, folder: Path, running: dict[Target, Server]) -> Server:
    """The running server; one that has ended is started again."""
    if target not in running or not running[target].is_usable:
        if target in running:
            running.pop(target).close()
        running[target] = servers.start(target, folder)
    return running[target]


@pytest.fixture
def start(target: Target, folder: Path) -> Iterator[Callable[..., Server]]:
    """Starts a server of the test's own, with further arguments of `open`."""
    if target.declared is None:
        pytest.skip("a server at a URL cannot be started anew")
    started: list[Server] = []

    def run(*arguments: str, **settings: object) -> Server:
        started.append(servers.start(target, folder, *arguments, **settings))
        return started[-1]

    yield run
    for server in started:
        server.close()
