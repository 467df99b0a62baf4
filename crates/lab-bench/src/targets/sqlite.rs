// SPDX-License-Identifier: Apache-2.0
//! The SQLite files that subjects work on, and benchlab's own check of the changes to them.

use crate::subject::fault::{Fault, SubjectResult};
use crate::targets::content;
use crate::targets::effects::{self, CallBatch, Effects, Row};
use crate::targets::own_sql;
use crate::targets::reported::{Reported, wrong_writes};
use crate::targets::sqlite_header::{HeaderCounters, SqliteHeader};
use lab_model::{NO_VARIANT, Target, Writes, plural};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use rusqlite::{Connection, OpenFlags, params};
use std::cell::Cell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Creates database files in a separate directory. Each visit gets a copy of a template, which is
/// full or empty.
pub struct Files {
    folder: PathBuf,
    /// The statement that creates `test_simple`, or `None` for the user's own schema.
    table: Option<String>,
    count: Cell<u32>,
}

impl Files {
    /// Creates the templates.
    pub fn new(folder: &Path, target: &Target, seed: u64) -> rusqlite::Result<Files> {
        let files = Files {
            folder: folder.to_path_buf(),
            table: target.setup.is_none().then(|| target.table.clone()),
            count: Cell::new(0),
        };
        if let Some(setup) = &target.setup {
            let variants = setup.variants.iter().map(|(name, _)| Some(name.as_str()));
            for variant in std::iter::once(None).chain(variants) {
                let db = Connection::open(files.template(&template_name(false, variant)))?;
                own_sql::create(&db, setup, variant).map_err(|e| e.error)?;
            }
            return Ok(files);
        }
        for (empty, rows) in [(true, 0), (false, target.rows)] {
            let mut db = Connection::open(files.template(&template_name(empty, None)))?;
            let transaction = db.transaction()?;
            for table in std::iter::once(&target.table).chain(&target.effects) {
                transaction.execute(table, [])?;
            }
            for statement in content::simple(rows, seed) {
                transaction.execute(&statement, [])?;
            }
            if let Some(mixed) = &target.mixed {
                transaction.execute(mixed, [])?;
                for statement in content::mixed(rows, seed) {
                    transaction.execute(&statement, [])?;
                }
            }
            transaction.commit()?;
        }
        Ok(files)
    }

    /// Creates a copy of a template for one visit, with a file name that no earlier visit used.
    ///
    /// With the same name for all visits, the kernel's name cache cost or saved a subject the same
    /// few ns in every block, and two copies of a program differed by 0.1 %.
    ///
    /// `variant` selects a variant of the user's own schema.
    pub fn fresh(&self, empty: bool, variant: Option<&str>) -> SubjectResult<DatabaseFile> {
        let number = self.count.replace(self.count.get() + 1);
        let path = self.folder.join(format!("{number:08}.db"));
        fs::copy(self.template(&template_name(empty, variant)), &path)
            .map_err(|e| target_fault(format!("{}: {e}", path.display())))?;
        DatabaseFile::open(path, self.table.clone())
    }

    fn template(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.template"))
    }
}

/// Returns the name of a template. The names of variants consist of letters, digits, - and _.
fn template_name(empty: bool, variant: Option<&str>) -> String {
    match variant.filter(|variant| *variant != NO_VARIANT) {
        Some(variant) => format!("variant-{variant}"),
        None if empty => "empty".into(),
        None => "full".into(),
    }
}

/// A target file, and its state at the last check.
pub struct DatabaseFile {
    path: PathBuf,
    table: Option<String>,
    header: SqliteHeader,
    reader: Connection,
    last_id: i64,
    counters: HeaderCounters,
}

impl DatabaseFile {
    fn open(path: PathBuf, table: Option<String>) -> SubjectResult<DatabaseFile> {
        let file = File::open(&path).map_err(|e| target_fault(e.to_string()))?;
        let header = SqliteHeader(file);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let reader =
            Connection::open_with_flags(&path, flags).map_err(|e| target_fault(e.to_string()))?;
        let mut database = DatabaseFile {
            path,
            table,
            header,
            reader,
            last_id: 0,
            counters: HeaderCounters::default(),
        };
        database.counters = database.counters()?;
        if database.table.is_some() {
            let added = database.added_rows();
            database.last_id = added.map_err(|e| target_fault(e.to_string()))?.2;
        }
        Ok(database)
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a fault unless the file's changes since the last check match the reported operations
    /// exactly.
    pub fn check_work(&mut self, writes: Writes, reported: Reported) -> SubjectResult<()> {
        let operations = reported.operations;
        let now = self.counters()?;
        let before = std::mem::replace(&mut self.counters, now);
        let committed = u64::from(now.commits.wrapping_sub(before.commits));
        let expected = writes.transactions * operations;
        let is_own = self.table.is_none();
        // A user's statement that changes no row commits nothing.
        if committed != expected && !(is_own && committed < expected) {
            return Err(wrong_writes(format!(
                "{} must commit {}; the file's change counter grew by {committed}",
                plural(operations, "operation"),
                plural(expected, "transaction")
            )));
        }
        let changed = u64::from(now.schema_changes.wrapping_sub(before.schema_changes));
        let expected = writes.schema_changes * operations;
        if changed != expected {
            return Err(wrong_writes(format!(
                "{} must change the schema {}; the schema cookie grew by {changed}",
                plural(operations, "operation"),
                plural(expected, "time")
            )));
        }
        if is_own {
            return Ok(());
        }
        // Without a commit, the query would read the same pages again.
        if committed == 0 {
            return reported.compare_rows(writes, 0, 0);
        }
        let (rows, stored, last_id) = self.added_rows().map_err(|e| wrong_writes(e.to_string()))?;
        reported.compare_rows(writes, rows, stored)?;
        self.last_id = last_id;
        self.check_table()
    }

    /// Returns the number of rows added since the last call, the sum of their `value`, and their
    /// highest ID.
    fn added_rows(&self) -> rusqlite::Result<(u64, u64, i64)> {
        let sql = "SELECT count(*), coalesce(sum(value), 0), coalesce(max(id), ?1)
                   FROM test_simple WHERE id > ?1";
        self.reader
            .prepare_cached(sql)?
            .query_row(params![self.last_id], |r| {
                Ok((
                    r.get::<_, i64>(0)? as u64,
                    r.get::<_, i64>(1)? as u64,
                    r.get(2)?,
                ))
            })
    }

    /// Returns the effects of the calls in `batches`. Fails if the table has rows of any other
    /// call.
    pub fn effects(&self, batches: &[CallBatch]) -> SubjectResult<Effects> {
        let rows = self.effect_rows(effects::first(batches));
        Effects::new(batches, rows.map_err(|e| target_fault(e.to_string()))?)
    }

    /// Returns the effect rows of batch `first` and of all later batches.
    fn effect_rows(&self, first: u64) -> rusqlite::Result<Vec<Row>> {
        let sql = "SELECT batch, call, count(*) FROM effect WHERE batch >= ?1 GROUP BY batch, call";
        let mut statement = self.reader.prepare_cached(sql)?;
        let rows = statement.query_map([first], |r| {
            let row = || -> rusqlite::Result<Row> { Ok((r.get(0)?, r.get(1)?, r.get(2)?)) };
            Ok(row().unwrap_or(effects::STRAY))
        })?;
        rows.collect()
    }

    /// Returns a checksum of the whole table. Equal checksums mean equal contents.
    pub fn content(&self) -> SubjectResult<String> {
        if self.table.is_none() {
            return own_sql::content(&self.reader).map_err(|e| target_fault(e.to_string()));
        }
        let sum = self
            .reader
            .prepare_cached(&content::sum("test_simple"))
            .and_then(|mut s| s.query_row([], |r| r.get(0)));
        sum.map_err(|e| target_fault(e.to_string()))
    }

    fn check_table(&self) -> SubjectResult<()> {
        let sql = "SELECT sql FROM sqlite_schema WHERE name = 'test_simple'";
        let read = || {
            self.reader
                .prepare_cached(sql)?
                .query_row([], |r| r.get::<_, String>(0))
        };
        match read() {
            Ok(found) if Some(&found) == self.table.as_ref() => Ok(()),
            Ok(found) => Err(wrong_writes(format!(
                "the table's definition is now `{found}`"
            ))),
            Err(e) => Err(wrong_writes(format!(
                "cannot read the table's definition: {e}"
            ))),
        }
    }

    fn counters(&self) -> SubjectResult<HeaderCounters> {
        let counters = self.header.counters();
        counters.map_err(|e| target_fault(e.to_string()))?.ok_or_else(|| {
            wrong_writes(
                "the file is in WAL mode, in which its commits cannot be counted; do not change journal_mode"
                    .into(),
            )
        })
    }
}

impl Drop for DatabaseFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        // A subject that died during a transaction leaves its journal behind.
        let _ = fs::remove_file(self.path.with_extension("db-journal"));
    }
}

/// A counter of how often any process opens a file.
pub struct Opens {
    inotify: Inotify,
}

impl Opens {
    /// Starts counting the opens of a file.
    pub fn watch(path: &Path) -> SubjectResult<Opens> {
        let watch = || {
            let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
            // Watch close events, too, because the kernel merges consecutive identical events.
            inotify.add_watch(path, AddWatchFlags::IN_OPEN | AddWatchFlags::IN_CLOSE)?;
            Ok(Opens { inotify })
        };
        watch()
            .map_err(|e: nix::Error| target_fault(format!("cannot monitor opens of the file: {e}")))
    }

    /// Checks that the file was opened once for each operation since the last check.
    pub fn check_work(&self, operations: u64) -> SubjectResult<()> {
        match self.count() {
            found if found == operations => Ok(()),
            found => Err(Fault::Failed(
                "opens",
                format!(
                    "{} must open the file {}; it was opened {}",
                    plural(operations, "operation"),
                    plural(operations, "time"),
                    plural(found, "time")
                ),
            )),
        }
    }

    /// Returns the number of opens since the last call.
    fn count(&self) -> u64 {
        let mut opens = 0;
        while let Ok(events) = self.inotify.read_events() {
            opens += events
                .iter()
                .filter(|e| e.mask.contains(AddWatchFlags::IN_OPEN))
                .count() as u64;
        }
        opens
    }
}

fn target_fault(message: String) -> Fault {
    Fault::Failed("target", message)
}
