// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"database/sql"

	"benchlab/lab"
)

// connections is the case point, performed by n goroutines that share a pool of n connections.
type connections struct {
	*lab.Workers
	db *sql.DB
}

func (d Driver) openConnections(opening *lab.Opening) (lab.Case, error) {
	n, err := opening.Integer("connections", 1, 10_000)
	if err != nil {
		return nil, err
	}
	ids, err := newIDs(opening)
	if err != nil {
		return nil, err
	}
	db, prepared, err := d.openPrepared(opening, int(n), selectPoint)
	if err != nil {
		return nil, err
	}
	find := prepared[0]
	if err := occupyAll(find, n); err != nil {
		db.Close()
		return nil, err
	}
	share := func(worker, operations uint64, latencies *lab.Latencies) (work lab.Work, err error) {
		for k := worker; k < operations; k += n {
			var value int64
			if err := find.QueryRow(ids[k%lab.Inputs]).Scan(&value); err != nil {
				return work, err
			}
			work.Add(value)
			latencies.Done()
		}
		return work, nil
	}
	return connections{lab.NewWorkers(n, share), db}, nil
}

func (c connections) Close() error {
	c.Workers.Close()
	return c.db.Close()
}

// occupyAll opens all connections, and prepares the statement on each of them. It starts n queries
// without fetching their rows, so that each query needs its own connection.
func occupyAll(statement *sql.Stmt, n uint64) error {
	for range n {
		rows, err := statement.Query(1)
		if err != nil {
			return err
		}
		defer rows.Close()
	}
	return nil
}
