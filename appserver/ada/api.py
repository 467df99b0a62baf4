#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The benchlab authors
"""Writes the API documentation of the crates as HTML: api.py DIRECTORY

Each public package has a page with its description, and each public declaration with its comment. GNATdoc's tags
(@param, @return, @exception) become lists."""

import html
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

import release

UNIT = re.compile(r"^(private )?package (?:body )?([\w.]+)", re.MULTILINE)
RULE = re.compile(r" *-{4,}")
HEADING = re.compile(r" *-- (.*) --")
NESTED = re.compile(r"   package (\w+) is")
COMMENT = re.compile(r" *--(?:  ?(.*))?")
TAG = re.compile(r"@(param|exception|return)\b ?(.*)")
DECLARED = re.compile(r"\b(?:procedure|function|type|subtype|package|entry) +(\w+|\"[^\"]+\")|^ *(\w+)(?:, *\w+)* *:", re.MULTILINE)
# Pragmas and use clauses, which the pages omit
CONTEXT = re.compile(r"^ {0,3}(?:pragma|use) [^;]*;\n?", re.MULTILINE)
PACKAGE = re.compile(r"\bAppserver(?:\.[A-Z]\w*)*")
STYLE = """:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }
pre { font: 14px/1.4 ui-monospace, monospace; overflow-x: auto; padding: .6rem .8rem; background: #8881; border-radius: 4px; margin: 0 }
section { margin: 1.5rem 0 }
.doc { margin: .4rem 0 0 1rem }
p { margin: .5rem 0 }
dl { margin: .3rem 0 }
dt { float: left; clear: left; margin-right: .6rem; font-family: ui-monospace, monospace }
dd { margin-left: 9rem }
h2 { margin-top: 2.5rem }
a { color: inherit }
td { padding: .15rem 1rem .15rem 0; vertical-align: top }"""
NAMES = {"param": "parameters", "exception": "exceptions", "return": "result"}


@dataclass
class Item:
    """An item on a page: a heading, text, or declarations with the comment that describes them."""

    code: list[str] = field(default_factory=list)
    comment: list[str] = field(default_factory=list)
    heading: str = ""


@dataclass
class Package:
    crate: release.Crate
    name: str
    description: list[str]
    items: list[Item]

    @property
    def page(self) -> str:
        return f"{self.name.lower().replace('.', '-')}.html"


def comment_of(lines: list[str]) -> list[str]:
    return [(COMMENT.fullmatch(line)[1] or "").rstrip() for line in lines]


def items_of(lines: list[str], indent: int) -> list[Item]:
    """Splits declarations at blank lines, and before a declaration that follows a comment with the same indentation."""
    margin = " " * indent + "--"
    items: list[Item] = []
    current = Item()

    def finish() -> None:
        nonlocal current
        if current.code or current.comment:
            items.append(current)
        current = Item()

    for line in lines:
        if not line.strip():
            finish()
        elif RULE.fullmatch(line):
            finish()
        elif found := HEADING.fullmatch(line):
            finish()
            items.append(Item(heading=found[1].strip()))
        elif line.startswith(margin):
            current.comment.append(line)
        else:
            if current.comment and current.code:
                finish()
            current.code.append(line)
    finish()
    return items


def declarations_of(lines: list[str]) -> list[Item]:
    """Returns the items of a package. A heading precedes the items of a nested package."""
    items: list[Item] = []
    outer: list[str] = []
    rest = iter(lines)
    for line in rest:
        if not (found := NESTED.fullmatch(line)):
            outer.append(line)
            continue
        inner = []
        while not re.fullmatch(rf"   end {found[1]};", line := next(rest)):
            inner.append(line.removeprefix("   "))
        visible = inner[:inner.index("private")] if "private" in inner else inner
        items += [*items_of(outer, 3), Item(heading=f"package {found[1]}"), *declarations_of(visible)]
        outer = []
    return items + items_of(outer, 3)


def read(crate: release.Crate, file: Path) -> Package | None:
    """Returns the public part of a specification; None if the package is private."""
    text = file.read_text()
    unit = UNIT.search(text)
    if not unit or unit[1]:
        return None
    head, public = text[:unit.start()], text[unit.end():]
    top = [line for line in head.splitlines() if line.startswith("--")]
    public = re.split(r"^(?:private|end [\w.]+;)$", public, maxsplit=1, flags=re.MULTILINE)[0]
    lines = public.splitlines()
    begin = next((number for number, line in enumerate(lines) if re.search(r"\bis$", line)), -1)
    items = declarations_of(lines[begin + 1:])
    if "generic\n" in head:
        formal = head[head.index("generic\n") + len("generic\n"):].splitlines()
        items = [Item(heading="Generic parameters"), *items_of(formal, 3), Item(heading="Declarations"), *items]
    for item in items:
        item.code = CONTEXT.sub("", "\n".join(item.code)).splitlines()
    return Package(crate, unit[2], comment_of(top[3:]), [item for item in items if item.code or item.comment or item.heading])


def linked(text: str, pages: dict[str, str], own: str = "") -> str:
    """Escapes text for HTML, and turns the names of packages into links."""
    def link(name: re.Match[str]) -> str:
        words = name[0].split(".")
        for length in range(len(words), 0, -1):
            known = ".".join(words[:length])
            if known in pages and known not in (own, "Appserver"):
                return f'<a href="{pages[known]}">{known}</a>' + name[0][len(known):]
        return name[0]

    return PACKAGE.sub(link, html.escape(text, quote=False))


def prose(lines: list[str], pages: dict[str, str], own: str) -> str:
    """Converts a comment to HTML, with its paragraphs, indented examples and tags."""
    result: list[str] = []
    paragraph: list[str] = []
    example: list[str] = []
    tags: list[tuple[str, str]] = []

    def finish() -> None:
        if paragraph:
            result.append(f"<p>{linked(' '.join(paragraph), pages, own)}</p>")
            paragraph.clear()
        while example and not example[-1]:
            example.pop()
        if example:
            result.append(f"<pre>{linked(chr(10).join(example), pages, own)}</pre>")
            example.clear()

    for line in lines:
        if found := TAG.match(line):
            finish()
            tags.append((found[1], found[2]))
        elif tags and line:
            tags[-1] = (tags[-1][0], f"{tags[-1][1]} {line.strip()}")
        elif line.startswith("   "):
            if paragraph:
                finish()
            example.append(line[3:])
        elif not line:
            if example:
                example.append("")
            else:
                finish()
        else:
            if example:
                finish()
            paragraph.append(line)
    finish()
    for kind, title in NAMES.items():
        rows = []
        for tag, text in tags:
            if tag == kind:
                name, meaning = ("", text) if kind == "return" else (text.split(" ", 1) + [""])[:2]
                rows.append(f"<dt>{html.escape(name or 'returns')}</dt><dd>{linked(meaning, pages, own)}</dd>")
        if rows:
            result.append(f'<dl class="{title}">{"".join(rows)}</dl>')
    return "\n".join(result)


def document(title: str, body: str) -> str:
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"/><title>{html.escape(title)}</title>'
            f'<meta name="viewport" content="width=device-width"/><style>{STYLE}</style></head>\n<body>\n{body}\n</body>\n</html>\n')


def page(package: Package, pages: dict[str, str]) -> str:
    body = [f'<p><a href="index.html">All packages</a> · crate <code>{package.crate.name}</code> {package.crate.version}</p>',
            f"<h1>{package.name}</h1>", prose(package.description, pages, package.name)]
    used: set[str] = set()
    for item in package.items:
        if item.heading:
            body.append(f"<h2>{html.escape(item.heading)}</h2>")
            continue
        code = "\n".join(line[3:] if line.startswith("   ") else line for line in item.code)
        names = [(found[1] or found[2]).strip('"') for found in DECLARED.finditer(code)]
        anchor = next((name.lower() for name in names if name.lower() not in used), "")
        used.add(anchor)
        identified = f' id="{html.escape(anchor)}"' if anchor else ""
        text = prose(comment_of(item.comment), pages, package.name)
        listing = f"<pre>{linked(code, pages, package.name)}</pre>" if code else ""
        body.append(f'<section{identified}>{listing}<div class="doc">{text}</div></section>')
    return document(package.name, "\n".join(body))


def first_sentence(package: Package) -> str:
    text = " ".join(line.strip() for line in package.description).strip()
    return re.split(r"(?<=\.)\s|:\s", text, maxsplit=1)[0].rstrip(":")


def index(packages: list[Package], pages: dict[str, str]) -> str:
    body = ["<h1>Appserver in Ada</h1>"]
    for crate in sorted({package.crate.name for package in packages}):
        own = [package for package in packages if package.crate.name == crate]
        rows = "".join(f'<tr><td><a href="{package.page}">{package.name}</a></td><td>{linked(first_sentence(package), {}, "")}</td></tr>'
                       for package in sorted(own, key=lambda package: package.name))
        body.append(f"<h2>{crate}</h2>\n<p>{html.escape(own[0].crate.manifest['description'])}</p>\n<table>{rows}</table>")
    return document("Appserver in Ada", "\n".join(body))


def main(folder: Path) -> None:
    found = [read(crate, file) for crate in release.crates() for file in sorted(crate.folder.glob("src/*.ads"))]
    packages = [package for package in found if package]
    pages = {package.name: package.page for package in packages}
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for package in packages:
        (folder / package.page).write_text(page(package, pages))
    (folder / "index.html").write_text(index(packages, pages))
    print(f"{len(packages)} packages: {folder}/index.html")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
