# SPDX-License-Identifier: Apache-2.0
"""Every subject of experiments/opcache, tested over sockets: the pages match a model of the site, the cache
has the mode in its name, and no file or process remains."""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from databases import eventually
from experiments import ROOT, Declared, declared_subjects
from http1 import Answer, Connection
from subject import Subject

SITE = ROOT / "build/opcache/site"

SETTINGS = {"none": ("none", "none", "none", "none", "off"), "opcache": ("1", "2", "0", "no", "off"),
            "each": ("1", "0", "0", "no", "off"), "unchecked": ("0", "2", "0", "no", "off"),
            "files": ("1", "2", "1", "no", "off"), "preload": ("0", "2", "0", "yes", "off"),
            "jit": ("0", "2", "0", "no", "on")}
"""validate_timestamps, revalidate_freq, file_cache_only, preload, jit."""


def subjects() -> list[Declared]:
    """Returns all subjects with mod_php, and those of php-fpm that run by default, because their settings are
    the same."""
    declared = [subject for subject in declared_subjects() if subject.experiment == "opcache"]
    return [s for s in declared if s.name.startswith("mod-") or s.name in ("fpm-none", "fpm-opcache")]


class Site:
    """A subject that is serving."""

    def __init__(self, declared: Declared) -> None:
        self.cache = declared.name.split("-")[1]
        self.subject = Subject(declared.program, ROOT)
        self.opened = self.subject.ask_for("opened", "open case=serve workers=4 files=/ seed=7")
        self.port = int(self.opened.arguments["url"].rsplit(":", 1)[1])
        self.pids = [int(pid) for pid in self.opened.arguments["processes"].split(",")]

    def ask(self, path: str, method: str = "GET") -> Answer:
        with Connection(self.port) as connection:
            return connection.ask(method, path)


@pytest.fixture(scope="module", params=subjects(), ids=str)
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    site = Site(request.param)
    yield site
    site.subject.kill()


def expected_sum(files: int) -> int:
    """Returns the sum that the page should show, computed from the source files of its classes."""
    total = 0
    for number in range(files):
        text = (SITE / "modules" / f"Module{number:03d}.php").read_text()
        factor, shift = map(int, re.search(r"\$seed \* (\d+) \+ (\d+)", text).groups())
        word = re.search(r"\$part->(\w+)\(\)", text)[1]
        label = re.search(rf"'{word}' => '([^']*)'", text)[1]
        labels = len(re.findall(r"^ {8}'\w+' => ", text, re.MULTILINE))
        modulus = int(re.search(r"new self\(\$seed % (\d+)\)", text)[1])
        length = len(f"{label} {number % modulus}") + labels
        total = (total + (number * factor + shift + length) % 65521) % 1000003
    return total


@pytest.mark.parametrize("files", [1, 3, 500])
def test_a_page_of_so_many_files(site: Site, files: int) -> None:
    answer = site.ask(f"/include.php?files={files}")
    assert answer.status == 200
    assert f"{files} files were used; together they say {expected_sum(files)}." in answer.body.decode()


def test_the_blog(site: Site) -> None:
    title = (SITE / "blog/posts/07.txt").read_text().splitlines()[0].removeprefix("title: ")
    page = site.ask("/blog/index.php?post=7").body.decode()
    assert f"<h1>{title}</h1>" in page and page.count("<h2>") == 7 and "&lt;3&gt; &amp; more" in page
    assert site.ask("/blog/index.php?post=99").status == 404
    tagged = site.ask("/blog/index.php?tag=ada").body.decode()
    assert 0 < tagged.count("<section>") <= 8
    hostile = site.ask("/blog/index.php?tag=%3Cscript%3E").body.decode()
    assert "<script>" not in hostile and "&lt;script&gt;" in hostile


def test_what_is_refused(site: Site) -> None:
    assert site.ask("/include.php?files=501").status == 400
    assert site.ask("/nothing").status == 404
    refused = site.ask("/include.php?files=1", "DELETE")
    assert refused.status == 405 and "GET" in refused.header("allow")


def test_its_settings_are_what_its_name_says(site: Site) -> None:
    arguments = site.opened.arguments
    names = ("validate_timestamps", "revalidate_freq", "file_cache_only", "preload", "jit")
    assert tuple(arguments[f"opcache_{name}"] for name in names) == SETTINGS[site.cache]


def test_it_tells_what_its_cache_did_and_leaves_nothing(site: Site) -> None:
    """Checks the subject's report and that nothing remains. This must be the last test of a subject."""
    for _ in range(5):
        site.ask("/include.php?files=10")
    folder = Path(f"/proc/{site.pids[-1]}/cwd").readlink()
    closed = {key: float(value) for key, value in
              site.subject.ask_for("closed", "close").arguments.items()}
    assert set(closed) == {"cold_page", "cache_memory", "cached_files", "opcache_hits", "opcache_misses"}
    assert closed["cold_page"] > 0
    in_memory = site.cache not in ("none", "files")
    assert (closed["opcache_hits"] > 0) == in_memory
    assert (closed["cache_memory"] > 0) == in_memory
    # The page of 500 files, the blog and status.php were requested.
    assert closed["cached_files"] == 0 if site.cache == "none" else closed["cached_files"] > 510
    assert eventually(lambda: not folder.exists() and not any(map(exists, site.pids)))


def test_a_cache_that_is_not_used_is_an_error() -> None:
    """OPcache does not store a file that was changed within the last two seconds, or will be."""
    site = Site(next(subject for subject in subjects() if subject.name == "mod-each"))
    try:
        folder = Path(f"/proc/{site.pids[-1]}/cwd").readlink()
        tomorrow = time.time() + 86_400
        for file in (folder / "site/blog").rglob("*.php"):
            os.utime(file, (tomorrow, tomorrow))
        assert site.subject.ask_for_error("close") == "failed"
    finally:
        site.subject.kill()


def test_a_killed_subject_leaves_nothing() -> None:
    site = Site(next(subject for subject in subjects() if subject.name == "fpm-opcache"))
    folder = Path(f"/proc/{site.pids[-1]}/cwd").readlink()
    site.subject.kill()
    assert eventually(lambda: not folder.exists() and not any(map(exists, site.pids)))


def exists(pid: int) -> bool:
    """Returns True unless the process is a zombie, which its new parent may not wait for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False
