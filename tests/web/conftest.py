# SPDX-License-Identifier: Apache-2.0
"""Runs, the pages of `benchlab serve` over them, and a browser that notes what it loads and complains of."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from local_pages import Seen, Served, compare, serve
from playwright.sync_api import Browser, Page, sync_playwright

# What a browser needs that runs as root and asks nobody for anything.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    runs = tmp_path_factory.mktemp("runs")
    for _ in range(3):
        done = compare(runs, "shell", "--blocks", "6", "--pairs", "1")
        _, errors = done.communicate()
        assert done.returncode == 0, errors
    yield from serve(runs)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def seen() -> Seen:
    return Seen()


@pytest.fixture
def page(browser: Browser, served: Served, seen: Seen) -> Iterator[Page]:
    """A page without a past. Afterwards it must have loaded all from here, and complained of nothing."""
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("request", lambda request: seen.loaded.append(request.url))
        page.on("console", lambda message: seen.complaints.append(message.text))
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        yield page
        here = urlsplit(served.url).netloc
        elsewhere = [url for url in seen.loaded if urlsplit(url).netloc != here]
        assert seen.loaded and not elsewhere
        assert not seen.complaints
