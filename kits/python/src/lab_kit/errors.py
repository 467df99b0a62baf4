# SPDX-License-Identifier: Apache-2.0
"""Errors with their own codes in replies. All other exceptions are reported as `failed`, which
means that the work itself failed."""


class UsageError(Exception):
    """Raised if the command is unknown or out of order, or an argument is missing or malformed."""


class UnsupportedError(Exception):
    """Raised if the subject does not support the case or parameter."""
