// SPDX-License-Identifier: Apache-2.0

// The process experiment in Go: os/exec, which shares memory with the new process like vfork.
package main

import (
	"benchlab/lab"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
)

var parents = map[string]int{"10MB": 10 << 20, "1GB": 1 << 30}

// operation does one operation, and adds the result to the work.
type operation func(work *lab.Work) error

// prepare creates a case's inputs. close releases resources other than memory, and may be nil.
type prepare func(opening *lab.Opening) (do operation, close func() error, err error)

// A processCase is an open case, in a parent process of a given size.
type processCase struct {
	do          operation
	release     func() error
	resident    []byte // written to, so that every page is resident
	descriptors int
}

func inParent(prepare prepare) lab.Open {
	return func(opening *lab.Opening) (lab.Case, error) {
		parent, err := opening.Text("parent")
		if err != nil {
			return nil, err
		}
		size, ok := parents[parent]
		if !ok {
			return nil, lab.Unsupported("unknown parent %s", parent)
		}
		do, release, err := prepare(opening)
		if err != nil {
			return nil, err
		}
		resident := bytes.Repeat([]byte{1}, size)
		return &processCase{do, release, resident, descriptors()}, nil
	}
}

// Perform measures the time until the end of the last operation, and then counts leaked resources.
func (c *processCase) Perform(operations uint64) (lab.Work, error) {
	work := lab.Work{Latencies: new(lab.Latencies), Metrics: map[string]float64{}}
	work.Latencies.Start()
	for range operations {
		if err := c.do(&work); err != nil {
			return work, err
		}
	}
	work.Latencies.Finish()
	for metric := range work.Metrics {
		work.Metrics[metric] /= float64(operations)
	}
	work.Metrics["descriptors"] = float64(descriptors() - c.descriptors)
	work.Metrics["children"] = float64(children())
	return work, nil
}

// Close releases the memory immediately, because the next parent may be a small one.
func (c *processCase) Close() error {
	c.resident = nil
	debug.FreeOSMemory()
	if c.release == nil {
		return nil
	}
	return c.release()
}

// contentOf concatenates the inputs as eight bytes each, in little-endian order.
func contentOf(opening *lab.Opening) ([]byte, error) {
	size, err := opening.Integer("bytes", 1, 1<<24)
	if err != nil {
		return nil, err
	}
	content := make([]byte, 0, size+8)
	for k := 0; len(content) < int(size); k++ {
		content = binary.LittleEndian.AppendUint64(content, opening.Inputs[k%lab.Inputs])
	}
	return content[:size], nil
}

func hashOf(data []byte) uint64 {
	hash := fnv.New64a()
	hash.Write(data)
	return hash.Sum64()
}

func expect(output, expected []byte) error {
	if !bytes.Equal(output, expected) {
		return fmt.Errorf("unexpected output of %d bytes", len(output))
	}
	return nil
}

func main() {
	// The runtime opens descriptors for the first process, and keeps them open.
	exec.Command("/bin/true").Run()
	lab.Serve(lab.Subject{
		Name:    "go",
		Library: "os/exec " + strings.TrimPrefix(runtime.Version(), "go"),
		Cases: map[string]lab.Open{
			"start":           inParent(start),
			"fail":            inParent(fail),
			"read":            inParent(read),
			"converse":        inParent(converse),
			"exchange":        inParent(exchange),
			"write_then_read": inParent(writeThenRead),
			"kill":            inParent(kill),
		},
	})
}
