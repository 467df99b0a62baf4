// SPDX-License-Identifier: Apache-2.0
//! Writes a run file, one committed record at a time.

use crate::error::StoreError;
use crate::histogram;
use crate::in_file::{OpenFile, TimesColumns};
use crate::record::StoredRow;
use crate::schema;
use crate::values::{as_json, as_word};
use lab_model::{
    Agent, AgentId, AgentSlice, Audit, Batch, BlockState, Disturbance, Ending, Failure, Host,
    Imported, Latencies, LoadCount, LoadCounts, LogAnalysis, LogLine, Metric, NoiseFreeValue,
    Outcome, Pilot, Plan, PointId, ProcessExit, ProcessStart, Reading, Resources, Run, Sample,
    Service, Setting, Slice, StoredGate, StoredProfile, TargetId, Timeline,
};
use nix::fcntl::{Flock, FlockArg};
use rusqlite::{Connection, ToSql, params, params_from_iter};
use std::cell::OnceCell;
use std::fs::File;
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, StoreError>;

/// A run file that is open for writing. Only one process at a time can write it.
pub struct RunWriter {
    db: Connection,
    path: PathBuf,
    /// The columns with distributions, in the tables of slices and of agents' slices. A separate
    /// connection reads them.
    columns: OnceCell<[TimesColumns; 2]>,
    _lock: Flock<File>,
}

/// A block that is being written. If it is dropped without [`BlockWriter::finish`], it stays incomplete.
pub struct BlockWriter<'a> {
    run: &'a RunWriter,
    id: i64,
}

impl RunWriter {
    /// Creates a run file.
    ///
    /// # Errors
    /// Returns an error if the file exists, its directory does not exist, or the disk is full. No file is left
    /// behind.
    pub fn create(path: &Path, benchlab_version: &str, started_unix_s: f64) -> Result<Self> {
        let other = |reason: String| StoreError::Other(path.to_path_buf(), reason);
        File::create_new(path).map_err(|e| other(e.to_string()))?;
        let writer = Self::fill_new(path, benchlab_version, started_unix_s);
        writer.map_err(|e| {
            let _ = std::fs::remove_file(path);
            match e {
                StoreError::Full(path) => StoreError::NoRoom(path),
                e => e,
            }
        })
    }

    fn fill_new(path: &Path, benchlab_version: &str, started_unix_s: f64) -> Result<Self> {
        let run = Self::open_locked(path)?;
        // Written before the file has a WAL, so that the file itself is a valid run file from now
        // on.
        let tables = |db: &Connection| {
            db.pragma_update(None, "application_id", schema::APPLICATION_ID)?;
            db.pragma_update(None, "user_version", schema::VERSION)?;
            db.execute_batch(schema::TABLES)?;
            schema::add_columns(db)
        };
        run.in_transaction(|| {
            tables(&run.db).map_err(|e| run.error(e))?;
            run.set("benchlab_version", benchlab_version)?;
            run.set("started_unix_s", started_unix_s)
        })?;
        run.write_ahead()
    }

    /// Opens a run file to continue it.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`crate::load`], and if another process is writing the file.
    pub fn resume(path: &Path) -> Result<Self> {
        crate::read::check(path)?;
        let run = Self::open_locked(path)?.write_ahead()?;
        run.db
            .execute("DELETE FROM meta WHERE key = 'ending'", [])
            .and_then(|_| crate::schema::add_columns(&run.db))
            .map_err(|e| run.error(e))?;
        Ok(run)
    }

    /// Adds decisions of gates to the file of a run that has ended.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, or if another process is writing it.
    pub fn add_gates(path: &Path, gates: &[StoredGate]) -> Result<()> {
        RunWriter::open_locked(path)?.gates(gates)
    }

    fn open_locked(path: &Path) -> Result<Self> {
        let other = |e: String| StoreError::Other(path.to_path_buf(), e);
        let file = File::open(path).map_err(|e| other(e.to_string()))?;
        let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock)
            .map_err(|_| StoreError::Busy(path.to_path_buf()))?;
        let db = Connection::open(path).map_err(|e| StoreError::new(path, e))?;
        db.set_prepared_statement_cache_capacity(32);
        Ok(RunWriter {
            db,
            path: path.to_path_buf(),
            columns: OnceCell::new(),
            _lock: lock,
        })
    }

    /// Switches to a write-ahead log.
    fn write_ahead(self) -> Result<Self> {
        let switch = || {
            self.db.pragma_update(None, "journal_mode", "wal")?;
            // A commit survives a crash of this process; the end of a block survives a crash of the machine.
            self.db.pragma_update(None, "synchronous", "normal")?;
            // In KiB. Rows are only appended to tables, and benchlab's memory should not grow with its file.
            self.db.pragma_update(None, "cache_size", -128)?;
            // The log is moved into the file only between blocks, never between two samples.
            self.db.pragma_update(None, "wal_autocheckpoint", 0)
        };
        switch().map_err(|e| self.error(e))?;
        Ok(self)
    }

    /// Loads the current content of the file. The process that writes the file must call this
    /// function instead of [`crate::load`].
    pub fn load(&self) -> Result<Run> {
        // A separate connection, because it is used to read the distributions later.
        crate::read::run(crate::read::open(&self.path)?, &self.path)
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Stores the plan, and the tables of its subjects and points.
    pub fn plan(&self, plan: &Plan) -> Result<()> {
        let target = |id: TargetId| plan.targets.get(id).map(|t| t.kind.name());
        self.in_transaction(|| {
            self.set("plan", as_json(plan))?;
            for (id, s) in plan.subjects.enumerated() {
                self.execute(
                    "INSERT INTO subject VALUES (?, ?, ?, ?, ?)",
                    params![id.0, s.name, s.language, s.driver, target(s.target)],
                )?;
            }
            for (id, p) in plan.points.enumerated() {
                let case = &plan.cases[p.case].name;
                self.execute(
                    "INSERT INTO point VALUES (?, ?, ?, ?, ?)",
                    params![id.0, case, plan.label(id), p.x, target(p.target)],
                )?;
            }
            Ok(())
        })
    }

    /// Replaces the plan by one with the same subjects and points, but other settings.
    pub fn replace_plan(&self, plan: &Plan) -> Result<()> {
        self.set("plan", as_json(plan))
    }

    /// Stores the host.
    pub fn host(&self, host: &Host) -> Result<()> {
        self.set("host", as_json(host))
    }

    /// Stores the SHA-256 of a subject's program file.
    pub fn hash(&self, path: &str, sha256: &str) -> Result<()> {
        self.execute(
            "INSERT OR REPLACE INTO hash VALUES (?, ?)",
            params![path, sha256],
        )
    }

    /// Stores the result of an audit in one transaction.
    pub fn audit(&self, audit: &Audit) -> Result<()> {
        let without_findings = Audit {
            findings: Vec::new(),
            ..audit.clone()
        };
        self.in_transaction(|| {
            self.set("audit", as_json(&without_findings))?;
            for f in &audit.findings {
                let row = params![
                    f.rule,
                    f.area,
                    f.title,
                    f.place,
                    as_word(&f.state),
                    f.weight,
                    f.seen,
                    f.cost,
                    f.why,
                    as_json(&f.fixes),
                    f.see,
                    f.source,
                    as_json(&f.evidence)
                ];
                self.execute(
                    "INSERT INTO finding VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    row,
                )?;
            }
            Ok(())
        })
    }

    /// Stores a setting that was read back.
    pub fn setting(&self, s: &Setting) -> Result<()> {
        self.record(&[], s)
    }

    /// Stores the facts about a server that subjects use.
    pub fn service(&self, s: &Service) -> Result<()> {
        self.in_transaction(|| {
            self.execute("DELETE FROM service WHERE target = ?", [s.target.0])?;
            for (key, value) in &s.facts {
                let row = params![s.target.0, key, value];
                self.execute("INSERT INTO service VALUES (?, ?, ?)", row)?;
            }
            Ok(())
        })
    }

    /// Stores a metric of readings. A metric that is already stored stays unchanged.
    pub fn metric(&self, m: &Metric) -> Result<()> {
        self.execute(
            "INSERT OR IGNORE INTO metric VALUES (?, ?, ?, ?)",
            params![m.id, m.title, as_json(&m.unit), as_word(&m.better)],
        )
    }

    /// Stores a value that was counted once.
    pub fn figure(&self, f: &NoiseFreeValue) -> Result<()> {
        self.record(&[], f)
    }

    /// Stores the output of profilers.
    pub fn profile(&self, profile: &StoredProfile) -> Result<()> {
        self.in_transaction(|| {
            self.set("profile", &profile.notes)?;
            profile.outputs.iter().try_for_each(|output| {
                let row = params![output.program, output.tool, output.gzip];
                self.execute("INSERT INTO tool_output VALUES (?, ?, ?)", row)
            })
        })
    }

    /// Stores decisions of gates, and replaces earlier ones.
    pub fn gates(&self, gates: &[StoredGate]) -> Result<()> {
        match gates {
            [] => Ok(()),
            gates => self.set("gates", as_json(&gates)),
        }
    }

    /// Stores an agent that takes part.
    pub fn agent(&self, id: AgentId, a: &Agent) -> Result<()> {
        self.execute(
            "INSERT INTO agent VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                id.0,
                a.name,
                a.launcher,
                a.machine,
                a.version,
                as_json(&a.host),
                a.clock.ahead_ns,
                a.clock.error_ns,
                a.clock.round_trip_ns,
                a.lost
            ],
        )
    }

    /// Stores the cause of the loss of an agent.
    pub fn agent_lost(&self, id: AgentId, reason: &str) -> Result<()> {
        self.execute(
            "UPDATE agent SET lost = ? WHERE id = ?",
            params![reason, id.0],
        )
    }

    /// Stores the result of a pilot in one transaction.
    pub fn pilot(&self, p: &Pilot) -> Result<()> {
        self.in_transaction(|| {
            for table in ["pilot", "pilot_batch"] {
                let sql = format!("DELETE FROM {table} WHERE subject = ? AND point = ?");
                self.execute(&sql, params![p.subject.0, p.point.0])?;
            }
            self.execute(
                "INSERT INTO pilot VALUES (?, ?, ?, ?, ?, ?)",
                params![
                    p.subject.0,
                    p.point.0,
                    p.operations,
                    p.warmup_batches,
                    as_word(&p.class),
                    p.cold_ns
                ],
            )?;
            for (position, b) in p.batches.iter().enumerate() {
                // Only the last batches have ages.
                let first = p.batches.len().saturating_sub(p.ages.len());
                let age = position.checked_sub(first).and_then(|at| p.ages.get(at));
                let row = params![
                    p.subject.0,
                    p.point.0,
                    position,
                    b.operations,
                    b.wall_ns,
                    b.cpu_ns,
                    age.map(|a| a.requests),
                    age.map(|a| a.cpu_ns),
                    age.map(|a| a.wall_ns),
                    age.map(|a| a.baseline_requests),
                    age.map(|a| a.baseline_cpu_ns)
                ];
                self.execute(
                    "INSERT INTO pilot_batch (subject, point, position, operations, wall_ns, cpu_ns, age_requests,
                         age_cpu_ns, age_wall_ns, baseline_requests, baseline_cpu_ns)
                     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    row,
                )?;
            }
            Ok(())
        })
    }

    /// Starts a block, which is incomplete until it is finished.
    pub fn begin_block(
        &self,
        number: u32,
        attempt: u32,
        core: u32,
        now: f64,
    ) -> Result<BlockWriter<'_>> {
        self.execute(
            "INSERT INTO block (number, attempt, core, state, started_unix_s) VALUES (?, ?, ?, ?, ?)",
            params![number, attempt, core, as_word(&BlockState::Incomplete), now],
        )?;
        Ok(BlockWriter {
            run: self,
            id: self.db.last_insert_rowid(),
        })
    }

    /// Stores the ID of the process set that serves a block.
    pub fn process_set(&self, block: &BlockWriter, set: u32) -> Result<()> {
        let row = params![set, block.id];
        self.execute("UPDATE block SET process_set = ? WHERE id = ?", row)
    }

    /// Stores a block during which its agent was lost.
    pub fn lost_block(&self, number: u32, attempt: u32, agent: AgentId, now: f64) -> Result<()> {
        self.execute(
            "INSERT INTO block (number, attempt, core, state, started_unix_s, agent) VALUES (?, ?, 0, ?, ?, ?)",
            params![number, attempt, as_word(&BlockState::Incomplete), now, agent.0],
        )
    }

    /// Merges the run file that another benchlab process wrote for the same plan, in one
    /// transaction.
    ///
    /// The blocks are assigned to `agent`. Pilots and the facts about servers replace existing
    /// ones. Failures and similar records are added to the existing records.
    pub fn merge(&self, file: &Path, agent: AgentId) -> Result<()> {
        let merged = crate::merge::merge(&self.db, file, agent);
        merged.map_err(|e| self.error(e))
    }

    /// Returns the distinct outcomes of the batches in the file.
    pub fn outcomes(&self) -> Result<Vec<Outcome>> {
        let sql = "SELECT DISTINCT point, operations, check_value, units FROM sample
                   WHERE check_value IS NOT NULL AND units IS NOT NULL";
        let outcomes = || -> rusqlite::Result<Vec<Outcome>> {
            let mut query = self.db.prepare(sql)?;
            let rows = query.query_map([], |r| {
                Ok(Outcome {
                    point: PointId(r.get(0)?),
                    operations: r.get(1)?,
                    check: r.get::<_, i64>(2)? as u64,
                    units: r.get(3)?,
                })
            })?;
            rows.collect()
        };
        outcomes().map_err(|e| self.error(e))
    }

    /// Records that the run continued after the interim analysis at `blocks` blocks.
    pub fn interim_analysis(&self, blocks: u32) -> Result<()> {
        self.execute("INSERT INTO interim_analysis VALUES (?)", params![blocks])
    }

    /// Stores a failure.
    pub fn failure(&self, f: &Failure) -> Result<()> {
        self.execute(
            "INSERT INTO failure VALUES (?, ?, ?, ?, ?, ?)",
            params![
                f.subject.0,
                f.point.map(|p| p.0),
                f.block,
                f.kind,
                f.message,
                f.log.join("\n")
            ],
        )
    }

    /// Stores a log line.
    pub fn log(&self, l: &LogLine) -> Result<()> {
        self.record(&[], l)
    }

    /// Stores the imported results of one subject.
    pub fn import(&self, i: &Imported) -> Result<()> {
        self.execute("INSERT INTO import (json) VALUES (?)", params![as_json(i)])
    }

    /// Stores the name under which a history lists imported results.
    pub fn import_name(&self, name: &str) -> Result<()> {
        self.set("import_name", name)
    }

    /// Stores a log analysis in one transaction.
    pub fn logs(&self, analysis: &LogAnalysis) -> Result<()> {
        self.in_transaction(|| {
            crate::log_analysis::write(&self.db, analysis).map_err(|e| self.error(e))
        })
    }

    /// Stores the duration of the pilots, in ns.
    pub fn pilots_time(&self, pilots_ns: u64) -> Result<()> {
        self.set("pilots_ns", pilots_ns)
    }

    /// Ends the run and converts its file to a single plain file.
    ///
    /// If another process is reading the file, the file stays in WAL mode. The file is complete in
    /// either case.
    pub fn finish(mut self, ending: Option<Ending>, lab_cost: Option<(u64, u64)>) -> Result<()> {
        // A reader that is still open would prevent the removal of the write-ahead log.
        self.columns = OnceCell::new();
        if let Some(ending) = ending {
            self.set("ending", as_word(&ending))?;
        }
        if let Some((cpu_ns, peak_rss_bytes)) = lab_cost {
            self.set("benchlab_cpu_ns", cpu_ns)?;
            self.set("benchlab_peak_rss_bytes", peak_rss_bytes)?;
        }
        match self
            .db
            .pragma_update(None, "journal_mode", "delete")
            .map_err(|e| self.error(e))
        {
            Err(StoreError::Busy(_)) => Ok(()),
            other => other,
        }
    }

    fn set(&self, key: &str, value: impl ToSql) -> Result<()> {
        self.execute(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)",
            params![key, value],
        )
    }

    fn record<T: StoredRow>(&self, keys: &[&dyn ToSql], record: &T) -> Result<()> {
        let values = record.values(keys).map_err(|e| self.error(e))?;
        self.execute(T::INSERT, params_from_iter(values))
    }

    fn execute(&self, sql: &str, args: impl rusqlite::Params) -> Result<()> {
        let run = || self.db.prepare_cached(sql)?.execute(args);
        run().map(drop).map_err(|e| self.error(e))
    }

    /// Inserts a row of named columns and a column for each count.
    fn insert(
        &self,
        table: &str,
        columns: &[(&str, &dyn ToSql)],
        counts: &LoadCounts,
    ) -> Result<()> {
        let counts: Vec<(&str, u64)> = LoadCount::ALL.map(|c| (c.id(), counts[c])).into();
        let counts = counts
            .iter()
            .map(|(name, value)| (*name, value as &dyn ToSql));
        let all = columns.iter().copied().chain(counts);
        let (names, values): (Vec<&str>, Vec<&dyn ToSql>) = all.unzip();
        let marks = vec!["?"; names.len()].join(", ");
        let sql = format!(
            "INSERT INTO {table} ({}) VALUES ({marks})",
            names.join(", ")
        );
        self.execute(&sql, &values[..])
    }

    /// Runs `work` in a transaction, so that either all or none of its writes are stored.
    fn in_transaction<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let begun = self.db.unchecked_transaction();
        let transaction = begun.map_err(|e| self.error(e))?;
        let done = work()?;
        transaction.commit().map_err(|e| self.error(e))?;
        Ok(done)
    }

    fn columns(&self) -> Result<&[TimesColumns; 2]> {
        if let Some(columns) = self.columns.get() {
            return Ok(columns);
        }
        let file = OpenFile::new(crate::read::open(&self.path)?, &self.path);
        let tables = ["slice", "agent_slice"];
        Ok(self
            .columns
            .get_or_init(|| tables.map(|table| TimesColumns::new(&file, table))))
    }

    fn error(&self, e: rusqlite::Error) -> StoreError {
        StoreError::new(&self.path, e)
    }
}

impl BlockWriter<'_> {
    /// Stores a sample. The sample is committed when this function returns.
    pub fn sample(&self, s: &Sample, units: u64, check: u64) -> Result<()> {
        let Batch {
            operations,
            wall_ns,
            cpu_ns,
            server_cpu_ns,
        } = s.batch;
        self.run.execute(
            "INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                self.id,
                s.point.0,
                s.subject.0,
                s.pass,
                s.turn,
                operations,
                wall_ns,
                cpu_ns,
                units,
                check as i64, // the same 64 bits: SQLite's integers are signed
                server_cpu_ns
            ],
        )
    }

    /// Stores a sample and the latencies of its operations in one transaction.
    pub fn latencies(&self, s: &Sample, units: u64, check: u64, l: &Latencies) -> Result<()> {
        self.run.in_transaction(|| {
            self.sample(s, units, check)?;
            l.counts.iter().try_for_each(|(bucket, operations)| {
                self.run.execute(
                    "INSERT INTO latency VALUES (?, ?, ?, ?, ?, ?)",
                    params![self.id, l.point.0, l.subject.0, l.pass, bucket, operations],
                )
            })
        })
    }

    /// Stores the latencies of a batch's operations over time in one transaction.
    pub fn timeline(&self, t: &Timeline) -> Result<()> {
        self.run.in_transaction(|| {
            let mut steps = t.longest_ns.iter().enumerate();
            steps.try_for_each(|(step, longest_ns)| {
                self.run.execute(
                    "INSERT INTO timeline VALUES (?, ?, ?, ?, ?, ?)",
                    params![self.id, t.point.0, t.subject.0, t.pass, step, longest_ns],
                )
            })
        })
    }

    /// Stores the sample of an exited process and the operating system's data about it, in one
    /// transaction.
    pub fn exit(&self, s: &Sample, e: &ProcessExit, check: u64) -> Result<()> {
        self.run.in_transaction(|| {
            self.sample(s, 1, check)?;
            self.run.record(&[&self.id], e)
        })
    }

    /// Stores a slice of load and its errors in one transaction.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, or if a time or a number of requests exceeds the range
    /// of a histogram.
    pub fn slice(&self, s: &Slice) -> Result<()> {
        self.store_slice(s, false).map(drop)
    }

    /// Stores a slice and returns it with references to its distributions in the file.
    ///
    /// `redone` means that the slice was measured again and does not count. The caller must drop
    /// such slices before the run ends. Otherwise, the file cannot become a single plain file.
    pub fn move_to_file(&self, mut slice: Slice, redone: bool) -> Result<Slice> {
        let (row, parts) = self.store_slice(&slice, redone)?;
        let [slice_columns, agent_columns] = self.run.columns()?;
        slice_columns.replace_with_references(&mut slice, row);
        for (agent, row) in slice.agents.iter_mut().zip(parts) {
            agent_columns.replace_with_references(&mut agent.slice, row);
        }
        Ok(slice)
    }

    /// Stores a slice. Returns its row ID and the row IDs of its agents' slices.
    fn store_slice(&self, s: &Slice, redone: bool) -> Result<(i64, Vec<i64>)> {
        let beyond = |reason| StoreError::Other(self.run.path.clone(), reason);
        let blob = |times| histogram::blob(times).map_err(beyond);
        let [response, service, send_delay] =
            [blob(&s.response)?, blob(&s.service)?, blob(&s.send_delay)?];
        self.run.in_transaction(|| {
            let columns: [(&str, &dyn ToSql); 20] = [
                ("block", &self.id),
                ("point", &s.point.0),
                ("subject", &s.subject.0),
                ("pass", &s.pass),
                ("wall_ns", &s.wall_ns),
                ("offered", &s.offered),
                ("served", &s.served),
                ("cpu_ns", &s.cpu_ns),
                ("busiest_cpu_ns", &s.busiest_cpu_ns),
                ("server_cpu_ns", &s.server_cpu_ns),
                ("server_bytes", &s.server_bytes),
                ("server_threads", &s.server_threads),
                ("response", &response),
                ("service", &service),
                ("send_delay", &send_delay),
                ("drain_ns", &s.drain_ns),
                ("foreign_ns", &s.foreign_ns),
                ("redone", &redone),
                ("statuses", &as_json(&s.statuses)),
                ("queue_overflows", &s.queue_overflows),
            ];
            self.run.insert("slice", &columns, &s.counts)?;
            let slice = self.run.db.last_insert_rowid();
            s.errors.iter().try_for_each(|(kind, count)| {
                let row = params![slice, as_word(kind), count];
                self.run
                    .execute("INSERT INTO slice_error VALUES (?, ?, ?)", row)
            })?;
            let parts = s
                .agents
                .iter()
                .map(|part| self.store_agent_slice(slice, part));
            Ok((slice, parts.collect::<Result<_>>()?))
        })
    }

    /// Stores an agent's slice. Returns its row ID.
    fn store_agent_slice(&self, slice: i64, part: &AgentSlice) -> Result<i64> {
        let beyond = |reason| StoreError::Other(self.run.path.clone(), reason);
        let blob = |times| histogram::blob(times).map_err(beyond);
        let s = &part.slice;
        let columns: [(&str, &dyn ToSql); 15] = [
            ("slice", &slice),
            ("agent", &part.agent.0),
            ("late_ns", &part.late_ns),
            ("not_sent", &part.not_sent),
            ("wall_ns", &s.wall_ns),
            ("offered", &s.offered),
            ("served", &s.served),
            ("errors", &as_json(&s.errors)),
            ("cpu_ns", &s.cpu_ns),
            ("busiest_cpu_ns", &s.busiest_cpu_ns),
            ("drain_ns", &s.drain_ns),
            ("response", &blob(&s.response)?),
            ("service", &blob(&s.service)?),
            ("send_delay", &blob(&s.send_delay)?),
            ("statuses", &as_json(&s.statuses)),
        ];
        self.run.insert("agent_slice", &columns, &s.counts)?;
        Ok(self.run.db.last_insert_rowid())
    }

    /// Stores the readings of a turn in one transaction.
    ///
    /// `redone` is 0 for a turn that counts. Otherwise, it is the number of the attempt, starting
    /// with 1.
    pub fn readings(&self, readings: &[Reading], redone: u32) -> Result<()> {
        let keys: [&dyn ToSql; 2] = [&self.id, &redone];
        let mut readings = readings.iter();
        self.run
            .in_transaction(|| readings.try_for_each(|r| self.run.record(&keys, r)))
    }

    /// Stores the cost of starting a fresh process.
    pub fn process(&self, p: &ProcessStart) -> Result<()> {
        self.run.record(&[&self.id], p)
    }

    /// Stores the memory and threads of a process after a point.
    pub fn resources(&self, r: &Resources) -> Result<()> {
        self.run.record(&[&self.id], r)
    }

    /// Ends the block and flushes the file to the disk.
    pub fn finish(self, state: BlockState, duration_ns: u64, d: &Disturbance) -> Result<()> {
        self.run.execute(
            "UPDATE block SET state = ?, duration_ns = ?, steal = ?, foreign_load = ?,
                    memory_pressure = ?, swapped_pages = ?, throttled = ? WHERE id = ?",
            params![
                as_word(&state),
                duration_ns,
                d.steal,
                d.foreign,
                d.memory_pressure,
                d.swapped_pages,
                d.throttled,
                self.id
            ],
        )?;
        let checkpoint = self
            .run
            .db
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        checkpoint.map_err(|e| self.run.error(e))
    }
}
