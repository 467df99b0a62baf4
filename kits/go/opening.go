// SPDX-License-Identifier: Apache-2.0

package lab

import "math"

// Inputs is how many values of the seeded sequence a case gets.
const Inputs = 4096

// Opening is one open command: what a case is opened with, and what it answers.
type Opening struct {
	// Inputs holds the first values of the sequence that the command's seed begins.
	Inputs [Inputs]uint64

	arguments arguments
	reply     *reply
}

// NewOpening returns the opening of a command with these arguments, of which `seed` must be there. Serve calls it for each
// command `open`; other programs, such as a benchmark, call it to open a case themselves.
func NewOpening(arguments map[string]string) (*Opening, error) {
	opening := &Opening{arguments: arguments, reply: newReply("opened")}
	seed, err := opening.Integer("seed", 0, math.MaxUint64)
	if err != nil {
		return nil, err
	}
	fillSeeded(opening.Inputs[:], seed)
	return opening, nil
}

// Text returns the argument key, or a UsageError if it is missing.
func (o *Opening) Text(key string) (string, error) {
	return o.arguments.text(key)
}

// Integer returns the argument key, or a UsageError unless it is an integer from least to most.
func (o *Opening) Integer(key string, least, most uint64) (uint64, error) {
	return o.arguments.integer(key, least, most)
}

// Report adds to the reply a setting that was read back.
func (o *Opening) Report(key string, value any) {
	o.reply.with(key, value)
}

// fillSeeded computes SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) from a state that begins as seed.
func fillSeeded(values []uint64, seed uint64) {
	for i := range values {
		seed += 0x9E3779B97F4A7C15
		z := (seed ^ seed>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		values[i] = z ^ z>>31
	}
}
