// SPDX-License-Identifier: Apache-2.0

package main

// resource is 64 KiB, in which each word is 1.
type resource struct {
	words  [8192]uint64
	isHeld bool // lets a holder detect other holders
	uses   uint64
}

// pool contains the idle resources. The resource that has been idle longest is leased first.
type pool chan *resource

func newPool(size uint64) pool {
	p := make(pool, size)
	for range size {
		made := new(resource)
		for i := range made.words {
			made.words[i] = 1
		}
		p <- made
	}
	return p
}

func (p pool) lease() *resource { return <-p }

func (p pool) release(leased *resource) { p <- leased }
