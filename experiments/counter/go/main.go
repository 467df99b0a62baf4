// SPDX-License-Identifier: Apache-2.0

// The counter experiment in Go: sync/atomic and sync.
package main

import (
	"runtime"
	"strings"

	"benchlab/lab"
)

const threadsMax = 1024

func main() {
	lab.Serve(lab.Subject{
		Name:    "go",
		Library: "sync and sync/atomic, Go " + strings.TrimPrefix(runtime.Version(), "go"),
		Cases: map[string]lab.Open{
			"increment":    openIncrement,
			"plain":        openIncrement,
			"read_mostly":  openReadMostly,
			"side_by_side": openSideBySide,
		},
	})
}

func threads(opening *lab.Opening) (uint64, error) {
	return opening.Integer("threads", 1, threadsMax)
}

// shareOf returns the number of a batch's operations that a worker performs. Workers are numbered from 0.
func shareOf(worker, workers, operations uint64) uint64 {
	return (operations - worker + workers - 1) / workers
}

func withLost(work lab.Work, operations, reached uint64) lab.Work {
	lost := 100 * float64(operations-reached) / float64(operations)
	work.Units = operations
	work.Metrics = map[string]float64{"lost": lost}
	return work
}

// -- increment and read_mostly -------------------------------------------------------------------

type counting struct {
	counter counter
	workers *lab.Workers
}

func openIncrement(opening *lab.Opening) (lab.Case, error) {
	return openCounting(opening, func(c counter, worker, times uint64) uint64 {
		c.increments(worker, times)
		return 0
	})
}

func openReadMostly(opening *lab.Opening) (lab.Case, error) {
	return openCounting(opening, counter.incrementsAndReads)
}

func openCounting(opening *lab.Opening, work func(c counter, worker, times uint64) uint64) (lab.Case, error) {
	scheme, err := opening.Text("scheme")
	if err != nil {
		return nil, err
	}
	n, err := threads(opening)
	if err != nil {
		return nil, err
	}
	counter := newCounter(scheme, n)
	if counter == nil {
		return nil, lab.Unsupported("unknown scheme %s", scheme)
	}
	share := func(worker, operations uint64, _ *lab.Latencies) (lab.Work, error) {
		return lab.Work{Check: work(counter, worker, shareOf(worker, n, operations))}, nil
	}
	return &counting{counter, lab.NewWorkers(n, share)}, nil
}

// Perform counts in all goroutines. For a safe counter the check is its final value, and no read may return a
// lower value than the previous read.
func (c *counting) Perform(operations uint64) (lab.Work, error) {
	before := c.counter.value()
	work, err := c.workers.Perform(operations)
	reached := c.counter.value() - before
	if c.counter.isSafe() {
		work.Check += reached
	} else {
		work.Check = operations
	}
	return withLost(work, operations, reached), err
}

func (c *counting) Close() error {
	c.workers.Close()
	return nil
}

// -- side_by_side ----------------------------------------------------------------------------------

type sideBySide struct {
	pair    *counterPair
	workers *lab.Workers
}

func openSideBySide(opening *lab.Opening) (lab.Case, error) {
	n, err := threads(opening)
	if err != nil {
		return nil, err
	}
	pair := new(counterPair)
	share := func(worker, operations uint64, _ *lab.Latencies) (lab.Work, error) {
		pair.increments(shareOf(worker, n, operations))
		return lab.Work{}, nil
	}
	return &sideBySide{pair, lab.NewWorkers(n, share)}, nil
}

// Perform increments both counters, and reports the number of increments that the unsafe counter lost.
func (s *sideBySide) Perform(operations uint64) (lab.Work, error) {
	safe, unsafe := s.pair.safe.value(), s.pair.unsafe.value()
	work, err := s.workers.Perform(operations)
	work.Check = s.pair.safe.value() - safe
	return withLost(work, operations, s.pair.unsafe.value()-unsafe), err
}

func (s *sideBySide) Close() error {
	s.workers.Close()
	return nil
}
