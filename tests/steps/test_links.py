# SPDX-License-Identifier: Apache-2.0
"""Broken links between Markdown pages are found, and nothing else is reported."""

from pathlib import Path

import links
import pytest

TARGET = """# A page

## What `fork` costs: 10 µs

## Twice

## Twice

```sh
# not a heading
```

<a id="named"></a>
"""


def broken(folder: Path, text: str) -> list[str]:
    (folder / "sub").mkdir()
    (folder / "sub/target.md").write_text(TARGET)
    page = folder / "page.md"
    page.write_text(text)
    return [fault.removeprefix(f"{page}:") for fault in links.broken(page)]


@pytest.mark.parametrize("link", [
    "sub", "sub/target.md", "sub/target.md#a-page", "sub/target.md#what-fork-costs-10-µs", "sub/target.md#twice-1",
    "sub/target.md#named", "https://example.org/missing.md", "mailto:a@example.org", "#here"])
def test_a_link_that_leads_somewhere(tmp_path: Path, link: str) -> None:
    assert broken(tmp_path, f"# Here\n\n[text]({link}) and [`code`]({link} \"title\")\n") == []


@pytest.mark.parametrize(("link", "reason"), [
    ("target.md", "file"), ("sub/missing.md", "file"), ("sub/target.md#missing", "heading"),
    ("sub/target.md#twice-2", "heading"), ("sub/target.md#not-a-heading", "heading"), ("#there", "heading")])
def test_a_link_that_leads_nowhere(tmp_path: Path, link: str, reason: str) -> None:
    assert broken(tmp_path, f"# Here\n\n[a text over\ntwo lines]({link})\n") == [f"3: {link}: no such {reason}"]


def test_a_reference_that_leads_nowhere(tmp_path: Path) -> None:
    assert broken(tmp_path, "[text][1]\n\n[1]: missing.md\n") == ["3: missing.md: no such file"]


@pytest.mark.parametrize("text", ["`[text](missing.md)`\n", "```\n[text](missing.md)\n```\n"])
def test_code_holds_no_links(tmp_path: Path, text: str) -> None:
    assert broken(tmp_path, text) == []


def test_a_broken_link_is_printed_and_ends_with_1(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("[text](missing.md)\n")
    monkeypatch.setattr(links, "pages", lambda: [page])
    assert links.main() == 1
    assert capsys.readouterr().out == f"{page}:1: missing.md: no such file\n"


def test_changelogs_are_left_out() -> None:
    assert links.ROOT / "README.md" in links.pages()
    assert links.ROOT / "CHANGELOG.md" not in links.pages()
