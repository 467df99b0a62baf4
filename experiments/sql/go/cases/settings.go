// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"database/sql"

	"benchlab/lab"
)

// ReportRow runs the query in the argument `settings`, and reports every column of its one row.
func ReportRow(opening *lab.Opening, db *sql.DB) error {
	query, err := opening.Text("settings")
	if err != nil {
		return err
	}
	rows, err := db.Query(query)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	values := make([]sql.NullString, len(names))
	columns := make([]any, len(names))
	for i := range values {
		columns[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(columns...); err != nil {
			return err
		}
		for i, name := range names {
			opening.Report(name, values[i].String)
		}
	}
	return rows.Err()
}

// WithConnection calls use with the driver's own connection from a pool.
func WithConnection(db *sql.DB, use func(connection any) error) error {
	connection, err := db.Conn(context.Background())
	if err != nil {
		return err
	}
	defer connection.Close()
	return connection.Raw(use)
}
