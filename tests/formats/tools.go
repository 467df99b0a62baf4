// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package formats pins the Go tools with which benchlab's output is checked.
package formats

import _ "golang.org/x/perf/cmd/benchstat"
