# SPDX-License-Identifier: Apache-2.0
"""benchlab outside of its project: as a Debian package in an empty root directory, and as installed by `cargo
install`."""

import gzip
import os
import sqlite3
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "target/debug/benchlab"


def output(*words: object, **more) -> str:
    completed = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)
    assert completed.returncode == 0, f"{words}: {completed.stderr}"
    return completed.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("package")
    # Without compression, which would take half a minute.
    output(ROOT / "packaging/deb.sh", BUILT, folder, env={**os.environ, "DPKG_DEB_COMPRESSOR_TYPE": "none"})
    (file,) = folder.glob("*.deb")
    return file


@pytest.fixture(scope="module")
def root(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Installs only the package in an empty root directory; its dependencies are those of this system."""
    root = tmp_path_factory.mktemp("root")
    for folder in ["updates", "info"]:
        (root / "var/lib/dpkg" / folder).mkdir(parents=True)
    for file in ["status", "available"]:
        (root / "var/lib/dpkg" / file).touch()
    dpkg(root, "-i", package)
    return root


def dpkg(root: Path, *words: object) -> str:
    # Without root's privileges no file can be owned by root.
    force = ["--force-depends", "--force-not-root", "--force-script-chrootless"]
    return output("dpkg", *force, f"--root={root}", f"--log={root}/log", *words)


def elsewhere(home: Path) -> dict[str, str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("BENCHLAB_", "XDG_"))}
    return environment | {"HOME": str(home)}


def test_the_version_is_that_of_the_program(package: Path) -> None:
    name, version = output(BUILT, "--version").split()
    assert name == "benchlab"
    assert output("dpkg-deb", "-f", package, "Version").strip() == version
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()


def test_what_is_installed(root: Path) -> None:
    share = root / "usr/share"
    verbs = [line.split()[0] for line in output(root / "usr/bin/benchlab", "--help").splitlines()
             if line.startswith("  ") and line[2].islower()]
    for verb in set(verbs) & {"run", "compare", "diff", "load", "report", "history", "serve", "list", "doctor"}:
        page = gzip.decompress((share / f"man/man1/benchlab-{verb}.1.gz").read_bytes()).decode()
        assert page.startswith(".") and verb in page
    assert "BENCHLAB_COMPLETE" in (share / "zsh/vendor-completions/_benchlab").read_text()
    assert (share / "fish/vendor_completions.d/benchlab.fish").stat().st_size > 0
    output("bash", "-n", share / "bash-completion/completions/benchlab")
    tracked = output("git", "-C", ROOT, "ls-files", "experiments", "kits", "appserver").splitlines()
    missing = [path for path in tracked if not (share / "benchlab" / path).exists()]
    assert tracked and not missing


def test_verbs_that_need_no_project_work_anywhere(root: Path, tmp_path: Path) -> None:
    works_anywhere(root / "usr/bin/benchlab", tmp_path)


def test_experiments_are_copied_and_listed(root: Path, tmp_path: Path) -> None:
    program, environment = root / "usr/bin/benchlab", elsewhere(tmp_path)
    refused = subprocess.run([program, "list"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    (advice,) = [word for word in refused.stderr.split("`") if word.startswith("cp -r ")]
    output("sh", "-c", advice, cwd=tmp_path, env=environment)
    assert "sql" in output(program, "list", cwd=tmp_path / "benchlab", env=environment)


def test_it_goes_without_a_trace(package: Path, tmp_path: Path) -> None:
    for folder in ["updates", "info"]:
        (tmp_path / "var/lib/dpkg" / folder).mkdir(parents=True)
    (tmp_path / "var/lib/dpkg/status").touch()
    dpkg(tmp_path, "-i", package)
    assert (tmp_path / "usr/bin/benchlab").exists()
    dpkg(tmp_path, "--purge", "benchlab")
    assert not [path for path in (tmp_path / "usr").rglob("*") if path.is_file()]


def test_cargo_installs_it(tmp_path: Path) -> None:
    # With the profile that is already built: the program is the same except for its speed.
    output("cargo", "install", "--quiet", "--debug", "--locked", "--path", ROOT / "crates/benchlab", "--root", tmp_path)
    works_anywhere(tmp_path / "bin/benchlab", tmp_path)


def works_anywhere(program: Path, folder: Path) -> None:
    home = folder / "home"
    home.mkdir()
    environment = elsewhere(home)

    def call(*words: str) -> str:
        return output(program, *words, cwd=folder, env=environment)

    call("compare", "--blocks", "2", "--pairs", "1", "--redo", "0", "--as", "shell", "true", "sh -c true")
    (run,) = (home / ".local/share/benchlab/runs").glob("*.lab")
    assert "shell" in call("report", str(run), "--format", "csv")
    assert "shell" in call("history")
    assert "The host" in call("doctor")
    version = output(program, "--version").split()[1]
    with sqlite3.connect(run) as db:
        assert db.execute("SELECT value FROM meta WHERE key = 'benchlab_version'").fetchone() == (version,)
    db.close()
