// SPDX-License-Identifier: Apache-2.0
//! Properties of a kind of work. They make the shared parts of documents independent of the kind.

/// The properties of a kind of work that the shared parts of documents need.
#[derive(Debug)]
pub struct KindTraits {
    /// The nouns for subjects and operations.
    pub words: Words,
    /// True if subjects run multiple operations concurrently in every case.
    pub is_concurrent: bool,
    /// True if the warm-up of a block has a maximum duration, after which it is cut short.
    pub limits_warm_up: bool,
    /// True if each concurrent operation of a sweep needs its own core.
    pub takes_core_each: bool,
    /// True if the subjects are compared by the plan's main metric.
    pub compares_answer: bool,
    /// True if an operation is one process. The marginal cost is then per unit of the swept
    /// parameter.
    pub unit_is_swept: bool,
    /// The title of the metric that is compared on each host.
    pub compared_on_hosts: &'static str,
}

/// The nouns for subjects and operations. For example, the operation of a command is a run, and the
/// operation of a server is a request.
#[derive(Debug, PartialEq, Eq)]
pub struct Words {
    /// The noun for a compared item: `subject`.
    pub subject: &'static str,
    /// The plural for compared items: `subjects`.
    pub subjects: &'static str,
    /// The noun for the timed unit: `operation`.
    pub operation: &'static str,
    /// The noun for the timed unit with its article: `an operation`.
    pub an_operation: &'static str,
}
