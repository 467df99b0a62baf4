# SPDX-License-Identifier: Apache-2.0
"""A subject that leaves a file in the directory for temporary files, and logs the directory."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "kits/python/src"))

from lab_kit import serve  # noqa: E402

if __name__ == "__main__":
    folder = Path(os.environ["TMPDIR"])
    print("others:", [path.name for path in folder.iterdir()], file=sys.stderr)
    (folder / "left behind").touch()
    print("own:", folder, file=sys.stderr)
    serve("temporary", "none", {})
