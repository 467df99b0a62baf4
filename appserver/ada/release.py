#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The benchlab authors
"""Makes the release of each crate: an archive of the crate's sources, and a manifest for an Alire index.

    release.py --archives https://example.org/releases/0.1.0 DIRECTORY
    release.py --rehearse DIRECTORY     # an index of the local archives, to try the crates

Writes archives/NAME-VERSION.tar.gz, which you upload, and index/, which you submit, to DIRECTORY. The same sources always produce
identical archives."""

import argparse
import gzip
import hashlib
import io
import posixpath
import re
import shutil
import sys
import tarfile
import tomllib
from pathlib import Path

ADA = Path(__file__).resolve().parent
FOLDER = "appserver/ada"
BUILT = {"obj", "lib", "alire"}
# The format of the index, for alr 1.2 and later
INDEX_FORMAT = "1.2.1"
# RFC 2606: reserved names, which nobody can own
RESERVED = re.compile(r"\.(?:example|invalid|test|localhost)\b")
MODIFIED_AT = 1_767_225_600  # 2026-01-01
LINK = re.compile(r"(\]\()((?:\.\./|[\w.-]+/)*[\w.-]*)(#[\w-]+)?\)")
# The paths of the dependencies in a clone, which Alire's index rejects
PINS = re.compile(r"\n# [^\n]*\n\[\[pins\]\]\n.*\Z", re.DOTALL)


class Crate:
    """A crate, which is a directory with a manifest, a project file and sources."""

    def __init__(self, manifest: Path) -> None:
        self.folder = manifest.parent
        text = manifest.read_text()
        self.manifest = tomllib.loads(text)
        self.released_text = PINS.sub("", text)
        self.name: str = self.manifest["name"]
        self.version: str = self.manifest["version"]
        self.archive = f"{self.name}-{self.version}.tar.gz"

    def files(self) -> list[Path]:
        found = [path for path in self.folder.rglob("*") if path.is_file()]
        return sorted(path for path in found if not BUILT & set(path.relative_to(self.folder).parts))

    def readme(self) -> str:
        """Returns the README. Links that lead out of the crate are replaced by links to the website."""
        site = self.manifest["website"].removesuffix(f"/{FOLDER}")

        def absolute(link: re.Match[str]) -> str:
            path = posixpath.normpath(posixpath.join(FOLDER, self.folder.name, link[2]))
            if not link[2] or path.startswith(f"{FOLDER}/{self.folder.name}/"):
                return link[0]
            return f"{link[1]}{site}/{path}{link[3] or ''})"

        return LINK.sub(absolute, (self.folder / "README.md").read_text())


def crates() -> list[Crate]:
    return sorted((Crate(manifest) for manifest in ADA.glob("*/alire.toml")), key=lambda crate: crate.name)


def packed(crate: Crate) -> bytes:
    """Returns the archive, which contains a single directory with the crate's files and the license."""
    contents = {path.relative_to(crate.folder).as_posix(): (path.read_bytes(), path.stat().st_mode & 0o111)
                for path in crate.files()}
    contents["alire.toml"] = (crate.released_text.encode(), 0)
    contents["README.md"] = (crate.readme().encode(), 0)
    contents["LICENSE"] = ((ADA.parents[1] / "LICENSE").read_bytes(), 0)
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as zipped, \
            tarfile.open(fileobj=zipped, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, (content, executable) in sorted(contents.items()):
            entry = tarfile.TarInfo(f"{crate.name}-{crate.version}/{name}")
            entry.size, entry.mode, entry.mtime = len(content), 0o755 if executable else 0o644, MODIFIED_AT
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def index_manifest(crate: Crate, archive: bytes, archives: str) -> str:
    digest = hashlib.sha512(archive).hexdigest()
    return f'{crate.released_text}\n[origin]\nurl = "{archives}/{crate.archive}"\nhashes = ["sha512:{digest}"]\n'


def release(folder: Path, archives: str) -> None:
    shutil.rmtree(folder / "archives", ignore_errors=True)
    shutil.rmtree(folder / "index", ignore_errors=True)
    (folder / "archives").mkdir(parents=True)
    for crate in crates():
        archive = packed(crate)
        (folder / "archives" / crate.archive).write_bytes(archive)
        place = folder / "index" / crate.name[:2] / crate.name / f"{crate.name}-{crate.version}.toml"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(index_manifest(crate, archive, archives))
    (folder / "index/index.toml").write_text(f'version = "{INDEX_FORMAT}"\n')


def main() -> str | None:
    """Makes the releases. Returns None on success, otherwise an error message."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--archives", metavar="URL", help="the URL from which the archives can be downloaded")
    where.add_argument("--rehearse", action="store_true", help="write an index of the local archives, which must not be published")
    parser.add_argument("folder", metavar="DIRECTORY", type=Path)
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    if not arguments.rehearse:
        for crate in crates():
            for key in ("maintainers", "website"):
                if RESERVED.search(str(crate.manifest[key])):
                    return f"release.py: {key} of {crate.folder}/alire.toml is a placeholder: set the publisher's value in all manifests"
    archives = f"file://{folder}/archives" if arguments.rehearse else arguments.archives.rstrip("/")
    release(folder, archives)
    print(f"{len(crates())} crates: archives in {folder}/archives, manifests in {folder}/index")
    return None


if __name__ == "__main__":
    sys.exit(main())
