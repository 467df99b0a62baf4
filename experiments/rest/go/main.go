// SPDX-License-Identifier: Apache-2.0

// REST with the standard library: net/http, its ServeMux, encoding/json.
package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"benchlab/lab"
)

// timeout is the maximum time for a request's header, and the maximum idle time of a connection. benchlab
// stops a subject for up to a minute while other subjects run; the server must not mistake its own pause for
// a slow client.
const timeout = 5 * time.Minute

// closeTimeout returns the time for requests in progress. In tests, an environment variable sets it.
func closeTimeout() time.Duration {
	if seconds, err := strconv.Atoi(os.Getenv("CLOSE_TIMEOUT_S")); err == nil {
		return time.Duration(seconds) * time.Second
	}
	return 4 * time.Second
}

func main() {
	lab.Serve(lab.Subject{
		Name:    "go",
		Library: "net/http " + strings.TrimPrefix(runtime.Version(), "go"),
		Cases:   map[string]lab.Open{"serve": open},
	})
}

func open(opening *lab.Opening) (lab.Case, error) {
	folder, err := opening.Text("files")
	if err != nil {
		return nil, err
	}
	if _, err := os.ReadDir(folder); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{
		Handler:           routes(folder),
		ReadHeaderTimeout: timeout,
		IdleTimeout:       timeout,
	}
	go server.Serve(listener)
	opening.Report("url", "http://"+listener.Addr().String())
	opening.Report("workers", 0) // goroutines run the handlers on the threads that poll the network
	opening.Report("loops", runtime.GOMAXPROCS(0))
	return lab.Serving(func() error { return shutDown(server) }), nil
}

// shutDown finishes the requests in progress, within the time that benchlab allows.
func shutDown(server *http.Server) error {
	deadline, cancel := context.WithTimeout(context.Background(), closeTimeout())
	defer cancel()
	if err := server.Shutdown(deadline); err != nil {
		return server.Close()
	}
	return nil
}
