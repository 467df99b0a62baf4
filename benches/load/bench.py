# SPDX-License-Identifier: Apache-2.0
"""Code shared by the scripts in this directory: runs programs on one core and ends them reliably, starts the server,
and computes intervals and tables."""

import argparse
import ctypes
import json
import math
import os
import resource
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "load"
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


class Failure(Exception):
    """Raised if a program failed or returned something unexpected."""


@dataclass
class Done:
    """The result of a program: its output and its resource usage, which includes the usage of the children that it
    waited for."""

    output: str
    wall_s: float
    cpu_s: float
    peak_bytes: int
    own_bytes: int
    """The peak of the memory that is not backed by files, which excludes the mapped program and its libraries."""
    memory: list[tuple[float, int]] = field(default_factory=list)
    """Resident bytes, with the times in seconds since the start."""


def measure(command: list[object], core: int, limit_s: float, look_s: float = 0.05) -> Done:
    """Runs a program on a core to its end, and samples its memory at this interval. Kills it after the limit."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        began = time.monotonic()
        process = start(command, core, stdout=output, stderr=errors)
        ended = os.pidfd_open(process.pid)
        memory, peak, most_own = [], 0, 0
        try:
            while not select.select([ended], [], [], look_s)[0]:
                resident, highest, own = memory_of(process.pid)
                memory.append((time.monotonic() - began, resident))
                peak, most_own = max(peak, highest), max(most_own, own)
                if time.monotonic() - began > limit_s:
                    raise Failure(f"{command[0]} did not exit within {limit_s:.0f} s")
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            os.close(ended)
            if process.returncode is None:
                process.kill()
                process.wait()
        wall = time.monotonic() - began
        output.seek(0)
        errors.seek(0)
        said = output.read()
        if process.returncode != 0:
            last = "\n".join((said + errors.read()).strip().splitlines()[-5:])
            raise Failure(f"{command[0]} exited with status {process.returncode}: {last}")
        return Done(said, wall, used.ru_utime + used.ru_stime, peak, most_own, memory)


def start(command: list[object], core: int, **options) -> subprocess.Popen:
    """Starts a program on a core. It is killed when this script ends for any reason."""

    def become() -> None:
        os.sched_setaffinity(0, {core})
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    return subprocess.Popen([str(word) for word in command], preexec_fn=become, stdin=subprocess.DEVNULL, **options)


def memory_of(pid: int) -> tuple[int, int, int]:
    """Returns the resident bytes of a process, its peak, and the resident bytes without files; all are 0 if the process
    has ended. rusage is not used, because its peak includes the memory of the parent before exec."""
    try:
        with open(f"/proc/{pid}/status") as status:
            sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in status if line.endswith(" kB\n")}
    except ProcessLookupError:
        sizes = {}
    return sizes.get("VmRSS", 0), sizes.get("VmHWM", 0), sizes.get("RssAnon", 0)


class Server:
    """The server in this directory, while it is running."""

    def __init__(self, process: subprocess.Popen):
        self.process = process
        first = self._line()
        self.port: int = first["port"]
        self.start_s: float = first["start_ns"] / 1e9

    def told(self) -> dict[str, int]:
        """Returns the server's counts so far: answered, accepted, open, most_open."""
        self.process.send_signal(signal.SIGUSR1)
        return self._line()

    def _line(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise Failure("the server exited unexpectedly")
        return json.loads(line)


@contextmanager
def server(core: int, *options: object, through: Iterable[object] = ()) -> Iterator[Server]:
    """Runs a server on a core of its own; `through` is a command that executes it, such as `ip netns exec
    NAME`."""
    process = start([*through, BUILD / "server", *options], core, stdout=subprocess.PIPE, text=True)
    try:
        yield Server(process)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def build() -> None:
    """Builds the bare client and the server, and raises the limit of open files as far as possible."""
    subprocess.run(["make", "-s", "-C", Path(__file__).parent], check=True)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@dataclass
class Interval:
    """A median with its confidence interval at the confidence level `level`."""

    estimate: float
    low: float
    high: float
    level: float

    def text(self, digits: int) -> str:
        return f"{self.estimate:.{digits}f} ({self.low:.{digits}f} to {self.high:.{digits}f})"


def median(values: Iterable[float], level: float = 0.95) -> Interval:
    """Returns the median with its order-statistic interval (Conover, Practical Nonparametric Statistics): the narrowest
    interval with at least this confidence level, or the widest interval if there are too few values."""
    ordered = sorted(values)
    n = len(ordered)

    def outside(rank: int) -> float:
        """Returns the probability that the median lies below the value of this rank, or above its mirrored
        rank."""
        return 2 * sum(math.comb(n, k) for k in range(rank)) / 2**n

    rank = max([r for r in range(1, (n + 1) // 2 + 1) if outside(r) <= 1 - level], default=1)
    return Interval(statistics.median(ordered), ordered[rank - 1], ordered[n - rank], max(0.0, 1 - outside(rank)))


def quantile(values: list[float], part: float) -> float:
    """Returns the smallest value that this fraction of all values does not exceed."""
    return sorted(values)[max(0, math.ceil(part * len(values)) - 1)]


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """Returns a Markdown table: the first column is text, and the other columns are numbers."""
    lines = [head, ["---"] + ["--:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def paragraph(text: str) -> str:
    """Returns the words wrapped as in this project's pages."""
    return textwrap.fill(" ".join(text.split()), 118, break_long_words=False, break_on_hyphens=False)


def machine() -> str:
    """Returns a description of the machine."""
    facts = dict(line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().splitlines() if ":" in line)
    facts = {key.strip(): value.strip() for key, value in facts.items()}
    kernel = ".".join(os.uname().release.split(".")[:2])
    control = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()
    virtual = ", a virtual machine" if "hypervisor" in facts.get("flags", "").split() else ""
    return f"{os.cpu_count()} cores of {facts.get('model name', os.uname().machine)}, Linux {kernel} with {control}{virtual}"


def busy() -> str:
    """Returns a warning if other processes use this machine; otherwise an empty text."""
    before = _ticks()
    time.sleep(2)
    all_, idle = (now - then for now, then in zip(_ticks(), before))
    part = 1 - idle / all_
    return f"**Other processes used {part:.0%} of the cores at the beginning: do not quote these results.**\n\n" if part > 0.05 else ""


def _ticks() -> tuple[int, int]:
    """Returns the ticks of all cores: the total, and the idle ticks, which include the ticks spent waiting for a disk."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return sum(ticks), ticks[3] + ticks[4]


def verdict(name: str, value: float, limit: float, unit: str = "", at_most: bool = True, digits: int = 2) -> str:
    """Returns a line that says whether an aim was reached."""
    reached = value <= limit if at_most else value >= limit
    return (f"- {name}: {value:.{digits}f}{unit}, aim {'at most' if at_most else 'at least'} {limit:g}{unit}: "
            f"{'reached' if reached else '**not reached**'}")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that all scripts have."""
    parser.add_argument("--only", type=lambda text: text.split(","), default=[],
                        help="generators whose names begin with these words")
    parser.add_argument("--cores", type=lambda text: [int(core) for core in text.split(",")], default=[0, 1],
                        help="core of the generator and of the server [default: 0,1]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a short trial, whose results must not be quoted")
    parser.add_argument("--output", type=Path, help="a file that the section is appended to")


def parse(parser: argparse.ArgumentParser, quick: dict[str, object]) -> argparse.Namespace:
    """Returns the arguments. With --quick, the values in `quick` replace the given arguments. Builds the programs that
    the script needs."""
    args = parser.parse_args()
    if len(args.cores) != 2 or not set(args.cores) <= os.sched_getaffinity(0):
        parser.error("--cores needs two cores that this script may use, such as 0,1")
    if args.quick:
        vars(args).update(quick)
    build()
    return args


def publish(args: argparse.Namespace, section: str) -> None:
    """Prints a section, and appends it to the file in --output."""
    print(section)
    if args.output:
        with args.output.open("a") as page:
            page.write("\n" + section)


def run(main: Callable[[], None]) -> None:
    """Runs a script's main function. When it ends for any reason, all programs that it started are ended."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except Failure as failure:
        sys.exit(f"error: {failure}")
