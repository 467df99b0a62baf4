# SPDX-License-Identifier: Apache-2.0
"""The programs of experiments/disk and experiments/io-scheduler, in a folder on a disk: each point does and tells what
its case says, a block that is another one is seen, and nothing is left that is not meant to be shared."""

import itertools
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from experiments import ROOT, Declared, declared_subjects, points, read_experiments
from subject import Subject

EXPERIMENTS = {name: read_experiments()[name] for name in ("disk", "io-scheduler")}
SUBJECTS = {declared.name: declared for declared in declared_subjects() if declared.experiment in EXPERIMENTS}

SHARED = {"large", "streamed", "tree", "source", "appended", "written"}
"""What all processes of a run use."""

BLOCK = 4096


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("disk")


@pytest.fixture(scope="module", params=["disk", "threads", "none"])
def started(request: pytest.FixtureRequest) -> Iterator[tuple[Declared, Subject, str]]:
    """`threads`: the program for disks without io_uring."""
    declared = SUBJECTS.get("disk" if request.param == "threads" else request.param)
    if declared is None:
        pytest.skip("not asked for")
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


def test_each_point_does_and_tells_what_its_case_says(started: tuple[Declared, Subject, str], shared: Path) -> None:
    declared, subject, way = started
    for case, point in all_points(declared):
        if way == "threads" and case["name"] != "random_read":
            continue  # all else is as without
        if case["name"] != "mixed" and point.get("background") in ("copy", "read"):
            continue  # backgrounds know nothing of cases
        opened = subject.ask_for("opened", opening(case, point, shared)).arguments
        if "depth" in point:
            wanted = {"pread"} if point["depth"] == "1" else {"threads"} if way == "threads" else {"io_uring", "threads"}
            assert opened["reads"] in wanted
        for operations in (1, 3):
            verified = subject.ask_for("verified", f"verify operations={operations}")
            assert (verified.number("check"), verified.number("units")) == (operations, operations), (case, point)
        for operations in (1, 12):
            ran = subject.ask_for("ran", f"run operations={operations}").arguments
            assert (ran["check"], ran["units"]) == (str(operations), str(operations))
            assert count(ran["latencies"]) == operations
            own = set(ran) - {"start", "end", "operations", "units", "check", "latencies"}
            assert own == set(case.get("metrics", [])), (case["name"], point)
        subject.ask_for("closed", "close")
    left = {entry.name for entry in shared.iterdir()}
    assert {name for name in left if not name.startswith("program-")} <= SHARED, left
    assert not [name for name in left if name.startswith("program-")], "its own program is gone"
    assert children(subject.pid) == []


def test_the_rate_is_kept(started: tuple[Declared, Subject, str], shared: Path) -> None:
    declared, subject, _ = started
    if declared.experiment != "io-scheduler":
        pytest.skip("it has no rate")
    case = next(case for case in EXPERIMENTS["io-scheduler"]["case"] if case["name"] == "mixed")
    subject.ask_for("opened", opening({**case, "rate": 40}, {"background": "write"}, shared))
    began = time.monotonic()
    ran = subject.ask_for("ran", "run operations=20")
    assert time.monotonic() - began >= 19 / 40, "the last operation is due after so long"
    assert float(ran.arguments["background_speed"]) > 0, "something was written meanwhile"
    assert not list(shared.glob("written-*")), "what the background wrote is gone"
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
        pytest.skip("not asked for")
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
