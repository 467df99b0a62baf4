#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks Rust dependencies against deny.toml: the licenses of the workspace's dependencies, and the sources and names
of the dependencies in every Cargo.lock. Prints each violation, and exits with 1 if there are any."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RULES = tomllib.loads((ROOT / "deny.toml").read_text())
TOKEN = re.compile(r"[()/]|[\w.+-]+")


def is_allowed(expression: str) -> bool:
    """Evaluates an SPDX license expression. A slash, which older crates use, means OR. A license with an exception is
    allowed if the license is."""
    allowed = RULES["licenses"]["allow"]
    code, is_exception = [], False
    for token in TOKEN.findall(expression):
        if is_exception:
            is_exception = False
        elif token == "WITH":
            is_exception = True
        elif token in ("(", ")"):
            code.append(token)
        elif token in ("AND", "OR", "/"):
            code.append("and" if token == "AND" else "or")
        else:
            code.append(str(token in allowed))
    return bool(code) and bool(eval(" ".join(code)))  # The code has only parentheses and the words above.


def licenses() -> Iterator[str]:
    command = ["cargo", "metadata", "--locked", "--quiet", "--format-version", "1"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    for package in metadata["packages"]:
        license = package["license"] or ""
        if package["source"] and not is_allowed(license):
            yield f"{package['name']} {package['version']}: the license {license or '(none)'} is not allowed"
        if not package["source"]:
            for dependency in package["dependencies"]:
                if dependency["req"] == "*" and "path" not in dependency:
                    yield f"{package['name']}: the version of {dependency['name']} is not specified"


def locked() -> Iterator[str]:
    registries = ["registry+" + url for url in RULES["sources"]["allow-registry"]]
    files = subprocess.run(["git", "ls-files", "*Cargo.lock"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    for file in files.stdout.split():
        for package in tomllib.loads((ROOT / file).read_text())["package"]:
            name = f"{file}: {package['name']} {package['version']}"
            source = package.get("source")
            if source is not None and source not in registries:
                yield f"{name}: the source {source} is not allowed"
            if package["name"] in RULES["bans"]["deny"]:
                yield f"{name}: the crate is banned"


def main() -> int:
    violations = [*licenses(), *locked()]
    for violation in violations:
        print(violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
