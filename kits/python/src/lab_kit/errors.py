# SPDX-License-Identifier: Apache-2.0
"""Errors that a reply reports with a code of their own. Any other exception is reported as
`failed`: the work itself went wrong."""


class UsageError(Exception):
    """An unknown command, a missing or malformed argument, a command out of order."""


class UnsupportedError(Exception):
    """This subject has no such case or parameter."""
