// SPDX-License-Identifier: Apache-2.0
//! The differences between kinds of load.

use super::Results;
use super::compare::ComparisonFamily;
use super::levels::Levels;
use crate::load::visits::Visits;
use lab_model::Metric;

/// The differences between load on servers that were running and on those that benchlab starts.
pub(super) struct LoadTraits {
    /// The metrics in which servers are compared at a point of a closed loop.
    pub closed: &'static [Metric],
    /// The metrics in which they are compared at a point of an open loop.
    pub open: &'static [Metric],
    /// Those of a closed loop in which all servers are compared with each other.
    pub ranked_closed: &'static [Metric],
    /// Those of an open loop in which all servers are compared with each other.
    pub ranked_open: &'static [Metric],
    /// The peak of a server is not known where the generator was the bottleneck.
    pub needs_spare_generator: bool,
    /// Adds results beyond figures and comparisons at points.
    pub add: fn(&mut ComparisonFamily, &Visits, &mut Levels, &mut Results),
}
