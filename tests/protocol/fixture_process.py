# SPDX-License-Identifier: Apache-2.0
"""A fixture of an experiment as a process that is asked over the protocol."""

import subprocess
from typing import Any
from urllib.parse import unquote

from experiments import ROOT
from subject import TIMEOUT_S


class FixtureProcess:
    """A running fixture, as an experiment declares it."""

    def __init__(self, declared: dict[str, Any]) -> None:
        self._process = subprocess.Popen(declared["program"], cwd=ROOT, text=True, bufsize=1,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._reply().startswith(f"@lab hello protocol=1 fixture={declared['name']} ")

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, command: str) -> dict[str, str]:
        """Returns the arguments of the reply, with its verb as `verb`."""
        assert self._process.stdin
        self._process.stdin.write(command + "\n")
        verb, *words = self._reply().removeprefix("@lab ").split()
        values = (word.split("=", 1) for word in words)
        return {"verb": verb, **{key: unquote(value) for key, value in values}}

    def end_input(self) -> int:
        assert self._process.stdin
        self._process.stdin.close()
        return self._process.wait(TIMEOUT_S)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def _reply(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline().rstrip("\n")
