# SPDX-License-Identifier: Apache-2.0
"""docs/architecture.md lists every crate, each above the crates that it depends on."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_dependencies_point_down_the_list() -> None:
    crates = re.findall(r"^\| `([a-z-]+)` \|", (ROOT / "docs/architecture.md").read_text(), re.MULTILINE)
    manifests = {path.parent.name: tomllib.loads(path.read_text()) for path in ROOT.glob("crates/*/Cargo.toml")}
    assert sorted(crates) == sorted(manifests)
    upward = [(crate, needed)
              for at, crate in enumerate(crates)
              for needed in manifests[crate].get("dependencies", {})
              if needed in crates[:at]]
    assert upward == []
