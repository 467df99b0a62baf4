// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sort"

	"benchlab/lab"
)

const zipfKeys = 10_000

// access is one operation of a trace.
type access struct {
	key   uint64
	reads bool // otherwise the operation writes
}

// trace contains the access of operation k at the index k modulo its length.
type trace [lab.Inputs]access

func (t *trace) at(k uint64) access { return t[k%lab.Inputs] }

// zipf draws keys below zipfKeys from a Zipf distribution, in integer arithmetic, which all languages
// support: key i has the weight 2^32 / (i + 1). readPercentage is the percentage of operations that read.
func zipf(inputs *[lab.Inputs]uint64, readPercentage uint64) *trace {
	var sums [zipfKeys]uint64
	var sum uint64
	for i := range uint64(zipfKeys) {
		sum += (1 << 32) / (i + 1)
		sums[i] = sum
	}
	var t trace
	for k, input := range inputs {
		drawn := input % sum
		key := sort.Search(zipfKeys, func(i int) bool { return sums[i] > drawn })
		t[k] = access{uint64(key), (input>>32)%100 < readPercentage}
	}
	return &t
}

// uniform draws keys below bound with equal probability.
func uniform(inputs *[lab.Inputs]uint64, bound uint64) *trace {
	var t trace
	for k, input := range inputs {
		t[k] = access{input % bound, true}
	}
	return &t
}
