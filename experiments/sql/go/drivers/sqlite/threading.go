// SPDX-License-Identifier: Apache-2.0

package sqlite

// The symbols are weak: the driver's package defines them, and this package is first linked alone.

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

// threading returns a connection's actual threading mode: a connection without a mutex is not serialized. The
// driver exposes neither the mode nor the handle.
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

// statementCache returns the maximum number of statements that a connection caches.
func statementCache(connection *sqlite3.SQLiteConn) int {
	return reflect.ValueOf(connection).Elem().FieldByName("stmtCache").Cap()
}
