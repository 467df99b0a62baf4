// SPDX-License-Identifier: Apache-2.0
//! Test doubles for the driver: a scripted workload, a machine whose time advances with the
//! workload's turns, and a run file in a temporary directory.

use lab_bench::{
    BenchError, BlockContext, Done, Fault, HostWatch, LocalExecutor, Machine, Opening, Progress,
    RunContext, Session, Stop, Turn, TurnRecord, TurnResult, Workload,
};
use lab_model::{
    Batch, BlockState, Case, Disturbance, Ending, Failure, Measure, Pilot, Plan, Point, PointId,
    Reading, Run, Sample, Subject, SubjectId,
};
use lab_store::RunWriter;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::Rc;
use tempfile::TempDir;

/// The duration of a turn in ns.
pub const TURN_NS: u64 = 1_000_000;

/// A call of the driver to the fake workload.
#[derive(Clone, Debug, PartialEq)]
pub enum BuildStep {
    Prepare,
    Restore,
    Block(u32, usize),
    Open(SubjectId),
    Point(PointId),
    WarmUp(SubjectId, PointId),
    Rehearse(Turn),
    Pass(Turn, u32),
    Take(Turn),
    End(Turn),
    Close(SubjectId, PointId),
    Quit(SubjectId),
    Finish,
}

/// The behavior of a turn.
#[derive(Clone, Debug)]
pub enum Act {
    /// The turn is a batch. Contains its duration in ns.
    Batch(u64),
    /// The turn returns a reading.
    Reading { disturbed: bool },
    /// The turn fails.
    Fail(Fault),
}

type Script<'a> = Box<dyn FnMut(u32, Turn) -> Act + 'a>;

/// The log of a fake workload, and the machine on which the workload runs.
#[derive(Clone, Default)]
pub struct Journal {
    pub steps: Rc<RefCell<Vec<BuildStep>>>,
    now_ns: Rc<Cell<u64>>,
    /// The disturbances of the blocks, in order. Any further blocks are not disturbed.
    pub disturbances: Rc<RefCell<VecDeque<Disturbance>>>,
}

impl Journal {
    /// Returns the turns of all blocks.
    pub fn turns(&self) -> Vec<Turn> {
        let turn = |step: &BuildStep| match step {
            BuildStep::Take(turn) => Some(*turn),
            _ => None,
        };
        self.steps.borrow().iter().filter_map(turn).collect()
    }

    /// Counts the steps that match a predicate.
    pub fn count(&self, matches: impl Fn(&BuildStep) -> bool) -> usize {
        self.steps.borrow().iter().filter(|s| matches(s)).count()
    }

    fn step(&self, step: BuildStep) {
        self.steps.borrow_mut().push(step);
    }
}

impl Machine for Journal {
    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    fn unix_seconds(&self) -> f64 {
        1.0 + self.now_ns.get() as f64 / 1e9
    }

    fn watch(&self) -> Box<dyn HostWatch> {
        let next = self.disturbances.borrow_mut().pop_front();
        Box::new(Quiet(next.unwrap_or_default()))
    }

    fn lab_cost(&self) -> Option<(u64, u64)> {
        Some((1, 2))
    }
}

struct Quiet(Disturbance);

impl HostWatch for Quiet {
    fn disturbance(&self, _: Option<u64>) -> Disturbance {
        self.0
    }
}

/// Returns the disturbance of a block during which the hypervisor stole half of the time.
pub fn stolen() -> Disturbance {
    Disturbance {
        steal: 0.5,
        ..Disturbance::default()
    }
}

/// A workload that runs a script instead of measuring, and records the calls of the driver.
pub struct Fake<'a> {
    pub script: Script<'a>,
    pub journal: Journal,
    pub opening: Opening,
    pub pairs: u32,
    /// The point that must come after all other points.
    pub last: Option<PointId>,
    pub restorable: bool,
    pub redoes_blocks: bool,
    pub metrics: Vec<lab_model::Metric>,
    /// The results of the workload's pilots.
    pub pilots: Vec<Pilot>,
    /// The duration of the workload's preparation in ns.
    pub prepare_ns: u64,
    /// True if the workload is interrupted during the preparation.
    pub stops_in_prepare: bool,
    /// The block being measured.
    pub block: u32,
    /// The number of blocks served by each set of processes. `None` means that each block has its own processes.
    pub blocks_of_set: Option<u32>,
    /// The index of the current set, the number of blocks that it has served, and true during a
    /// block.
    pub set: (u32, u32, bool),
}

impl<'a> Fake<'a> {
    pub fn new(script: impl FnMut(u32, Turn) -> Act + 'a) -> Fake<'a> {
        Fake {
            script: Box::new(script),
            journal: Journal::default(),
            opening: Opening::Point,
            pairs: 1,
            last: None,
            restorable: true,
            redoes_blocks: true,
            metrics: Vec::new(),
            pilots: Vec::new(),
            prepare_ns: 0,
            stops_in_prepare: false,
            block: 0,
            blocks_of_set: None,
            set: (0, u32::MAX, false),
        }
    }

    /// Creates a workload in which each subject needs a fixed number of ns per turn, plus small
    /// variations without a trend.
    pub fn steady(times_ns: &'a [u64]) -> Fake<'a> {
        let scatter = |block: u32| u64::from((block * block + 3 * block) % 7);
        Fake::new(move |block, turn| Act::Batch(times_ns[turn.subject.index()] + scatter(block)))
    }
}

impl Workload for Fake<'_> {
    fn cores(&self) -> &[usize] {
        &[4, 5]
    }

    fn metrics(&self) -> Vec<lab_model::Metric> {
        self.metrics.clone()
    }

    fn prepare(&mut self, run: &mut RunContext, _: &mut dyn FnMut(Progress)) -> Result<(), Stop> {
        self.journal.step(BuildStep::Prepare);
        for pilot in self.pilots.drain(..) {
            run.pilot(pilot)?;
        }
        self.journal
            .now_ns
            .set(self.journal.now_ns.get() + self.prepare_ns);
        if self.stops_in_prepare {
            return Err(Stop::Interrupted);
        }
        Ok(())
    }

    fn restore(&mut self) -> Result<(), String> {
        self.journal.step(BuildStep::Restore);
        if self.restorable {
            Ok(())
        } else {
            Err("its disk is full".into())
        }
    }

    fn finish(&mut self, _: &mut RunContext) -> Result<(), Stop> {
        self.journal.step(BuildStep::Finish);
        Ok(())
    }

    fn process_set(&mut self, context: &mut RunContext) -> Option<u32> {
        self.blocks_of_set?;
        if self.set.2 || !self.is_amid_set() {
            let known = context
                .run
                .blocks
                .iter()
                .filter_map(|b| b.process_set)
                .max();
            self.set = (known.map_or(0, |set| set + 1), 0, false);
        }
        self.set.2 = true;
        Some(self.set.0)
    }

    fn is_amid_set(&self) -> bool {
        self.blocks_of_set.is_some_and(|blocks| self.set.1 < blocks)
    }

    fn keeps_processes(&mut self, state: BlockState) -> bool {
        self.set.2 = false;
        self.set.1 = self
            .set
            .1
            .saturating_add(u32::from(state == BlockState::Complete));
        self.is_amid_set()
    }

    fn begin_block(&mut self, number: u32, core: usize) {
        self.block = number;
        self.journal.step(BuildStep::Block(number, core));
    }

    fn can_redo_blocks(&self) -> bool {
        self.redoes_blocks
    }

    fn comes_last(&self, point: PointId) -> bool {
        self.last == Some(point)
    }

    fn opening(&self) -> Opening {
        self.opening
    }

    fn open(&mut self, _: &mut BlockContext, subject: SubjectId) -> Done<()> {
        self.journal.step(BuildStep::Open(subject));
        Ok(())
    }

    fn begin_point(&mut self, _: &mut BlockContext, point: PointId) {
        self.journal.step(BuildStep::Point(point));
    }

    fn warm_up(&mut self, _: &mut BlockContext, subject: SubjectId, point: PointId) -> Done<()> {
        self.journal.step(BuildStep::WarmUp(subject, point));
        Ok(())
    }

    fn rehearsed_passes(&self) -> u32 {
        let begins_set = self.blocks_of_set.is_some() && self.set.1 == 0;
        if begins_set { 3 } else { 0 }
    }

    fn rehearse(&mut self, _: &mut BlockContext, turn: Turn) -> Done<()> {
        self.journal.step(BuildStep::Rehearse(turn));
        Ok(())
    }

    fn passes(&self, _: PointId, _: &[SubjectId]) -> u32 {
        2 * self.pairs
    }

    fn before_pass(&mut self, _: &mut BlockContext, turn: Turn, remaining: u32) -> Done<()> {
        self.journal.step(BuildStep::Pass(turn, remaining));
        Ok(())
    }

    fn take_turn(&mut self, _: &mut BlockContext, turn: Turn) -> Done<TurnResult> {
        self.journal.step(BuildStep::Take(turn));
        self.journal.now_ns.set(self.journal.now_ns.get() + TURN_NS);
        let Turn {
            subject,
            point,
            pass,
            ..
        } = turn;
        match (self.script)(self.block, turn) {
            Act::Fail(fault) => Err(fault.into()),
            Act::Batch(wall_ns) => Ok(TurnRecord::Batch {
                sample: Sample {
                    point,
                    subject,
                    pass,
                    turn: turn.turn,
                    batch: Batch {
                        operations: 1,
                        wall_ns,
                        cpu_ns: wall_ns,
                        server_cpu_ns: None,
                    },
                },
                units: 1,
                check: 7,
                latencies: None,
                timeline: None,
                readings: Vec::new(),
            }
            .into()),
            Act::Reading { disturbed } => Ok(TurnResult {
                record: Some(TurnRecord::Readings(vec![Reading {
                    point,
                    subject,
                    pass,
                    metric: "misses".into(),
                    value: self.journal.steps.borrow().len() as f64,
                }])),
                disturbed,
            }),
        }
    }

    fn end_turn(&mut self, _: &mut BlockContext, turn: Turn) -> Done<()> {
        self.journal.step(BuildStep::End(turn));
        Ok(())
    }

    fn close(&mut self, _: &mut BlockContext, subject: SubjectId, point: PointId) -> Done<()> {
        self.journal.step(BuildStep::Close(subject, point));
        Ok(())
    }

    fn quit(&mut self, _: &mut BlockContext, subject: SubjectId) -> Done<()> {
        self.journal.step(BuildStep::Quit(subject));
        Ok(())
    }
}

/// Returns a plan with two points of one case and `subjects` subjects. The first subject is the
/// baseline.
pub fn plan(subjects: usize, max_blocks: u32) -> Plan {
    let subject = |i| Subject {
        name: format!("s{i}"),
        ..Subject::default()
    };
    let point = |n: u32| Point {
        params: vec![("n".into(), n.to_string())],
        ..Point::default()
    };
    Plan {
        experiment: "fake".into(),
        subjects: (0..subjects).map(subject).collect(),
        cases: [Case {
            name: "work".into(),
            ..Case::default()
        }]
        .into(),
        points: [1, 10].map(point).into(),
        measure: Measure {
            max_blocks,
            redo: 2,
            alpha: 0.05,
            margin: 0.02,
            ..Measure::default()
        },
        seed: 11,
        ..Plan::default()
    }
}

/// A run file in a temporary directory.
pub struct File {
    _folder: TempDir,
    pub path: PathBuf,
}

impl File {
    /// Creates a file with a plan.
    pub fn new(plan: &Plan) -> File {
        // Use memory if possible, because the end of a block is forced to disk.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let folder = folder.expect("a folder");
        let path = folder.path().join("fake.lab");
        let writer = RunWriter::create(&path, "0", 1.0).expect("a new file");
        writer.plan(plan).expect("a plan");
        writer.finish(None, None).expect("an end");
        File {
            _folder: folder,
            path,
        }
    }

    /// Adds failures that happened before any measurement.
    pub fn fail(&self, failures: &[Failure]) {
        let writer = RunWriter::resume(&self.path).expect("a run file");
        for failure in failures {
            writer.failure(failure).expect("a failure");
        }
        writer.finish(None, None).expect("an end");
    }

    /// Measures the missing blocks.
    pub fn measure(&self, plan: &Plan, fake: Fake) -> Result<Ending, BenchError> {
        let machine = Box::new(fake.journal.clone());
        self.run_plan(plan, Box::new(fake), machine, &mut |_| ())
    }

    /// Measures the missing blocks with any workload.
    pub fn run_plan<'a>(
        &self,
        plan: &'a Plan,
        workload: Box<dyn Workload + 'a>,
        machine: Box<dyn Machine + 'a>,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Ending, BenchError> {
        let writer = RunWriter::resume(&self.path).expect("a run file");
        let run = writer.load().expect("a run");
        let executor = LocalExecutor::new(plan, workload).with_machine(machine);
        Session::with_executor(plan, writer, run, Box::new(executor)).measure(tell)
    }

    pub fn run(&self) -> Run {
        lab_store::load(&self.path).expect("a run")
    }
}

/// Returns the turns of the valid blocks: block, point, subject, pass and turn.
pub fn order(run: &Run) -> Vec<(u32, PointId, SubjectId, u32, u32)> {
    let turns = |block: &lab_model::Block| {
        let number = block.number;
        let turn = move |s: &Sample| (number, s.point, s.subject, s.pass, s.turn);
        block.samples.iter().map(turn).collect::<Vec<_>>()
    };
    run.complete_blocks().flat_map(turns).collect()
}
