// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"

	"benchlab/lab"
)

const (
	hundredsMax = 60
	packetMax   = 9000
)

// kept sends all requests over one connection.
type kept struct {
	site   *site
	client *client
	units  uint64 // units of a request
}

func openKept(opening *lab.Opening, spoken protocol) (lab.Case, error) {
	hundreds, err := opening.Integer("hundreds", 0, hundredsMax)
	if err != nil {
		return nil, err
	}
	return keep(opening, spoken, hundreds, func(*client) (string, error) {
		return cookies(opening.Inputs[:], int(hundreds)), nil
	})
}

// keep opens a connection and sends a first request with the cookies that `choose` returns.
func keep(opening *lab.Opening, spoken protocol, units uint64, choose func(*client) (string, error)) (lab.Case, error) {
	site, err := openSite(opening, spoken)
	if err != nil {
		return nil, err
	}
	client := site.connect()
	field, err := choose(client)
	if err == nil {
		site.send(field)
		_, err = client.ask()
	}
	if err != nil {
		return nil, errors.Join(err, client.close(), site.Close())
	}
	opening.Report("spoken", client.spoken)
	return &kept{site, client, units}, nil
}

func (k *kept) Perform(operations uint64) (work lab.Work, err error) {
	for range operations {
		answer, err := k.client.ask()
		if err != nil {
			return work, err
		}
		work.Check += answer
		work.Units += k.units
	}
	if dialed := k.client.dialed.Load(); dialed != 1 {
		return work, fmt.Errorf("the connection was not kept alive: there were %d connections", dialed)
	}
	return work, nil
}

func (k *kept) Close() error { return errors.Join(k.client.close(), k.site.Close()) }

// fresh sends each request over a new connection.
type fresh struct {
	site  *site
	units uint64 // units of a request
}

func openNew(opening *lab.Opening, spoken protocol) (lab.Case, error) {
	hundreds, err := opening.Integer("hundreds", 0, hundredsMax)
	if err != nil {
		return nil, err
	}
	site, err := openSite(opening, spoken)
	if err != nil {
		return nil, err
	}
	site.send(cookies(opening.Inputs[:], int(hundreds)))
	return fresh{site, hundreds}, nil
}

func (f fresh) Perform(operations uint64) (work lab.Work, err error) {
	for range operations {
		client := f.site.connect()
		answer, err := client.ask()
		if err = errors.Join(err, client.close()); err != nil {
			return work, err
		}
		work.Check += answer
		work.Units += f.units
	}
	return work, nil
}

func (f fresh) Close() error { return f.site.Close() }

// openPacket opens a case whose request either fills one packet exactly, or is one byte longer and therefore
// needs a second packet.
func openPacket(opening *lab.Opening, spoken protocol) (lab.Case, error) {
	packets, err := opening.Text("packets")
	if err != nil {
		return nil, err
	}
	wanted, known := map[string]int64{"one": 0, "two": 1}[packets]
	if !known || spoken.major != 1 {
		return nil, lab.Unsupported("%s does not support packets=%s", spoken.name, packets)
	}
	payload, err := opening.Integer("packet", 1, packetMax)
	if err != nil {
		return nil, err
	}
	return keep(opening, spoken, 1, func(client *client) (string, error) {
		return fill(client, int64(payload)+wanted)
	})
}

// fill returns a cookie that pads a request to a total of size bytes.
func fill(client *client, size int64) (string, error) {
	const name = "fill="
	bytes := func(length int64) (int64, error) {
		client.site.send(name + strings.Repeat("x", int(length)))
		before := client.sent.Load()
		_, err := client.ask()
		return client.sent.Load() - before, err
	}
	least, err := bytes(1)
	if err != nil {
		return "", err
	}
	length := 1 + size - least
	if length < 1 {
		return "", lab.Unsupported("the packet is too small: a request has %d bytes without any cookie", least)
	}
	found, err := bytes(length)
	if err == nil && found != size {
		err = fmt.Errorf("a request has %d bytes instead of %d", found, size)
	}
	return name + strings.Repeat("x", int(length)), err
}
