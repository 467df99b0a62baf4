# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The benchlab authors
"""Writes the API documentation, and checks it: pages are well-formed, links have targets, and no declaration, comment or tag
of a public part is lost: python3 api.py DIRECTORY"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ADA = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path[:1] = [str(ADA)]
import api  # noqa: E402
import release  # noqa: E402

WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]{3,}")


def parts(text: str) -> tuple[str, str]:
    """Returns the text before the name of a package, and the public part without the private parts of nested packages."""
    unit = api.UNIT.search(text)
    public = re.split(r"^(?:private|end [\w.]+;)$", text[unit.end():], maxsplit=1, flags=re.MULTILINE)[0]
    return text[:unit.start()], re.sub(r"^   private$.*?^   end \w+;$", "", public, flags=re.MULTILINE | re.DOTALL)


def check(package: api.Package, text: str, folder: Path) -> int:
    page = ElementTree.fromstring((folder / package.page).read_text().partition("\n")[2])
    for link in page.iter("a"):
        assert (folder / link.get("href")).is_file(), f"{package.name}: {link.get('href')}"
    head, public = parts(text)
    # The pages do not show the aspects of the package, and clauses that only the code of the specification needs
    shown = api.CONTEXT.sub("", re.sub(r"\A.*?\bis$", "", public, count=1, flags=re.MULTILINE | re.DOTALL))
    lost = set(WORD.findall(shown)) - set(WORD.findall(" ".join(page.itertext()))) - {"param", "return", "exception"}
    assert not lost, f"{package.name}: {sorted(lost)}"
    described = len(page.findall(".//dl[@class='parameters']/dt"))
    assert described == len(re.findall(r"-- +@param ", head + public)), package.name
    return described


def main(folder: Path) -> None:
    api.main(folder)
    count = parameters = 0
    for crate in release.crates():
        for file in sorted(crate.folder.glob("src/*.ads")):
            if package := api.read(crate, file):
                parameters += check(package, file.read_text(), folder)
                count += 1
    assert count == len(list(folder.glob("*.html"))) - 1
    print(f"API documentation: {count} packages, {parameters} described parameters")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
