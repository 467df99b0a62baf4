// SPDX-License-Identifier: Apache-2.0

package main

import (
	"benchlab/lab"
	"time"
)

func openUncontended(*lab.Opening) (lab.Case, error) {
	return uncontended{newPool(uncontendedSize)}, nil
}

func openLease(opening *lab.Opening) (lab.Case, error) {
	threads, err := threadsOf(opening)
	if err != nil {
		return nil, err
	}
	size, err := choice(opening, "size",
		map[string]uint64{"equal": threads, "half": (threads + 1) / 2, "eightfold": 8 * threads})
	if err != nil {
		return nil, err
	}
	hold, err := choice(opening, "hold", map[string]hold{"0us": holdNothing, "100us": holdAWhile})
	if err != nil {
		return nil, err
	}
	return openTogether(threads, size, hold), nil
}

func openFail(opening *lab.Opening) (lab.Case, error) {
	threads, err := threadsOf(opening)
	if err != nil {
		return nil, err
	}
	hold := func(_ *resource, k uint64) (uint64, error) {
		if opening.Inputs[k%lab.Inputs]%failsEvery == 0 {
			return 0, errHolder
		}
		return 1, nil
	}
	return openTogether(threads, (threads+1)/2, hold), nil
}

func openReuse(opening *lab.Opening) (lab.Case, error) {
	threads, err := threadsOf(opening)
	if err != nil {
		return nil, err
	}
	hold, err := choice(opening, "reuse", map[string]hold{"fifo": readAll})
	if err != nil {
		return nil, err
	}
	return openTogether(threads, 8*threads, hold), nil
}

func threadsOf(opening *lab.Opening) (uint64, error) {
	return opening.Integer("threads", 1, threadsMax)
}

func choice[T any](opening *lab.Opening, key string, choices map[string]T) (T, error) {
	word, err := opening.Text(key)
	chosen, ok := choices[word]
	if err == nil && !ok {
		err = lab.Unsupported("unknown %s %s", key, word)
	}
	return chosen, err
}

func holdNothing(*resource, uint64) (uint64, error) { return 1, nil }

func holdAWhile(*resource, uint64) (uint64, error) {
	for end := time.Now().Add(holdingTime); time.Now().Before(end); {
	}
	return 1, nil
}

func readAll(leased *resource, _ uint64) (sum uint64, err error) {
	for _, word := range leased.words {
		sum += word
	}
	return sum, nil
}
