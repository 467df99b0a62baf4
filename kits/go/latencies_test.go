// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"math"
	"testing"
)

func TestBucketsAreTheProtocols(t *testing.T) {
	for ns, index := range map[uint64]int{
		0: 0, 63: 63, 64: 64, 65: 64, 66: 65, 127: 95, 128: 96, 1_000: 190, 1_000_000: 509,
		4_294_967_296: 896, math.MaxUint64: buckets - 1,
	} {
		if bucket(ns) != index {
			t.Errorf("%d ns are in bucket %d, not %d", ns, bucket(ns), index)
		}
	}
}

// Buckets have no gaps, and the width of a bucket is at most 1/32 of its values.
func TestBucketsAreNarrowAndWithoutGaps(t *testing.T) {
	begin, index := uint64(0), 0
	for ns := uint64(1); ns < 1<<20; ns++ {
		if bucket(ns) == index {
			continue
		}
		if bucket(ns) != index+1 || ns-begin > max(1, begin/32) {
			t.Fatalf("bucket %d from %d to %d is followed by %d", index, begin, ns-1, bucket(ns))
		}
		begin, index = ns, bucket(ns)
	}
}

func TestLatenciesAddUp(t *testing.T) {
	first := &Latencies{start: 1000, last: 5000}
	first.counts[7], first.counts[190] = 2, 1
	second := &Latencies{start: 900, last: 4000}
	second.counts[190], second.counts[1919] = 3, 1
	idle := &Latencies{start: 10, last: 10}

	var sum Latencies
	for _, each := range []*Latencies{idle, first, second, idle} {
		sum.add(each)
	}
	if sum.String() != "7:2,190:4,1919:1" || sum.start != 900 || sum.last != 5000 {
		t.Error(sum.String(), sum.start, sum.last)
	}
}

func TestLatenciesFillTheTimeFromStartToEnd(t *testing.T) {
	var latencies Latencies
	latencies.Done()
	latencies.Start()
	before := latencies.start
	for range 1000 {
		latencies.Done()
	}
	var count uint64
	for _, n := range latencies.counts {
		count += n
	}
	if count != 1000 || latencies.start != before || latencies.last <= before {
		t.Error(count, latencies.start, latencies.last)
	}
	if allocations := testing.AllocsPerRun(100, latencies.Done); allocations != 0 {
		t.Errorf("recording allocates %v times", allocations)
	}
}
