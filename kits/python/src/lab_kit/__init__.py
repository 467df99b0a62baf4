# SPDX-License-Identifier: Apache-2.0
"""Implements the subject protocol (docs/protocol.md) for Python. A program passes its cases to
`serve`, or its fixture to `serve_fixture`, which communicates with benchlab until the end."""

from lab_kit.errors import UnsupportedError, UsageError
from lab_kit.fixture import Checked, Fixture, Outage, State, Visit, serve_fixture
from lab_kit.latencies import Latencies
from lab_kit.opening import Opening
from lab_kit.subject import Case, serve
from lab_kit.work import Perform, Work
from lab_kit.workers import Share, workers

__all__ = ["Case", "Checked", "Fixture", "Latencies", "Opening", "Outage", "Perform", "Share", "State",
           "UnsupportedError", "UsageError", "Visit", "Work", "serve", "serve_fixture", "workers"]
