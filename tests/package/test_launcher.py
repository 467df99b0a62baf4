# SPDX-License-Identifier: Apache-2.0
"""The launcher with a benchlab of one small crate: it builds changed files, reports its progress, and passes arguments
on."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAIN = 'fn main() { println!("{:?}", std::env::args().skip(1).collect::<Vec<_>>()); }\n'
# Much longer than the launcher's delay before its first line of progress, 10 s.
SLOW_BUILD = "fn main() { std::thread::sleep(std::time::Duration::from_secs(30)); }\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    crate = tmp_path / "crates/benchlab"
    (crate / "src").mkdir(parents=True)
    shutil.copy(ROOT / "benchlab", tmp_path)
    (tmp_path / "Cargo.toml").write_text('[workspace]\nresolver = "3"\nmembers = ["crates/*"]\n'
                                         '[profile.local]\ninherits = "release"\n')
    (crate / "Cargo.toml").write_text('[package]\nname = "benchlab"\nversion = "0.1.0"\nedition = "2024"\n')
    (crate / "src/main.rs").write_text(MAIN)
    subprocess.run(["cargo", "generate-lockfile", "--offline", "--quiet"], cwd=tmp_path, check=True)
    return tmp_path


def launch(project: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CARGO_")}
    return subprocess.run([project / "benchlab", *words], env=environment | variables, capture_output=True, text=True, check=False)


def change(project: Path, text: str) -> None:
    main = project / "crates/benchlab/src/main.rs"
    main.write_text(text)
    later = (project / "target/local/benchlab").stat().st_mtime + 2
    os.utime(main, (later, later))


def test_a_log_has_a_line_now_and_then(project: Path) -> None:
    (project / "crates/benchlab/build.rs").write_text(SLOW_BUILD)
    completed = launch(project, "run", "a b")
    assert (completed.returncode, completed.stdout) == (0, '["run", "a b"]\n')
    first, *later = completed.stderr.splitlines()
    assert first.startswith("benchlab: building benchlab for the first time")
    assert later and all(line.startswith("benchlab: building benchlab: ") and "packages" in line for line in later)


def test_it_builds_what_changed_alone_and_says_why_it_cannot(project: Path) -> None:
    assert launch(project).returncode == 0
    assert launch(project, "list").stderr == ""
    change(project, MAIN.replace("main", "mann"))
    failed = launch(project, "list")
    assert failed.returncode == 101
    assert "`main` function not found" in failed.stderr and "Building [" not in failed.stderr
    change(project, MAIN)
    assert launch(project, "list").stdout == '["list"]\n'


def test_what_is_missing_is_said_once_with_what_brings_it(project: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ["sh", "dirname", "cut"]:
        (tools / tool).symlink_to(shutil.which(tool))
    refused = launch(project, "list", PATH=str(tools))
    assert refused.returncode == 2
    (line,) = refused.stderr.splitlines()
    assert "a C compiler and Rust 1.88 or newer. Run `apt-get install gcc libc6-dev cargo-web rustc-web`" in line
