# SPDX-License-Identifier: Apache-2.0
"""The fixture of experiments/io-scheduler: it switches the scheduler of a loop device and the kernel's limit of dirty
pages, and undoes both, however it ends."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from experiments import read_experiments
from fixture_process import FixtureProcess

DECLARED = read_experiments().get("io-scheduler", {}).get("fixture", [])
DIRTY = Path("/proc/sys/vm/dirty_bytes"), Path("/proc/sys/vm/dirty_ratio")


@pytest.fixture
def settings() -> Iterator[FixtureProcess]:
    if not DECLARED:
        pytest.skip("the experiments in BENCHLAB_TEST_EXPERIMENTS do not declare this fixture")
    fixture = FixtureProcess(DECLARED[0])
    assert fixture.ask("open seed=7") == {"verb": "opened"}
    yield fixture
    fixture.end_input()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[str]:
    """A loop device whose scheduler is `none`."""
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(16 << 20)
    made = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True)
    if os.geteuid() != 0 or made.returncode != 0:
        pytest.skip("this machine does not support loop devices")
    device = made.stdout.strip()
    try:
        name = device.removeprefix("/dev/")
        if not {"none", "mq-deadline"} <= set(scheduler(name).read_text().replace("[", "").replace("]", "").split()):
            pytest.skip("the kernel has no schedulers for loop devices")
        scheduler(name).write_text("none")
        yield name
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


def scheduler(disk: str) -> Path:
    return Path(f"/sys/block/{disk}/queue/scheduler")


def current(disk: str) -> str:
    return scheduler(disk).read_text().split("[")[1].split("]")[0]


def test_a_scheduler_is_switched_and_undone(settings: FixtureProcess, disk: str) -> None:
    deadline = f"state=deadline folder=/x disk={disk} queue_scheduler=mq-deadline"
    file = scheduler(disk)
    assert settings.ask(f"check {deadline}") == {
        "verb": "checked", "current": "no", "undo": f"{file}\tnone\n", "claims": str(file),
        "permanent": "To make it permanent, in /etc/udev/rules.d/60-io-scheduler.rules:\n"
                     f'ACTION=="add|change", SUBSYSTEM=="block", KERNEL=="{disk}", ATTR{{queue/scheduler}}="mq-deadline"'}
    assert settings.ask(f"check state=none disk={disk} queue_scheduler=none")["current"] == "yes"
    assert current(disk) == "none"
    assert settings.ask(f"set {deadline}") == {"verb": "set"}
    assert current(disk) == "mq-deadline"
    assert settings.ask("set") == {"verb": "set"}
    assert current(disk) == "none"
    settings.ask(f"set {deadline}")
    assert settings.ask("close") == {"verb": "closed"}
    assert current(disk) == "none"


def test_the_end_of_its_input_undoes_the_changes(settings: FixtureProcess, disk: str) -> None:
    settings.ask(f"set state=deadline disk={disk} queue_scheduler=mq-deadline")
    assert current(disk) == "mq-deadline"
    assert settings.end_input() == 0
    assert current(disk) == "none"


def test_a_value_that_the_kernel_rounds_is_an_error_and_undone(settings: FixtureProcess, disk: str) -> None:
    file = Path(f"/sys/block/{disk}/queue/read_ahead_kb")
    original = file.read_text()
    odd = f"state=odd disk={disk} queue_read_ahead_kb=5"
    assert settings.ask(f"set {odd}") == {
        "verb": "error", "code": "failed", "message": f"{file} is {file.read_text().strip()} after writing 5"}
    assert file.read_text() != original
    assert settings.ask("set") == {"verb": "set"}
    assert file.read_text() == original
    settings.ask(f"set {odd}")
    assert settings.ask("close") == {"verb": "closed"}
    assert file.read_text() == original


def test_another_process_undoes_the_changes_of_a_killed_one(settings: FixtureProcess, disk: str) -> None:
    deadline = f"state=deadline disk={disk} queue_scheduler=mq-deadline"
    record = quote(settings.ask(f"check {deadline}")["undo"], safe="/")
    settings.ask(f"set {deadline}")
    settings.kill()
    assert current(disk) == "mq-deadline"
    other = FixtureProcess(DECLARED[0])
    assert other.ask(f"undo record={record}") == {
        "verb": "undone", "changed": f"{scheduler(disk)} set to mq-deadline: restored to none"}
    assert other.ask(f"undo record={record}") == {"verb": "undone"}
    assert current(disk) == "none"
    other.end_input()


@pytest.fixture
def limits() -> list[str]:
    """The limits of dirty pages, the first of which does not apply."""
    limits = [file.read_text() for file in DIRTY]
    if os.geteuid() != 0 or limits[0].strip() != "0" or not os.access(DIRTY[0], os.W_OK):
        pytest.skip("the limit of dirty pages cannot be changed on this machine, or is set in bytes")
    return limits


def test_two_forms_of_a_limit_replace_each_other(settings: FixtureProcess, limits: list[str]) -> None:
    percent = int(limits[1]) + 1
    for _ in range(2):
        assert settings.ask(f"set state=percent vm_dirty_ratio={percent}") == {"verb": "set"}
        assert [int(file.read_text()) for file in DIRTY] == [0, percent]
        assert settings.ask("set state=bytes vm_dirty_bytes=268435456") == {"verb": "set"}
        assert [int(file.read_text()) for file in DIRTY] == [268435456, 0]
    assert settings.ask("set") == {"verb": "set"}
    assert [file.read_text() for file in DIRTY] == limits


def test_a_limit_that_does_not_apply_is_undone_by_the_one_that_does(settings: FixtureProcess, limits: list[str]) -> None:
    state = "state=small vm_dirty_bytes=268435456"
    checked = settings.ask(f"check {state}")
    assert (checked["undo"], checked["claims"]) == (f"{DIRTY[1]}\t{limits[1].strip()}\n", str(DIRTY[0]))
    assert settings.ask(f"set {state}") == {"verb": "set"}
    assert DIRTY[0].read_text().strip() == "268435456"
    assert settings.ask("set") == {"verb": "set"}
    assert [file.read_text() for file in DIRTY] == limits


@pytest.mark.parametrize(("state", "code", "reason"), [
    ("queue_scheduler=bfq", "unsupported",
     "the filesystem of the target's directory has no device with the setting queue.scheduler"),
    ("disk=none queue_scheduler=bfq", "unsupported", "cannot read /sys/block/none/queue/scheduler"),
    ("kernel_panic=1", "usage", "expected queue_NAME or vm_NAME, such as queue_scheduler, got kernel_panic"),
])
def test_settings_that_cannot_be(settings: FixtureProcess, state: str, code: str, reason: str) -> None:
    assert settings.ask(f"check state=x {state}") == {"verb": "error", "code": code, "message": reason}


def test_a_scheduler_that_the_kernel_lacks(settings: FixtureProcess, disk: str) -> None:
    reply = settings.ask(f"check state=x disk={disk} queue_scheduler=nonesuch")
    assert reply["code"] == "unsupported"
    assert reply["message"].endswith("; `modprobe nonesuch` may add nonesuch")
    assert reply["message"].startswith(f"{scheduler(disk)} offers none, ")
