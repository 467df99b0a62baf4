# SPDX-License-Identifier: Apache-2.0
"""The programs of experiments/disk and experiments/io-scheduler, in a directory on a disk: each point does the work of
its case and reports its metrics, a modified block is detected, and only shared files remain."""

import itertools
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from experiments import ROOT, Declared, declared_subjects, points, read_experiments
from subject import TIMEOUT_S, Reply, Subject

EXPERIMENTS = {name: read_experiments()[name] for name in ("disk", "io-scheduler")}
SUBJECTS = {declared.name: declared for declared in declared_subjects() if declared.experiment in EXPERIMENTS}

SHARED = {"large", "streamed", "tree", "source", "appended", "written"}
"""The files that all processes of a run share."""

BLOCK = 4096


@pytest.fixture(scope="module")
def shared() -> Iterator[Path]:
    """Creates a directory on a disk; the directory for temporary files may be in memory."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


@pytest.fixture(scope="module", params=["disk", "threads", "none", "ionice", "group-limit"])
def started(request: pytest.FixtureRequest) -> Iterator[tuple[Declared, Subject, str]]:
    """Starts the programs. `threads` is the program for disks without io_uring."""
    declared = SUBJECTS.get("disk" if request.param == "threads" else request.param)
    if declared is None:
        pytest.skip("not selected by BENCHLAB_TEST_SUBJECTS")
    if request.param == "group-limit" and not can_make_groups():
        pytest.skip("no control group on this machine can limit I/O")
    more = ["threads"] if request.param == "threads" else []
    subject = Subject([*declared.program, *more], ROOT)
    yield declared, subject, request.param
    subject.kill()


def opening(case: dict[str, Any], point: dict[str, object], folder: Path) -> str:
    rate = {"rate": case["rate"]} if "rate" in case else {}
    arguments = "".join(f" {key}={value}" for key, value in {**point, **rate}.items())
    return f"open case={case['name']}{arguments} target=folder:{folder} seed=7"


def all_points(declared: Declared) -> Iterator[tuple[dict[str, Any], dict[str, object]]]:
    for case in EXPERIMENTS[declared.experiment]["case"]:
        for point in points(case, None):
            yield case, point


def count(latencies: str) -> int:
    return sum(int(pair.split(":")[1]) for pair in latencies.split(","))


def children(pid: int) -> list[str]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return list(itertools.chain.from_iterable((task / "children").read_text().split() for task in tasks))


def groups() -> tuple[Path, str]:
    """Returns the directory of control groups that limit I/O, and the name of the file with a group's write
    limit."""
    unified = Path("/sys/fs/cgroup/cgroup.controllers")
    has_io = unified.exists() and "io" in unified.read_text().split()
    return (unified.parent, "io.max") if has_io else (unified.parent / "blkio", "blkio.throttle.write_bps_device")


def can_make_groups() -> bool:
    folder, limit = groups()
    group = folder / f"test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        return False
    try:
        if limit == "io.max":
            (folder / "cgroup.subtree_control").write_text("+io")
        return (group / limit).exists()
    except OSError:
        return False
    finally:
        group.rmdir()


def background_speed(subject: Subject) -> float:
    return float(subject.ask_for("ran", "run operations=20").arguments["background_speed"])


def name(pid: str) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


def io_class(pid: str) -> str:
    """Returns the first word of ionice(1)'s output for a process."""
    return subprocess.run(["ionice", "-p", pid], capture_output=True, text=True).stdout.split(":")[0].strip()


class Background(NamedTuple):
    """The limits of a background process."""

    io: str
    """Its I/O class."""
    group: str
    """Its control groups."""
    limits: str
    """The write limit of the subject's own control group."""


def look_at_background(subject: Subject, own_limit: Path) -> Background | None:
    """Returns None if there is no background process, or if it exits while it is examined."""
    # It takes this name when it has its I/O class and its group.
    with suppress(FileNotFoundError, ProcessLookupError):
        for pid in children(subject.pid):
            if name(pid) == "background":
                seen = Background(io_class(pid), Path(f"/proc/{pid}/cgroup").read_text(),
                                  own_limit.read_text() if own_limit.exists() else "")
                return seen if name(pid) == "background" else None
    return None


def background_of_a_run(subject: Subject, own_limit: Path) -> Background:
    """Runs batches until the background process of one of them was seen: on a busy machine, a batch may end before."""
    deadline = time.monotonic() + TIMEOUT_S
    with ThreadPoolExecutor(1) as executor:
        while time.monotonic() < deadline:
            running, seen = executor.submit(subject.ask_for, "ran", "run operations=100"), None
            while seen is None and not running.done():
                seen = look_at_background(subject, own_limit)
                time.sleep(0.01)
            running.result()
            if seen is not None:
                return seen
    raise AssertionError("no batch has a background process")


def replies_while_background_is_killed(subject: Subject) -> Iterator[Reply]:
    """Runs batches and kills their background process. On a busy machine, a batch may end before."""
    deadline = time.monotonic() + TIMEOUT_S
    with ThreadPoolExecutor(1) as executor:
        while time.monotonic() < deadline:
            running = executor.submit(subject.ask, "run operations=100")
            while not running.done():
                with suppress(FileNotFoundError, ProcessLookupError):
                    for pid in children(subject.pid):
                        if name(pid) == "background":
                            os.kill(int(pid), signal.SIGKILL)
                time.sleep(0.01)
            yield running.result()


def test_each_point_does_and_tells_what_its_case_says(started: tuple[Declared, Subject, str], shared: Path) -> None:
    declared, subject, way = started
    for case, point in all_points(declared):
        if way == "threads" and case["name"] != "random_read":
            continue  # the other cases do not depend on it
        if case["name"] != "mixed" and point.get("background") in ("copy", "read"):
            continue  # backgrounds do not depend on the case
        if case["name"] != "mixed" and declared.name in ("ionice", "group-limit"):
            continue  # only their background differs
        opened = subject.ask_for("opened", opening(case, point, shared)).arguments
        if "depth" in point:
            expected = {"pread"} if point["depth"] == "1" else {"threads"} if way == "threads" else {"io_uring", "threads"}
            assert opened["reads"] in expected
        for operations in (1, 3):
            verified = subject.ask_for("verified", f"verify operations={operations}")
            assert (verified.number("check"), verified.number("units")) == (operations, operations), (case, point)
        for operations in (1, 12):
            ran = subject.ask_for("ran", f"run operations={operations}").arguments
            assert (ran["check"], ran["units"]) == (str(operations), str(operations))
            assert count(ran["latencies"]) == operations
            metrics = set(ran) - {"start", "end", "operations", "units", "check", "latencies"}
            if "rate" in case:
                metrics.remove("timeline")
                steps = ran["timeline"].split(",")
                assert len(steps) == 1 + (operations - 1) * 1000 // case["rate"] // 100
                assert all(int(step) > 0 for step in steps)
            assert metrics == set(case.get("metrics", [])), (case["name"], point)
        subject.ask_for("closed", "close")
    entries = {entry.name for entry in shared.iterdir()}
    assert {name for name in entries if not name.startswith("program-")} <= SHARED, entries
    assert not [name for name in entries if name.startswith("program-")], "the subject must remove its copy of the program"
    assert children(subject.pid) == []


def test_the_rate_is_kept(started: tuple[Declared, Subject, str], shared: Path) -> None:
    declared, subject, _ = started
    if declared.experiment != "io-scheduler":
        pytest.skip("the experiment has no rate")
    case = next(case for case in EXPERIMENTS["io-scheduler"]["case"] if case["name"] == "mixed")
    subject.ask_for("opened", opening({**case, "rate": 40}, {"background": "write"}, shared))
    began = time.monotonic()
    speed = background_speed(subject)
    assert time.monotonic() - began >= 19 / 40, "20 operations at 40 per second take at least 19/40 s"
    # A disk that other processes keep busy may write nothing during one of these runs.
    assert speed > 0 or any(background_speed(subject) > 0 for _ in range(20)), "the background must write during the run"
    assert not list(shared.glob("written-*")), "the files of the background must be removed"
    subject.ask_for("closed", "close")


def test_the_background_is_held_back_as_its_subject_says(started: tuple[Declared, Subject, str], shared: Path) -> None:
    declared, subject, _ = started
    if declared.experiment != "io-scheduler":
        pytest.skip("the experiment has no background")
    case = next(case for case in EXPERIMENTS["io-scheduler"]["case"] if case["name"] == "mixed")
    subject.ask_for("opened", opening(case, {"background": "write"}, shared))
    folder, limit = groups()
    own_group = folder / f"benchlab-{subject.pid}"
    io, group, limits = background_of_a_run(subject, own_group / limit)
    assert (io == "idle") == (declared.name == "ionice"), io
    assert (own_group.name in group) == (declared.name == "group-limit"), group
    assert (str(20 << 20) in limits) == (declared.name == "group-limit"), limits
    assert not own_group.exists(), "the control group must be removed"
    subject.ask_for("closed", "close")


def test_a_background_that_ends_is_an_error(started: tuple[Declared, Subject, str], shared: Path) -> None:
    declared, subject, _ = started
    if declared.experiment != "io-scheduler":
        pytest.skip("the experiment has no background")
    case = next(case for case in EXPERIMENTS["io-scheduler"]["case"] if case["name"] == "mixed")
    subject.ask_for("opened", opening(case, {"background": "write"}, shared))
    assert any(reply.verb == "error" for reply in replies_while_background_is_killed(subject))
    subject.ask_for("ran", "run operations=20")
    subject.ask_for("closed", "close")


def test_what_a_case_cannot_be_opened_with(started: tuple[Declared, Subject, str], shared: Path) -> None:
    declared, subject, _ = started
    for case, point in all_points(declared):
        for factor in case.get("factor", {}):
            command = opening(case, point | {factor: "nonsense"}, shared)
            assert subject.ask_for_error(command) == "unsupported", command
        for folder in ("sqlite:/tmp/x", "folder:relative", "folder:/nonexistent/x"):
            command = opening(case, point, shared).replace(f"folder:{shared}", folder)
            assert subject.ask_for_error(command) == "usage", command


def test_a_block_that_is_another_one_is_seen(shared: Path) -> None:
    if "disk" not in SUBJECTS:
        pytest.skip("not selected by BENCHLAB_TEST_SUBJECTS")
    folder = shared / "damaged"
    folder.mkdir()
    subject = Subject(SUBJECTS["disk"].program, ROOT)
    try:
        subject.ask_for("opened", f"open case=sequential_read cache=warm target=folder:{folder} seed=7")
        subject.ask_for("verified", "verify operations=1")
        with (folder / "large").open("r+b") as large:
            large.seek((1 << 20) + 17 * BLOCK)
            large.write(os.urandom(8))
        assert subject.ask_for_error("verify operations=1") == "failed"
    finally:
        subject.kill()
