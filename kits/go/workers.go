// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"errors"
	"sync"
)

// Share performs one worker's share of a batch in a loop: all operations with `k mod workers =
// worker`, counted from 0. It calls Done after each operation, or never if the case reports no
// latencies. It is not called if the share is empty.
type Share func(worker, operations uint64, latencies *Latencies) (Work, error)

// Workers are goroutines that do the operations of a case concurrently. They run until Close.
type Workers struct {
	workers []*worker
	ended   sync.WaitGroup
}

type worker struct {
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

// NewWorkers starts the workers, which wait for Perform.
func NewWorkers(count uint64, share Share) *Workers {
	workers := &Workers{}
	for number := range count {
		w := &worker{batches: make(chan batch), results: make(chan result)}
		workers.workers = append(workers.workers, w)
		workers.ended.Go(func() { w.serve(number, share) })
	}
	return workers
}

func (w *worker) serve(number uint64, share Share) {
	for batch := range w.batches {
		<-batch.gate
		w.latencies.Start()
		work, err := share(number, batch.operations, &w.latencies)
		w.latencies.Finish()
		w.results <- result{work, err}
	}
}

// Perform does the operations, and returns the sum of the results.
func (w *Workers) Perform(operations uint64) (Work, error) {
	gate := make(chan struct{})
	busy := w.workers[:min(operations, uint64(len(w.workers)))]
	for _, worker := range busy {
		worker.batches <- batch{operations, gate}
	}
	close(gate)
	sum := Work{Latencies: new(Latencies)}
	var failures []error
	for _, worker := range busy {
		result := <-worker.results
		sum.Check += result.work.Check
		sum.Units += result.work.Units
		sum.Latencies.add(&worker.latencies)
		failures = append(failures, result.err)
	}
	return sum, errors.Join(failures...)
}

// Close ends the workers.
func (w *Workers) Close() {
	for _, worker := range w.workers {
		close(worker.batches)
	}
	w.ended.Wait()
}
