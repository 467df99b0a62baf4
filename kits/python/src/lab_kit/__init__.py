# SPDX-License-Identifier: Apache-2.0
"""The subject protocol (docs/protocol.md) for Python: a program passes its cases to `serve`,
which speaks to the lab until the end."""

from lab_kit.errors import UnsupportedError, UsageError
from lab_kit.opening import Opening
from lab_kit.subject import Case, Perform, Work, serve

__all__ = ["Case", "Opening", "Perform", "UnsupportedError", "UsageError", "Work", "serve"]
