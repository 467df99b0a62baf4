// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sync"
	"sync/atomic"
)

const (
	reads = 100 // reads per increment in read_mostly
	line  = 128 // bytes; x86-64 fetches 64-byte cache lines in pairs
)

// counter is a scheme for sharing a counter between goroutines. It has its own loops, into which the
// increment is inlined. Workers are numbered from 0.
type counter interface {
	isSafe() bool // never loses an increment
	value() uint64
	increments(worker, times uint64)
	// incrementsAndReads returns the number of reads that found a lower value than the previous one.
	incrementsAndReads(worker, times uint64) (backwards uint64)
}

// newCounter returns a counter of a scheme, or nil if there is no such scheme.
func newCounter(scheme string, workers uint64) counter {
	switch scheme {
	case "unsafe":
		return new(unsafeCounter)
	case "atomic":
		return new(atomicCounter)
	case "lock":
		return new(lockCounter)
	case "striped":
		return make(stripedCounter, workers)
	}
	return nil
}

// -- Unsafe: a data race with a load, an addition and a store --------------------------------------

type unsafeCounter struct {
	_     [line]byte
	total uint64
	_     [line]byte
}

func (c *unsafeCounter) isSafe() bool  { return false }
func (c *unsafeCounter) value() uint64 { return c.total }

func (c *unsafeCounter) increments(_, times uint64) {
	for range times {
		c.total++
	}
}

func (c *unsafeCounter) incrementsAndReads(_, times uint64) (backwards uint64) {
	var before uint64
	for range times {
		c.total++
		for range reads {
			now := c.value()
			if now < before {
				backwards++
			}
			before = now
		}
	}
	return backwards
}

// -- Atomic ----------------------------------------------------------------------------------------

type atomicCounter struct {
	_     [line]byte
	total atomic.Uint64
	_     [line]byte
}

func (c *atomicCounter) isSafe() bool  { return true }
func (c *atomicCounter) value() uint64 { return c.total.Load() }

func (c *atomicCounter) increments(_, times uint64) {
	for range times {
		c.total.Add(1)
	}
}

func (c *atomicCounter) incrementsAndReads(_, times uint64) (backwards uint64) {
	var before uint64
	for range times {
		c.total.Add(1)
		for range reads {
			now := c.value()
			if now < before {
				backwards++
			}
			before = now
		}
	}
	return backwards
}

// -- Lock ------------------------------------------------------------------------------------------

type lockCounter struct {
	_     [line]byte
	mutex sync.Mutex
	total uint64
	_     [line]byte
}

func (c *lockCounter) isSafe() bool { return true }

func (c *lockCounter) increment() {
	c.mutex.Lock()
	c.total++
	c.mutex.Unlock()
}

func (c *lockCounter) value() uint64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.total
}

func (c *lockCounter) increments(_, times uint64) {
	for range times {
		c.increment()
	}
}

func (c *lockCounter) incrementsAndReads(_, times uint64) (backwards uint64) {
	var before uint64
	for range times {
		c.increment()
		for range reads {
			now := c.value()
			if now < before {
				backwards++
			}
			before = now
		}
	}
	return backwards
}

// -- Striped: an atomic word for each worker, because goroutines have no local storage -----------

type stripedCounter []atomicCounter

func (c stripedCounter) isSafe() bool { return true }

func (c stripedCounter) value() (sum uint64) {
	for i := range c {
		sum += c[i].value()
	}
	return sum
}

func (c stripedCounter) increments(worker, times uint64) {
	for range times {
		c[worker].total.Add(1)
	}
}

func (c stripedCounter) incrementsAndReads(worker, times uint64) (backwards uint64) {
	var before uint64
	for range times {
		c[worker].total.Add(1)
		for range reads {
			now := c.value()
			if now < before {
				backwards++
			}
			before = now
		}
	}
	return backwards
}

// -- A safe and an unsafe counter in the same loop ---------------------------------------------------

type counterPair struct {
	safe   atomicCounter
	unsafe unsafeCounter
}

//go:noinline
func (p *counterPair) increments(times uint64) {
	for range times {
		p.safe.total.Add(1)
		p.unsafe.total++
	}
}
