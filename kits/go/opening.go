// SPDX-License-Identifier: Apache-2.0

package lab

import "math"

// Inputs is the number of values of the seeded sequence.
const Inputs = 4096

// Opening is one open command: the arguments for opening a case, and the reply.
type Opening struct {
	// Inputs contains the first values of the sequence for the command's seed.
	Inputs [Inputs]uint64

	arguments arguments
	reply     *reply
}

// NewOpening returns the opening for the given arguments, which must include `seed`. Serve calls it for each
// command `open`; other programs, such as benchmarks, call it to open a case directly.
func NewOpening(arguments map[string]string) (*Opening, error) {
	opening := &Opening{arguments: arguments, reply: newReply("opened")}
	seed, err := opening.Integer("seed", 0, math.MaxUint64)
	if err != nil {
		return nil, err
	}
	fillSeeded(opening.Inputs[:], seed)
	return opening, nil
}

// Text returns the value of the argument key, or a UsageError if it is missing.
func (o *Opening) Text(key string) (string, error) {
	return o.arguments.text(key)
}

// Integer returns the value of the argument key, or a UsageError unless it is an integer from least
// to most.
func (o *Opening) Integer(key string, least, most uint64) (uint64, error) {
	return o.arguments.integer(key, least, most)
}

// Report adds a setting to the reply. The value must be the value that the subject has read back.
func (o *Opening) Report(key string, value any) {
	o.reply.with(key, value)
}

// fillSeeded computes SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), starting with the state seed.
func fillSeeded(values []uint64, seed uint64) {
	for i := range values {
		seed += 0x9E3779B97F4A7C15
		z := (seed ^ seed>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		values[i] = z ^ z>>31
	}
}
