# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The benchlab authors
"""Makes the releases, and builds each archive with only the archives of the dependencies in its manifest. Checks to which
directories a build writes. Builds and tests releases with Alire, from an index and archives on a local server. Checks manifests
against the rules of Alire's index, and the consistency of manifests, project files, CHANGELOG.md, source headers and assertion
policies: python3 crates.py DIRECTORY [all]. With "all", Alire builds and tests every release, otherwise only some of them."""

import functools
import http.server
import io
import os
import pwd
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ADA = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ADA))
import release  # noqa: E402
SOURCES = {".adb", ".ads", ".c", ".gpr", ".ld", ".py", ".sh", ".toml", ""}
COPYRIGHT = "Copyright 2026 The benchlab authors"
LIBRARIES = {"libmariadb": {"-lmariadb"}, "libpq": {"-lpq"}, "libsqlite3": {"-lsqlite3"}, "openssl": {"-lssl", "-lcrypto"}, "zlib": {"-lz"}}

# The keys that a release must have in an index (https://github.com/alire-project/alire/blob/master/doc/catalog-format-spec.md), and
# the other keys of these crates. alr does not support [test] before version 2.1, so tests are actions.
KEYS = {"name", "version", "description", "authors", "maintainers", "maintainers-logins", "licenses", "website", "tags",
        "project-files", "configuration", "available", "actions", "depends-on"}
# The limits in src/alire/alire.ads of the same repository
MAX_DESCRIPTION, MAX_TAG = 72, 15
NAME = re.compile("[a-z][a-z0-9_]{2,63}")
TAG = re.compile("[a-z0-9]+(-[a-z0-9]+)*")
MAINTAINER = re.compile(r"(?:[^<>@]+ <)?[\w.+-]+@[\w-]+(?:\.[\w-]+)+>?")
LOGIN = re.compile("[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
# Before 1.0, the API is compatible within a minor version. The operator ~ means the same.
COMPATIBLE = "~{0[0]}.{0[1]}"

INDEXED = {"libmariadb": "libmariadb-dev", "libpq": "libpq-dev", "libsqlite3": "libsqlite3-dev", "openssl": "libssl-dev",
           "zlib": "zlib1g-dev"}
MAINTAINED = 'maintainers = ["nobody@example.org"]\nmaintainers-logins = ["nobody"]\n'
# The crates that are built as shared libraries, each after its dependencies
RELOCATABLE = ("appserver", "appserver_ip", "appserver_json", "appserver_http", "appserver_sql", "appserver_sqlite")
# The releases that Alire builds and tests without "all": without dependencies, with dependencies, and with a library of the system
TRIED = ("appserver_caches", "appserver_counters", "appserver_sqlite")


class Crate(release.Crate):
    def __init__(self, manifest: Path) -> None:
        super().__init__(manifest)
        self.project = self.folder / f"{self.name}.gpr"
        self.needs = {name: version for table in self.manifest["depends-on"] for name, version in table.items()}

    def crates_below(self, crates: dict[str, "Crate"]) -> list["Crate"]:
        """Returns the dependencies in topological order."""
        found: dict[str, Crate] = {}
        for name in sorted(self.needs.keys() & crates.keys()):
            found |= {below.name: below for below in [*crates[name].crates_below(crates), crates[name]]}
        return list(found.values())


def check_manifest(crate: Crate, version: str, crates: dict[str, Crate]) -> None:
    manifest = crate.manifest
    assert KEYS <= manifest.keys() <= KEYS | {"gpr-externals", "pins"}, crate.name
    assert NAME.fullmatch(crate.name) and manifest["version"] == version, crate.name
    assert 0 < len(manifest["description"]) <= MAX_DESCRIPTION and manifest["licenses"] == "Apache-2.0", crate.name
    assert all(MAINTAINER.fullmatch(name) for name in manifest["maintainers"]) and manifest["maintainers"], crate.name
    assert all(map(LOGIN.fullmatch, manifest["maintainers-logins"])) and manifest["maintainers-logins"], crate.name
    assert re.fullmatch(r"https://[\w.-]+(/[\w.-]+)*", manifest["website"]), crate.name
    assert all(TAG.fullmatch(tag) and len(tag) <= MAX_TAG for tag in manifest["tags"]) and manifest["tags"], crate.name
    assert manifest["actions"] == [{"type": "test", "command": ["sh", "test.sh"]}], crate.name
    assert manifest["project-files"] == [crate.project.name] and crate.project.exists(), crate.name
    project = crate.project.read_text()
    named = set(re.findall(r'^with "(\w+)";', project, re.MULTILINE))
    assert named == crate.needs.keys() & crates.keys(), f"{crate.project.name} and alire.toml name other crates"
    assert all(crate.needs[name] == COMPATIBLE.format(version.split(".")) for name in named), crate.name
    pins = [{name: {"path": f"../{crates[name].folder.name}"} for name in sorted(named)}]
    assert manifest.get("pins", [{}]) == pins and "pins" not in tomllib.loads(crate.released_text), crate.name
    options = set(re.findall(r'Linker_Options \("(-l\w+)"\)', "".join(map(Path.read_text, crate.folder.glob("src/*.ad?")))))
    assert options == set().union(*(LIBRARIES[name] for name in crate.needs.keys() & LIBRARIES.keys())), f"{crate.name}: {options}"
    example = re.findall(r"^alr with (.*)$", (crate.folder / "README.md").read_text(), re.MULTILINE)
    assert len(example) == 1 and crate.name in example[0].split(), f"{crate.name}: README.md does not say what to depend on"


def check_same(crates: dict[str, Crate], key: str) -> None:
    values = {str(crate.manifest[key]) for crate in crates.values()}
    assert len(values) == 1, f"{key}: {values}"


def check_headers() -> int:
    build_folders = {"obj", "lib", "alire", "__pycache__"}
    files = [path.relative_to(ADA) for path in ADA.rglob("*") if path.is_file()]
    sources = [file for file in files if file.suffix in SOURCES and not build_folders & set(file.parts)]
    for file in sources:
        first = (ADA / file).read_text().removeprefix("#!/bin/sh\n").removeprefix("#!/usr/bin/env python3\n").splitlines()[:2]
        assert first[0].endswith("SPDX-License-Identifier: Apache-2.0") and first[1].endswith(COPYRIGHT), file
        if file.parts[0] not in ("tests", "examples") and file.suffix in (".adb", ".ads"):
            assert "\npragma Ada_2022;\n" in (ADA / file).read_text(), f"{file}: programs of Ada 2012 cannot use it"
    return len(sources)


def check_policies() -> int:
    """Checks that preconditions are checked regardless of a program's switches, and that no specification has invariants or predicates,
    except for subtypes that are used as sets. No policy makes GNAT check invariants and predicates regardless of the switches: it checks
    them only if the unit that uses a type is compiled with -gnata."""
    units = [path for path in sorted(ADA.glob("*/src/*.ad[sb]")) if path.parts[-3] not in ("tests", "examples")]
    texts = {path: re.sub("--.*", "", path.read_text()) for path in units}
    for path, text in texts.items():
        policies = dict(re.findall(r"([\w']+) => (\w+)", " ".join(re.findall(r"pragma Assertion_Policy \((.*?)\)", text))))
        promised = set(re.findall(r"\b(Pre(?:'Class)?)\s*=>\s*(?!Check)", text))
        assert all(policies.get(kind) == "Check" for kind in promised), f"{path.name}: {promised} with {policies}"
        assert policies.keys() <= {"Pre", "Pre'Class"}, f"{path.name}: GNAT does not put {policies} in force"
        assert not re.search(r"Type_Invariant|\bInvariant\b|Dynamic_Predicate", text), f"{path.name}: nobody checks it"
        if path.suffix == ".ads":
            for name in re.findall(r"subtype (\w+) is[^;]*?Static_Predicate", text):
                used = [before for other in texts.values()
                        for before in re.findall(rf"(\S+)\s+(?:[A-Z]\w*\.)*{name}\b(?!\s+(?:in|not in|is)\b)", other)]
                assert used and set(used) <= {"in"}, f"{path.name}: {name} is more than a set: {used}"
    return len(units)


def check_switches() -> None:
    """Checks that programs with a server are compiled as http/README.md requires."""
    for project in [*ADA.glob("examples/*.gpr"), *ADA.glob("tests/*.gpr")]:
        if '"appserver_http"' in project.read_text():
            assert '"-fstack-check"' in project.read_text(), project


def as_nobody(folder: Path) -> dict[str, object]:
    """Returns arguments that run a build as the user nobody, who may write only to the directories of the crates. Returns no
    arguments if this is not possible."""
    # The user nobody cannot reach a checkout in root's home; writes there are detected all the same.
    is_reachable = all(above.stat().st_mode & stat.S_IXOTH for above in folder.parents)
    if os.geteuid() != 0 or not is_reachable:
        return {}
    nobody = pwd.getpwnam("nobody")
    for path in [folder, *folder.glob("*")]:
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


@functools.cache
def archive_of(crate: Crate) -> bytes:
    archive = release.packed(crate)
    assert archive == release.packed(crate), f"{crate.name}: two archives of the same sources differ"
    return archive


def unpacked(crate: Crate, folder: Path) -> Path:
    """Unpacks the crate's archive, and makes it read-only."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(archive_of(crate))) as archive:
        archive.extractall(folder, filter="data")
    copy = (folder / f"{crate.name}-{crate.version}").rename(folder / crate.name)
    for path in copy.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    return copy


def state(folder: Path) -> dict[Path, int]:
    """Returns the modification time of each file, and all directories."""
    return {path: path.stat().st_mtime_ns if path.is_file() else 0 for path in folder.rglob("*")}


def written(folder: Path, before: dict[Path, int]) -> set[Path]:
    """Returns the directories of crates, such as appserver/obj, whose contents have changed."""
    after = state(folder)
    changed = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
    return {Path(*path.relative_to(folder).parts[:2]) for path in changed}


def gprbuild(folder: Path, projects: list[Path], mode: str, kind: str, *options: str | Path, scratch: str = "obj",
             output: str = "", **user: object) -> subprocess.CompletedProcess:
    return subprocess.run(["gprbuild", "-q", *options], cwd=folder, capture_output=True, text=True, **user,
                          env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TMPDIR": str(folder / scratch),
                               "GPR_PROJECT_PATH": ":".join(map(str, projects)), "APPSERVER_OUTPUT": output,
                               "APPSERVER_BUILD_MODE": mode, "APPSERVER_LIBRARY_TYPE": kind})


def build(folder: Path, projects: list[Path], mode: str, kind: str, *options: str | Path, **more: object) -> None:
    process = gprbuild(folder, projects, mode, kind, *options, **more)
    assert process.returncode == 0, f"{' '.join(map(str, process.args))} in {folder}\n{process.stdout}{process.stderr}"


def put_crates(crates: dict[str, Crate], folder: Path) -> dict[str, object]:
    """Unpacks the archives. Returns the arguments that run a build as the user nobody: see as_nobody."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for crate in crates.values():
        unpacked(crate, folder)
    return as_nobody(folder)


def make_room(crate_folder: Path, user: dict[str, object], *names: str) -> None:
    for name in names:
        (crate_folder / name).mkdir(exist_ok=True)
        if user:
            os.chown(crate_folder / name, user["user"], user["group"])


def build_away(crates: dict[str, Crate], folder: Path, mode: str, kind: str) -> None:
    """Builds each crate after its dependencies, and checks that a build writes only to the crate's own obj and lib."""
    user = put_crates(crates, folder)
    for crate in crates.values():
        crate_folder = folder / crate.name
        make_room(crate_folder, user, "obj", "lib")
        before = state(folder)
        build(crate_folder, [folder / below.name for below in crate.crates_below(crates)], mode, kind, **user)
        suffix = "so" if kind == "relocatable" else "a"
        assert list((crate_folder / "lib").rglob(f"lib{crate.name}.{suffix}")), f"{crate.name} made no library"
        found = written(folder, before)
        assert found == {Path(crate.name, "obj"), Path(crate.name, "lib")}, f"{crate.name} is written to {found}"


def build_first(crates: dict[str, Crate], folder: Path) -> None:
    """Builds a crate together with its dependencies. The build writes either to the directories of the crates, as in README.md, or to
    the directory in APPSERVER_OUTPUT."""
    user = put_crates(crates, folder)
    top = crates["appserver_http"]
    crate_folder, below = folder / top.name, top.crates_below(crates)
    projects = [folder / crate.name for crate in below]

    make_room(folder, user, "output")
    before = state(folder)
    alone = gprbuild(crate_folder, [], "development", "static", scratch="../output", **user)
    assert 'imported project file "appserver" not found' in alone.stderr and alone.returncode != 0, alone
    build(crate_folder, projects, "development", "static", scratch="../output", output=f"{folder}/output/", **user)
    assert {path.parts[0] for path in written(folder, before)} == {"output"}, written(folder, before)

    for crate in [*below, top]:
        make_room(folder / crate.name, user, "obj", "lib")
    before = state(folder)
    build(crate_folder, projects, "development", "static", **user)
    places = {Path(crate.name, build_folder) for crate in [*below, top] for build_folder in ("obj", "lib")}
    assert written(folder, before) == places, written(folder, before)


def build_in_copy(folder: Path) -> None:
    """Runs with-crates in a copy of this directory, and checks that it writes only to the copy."""
    shutil.rmtree(folder, ignore_errors=True)
    copy = folder / "third_party/appserver"
    shutil.copytree(ADA / "core", copy / "core", ignore=shutil.ignore_patterns("obj", "lib"))
    shutil.copy(ADA / "with-crates", copy)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("APPSERVER_")}
    for output in ("", f"{folder}/output"):
        before = state(folder)
        subprocess.run([copy / "with-crates", "gprbuild", "-q", "-p", "-P", copy / "core/appserver.gpr"], check=True,
                       env=environment | {"APPSERVER_OUTPUT": output})
        new = {path for path in state(folder).keys() - before.keys() if path.is_file()}
        place = Path(output) if output else copy / "build"
        assert new and all(path.is_relative_to(place) for path in new), new


def run_program(crates: dict[str, Crate], folder: Path, kind: str) -> None:
    """Builds and runs a user's program with the built libraries."""
    program = folder / "program"
    (program / "obj").mkdir(parents=True)
    (program / "program.gpr").write_text(
        'with "appserver_http";\nwith "appserver_sqlite";\nproject Program is\n   for Object_Dir use "obj";\n'
        '   for Main use ("main.adb");\nend Program;\n')
    (program / "main.adb").write_text(
        'with Ada.Text_IO;\nwith Appserver.HTTP.Server;\nwith Appserver.SQL.SQLite;\nprocedure Main is\n'
        '   Web : Appserver.HTTP.Server.Web_Server;\n   DB : Appserver.SQL.SQLite.Connection;\n'
        '   function Respond (Request : Appserver.HTTP.Request) return Appserver.HTTP.Response is\n'
        '     (Appserver.HTTP.Status_Only (Appserver.HTTP.Not_Found));\nbegin\n   DB.Open (":memory:");\n'
        "   Web.Start (Respond'Unrestricted_Access, Port => 0);\n   Web.Stop;\n   Ada.Text_IO.Put_Line (\"ran\");\nend Main;\n")
    build(program, [folder / name for name in crates], "development", kind, "-p", "program.gpr")
    libraries = {path.parent for path in folder.rglob("*.so")}
    process = subprocess.run([program / "obj/main"], env={"LD_LIBRARY_PATH": ":".join(map(str, libraries))}, timeout=600,
                          capture_output=True, text=True)
    assert process.stdout == "ran\n", process


def add_externals(index: Path) -> None:
    """Adds the compiler and the system's libraries to an index."""

    def put(name: str, text: str) -> None:
        place = index / name[:2] / name / f"{name}-external.toml"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    external = 'name = "{0}"\ndescription = "{0}"\n' + MAINTAINED + '[[external]]\nkind = "{1}"\n{2}\n'
    for name, package in INDEXED.items():
        put(name, external.format(name, "system", f'origin = ["{package}"]'))
    put("gnat_external", external.format(
        "gnat_external", "version-output", 'version-command = ["gnat", "--version"]\n'
        'version-regexp = "^GNAT ([\\\\d\\\\.]+).*"\nprovides = "gnat"'))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serves a directory on the loopback interface, and yields its URL."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def check_with_alire(crates: dict[str, Crate], folder: Path, names: list[str]) -> None:
    """Checks that Alire resolves the dependencies of each crate. Downloads releases and their dependencies, and builds and tests them."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "home").mkdir(parents=True)
    environment = os.environ | {"HOME": str(folder / "home"), "XDG_CONFIG_HOME": "", "APPSERVER_BUILD_MODE": "development"}
    environment.pop("APPSERVER_OUTPUT", None)

    def alr(*words: str, cwd: Path = folder) -> str:
        process = subprocess.run(["alr", "-n", *words], cwd=cwd, env=environment, capture_output=True, text=True)
        assert process.returncode == 0, f"alr {' '.join(words)} in {cwd}\n{process.stdout}{process.stderr}"
        return process.stdout + process.stderr

    with served(folder / "release") as url:
        release.release(folder / "release", f"{url}/archives")
        add_externals(folder / "release/index")
        alr("index", "--add", f"file://{folder}/release/index", "--name", "own")
        for crate in crates.values():
            solution = alr("show", "--solve", crate.name)
            assert f"{crate.name}={crate.version}" in solution and "missing" not in solution.lower(), solution
        for name in names:
            alr("get", "--build", name)
            crate_folder, = folder.glob(f"{name}_{crates[name].version}_*")
            # alr 1.2 sets the project path of an action only if a dependency has no directory. The compiler of the system has none.
            tested = alr("action", "test", cwd=crate_folder)
            compiler = re.search(r'^name = "gnat_external"$.*?^version = "(.*?)"$', (crate_folder / "alire/alire.lock").read_text(),
                                 re.MULTILINE | re.DOTALL)[1]
            (folder / f"home/.config/alire/cache/dependencies/gnat_external_{compiler}_external").mkdir(parents=True, exist_ok=True)
            tested += alr("action", "test", cwd=crate_folder)
            print(tested, end="")
            assert tested.count(f"{name}.gpr: ") == 2, tested


def build_from_clone(crates: dict[str, Crate], folder: Path, name: str) -> None:
    """Builds and runs the example of a crate in a new directory, with Alire and with gprbuild, as in README.md."""
    shutil.rmtree(folder, ignore_errors=True)
    environment = os.environ | {"HOME": str(folder / "home"), "XDG_CONFIG_HOME": "", "APPSERVER_OUTPUT": f"{folder}/output/",
                                "APPSERVER_BUILD_MODE": "development"}
    index = folder / "index"
    index.mkdir(parents=True)
    (index / "index.toml").write_text(f'version = "{release.INDEX_FORMAT}"\n')
    add_externals(index)
    for command in (["index", "--add", f"file://{index}", "--name", "own"], ["init", "--bin", "shop"]):
        subprocess.run(["alr", "-n", *command], cwd=folder, env=environment, check=True, capture_output=True)
    shop = folder / "shop"
    example = re.search(r"^```ada\n(.*?)^```$", (crates[name].folder / "README.md").read_text(), re.MULTILINE | re.DOTALL)[1]
    program = re.search(r"^procedure (\w+)", example, re.MULTILINE)[1]
    source = example.replace(program, "Shop")
    (shop / "src/shop.adb").write_text(source)
    subprocess.run(["alr", "-n", "with", name, f"--use={crates[name].folder}"], cwd=shop, env=environment, check=True, capture_output=True)
    ran = subprocess.run(["alr", "-n", "run"], cwd=shop, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr

    directory = folder / "without_alire"
    directory.mkdir()
    project = re.search(r"^```ada\n(with .*?)^```$", (ADA / "README.md").read_text(), re.MULTILINE | re.DOTALL)[1]
    (directory / "shop.gpr").write_text(project.replace("appserver_counters", name))
    (directory / "shop.adb").write_text(source)
    subprocess.run([ADA / "with-crates", "gprbuild", "-q", "-p", "-P", "shop.gpr"], cwd=directory, env=environment, check=True)
    assert ran.stdout.endswith(subprocess.run(["./shop"], cwd=directory, check=True, capture_output=True, text=True).stdout)


def main(folder: Path, extent: str = "some") -> None:
    found = [Crate(manifest) for manifest in ADA.glob("*/alire.toml")]
    crates = {crate.name: crate for crate in sorted(found, key=lambda crate: crate.name)}
    assert {crate.project for crate in found} == set(ADA.glob("*/appserver*.gpr")), "a project without a manifest"
    order: dict[str, Crate] = {}
    for crate in crates.values():
        order |= {below.name: below for below in [*crate.crates_below(crates), crate]}

    version = re.search(r'Version : constant String := "(.*)";', (ADA / "core/src/appserver.ads").read_text())[1]
    newest = re.search(r"^## (.*)$", (ADA / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    assert newest == version, f"CHANGELOG.md begins with {newest}, Appserver.Version is {version}"
    for crate in crates.values():
        check_manifest(crate, version, crates)
    for key in ("maintainers", "maintainers-logins", "website"):
        check_same(crates, key)
    check_switches()
    print(f"headers: {check_headers()} sources have them; policies: {check_policies()} units have those of their contracts")
    build_in_copy(folder / "copy")
    build_first(order, folder / "first")
    build_away(order, folder / "static", "development", "static")
    build_away({name: order[name] for name in RELOCATABLE}, folder / "relocatable", "development", "relocatable")
    run_program(crates, folder / "relocatable", "relocatable")
    check_with_alire(crates, folder / "alire", [*crates] if extent == "all" else [*TRIED])
    build_from_clone(crates, folder / "clone", "appserver_caches")
    print(f"crates: {len(crates)} of version {version} were built from their archives, with gprbuild and Alire")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), *sys.argv[2:])
