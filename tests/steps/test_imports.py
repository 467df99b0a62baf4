# SPDX-License-Identifier: Apache-2.0
"""Circles of imports among the files of a crate are found, and nothing else is reported."""

from pathlib import Path

import imports
import pytest


def circles(folder: Path, files: dict[str, str]) -> list[list[str]]:
    for name, text in files.items():
        file = folder / "src" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    found = imports.circles(imports.Crate(folder).arrows())
    return [[imports.name(module) for module in circle] for circle in found]


@pytest.mark.parametrize("back", [
    "use crate::a::A;", "use super::a::A;", "use crate::{b::c, a::{self, A}};", "fn f() { crate::a::f() }",
    "fn f(of: super::a::A) {}", "use super::{A};"])
def test_two_files_that_import_each_other(tmp_path: Path, back: str) -> None:
    files = {"lib.rs": "mod a;\nmod b;\npub use a::A;\n", "a.rs": "use crate::b::B;\npub struct A;\n", "b.rs": back}
    assert circles(tmp_path, files) == [["a", "b"]]


def test_a_circle_through_a_folder(tmp_path: Path) -> None:
    files = {"lib.rs": "mod a;\nmod b;", "a/mod.rs": "mod c;\npub use c::C;", "a/c.rs": "use crate::b::B;",
             "b.rs": "use crate::a::C;"}
    assert circles(tmp_path, files) == [["a::c", "b"]]


@pytest.mark.parametrize("back", [
    "// use crate::a::A;", "/* crate::a::f() */", 'const S: &str = "crate::a::f";', "use std::a::A;",
    "pub struct B;\n\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n"])
def test_what_is_no_import(tmp_path: Path, back: str) -> None:
    assert circles(tmp_path, {"lib.rs": "mod a;\nmod b;", "a.rs": "use crate::b::B;", "b.rs": back}) == []


def test_a_circle_is_printed_and_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    circles(tmp_path, {"lib.rs": "mod a;\nmod b;", "a.rs": "use crate::b::B;", "b.rs": "use crate::a::A;"})
    assert imports.main([str(tmp_path)]) == 1
    assert "a imports b" in capsys.readouterr().out
