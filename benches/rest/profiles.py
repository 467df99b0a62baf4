# SPDX-License-Identifier: Apache-2.0
"""Code shared by the scripts in this directory: runs a subject of the experiment `rest` on a core of its own, and
sends load to it."""

import argparse
import json
import resource
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / "benches" / "load"), str(ROOT / "tests" / "protocol")]

import bench  # noqa: E402
from bench import Failure  # noqa: E402
from experiments import declared_subjects  # noqa: E402
from subject import ProtocolError, Subject  # noqa: E402

LAB = ROOT / "target" / "release" / "benchlab"
PROFILES = ("ada-embedded", "ada-server", "ada-rest")


@dataclass
class Served:
    """A server that is running."""

    name: str
    url: str
    pid: int

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.url)
        return parts.hostname, parts.port

    @property
    def threads(self) -> int:
        return len(list(Path(f"/proc/{self.pid}/task").iterdir()))

    @property
    def cpu_s(self) -> float:
        """Returns the CPU time of the existing threads. A server keeps its threads."""
        return sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{self.pid}/task").iterdir()) / 1e9


@contextmanager
def serving(name: str, core: int, workers: int = 8) -> Iterator[Served]:
    """Runs the subject of this name, from `open` to `close`."""
    programs = {subject.name: subject.program for subject in declared_subjects() if subject.experiment == "rest"}
    if name not in programs:
        raise Failure(f"no subject of the experiment rest is called {name}; the subjects are {', '.join(programs)}")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "64k.bin").write_bytes(bytes(range(256)) * 256)
        try:
            subject = Subject(["taskset", "-c", str(core), *programs[name]], ROOT)
        except (OSError, ProtocolError) as error:
            raise Failure(f"cannot start {name}: {error}") from error
        try:
            opened = subject.ask_for("opened", f"open case=serve workers={workers} files={quote(folder)} seed=1")
            yield Served(name, opened.arguments["url"], subject.pid)
            subject.ask_for("closed", "close")
            subject.quit()
        finally:
            subject.kill()


@dataclass
class Said:
    """The load generator's report of a turn."""

    served: int
    errors: int
    cpu_s: float
    """The server's CPU time in this turn."""


def load(server: Served, core: int, connections: int, seconds: float, path: str = "/api") -> Said:
    """Runs a closed loop against the server."""
    with tempfile.TemporaryDirectory() as folder:
        export = Path(folder) / "load.json"
        before = server.cpu_s
        bench.measure([LAB, "load", server.url + path, "--connections", connections, "--for", f"{seconds:g}s", "--runs", folder,
                       "--export", export], core, limit_s=seconds + 60)
        rows = json.loads(export.read_text())["rows"]
        counts = {row["metric"]["id"]: int(row["value"]["value"]) for row in rows if row["metric"]["id"] in ("served", "errors")}
        return Said(counts["served"], counts["errors"], server.cpu_s - before)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that all scripts have."""
    parser.add_argument("--cores", type=lambda text: [int(core) for core in text.split(",")], default=[0, 1],
                        help="core of the clients and of the server [default: 0,1]")
    parser.add_argument("--quick", action="store_true", help="a short trial, whose results must not be quoted")
    parser.add_argument("--output", type=Path, help="a file that the section is appended to")


def parse(parser: argparse.ArgumentParser, quick: dict[str, object]) -> argparse.Namespace:
    """Returns the arguments. With --quick, the values in `quick` replace the given arguments. Raises the limit of open
    files."""
    args = parser.parse_args()
    if args.quick:
        vars(args).update(quick)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return args
