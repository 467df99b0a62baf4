// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"errors"
	"fmt"
)

// UsageError says that a command was wrong: unknown, out of order, or with an argument that is
// missing or malformed. It is reported as `usage`.
type UsageError struct{ message string }

func (e UsageError) Error() string { return e.message }

func usage(format string, values ...any) error {
	return UsageError{fmt.Sprintf(format, values...)}
}

// UnsupportedError says that this subject has no such case or parameter. It is reported as
// `unsupported`.
type UnsupportedError struct{ message string }

func (e UnsupportedError) Error() string { return e.message }

// Unsupported makes an UnsupportedError.
func Unsupported(format string, values ...any) error {
	return UnsupportedError{fmt.Sprintf(format, values...)}
}

// code is what the protocol calls an error. Every other one means that the work itself failed.
func code(err error) string {
	if errors.As(err, new(UsageError)) {
		return "usage"
	}
	if errors.As(err, new(UnsupportedError)) {
		return "unsupported"
	}
	return "failed"
}
