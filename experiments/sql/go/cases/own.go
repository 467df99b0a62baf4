// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"bufio"
	"database/sql"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"benchlab/lab"
)

// own runs the user's own statements, with values to bind from a file (docs/protocol.md, The case `own`).
type own struct {
	*sql.DB
	statements  []ownStatement
	inputs      [][][]any // for each operation and each statement, the values of its parameters
	transaction bool
}

type ownStatement struct {
	*sql.Stmt
	parameters []string
	columns    []any // of type *ownColumn; empty if the statement returns no rows
}

func (d Driver) openOwn(opening *lab.Opening) (lab.Case, error) {
	count, err := opening.Integer("statements", 1, 100)
	if err != nil {
		return nil, err
	}
	transaction, err := opening.Text("transaction")
	if err != nil {
		return nil, err
	}
	var statements []ownStatement
	db, err := d.openPool(opening, 1, false)
	if err != nil {
		return nil, err
	}
	for n := uint64(1); n <= count; n++ {
		statement, err := prepareOwn(opening, db, n)
		if err != nil {
			db.Close()
			return nil, err
		}
		statements = append(statements, statement)
	}
	inputs, err := readInputs(opening, statements)
	if err != nil {
		db.Close()
		return nil, err
	}
	return &own{db, statements, inputs, transaction == "yes"}, d.report(opening, db)
}

func prepareOwn(opening *lab.Opening, db *sql.DB, n uint64) (statement ownStatement, err error) {
	text, err := opening.Text(fmt.Sprintf("sql%d", n))
	if err != nil {
		return statement, err
	}
	if statement.parameters, err = types(opening, fmt.Sprintf("parameters%d", n)); err != nil {
		return statement, err
	}
	columns, err := types(opening, fmt.Sprintf("columns%d", n))
	if err != nil {
		return statement, err
	}
	for _, kind := range columns {
		statement.columns = append(statement.columns, &ownColumn{kind: kind})
	}
	statement.Stmt, err = db.Prepare(text)
	return statement, err
}

// types returns the types in an argument such as `integer,text` or `none`.
func types(opening *lab.Opening, key string) ([]string, error) {
	text, err := opening.Text(key)
	if err != nil || text == "none" {
		return nil, err
	}
	words := strings.Split(text, ",")
	for _, word := range words {
		switch word {
		case "integer", "boolean", "float", "decimal", "text", "bytes", "date", "timestamp":
		default:
			return nil, lab.Unsupported("%s: unknown type %s", key, word)
		}
	}
	return words, nil
}

// readInputs reads a file with a line for each operation: the values of all statements, separated by tabs.
func readInputs(opening *lab.Opening, statements []ownStatement) (inputs [][][]any, err error) {
	count := 0
	for _, statement := range statements {
		count += len(statement.parameters)
	}
	if count == 0 {
		return [][][]any{make([][]any, len(statements))}, nil
	}
	path, err := opening.Text("inputs")
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, math.MaxInt32)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != count {
			return nil, fmt.Errorf("%s: the number of values in a line is %d instead of %d", path, len(fields), count)
		}
		var values [][]any
		for _, statement := range statements {
			var own []any
			for _, kind := range statement.parameters {
				value, err := bound(kind, fields[0])
				if err != nil {
					return nil, err
				}
				own, fields = append(own, value), fields[1:]
			}
			values = append(values, own)
		}
		inputs = append(inputs, values)
	}
	return inputs, lines.Err()
}

func bound(kind, text string) (any, error) {
	switch kind {
	case "integer":
		return strconv.ParseInt(text, 10, 64)
	case "float":
		return strconv.ParseFloat(text, 64)
	case "text":
		return text, nil
	}
	return nil, lab.Unsupported("unknown type %s", kind)
}

func (o *own) Perform(operations uint64) (work lab.Work, err error) {
	for k := range operations {
		values := o.inputs[k%uint64(len(o.inputs))]
		if o.transaction {
			err = o.transact(values, &work)
		} else {
			err = o.runAll(values, &work)
		}
		if err != nil {
			return work, err
		}
	}
	return work, nil
}

func (o *own) runAll(values [][]any, work *lab.Work) error {
	for i := range o.statements {
		if err := o.statements[i].run(o.statements[i].Stmt, values[i], work); err != nil {
			return err
		}
	}
	return nil
}

func (o *own) transact(values [][]any, work *lab.Work) error {
	tx, err := o.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	for i := range o.statements {
		if err := o.statements[i].run(tx.Stmt(o.statements[i].Stmt), values[i], work); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (s *ownStatement) run(statement *sql.Stmt, values []any, work *lab.Work) error {
	if len(s.columns) == 0 {
		if _, err := statement.Exec(values...); err != nil {
			return err
		}
		work.Add(1)
		return nil
	}
	rows, err := statement.Query(values...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(s.columns...); err != nil {
			return err
		}
		for _, column := range s.columns {
			work.Check += column.(*ownColumn).fold
		}
		work.Units++
	}
	return rows.Err()
}

// ownColumn folds the values of a column.
type ownColumn struct {
	kind string
	fold uint64
}

// Scan implements sql.Scanner.
func (c *ownColumn) Scan(value any) (err error) {
	switch value := value.(type) {
	case nil:
		c.fold = 1
	case int64:
		c.fold = uint64(value)
		if c.kind == "float" {
			c.fold = math.Float64bits(float64(value))
		}
	case uint64:
		c.fold = value
	case float64:
		c.fold = math.Float64bits(value)
	case bool:
		c.fold = 0
		if value {
			c.fold = 1
		}
	case string:
		c.fold, err = c.foldText(value)
	case []byte:
		if c.kind == "bytes" {
			c.fold = 0
			for _, b := range value {
				c.fold += uint64(b)
			}
			return nil
		}
		c.fold, err = c.foldText(string(value))
	case time.Time:
		if c.kind != "date" && c.kind != "timestamp" {
			return fmt.Errorf("the driver decodes a column of type %s as a time: CAST it in the statement", c.kind)
		}
		c.fold = uint64(value.UnixMilli())
	default:
		return fmt.Errorf("cannot fold a value of type %T", value)
	}
	return err
}

func (c *ownColumn) foldText(text string) (fold uint64, err error) {
	switch c.kind {
	case "text", "decimal":
		for _, codePoint := range text {
			fold += uint64(codePoint)
		}
		return fold, nil
	case "integer":
		number, err := strconv.ParseInt(text, 10, 64)
		return uint64(number), err
	case "float":
		number, err := strconv.ParseFloat(text, 64)
		return math.Float64bits(number), err
	}
	return 0, fmt.Errorf("the driver decodes a column of type %s as text: CAST it in the statement", c.kind)
}
