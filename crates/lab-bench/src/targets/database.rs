// SPDX-License-Identifier: Apache-2.0
//! The tables on a database server, and benchlab's own check of the work that the server did for a
//! subject.
use crate::host::sys;
use crate::subject::fault::{Fault, SubjectResult};
use crate::targets::content;
use crate::targets::effects::{self, CallBatch, Effects, Row};
use crate::targets::reported::Reported;
use crate::targets::round_trip_proxy::RoundTripProxy;
use crate::targets::statements::{self, ExpectedStatements, PlannedStatements};
use lab_model::{Check, Plan, PointId, SqlSetup, Target, TargetId, VARIANT};
use lab_services::{Counters, DaemonOptions, Database, Service, ServiceError, Transport};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The schema with the tables that visits only read.
const FULL: &str = "benchlab_full";

/// The table that stores the effects of calls.
const EFFECT: &str = "effect";

/// The maximum time to wait for the locks of a killed subject while its schemas are removed, in
/// seconds.
const TIMEOUT_S: u32 = 10;

/// The time without CPU usage after which a server counts as idle.
const IDLE_AFTER: Duration = Duration::from_micros(300);
/// The maximum wait for a server to become idle.
const IDLE_TIMEOUT: Duration = Duration::from_millis(100);

/// The servers of a plan's targets.
#[derive(Default)]
pub struct Servers(pub Vec<(TargetId, Server)>);

/// A server with a plan's tables.
pub struct Server {
    service: RefCell<Service>,
    /// The CPU time of processes that have been killed or replaced, in ns.
    replaced_cpu_ns: Cell<u64>,
    /// The options for starting the server, or `None` if the user runs the server.
    request: Option<DaemonOptions>,
    target: Target,
    seed: u64,
    /// The schemas created so far.
    schemas: RefCell<HashSet<String>>,
    /// The number in the most recent schema name. Names are never reused, because a
    /// visit can outlive its server.
    last_number: Cell<u64>,
    /// The schemas of completed visits, which can be reused.
    free_schemas: RefCell<Vec<String>>,
    /// The counters at the last check, or at the start of a subject's work.
    before: RefCell<Counters>,
    /// True if no subject has connected, disconnected or opened a case since the counters were read.
    is_current: Cell<bool>,
    /// True if every operation opens and closes connections, so that benchlab must wait until they are closed.
    closes_connections: Cell<bool>,
    /// The core that the server's processes must not use, or `None` if they may use all cores.
    kept_off: Cell<Option<usize>>,
    /// True if the round trips of subsequent visits are counted.
    counts_round_trips: Cell<bool>,
}

/// The table on a server that a subject uses during one visit.
pub struct VisitTable {
    server: Rc<Server>,
    url: String,
    schema: String,
    /// True if no other visit uses the schema.
    is_own: bool,
    last_id: i64,
    planned: PlannedStatements,
    proxy: Option<RoundTripProxy>,
}

impl Server {
    /// Creates the tables that subjects only read, on a server that benchlab started or the user
    /// runs.
    pub fn new(
        service: Service,
        request: Option<DaemonOptions>,
        target: Target,
        seed: u64,
    ) -> Result<Server, ServiceError> {
        let server = Server {
            service: RefCell::new(service),
            replaced_cpu_ns: Cell::new(0),
            request,
            target,
            seed,
            schemas: RefCell::default(),
            last_number: Cell::new(0),
            free_schemas: RefCell::default(),
            before: RefCell::default(),
            is_current: Cell::new(false),
            closes_connections: Cell::new(false),
            kept_off: Cell::new(None),
            counts_round_trips: Cell::new(false),
        };
        server.fill()?;
        Ok(server)
    }

    fn fill(&self) -> Result<(), ServiceError> {
        if let Some(setup) = &self.target.setup {
            self.create_own(FULL, setup, None)?;
            for (number, (name, _)) in setup.variants.iter().enumerate() {
                self.create_own(&variant_schema(number), setup, Some(name))?;
            }
            return Ok(());
        }
        let Target {
            table, rows, mixed, ..
        } = &self.target;
        let statements = content::simple(*rows, self.seed);
        self.create_empty(FULL)?;
        self.create_table(FULL, table, statements)?;
        if let Some(mixed) = mixed {
            self.create_table(FULL, mixed, content::mixed(*rows, self.seed))?;
        }
        // Otherwise, the first subjects that read would trigger the analysis.
        let mut service = self.service.borrow_mut();
        service.admin().analyze(&format!("{FULL}.test_simple"))
    }

    /// Creates an empty schema. Drops an existing schema with the same name first.
    fn create_empty(&self, schema: &str) -> Result<(), ServiceError> {
        let mut service = self.service.borrow_mut();
        self.schemas.borrow_mut().insert(schema.to_owned());
        service.admin().drop_schema(schema)?;
        service.admin().create_schema(schema)
    }

    /// Creates a schema with the tables and the data of the user's workload.
    fn create_own(
        &self,
        schema: &str,
        setup: &SqlSetup,
        variant: Option<&str>,
    ) -> Result<(), ServiceError> {
        self.create_empty(schema)?;
        let mut service = self.service.borrow_mut();
        let admin = service.admin();
        for statement in setup.statements_for(variant) {
            let run = admin.run_in(schema, &statement.text);
            run.map_err(|error| error.in_workload(&statement.origin, &statement.text))?;
        }
        for table in own_tables(admin, schema)? {
            let name = format!("{}.{}", admin.quoted(schema), admin.quoted(&table));
            admin.analyze(&name)?;
        }
        Ok(())
    }

    /// Returns the schema of a variant. All visits that only read share this schema.
    fn shared_schema(&self, plan: &Plan, point: PointId) -> String {
        let variant = plan.points[point].param(VARIANT);
        let setup = self.target.setup.as_ref();
        let number = setup.and_then(|setup| {
            setup
                .variants
                .iter()
                .position(|(name, _)| Some(name.as_str()) == variant)
        });
        number.map_or(FULL.to_owned(), variant_schema)
    }

    /// Calls `study` with benchlab's own connection, on which unqualified names refer to a point's
    /// schema.
    pub fn study<T>(
        &self,
        plan: &Plan,
        point: PointId,
        study: impl FnOnce(&mut dyn Database) -> Result<T, String>,
    ) -> Result<T, String> {
        let schema = self.shared_schema(plan, point);
        let mut service = self.service.borrow_mut();
        let admin = service.admin();
        admin.use_schema(Some(&schema)).map_err(|e| e.to_string())?;
        let result = study(admin);
        admin.use_schema(None).map_err(|e| e.to_string())?;
        result
    }

    /// Creates a table in a schema and fills it.
    fn create_table(
        &self,
        schema: &str,
        table: &str,
        rows: impl IntoIterator<Item = String>,
    ) -> Result<(), ServiceError> {
        let mut service = self.service.borrow_mut();
        let admin = service.admin();
        admin.run_in(schema, table)?;
        rows.into_iter()
            .try_for_each(|statement| admin.run_in(schema, &statement))
    }

    /// Returns the table for a visit: the shared table if the visit only reads, or else a new one.
    pub fn fresh(self: &Rc<Self>, plan: &Plan, point: PointId) -> SubjectResult<VisitTable> {
        let case = plan.case(point);
        self.is_current.set(false);
        let shortened = self.service.borrow_mut().shorten_counters();
        shortened.map_err(target_fault)?;
        let schema = match case.check {
            Check::Writes if self.target.setup.is_some() => {
                self.new_own_schema(plan, point).map_err(target_fault)?
            }
            Check::Writes => self.new_schema(case.empty).map_err(target_fault)?,
            Check::Effects => {
                let schema = self.new_schema(case.empty).map_err(target_fault)?;
                self.prepare_for_calls(&schema, plan.fault_statements(point))
                    .map_err(target_fault)?;
                schema
            }
            Check::Reads | Check::Opens => self.shared_schema(plan, point),
        };
        self.closes_connections.set(case.check == Check::Opens);
        let is_counted = self.counts_round_trips.get();
        let proxy = is_counted.then(|| RoundTripProxy::start(&self.service.borrow()));
        let proxy = proxy.transpose()?;
        let unix = |(key, value): &(String, String)| key == "transport" && value == "unix";
        let transport = if plan.points[point].params.iter().any(unix) {
            Transport::Unix
        } else {
            Transport::Tcp
        };
        let service = self.service.borrow();
        let url = match &proxy {
            Some(proxy) => service.target_over(proxy.port(), &schema),
            None => service.target(transport, &schema),
        };
        drop(service);
        let mut table = VisitTable {
            server: self.clone(),
            url: url
                .ok_or_else(|| Fault::Failed("target", "the server has no Unix socket".into()))?,
            schema,
            is_own: case.check == Check::Writes,
            last_id: 0,
            planned: PlannedStatements::default(),
            proxy,
        };
        if case.check == Check::Writes && self.target.setup.is_none() {
            table.last_id = table.added_rows().map_err(target_fault)?.2;
        }
        Ok(table)
    }

    /// Creates a schema for a single visit. If `empty` is true, `test_simple` has no rows. A
    /// subject and its standby process use separate schemas.
    fn new_schema(&self, empty: bool) -> Result<String, ServiceError> {
        let free = self.free_schemas.borrow_mut().pop();
        let schema = free.unwrap_or_else(|| self.new_name());
        self.create_empty(&schema)?;
        let copy = format!("INSERT INTO test_simple SELECT id, value FROM {FULL}.test_simple");
        self.create_table(&schema, &self.target.table, (!empty).then_some(copy))?;
        Ok(schema)
    }

    /// Creates a schema for a single visit to a point of the user's workload.
    fn new_own_schema(&self, plan: &Plan, point: PointId) -> Result<String, ServiceError> {
        let free = self.free_schemas.borrow_mut().pop();
        let schema = free.unwrap_or_else(|| self.new_name());
        if let Some(setup) = &self.target.setup {
            self.create_own(&schema, setup, plan.points[point].param(VARIANT))?;
        }
        Ok(schema)
    }

    fn new_name(&self) -> String {
        let number = self.last_number.get() + 1;
        self.last_number.set(number);
        format!("benchlab_{number}")
    }

    /// Creates the table for the effects of calls in a visit's schema, and executes the statements
    /// that make calls fail.
    fn prepare_for_calls(&self, schema: &str, failing: &[String]) -> Result<(), ServiceError> {
        let mut service = self.service.borrow_mut();
        let admin = service.admin();
        let mut statements = self.target.effects.iter().chain(failing);
        statements.try_for_each(|statement| admin.run_in(schema, statement))
    }

    /// Sets whether the round trips of new visits are counted.
    pub fn count_round_trips(&self, is_counted: bool) {
        self.counts_round_trips.set(is_counted);
    }

    /// Keeps the server's processes off a core, or lets them use all cores.
    pub fn keep_off(&self, core: Option<usize>) {
        self.kept_off.set(core);
        self.service.borrow().pin(&self.cores());
    }

    /// Returns the cores that the server's processes may use.
    fn cores(&self) -> Vec<usize> {
        lab_host::cores_except(self.kept_off.get())
    }

    /// Returns the CPU time of the server's processes in ns, including exited processes. The time
    /// keeps growing after a restart.
    pub fn cpu_ns(&self) -> Option<u64> {
        let now = self.service.borrow().cpu_ns();
        now.map(|now| self.replaced_cpu_ns.get() + now)
    }

    /// Saves the CPU time of the current processes before they are replaced.
    fn keep_cpu_ns(&self) {
        if let Some(now) = self.cpu_ns() {
            self.replaced_cpu_ns.set(now);
        }
    }

    /// Returns the memory of the server's processes in bytes, with shared memory counted once.
    pub fn memory_bytes(&self) -> Option<u64> {
        self.service.borrow().memory_bytes()
    }

    /// Waits until the server is idle if batches close connections, because closing them is part of
    /// a batch.
    pub fn wait_until_idle(&self) {
        if self.closes_connections.get() {
            self.stand_still();
        }
    }

    fn stand_still(&self) {
        let deadline = Instant::now() + IDLE_TIMEOUT;
        while Instant::now() < deadline {
            let before = self.cpu_ns();
            std::thread::sleep(IDLE_AFTER);
            if self.cpu_ns() == before {
                return;
            }
        }
    }

    /// Returns the server's version and settings.
    pub fn facts(&self) -> Vec<(String, String)> {
        self.service.borrow().facts().to_vec()
    }

    /// Explains why the server does not respond. Returns `None` if it responds.
    pub fn lost(&self) -> Option<String> {
        let mut service = self.service.borrow_mut();
        let failure = service
            .failure()
            .or_else(|| service.admin().run("SELECT 1").err());
        failure.map(|error| error.to_string())
    }

    /// Starts a new server with the same tables.
    pub fn restart(&self) -> Result<(), String> {
        let Some(request) = &self.request else {
            return Err("benchlab did not start it".into());
        };
        let restart = || -> Result<(), ServiceError> {
            let kind = self.service.borrow().kind();
            self.keep_cpu_ns();
            self.service.replace(Service::start(kind, request)?);
            self.schemas.borrow_mut().clear();
            self.is_current.set(false);
            self.fill()
        };
        restart().map_err(|e| e.to_string())
    }

    /// Returns the counts since the last call.
    fn take_counts(&self) -> SubjectResult<Counters> {
        let now = self.service.borrow_mut().counters().map_err(target_fault)?;
        self.is_current.set(true);
        Ok(now.work_since(&self.before.replace(now.clone())))
    }

    /// Kills all processes of the server. Returns a fault if benchlab does not own the server.
    pub fn kill(&self) -> SubjectResult<()> {
        self.keep_cpu_ns();
        if self.service.borrow_mut().kill() {
            Ok(())
        } else {
            let message = "benchlab kills only servers that it started itself";
            Err(Fault::Failed("target", message.into()))
        }
    }

    /// Restarts the server with the same data on the same cores.
    pub fn start_again(&self) -> SubjectResult<()> {
        // Start the server on other cores: the subject uses benchlab's core and keeps trying to reconnect.
        let started = sys::on_cores(&self.cores(), || self.service.borrow_mut().start_again());
        started.map_err(|error| match error {
            ServiceError::Interrupted => Fault::Interrupted,
            error => Fault::ServerLost(error.to_string()),
        })?;
        self.is_current.set(false);
        self.keep_off(self.kept_off.get());
        Ok(())
    }
}

/// Removes benchlab's schemas from a server run by the user. The data of a private server is
/// deleted as a whole.
impl Drop for Server {
    fn drop(&mut self) {
        if self.request.is_some() {
            return;
        }
        let service = self.service.get_mut();
        // A killed subject may still hold locks, so the wait is limited.
        let _ = service.admin().limit_lock_waits(TIMEOUT_S);
        for schema in self.schemas.get_mut().iter() {
            let _ = service.admin().drop_schema(schema);
        }
    }
}

impl VisitTable {
    /// Returns the value of the subject's `target=` parameter.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the server of this table.
    pub fn server(&self) -> &Rc<Server> {
        &self.server
    }

    /// Excludes the server's work for connecting and for opening cases from the next check.
    ///
    /// Nothing else happens on a private server between turns. Everything that a subject causes
    /// after its reply therefore still counts as its work. A server run by the user has other
    /// clients, such as monitoring, so only events during a turn count.
    pub fn exclude_past_work(&mut self) -> SubjectResult<()> {
        if self.server.is_current.get() && self.server.request.is_some() {
            return Ok(());
        }
        self.server.take_counts().map(drop)
    }

    /// Returns the number of round trips so far, in a visit whose round trips are counted.
    pub fn round_trips(&self) -> u64 {
        self.proxy.as_ref().map_or(0, RoundTripProxy::round_trips)
    }

    /// Returns the effects of the calls in `batches`. Fails if the table has rows of any other
    /// call.
    pub fn effects(&self, batches: &[CallBatch]) -> SubjectResult<Effects> {
        // MariaDB closes a killed connection before its COMMIT is complete.
        self.server.stand_still();
        let first = effects::first(batches);
        let rows = self.effect_rows(first).map_err(target_fault)?;
        Effects::new(batches, rows)
    }

    /// Returns the effect rows of batch `first` and of all later batches.
    fn effect_rows(&self, first: u64) -> Result<Vec<Row>, ServiceError> {
        let mut service = self.server.service.borrow_mut();
        let admin = service.admin();
        let (batch, call) = (admin.quoted("batch"), admin.quoted("call"));
        let rows = admin.query(&format!(
            "SELECT {batch}, {call}, count(*) FROM {}.{EFFECT} WHERE {batch} >= {first}
             GROUP BY {batch}, {call}",
            self.schema
        ))?;
        let number = |column: Option<String>| column?.parse().ok();
        let row = |columns: Vec<Option<String>>| {
            let mut numbers = columns.into_iter().map(number);
            Some((numbers.next()??, numbers.next()??, numbers.next()??))
        };
        let rows = rows.into_iter().map(|r| row(r).unwrap_or(effects::STRAY));
        Ok(rows.collect())
    }

    /// Checks that the server's work since the last check is exactly the work of the reported operations.
    pub fn check_work(
        &mut self,
        plan: &Plan,
        point: PointId,
        reported: Reported,
    ) -> SubjectResult<()> {
        let counted = self.server.take_counts()?;
        let expected = ExpectedStatements::new(plan, point, reported);
        statements::compare(&expected, &counted)?;
        self.planned.add(&expected, &counted)?;
        match plan.case(point).check {
            Check::Writes if plan.points[point].writes.rows > 0 => {
                self.check_rows(plan, point, reported)
            }
            _ => Ok(()),
        }
    }

    fn check_rows(&mut self, plan: &Plan, point: PointId, reported: Reported) -> SubjectResult<()> {
        let (rows, sum, last_id) = self.added_rows().map_err(target_fault)?;
        reported.compare_rows(plan.points[point].writes, rows, sum)?;
        self.last_id = last_id;
        Ok(())
    }

    /// Returns a checksum of the whole table.
    pub fn content(&self) -> SubjectResult<String> {
        if self.server.target.setup.is_some() {
            return self.own_content().map_err(target_fault);
        }
        let sum = self
            .read(&content::sum(&self.name()))
            .map_err(target_fault)?;
        Ok(sum.into_iter().next().unwrap_or_default())
    }

    /// Returns a checksum of each table of the user's workload, without columns that often contain
    /// the current time.
    fn own_content(&self) -> Result<String, ServiceError> {
        let mut service = self.server.service.borrow_mut();
        let admin = service.admin();
        let mut sums = Vec::new();
        for table in own_tables(admin, &self.schema)? {
            let columns = admin.query(&format!(
                "SELECT column_name FROM information_schema.columns WHERE table_schema = '{}' AND table_name = '{}' \
                 AND data_type NOT LIKE '%date%' AND data_type NOT LIKE '%time%' ORDER BY ordinal_position",
                self.schema,
                table.replace('\'', "''")
            ))?;
            let names = columns
                .into_iter()
                .filter_map(|row| row.into_iter().next().flatten());
            let names: Vec<String> = names.map(|name| admin.quoted(&name)).collect();
            let name = format!("{}.{}", admin.quoted(&self.schema), admin.quoted(&table));
            sums.push(admin.value(&admin.checksum(&name, &names))?);
        }
        Ok(sums.join(" "))
    }

    /// Returns the number of rows added since the last call, the sum of their `value`, and their
    /// highest ID.
    fn added_rows(&self) -> Result<(u64, u64, i64), ServiceError> {
        let last = self.last_id;
        let row = self.read(&format!(
            "SELECT count(*), coalesce(sum(value), 0), coalesce(max(id), {last})
             FROM {} WHERE id > {last}",
            self.name()
        ))?;
        let number = |i: usize| row.get(i).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
        Ok((number(0), number(1), number(2) as i64))
    }

    fn name(&self) -> String {
        format!("{}.test_simple", self.schema)
    }

    /// Returns the first row of a query.
    fn read(&self, query: &str) -> Result<Vec<String>, ServiceError> {
        let mut service = self.server.service.borrow_mut();
        let first = service.admin().query(query)?.into_iter().next();
        let columns = first.unwrap_or_default().into_iter();
        Ok(columns.map(Option::unwrap_or_default).collect())
    }
}

impl Drop for VisitTable {
    fn drop(&mut self) {
        self.server.is_current.set(false);
        if self.schema != FULL && (self.is_own || self.server.target.setup.is_none()) {
            let schema = std::mem::take(&mut self.schema);
            self.server.free_schemas.borrow_mut().push(schema);
        }
    }
}

/// Returns the name of a variant's schema.
fn variant_schema(number: usize) -> String {
    format!("{FULL}_{}", number + 1)
}

/// Returns the names of the tables in a schema, sorted.
fn own_tables(admin: &mut dyn Database, schema: &str) -> Result<Vec<String>, ServiceError> {
    let rows = admin.query(&format!(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = '{schema}' \
         AND table_type = 'BASE TABLE' ORDER BY table_name"
    ))?;
    Ok(rows
        .into_iter()
        .filter_map(|row| row.into_iter().next().flatten())
        .collect())
}

fn target_fault(error: ServiceError) -> Fault {
    match error {
        ServiceError::Interrupted => Fault::Interrupted,
        error => Fault::Failed("target", error.to_string()),
    }
}
