# SPDX-License-Identifier: Apache-2.0
"""An honest subject that implements only the kit's case noop."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "kits/python/src"))

from lab_kit import serve  # noqa: E402

if __name__ == "__main__":
    serve("plain", "none", {})
