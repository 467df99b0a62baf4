// SPDX-License-Identifier: Apache-2.0

package sqlite

// Weak: the driver's package has them, and this one is linked alone first.

// #include <stddef.h>
// extern int sqlite3_threadsafe(void) __attribute__((weak));
// extern void *sqlite3_db_mutex(void *db) __attribute__((weak));
//
// static int is_threadsafe(void) { return sqlite3_threadsafe(); }
// static int has_mutex(void *db) { return sqlite3_db_mutex(db) != NULL; }
import "C"

import (
	"reflect"

	"github.com/mattn/go-sqlite3"
)

// threading returns the mode that a connection really has: without a mutex of its own it is not serialized. The
// driver tells neither the mode nor the handle.
func threading(connection *sqlite3.SQLiteConn) string {
	handle := reflect.ValueOf(connection).Elem().FieldByName("db").UnsafePointer()
	switch {
	case C.is_threadsafe() == 0:
		return "single-thread"
	case C.has_mutex(handle) == 0:
		return "multi-thread"
	}
	return "serialized"
}

// statementCache returns how many statements a connection keeps at the most.
func statementCache(connection *sqlite3.SQLiteConn) int {
	return reflect.ValueOf(connection).Elem().FieldByName("stmtCache").Cap()
}
