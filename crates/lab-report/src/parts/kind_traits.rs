// SPDX-License-Identifier: Apache-2.0
//! Facts of a kind of work, so that shared parts of documents need not ask which kind it is.

/// Facts of a kind of work.
#[derive(Debug)]
pub struct KindTraits {
    /// The nouns for subjects and operations.
    pub words: Words,
    /// Subjects do several operations at once, whatever their case says.
    pub is_concurrent: bool,
    /// The warm-up of a block has a longest time, which may cut it.
    pub limits_warm_up: bool,
    /// A sweep of operations at once takes a core for each.
    pub takes_core_each: bool,
    /// The plan's metric of the answer is compared.
    pub compares_answer: bool,
    /// An operation is one process: the unit of its cost is what is swept.
    pub unit_is_swept: bool,
    /// The metric that is compared on each host, in words.
    pub compared_on_hosts: &'static str,
}

/// The nouns for subjects and operations: subjects do operations, whole commands are run, servers answer requests.
#[derive(Debug, PartialEq, Eq)]
pub struct Words {
    /// A compared item: `subject`.
    pub subject: &'static str,
    /// Several of them.
    pub subjects: &'static str,
    /// The timed unit: `operation`.
    pub operation: &'static str,
    /// The timed unit, with its article: `an operation`.
    pub an_operation: &'static str,
}
