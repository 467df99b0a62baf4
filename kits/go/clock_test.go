// SPDX-License-Identifier: Apache-2.0

package lab

import "testing"

func TestTheClockIsTheKernels(t *testing.T) {
	_, error := kernelAtOrigin()
	for range 1000 {
		before := kernelMonotonic()
		now := monotonic()
		after := kernelMonotonic()
		if now < before-error || now > after+error {
			t.Fatalf("%d is not between %d and %d, with an error of %d", now, before, after, error)
		}
	}
}

func BenchmarkMonotonic(b *testing.B) {
	for b.Loop() {
		monotonic()
	}
}

func BenchmarkLatencies(b *testing.B) {
	var latencies Latencies
	latencies.Start()
	for b.Loop() {
		latencies.Done()
	}
}
