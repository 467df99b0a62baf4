// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"benchlab/lab"
)

// The case is opened as benchlab opens it. Its loop is the subject's own, so it costs the same under both tools.
func BenchmarkOperation(b *testing.B) {
	for _, threads := range []string{"1", "2"} {
		b.Run("threads="+threads, func(b *testing.B) {
			opening, err := lab.NewOpening(map[string]string{"seed": "1", "threads": threads, "scheme": ""})
			if err != nil {
				b.Fatal(err)
			}
			opened, err := openUncontended(opening)
			if err != nil {
				b.Fatal(err)
			}
			defer opened.Close()
			b.ResetTimer()
			work, err := opened.Perform(uint64(b.N))
			b.StopTimer()
			if err != nil || work.Units != uint64(b.N) {
				b.Fatalf("%d operations instead of %d: %v", work.Units, b.N, err)
			}
		})
	}
}
