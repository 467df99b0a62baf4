# SPDX-License-Identifier: Apache-2.0
"""Resources that a program may leak when it starts other programs: open descriptors and child processes."""

import os
from pathlib import Path


def descriptors() -> int:
    """Returns the number of open descriptors of this process."""
    return len(os.listdir("/proc/self/fd")) - 1  # without the descriptor of the directory itself


def children() -> int:
    """Returns the number of child processes, including zombies."""
    return sum(len(file.read_text().split()) for file in Path("/proc/self/task").glob("*/children"))
