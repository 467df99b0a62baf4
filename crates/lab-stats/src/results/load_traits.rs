// SPDX-License-Identifier: Apache-2.0
//! The differences between kinds of load.

use super::Results;
use super::compare::ComparisonFamily;
use super::levels::Levels;
use crate::load::visits::Visits;
use lab_model::Metric;

/// The differences between load on running servers and load on servers that benchlab starts.
pub(crate) struct LoadTraits {
    /// The metrics in which servers are compared at a closed-loop point.
    pub closed: &'static [Metric],
    /// The metrics in which servers are compared at an open-loop point.
    pub open: &'static [Metric],
    /// The closed-loop metrics in which all servers are compared with each other.
    pub ranked_closed: &'static [Metric],
    /// The open-loop metrics in which all servers are compared with each other.
    pub ranked_open: &'static [Metric],
    /// True if a server's peak counts as unknown when the generator was the bottleneck.
    pub needs_spare_generator: bool,
    /// Adds the results that only this kind of load has.
    pub add: fn(&mut ComparisonFamily, &Visits, &mut Levels, &mut Results),
}

impl LoadTraits {
    /// Returns the metrics in which servers are compared at an open-loop or closed-loop point.
    pub fn compared(&self, is_open: bool) -> &'static [Metric] {
        if is_open { self.open } else { self.closed }
    }
}
