# SPDX-License-Identifier: Apache-2.0
"""The subjects and the points of their cases, as declared in the experiments' files."""

import itertools
import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

EXPERIMENTS = Path(os.environ.get("BENCHLAB_TEST_EXPERIMENTS", ROOT / "experiments"))
"""The directory of declarations. The programs are always the programs of this working tree."""

TARGETS = ("sqlite", "postgresql", "mariadb")


@dataclass(frozen=True)
class Declared:
    """A subject that an experiment declares, with its program for one target (or for none)."""

    experiment: str
    name: str
    target: str | None
    program: tuple[str, ...]
    build: tuple[tuple[str, ...], ...]
    needs: tuple[str, ...]
    without: frozenset[str]
    """The parameters that its driver does not support, as `key=value`."""
    cases: frozenset[str] | None = None
    """The cases that it takes part in; None for all."""

    def __str__(self) -> str:
        return "-".join(filter(None, (self.experiment, self.name, self.target)))

    def has(self, case: str) -> bool:
        return self.cases is None or case in self.cases

    def can_do(self, point: dict[str, object]) -> bool:
        return self.without.isdisjoint(f"{key}={value}" for key, value in point.items())


def read_experiments() -> dict[str, dict[str, Any]]:
    """Returns the experiments by the name of their directory."""
    return _read(EXPERIMENTS)


@cache
def _read(folder: Path) -> dict[str, dict[str, Any]]:
    """Reads the experiments of a directory. The result is cached, because reading takes longer than many tests."""
    files = sorted(folder.glob("*/experiment.toml"))
    return {file.parent.name: tomllib.loads(file.read_text()) for file in files}


def declared_subjects() -> list[Declared]:
    """Returns all subjects, or those in BENCHLAB_TEST_SUBJECTS, separated by commas."""
    declared = [
        _declared(folder, subject, target)
        for folder, experiment in read_experiments().items()
        for subject in experiment["subject"]
        for target in [target for target in TARGETS if target in subject] or [None]]
    selection = os.environ.get("BENCHLAB_TEST_SUBJECTS")
    if selection is None:
        return declared
    names = set(selection.split(","))
    if unknown := names - {subject.name for subject in declared}:
        raise LookupError(f"BENCHLAB_TEST_SUBJECTS: no experiment declares {', '.join(unknown)}")
    return [subject for subject in declared if subject.name in names]


def _declared(experiment: str, subject: dict[str, Any], target: str | None) -> Declared:
    """Returns a declared subject. Keys of the target's table override the subject's."""
    keys = subject if target is None else {**subject, **subject[target]}
    return Declared(experiment, subject["name"], target, tuple(keys["program"]),
                    tuple(map(tuple, keys.get("build", []))), tuple(keys.get("needs", [])), frozenset(keys.get("without", [])),
                    frozenset(keys["cases"]) if "cases" in keys else None)


@cache
def missing_library(declared: Declared) -> str | None:
    """Returns the title of a library that the subject needs, that is not installed, and that is not in a
    Debian package. Such a subject is skipped by the tests."""
    toolchains = tomllib.loads((EXPERIMENTS / "toolchains.toml").read_text())
    for need in declared.needs:
        toolchain = toolchains[need]
        if "debian" in toolchain:
            continue
        if not all(shutil.which(program) for program in toolchain.get("programs", [])):
            return toolchain["title"]
        for probe in toolchain.get("probes", []):
            if subprocess.run(probe, cwd=ROOT, capture_output=True).returncode != 0:
                return toolchain["title"]
    return None


def tables(declared: Declared) -> dict[str, Any]:
    """Returns the experiment's tables of the subject's target, and the query for its settings. The SQL
    experiment's definitions take precedence, because all tests of a server share one database."""
    experiments = read_experiments()
    targets = [experiments[name]["target"][declared.target]
               for name in (declared.experiment, "sql") if name in experiments]
    return {key: value for target in targets for key, value in target.items()}


def points(case: dict[str, Any], target: str | None) -> Iterator[dict[str, object]]:
    """Returns the further arguments of a case on a target (or without one): each value of its factors, with
    the smallest and the largest value of its sweep. Returns nothing if the case does not support this target."""
    if target is not None and target not in case.get("targets", TARGETS):
        return
    axes = [[(key, value) for value in values]
            for key, values in _axes(case.get("factor", {}), target)]
    axes += [[(key, value) for value in sorted({min(values), max(values)})]
             for key, values in _axes(case.get("sweep", {}), target)]
    for point in itertools.product(*axes):
        yield dict(point)


def _axes(declared: dict[str, Any], target: str | None) -> Iterator[tuple[str, list[object]]]:
    """Returns the axes of a case. An axis is a list of values, or a table of `values` with the `targets` that support
    it."""
    for key, axis in declared.items():
        if isinstance(axis, list):
            yield key, axis
        elif target in axis.get("targets", TARGETS):
            yield key, axis["values"]
