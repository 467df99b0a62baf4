// SPDX-License-Identifier: Apache-2.0
// Errors with their own codes in replies. All other errors are reported as `failed`, which means
// that the work itself failed.

/** The command is unknown or out of order, or an argument is missing or malformed. */
export class UsageError extends Error {}

/** This subject does not support the case or parameter. */
export class UnsupportedError extends Error {}
