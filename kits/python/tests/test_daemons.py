# SPDX-License-Identifier: Apache-2.0
"""Tests servers that a subject starts: they respond, and end with the subject, however it exits.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lab_kit.daemons import Daemons, is_open

SERVER = "import http.server, sys; http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1]))," \
         " http.server.SimpleHTTPRequestHandler).serve_forever()"

SUBJECT = f"""
import sys, time
from lab_kit.daemons import Daemons, is_open
with Daemons() as daemons:
    port, pid = daemons.listen(lambda port: daemons.start(
        [sys.executable, "-c", {SERVER!r}, str(port)], lambda: is_open(port)))
    print(port, pid, daemons.folder, flush=True)
    time.sleep(3600)
"""


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def interpreter() -> list[str | Path]:
    """Returns the command of a server, in a Python that an unprivileged user may start."""
    return ["/usr/bin/python3", "-c", SERVER]


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("start", ["'/usr/bin/python3'", "'/usr/bin/setsid', '/usr/bin/python3'"])
def test_what_a_killed_subject_leaves_is_ended(start: str, frozen: bool) -> None:
    """Tests that servers end after their subject has been killed: an ordinary server, and a server that creates
    its own process group, as php-fpm does."""
    text = SUBJECT.replace("sys.executable", start)
    subject = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True,
                               start_new_session=True,
                               env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    port, pid, folder = subject.stdout.readline().split()
    assert is_open(int(port)) and Path(folder).is_dir()
    if frozen:
        os.killpg(subject.pid, signal.SIGSTOP)
    subject.kill()
    subject.wait()
    subject.stdout.close()
    # The port is open until the last thread of the process has exited.
    until(lambda: has_ended(int(pid)) and not Path(folder).exists() and not is_open(int(port)))


def test_all_is_gone_at_the_end_of_the_block() -> None:
    with Daemons() as daemons:
        port, pid = daemons.listen(lambda port: daemons.start([*interpreter(), str(port)], lambda: is_open(port)))
        if os.geteuid() == 0:
            assert os.stat(f"/proc/{pid}").st_uid != 0
        folder = daemons.folder
    assert has_ended(pid) and not folder.exists() and not is_open(port)


def test_a_program_that_ends_is_an_error_with_its_log() -> None:
    with Daemons() as daemons, pytest.raises(RuntimeError, match="status 3\nno such luck"):
        script = "echo no such luck; exit 3"
        daemons.start(["/bin/sh", "-c", script], lambda: False)


def test_a_port_that_another_has_is_tried_no_more() -> None:
    refused_ports: list[int] = []

    def begin(port: int) -> int:
        if len(refused_ports) < 2:
            others.append(daemons.start([*interpreter(), str(port)], lambda: is_open(port)))
            refused_ports.append(port)
            raise RuntimeError("the port is taken")
        return daemons.start([*interpreter(), str(port)], lambda: is_open(port))

    others: list[int] = []
    with Daemons() as daemons:
        port, pid = daemons.listen(begin)
        assert port not in refused_ports and not has_ended(pid) and len(others) == 2
