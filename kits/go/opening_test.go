// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"math"
	"slices"
	"testing"
)

func TestTheSequenceIsTheProtocols(t *testing.T) {
	opening, err := NewOpening(arguments{"seed": "7"})
	if err != nil {
		t.Fatal(err)
	}
	first := []uint64{7191089600892374487, 309689372594955804, 16616101746815609346}
	if !slices.Equal(opening.Inputs[:3], first) {
		t.Error(opening.Inputs[:3])
	}
	var sum uint64
	for _, value := range opening.Inputs {
		sum += value
	}
	if sum != 17024844806574203696 {
		t.Error(sum)
	}
}

func TestTheStateWraps(t *testing.T) {
	// After one step, the state for a seed equals the seed plus the constant, modulo 2^64.
	var values [4]uint64
	var following [3]uint64
	fillSeeded(values[:], math.MaxUint64)
	fillSeeded(following[:], 0x9E3779B97F4A7C15-1)
	if !slices.Equal(values[1:], following[:]) {
		t.Error(values, following)
	}
}

func TestAnOpeningNeedsASeed(t *testing.T) {
	for _, arguments := range []arguments{
		{}, {"seed": ""}, {"seed": "x"}, {"seed": "18446744073709551616"},
	} {
		if _, err := NewOpening(arguments); err == nil || code(err) != "usage" {
			t.Error(arguments, err)
		}
	}
}
