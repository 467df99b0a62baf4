// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"benchlab/lab"
)

// benchmark opens a case as benchlab opens it, with 1 and with 2 threads. Its loop is the subject's own, so
// it costs the same under both tools.
func benchmark(b *testing.B, scheme string, open func(*lab.Opening) (lab.Case, error)) {
	for _, threads := range []string{"1", "2"} {
		b.Run("threads="+threads, func(b *testing.B) {
			opening, err := lab.NewOpening(map[string]string{"seed": "1", "threads": threads, "scheme": scheme})
			if err != nil {
				b.Fatal(err)
			}
			opened, err := open(opening)
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
