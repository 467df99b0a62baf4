// SPDX-License-Identifier: Apache-2.0

// The pool experiment in Go: a buffered channel, which is the usual pool in Go.
package main

import (
	"benchlab/lab"
	"errors"
	"runtime"
	"strings"
	"time"
)

const (
	threadsMax      = 256
	uncontendedSize = 8
	holdingTime     = 100 * time.Microsecond
	failsEvery      = 8
)

// A hold uses a resource in operation k, and returns the value to add to the check.
type hold func(resource *resource, k uint64) (uint64, error)

var errHolder = errors.New("a holder fails on purpose")

// holder is one worker: its share of the operations, and its metrics of the batch.
type holder struct {
	over uint64  // leases of resources that another holder held
	rate float64 // operations per ns
}

// together is an open case whose workers lease concurrently.
type together struct {
	pool    pool
	hold    hold
	holders []holder
	workers *lab.Workers
}

func openTogether(threads uint64, size uint64, hold hold) lab.Case {
	c := &together{pool: newPool(size), hold: hold, holders: make([]holder, threads)}
	c.workers = lab.NewWorkers(threads, c.share)
	return c
}

// operate leases a resource, and returns it even if the holder fails.
func (c *together) operate(holder *holder, k uint64) (uint64, error) {
	leased := c.pool.lease()
	defer c.pool.release(leased)
	if leased.isHeld {
		holder.over++
	}
	leased.isHeld = true
	defer func() { leased.isHeld = false }()
	leased.uses++
	return c.hold(leased, k)
}

func (c *together) share(worker, operations uint64, latencies *lab.Latencies) (lab.Work, error) {
	var work lab.Work
	var holder holder
	start := time.Now()
	for k := worker; k < operations; k += uint64(len(c.holders)) {
		value, err := c.operate(&holder, k)
		if err != nil {
			value = 2
		}
		work.Check += value
		work.Units++
		latencies.Done()
	}
	holder.rate = float64(work.Units) / float64(time.Since(start))
	c.holders[worker] = holder
	return work, nil
}

func (c *together) Perform(operations uint64) (lab.Work, error) {
	clear(c.holders)
	work, err := c.workers.Perform(operations)
	var over uint64
	for _, holder := range c.holders {
		over += holder.over
	}
	work.Metrics = map[string]float64{
		"fairness": fairness(c.holders),
		"over":     float64(over),
		"lost":     float64(cap(c.pool) - len(c.pool)),
	}
	return work, err
}

func (c *together) Close() error {
	c.workers.Close()
	return nil
}

// fairness returns Jain's index of the workers' rates (Jain, Chiu, Hawe, DEC-TR-301, 1984), as a percentage.
func fairness(holders []holder) float64 {
	var sum, squares, working float64
	for _, holder := range holders {
		if holder.rate > 0 {
			sum += holder.rate
			squares += holder.rate * holder.rate
			working++
		}
	}
	return 100 * sum * sum / (working * squares)
}

// uncontended is an open case with one holder.
type uncontended struct{ pool pool }

func (c uncontended) Perform(operations uint64) (lab.Work, error) {
	for range operations {
		c.pool.release(c.pool.lease())
	}
	return lab.Work{Check: operations, Units: operations}, nil
}

func (c uncontended) Close() error { return nil }

func main() {
	lab.Serve(lab.Subject{
		Name:    "go",
		Library: "channel of Go " + strings.TrimPrefix(runtime.Version(), "go"),
		Cases: map[string]lab.Open{
			"uncontended": openUncontended,
			"lease":       openLease,
			"fail":        openFail,
			"reuse":       openReuse,
		},
	})
}
