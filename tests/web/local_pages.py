# SPDX-License-Identifier: Apache-2.0
"""Runs, and the pages of `benchlab serve` over them."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LAB = Path(__file__).resolve().parents[2] / "target/debug/benchlab"

TIMEOUT_MS = 60_000
"""The time within which a page must show what is expected, on a busy machine."""


@dataclass
class Served:
    """A directory of runs and its pages."""

    runs: Path
    url: str
    token: str

    @property
    def url_with_token(self) -> str:
        return f"{self.url}?token={self.token}"

    def names(self) -> list[str]:
        return sorted(path.stem for path in self.runs.glob("*.lab"))


@dataclass
class BrowserLog:
    """The URLs that a browser loaded, and its errors and messages."""

    loaded: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


def compare(runs: Path, name: str, *more: str) -> subprocess.Popen:
    words = [LAB, "compare", "--runs", runs, "--as", name, "--redo", "0", *more, "true", "sh -c true"]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def serve(runs: Path) -> Iterator[Served]:
    words = [LAB, "serve", "--runs", runs, "--port", "0"]
    server = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    assert server.stderr
    lines = (line.strip() for line in server.stderr)
    url, _, token = next(line for line in lines if line.startswith("http://")).partition("?token=")
    yield Served(runs, url, token)
    server.terminate()
    assert server.wait() == 0, "benchlab serve must exit with status 0 after SIGTERM"
