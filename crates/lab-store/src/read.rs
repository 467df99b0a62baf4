// SPDX-License-Identifier: Apache-2.0
//! Loads a run file, finished or in progress. The file is not modified.

use crate::consistency;
use crate::error::StoreError;
use crate::in_file::{OpenFile, TimesColumns};
use crate::record::StoredRow;
use crate::schema::{self, has_column, has_table, or_zero};
use crate::values::{json, meta, rows, word};
use lab_model::audit::{AuditFinding, AuditKind};
use lab_model::{
    Age, Agent, AgentId, AgentSlice, Audit, Batch, Block, ClockOffset, Content, Disturbance,
    Failure, Imported, Latencies, LoadCount, LoadCounts, Measured, Metric, Pilot, PointId,
    ProcessExit, ProcessStart, Reading, Resources, Run, Sample, Service, Slice, SliceTimes,
    StoredProfile, SubjectId, TargetId, Timeline, ToolOutput,
};
use nix::fcntl::{Flock, FlockArg};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

type Result<T> = std::result::Result<T, StoreError>;

/// Loads a whole run.
///
/// The slices' distributions stay in the file, and the file stays open until they are dropped.
///
/// The process that writes a run file must call [`crate::RunWriter::load`] instead. This function
/// closes the file, which releases all locks that its process has on the file
/// (sqlite.org/howtocorrupt.html, 2.2).
///
/// # Errors
/// Returns an error if the file is missing, is not a run file, has a newer version, or is damaged.
/// In each case the file is left untouched.
pub fn load(path: &Path) -> Result<Run> {
    run(check(path)?, path)
}

/// Reads everything in a run file.
pub(crate) fn run(db: Connection, path: &Path) -> Result<Run> {
    let file = OpenFile::new(db, path);
    let name = path
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    let run = read_run(&file, name).map_err(|e| misread(path, e))?;
    match consistency::find_dangling_reference(&run) {
        Some(dangling) => Err(StoreError::Damaged(path.to_path_buf(), dangling)),
        None => Ok(run),
    }
}

/// The name, title and subjects of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Heading {
    /// The name of the experiment, comparison, audit or import. `None` for imported XML, which has
    /// no name.
    pub experiment: Option<String>,
    /// The display title. Empty without a plan.
    pub title: String,
    /// The question that the run answers. May be empty.
    pub question: String,
    /// The names of the subjects.
    pub subjects: Vec<String>,
    /// The start time, in seconds since 1970.
    pub started_unix_s: f64,
    /// True if the run has ended. If it has not, [`is_measured`] shows whether it is still in
    /// progress.
    pub ended: bool,
}

/// The progress of a run that is being measured or has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunProgress {
    /// The number of complete blocks.
    pub blocks: u32,
    /// The total duration of the complete blocks, in ns.
    pub blocks_ns: u64,
    /// The number of samples, slices and readings so far.
    pub records: u64,
    /// True if the run has ended.
    pub ended: bool,
}

impl Heading {
    /// Reads the heading without the samples.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`load`].
    pub fn read(path: &Path) -> Result<Heading> {
        #[derive(Default, serde::Deserialize)]
        #[serde(default)]
        struct Planned {
            experiment: Option<String>,
            title: String,
            question: String,
            subjects: Vec<Named>,
            workload: Option<Named>,
        }
        #[derive(serde::Deserialize)]
        struct Named {
            name: String,
        }
        #[derive(serde::Deserialize)]
        struct Audited {
            kind: AuditKind,
        }
        let db = check(path)?;
        let read = || {
            let plan: Option<String> = meta(&db, "plan")?;
            let plan: Option<Planned> = plan.map(|text| json(&text)).transpose()?;
            let plan = plan.unwrap_or_default();
            let workload = plan.workload;
            let named = |experiment: String| match &workload {
                Some(workload) => format!("{experiment}-{}", workload.name),
                None => experiment,
            };
            let experiment = plan.experiment.map(named);
            let audit: Option<String> = meta(&db, "audit")?;
            let audit: Option<Audited> = audit.map(|text| json(&text)).transpose()?;
            let audit = audit.map(|audit| format!("audit-{}", audit.kind.name()));
            let imported: Option<String> = meta(&db, "import_name")?;
            // The files of audits and imports are written after the measurement has ended.
            let ended =
                audit.is_some() || imported.is_some() || meta::<String>(&db, "ending")?.is_some();
            Ok(Heading {
                experiment: experiment.or(audit).or(imported),
                title: plan.title,
                question: plan.question,
                subjects: plan.subjects.into_iter().map(|s| s.name).collect(),
                started_unix_s: meta(&db, "started_unix_s")?.unwrap_or_default(),
                ended,
            })
        };
        read().map_err(|e| misread(path, e))
    }
}

impl RunProgress {
    /// Reads the progress without the samples. This is fast enough to be called every second.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`load`].
    pub fn read(path: &Path) -> Result<RunProgress> {
        let db = check(path)?;
        let read = || {
            let sql = "SELECT count(*), coalesce(sum(duration_ns), 0) FROM block WHERE state = 'complete'";
            let (blocks, blocks_ns) = db.query_row(sql, [], |r| Ok((r.get(0)?, r.get(1)?)))?;
            // Rows are never deleted, and the maximum row ID is found without counting.
            let sql = "SELECT coalesce((SELECT max(rowid) FROM sample), 0) + coalesce((SELECT max(rowid) FROM slice), 0)
                              + coalesce((SELECT max(rowid) FROM reading), 0)";
            Ok(RunProgress {
                blocks,
                blocks_ns,
                records: db.query_row(sql, [], |r| r.get(0))?,
                ended: meta::<String>(&db, "ending")?.is_some(),
            })
        };
        read().map_err(|e| misread(path, e))
    }
}

/// Returns true if a file starts with the header of an SQLite database.
///
/// The database may belong to another program. [`load`] reports this.
pub fn is_run_file(path: &Path) -> bool {
    let mut magic = [0; 16];
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(_) => return false,
    };
    file.read_exact(&mut magic).is_ok() && magic == *b"SQLite format 3\0"
}

/// Returns true if a process is writing a run file.
///
/// The process that writes the file must not call this function, which closes the file (see
/// [`load`]).
pub fn is_measured(path: &Path) -> bool {
    let is_locked = |file| Flock::lock(file, FlockArg::LockSharedNonblock).is_err();
    std::fs::metadata(path).is_ok_and(|m| m.is_file()) && File::open(path).is_ok_and(is_locked)
}

/// Returns the SHA-256 of each program, by path, as recorded at the start of the run.
pub fn recorded_hashes(path: &Path) -> Result<HashMap<String, String>> {
    let db = check(path)?;
    rows(&db, "SELECT path, sha256 FROM hash", |r| {
        Ok((r.get(0)?, r.get(1)?))
    })
    .map(|pairs| pairs.into_iter().collect())
    .map_err(|e| StoreError::new(path, e))
}

/// Returns the maximum number of connections per second that a load opened during a visit.
///
/// Returns `None` if the file is not a run of `benchlab load`.
pub fn connects_per_s(path: &Path) -> Result<Option<f64>> {
    let db = check(path)?;
    let read = || {
        let plan: Option<String> = meta(&db, "plan")?;
        let plan: Option<serde_json::Value> = plan.map(|text| json(&text)).transpose()?;
        if !plan.is_some_and(|plan| plan["work"]["load"].is_object()) {
            return Ok(None);
        }
        let sql =
            "SELECT max(rate) FROM (SELECT 1e9 * sum(connects) / sum(wall_ns) AS rate FROM slice
                   WHERE NOT redone GROUP BY block, point, subject, pass)";
        db.query_row(sql, [], |r| r.get(0))
    };
    read().map_err(|e| misread(path, e))
}

/// Opens a run file after checking that this version can read it.
///
/// # Errors
/// Returns an error if the file is missing, is not a run file, has a newer version, or is damaged.
pub(crate) fn check(path: &Path) -> Result<Connection> {
    let not_a_run = |reason: &str| StoreError::NotARun(path.to_path_buf(), reason.into());
    let other = |e: std::io::Error| StoreError::Other(path.to_path_buf(), e.to_string());
    // Checked before the file is opened, because opening a pipe would wait for its other end.
    let meta = std::fs::metadata(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => StoreError::Missing(path.to_path_buf()),
        _ => other(e),
    })?;
    if !meta.is_file() {
        return Err(not_a_run("it is a directory or a device"));
    }
    let mut file = File::open(path).map_err(other)?;
    let mut header = [0; 100];
    let has_header = file.read_exact(&mut header).is_ok();
    if !has_header || !header.starts_with(b"SQLite format 3\0") {
        return Err(not_a_run("it is not an SQLite database"));
    }
    // Read without SQLite, which would first move the content of another program's WAL into its
    // file.
    let number = |at: usize| {
        u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let (id, version) = (i64::from(number(68)), i64::from(number(60)));
    if id != schema::APPLICATION_ID {
        return Err(not_a_run("it is an SQLite database of another program"));
    }
    if version > schema::VERSION {
        return Err(StoreError::Newer(
            path.to_path_buf(),
            version,
            schema::VERSION,
        ));
    }
    check_length(
        path,
        u16::from_be_bytes([header[16], header[17]]),
        number(28),
        meta.len(),
    )?;
    let db = open(path)?;
    match strange_table(&db).map_err(|e| misread(path, e))? {
        Some(name) => Err(not_a_run(&format!("its {name:?} is not a plain table"))),
        None => Ok(db),
    }
}

/// Opens a run file without checking it.
pub(crate) fn open(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(|e| StoreError::new(path, e))?;
    guard(&db).map_err(|e| misread(path, e))?;
    Ok(db)
}

/// Protects the connection against a malicious schema, because the file may come from an untrusted
/// source.
///
/// See sqlite.org/security.html, "Untrusted SQLite Database Files".
fn guard(db: &Connection) -> rusqlite::Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    db.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_TEXT_BYTES)?;
    Ok(())
}

/// The maximum length of a text or blob, in bytes: a hundred times the size of a plan with 100,000
/// points.
const MAX_TEXT_BYTES: i32 = 256 << 20;

/// Returns the name of a table that is computed rather than stored, such as a view, if there is
/// one. Such a table could have endless rows.
fn strange_table(db: &Connection) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT l.name FROM pragma_table_list l
               WHERE l.schema = 'main'
                 AND (l.type NOT IN ('table', 'view') OR l.type = 'view' AND instr(?1, 'TABLE ' || l.name || ' (')
                      OR l.type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_xinfo(l.name) WHERE hidden <> 0))";
    db.query_row(sql, [schema::TABLES], |r| r.get(0)).optional()
}

/// Returns an error if the file is shorter than its header indicates.
///
/// If there is a WAL, a shorter file is valid: when benchlab is killed while it is moving pages
/// into the file, the header has already been written.
fn check_length(path: &Path, page_size: u16, pages: u32, length: u64) -> Result<()> {
    let page_size = if page_size == 1 {
        65_536
    } else {
        u64::from(page_size)
    };
    let expected = u64::from(pages) * page_size;
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    let in_wal = std::fs::metadata(wal).is_ok_and(|m| m.len() > 0);
    if length < expected && !in_wal {
        let reason = format!("it has {length} of {expected} bytes");
        return Err(StoreError::Damaged(path.to_path_buf(), reason));
    }
    Ok(())
}

/// Returns the error for a value of the wrong type.
fn misread(path: &Path, e: rusqlite::Error) -> StoreError {
    match e {
        rusqlite::Error::SqliteFailure(..) => StoreError::new(path, e),
        other => StoreError::Damaged(path.to_path_buf(), other.to_string()),
    }
}

fn read_run(file: &Arc<OpenFile>, name: String) -> rusqlite::Result<Run> {
    let db = &*file.db();
    let host: Option<String> = meta(db, "host")?;
    let ending: Option<String> = meta(db, "ending")?;
    let cpu: Option<u64> = meta(db, "benchlab_cpu_ns")?;
    let memory: Option<u64> = meta(db, "benchlab_peak_rss_bytes")?;
    Ok(Run {
        name,
        benchlab_version: meta(db, "benchlab_version")?.unwrap_or_default(),
        started_unix_s: meta(db, "started_unix_s")?.unwrap_or_default(),
        host: host
            .map(|text| json(&text))
            .transpose()?
            .unwrap_or_default(),
        pilots: pilots(db)?,
        blocks: blocks(db, file)?,
        interim_analyses: rows(
            db,
            "SELECT blocks FROM interim_analysis ORDER BY rowid",
            |r| r.get(0),
        )?,
        ending: ending.map(|w| word(&w)).transpose()?,
        settings: records(db)?,
        failures: failures(db)?,
        log: records(db)?,
        services: services(db)?,
        lab_cost: cpu.zip(memory),
        pilots_ns: meta(db, "pilots_ns")?,
        metrics: metrics(db)?,
        agents: agents(db)?.into(),
        gates: meta::<String>(db, "gates")?
            .map(|text| json(&text))
            .transpose()?
            .unwrap_or_default(),
        content: content(db)?,
    })
}

fn content(db: &Connection) -> rusqlite::Result<Content> {
    if let Some(audit) = audit(db)? {
        return Ok(Content::Audit(Box::new(audit)));
    }
    if let Some(analysis) = crate::log_analysis::read(db)? {
        return Ok(Content::Logs(Box::new(analysis)));
    }
    let plan: Option<String> = meta(db, "plan")?;
    if let Some(plan) = plan {
        let measured = Measured {
            plan: json(&plan)?,
            figures: if has_table(db, "figure")? {
                records(db)?
            } else {
                // Older files do not have this table.
                Vec::new()
            },
            profile: profile(db)?,
        };
        return Ok(Content::Measured(Box::new(measured)));
    }
    let imports = rows(db, "SELECT json FROM import ORDER BY id", |r| {
        json::<Imported>(&r.get::<_, String>(0)?)
    })?;
    Ok(Content::Imported(imports))
}

fn or_null(db: &Connection, table: &str, name: &'static str) -> rusqlite::Result<&'static str> {
    Ok(if has_column(db, table, name)? {
        name
    } else {
        "NULL"
    })
}

/// Reads the agents. The list is empty if the file is older than the table.
fn agents(db: &Connection) -> rusqlite::Result<Vec<Agent>> {
    if !has_table(db, "agent")? {
        return Ok(Vec::new());
    }
    let sql = "SELECT name, launcher, machine, version, host, clock_ahead_ns, clock_error_ns, round_trip_ns, lost
               FROM agent ORDER BY id";
    rows(db, sql, |r| {
        Ok(Agent {
            name: r.get(0)?,
            launcher: r.get(1)?,
            machine: r.get(2)?,
            version: r.get(3)?,
            host: json(&r.get::<_, String>(4)?)?,
            clock: ClockOffset {
                ahead_ns: r.get(5)?,
                error_ns: r.get(6)?,
                round_trip_ns: r.get(7)?,
            },
            lost: r.get(8)?,
            is_left_out: false,
        })
    })
}

/// Reads the output of profilers, or returns `None` if the file contains no such output, for
/// example because the file is older than the table.
fn profile(db: &Connection) -> rusqlite::Result<Option<StoredProfile>> {
    let Some(notes) = meta(db, "profile")? else {
        return Ok(None);
    };
    let outputs = rows(
        db,
        "SELECT program, tool, gzip FROM tool_output ORDER BY rowid",
        |r| {
            Ok(ToolOutput {
                program: r.get(0)?,
                tool: r.get(1)?,
                gzip: r.get(2)?,
            })
        },
    )?;
    Ok(Some(StoredProfile { notes, outputs }))
}

/// Reads the audit, or returns `None` if the file contains no audit, for example because the file
/// is older than the table.
fn audit(db: &Connection) -> rusqlite::Result<Option<Audit>> {
    let json_text: Option<String> = meta(db, "audit")?;
    let Some(json_text) = json_text else {
        return Ok(None);
    };
    let sql = "SELECT rule, area, title, place, state, weight, seen, cost, why, fixes, see, source, evidence
               FROM finding ORDER BY rowid";
    let findings = rows(db, sql, |r| {
        Ok(AuditFinding {
            rule: r.get(0)?,
            area: r.get(1)?,
            title: r.get(2)?,
            place: r.get(3)?,
            state: word(&r.get::<_, String>(4)?)?,
            weight: r.get(5)?,
            seen: r.get(6)?,
            cost: r.get(7)?,
            why: r.get(8)?,
            fixes: json(&r.get::<_, String>(9)?)?,
            see: r.get(10)?,
            source: r.get(11)?,
            evidence: json(&r.get::<_, String>(12)?)?,
        })
    })?;
    Ok(Some(Audit {
        findings,
        ..json(&json_text)?
    }))
}

fn services(db: &Connection) -> rusqlite::Result<Vec<Service>> {
    let mut services: Vec<Service> = Vec::new();
    let sql = "SELECT target, key, value FROM service ORDER BY target, rowid";
    let facts = rows(db, sql, |r| Ok((TargetId(r.get(0)?), r.get(1)?, r.get(2)?)))?;
    for (target, key, value) in facts {
        match services.last_mut().filter(|s| s.target == target) {
            Some(service) => service.facts.push((key, value)),
            None => services.push(Service {
                target,
                facts: vec![(key, value)],
            }),
        }
    }
    Ok(services)
}

fn pilots(db: &Connection) -> rusqlite::Result<Vec<Pilot>> {
    let sql = "SELECT subject, point, operations, warmup_batches, class, cold_ns FROM pilot";
    let mut pilots = rows(db, sql, |r| {
        Ok(Pilot {
            subject: SubjectId(r.get(0)?),
            point: PointId(r.get(1)?),
            operations: r.get(2)?,
            warmup_batches: r.get(3)?,
            class: word(&r.get::<_, String>(4)?)?,
            cold_ns: r.get(5)?,
            batches: Vec::new(),
            ages: Vec::new(),
        })
    })?;
    let index: HashMap<_, _> = pilots
        .iter()
        .enumerate()
        .map(|(i, p)| ((p.subject, p.point), i))
        .collect();
    // Older files do not have ages.
    let ages = if has_column(db, "pilot_batch", "age_requests")? {
        "age_requests, age_cpu_ns, age_wall_ns, baseline_requests, baseline_cpu_ns"
    } else {
        "NULL, NULL, NULL, NULL, NULL"
    };
    let sql = format!(
        "SELECT subject, point, operations, wall_ns, cpu_ns, NULL, {ages} FROM pilot_batch ORDER BY rowid"
    );
    let batches = rows(db, &sql, |r| {
        let cell = (SubjectId(r.get(0)?), PointId(r.get(1)?));
        Ok((cell, batch(r, 2)?, age(r, 6)?))
    })?;
    for (cell, batch, age) in batches {
        if let Some(&i) = index.get(&cell) {
            pilots[i].batches.push(batch);
            pilots[i].ages.extend(age);
        }
    }
    Ok(pilots)
}

fn age(row: &Row, first: usize) -> rusqlite::Result<Option<Age>> {
    let Some(requests) = row.get(first)? else {
        return Ok(None);
    };
    Ok(Some(Age {
        requests,
        cpu_ns: row.get(first + 1)?,
        wall_ns: row.get(first + 2)?,
        baseline_requests: row.get(first + 3)?,
        baseline_cpu_ns: row.get(first + 4)?,
    }))
}

fn blocks(db: &Connection, file: &Arc<OpenFile>) -> rusqlite::Result<Vec<Block>> {
    // Older files do not have this column: no agent measured their blocks.
    let agent = if has_column(db, "block", "agent")? {
        "agent"
    } else {
        "NULL"
    };
    // Older files do not have this column either: each block had its own processes.
    let process_set = if has_column(db, "block", "process_set")? {
        "process_set"
    } else {
        "NULL"
    };
    let sql = format!(
        "SELECT id, number, attempt, core, state, started_unix_s, coalesce(duration_ns, 0),
                coalesce(steal, 0), coalesce(foreign_load, 0), coalesce(memory_pressure, 0),
                coalesce(swapped_pages, 0), coalesce(throttled, 0), {agent}, {process_set}
         FROM block ORDER BY id"
    );
    let found = rows(db, &sql, |r| {
        let block = Block {
            number: r.get(1)?,
            attempt: r.get(2)?,
            core: r.get(3)?,
            state: word(&r.get::<_, String>(4)?)?,
            started_unix_s: r.get(5)?,
            duration_ns: r.get(6)?,
            disturbance: Disturbance {
                steal: r.get(7)?,
                foreign: r.get(8)?,
                memory_pressure: r.get(9)?,
                swapped_pages: r.get(10)?,
                throttled: r.get(11)?,
            },
            processes: Vec::new(),
            resources: Vec::new(),
            samples: Vec::new(),
            exits: Vec::new(),
            latencies: Vec::new(),
            timelines: Vec::new(),
            slices: Vec::new(),
            redone_slices: Vec::new(),
            redone_readings: 0,
            agent: r.get::<_, Option<u32>>(12)?.map(AgentId),
            process_set: r.get(13)?,
            readings: Vec::new(),
        };
        Ok((r.get::<_, i64>(0)?, block))
    })?;
    let index: HashMap<i64, usize> = found
        .iter()
        .enumerate()
        .map(|(i, (id, _))| (*id, i))
        .collect();
    let mut blocks: Vec<Block> = found.into_iter().map(|(_, block)| block).collect();
    fill(db, ProcessStart::SELECT, &index, |i, r| {
        blocks[i].processes.push(ProcessStart::read(r)?);
        Ok(())
    })?;
    fill(db, Resources::SELECT, &index, |i, r| {
        blocks[i].resources.push(Resources::read(r)?);
        Ok(())
    })?;
    let sql = "SELECT block, point, subject, pass, turn, operations, wall_ns, cpu_ns, server_cpu_ns
               FROM sample";
    fill(db, sql, &index, |i, r| {
        blocks[i].samples.push(Sample {
            point: PointId(r.get(1)?),
            subject: SubjectId(r.get(2)?),
            pass: r.get(3)?,
            turn: r.get(4)?,
            batch: batch(r, 5)?,
        });
        Ok(())
    })?;
    fill(db, ProcessExit::SELECT, &index, |i, r| {
        blocks[i].exits.push(ProcessExit::read(r)?);
        Ok(())
    })?;
    let sql = "SELECT block, point, subject, pass, bucket, operations FROM latency";
    fill(db, sql, &index, |i, r| latency(&mut blocks[i].latencies, r))?;
    // Older files do not have this table.
    if has_table(db, "timeline")? {
        let sql = "SELECT block, point, subject, pass, step, longest_ns FROM timeline";
        fill(db, sql, &index, |i, r| {
            timeline(&mut blocks[i].timelines, r)
        })?;
    }
    slices(db, file, &index, &mut blocks)?;
    readings(db, &index, &mut blocks)?;
    Ok(blocks)
}

fn readings(
    db: &Connection,
    index: &HashMap<i64, usize>,
    blocks: &mut [Block],
) -> rusqlite::Result<()> {
    let mut redone_turns = HashSet::new();
    fill(db, Reading::SELECT, index, |i, r| {
        let (redone, reading) = (r.get::<_, u32>(1)?, Reading::read(r)?);
        let turn = (i, reading.subject, reading.point, reading.pass, redone);
        if redone == 0 {
            blocks[i].readings.push(reading);
        } else if redone_turns.insert(turn) {
            blocks[i].redone_readings += 1;
        }
        Ok(())
    })
}

fn metrics(db: &Connection) -> rusqlite::Result<Vec<Metric>> {
    let sql = "SELECT id, title, unit, better FROM metric ORDER BY id";
    rows(db, sql, |r| {
        Ok(Metric {
            id: r.get::<_, String>(0)?.into(),
            title: r.get::<_, String>(1)?.into(),
            unit: json(&r.get::<_, String>(2)?)?,
            better: word(&r.get::<_, String>(3)?)?,
        })
    })
}

/// Reads the slices of a load run.
fn slices(
    db: &Connection,
    file: &Arc<OpenFile>,
    index: &HashMap<i64, usize>,
    blocks: &mut [Block],
) -> rusqlite::Result<()> {
    let counts = count_columns(db, "slice")?;
    let statuses = or_null(db, "slice", "statuses")?;
    let queue_overflows = or_null(db, "slice", "queue_overflows")?;
    let sql = format!(
        "SELECT block, point, subject, pass, wall_ns, offered, served, cpu_ns, busiest_cpu_ns,
                server_cpu_ns, server_bytes, server_threads, response, service, send_delay, drain_ns,
                foreign_ns, redone, id, rowid, {statuses}, {queue_overflows}, {counts}
         FROM slice"
    );
    let columns = TimesColumns::new(file, "slice");
    let mut positions = HashMap::new();
    fill(db, &sql, index, |i, r| {
        let id: i64 = r.get(18)?;
        let slice = slice(r, columns.read(r, 12, r.get(19)?)?)?;
        if r.get(17)? {
            blocks[i].redone_slices.push(slice);
            return Ok(());
        }
        positions.insert(id, (i, blocks[i].slices.len()));
        blocks[i].slices.push(slice);
        Ok(())
    })?;
    let sql = "SELECT slice, kind, count FROM slice_error ORDER BY rowid";
    let errors = rows(db, sql, |r| {
        let kind = word(&r.get::<_, String>(1)?)?;
        Ok((r.get::<_, i64>(0)?, (kind, r.get(2)?)))
    })?;
    for (slice, error) in errors {
        if let Some(&(block, at)) = positions.get(&slice) {
            blocks[block].slices[at].errors.push(error);
        }
    }
    for (slice, part) in agent_slices(db, file)? {
        if let Some(&(block, at)) = positions.get(&slice) {
            let combined = &mut blocks[block].slices[at];
            let slice = Slice {
                point: combined.point,
                subject: combined.subject,
                pass: combined.pass,
                ..part.slice
            };
            combined.agents.push(AgentSlice { slice, ..part });
        }
    }
    Ok(())
}

/// Reads the agents' slices, each with the ID of the slice to which it belongs. The list is empty
/// if the file is older than the table.
fn agent_slices(db: &Connection, file: &Arc<OpenFile>) -> rusqlite::Result<Vec<(i64, AgentSlice)>> {
    if !has_table(db, "agent_slice")? {
        return Ok(Vec::new());
    }
    let counts = count_columns(db, "agent_slice")?;
    let statuses = or_null(db, "agent_slice", "statuses")?;
    let sql = format!(
        "SELECT slice, agent, late_ns, not_sent, wall_ns, offered, served, errors, cpu_ns, busiest_cpu_ns,
                drain_ns, response, service, send_delay, rowid, {statuses}, {counts}
         FROM agent_slice ORDER BY rowid"
    );
    let columns = TimesColumns::new(file, "agent_slice");
    rows(db, &sql, |r| {
        let [response, service, send_delay] = columns.read(r, 11, r.get(14)?)?;
        let slice = Slice {
            wall_ns: r.get(4)?,
            offered: r.get(5)?,
            served: r.get(6)?,
            errors: json(&r.get::<_, String>(7)?)?,
            statuses: statuses_of(r, 15)?,
            counts: counts_of(r, 16)?,
            cpu_ns: r.get(8)?,
            busiest_cpu_ns: r.get(9)?,
            drain_ns: r.get(10)?,
            response,
            service,
            send_delay,
            ..Slice::default()
        };
        let part = AgentSlice {
            agent: AgentId(r.get(1)?),
            late_ns: r.get(2)?,
            not_sent: r.get(3)?,
            slice,
        };
        Ok((r.get(0)?, part))
    })
}

/// Reads the numbers of responses by status code. The list is empty if the file is older than the
/// column.
fn statuses_of(r: &Row, column: usize) -> rusqlite::Result<Vec<(u16, u64)>> {
    let text: Option<String> = r.get(column)?;
    text.map_or(Ok(Vec::new()), |text| json(&text))
}

/// Returns the SQL expressions for the columns of all counts. A file of an older version may lack
/// some of the columns.
fn count_columns(db: &Connection, table: &str) -> rusqlite::Result<String> {
    let columns = LoadCount::ALL.map(|count| or_zero(db, table, count.id()));
    let columns: rusqlite::Result<Vec<&str>> = columns.into_iter().collect();
    Ok(columns?.join(", "))
}

/// Reads the counts from their columns, starting with column `first`.
///
/// A column that was added to the file later has no value in older rows.
fn counts_of(r: &Row, first: usize) -> rusqlite::Result<LoadCounts> {
    let mut counts = LoadCounts::default();
    for (column, count) in (first..).zip(LoadCount::ALL) {
        counts[count] = r.get::<_, Option<u64>>(column)?.unwrap_or(0);
    }
    Ok(counts)
}

fn slice(r: &Row, [response, service, send_delay]: [SliceTimes; 3]) -> rusqlite::Result<Slice> {
    Ok(Slice {
        point: PointId(r.get(1)?),
        subject: SubjectId(r.get(2)?),
        pass: r.get(3)?,
        wall_ns: r.get(4)?,
        offered: r.get(5)?,
        served: r.get(6)?,
        errors: Vec::new(),
        statuses: statuses_of(r, 20)?,
        counts: counts_of(r, 22)?,
        cpu_ns: r.get(7)?,
        busiest_cpu_ns: r.get(8)?,
        server_cpu_ns: r.get(9)?,
        server_bytes: r.get(10)?,
        server_threads: r.get(11)?,
        response,
        service,
        send_delay,
        drain_ns: r.get(15)?,
        foreign_ns: r.get(16)?,
        queue_overflows: r.get(21)?,
        agents: Vec::new(),
    })
}

/// Adds a bucket to its batch. The buckets of a batch are stored consecutively.
fn latency(all: &mut Vec<Latencies>, r: &Row) -> rusqlite::Result<()> {
    let (point, subject, pass) = (PointId(r.get(1)?), SubjectId(r.get(2)?), r.get(3)?);
    let count = (r.get(4)?, r.get(5)?);
    let same = |l: &&mut Latencies| (l.point, l.subject, l.pass) == (point, subject, pass);
    match all.last_mut().filter(same) {
        Some(batch) => batch.counts.push(count),
        None => all.push(Latencies {
            point,
            subject,
            pass,
            counts: vec![count],
        }),
    }
    Ok(())
}

/// Adds a step to its batch. The steps of a batch are stored consecutively, starting with 0.
fn timeline(all: &mut Vec<Timeline>, r: &Row) -> rusqlite::Result<()> {
    let (point, subject, pass) = (PointId(r.get(1)?), SubjectId(r.get(2)?), r.get(3)?);
    let (step, longest_ns): (usize, u64) = (r.get(4)?, r.get(5)?);
    match all.last_mut().filter(|_| step > 0) {
        Some(batch) => batch.longest_ns.push(longest_ns),
        None => all.push(Timeline {
            point,
            subject,
            pass,
            longest_ns: vec![longest_ns],
        }),
    }
    Ok(())
}

fn failures(db: &Connection) -> rusqlite::Result<Vec<Failure>> {
    let sql = "SELECT subject, point, block, kind, message, log FROM failure ORDER BY rowid";
    rows(db, sql, |r| {
        Ok(Failure {
            subject: SubjectId(r.get(0)?),
            point: r.get::<_, Option<u32>>(1)?.map(PointId),
            block: r.get(2)?,
            kind: r.get(3)?,
            message: r.get(4)?,
            log: r.get::<_, String>(5)?.lines().map(str::to_owned).collect(),
        })
    })
}

fn batch(r: &Row, first: usize) -> rusqlite::Result<Batch> {
    Ok(Batch {
        operations: r.get(first)?,
        wall_ns: r.get(first + 1)?,
        cpu_ns: r.get(first + 2)?,
        server_cpu_ns: r.get(first + 3)?,
    })
}

/// Reads all rows of a table without keys, in the order in which they were written.
fn records<T: StoredRow>(db: &Connection) -> rusqlite::Result<Vec<T>> {
    rows(db, &format!("{} ORDER BY rowid", T::SELECT), T::read)
}

/// Reads rows with a block ID in the first column, in the order in which they were written.
fn fill(
    db: &Connection,
    sql: &str,
    index: &HashMap<i64, usize>,
    mut push: impl FnMut(usize, &Row) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut statement = db.prepare(&format!("{sql} ORDER BY rowid"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(&i) = index.get(&row.get(0)?) {
            push(i, row)?;
        }
    }
    Ok(())
}
