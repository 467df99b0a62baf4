# SPDX-License-Identifier: Apache-2.0
"""A step that passed is skipped while none of its inputs has changed, and only then."""

import os
import subprocess
from pathlib import Path

import pytest


class Checkout:
    """A checkout with a step that reads all but the directory `other`, records that it ran, and passes unless
    a file `wrong` exists."""

    def __init__(self, step: Path) -> None:
        self.step, self.folder = step, step.parents[1]
        self.write("read", "1")
        self.write("other/file", "1")
        self.git("add", "read")

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.folder, check=True)

    def write(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)

    def call(self, script: str = "true", **settings: str) -> subprocess.CompletedProcess[str]:
        script = f"echo ran >>build/runs; {script}; ! test -e wrong"
        return subprocess.run([self.step, "--reads=.", "--reads=:!other", "one", "sh", "-c", script], cwd=self.folder,
                              env=os.environ | settings, capture_output=True, text=True, check=False)

    def runs(self, **settings: str) -> bool:
        """Runs the step and returns True if it was not skipped; it passes."""
        before = self.count()
        completed = self.call(**settings)
        assert completed.returncode == 0, completed
        ran = self.count() > before
        assert ran == ("passed before" not in completed.stdout)
        return ran

    def count(self) -> int:
        file = self.folder / "build/runs"
        return len(file.read_text().splitlines()) if file.exists() else 0


@pytest.fixture
def checkout(step: Path) -> Checkout:
    return Checkout(step)


def test_what_passed_is_left_out_until_something_changes(checkout: Checkout) -> None:
    assert checkout.runs()
    assert not checkout.runs()
    checkout.write("read", "2")
    assert checkout.runs()
    assert not checkout.runs()


def test_a_commit_changes_nothing(checkout: Checkout) -> None:
    assert checkout.runs()
    checkout.git("-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "--message=all")
    assert not checkout.runs()


@pytest.mark.parametrize("change", [
    lambda checkout: checkout.write("new", ""),
    lambda checkout: (checkout.folder / "read").unlink(),
    lambda checkout: (checkout.folder / "read").chmod(0o755),
    lambda checkout: (checkout.folder / "read").rename(checkout.folder / "renamed"),
    lambda checkout: (checkout.folder / "link").symlink_to("nowhere"),
], ids=["new", "gone", "executable", "renamed", "link"])
def test_other_changes_count_too(checkout: Checkout, change) -> None:
    assert checkout.runs()
    change(checkout)
    assert checkout.runs()


def test_what_it_does_not_read_does_not_count(checkout: Checkout) -> None:
    assert checkout.runs()
    checkout.write("other/file", "2")
    checkout.write("build/anything", "ignored by git")
    assert not checkout.runs()


def test_settings_and_tools_count(checkout: Checkout, tmp_path: Path) -> None:
    assert checkout.runs()
    assert checkout.runs(BENCHLAB_TEST_SUBJECTS="c")
    assert checkout.runs()
    newer = tmp_path / "build/newer"
    newer.mkdir()
    (newer / "go").write_text("#!/bin/sh\necho go version newer")
    (newer / "go").chmod(0o755)
    assert checkout.runs(PATH=f"{newer}:{os.environ['PATH']}")


def test_what_failed_runs_again(checkout: Checkout) -> None:
    checkout.write("wrong", "")
    assert [checkout.call().returncode for _ in range(2)] == [1, 1]
    assert checkout.count() == 2
    (checkout.folder / "wrong").unlink()
    assert checkout.runs()


def test_a_pass_before_a_failure_is_forgotten(checkout: Checkout) -> None:
    assert checkout.runs()
    assert checkout.call("exit 3", BENCHLAB_X="1").returncode == 3
    assert checkout.runs()


def test_what_changed_while_it_ran_was_not_tested(checkout: Checkout) -> None:
    assert checkout.call("echo 3 >read").returncode == 0
    assert checkout.runs()


def test_without_a_checkout_all_runs(checkout: Checkout) -> None:
    (checkout.folder / ".git").rename(checkout.folder / "no-git")
    assert checkout.runs()
    assert checkout.runs()
