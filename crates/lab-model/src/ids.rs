// SPDX-License-Identifier: Apache-2.0
//! Typed indices into a run and its plan.

use serde::{Deserialize, Serialize};
use std::fmt::{Debug, Display, Formatter, Result};
use std::hash::Hash;

/// The position of an item in an [`crate::IdVec`].
pub trait Id: Copy + Debug + Display + Eq + Hash + Ord {
    /// Returns the ID of the item at a position, from 0.
    ///
    /// # Panics
    /// Panics if `index` does not fit into 32 bits.
    fn from_index(index: usize) -> Self;

    /// Returns the item's position, from 0.
    fn index(self) -> usize;
}

/// Defines ID types that serde and `Display` represent as numbers.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the ID of the item at a position, from 0.
            ///
            /// # Panics
            /// Panics if `index` does not fit into 32 bits.
            pub fn from_index(index: usize) -> $name {
                $name(u32::try_from(index).expect("fewer than 2^32 items"))
            }

            /// Returns the item's position, from 0.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl Id for $name {
            fn from_index(index: usize) -> $name {
                $name::from_index(index)
            }

            fn index(self) -> usize {
                self.index()
            }
        }

        impl Display for $name {
            fn fmt(&self, f: &mut Formatter) -> Result {
                Display::fmt(&self.0, f)
            }
        }
    )*};
}

ids! {
    /// An index into [`crate::Plan::subjects`].
    SubjectId;
    /// An index into [`crate::Plan::points`].
    PointId;
    /// An index into [`crate::Plan::cases`].
    CaseId;
    /// An index into [`crate::Plan::targets`].
    TargetId;
    /// An index into [`crate::Run::agents`].
    AgentId;
}

impl AgentId {
    /// Returns the agent's ID in a run that already had `earlier` agents before it was resumed.
    pub fn offset_by(self, earlier: usize) -> AgentId {
        AgentId::from_index(earlier + self.index())
    }
}

/// The key of a value that was measured for one subject at one point of a case.
pub type SubjectPoint = (SubjectId, PointId);
