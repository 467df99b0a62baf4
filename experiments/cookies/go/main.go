// SPDX-License-Identifier: Apache-2.0

// The subjects of the cookies experiment: a client and a server of net/http at the two ends of a link, with
// HTTP/1.1 or HTTP/2.
package main

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"

	"benchlab/lab"
)

// protocol is the version of HTTP that the client and the server use.
type protocol struct {
	name  string
	major int
	set   *http.Protocols
}

func protocols() map[string]protocol {
	one, two := new(http.Protocols), new(http.Protocols)
	one.SetHTTP1(true)
	two.SetUnencryptedHTTP2(true)
	return map[string]protocol{
		"http1": {name: "http1", major: 1, set: one},
		"http2": {name: "http2", major: 2, set: two},
	}
}

func main() {
	if len(os.Args) != 2 || protocols()[os.Args[1]].set == nil {
		fmt.Fprintln(os.Stderr, "usage: subject http1|http2")
		os.Exit(2)
	}
	spoken := protocols()[os.Args[1]]
	with := func(open func(*lab.Opening, protocol) (lab.Case, error)) lab.Open {
		return func(opening *lab.Opening) (lab.Case, error) { return open(opening, spoken) }
	}
	lab.Serve(lab.Subject{
		Name:    spoken.name,
		Library: "net/http, Go " + strings.TrimPrefix(runtime.Version(), "go"),
		Cases: map[string]lab.Open{
			"kept":   with(openKept),
			"new":    with(openNew),
			"packet": with(openPacket),
		},
	})
}
