// SPDX-License-Identifier: Apache-2.0

package lab

// Serving returns the case of a server. The server runs from its opening, which must report its URL, until
// close shuts it down gracefully. The load generator takes the samples, and the case does no operations.
func Serving(close func() error) Case { return serving{close} }

type serving struct{ close func() error }

func (s serving) Perform(uint64) (Work, error) {
	return Work{}, Unsupported("the case is a server and has no operations")
}

func (s serving) Close() error { return s.close() }
