// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"errors"
	"sync"
)

// Share does one member's part of a batch, in a loop of its own: of all operations from 0 on those
// with `k mod members = member`. It calls Done after each of them.
type Share func(member, operations uint64, latencies *Latencies) (Work, error)

// Crew is a number of goroutines that do the operations of a case at once. They live until Close.
type Crew struct {
	members []*member
	ended   sync.WaitGroup
}

type member struct {
	batches   chan batch
	results   chan result
	latencies Latencies
}

type batch struct {
	operations uint64
	gate       <-chan struct{} // closed when all may start
}

type result struct {
	work Work
	err  error
}

// NewCrew starts the members, which wait for Perform.
func NewCrew(members uint64, share Share) *Crew {
	crew := &Crew{}
	for i := range members {
		m := &member{batches: make(chan batch), results: make(chan result)}
		crew.members = append(crew.members, m)
		crew.ended.Go(func() { m.serve(i, share) })
	}
	return crew
}

func (m *member) serve(number uint64, share Share) {
	for batch := range m.batches {
		<-batch.gate
		m.latencies.Start()
		work, err := share(number, batch.operations, &m.latencies)
		m.results <- result{work, err}
	}
}

// Perform does the operations, and returns what the members' shares add up to.
func (c *Crew) Perform(operations uint64) (Work, error) {
	gate := make(chan struct{})
	for _, m := range c.members {
		m.batches <- batch{operations, gate}
	}
	close(gate)
	sum := Work{Latencies: new(Latencies)}
	var failures []error
	for _, m := range c.members {
		result := <-m.results
		sum.Check += result.work.Check
		sum.Units += result.work.Units
		sum.Latencies.add(&m.latencies)
		failures = append(failures, result.err)
	}
	return sum, errors.Join(failures...)
}

// Close ends the members.
func (c *Crew) Close() {
	for _, m := range c.members {
		close(m.batches)
	}
	c.ended.Wait()
}
