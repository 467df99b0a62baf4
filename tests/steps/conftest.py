# SPDX-License-Identifier: Apache-2.0
"""Fixtures with a separate checkout, so that no running step is affected."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS))


@pytest.fixture
def step(tmp_path: Path) -> Path:
    """Returns the path of step.py in a checkout that contains nothing else."""
    (tmp_path / "build/tests/logs").mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    for name in ("step.py", "unchanged.py"):
        shutil.copy(TESTS / name, tmp_path / "tests")
    (tmp_path / ".gitignore").write_text("build/\n__pycache__/\n")
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    return tmp_path / "tests/step.py"
