// SPDX-License-Identifier: Apache-2.0
//! Indices into a run and its plan.

/// An index into [`crate::Plan::subjects`].
pub type SubjectId = usize;

/// An index into [`crate::Plan::points`].
pub type PointId = usize;

/// An index into [`crate::Plan::targets`].
pub type TargetId = usize;

/// An index into [`crate::Run::agents`].
pub type AgentId = usize;

/// A subject at a point.
pub type SubjectPoint = (SubjectId, PointId);
