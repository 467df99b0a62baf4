// SPDX-License-Identifier: Apache-2.0

// The cache experiment in Go: maps with sync and sync/atomic.
package main

import (
	"runtime"
	"strings"
	"sync/atomic"

	"benchlab/lab"
)

const (
	threadsMax = 1024
	entriesMax = 1_000_000 // maximum in write; number of entries in wait
	oldKeys    = 1_000     // keys at the start of each operation of lost
	newKeys    = 1_000     // keys that the operation adds
)

func main() {
	lab.Serve(lab.Subject{
		Name:    "go",
		Library: "sync and sync/atomic, Go " + strings.TrimPrefix(runtime.Version(), "go"),
		Cases: map[string]lab.Open{
			"read_only":   openReadOnly,
			"read_mostly": openReadMostly,
			"write":       openWrite,
			"wait":        openWait,
			"lost":        openLost,
		},
	})
}

// openMap opens the map of a scheme. The unsynchronized map does not support writes.
func openMap(opening *lab.Opening, entries uint64, writes bool) (sharedMap, error) {
	scheme, err := opening.Text("scheme")
	if err != nil {
		return nil, err
	}
	if writes && scheme == "unsynchronized" {
		return nil, lab.Unsupported("the map %s is read-only", scheme)
	}
	m := newMap(scheme, entries)
	if m == nil {
		return nil, lab.Unsupported("unknown scheme %s", scheme)
	}
	return m, nil
}

// concurrentCase is a case in which the workers do all the work.
type concurrentCase struct{ *lab.Workers }

func (c concurrentCase) Close() error {
	c.Workers.Close()
	return nil
}

// -- read_only and read_mostly ---------------------------------------------------------------------

func openReadOnly(opening *lab.Opening) (lab.Case, error) { return openReplay(opening, 100) }

func openReadMostly(opening *lab.Opening) (lab.Case, error) {
	reads, err := opening.Text("reads")
	if err != nil {
		return nil, err
	}
	switch reads {
	case "99":
		return openReplay(opening, 99)
	case "90":
		return openReplay(opening, 90)
	}
	return nil, lab.Unsupported("expected 99 or 90 %% reads, got %s", reads)
}

func openReplay(opening *lab.Opening, reads uint64) (lab.Case, error) {
	workers, err := opening.Integer("threads", 1, threadsMax)
	if err != nil {
		return nil, err
	}
	m, err := openMap(opening, zipfKeys, reads < 100)
	if err != nil {
		return nil, err
	}
	trace := zipf(&opening.Inputs, reads)
	share := func(worker, operations uint64, _ *lab.Latencies) (work lab.Work, err error) {
		for k := worker; k < operations; k += workers {
			if access := trace.at(k); access.reads {
				work.Check += m.get(access.key)
			} else {
				m.put(access.key, access.key+1)
			}
			work.Units++
		}
		return work, nil
	}
	return concurrentCase{lab.NewWorkers(workers, share)}, nil
}

// -- write -----------------------------------------------------------------------------------------

type write struct {
	entries sharedMap
	trace   *trace
}

func openWrite(opening *lab.Opening) (lab.Case, error) {
	entries, err := opening.Integer("entries", 1, entriesMax)
	if err != nil {
		return nil, err
	}
	m, err := openMap(opening, entries, true)
	if err != nil {
		return nil, err
	}
	return write{m, uniform(&opening.Inputs, entries)}, nil
}

// Perform replaces entries. The check is the sum of the values written, plus the value found for the last key.
func (w write) Perform(operations uint64) (work lab.Work, err error) {
	var last uint64
	for k := range operations {
		last = w.trace.at(k).key
		w.entries.put(last, last+1)
		work.Check += last + 1
	}
	work.Check += w.entries.get(last)
	work.Units = operations
	return work, nil
}

func (w write) Close() error { return nil }

// -- wait: one goroutine reads while another one writes continuously ---------------------------------

type wait struct {
	entries sharedMap
	trace   *trace
	reader  *lab.Workers
}

func openWait(opening *lab.Opening) (lab.Case, error) {
	m, err := openMap(opening, entriesMax, true)
	if err != nil {
		return nil, err
	}
	trace := uniform(&opening.Inputs, entriesMax)
	read := func(_, operations uint64, latencies *lab.Latencies) (work lab.Work, err error) {
		for k := range operations {
			work.Check += m.get(trace.at(k).key)
			latencies.Done()
		}
		work.Units = operations
		return work, nil
	}
	return &wait{m, trace, lab.NewWorkers(1, read)}, nil
}

func (w *wait) Perform(operations uint64) (work lab.Work, err error) {
	if err := resetPeak(); err != nil {
		return work, err
	}
	var over atomic.Bool
	begun, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		close(begun)
		for k := uint64(0); !over.Load(); k++ {
			key := w.trace.at(k).key
			w.entries.put(key, key+1)
		}
	}()
	<-begun
	work, err = w.reader.Perform(operations)
	over.Store(true)
	<-ended
	if err != nil {
		return work, err
	}
	bytes, err := peak()
	work.Metrics = map[string]float64{"peak": bytes}
	return work, err
}

func (w *wait) Close() error {
	w.reader.Close()
	return nil
}

// -- lost: goroutines put 1,000 new keys into a map of 1,000 entries ----------------------------------

type lost struct {
	scheme  string
	entries sharedMap
	workers *lab.Workers
}

func openLost(opening *lab.Opening) (lab.Case, error) {
	workers, err := opening.Integer("threads", 1, threadsMax)
	if err != nil {
		return nil, err
	}
	m, err := openMap(opening, oldKeys, true)
	if err != nil {
		return nil, err
	}
	scheme, err := opening.Text("scheme")
	if err != nil {
		return nil, err
	}
	l := &lost{scheme: scheme, entries: m}
	put := func(worker, operations uint64, _ *lab.Latencies) (work lab.Work, err error) {
		for k := worker; k < operations; k += workers {
			l.entries.put(oldKeys+k, oldKeys+k+1)
		}
		return work, nil
	}
	l.workers = lab.NewWorkers(workers, put)
	return l, nil
}

// Perform measures lost entries. For a safe scheme the check is the number of entries found. The metric is
// the number of missing entries per 1,000.
func (l *lost) Perform(operations uint64) (work lab.Work, err error) {
	var found uint64
	for range operations {
		l.entries = newMap(l.scheme, oldKeys)
		if _, err := l.workers.Perform(newKeys); err != nil {
			return work, err
		}
		found += l.entries.size() - oldKeys
	}
	work.Units = operations * newKeys
	work.Check = found
	if l.scheme == "unsafe_copy_on_write" {
		work.Check = work.Units
	}
	work.Metrics = map[string]float64{"lost": float64(work.Units-found) / float64(operations)}
	return work, nil
}

func (l *lost) Close() error {
	l.workers.Close()
	return nil
}
