// SPDX-License-Identifier: Apache-2.0
//! The data types of benchlab: plans, samples, blocks, runs. This crate does no I/O and computes no
//! statistics.
//!
//! Times are in nanoseconds and sizes in bytes. A field's name ends with its unit.

mod agent;
pub mod audit;
pub mod condition;
pub mod content;
mod counted;
mod counts;
mod fixture;
mod gate;
pub mod host;
mod id_vec;
mod ids;
mod interval;
pub mod load;
mod load_count;
mod load_request;
pub mod log_analysis;
mod log_finding;
pub mod metric;
pub mod option_value;
pub mod own_sql;
mod part;
pub mod plan;
mod planned_load;
pub mod point_load;
pub mod run;
pub mod sample;
pub mod serving;
mod slice;
mod slice_times;
mod target_kind;

pub use agent::{Agent, ClockOffset};
pub use audit::{Audit, AuditKind};
pub use condition::{Comparison, ConditionError, ConditionProblem, Dimension, Relation};
pub use content::{
    Content, Imported, ImportedSeries, ImportedTime, Measured, NoiseFreeValue, StoredProfile,
    ToolOutput,
};
pub use counted::{Counted, CountedValue, Message, UnitCosts};
pub use counts::Counts;
pub use fixture::{Fixture, FixtureStart, FixtureState, Selector};
pub use gate::{Decision, GateEffect, OnInconclusive, StoredGate};
pub use host::{Disturbance, Host};
pub use id_vec::IdVec;
pub use ids::{AgentId, CaseId, Id, PointId, SubjectId, SubjectPoint, TargetId};
pub use interval::Interval;
pub use load::{Arrivals, LoadSpec, Protocol, Stage};
pub use load_count::{CountMetric, LoadCount, LoadCounts};
pub use load_request::{
    ExpectedResponse, IpFamily, PlannedBody, PlannedHeader, PlannedRequest, RequestsFile, Trust,
};
pub use log_analysis::{
    JoinCoverage, LineCounts, LogAnalysis, LogCell, LogFile, LogHour, LogPage, PageKind,
    QueryWithin,
};
pub use log_finding::{AssumptionKind, FieldRole, LogAdvice, LogAssumption};
pub use metric::{
    Direction, Metric, RESPONSE_TIMES, SERVICE_TIMES, Unit, distinct, grouped, plural, trimmed,
};
pub use own_sql::{
    NO_VARIANT, Placeholder, SetupStatement, SqlParameter, SqlSetup, SqlStatement, SqlType,
    SqlWork, SqlWorkload, VARIANT,
};
pub use part::{Part, parts};
pub use plan::{
    Case, Check, Command, Commands, Cores, FAULT, Measure, NO_FAULT, OWN, Plan, PlannedHosts,
    Point, Proof, Servers, Subject, Target, Work, Writes,
};
pub use point_load::{PointLoad, Traffic};
pub use run::{Ending, Run, Service};
pub use sample::{
    Age, Batch, Block, BlockState, Failure, Latencies, LogLine, Outcome, Pilot, ProcessExit,
    ProcessStart, Reading, Resources, Sample, Setting, Timeline, WarmUp,
};
pub use serving::{Example, RequiredBody, ServedFile, Serving};
pub use slice::{AgentSlice, ErrorKind, Slice, add_statuses};
pub use slice_times::{PackedTimes, SliceTimes, TimesColumn, TimesInFile};
pub use target_kind::TargetKind;
