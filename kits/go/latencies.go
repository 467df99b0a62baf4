// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"math/bits"
	"strconv"
)

// Latencies is a histogram of the latencies of operations, with the buckets defined in
// docs/protocol.md. Each goroutine needs its own histogram. Recording costs one clock reading and
// one addition.
type Latencies struct {
	counts      [buckets]uint64
	start, last int64 // ns of CLOCK_MONOTONIC
}

const buckets = 1920 // the number of buckets for 64-bit latencies

// bucket returns the bucket of a latency. The width of a bucket is at most 1/32 of its values.
func bucket(ns uint64) int {
	if ns < 64 {
		return int(ns)
	}
	e := bits.Len64(ns) - 6
	return e*32 + int(ns>>e)
}

// Start clears the histogram and starts the first operation.
func (l *Latencies) Start() {
	clear(l.counts[:])
	l.start = monotonic()
	l.last = l.start
}

// Done ends an operation and starts the next one.
func (l *Latencies) Done() {
	now := monotonic()
	l.counts[bucket(uint64(now-l.last))]++
	l.last = now
}

// Finish ends the last operation unless Done did. If the histogram has no counts, only its start and end are reported.
func (l *Latencies) Finish() {
	if l.last == l.start {
		l.last = monotonic()
	}
}

// add merges the latencies of another goroutine. The result lasts from the earliest start to the
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

// String returns INDEX:COUNT,… for all buckets that are not empty.
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
