// SPDX-License-Identifier: Apache-2.0
//! Tables on a database server, and the lab's own look at what the server did for a subject.

use crate::content;
use crate::effects::{self, Calls, Effects, Row};
use crate::fault::{Fault, SubjectResult};
use crate::injection::{Injector, Recovery, Stoppable};
use crate::process::SubjectProcess;
use crate::random::random;
use crate::reported::Reported;
use crate::statements::{self, ExpectedStatements, Planned};
use crate::sys;
use lab_model::{Check, Injection, Plan, PointId, Target, TargetId};
use lab_services::{Counters, Request, Service, ServiceError, Transport};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The schema whose tables nobody changes.
const FULL: &str = "benchlab_full";

/// The table of the effects of calls.
const EFFECT: &str = "effect";

/// Seconds that the lab waits for a subject that was killed, when it removes its schemas.
const PATIENCE_S: u32 = 10;

/// A server that used no CPU time for so long has nothing more to do.
const STANDSTILL: Duration = Duration::from_micros(300);
/// It is waited for no longer.
const SETTLED: Duration = Duration::from_millis(100);

/// The servers of a plan's targets.
#[derive(Default)]
pub struct Servers(pub Vec<(TargetId, Server)>);

/// A server with a plan's tables.
pub struct Server {
    service: RefCell<Service>,
    /// How it was started; `None`: it is the reader's own.
    request: Option<Request>,
    target: Target,
    seed: u64,
    /// The schemas that were made.
    schemas: RefCell<HashSet<String>>,
    /// Names that were given to visits' schemas. A visit can outlive the server that it began on: no name is given twice.
    named: Cell<u64>,
    /// Those among them whose visit is over.
    free: RefCell<Vec<String>>,
    /// The counters when a subject's work began or was last looked at.
    before: RefCell<Counters>,
    /// Connections come and go with every operation: their ends have to be waited for.
    settles: Cell<bool>,
    /// The core that its processes leave to others.
    kept_off: Cell<Option<usize>>,
    /// Visits with faults that the lab makes, until now.
    injected: Cell<u64>,
    /// Round trips of the next visit are counted.
    watches: Cell<bool>,
}

/// What one visit works on.
pub struct Table {
    server: Rc<Server>,
    url: String,
    schema: String,
    last_id: i64,
    planned: Planned,
    injector: Option<Injector>,
}

impl Server {
    /// Makes the tables that all subjects read on a server that answers to a request, or on the
    /// reader's own.
    pub fn new(
        service: Service,
        request: Option<Request>,
        target: Target,
        seed: u64,
    ) -> Result<Server, ServiceError> {
        let server = Server {
            service: RefCell::new(service),
            request,
            target,
            seed,
            schemas: RefCell::default(),
            named: Cell::new(0),
            free: RefCell::default(),
            before: RefCell::default(),
            settles: Cell::new(false),
            kept_off: Cell::new(None),
            injected: Cell::new(0),
            watches: Cell::new(false),
        };
        server.fill()?;
        Ok(server)
    }

    fn fill(&self) -> Result<(), ServiceError> {
        let Target {
            table, rows, mixed, ..
        } = &self.target;
        let statements = content::simple(*rows, self.seed);
        self.empty(FULL)?;
        self.make(FULL, table, statements)?;
        if let Some(mixed) = mixed {
            self.make(FULL, mixed, content::mixed(*rows, self.seed))?;
        }
        // Else the first readers would do it.
        let mut service = self.service.borrow_mut();
        service.admin().analyze(&format!("{FULL}.test_simple"))
    }

    /// An empty schema.
    fn empty(&self, schema: &str) -> Result<(), ServiceError> {
        let mut service = self.service.borrow_mut();
        self.schemas.borrow_mut().insert(schema.to_owned());
        service.admin().drop_schema(schema)?;
        service.admin().create_schema(schema)
    }

    /// Makes a table in a schema.
    fn make(
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

    /// The table of a visit: that of all readers, or one of its own, made anew.
    pub fn fresh(self: &Rc<Self>, plan: &Plan, point: PointId) -> SubjectResult<Table> {
        let case = plan.case(point);
        let schema = match case.check {
            Check::Writes => self.own(case.empty).map_err(cannot)?,
            Check::Effects => {
                let schema = self.own(case.empty).map_err(cannot)?;
                self.prepare_for_calls(&schema, plan.injection(point))
                    .map_err(cannot)?;
                schema
            }
            Check::Reads | Check::Opens => FULL.to_owned(),
        };
        self.settles.set(case.check == Check::Opens);
        let injector = self.injector(plan.injection(point))?;
        let unix = |(key, value): &(String, String)| key == "transport" && value == "unix";
        let transport = if plan.points[point].params.iter().any(unix) {
            Transport::Unix
        } else {
            Transport::Tcp
        };
        let service = self.service.borrow();
        let url = match &injector {
            Some(injector) => service.target_over(injector.port(), &schema),
            None => service.target(transport, &schema),
        };
        drop(service);
        let mut table = Table {
            server: self.clone(),
            url: url.ok_or_else(|| Fault::Failed("target", "it has no Unix socket".into()))?,
            schema,
            last_id: 0,
            planned: Planned::default(),
            injector,
        };
        if case.check == Check::Writes {
            table.last_id = table.added().map_err(cannot)?.2;
        }
        Ok(table)
    }

    /// A schema that no other visit has, with `test_simple` empty or full: a subject and the fresh process
    /// that relieves it have one each.
    fn own(&self, empty: bool) -> Result<String, ServiceError> {
        let used = self.free.borrow_mut().pop();
        let schema = used.unwrap_or_else(|| self.new_name());
        self.empty(&schema)?;
        let copy = format!("INSERT INTO test_simple SELECT id, value FROM {FULL}.test_simple");
        self.make(&schema, &self.target.table, (!empty).then_some(copy))?;
        Ok(schema)
    }

    fn new_name(&self) -> String {
        let number = self.named.get() + 1;
        self.named.set(number);
        format!("benchlab_{number}")
    }

    /// A table for the effects of calls in a visit's schema, and what makes it fail.
    fn prepare_for_calls(
        &self,
        schema: &str,
        injection: Option<&Injection>,
    ) -> Result<(), ServiceError> {
        let mut service = self.service.borrow_mut();
        let admin = service.admin();
        let made = match injection {
            Some(Injection::Statements(statements)) => statements.as_slice(),
            _ => &[],
        };
        let mut statements = self.target.effects.iter().chain(made);
        statements.try_for_each(|statement| admin.run_in(schema, statement))
    }

    /// What makes faults between a visit's subject and the server.
    fn injector(&self, injection: Option<&Injection>) -> SubjectResult<Option<Injector>> {
        let service = self.service.borrow();
        let Some(injection) = injection else {
            let watched = self.watches.get();
            let watching = watched.then(|| Injector::watch(&service, self.target.kind));
            return watching.transpose();
        };
        let visit = self.injected.replace(self.injected.get() + 1);
        let seed = random(self.seed, &[visit]);
        Injector::start(&service, self.target.kind, injection, seed)
    }

    /// Whether round trips are counted of visits that begin from now on.
    pub fn watch(&self, watches: bool) {
        self.watches.set(watches);
    }

    /// Keeps its processes off a core, or gives them all cores.
    pub fn keep_off(&self, core: Option<usize>) {
        self.kept_off.set(core);
        let all = sys::allowed_cores().unwrap_or_default();
        let others = all.iter().copied().filter(|&c| Some(c) != core);
        let others: Vec<usize> = others.collect();
        let service = self.service.borrow();
        service.pin(if others.is_empty() { &all } else { &others });
    }

    /// CPU time of its processes, those that ended included.
    pub fn cpu_ns(&self) -> Option<u64> {
        self.service.borrow().cpu_ns()
    }

    /// Memory of its processes, what they share counted once.
    pub fn memory_bytes(&self) -> Option<u64> {
        self.service.borrow().memory_bytes()
    }

    /// Waits, where a batch closes connections, until the server has nothing more to do: what the end of
    /// a connection costs belongs to the batch.
    pub fn settle(&self) {
        if self.settles.get() {
            self.stand_still();
        }
    }

    fn stand_still(&self) {
        let deadline = Instant::now() + SETTLED;
        while Instant::now() < deadline {
            let before = self.cpu_ns();
            std::thread::sleep(STANDSTILL);
            if self.cpu_ns() == before {
                return;
            }
        }
    }

    /// What it is, and its settings.
    pub fn facts(&self) -> Vec<(String, String)> {
        self.service.borrow().facts().to_vec()
    }

    /// Why it does not answer, if it does not.
    pub fn lost(&self) -> Option<String> {
        let mut service = self.service.borrow_mut();
        let failure = service
            .failure()
            .or_else(|| service.admin().run("SELECT 1").err());
        failure.map(|error| error.to_string())
    }

    /// Starts it anew, with its tables.
    pub fn restart(&self) -> Result<(), String> {
        let Some(request) = &self.request else {
            return Err("it is not the lab's".into());
        };
        let anew = || -> Result<(), ServiceError> {
            let kind = self.service.borrow().kind();
            self.service.replace(Service::start(kind, request)?);
            self.schemas.borrow_mut().clear();
            self.fill()
        };
        anew().map_err(|e| e.to_string())
    }

    /// What happened since the last call.
    fn counted(&self) -> SubjectResult<Counters> {
        let now = self.service.borrow_mut().counters().map_err(cannot)?;
        Ok(now.since(&self.before.replace(now.clone())))
    }
}

impl Stoppable for Server {
    fn kill(&self) -> SubjectResult<()> {
        if self.service.borrow_mut().kill() {
            Ok(())
        } else {
            let why = "the lab kills only servers that it has started itself";
            Err(Fault::Failed("injection", why.into()))
        }
    }

    fn start_again(&self) -> SubjectResult<()> {
        let started = self.service.borrow_mut().start_again();
        started.map_err(|error| match error {
            ServiceError::Interrupted => Fault::Interrupted,
            error => Fault::ServerLost(error.to_string()),
        })?;
        self.keep_off(self.kept_off.get());
        Ok(())
    }
}

/// The reader's own server is left as it was; a private one goes with all that it holds.
impl Drop for Server {
    fn drop(&mut self) {
        if self.request.is_some() {
            return;
        }
        let service = self.service.get_mut();
        // A subject that was killed may still be at work there: not for ever.
        let _ = service.admin().limit_lock_waits(PATIENCE_S);
        for schema in self.schemas.get_mut().iter() {
            let _ = service.admin().drop_schema(schema);
        }
    }
}

impl Table {
    /// What a subject gets as `target=`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its server.
    pub fn server(&self) -> &Rc<Server> {
        &self.server
    }

    /// What happened until now is no subject's work.
    pub fn begin_anew(&mut self) -> SubjectResult<()> {
        self.server.counted().map(drop)
    }

    /// Round trips until now, of a visit whose are counted.
    pub fn round_trips(&self) -> u64 {
        self.injector.as_ref().map_or(0, Injector::round_trips)
    }

    /// Whether the subject is at work: some faults are made only then.
    pub fn set_at_work(&self, is_at_work: bool) {
        if let Some(injector) = &self.injector {
            injector.set_at_work(is_at_work);
        }
    }

    /// Whether measured batches have an outage.
    pub fn has_outages(&self) -> bool {
        self.injector.as_ref().is_some_and(Injector::has_outages)
    }

    /// Makes an outage in a batch that the subject is doing, of about this length.
    pub fn interrupt(
        &self,
        process: &mut SubjectProcess,
        turn: Duration,
    ) -> SubjectResult<Recovery> {
        match &self.injector {
            Some(injector) => injector.interrupt(&*self.server, process, turn),
            None => Ok(Recovery::default()),
        }
    }

    /// What became of the calls of some batches. Fault: rows of others, or faults that cannot be made.
    pub fn effects(&self, batches: &[Calls]) -> SubjectResult<Effects> {
        self.injector
            .as_ref()
            .map_or(Ok(()), Injector::check_work)?;
        // A connection that MariaDB kills is closed before its COMMIT is done.
        self.server.stand_still();
        let first = effects::first(batches);
        let rows = self.effect_rows(first).map_err(cannot)?;
        Effects::of(batches, rows)
    }

    /// The rows of a batch and those after it.
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

    /// Whether the server did since the last look just what operations of a point need.
    pub fn check_work(
        &mut self,
        plan: &Plan,
        point: PointId,
        reported: Reported,
    ) -> SubjectResult<()> {
        let counted = self.server.counted()?;
        let wanted = ExpectedStatements::of(plan, point, reported);
        statements::compare(&wanted, &counted)?;
        self.planned.add(&wanted, &counted)?;
        match plan.case(point).check {
            Check::Writes if plan.points[point].writes.rows > 0 => {
                self.look_at_rows(plan, point, reported)
            }
            _ => Ok(()),
        }
    }

    fn look_at_rows(
        &mut self,
        plan: &Plan,
        point: PointId,
        reported: Reported,
    ) -> SubjectResult<()> {
        let (rows, sum, last_id) = self.added().map_err(cannot)?;
        reported.compare_rows(plan.points[point].writes, rows, sum)?;
        self.last_id = last_id;
        Ok(())
    }

    /// A sum over the whole table.
    pub fn content(&self) -> SubjectResult<String> {
        let sum = self.read(&content::sum(&self.name())).map_err(cannot)?;
        Ok(sum.into_iter().next().unwrap_or_default())
    }

    /// Rows with an id above the last one seen: how many, their sum, the highest id.
    fn added(&self) -> Result<(u64, u64, i64), ServiceError> {
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

    /// The first row of a query.
    fn read(&self, query: &str) -> Result<Vec<String>, ServiceError> {
        let mut service = self.server.service.borrow_mut();
        let first = service.admin().query(query)?.into_iter().next();
        let columns = first.unwrap_or_default().into_iter();
        Ok(columns.map(Option::unwrap_or_default).collect())
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        if self.schema != FULL {
            let schema = std::mem::take(&mut self.schema);
            self.server.free.borrow_mut().push(schema);
        }
    }
}

fn cannot(error: ServiceError) -> Fault {
    match error {
        ServiceError::Interrupted => Fault::Interrupted,
        error => Fault::Failed("target", error.to_string()),
    }
}
