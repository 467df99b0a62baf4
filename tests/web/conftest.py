# SPDX-License-Identifier: Apache-2.0
"""Runs, the pages of `benchlab serve` over them, and a browser that records what it loads and its errors."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from local_pages import TIMEOUT_MS, BrowserLog, Served, compare, serve
from playwright.sync_api import Browser, Page, expect, sync_playwright

# The options of a browser that runs as root and without user interaction.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]

expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    runs = tmp_path_factory.mktemp("runs")
    for _ in range(3):
        completed = compare(runs, "shell", "--blocks", "6", "--pairs", "1")
        _, errors = completed.communicate()
        assert completed.returncode == 0, errors
    yield from serve(runs)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def browser_log() -> BrowserLog:
    return BrowserLog()


@pytest.fixture
def page(browser: Browser, served: Served, browser_log: BrowserLog) -> Iterator[Page]:
    """Returns a page without a history. Afterwards it must have loaded everything from this server, without
    errors."""
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.on("request", lambda request: browser_log.loaded.append(request.url))
        page.on("console", lambda message: browser_log.complaints.append(message.text))
        page.on("pageerror", lambda error: browser_log.complaints.append(str(error)))
        yield page
        host = urlsplit(served.url).netloc
        elsewhere = [url for url in browser_log.loaded if urlsplit(url).netloc != host]
        assert browser_log.loaded and not elsewhere
        assert not browser_log.complaints
