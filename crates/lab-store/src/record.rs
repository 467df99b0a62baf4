// SPDX-License-Identifier: Apache-2.0
//! Tables whose columns match the fields of a type, so that each column is listed once for reading and writing.

use lab_model::{Figure, LogLine, ProcessExit, ProcessStart, Reading, Resources, Setting};
use rusqlite::{Row, ToSql};

/// A row of a table whose columns are keys, which are not fields of the type, followed by the type's fields.
pub trait StoredRow: Sized {
    /// The statement that selects the keys and then the fields.
    const SELECT: &str;
    /// The statement that inserts the keys and then the fields.
    const INSERT: &str;

    /// Reads the fields of a selected row.
    fn read(row: &Row) -> rusqlite::Result<Self>;

    /// Returns the values for [`StoredRow::INSERT`].
    fn values<'a>(&'a self, keys: &[&'a dyn ToSql]) -> Vec<&'a dyn ToSql>;
}

macro_rules! record {
    ($type:ident: $table:ident [$($key:ident)*] $first:ident $($field:ident)*) => {
        impl StoredRow for $type {
            const SELECT: &str = concat!(
                "SELECT ", $(stringify!($key), ", ",)* stringify!($first),
                $(", ", stringify!($field),)* " FROM ", stringify!($table)
            );
            const INSERT: &str = concat!(
                "INSERT INTO ", stringify!($table), " (", $(stringify!($key), ", ",)*
                stringify!($first), $(", ", stringify!($field),)* ") VALUES (",
                $(":", stringify!($key), ", ",)* ":", stringify!($first),
                $(", :", stringify!($field),)* ")"
            );

            fn read(row: &Row) -> rusqlite::Result<Self> {
                let keys: &[&str] = &[$(stringify!($key)),*];
                let mut columns = keys.len()..;
                let mut next = || columns.next().unwrap_or_default();
                Ok($type { $first: row.get(next())?, $($field: row.get(next())?),* })
            }

            fn values<'a>(&'a self, keys: &[&'a dyn ToSql]) -> Vec<&'a dyn ToSql> {
                let fields: &[&dyn ToSql] = &[&self.$first, $(&self.$field),*];
                [keys, fields].concat()
            }
        }
    };
}

record!(Setting: setting [] subject point key value);
record!(Figure: figure [] subject metric value);
record!(LogLine: log [] subject block line);
record!(ProcessStart: process [block] subject startup_ns startup_cpu_ns);
record!(Resources: resource [block] subject point rss_bytes peak_rss_bytes threads user_ns sys_ns
    voluntary_switches involuntary_switches server_bytes);
record!(ProcessExit: exit [block] point subject pass user_ns sys_ns peak_rss_bytes minor_faults major_faults
    voluntary_switches involuntary_switches status);
record!(Reading: reading [block redone] subject point pass metric value);
