# SPDX-License-Identifier: Apache-2.0
"""The pages of `benchlab serve` in a browser: their content, their actions, and their usability."""

import re
import sqlite3

import pytest
from local_pages import TIMEOUT_MS, BrowserLog, Served, compare
from playwright.sync_api import Page, expect

PAGES = ["", "history", "history/shell", "?q=shell", "runs/{0}", "diff?run={0}&run={1}"]


def paths(served: Served) -> list[str]:
    return [served.url + path.format(*served.names()) for path in PAGES]


def test_from_the_list_to_a_report_and_back(page: Page, served: Served) -> None:
    page.goto(served.url)
    runs = page.locator("ul.runs > li")
    expect(runs).to_have_count(3)
    # The script fills in the answers for which the page did not wait.
    expect(page.locator(".pending")).to_have_count(0)
    expect(runs.first.locator(".finding")).to_contain_text(re.compile("A|B"))
    runs.first.locator("h2 a").click()
    expect(page.get_by_role("heading", name="Answer", exact=True)).to_be_visible()
    expect(page.locator("#answer .wide svg.plot")).to_be_visible()
    page.get_by_role("link", name="Runs", exact=True).click()
    page.get_by_role("searchbox").fill("no such run")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").first).to_have_text("0 of 3 runs with “no such run”.")


def test_two_runs_are_chosen_and_compared(page: Page, served: Served) -> None:
    page.goto(served.url)
    for box in page.get_by_role("checkbox").all()[:2]:
        box.check()
    expect(page.locator("#app-count")).to_have_text("2 runs chosen.")
    page.get_by_role("button", name="Compare two").click()
    expect(page).to_have_url(re.compile("/diff"))
    expect(page.locator("main")).to_be_visible()
    expect(page.locator("h1")).not_to_be_empty()


def test_a_report_leads_to_its_history_and_its_exports(page: Page, served: Served) -> None:
    page.goto(f"{served.url}runs/{served.names()[0]}")
    with page.expect_download() as download:
        page.get_by_text("Export", exact=True).click()
        page.get_by_role("link", name="Figures (CSV)").click()
    text = download.value.path().read_text()
    assert text.splitlines()[0].startswith("run,subject")
    page.get_by_role("link", name="History of shell").click()
    expect(page.locator("h1")).to_contain_text("in the latest of 3 runs")
    expect(page.locator("svg.plot").first).to_be_visible()
    page.get_by_label("Latest runs").fill("2")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".about").first).to_contain_text("2 runs")


def test_a_change_is_marked_in_the_history(page: Page, served: Served, tmp_path) -> None:
    # Simulates that from the sixth of ten runs on the second command took three times as long.
    names = served.names()
    paths = []
    for i in range(10):
        path = served.runs / f"mark-{i}.lab"
        path.write_bytes((served.runs / f"{names[0]}.lab").read_bytes())
        paths.append(path)
        with sqlite3.connect(path) as db:
            db.execute("UPDATE meta SET value = json_set(value, '$.experiment', 'mark') WHERE key = 'plan'")
            db.execute("UPDATE meta SET value = value + ? WHERE key = 'started_unix_s'", (60 * i,))
            times = 3 if i >= 5 else 1
            db.execute("UPDATE sample SET wall_ns = wall_ns * ? + ? WHERE subject = 1", (times, i * 1000))
        db.close()
    page.goto(f"{served.url}history/mark")
    expect(page.locator("h1")).to_contain_text("changed with the run of")
    expect(page.locator("#answer svg.plot")).to_contain_text("means between changes")
    for path in paths:
        path.unlink()


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_and_have_contrast(page: Page, served: Served, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    for url in paths(served):
        page.goto(url)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{url} is {wide} wide"
        ink, paper = page.evaluate("(() => { const s = getComputedStyle(document.body); return [s.color, s.backgroundColor] })()")
        assert contrast(ink, paper) >= 7, url


def test_a_phone_shows_all_of_an_answer_s_chart(page: Page, served: Served) -> None:
    names = served.names()
    for path in [f"runs/{names[0]}", f"diff?run={names[0]}&run={names[1]}"]:
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(served.url + path)
            (box,) = [chart.bounding_box() for chart in page.locator("#answer svg.plot").all() if chart.is_visible()]
            assert box and box["x"] >= 0 and box["x"] + box["width"] <= width, path


def test_pages_are_for_keyboards_and_screen_readers(page: Page, served: Served) -> None:
    for url in paths(served):
        page.goto(url)
        assert page.locator("html[lang]").count() == 1
        assert page.locator("main").count() == 1 and page.locator("h1").count() == 1, url
        page.keyboard.press("Tab")
        expect(page.locator(":focus")).to_have_text("Skip to content")
        nameless = page.evaluate("""() => [...document.querySelectorAll('a, button, input:not([type=hidden]), select, summary')]
            .filter(e => !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map(e => e.outerHTML)""")
        assert nameless == []
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
        assert len(ids) == len(set(ids)), url


def test_pages_work_without_their_script(browser, served: Served) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.goto(served.url)
        for box in page.get_by_role("checkbox").all()[:2]:
            box.check()
        page.get_by_role("button", name="Compare two").click()
        expect(page.locator("main")).to_be_visible()


def test_a_run_is_followed_while_it_is_measured(page: Page, served: Served) -> None:
    names_before = served.names()
    running = compare(served.runs, "followed", "--blocks", "10000", "--pairs", "1")  # until Ctrl-C
    while served.names() == names_before:
        assert running.poll() is None
    (name,) = set(served.names()) - set(names_before)
    page.goto(served.url)
    expect(page.locator(".state.measured")).to_have_text("measuring now")
    page.goto(f"{served.url}runs/{name}")
    progress = page.locator("#app-progress")
    expect(progress).to_contain_text(re.compile(r"[0-9]+ blocks? complete in"))
    earlier = progress.inner_text()
    expect(progress).not_to_have_text(earlier)
    expect(page.locator("#app-report #answer .wide svg.plot")).to_be_visible()
    # Ctrl-C: the page becomes the report.
    running.send_signal(2)
    running.communicate()
    expect(page.locator(".following")).to_have_count(0)
    expect(page.locator("#answer")).to_be_visible()


def test_names_from_elsewhere_stay_text(page: Page, served: Served, browser_log: BrowserLog) -> None:
    evil = "<img src=http://evil.example/x onerror=alert(1)><script>alert(2)</script>"
    path = served.runs / "evil.lab"
    path.write_bytes((served.runs / f"{served.names()[0]}.lab").read_bytes())
    with sqlite3.connect(path) as db:
        for place in ["$.title", "$.question", "$.experiment", "$.subjects[0].name", "$.subjects[1].command.line"]:
            db.execute("UPDATE meta SET value = json_set(value, ?, ?) WHERE key = 'plan'", (place, evil))
    db.close()
    page.on("dialog", lambda dialog: browser_log.complaints.append(dialog.message))
    for url in [served.url, f"{served.url}runs/evil", f"{served.url}history"]:
        page.goto(url)
        expect(page.get_by_text("<img src=http").first).to_be_visible()
    path.unlink()


def test_a_run_is_deleted_after_a_question(page: Page, served: Served) -> None:
    page.goto(served.url)
    expect(page.get_by_role("button", name="Delete…")).to_have_count(0)
    page.goto(served.url_with_token)
    assert page.url == served.url
    doomed = page.get_by_role("checkbox").first
    name = doomed.get_attribute("value")
    doomed.check()
    page.get_by_role("button", name="Delete…").click()
    expect(page.locator("h1")).to_have_text("Delete 1 run?")
    assert name in served.names()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page).to_have_url(served.url)
    assert name not in served.names()


def contrast(a: str, b: str) -> float:
    """Returns the contrast of two colors (WCAG 2.2, 1.4.3)."""
    def light(color: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
        parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts))
    high, low = sorted([light(a), light(b)], reverse=True)
    return (high + 0.05) / (low + 0.05)
