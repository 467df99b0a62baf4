// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

func BenchmarkOperation(b *testing.B) { benchmark(b, "atomic", openIncrement) }
