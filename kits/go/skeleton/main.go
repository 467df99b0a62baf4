// The subject in Go. benchlab starts it and sends it commands.
package main

import "benchlab/lab"

// hash computes the FNV-1a hash of n bytes.
type hash struct {
	inputs *[lab.Inputs]uint64
	data   []byte
}

// open prepares the case: this is not timed.
func open(opening *lab.Opening) (lab.Case, error) {
	size, err := opening.Integer("n", 1, 1<<20)
	if err != nil {
		return nil, err
	}
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(opening.Inputs[i%lab.Inputs])
	}
	return &hash{&opening.Inputs, data}, nil
}

// Perform does the operations: this is timed.
func (h *hash) Perform(operations uint64) (work lab.Work, err error) {
	for k := range operations {
		h.data[0] = byte(h.inputs[k%lab.Inputs])
		sum := uint32(2166136261)
		for _, b := range h.data {
			sum = (sum ^ uint32(b)) * 16777619
		}
		work.Check += uint64(sum)         // every value that the work produced: the same in all subjects
		work.Units += uint64(len(h.data)) // the number of bytes
	}
	return work, nil
}

// Close releases what open acquired.
func (h *hash) Close() error { return nil }

func main() {
	lab.Serve(lab.Subject{
		Name:      "{{subject}}",
		Library:   "FNV-1a",
		OneThread: true,
		Cases:     map[string]lab.Open{"hash": open},
	})
}
