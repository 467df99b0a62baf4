// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"database/sql"
	"time"

	"github.com/shopspring/decimal"
)

// MixedRow contains the columns of a row of test_mixed that have the same types on every database.
type MixedRow struct {
	ID, Small, Big int64
	Name           string
	Nothing        sql.NullInt64
}

// Fold returns the sum of the row's values, with the amount in ten-thousandths and the moment in ms since
// 1970.
func (r *MixedRow) Fold(amount, moment int64) int64 {
	sum := r.ID + r.Small + r.Big + amount + moment
	for _, codePoint := range r.Name {
		sum += int64(codePoint)
	}
	if !r.Nothing.Valid {
		sum++
	}
	return sum
}

// FoldExact returns the sum of a row's values, for a database that has decimals and timestamps.
func FoldExact(row *sql.Row) (int64, error) {
	var mixed MixedRow
	var amount decimal.Decimal
	var moment time.Time
	err := row.Scan(&mixed.ID, &mixed.Small, &mixed.Big, &amount, &mixed.Name, &mixed.Nothing, &moment)
	if err != nil {
		return 0, err
	}
	return mixed.Fold(amount.Shift(4).IntPart(), moment.UnixMilli()), nil
}
