// SPDX-License-Identifier: Apache-2.0
// Errors with their own codes in replies. All other errors are reported as `failed`, which means
// that the work itself failed.

/** Thrown if the command is unknown or out of order, or an argument is missing or malformed. */
export class UsageError extends Error {}

/** Thrown if the subject does not support the case or parameter. */
export class UnsupportedError extends Error {}
