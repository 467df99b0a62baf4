// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"math/bits"
	"strconv"
)

// Latencies is a histogram of how long operations took, in the buckets that docs/protocol.md
// defines. Each goroutine records its own; to record is one reading of the clock and an addition.
type Latencies struct {
	counts      [buckets]uint64
	start, last int64 // ns of CLOCK_MONOTONIC
}

const buckets = 1920 // as many as there are for 64 bits

// bucket returns where a latency counts: a bucket is at most 1/32 as wide as what it counts.
func bucket(ns uint64) int {
	if ns < 64 {
		return int(ns)
	}
	e := bits.Len64(ns) - 6
	return e*32 + int(ns>>e)
}

// Start empties the histogram and begins the first operation.
func (l *Latencies) Start() {
	clear(l.counts[:])
	l.start = monotonic()
	l.last = l.start
}

// Done ends an operation and begins the next one.
func (l *Latencies) Done() {
	now := monotonic()
	l.counts[bucket(uint64(now-l.last))]++
	l.last = now
}

// Finish ends the last operation, unless Done did: a histogram without a count is not told, only its time.
func (l *Latencies) Finish() {
	if l.last == l.start {
		l.last = monotonic()
	}
}

// add counts what another goroutine recorded, too; the result spans the earliest start to the
// last end. A goroutine that did no operation adds nothing.
func (l *Latencies) add(other *Latencies) {
	if other.last == other.start {
		return
	}
	if l.last == l.start {
		l.start, l.last = other.start, other.last
	}
	l.start = min(l.start, other.start)
	l.last = max(l.last, other.last)
	for i, count := range other.counts {
		l.counts[i] += count
	}
}

// String returns INDEX:COUNT,… of all buckets that are not empty.
func (l *Latencies) String() string {
	var text []byte
	for i, count := range l.counts {
		if count == 0 {
			continue
		}
		if text != nil {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(i), 10)
		text = append(text, ':')
		text = strconv.AppendUint(text, count, 10)
	}
	return string(text)
}
