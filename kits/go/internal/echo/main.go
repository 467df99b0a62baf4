// SPDX-License-Identifier: Apache-2.0

// Echo is a subject for the kit's tests: its cases show what the kit gave them, and print what they
// should not.
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
		Cases:     map[string]lab.Open{"echo": openEcho, "crew": openCrew, "server": openServer},
	})
}

// echo adds up the inputs, two units each.
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

// crew adds up the operations' numbers, several at once.
type crew struct{ *lab.Crew }

func openCrew(opening *lab.Opening) (lab.Case, error) {
	members, err := opening.Integer("connections", 1, 1000)
	if err != nil {
		return nil, err
	}
	share := func(member, operations uint64, latencies *lab.Latencies) (work lab.Work, err error) {
		for k := member; k < operations; k += members {
			work.Add(int64(k))
			latencies.Done()
		}
		return work, nil
	}
	return crew{lab.NewCrew(members, share)}, nil
}

func (c crew) Close() error {
	c.Crew.Close()
	return nil
}

// openServer opens a server that serves nobody.
func openServer(opening *lab.Opening) (lab.Case, error) {
	opening.Report("url", "http://127.0.0.1:0")
	return lab.Serving(func() error {
		_, err := fmt.Fprintln(os.Stderr, "the server was closed")
		return err
	}), nil
}
