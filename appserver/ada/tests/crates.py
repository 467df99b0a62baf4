# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The benchlab authors
"""Builds every crate away from here, with what its manifest names and no more; holds manifests, project files, changes and
headers of sources to each other: python3 crates.py FOLDER"""

import os
import pwd
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent.parent
SOURCES = {".adb", ".ads", ".c", ".gpr", ".ld", ".py", ".sh", ".toml", ""}
COPYRIGHT = "Copyright 2026 The benchlab authors"
LIBRARIES = {"libmariadb": "-lmariadb", "libpq": "-lpq", "libsqlite3": "-lsqlite3", "zlib": "-lz"}

# https://github.com/alire-project/alire/blob/master/doc/catalog-format-spec.md. An index wants maintainers too.
KEYS = {"name", "version", "description", "authors", "licenses", "tags", "project-files", "configuration", "available",
        "gpr-externals", "depends-on"}

INDEXED = {"libmariadb": "libmariadb-dev", "libpq": "libpq-dev", "libsqlite3": "libsqlite3-dev", "zlib": "zlib1g-dev"}
MAINTAINED = 'maintainers = ["nobody@example.org"]\nmaintainers-logins = ["nobody"]\n'


class Crate:
    def __init__(self, manifest: Path) -> None:
        self.folder = manifest.parent
        self.text = manifest.read_text()
        self.manifest = tomllib.loads(self.text)
        self.name = self.manifest["name"]
        self.project = self.folder / f"{self.name}.gpr"
        self.needs = {name: version for table in self.manifest["depends-on"] for name, version in table.items()}

    def crates_below(self, crates: dict[str, "Crate"]) -> list["Crate"]:
        """What it depends on, each after what that depends on."""
        found: dict[str, Crate] = {}
        for name in sorted(self.needs.keys() & crates.keys()):
            found |= {below.name: below for below in [*crates[name].crates_below(crates), crates[name]]}
        return list(found.values())


def check_manifest(crate: Crate, version: str, crates: dict[str, Crate]) -> None:
    manifest = crate.manifest
    assert manifest.keys() <= KEYS and manifest.keys() >= KEYS - {"gpr-externals"}, crate.name
    assert re.fullmatch("[a-z0-9_]{3,64}", crate.name) and manifest["version"] == version, crate.name
    assert 0 < len(manifest["description"]) <= 72 and manifest["licenses"] == "Apache-2.0", crate.name
    assert all(re.fullmatch("[a-z0-9-]{1,15}", tag) for tag in manifest["tags"]), crate.name
    assert manifest["project-files"] == [crate.project.name] and crate.project.exists(), crate.name
    project = crate.project.read_text()
    named = set(re.findall(r'^with "(\w+)";', project, re.MULTILINE))
    assert named == crate.needs.keys() & crates.keys(), f"{crate.project.name} and alire.toml name other crates"
    assert all(crate.needs[name] == f"={version}" for name in named), crate.name
    options = set(re.findall(r'Linker_Options \("(-l\w+)"\)', "".join(map(Path.read_text, crate.folder.glob("src/*.ad?")))))
    assert options == {LIBRARIES[name] for name in crate.needs.keys() & LIBRARIES.keys()}, f"{crate.name}: {options}"


def check_headers() -> int:
    made = {"obj", "lib", "alire", "__pycache__"}
    files = [path.relative_to(HERE) for path in HERE.rglob("*") if path.is_file()]
    sources = [file for file in files if file.suffix in SOURCES and not made & set(file.parts)]
    for file in sources:
        first = (HERE / file).read_text().removeprefix("#!/bin/sh\n").splitlines()[:2]
        assert first[0].endswith("SPDX-License-Identifier: Apache-2.0") and first[1].endswith(COPYRIGHT), file
        if file.parts[0] not in ("tests", "examples") and file.suffix in (".adb", ".ads"):
            assert "\npragma Ada_2022;\n" in (HERE / file).read_text(), f"{file}: programs of Ada 2012 cannot use it"
    return len(sources)


def as_nobody(folder: Path) -> dict[str, object]:
    """Who builds may write to nothing but the crates' folders; root may write everywhere."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    for path in [folder, *folder.glob("*")]:
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def copied(crate: Crate, folder: Path) -> Path:
    copy = folder / crate.name
    shutil.copytree(crate.folder, copy, ignore=shutil.ignore_patterns("obj", "lib"))
    for path in copy.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    return copy


def listed(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if not {"obj", "lib"} & set(path.relative_to(folder).parts)}


def build(command: list[str | Path], folder: Path, projects: list[Path], mode: str, kind: str, **user: object) -> None:
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, **user,
                          env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TMPDIR": str(folder / "obj"),
                               "GPR_PROJECT_PATH": ":".join(map(str, projects)),
                               "APPSERVER_BUILD_MODE": mode, "APPSERVER_LIBRARY_TYPE": kind})
    assert made.returncode == 0, f"{' '.join(map(str, command))} in {folder}\n{made.stdout}{made.stderr}"


def build_away(crates: dict[str, Crate], folder: Path, mode: str, kind: str) -> None:
    """Each in its own folder, by gprbuild and nothing else, with what it depends on beside it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for crate in crates.values():
        copied(crate, folder)
    user = as_nobody(folder)
    before = listed(folder)
    for crate in crates.values():
        own = folder / crate.name
        for kept in ("obj", "lib"):
            (own / kept).mkdir(exist_ok=True)
            if user:
                os.chown(own / kept, user["user"], user["group"])
        build(["gprbuild", "-q"], own, [folder / below.name for below in crate.crates_below(crates)], mode, kind, **user)
        suffix = "so" if kind == "relocatable" else "a"
        assert list((own / "lib").rglob(f"lib{crate.name}.{suffix}")), f"{crate.name} made no library"
    assert listed(folder) == before, f"written elsewhere: {listed(folder) - before}"


def run_program(crates: dict[str, Crate], folder: Path, kind: str) -> None:
    """A program of a user, on the libraries that were built."""
    program = folder / "program"
    (program / "obj").mkdir(parents=True)
    (program / "program.gpr").write_text(
        'with "appserver_http";\nwith "appserver_sqlite";\nproject Program is\n   for Object_Dir use "obj";\n'
        '   for Main use ("main.adb");\nend Program;\n')
    (program / "main.adb").write_text(
        'with Ada.Text_IO;\nwith Appserver.HTTP.Server;\nwith Appserver.SQL.SQLite;\nprocedure Main is\n'
        '   Web : Appserver.HTTP.Server.Web_Server;\n   DB : Appserver.SQL.SQLite.Connection;\n'
        '   function Answer (Request : Appserver.HTTP.Request) return Appserver.HTTP.Response is\n'
        '     (Appserver.HTTP.Empty (Appserver.HTTP.Not_Found));\nbegin\n   DB.Open (":memory:");\n'
        "   Web.Start (Answer'Unrestricted_Access, Port => 0);\n   Web.Stop;\n   Ada.Text_IO.Put_Line (\"ran\");\nend Main;\n")
    build(["gprbuild", "-q", "-p", "program.gpr"], program, [folder / name for name in crates], "development", kind)
    libraries = {path.parent for path in folder.rglob("*.so")}
    done = subprocess.run([program / "obj/main"], env={"LD_LIBRARY_PATH": ":".join(map(str, libraries))}, timeout=60,
                          capture_output=True, text=True)
    assert done.stdout == "ran\n", done


def index(crates: dict[str, Crate], folder: Path) -> Path:
    """An index of Alire's with these crates, the compiler and the system's libraries."""
    root = folder / "index"

    def put(name: str, version: str, text: str) -> None:
        place = root / name[:2] / name / f"{name}-{version}.toml"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    external = 'name = "{0}"\ndescription = "{0}"\n' + MAINTAINED + '[[external]]\nkind = "{1}"\n{2}\n'
    for name, package in INDEXED.items():
        put(name, "external", external.format(name, "system", f'origin = ["{package}"]'))
    put("gnat_external", "external", external.format(
        "gnat_external", "version-output", 'version-command = ["gnat", "--version"]\n'
        'version-regexp = "^GNAT ([\\\\d\\\\.]+).*"\nprovides = "gnat"'))
    for crate in crates.values():
        put(crate.name, crate.manifest["version"],
            f'{MAINTAINED}{crate.text}\n[origin]\nurl = "file:{copied(crate, folder / "origins")}"\n')
    (root / "index.toml").write_text('version = "1.2.1"\n')
    return root


def check_with_alire(crates: dict[str, Crate], folder: Path) -> None:
    """Alire resolves what each crate depends on, and builds one of them with that."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "home").mkdir(parents=True)
    environment = os.environ | {"HOME": str(folder / "home"), "XDG_CONFIG_HOME": "", "APPSERVER_BUILD_MODE": "development"}

    def alr(*words: str, cwd: Path = folder) -> str:
        done = subprocess.run(["alr", "-n", *words], cwd=cwd, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"alr {' '.join(words)} in {cwd}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    alr("index", "--add", f"file://{index(crates, folder)}", "--name", "own")
    for crate in crates.values():
        own = copied(crate, folder / "crates")
        own.chmod(0o755)
        shown = alr("show", "--solve", cwd=own)
        assert f"{crate.name}={crate.manifest['version']}" in shown and "missing" not in shown.lower(), shown
    alr("build", cwd=folder / "crates/appserver_caches")


def main(folder: Path) -> None:
    found = [Crate(manifest) for manifest in HERE.glob("*/alire.toml")]
    crates = {crate.name: crate for crate in sorted(found, key=lambda crate: crate.name)}
    assert {crate.project for crate in found} == set(HERE.glob("*/appserver*.gpr")), "a project without a manifest"
    order: dict[str, Crate] = {}
    for crate in crates.values():
        order |= {below.name: below for below in [*crate.crates_below(crates), crate]}

    version = re.search(r'Version : constant String := "(.*)";', (HERE / "core/src/appserver.ads").read_text())[1]
    newest = re.search(r"^## (.*)$", (HERE / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    assert newest == version, f"CHANGELOG.md begins with {newest}, Appserver.Version is {version}"
    for crate in crates.values():
        check_manifest(crate, version, crates)
    print(f"headers: {check_headers()} sources have them")
    build_away(order, folder / "static", "development", "static")
    build_away({name: order[name] for name in ("appserver", "appserver_http", "appserver_sql", "appserver_sqlite")},
               folder / "relocatable", "development", "relocatable")
    run_program(crates, folder / "relocatable", "relocatable")
    check_with_alire(crates, folder / "alire")
    print(f"crates: {len(crates)} of version {version} are built away from here, by gprbuild and with Alire")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
