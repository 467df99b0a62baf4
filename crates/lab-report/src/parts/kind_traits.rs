// SPDX-License-Identifier: Apache-2.0
//! Properties of a kind of work, so that shared parts of documents are independent of the kind.

/// Properties of a kind of work.
#[derive(Debug)]
pub struct KindTraits {
    /// The nouns for subjects and operations.
    pub words: Words,
    /// True if subjects run multiple operations concurrently, regardless of their case.
    pub is_concurrent: bool,
    /// True if the warm-up of a block has a maximum duration, which may cut it short.
    pub limits_warm_up: bool,
    /// True if each concurrent operation of a sweep needs its own core.
    pub takes_core_each: bool,
    /// True if the plan's main metric is compared.
    pub compares_answer: bool,
    /// True if an operation is one process, so that the unit of its cost is the swept parameter.
    pub unit_is_swept: bool,
    /// The title of the metric that is compared on each host.
    pub compared_on_hosts: &'static str,
}

/// The nouns for subjects and operations, since subjects do operations, commands are run, and servers serve requests.
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
