// SPDX-License-Identifier: Apache-2.0
// Errors that a reply reports with a code of their own. Any other is reported as `failed`: the work
// itself went wrong.

/** An unknown command, a missing or malformed argument, a command out of order. */
export class UsageError extends Error {}

/** This subject has no such case or parameter. */
export class UnsupportedError extends Error {}
