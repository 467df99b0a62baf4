// SPDX-License-Identifier: Apache-2.0

package lab

// Serving is the case of a server. It serves from the time when it is opened, with its URL reported, until
// close ends it gracefully; the load generator takes the samples, and there are no operations.
func Serving(close func() error) Case { return serving{close} }

type serving struct{ close func() error }

func (s serving) Perform(uint64) (Work, error) {
	return Work{}, Unsupported("this case serves, it does no operations")
}

func (s serving) Close() error { return s.close() }
