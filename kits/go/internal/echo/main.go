// SPDX-License-Identifier: Apache-2.0

// Echo is a subject for the kit's tests. Its cases reply with the input from the kit, and write to
// standard output, which they should not do.
package main

import (
	"fmt"
	"os"
	"syscall"

	"benchlab/lab"
)

func main() {
	lab.Serve(lab.Subject{
		Name:      "echo",
		Library:   "no library 1.0",
		OneThread: len(os.Args) > 1,
		Cases: map[string]lab.Open{
			"echo": openEcho, "count": openCount, "measure": openMeasure, "server": openServer,
		},
	})
}

// echo sums the inputs, with two units for each.
type echo struct {
	inputs [lab.Inputs]uint64
	failAt uint64
}

func openEcho(opening *lab.Opening) (lab.Case, error) {
	text, err := opening.Text("text")
	if err != nil {
		return nil, err
	}
	if text == "unsupported" {
		return nil, lab.Unsupported("this text is not supported")
	}
	failAt, err := opening.Integer("fail_at", 0, 1000)
	if err != nil {
		return nil, err
	}
	opening.Report("text", text)
	return &echo{opening.Inputs, failAt}, nil
}

func (e *echo) Perform(operations uint64) (work lab.Work, err error) {
	fmt.Print("@lab torn")
	syscall.Write(syscall.Stdout, []byte("@lab torn"))
	if 0 < e.failAt && e.failAt <= operations {
		return work, fmt.Errorf("operation %d failed", e.failAt)
	}
	for k := range operations {
		work.Check += e.inputs[k%lab.Inputs]
		work.Units += 2
	}
	return work, nil
}

func (e *echo) Close() error {
	fmt.Fprintln(os.Stderr, "echo was closed")
	return nil
}

// count sums the numbers of concurrent operations.
type count struct{ *lab.Workers }

func openCount(opening *lab.Opening) (lab.Case, error) {
	workers, err := opening.Integer("workers", 1, 1000)
	if err != nil {
		return nil, err
	}
	laps, err := opening.Integer("laps", 0, 1)
	if err != nil {
		return nil, err
	}
	share := func(worker, operations uint64, latencies *lab.Latencies) (work lab.Work, err error) {
		for k := worker; k < operations; k += workers {
			work.Add(int64(k))
			if laps == 1 {
				latencies.Done()
			}
		}
		return work, nil
	}
	return count{lab.NewWorkers(workers, share)}, nil
}

func (c count) Close() error {
	c.Workers.Close()
	return nil
}

// measure reports metrics.
type measure struct{}

func openMeasure(*lab.Opening) (lab.Case, error) { return measure{}, nil }

func (measure) Perform(operations uint64) (lab.Work, error) {
	return lab.Work{Check: operations, Units: operations, Metrics: map[string]float64{
		"small": -1.2e-5, "lost": 100 / 3.0, "none": 0, "large": 9.8765432109876544e16,
	}}, nil
}

func (measure) Close() error { return nil }

// openServer opens a server that serves no requests.
func openServer(opening *lab.Opening) (lab.Case, error) {
	opening.Report("url", "http://127.0.0.1:0")
	return lab.Serving(func() error {
		_, err := fmt.Fprintln(os.Stderr, "the server was closed")
		return err
	}), nil
}
