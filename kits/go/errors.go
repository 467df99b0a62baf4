// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"errors"
	"fmt"
)

// UsageError is the error of an invalid command: unknown, out of order, or with a missing or
// malformed argument. It is reported as `usage`.
type UsageError struct{ message string }

func (e UsageError) Error() string { return e.message }

func usage(format string, values ...any) error {
	return UsageError{fmt.Sprintf(format, values...)}
}

// UnsupportedError means that this subject does not support a case or parameter. It is reported as
// `unsupported`.
type UnsupportedError struct{ message string }

func (e UnsupportedError) Error() string { return e.message }

// Unsupported returns an UnsupportedError.
func Unsupported(format string, values ...any) error {
	return UnsupportedError{fmt.Sprintf(format, values...)}
}

// code returns the protocol's code of an error. All other errors mean that the work itself failed.
func code(err error) string {
	if errors.As(err, new(UsageError)) {
		return "usage"
	}
	if errors.As(err, new(UnsupportedError)) {
		return "unsupported"
	}
	return "failed"
}
