# SPDX-License-Identifier: Apache-2.0
"""Checks that the experiments' files and the tests agree on subjects, targets and points."""

from pathlib import Path

import pytest

import experiments
from experiments import declared_subjects, points

FILE = """
[[subject]]
name = "one"
program = ["build/one"]
build = [["make", "one"]]
[subject.postgresql]
program = ["build/one", "postgresql"]
[subject.sqlite]
without = ["statement=prepared", "a=1"]

[[subject]]
name = "other"
program = ["other"]
"""


@pytest.fixture(autouse=True)
def declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "experiment.toml").write_text(FILE)
    monkeypatch.setattr(experiments, "EXPERIMENTS", tmp_path)
    monkeypatch.delenv("BENCHLAB_TEST_SUBJECTS", raising=False)


def test_a_subject_has_a_program_for_each_of_its_targets() -> None:
    assert [(str(subject), subject.program, subject.build) for subject in declared_subjects()] == [
        ("some-one-sqlite", ("build/one",), (("make", "one"),)),
        ("some-one-postgresql", ("build/one", "postgresql"), (("make", "one"),)),
        ("some-other", ("other",), ())]


def test_a_subject_cannot_do_what_it_is_without() -> None:
    sqlite, postgresql, _ = declared_subjects()
    assert not sqlite.can_do({"statement": "prepared", "limit": 1})
    assert not sqlite.can_do({"a": 1})
    assert sqlite.can_do({"statement": "text"}) and sqlite.can_do({})
    assert postgresql.can_do({"statement": "prepared"})


def test_named_subjects_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHLAB_TEST_SUBJECTS", "other")
    assert [subject.name for subject in declared_subjects()] == ["other"]
    monkeypatch.setenv("BENCHLAB_TEST_SUBJECTS", "other,nobody")
    with pytest.raises(LookupError, match="nobody"):
        declared_subjects()


def test_points_of_a_case() -> None:
    case = {"name": "x", "sweep": {"n": [10, 1, 100]}, "factor": {
        "statement": ["a", "b"], "transport": {"values": ["t"], "targets": ["mariadb"]}}}
    assert list(points(case, "sqlite")) == [
        {"statement": "a", "n": 1}, {"statement": "a", "n": 100},
        {"statement": "b", "n": 1}, {"statement": "b", "n": 100}]
    assert list(points(case, "mariadb"))[0] == {"statement": "a", "transport": "t", "n": 1}
    assert list(points({"name": "x"}, "sqlite")) == [{}]
    assert list(points({"name": "x", "targets": ["mariadb"]}, "sqlite")) == []
