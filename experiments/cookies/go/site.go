// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"benchlab/lab"
)

// bufferSize is larger than any request, so that the header is sent in one piece.
const bufferSize = 16 << 10

// browser contains the headers that a browser sends in addition to cookies when it requests a page.
var browser = http.Header{
	"User-Agent": {"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) " +
		"Chrome/140.0.0.0 Safari/537.36"},
	"Accept":                    {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"},
	"Accept-Encoding":           {"gzip, deflate, br, zstd"},
	"Accept-Language":           {"en-GB,en;q=0.9"},
	"Referer":                   {"http://www.example.org/"},
	"Upgrade-Insecure-Requests": {"1"},
}

// site is the server at one end of the link, and the request that clients at the other end send.
type site struct {
	protocol protocol
	server   *http.Server
	address  string
	request  *http.Request
}

// openSite starts a server behind the link that the opening specifies.
func openSite(opening *lab.Opening, spoken protocol) (*site, error) {
	address, err := opening.Text("address")
	if err != nil {
		return nil, err
	}
	socket, err := opening.Text("socket")
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest("GET", "http://www.example.org/account", nil)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	server := &http.Server{Handler: http.HandlerFunc(answer), Protocols: spoken.set}
	go server.Serve(listener)
	site := &site{protocol: spoken, server: server, address: address, request: request}
	site.send("")
	return site, nil
}

// answer responds with a number that depends on the received cookies.
func answer(response http.ResponseWriter, request *http.Request) {
	sum := fnv.New64a()
	io.WriteString(sum, strings.Join(request.Header["Cookie"], "; "))
	response.Header().Set("Content-Type", "text/plain")
	io.WriteString(response, strconv.FormatUint(sum.Sum64(), 10))
}

// send sets the cookie header of all further requests; it is omitted if cookies is empty.
func (s *site) send(cookies string) {
	s.request.Header = browser.Clone()
	if cookies != "" {
		s.request.Header.Set("Cookie", cookies)
	}
}

func (s *site) Close() error { return s.server.Close() }

// cookies returns count cookies of 98 bytes, each of which takes 100 bytes with its separator. Their values
// look like session IDs: random letters and digits.
func cookies(inputs []uint64, count int) string {
	const length = 94
	pairs := make([]string, count)
	for i := range pairs {
		var value strings.Builder
		for j := 0; value.Len() < length; j++ {
			value.WriteString(strconv.FormatUint(inputs[(8*i+j)%len(inputs)], 36))
		}
		pairs[i] = fmt.Sprintf("c%02d=%s", i, value.String()[:length])
	}
	return strings.Join(pairs, "; ")
}

// client sends requests over its own connections.
type client struct {
	site         *site
	transport    *http.Transport
	connection   net.Conn
	dialed, sent atomic.Int64
	spoken       string
}

// connect creates a client, which opens its connection for the first request.
func (s *site) connect() *client {
	c := &client{site: s}
	c.transport = &http.Transport{
		Protocols:          s.protocol.set,
		DialContext:        c.dial,
		DisableCompression: true,
		WriteBufferSize:    bufferSize,
	}
	return c
}

// dial opens a connection over the link, for any host.
func (c *client) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", c.site.address)
	if err != nil {
		return nil, err
	}
	c.dialed.Add(1)
	c.connection = counted{connection, &c.sent}
	return c.connection, nil
}

// counted is a connection that counts its sent bytes.
type counted struct {
	net.Conn
	sent *atomic.Int64
}

func (c counted) Write(bytes []byte) (int, error) {
	c.sent.Add(int64(len(bytes)))
	return c.Conn.Write(bytes)
}

// ask sends one request and returns the number in the response.
func (c *client) ask() (uint64, error) {
	response, err := c.transport.RoundTrip(c.site.request)
	if err != nil {
		return 0, err
	}
	body, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return 0, err
	}
	c.spoken = response.Proto
	if response.StatusCode != http.StatusOK || response.ProtoMajor != c.site.protocol.major {
		return 0, fmt.Errorf("unexpected response %s %s", response.Proto, response.Status)
	}
	return strconv.ParseUint(string(body), 10, 64)
}

// close closes the client's connection.
func (c *client) close() error {
	c.transport.CloseIdleConnections()
	if c.connection == nil {
		return nil
	}
	// The transport may already have closed the connection.
	if err := c.connection.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
