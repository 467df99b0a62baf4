# SPDX-License-Identifier: Apache-2.0
"""Directories served by the library in appserver/ada: index files, Cache-Control, and precompressed files."""

import gzip
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from test_services import Program

SEED = 25
PAGE = b"<p>page</p>" * 100
SCRIPT = b"let a = 1;\n" * 100
CODED = {"gzip": gzip.compress(SCRIPT), "br": b"not brotli, which nobody here reads", None: SCRIPT}


@pytest.fixture(scope="module", params=["server", "embedded"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    folder = tmp_path_factory.mktemp("site")
    files = {"index.html": b"root", "sub/index.html": PAGE,
             "sub/index.html.gz": gzip.compress(PAGE), "empty/x.txt": b"x",
             "both.js": SCRIPT, "both.js.gz": CODED["gzip"], "both.js.br": CODED["br"],
             "zip.js": SCRIPT, "zip.js.gz": CODED["gzip"], "plain.txt": b"plain", "only.txt.gz": b"only",
             "a b/index.html": b"blank", ".hidden/index.html": b"secret"}
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "plain.txt.br").mkdir()
    os.symlink("both.js.gz", folder / "plain.txt.gz")
    same = (folder / "both.js").stat()
    for name in ("both.js.gz", "both.js.br"):
        os.utime(folder / name, ns=(same.st_atime_ns, same.st_mtime_ns))
    arguments = [request.param, "127.0.0.1", str(folder / "log"), "common", str(folder)]
    program = Program("services_server", *arguments, ports=2 if request.param == "server" else 1)
    yield program
    program.close()


@pytest.mark.parametrize("path, content", [("/site/", b"root"), ("/site/sub/", PAGE), ("/site/a%20b/", b"blank"),
                                           ("/site/sub/index.html", PAGE)])
def test_an_index_file(site: Program, path: str, content: bytes) -> None:
    answer = site.get(path)
    assert answer.status == 200 and answer.body == content
    assert answer.get("Content-Type") == "text/html; charset=utf-8"
    assert answer.get("Cache-Control") == "public, max-age=60"


@pytest.mark.parametrize("path", ["/site/empty/", "/site/none/", "/site/.hidden/", "/site/.hidden", "/site//",
                                  "/site/sub//", "/site/../", "/site/plain.txt/", "/site/%2e%2e/",
                                  "/site/plain.txt%2f"])
def test_no_index_file(site: Program, path: str) -> None:
    answer = site.get(path)
    assert answer.status == 404 and not answer.all("Cache-Control")


@pytest.mark.parametrize("path, location", [
    ("/site/sub", "/site/sub/"), ("/site/a%20b?x=y&z", "/site/a%20b/?x=y&z"), ("/site/empty", "/site/empty/")])
def test_a_folder_without_its_slash(site: Program, path: str, location: str) -> None:
    answer = site.get(path)
    assert answer.status == 301 and answer.get("Location") == location and answer.body == b""


def test_a_location_that_is_too_long(site: Program) -> None:
    assert site.get("/site/sub?" + "q" * 3000).status == 404


@pytest.mark.parametrize("accepted, coding", [
    (None, None), ("", None), ("gzip", "gzip"), ("br", "br"), ("gzip, br", "br"), ("gzip, deflate, br, zstd", "br"),
    ("GZip", "gzip"), ("gzip;q=1.0, br;q=0.9", "gzip"), ("gzip;q=0.5, br;q=0.5", "br"), ("*", "br"),
    ("*;q=0.5, br;q=0", "gzip"), ("gzip;q=0", None), ("gzip;q=0, br;q=0.0", None), ("identity", None),
    ("identity;q=0.5, gzip;q=0.4", None),
    ("identity;q=0.5, gzip;q=0.5", "gzip"),
    ("identity, gzip", "gzip"), ("identity, *", "br"), ("*;q=0", None), ("deflate", None),
    (" gzip ; q=0.3 ,, br;q=0.2", "gzip"),
    ("gzip;q=2", None), ("gzip;q=x, br", "br"), ("gzip;level=9", None), ("x-gzip", None),
    ("gzip;q=0.001", "gzip"), ("gzipp", None)])
def test_the_client_chooses(site: Program, accepted: str | None, coding: str | None) -> None:
    """Tests the negotiation of codings (RFC 9110 12.5.3)."""
    answer = site.get("/site/both.js", *([] if accepted is None else [f"Accept-Encoding: {accepted}"]))
    assert answer.status == 200 and answer.get("Content-Encoding") == coding and answer.body == CODED[coding]
    assert answer.get("Content-Type") == "text/javascript; charset=utf-8" and answer.get("Vary") == "Accept-Encoding"


def test_what_there_is(site: Program) -> None:
    """A coding without a file, or with a directory or a link instead of a file, is skipped."""
    assert site.get("/site/zip.js", "Accept-Encoding: br, gzip;q=0.1").body == CODED["gzip"]
    answer = site.get("/site/plain.txt", "Accept-Encoding: br, gzip")
    assert answer.body == b"plain" and answer.get("Content-Encoding") is None
    assert answer.get("Vary") == "Accept-Encoding"
    assert gzip.decompress(site.get("/site/sub/", "Accept-Encoding: gzip").body) == PAGE
    assert site.get("/site/only.txt").status == 404
    direct = site.get("/site/both.js.gz")
    assert direct.get("Content-Type") == "application/gzip" and direct.get("Content-Encoding") is None


def test_each_coding_is_validated_by_itself(site: Program) -> None:
    """RFC 9110 8.8.3: entity tags differ, even if time and size are equal; a 304 has the fields that caches need
    (15.4.5)."""
    tags = {}
    for coding in ("gzip", "br", None):
        headers = [f"Accept-Encoding: {coding}"] if coding else []
        tags[coding] = site.get("/site/both.js", *headers).get("ETag")
        again = site.get("/site/both.js", *headers, f"If-None-Match: {tags[coding]}")
        assert again.status == 304 and again.get("ETag") == tags[coding]
        assert again.get("Vary") == "Accept-Encoding" and again.get("Cache-Control") == "public, max-age=60"
        part = site.get("/site/both.js", *headers, "Range: bytes=2-9")
        assert part.status == 206 and part.body == CODED[coding][2:10] and part.get("Content-Encoding") == coding
    assert len(set(tags.values())) == 3
    assert site.get("/site/both.js", "Accept-Encoding: gzip", f"If-None-Match: {tags['br']}").status == 200


def test_the_field_is_fuzzed(site: Program) -> None:
    """Whatever is accepted, the content has the coding that the response names."""
    dice = random.Random(SEED)
    pieces = ["gzip", "br", "identity", "*", ",", ", ", ";", ";q=", "0", "1", "0.5", ".", '"', "\\",
              " ", "\t", "q", "=", "x"]
    for _ in range(300):
        accepted = "".join(dice.choices(pieces, k=dice.randrange(16)))
        answer = site.get("/site/both.js", f"Accept-Encoding: {accepted}")
        coding = answer.get("Content-Encoding")
        assert answer.status == 200 and answer.body == CODED[coding], f"seed {SEED}: {accepted!r}"
        assert coding is None or coding in accepted or "*" in accepted
