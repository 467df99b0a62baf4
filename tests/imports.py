#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds files of a crate that import each other in a circle: `imports.py CRATE…`. Exits with 1 if there are some.

An import is a path from `crate`, `super` or `self` to a name that another file of the crate defines, or a re-export
(`pub use`) of such a name."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

Module = tuple[str, ...]
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"', re.DOTALL)
TESTS = re.compile(r"^#\[cfg\(test\)\]\n(pub(\([^)]*\))? )?mod ", re.MULTILINE)
"""The beginning of a file's tests. The rest of the file is not part of the crate's own code."""
USE = re.compile(r"^\s*(pub(?:\([^)]*\))? )?use ([^;]+);", re.MULTILINE)
VISIBILITY = re.compile(r"\bpub\s*\([^)]*\)")
PATH = re.compile(r"(?<![\w:])((?:crate|self|super)(?:::\w+)+)")


class Crate:
    """The files of a crate, and the names that each imports and re-exports."""

    def __init__(self, folder: Path) -> None:
        root = folder / "src"
        self.files = {module_of(file.relative_to(root)): file for file in sorted(root.rglob("*.rs")) if "bin" not in file.parts}
        self.imports: dict[Module, list[Module]] = {}
        self.handed_on: dict[Module, dict[str, Module]] = {}
        for module, file in self.files.items():
            self.read(module, NOT_CODE.sub(" ", TESTS.split(file.read_text())[0]))

    def read(self, module: Module, text: str) -> None:
        self.imports[module], self.handed_on[module] = [], {}
        for public, tree in USE.findall(text):
            for path, name in leaves(tree):
                target = self.absolute(module, path)
                if public:
                    self.handed_on[module][name] = target
                if self.is_in_crate(module, path):
                    self.imports[module].append(target)
        for path in PATH.findall(VISIBILITY.sub(" ", USE.sub(" ", text))):
            self.imports[module].append(self.absolute(module, path.split("::")))

    def is_in_crate(self, module: Module, path: list[str]) -> bool:
        return path[0] in ("crate", "self", "super") or (*module, path[0]) in self.files

    def absolute(self, module: Module, path: list[str]) -> Module:
        if path[0] == "crate":
            return tuple(path[1:])
        while path[0] in ("self", "super"):
            module = module[:-1] if path[0] == "super" else module
            path = path[1:]
            if not path:
                return module
        return (*module, *path)

    def defined_in(self, path: Module, visited: frozenset[Module] = frozenset()) -> Module | None:
        """Returns the file that defines the last name of a path."""
        for length in range(len(path), -1, -1):
            module, rest = path[:length], path[length:]
            if module not in self.files:
                continue
            if not rest:
                return module
            further = self.handed_on[module].get(rest[0])
            if further is not None and path not in visited:
                return self.defined_in((*further, *rest[1:]), visited | {path})
            return module
        return None

    def arrows(self) -> dict[Module, set[Module]]:
        """Returns the files that each file imports."""
        found = {}
        for module, paths in self.imports.items():
            targets = {self.defined_in(path) for path in paths}
            found[module] = {target for target in targets if target is not None and target != module}
        return found


def module_of(file: Path) -> Module:
    parts = file.with_suffix("").parts
    if parts in (("lib",), ("main",)):
        return ()
    # `chart/chart.rs` is `chart/mod.rs` under another name, with a `#[path]`.
    return parts[:-1] if parts[-1] == "mod" or parts[-1:] == parts[-2:-1] else parts


def leaves(tree: str) -> Iterator[tuple[list[str], str]]:
    """Returns the paths of a `use`, each with the name that it has where it is used."""
    tree = tree.strip()
    if not tree:
        return
    before, brace, inside = tree.partition("{")
    prefix = [word for word in before.strip().removesuffix("::").split("::") if word]
    if not brace:
        path, _, name = tree.partition(" as ")
        words = [word.strip() for word in path.split("::") if word.strip()]
        if words and words[-1] == "self":
            words.pop()
        if words:
            yield words, (name or words[-1]).strip()
        return
    for part in divided(inside.rstrip().removesuffix("}")):
        if part.strip() == "self":
            yield prefix, prefix[-1]
            continue
        for path, name in leaves(part):
            yield [*prefix, *path], name


def divided(text: str) -> Iterator[str]:
    """Returns the parts between commas that are not in braces."""
    depth, begin = 0, 0
    for at, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 0:
            yield text[begin:at]
            begin = at + 1
    yield text[begin:]


def circles(arrows: dict[Module, set[Module]]) -> list[list[Module]]:
    """Returns the groups of files that reach each other (Tarjan, 1972)."""
    number: dict[Module, int] = {}
    lowest: dict[Module, int] = {}
    stack: list[Module] = []
    found: list[list[Module]] = []

    def visit(module: Module) -> None:
        number[module] = lowest[module] = len(number)
        stack.append(module)
        for target in sorted(arrows[module]):
            if target not in number:
                visit(target)
                lowest[module] = min(lowest[module], lowest[target])
            elif target in stack:
                lowest[module] = min(lowest[module], number[target])
        if lowest[module] == number[module]:
            at = stack.index(module)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for module in arrows:
        if module not in number:
            visit(module)
    return found


def main(folders: list[str]) -> int:
    wrong = 0
    for folder in map(Path, folders):
        crate = Crate(folder)
        arrows = crate.arrows()
        for circle in circles(arrows):
            wrong += 1
            print(f"{folder}: a circle of imports:")
            for module in circle:
                targets = ", ".join(name(target) for target in sorted(arrows[module] & set(circle)))
                print(f"    {name(module)} imports {targets}")
    return 1 if wrong else 0


def name(module: Module) -> str:
    return "::".join(module) or "lib"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
