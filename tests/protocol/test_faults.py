# SPDX-License-Identifier: Apache-2.0
"""The fixture of experiments/retry: it locks SQLite files, and puts proxies in front of servers. Whole runs with it are
in crates/benchlab/tests/cli/calls.rs."""

import socket
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from experiments import read_experiments
from fixture_process import FixtureProcess

DECLARED = read_experiments().get("retry", {}).get("fixture", [])


@pytest.fixture
def faults() -> Iterator[FixtureProcess]:
    if not DECLARED:
        pytest.skip("the experiments in BENCHLAB_TEST_EXPERIMENTS do not declare this fixture")
    fixture = FixtureProcess(DECLARED[0])
    assert fixture.ask("open seed=7") == {"verb": "opened"}
    yield fixture
    fixture.end_input()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (x)")
    return path


def writes(path: Path) -> bool:
    """Returns True if a row can be written without waiting for a lock."""
    connection = sqlite3.connect(path, timeout=0)
    try:
        connection.execute("INSERT INTO t VALUES (1)")
        connection.commit()
        return True
    except sqlite3.OperationalError as error:
        assert "locked" in str(error)
        return False
    finally:
        connection.close()


def test_an_outage_of_a_file_is_its_lock(faults: FixtureProcess, file: Path) -> None:
    entered = faults.ask(f"enter visit=1 state=down outage_s=0.5 clients=4 seed=3 target=sqlite:{file}")
    assert entered == {"verb": "entered"}
    # There is no outage while the subject warms up.
    assert faults.ask("begin visit=1") == {"verb": "begun"}
    assert faults.ask("end visit=1 operations=1") == {"verb": "ended"}
    begun = faults.ask("begin visit=1 expected_ns=2500000000")
    assert begun["verb"] == "begun" and begun["down_ns"] == "500000000"
    # It begins in the middle half of the two seconds that the outage leaves.
    assert 500_000_000 <= int(begun["down_after_ns"]) <= 1_500_000_000
    assert writes(file)
    for step in ("stopping", "stopped"):
        assert faults.ask(f"outage visit=1 step={step}") == {"verb": "noted"}
    assert not writes(file)
    for step in ("starting", "started"):
        assert faults.ask(f"outage visit=1 step={step}") == {"verb": "noted"}
    assert writes(file)
    ended = faults.ask("end visit=1 operations=9")
    assert ended.keys() == {"verb", "back"} and float(ended["back"]) > 0


def test_a_lock_ends_with_its_visit(faults: FixtureProcess, file: Path) -> None:
    faults.ask(f"enter visit=1 state=down outage_s=60 seed=3 target=sqlite:{file}")
    faults.ask("begin visit=1 expected_ns=100000000")
    faults.ask("outage visit=1 step=stopped")
    assert not writes(file)
    assert faults.ask("leave visit=1") == {"verb": "left"}
    assert writes(file)


def test_a_busy_file_is_locked_only_while_the_subject_works(faults: FixtureProcess, file: Path) -> None:
    faults.ask(f"enter visit=1 state=busy busy_fraction=1 lock_s=60 clients=1 seed=3 target=sqlite:{file}")
    assert writes(file)
    faults.ask("begin visit=1")
    while writes(file):
        pass
    assert faults.ask("end visit=1 operations=5") == {"verb": "ended"}
    while not writes(file):  # until its thread has noticed
        pass


def serve_one(listener: socket.socket) -> None:
    client, _ = listener.accept()
    while packet := client.recv(4096):
        client.sendall(packet)
    client.close()


def test_a_proxy_is_the_target_of_a_subject(faults: FixtureProcess) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve_one, args=(listener,), daemon=True).start()
    port = listener.getsockname()[1]
    target = quote(f"mariadb://u:p@127.0.0.1:{port}/x", safe="/:")
    entered = faults.ask(f"enter visit=1 state=lost lost_responses=1 seed=3 target={target}")
    own = int(entered["target"].removeprefix("mariadb://u:p@127.0.0.1:").removesuffix("/x"))
    assert own != port
    faults.ask("begin visit=1")
    client = socket.create_connection(("127.0.0.1", own))
    query = b"\x05\0\0\0\x03PING"
    client.sendall(query)
    assert client.recv(100) == query
    assert faults.ask("end visit=1 operations=1")["message"].startswith("the subject sends no visible COMMIT")
    client.sendall(b"\x07\0\0\0\x03COMMIT")
    assert client.recv(100) == b"", "the proxy must drop the response and close the connection"
    assert faults.ask("end visit=1 operations=1") == {"verb": "ended"}


@pytest.mark.parametrize(("arguments", "message"), [
    ("cuts_per_s=0", "cuts_per_s is not a number above 0 and at most 1000"),
    ("lost_responses=1.5", "lost_responses is not a number above 0 and at most 1"),
    ("outage_s=600", "outage_s is not a number above 0 and at most 60"),
    ("busy_fraction=0.1", "lock_s is not a number above 0 and at most 60"),
    ("", "a fault needs exactly one of cuts_per_s, lost_responses, outage_s, busy_fraction"),
    ("outage_s=1 cuts_per_s=1", "a fault needs exactly one of cuts_per_s, lost_responses, outage_s, busy_fraction"),
    ("outage_s=1 answers=1", "expected cuts_per_s, lost_responses, outage_s, busy_fraction, lock_s, got answers"),
])
def test_faults_that_cannot_be(faults: FixtureProcess, arguments: str, message: str) -> None:
    assert faults.ask(f"check state=x {arguments}".strip()) == {"verb": "error", "code": "usage", "message": message}


@pytest.mark.parametrize(("arguments", "message"), [
    ("cuts_per_s=1 target=sqlite:/x", "this fault is for servers only; for a file, use busy_fraction or outage_s"),
    ("busy_fraction=1 lock_s=1 target=mariadb://u:p%4010.0.0.1:1/x", "busy_fraction is for SQLite only"),
    ("cuts_per_s=1 target=mariadb://u:p%40localhost/x%3Fsocket%3D/run/s", "the server has no TCP port"),
    ("cuts_per_s=1", "no faults can be injected into the target ``"),
])
def test_targets_without_such_faults(faults: FixtureProcess, arguments: str, message: str) -> None:
    assert faults.ask(f"enter visit=1 state=x seed=1 {arguments}") == {
        "verb": "error", "code": "unsupported", "message": message}
