// SPDX-License-Identifier: Apache-2.0
//! Places of things in a run and in its plan.

/// The place of a thing in [`crate::Plan::subjects`].
pub type SubjectId = usize;

/// The place of a thing in [`crate::Plan::points`].
pub type PointId = usize;

/// The place of a thing in [`crate::Plan::targets`].
pub type TargetId = usize;

/// The place of an agent in [`crate::Run::agents`].
pub type AgentId = usize;

/// A subject at a point.
pub type SubjectPoint = (SubjectId, PointId);
